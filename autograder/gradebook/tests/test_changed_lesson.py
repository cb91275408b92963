"""A check added after collection, with the real grader: everyone is graded again, by the new check too, and manual scores stay."""

import shutil

from nbgrader.api import Gradebook

from autograder.gradebook.final import final_results
from autograder.gradebook.run import grade_submissions
from autograder.gradebook.tests.fake import hand_in, notebook
from autograder.grading import grade_notebook
from autograder.lesson import load_lesson
from autograder.release.notebook import student_notebook

ADDED = '''

_before = normal_cases


def normal_cases(rng):
    """One check more than when the notebooks were collected."""
    extra = {"name": {"zh": "新增的检查", "en": "the added check"}, "args": {"acc": 1.0, "alpha": 1e13, "beta": 1.0, "c": 1.0}, "expect": 1e13 + 1, "rtol": 0.0, "atol": 0.0}
    return [*_before(rng), extra]
'''


def grader(lesson, items):
    for student, path in items:
        yield grade_notebook(lesson, path, student)


def test_check_added_after_collection(lesson, course, inbox, tmp_path):
    exercise = next(c.source for c in student_notebook(lesson, "en").cells if c.id == "exercise")
    for name, fill in (
        ("ann", "alpha * acc if beta == 0 else alpha * acc + beta * c"),
        ("bob", "alpha * acc if beta == 0 else min(alpha, 1e12) * acc + beta * c"),
    ):
        hand_in(inbox, lesson, name, notebook(lesson, exercise=exercise.replace("______", fill, 1)))
    grade_submissions(lesson, inbox, course, grader=grader)
    before = {f.result.student: f.result for f in final_results(course, lesson)}
    assert [r.points["normal"] for r in before.values()] == [2.0, 2.0]
    with Gradebook(course.db_url) as gb:
        grade = gb.find_grade("explanation", lesson.slug, lesson.slug, "bob")
        grade.manual_score, grade.needs_manual_grade = 1.0, False
        gb.db.commit()

    folder = tmp_path / "lessons" / lesson.slug
    shutil.copytree(lesson.folder, folder)
    with (folder / "checks.py").open("a", encoding="utf-8") as file:
        file.write(ADDED)
    changed = load_lesson(folder)
    assert grade_submissions(changed, inbox, course, grader=grader).graded == 2
    after = {f.result.student: f.result for f in final_results(course, changed)}
    assert {s: next(c.passed for c in r.checks if c.name.en == "the added check") for s, r in after.items()} == {
        "ann": True,
        "bob": False,
    }
    assert (after["ann"].points["normal"], after["bob"].points["normal"], after["bob"].points["explanation"]) == (
        2.0,
        0.0,
        1.0,
    )
    assert grade_submissions(changed, inbox, course, grader=grader).kept == 2
