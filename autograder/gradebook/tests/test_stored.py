"""A stored result that this version cannot read: one student's row, counted as not graded, and nothing else stops."""

import json

import pytest
from nbgrader.api import Gradebook
from sqlalchemy import update

from autograder.export import export
from autograder.feedback import write_feedback
from autograder.gradebook.final import final_results
from autograder.gradebook.run import grade_submissions
from autograder.gradebook.tables import course_result
from autograder.gradebook.tests.fake import FakeGrader, hand_in, notebook
from autograder.report import write_report

SPOILT = {
    "another version": lambda text: json.dumps(json.loads(text) | {"new_field": 1}),
    "a part is missing": lambda text: json.dumps({k: v for k, v in json.loads(text).items() if k != "state"}),
    "a state of its own": lambda text: json.dumps(json.loads(text) | {"state": "MAYBE"}),
    "cut": lambda text: text[:200],
    "broken": lambda text: "{oops",
    "no object": lambda text: "7",
    "empty": lambda text: "",
}


@pytest.fixture
def graded(lesson, course, inbox):
    for name in ("ann", "bob"):
        hand_in(inbox, lesson, name, notebook(lesson, exercise=name))
    grade_submissions(lesson, inbox, course, grader=FakeGrader(lesson))
    with Gradebook(course.db_url) as gb:
        gb.find_grade("q1", lesson.slug, lesson.slug, "bob").manual_score = 1.5
        gb.db.commit()
    write_feedback(lesson, course)
    return course


def spoil(lesson, course, how):
    (before,) = (f.auto.model_dump_json() for f in final_results(course, lesson, students=["bob"]))
    with course.gradebook() as gb:
        gb.db.execute(update(course_result).where(course_result.c.student == "bob").values(result=SPOILT[how](before)))
        gb.db.commit()


@pytest.mark.parametrize("how", SPOILT)
def test_it_is_graded_anew_and_the_manual_score_stays(lesson, graded, inbox, how):
    spoil(lesson, graded, how)
    grader = FakeGrader(lesson)
    summary = grade_submissions(lesson, inbox, graded, grader=grader)
    assert grader.seen == ["bob"] and (summary.graded, summary.kept) == (1, 1)
    ann, bob = final_results(graded, lesson)
    assert (ann.result.total, bob.result.total, bob.human.manual, bob.auto.fill) == (10.0, 9.5, {"q1": 1.5}, "bob")


@pytest.mark.parametrize("how", ["another version", "broken"])
def test_the_others_are_served_and_he_is_named(lesson, graded, how):
    page = graded.step("feedback", "bob", lesson.slug) / f"{lesson.slug}.html"
    spoil(lesson, graded, how)
    before, told = page.read_bytes(), []
    assert [p.parent.parent.name for p in write_feedback(lesson, graded, tell=told.append)] == [
        "ann"
    ] and page.read_bytes() == before
    report = write_report(lesson, graded, tell=told.append).read_text()
    rows = {fmt: export(lesson, graded, fmt, tell=told.append).read_text().splitlines() for fmt in ("csv", "canvas")}
    assert (
        sum("not graded" in line and "bob" in line for line in told) == 4 and "stored result cannot be read" in report
    )
    ann, bob = rows["csv"][1:]
    assert ann.split(",")[6] == "10.0" and "UNGRADED,,,," in bob and "course grade" in bob
    assert rows["canvas"][2].endswith(",10.0") and rows["canvas"][3].endswith(",")


def test_a_regrade_of_everything_goes_through(lesson, graded, inbox):
    spoil(lesson, graded, "broken")
    assert grade_submissions(lesson, inbox, graded, grader=FakeGrader(lesson), regrade=True).graded == 2
    assert [f.result.state for f in final_results(graded, lesson)] == ["PASS", "PASS"]
