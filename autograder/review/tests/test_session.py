"""A decision in the gradebook: at once, for everyone who wrote the answer, through a regrade, an undo, a kill and a changed rubric."""

import json

import pytest
from nbgrader.api import Gradebook

from autograder.errors import CourseError
from autograder.gradebook.final import final_results
from autograder.gradebook.run import grade_submissions, run_lock
from autograder.gradebook.tests.fake import FakeGrader, finding, hand_in, notebook, result
from autograder.review.decisions import Decisions, slot_hash
from autograder.review.session import Session, fitting, pieces
from autograder.review.tests.labelled import make_class, read_answers, simulated, stored_score


@pytest.fixture(scope="module")
def answers(lesson):
    return [a for a in read_answers(lesson) if a.slot == "q1" and a.split == "train" and len(a.text) > 40]


@pytest.fixture
def some(answers):
    """Three different answers with 2 points, 1 and 0."""
    return [next(a for a in answers if a.points == p and not a.wrong) for p in (2, 1, 0)]


@pytest.fixture
def assess(lesson, answers):
    return simulated(lesson, answers, right=1.0)


@pytest.fixture
def graded(lesson, course, inbox, some, assess):
    """ann and bob wrote the same, cyd and dan others; q1 waits."""
    chosen = {name: {"q1": a} for name, a in zip(["ann", "bob", "cyd", "dan"], [some[0], some[0], some[1], some[2]])}
    return make_class(lesson, course, inbox, chosen, assess)


@pytest.fixture
def opened(lesson, course, assess):
    sessions = []

    def call(**more):
        for s in sessions:
            s.close()
        sessions.append(Session(lesson, course, "ina", assess=assess, **more))
        return sessions[-1]

    yield call
    for s in sessions:
        s.close()


def grades(course, lesson):
    with Gradebook(course.db_url) as gb:
        out = {}
        for s in gb.assignment_submissions(lesson.slug):
            grade = gb.find_grade("q1", lesson.slug, lesson.slug, s.student.id)
            out[s.student.id] = (grade.manual_score, grade.auto_score, bool(grade.needs_manual_grade))
        return out


def item_of(session, student):
    return next(i for i in session.items.values() if student in i.students)


def decide(session, student, points, **more):
    given = {"links": None, "misconceptions": None, "false": None, "group": None} | more
    return session.decide([item_of(session, student).id], points, *given.values())


def test_one_decision_is_for_everyone_who_wrote_it_and_in_the_gradebook_at_once(lesson, course, graded, opened):
    session = opened()
    assert len(session.items) == 3 and item_of(session, "ann").students == ("ann", "bob")
    answer = decide(session, "ann", 2)
    assert answer["kept_back"] == "" and list(answer["decided"].values())[0]["points"] == 2
    assert grades(course, lesson) == {
        "ann": (2.0, None, False),
        "bob": (2.0, None, False),
        "cyd": (None, None, True),
        "dan": (None, None, True),
    }
    final = {f.result.student: f for f in final_results(course, lesson)}
    assert (
        final["ann"].human.waiting == ()
        and final["ann"].result.points["q1"] == 2
        and final["cyd"].human.waiting == ("q1",)
    )
    assert {x.layer for x in final["ann"].auto.slots["q1"].links} == {"person"}
    line = json.loads((course.root / "decisions" / f"{lesson.slug}.jsonl").read_text())
    assert (
        line["by"] == "ina"
        and line["when"].endswith("Z")
        and line["students"] == ["ann", "bob"]
        and line["rubric_hash"] == slot_hash(lesson.rubric.slots["q1"])
    )


