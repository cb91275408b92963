"""Due dates, extensions and the late policy, through nbgrader's plugin."""

import pytest
from nbgrader.api import Gradebook

from autograder.errors import CourseError
from autograder.gradebook.course import CourseFolder
from autograder.gradebook.due import set_due
from autograder.gradebook.final import final_results
from autograder.gradebook.run import grade_submissions
from autograder.gradebook.settings import CONFIG_NAME
from autograder.gradebook.tests.fake import FakeGrader, hand_in, notebook, result, slot


@pytest.fixture
def late_course(course):
    config = course.root / CONFIG_NAME
    config.write_text(
        config.read_text()
        + "\nc.LatePolicy.percent_per_day = 10.0\nc.LatePolicy.grace_minutes = 15\nc.LatePolicy.percent_at_most = 25.0\n"
    )
    return CourseFolder(course.root)


def penalties(course, lesson):
    return {f.result.student: (f.penalty, f.score) for f in final_results(course, lesson)}


def test_policy_extension_and_cap(lesson, late_course, inbox):
    times = {
        "early": "2026-11-30 11:00",
        "grace": "2026-11-30 12:10",
        "day": "2026-11-30 13:00",
        "long": "2026-12-09 12:00",
        "ext": "2026-12-01 11:00",
        "bad": "2026-12-09 12:00",
    }
    for name, stamp in times.items():
        hand_in(inbox, lesson, name, notebook(lesson), stamp + ":00 UTC")
    set_due(lesson, late_course, "2026-11-30 20:00 Asia/Shanghai", [])
    grader = FakeGrader(lesson, lambda s, _: result(lesson, s, state="UNGRADED" if s == "bad" else "PASS"))
    grade_submissions(lesson, inbox, late_course, grader=grader)
    got = penalties(late_course, lesson)
    assert got == {
        "early": (0.0, 10.0),
        "grace": (0.0, 10.0),
        "day": (1.0, 9.0),
        "long": (2.5, 7.5),
        "ext": (1.0, 9.0),
        "bad": (0.0, None),
    }
    lines = set_due(lesson, late_course, None, ["ext=1"])
    assert penalties(late_course, lesson)["ext"] == (0.0, 10.0) and any("extension: ext 1 day" in x for x in lines)
    with Gradebook(late_course.db_url) as gb:
        assert gb.find_submission(lesson.slug, "long").late_submission_penalty == 2.5, "formgrader shows the same"


def test_a_rerun_sees_a_new_due_date(lesson, late_course, inbox):
    hand_in(inbox, lesson, "ann", notebook(lesson), "2026-12-02 12:00:00 UTC")
    grade_submissions(lesson, inbox, late_course, grader=FakeGrader(lesson))
    with Gradebook(late_course.db_url) as gb:  # as formgrader's assignment dialog does
        gb.update_or_create_assignment(lesson.slug, duedate="2026-12-01 12:00:00 UTC")
    grade_submissions(lesson, inbox, late_course, grader=FakeGrader(lesson))
    assert penalties(late_course, lesson)["ann"][0] == 1.0


def test_a_score_given_in_formgrader_is_late_too(lesson, late_course, inbox):
    hand_in(inbox, lesson, "ann", notebook(lesson), "2026-12-02 12:00:00 UTC")
    set_due(lesson, late_course, "2026-12-01 12:00 UTC", [])
    grade_submissions(
        lesson,
        inbox,
        late_course,
        grader=FakeGrader(lesson, lambda s, _: result(lesson, s, state="FAIL", slots={"q1": 0.0, "q2": 0.0})),
    )
    assert penalties(late_course, lesson)["ann"] == (0.6, 5.4)
    with late_course.gradebook() as gb:
        for name in ("q1", "q2"):
            gb.find_grade(name, lesson.slug, lesson.slug, "ann").manual_score = 2.0
        gb.db.commit()
    assert penalties(late_course, lesson)["ann"] == (1.0, 9.0)


def test_a_time_that_comes_after_grading_is_taken(lesson, late_course, inbox):
    path = hand_in(inbox, lesson, "ann", notebook(lesson))
    hand_in(inbox, lesson, "bob", notebook(lesson), "2026-11-01 12:00:00 UTC")
    set_due(lesson, late_course, "2026-12-01 12:00 UTC", [])
    grader = FakeGrader(lesson)
    grade_submissions(lesson, inbox, late_course, grader=grader)
    (path.parent / "timestamp.txt").write_text("2026-12-02 12:00:00 UTC")
    summary = grade_submissions(lesson, inbox, late_course, grader=grader)
    assert summary.kept == 2 and grader.seen == ["ann", "bob"]
    assert penalties(late_course, lesson) == {"ann": (1.0, 9.0), "bob": (0.0, 10.0)}


def test_what_a_person_resolved_or_graded_whole_is_late_too(lesson, late_course, inbox):
    """A suggestion that a person let stand counts, and so does a hand-in that only a person could read."""
    for name in ("ann", "bob"):
        hand_in(inbox, lesson, name, notebook(lesson), "2026-12-02 12:00:00 UTC")
    set_due(lesson, late_course, "2026-12-01 12:00 UTC", [])
    verdicts = {
        "ann": result(lesson, "ann", state="REVIEW", slots={"q1": slot(lesson, "q1", 2.0, lane="review")}),
        "bob": result(lesson, "bob", state="UNGRADED"),
    }
    grade_submissions(lesson, inbox, late_course, grader=FakeGrader(lesson, lambda s, _: verdicts[s]))
    with late_course.gradebook() as gb:
        gb.find_grade("q1", lesson.slug, lesson.slug, "ann").needs_manual_grade = False
        for grade in gb.find_submission_notebook(lesson.slug, lesson.slug, "bob").grades:
            grade.manual_score = 1.0
        gb.db.commit()
    assert penalties(late_course, lesson) == {"ann": (1.0, 9.0), "bob": (0.6, 5.4)}
    set_due(lesson, late_course, None, [])
    with Gradebook(late_course.db_url) as gb:
        assert gb.find_submission(lesson.slug, "bob").late_submission_penalty == 0.6, "formgrader shows the same"


def test_default_is_no_penalty(lesson, course, inbox):
    hand_in(inbox, lesson, "ann", notebook(lesson), "2027-01-01 12:00:00 UTC")
    set_due(lesson, course, "2026-12-01 12:00 UTC", [])
    grade_submissions(lesson, inbox, course, grader=FakeGrader(lesson))
    assert penalties(course, lesson)["ann"] == (0.0, 10.0)


@pytest.mark.parametrize(
    "date, extend, said",
    [
        ("soon", [], "not a date"),
        ("12", [], "not a date"),
        ("9999-12-31", [], "not a date"),
        (None, ["ann"], "not an extension"),
        (None, ["ann=2"], "due date"),
        (None, ["ann=nan"], "not an extension"),
        (None, ["ann=inf"], "not an extension"),
        (None, ["ann=1e9"], "not an extension"),
        (None, ["ann=-3"], "not an extension"),
        ("2026-12-01 12:00 UTC", ["nobody=2"], "has not handed in"),
    ],
)
def test_bad_input(lesson, course, date, extend, said):
    with pytest.raises(CourseError, match=said):
        set_due(lesson, course, date, extend)
    assert set_due(lesson, course, None, [])[1:] == ["due: none"], "nothing is changed"
