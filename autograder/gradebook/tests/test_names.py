"""Students' folders with odd names, and folders that are no student's."""

import os

import pytest

from autograder.errors import CourseError
from autograder.gradebook.final import final_results
from autograder.gradebook.run import grade_submissions
from autograder.gradebook.submissions import find_submissions, student_id
from autograder.gradebook.tests.fake import FakeGrader, hand_in, notebook

ODD = ["[x]", "a*", "what?", "new\nline", "\x1b[31mred", "\udcff", "x" * 250, "学" * 80, "\u2028"]


@pytest.mark.parametrize("name", ["ann", "a b", "é", "学生", "O'B", "a+b", "=cmd", "\\xff", "100%"])
def test_an_ordinary_name_is_its_own_id(name):
    assert student_id(name) == name


@pytest.mark.parametrize("name", ODD)
def test_an_odd_name_gets_an_id_for_database_glob_and_terminal(name):
    made = student_id(name)
    assert made != name and student_id(made) == made
    assert len(made) <= 128 and len(made.encode()) <= 200 and not set(made) & set("*?[]\n\x1b\u2028")


def test_two_names_are_two_students(lesson, course, inbox):
    for name in (b"\xff", b"\\xff", b"[x]", b"{x}", b"*x*"):
        hand_in(inbox, lesson, os.fsdecode(name), notebook(lesson, exercise=repr(name)))
    grade_submissions(lesson, inbox, course, grader=FakeGrader(lesson))
    assert {f.result.fill for f in final_results(course, lesson)} == {
        repr(n) for n in (b"\xff", b"\\xff", b"[x]", b"{x}", b"*x*")
    }


def test_an_odd_name_in_submitted_is_one_student_at_every_run(lesson, course):
    folder = course.root / "submitted"
    hand_in(folder, lesson, "[x]", notebook(lesson, exercise="one"))
    for text in ("one", "two"):
        hand_in(folder, lesson, "[x]", notebook(lesson, exercise=text))
        grade_submissions(lesson, folder, course, grader=FakeGrader(lesson))
        assert [f.result.fill for f in final_results(course, lesson)] == [text]


def test_a_folder_that_is_a_link_is_nobodys_hand_in(lesson, course, inbox):
    hand_in(inbox, lesson, "ann", notebook(lesson))
    (inbox / "eve").symlink_to("ann")
    grader = FakeGrader(lesson)
    grade_submissions(lesson, inbox, course, grader=grader)
    eve = next(f for f in final_results(course, lesson) if f.result.student == "eve")
    assert grader.seen == ["ann"] and eve.result.state == "UNGRADED" and "link" in eve.result.why[0]
    assert not course.step("submitted", "eve", lesson.slug).exists()


@pytest.mark.parametrize("step", ["", "source", "release", "autograded", "feedback", "bundles", "grading"])
def test_the_course_folder_is_no_folder_of_submissions(lesson, course, step):
    (course.root / step / "ann" / lesson.slug).mkdir(parents=True)
    with pytest.raises(CourseError, match="course folder") as told:
        grade_submissions(lesson, course.root / step, course, grader=FakeGrader(lesson))
    assert str(course.root / "submitted") in told.value.remedy
    assert find_submissions(course.root / step, lesson), "only the course folder tells them apart"