def test_a_regrade_keeps_it_and_the_same_answer_is_never_asked_again(
    lesson, course, inbox, graded, opened, some, assess
):
    session = opened()
    decide(session, "ann", 1)
    session.close()
    hand_in(inbox, lesson, "eve", notebook(lesson, q1=some[0].text.replace(" ", "  ") + "\n"))
    again = FakeGrader(
        lesson,
        lambda s, _: result(
            lesson,
            s,
            state="REVIEW",
            slots={
                "q1": stored_score(
                    lesson, assess, "q1", {"cyd": some[1], "dan": some[2]}.get(s, some[0]).text, "review"
                )
            },
        ),
    )
    grade_submissions(lesson, inbox, course, grader=again, regrade=True)
    found = grades(course, lesson)
    assert found["ann"] == (1.0, 1.0, False), "the manual score stays, and nobody is asked again"
    assert found["eve"] == (None, 1.0, False) and found["cyd"] == (None, None, True)
    eve = next(f for f in final_results(course, lesson) if f.result.student == "eve").auto.slots["q1"]
    assert (eve.lane, eve.points) == ("auto", 1.0) and {x.layer for x in eve.links} == {"person"}
    assert eve.reasons_en[0].startswith("decided by ina on 20")
    session = opened()
    assert {s for i in session.items.values() if i.decision is None for s in i.students} == {"cyd", "dan"}
    session.undo()
    assert grades(course, lesson)["eve"][2] and grades(course, lesson)["ann"] == (None, 1.0, True), (
        "undone, it is asked of everyone again"
    )


def test_undo_brings_back_what_stood_before(lesson, course, graded, opened):
    session = opened()
    decide(session, "cyd", 1)
    decide(session, "cyd", 2)
    decide(session, "dan", 0)
    assert session.undo()["undone"] == 1 and grades(course, lesson)["dan"] == (None, None, True)
    session = opened()  # the same after a restart
    session.undo()
    assert grades(course, lesson)["cyd"] == (1.0, None, False), "the earlier decision stands again"
    session.undo()
    assert grades(course, lesson)["cyd"] == (None, None, True)
    assert session.undo() == {"decided": {}, "kept_back": ""}


def test_undo_leaves_a_score_that_was_given_in_formgrader_since(lesson, course, graded, opened):
    session = opened()
    decide(session, "cyd", 1)
    with Gradebook(course.db_url) as gb:
        grade = gb.find_grade("q1", lesson.slug, lesson.slug, "cyd")
        grade.manual_score = 2.0
        gb.db.commit()
    session.undo()
    assert grades(course, lesson)["cyd"] == (2.0, None, False)


def test_what_a_kill_left_between_file_and_gradebook_is_brought_in_at_the_next_start(
    lesson, course, graded, opened, monkeypatch
):
    session = opened()
    decide(session, "dan", 2)
    monkeypatch.setattr(Session, "_flush", lambda self: "killed")
    decide(session, "ann", 2)
    decide(session, "dan", 0)
    assert grades(course, lesson)["ann"] == (None, None, True)
    monkeypatch.undo()
    session = opened()
    assert grades(course, lesson)["ann"] == grades(course, lesson)["bob"] == (2.0, None, False) and grades(
        course, lesson
    )["dan"] == (0.0, None, False)
    monkeypatch.setattr(Session, "_flush", lambda self: "killed")
    session.undo()
    monkeypatch.undo()
    opened()
    assert grades(course, lesson)["dan"] == (2.0, None, False), "the undo too"


def test_while_a_grading_run_writes_decisions_wait_and_are_not_lost(lesson, course, graded, opened):
    session = opened()
    with run_lock(course, lesson.slug):
        assert "Another grading run" in decide(session, "ann", 2)["kept_back"]
        assert grades(course, lesson)["ann"] == (None, None, True)
    assert decide(session, "cyd", 1)["kept_back"] == ""
    assert grades(course, lesson)["ann"] == (2.0, None, False)


