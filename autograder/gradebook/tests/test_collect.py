"""LMS downloads: whose file is it, which attempt counts, what is left alone."""

import os
import zipfile
from pathlib import Path

import pytest

from autograder.errors import CourseError
from autograder.export import export
from autograder.gradebook.collect import collect, recognise
from autograder.gradebook.run import grade_submissions
from autograder.gradebook.tests.fake import FakeGrader, notebook


@pytest.mark.parametrize(
    "name, expected",
    [
        ("doejane_12345_67890_lesson07.ipynb", ("canvas", "doejane", "12345", 0)),
        ("doejane_LATE_12345_67890_my_homework-2.ipynb", ("canvas", "doejane", "12345", 2)),
        ("Jane Doe_4711_assignsubmission_file_/hw.ipynb", ("moodle", "Jane Doe", "4711", 0)),
        ("王小明_4712_assignsubmission_file_第七课.ipynb", ("moodle", "王小明", "4712", 0)),
        ("notes.ipynb", None),
        ("doe_jane.ipynb", None),
    ],
)
def test_names(name, expected):
    found = recognise(Path("/downloads") / name)
    assert (found and (found.lms, found.name, found.lms_id, found.attempt)) == expected


def test_ids_keep_namesakes_apart_and_are_safe():
    a, b = recognise(Path("Jane Doe_1_assignsubmission_file_x.ipynb")), recognise(Path("Jane Doe_2_assignsubmission_file_x.ipynb"))
    assert (a.student, b.student) == ("jane-doe-1", "jane-doe-2")
    assert recognise(Path("../.. _3_assignsubmission_file_x.ipynb")).student.strip("-") == "student-3"


def test_canvas_folder_to_grades_and_back(lesson, course, tmp_path):
    downloads = tmp_path / "submissions"
    downloads.mkdir()
    (downloads / "doejane_11_900_hw.ipynb").write_bytes(notebook(lesson, exercise="first"))
    (downloads / "doejane_11_901_hw-1.ipynb").write_bytes(notebook(lesson, exercise="second"))
    (downloads / "roemax_LATE_12_902_hw.ipynb").write_bytes(notebook(lesson, exercise="max"))
    (downloads / "readme.txt").write_text("x")
    os.symlink("/etc/passwd", downloads / "evil_13_903_hw.ipynb")
    taken = collect(lesson, downloads, course)
    assert taken.students == ["doejane-11", "roemax-12"]
    assert {name for name, _ in taken.skipped} == {"doejane_11_900_hw.ipynb", "readme.txt", "evil_13_903_hw.ipynb"}
    grader = FakeGrader(lesson)
    grade_submissions(lesson, course.root / "submitted", course, grader=grader)
    text = export(lesson, course, "canvas").read_text()
    assert "doejane,11,,doejane-11,,PASS.,10.0" in text


def test_moodle_zip_and_known_students(lesson, course, tmp_path):
    with course.gradebook() as gradebook:
        gradebook.add_student("s042", lms_user_id="77")
    archive = tmp_path / "all.zip"
    with zipfile.ZipFile(archive, "w") as z:
        z.writestr("Ann Lee_77_assignsubmission_file_/hw.ipynb", notebook(lesson))
        z.writestr("../outside_1_assignsubmission_file_/hw.ipynb", notebook(lesson))
    taken = collect(lesson, archive, course)
    assert "s042" in taken.students, "a student whose LMS number the gradebook has keeps his id"
    assert not (tmp_path / "outside_1_assignsubmission_file_").exists()
    grade_submissions(lesson, course.root / "submitted", course, grader=FakeGrader(lesson))
    assert "Participant 77" in export(lesson, course, "moodle").read_text()


def test_nothing_recognised(lesson, course, tmp_path):
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "x.ipynb").write_bytes(b"{}")
    with pytest.raises(CourseError, match="Canvas or Moodle"):
        collect(lesson, tmp_path / "d", course)
    (tmp_path / "f.txt").write_text("x")
    with pytest.raises(CourseError, match="neither a folder nor a zip"):
        collect(lesson, tmp_path / "f.txt", course)