def test_a_changed_rubric_asks_again_and_shows_the_old_points(
    lesson, course, inbox, graded, opened, assess, monkeypatch
):
    session = opened()
    decide(session, "cyd", 2)
    session.close()
    slot = lesson.rubric.slots["q1"]
    other = lesson.rubric.model_copy(
        update={"slots": lesson.rubric.slots | {"q1": slot.model_copy(update={"some": 2})}}
    )
    changed = type(lesson)(**{**vars(lesson), "rubric": other})
    summary = grade_submissions(changed, inbox, course, grader=FakeGrader(changed, graded.say), regrade=True)
    assert any("decided under another rubric" in n for n in summary.notes)
    assert grades(course, lesson)["cyd"] == (2.0, None, True), "the points stay until it is decided again"
    session = Session(changed, course, "ina", assess=assess)
    item = item_of(session, "cyd")
    assert item.decision is None and item.old == (2.0, "ina", "rubric")
    decide(session, "cyd", 1)
    session.close()
    assert grades(course, lesson)["cyd"] == (1.0, None, False)
    assert len(Decisions.load(course.root, lesson.slug)) == 2, "the old decision is kept"


def test_a_misconception_that_a_person_ticks_is_a_veto_at_once(lesson, course, graded, opened):
    veto = next(m for m in lesson.rubric.slots["q1"].misconceptions if m.veto)
    session = opened()
    decide(session, "dan", 0, misconceptions=[veto.id])
    dan = next(f for f in final_results(course, lesson) if f.result.student == "dan").result
    assert dan.state == "FAIL" and dan.veto == [f"misconception:{veto.id}"]
    session.undo()
    assert next(f for f in final_results(course, lesson) if f.result.student == "dan").result.veto == []


def test_an_answer_with_a_picture_is_one_students_alone(lesson, course, inbox, some, assess, opened):
    def say(student, _):
        score = stored_score(lesson, assess, "q1", some[0].text, "review").model_copy(update={"answer_key": ""})
        return result(lesson, student, state="REVIEW", slots={"q1": score}, findings=[finding(where="q1")])

    for student in ("ann", "bob"):
        hand_in(inbox, lesson, student, notebook(lesson, q1=some[0].text + "\n\n![my drawing](drawing.png)"))
    grade_submissions(lesson, inbox, course, grader=FakeGrader(lesson, say))
    session = Session(lesson, course, "ina", assess=lambda slot, text: assess(slot, some[0].text))
    assert len(session.items) == 2
    decide(session, "ann", 2)
    session.close()
    assert (grades(course, lesson)["ann"], grades(course, lesson)["bob"]) == ((2.0, None, False), (None, None, True))


@pytest.mark.parametrize(
    "points,links", [(3, None), (-1, None), (0.5, None), (True, None), ("2", None), (1, ["no.such"])]
)
def test_what_the_rubric_does_not_have_is_refused_and_nothing_is_kept(graded, opened, points, links):
    session = opened()
    with pytest.raises(CourseError):
        decide(session, "ann", points, links=links)
    assert not session.decisions.path.read_bytes()


def test_a_hand_in_that_changed_since_is_named_and_not_shown(lesson, course, graded, opened):
    hand_in(course.root / "submitted", lesson, "ann", notebook(lesson, q1="another"))
    (course.root / "submitted" / "cyd" / lesson.slug / f"{lesson.slug}.ipynb").write_text("{")
    session = opened()
    assert {s for i in session.items.values() for s in i.students} == {"bob", "dan"}
    assert len(session.notes) == 2 and "ann" in session.notes[0] and "cyd" in session.notes[1]


def test_links_are_chosen_to_fit_the_points_and_pieces_are_the_answer(lesson, graded, opened):
    session = opened()
    for item in session.items.values():
        slot = lesson.rubric.slots["q1"]
        for points in range(slot.points + 1):
            assert slot.points_for(set(fitting(slot, item.read, points))) == points
        assert set(fitting(slot, item.read, slot.points_for(item.read.links))) == item.read.links, (
            "nothing is changed without need"
        )
        assert "".join(p["text"] for p in pieces(item.answer, item.read)) == item.answer
