"""LMS downloads: whose file is it, which attempt counts, what is left alone."""

import os
import zipfile
from pathlib import Path

import pytest

from autograder.errors import CourseError
from autograder.export import export
from autograder.gradebook.collect import collect, recognise
from autograder.gradebook.final import final_results
from autograder.gradebook.run import grade_submissions
from autograder.gradebook.tests.fake import FakeGrader, fill_of, notebook


@pytest.mark.parametrize(
    "name, expected",
    [
        ("doejane_12345_67890_lesson07.ipynb", ("canvas", "doejane", "12345", 67890)),
        ("doejane_LATE_12345_67890_my_homework-2.ipynb", ("canvas", "doejane", "12345", 67890)),
        ("doejane_12345_67890_lesson07", ("canvas", "doejane", "12345", 67890)),
        ("de_la_cruz_12345_67890_hw.tar.gz", ("canvas", "de_la_cruz", "12345", 67890)),
        ("doejane_LATE_12345_text.html", ("canvas", "doejane", "12345", 0)),
        ("Jane Doe_4711_assignsubmission_file_/lesson07/en/hw.ipynb", ("moodle", "Jane Doe", "4711", 0)),
        ("Jane Doe_4711_assignsubmission_onlinetext_/onlinetext.html", ("moodle", "Jane Doe", "4711", 0)),
        (
            "Jane Doe_4711_assignsubmission_file_/Max Roe_1_assignsubmission_file_hw.ipynb",
            ("moodle", "Jane Doe", "4711", 0),
        ),
        ("Jane Doe_4711_assignsubmission_file_/hw.ipynb", ("moodle", "Jane Doe", "4711", 0)),
        ("Jane Doe_4711_assignsubmission_file/hw.ipynb", ("moodle", "Jane Doe", "4711", 0)),  # Moodle 4 and later
        ("Jane Doe_4711_assignsubmission_onlinetext/onlinetext.html", ("moodle", "Jane Doe", "4711", 0)),
        ("王小明_4712_assignsubmission_file_第七课.ipynb", ("moodle", "王小明", "4712", 0)),
        ("notes.ipynb", None),
        ("doe_jane.ipynb", None),
    ],
)
def test_names(name, expected):
    found = recognise(Path("/downloads") / name)
    assert (found and (found.lms, found.name, found.lms_id, found.number)) == expected


def test_ids_keep_namesakes_apart_and_are_safe():
    a, b = (
        recognise(Path("Jane Doe_1_assignsubmission_file_x.ipynb")),
        recognise(Path("Jane Doe_2_assignsubmission_file_x.ipynb")),
    )
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
    assert taken.students == ["doejane-11", "evil-13", "roemax-12"], "who handed in anything stands in the gradebook"
    assert {name for name, _ in taken.skipped} == {"doejane_11_900_hw.ipynb", "readme.txt"}
    assert taken.unread == [
        ("evil-13", "evil_13_903_hw.ipynb", "not an ordinary file; put the file itself here")
    ] and not list((course.root / "submitted" / "evil-13" / lesson.slug).iterdir())
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


def staged(course, lesson):
    return {
        p.parents[1].name: p.read_bytes() for p in course.root.glob(f"submitted/*/{lesson.slug}/{lesson.slug}.ipynb")
    }


def test_what_browsers_and_students_make_of_a_notebook_is_taken_and_the_rest_stands_as_ungraded(
    lesson, course, tmp_path
):
    good, zipped = notebook(lesson, exercise="x"), tmp_path / "hw.zip"
    with zipfile.ZipFile(zipped, "w") as z:
        z.writestr("hw/hw.ipynb", good)
    readable = {
        "hw.ipynb.txt": good,
        "hw.json": good,
        "hw.ipynb.json": good,
        "hw": good,
        "hw.IPYNB": good,
        "hw.zip": zipped.read_bytes(),
    }
    other = {
        "hw.html": b"<html></html>",
        "hw.pdf": b"%PDF-1.4",
        "hw.rar": b"Rar!",
        "hw.7z": b"7z",
        "hw.tar.gz": b"\x1f\x8b",
        "hw.docx": b"PK",
        "hw.py": b"x = 1",
        "shot.png": b"\x89PNG",
    }
    archive = tmp_path / "submissions.zip"
    with zipfile.ZipFile(archive, "w") as z:
        for n, (name, data) in enumerate((readable | other).items()):
            z.writestr(f"s{n:02d}_{100 + n}_{200 + n}_{name}", data)
        z.writestr("s20_120_text.html", b"<html>I forgot</html>")
    taken = collect(lesson, archive, course)
    assert not taken.skipped and len(taken.students) == len(readable) + len(other) + 1 == len(staged(course, lesson))
    assert [student for student, *_ in taken.unread] == taken.students[len(readable) :], "each with the reason"
    assert "PDF" in taken.unread[1][2] and "web page" in taken.unread[0][2] and all(why for *_, why in taken.unread)
    summary = grade_submissions(lesson, course.root / "submitted", course, jobs=1)
    states = {f.result.student: f.result.state for f in final_results(course, lesson)}
    assert len(summary.students) == len(states) == len(taken.students)
    assert [s for s, state in states.items() if state == "UNGRADED"] == [student for student, *_ in taken.unread], (
        "what collect says is what the grader does"
    )


def test_of_several_files_the_newest_that_can_be_read_counts(lesson, course, tmp_path):
    downloads = tmp_path / "d"
    moodle = downloads / "Ann Lee_7_assignsubmission_file_"
    (moodle / "sub").mkdir(parents=True)
    (moodle / f"{lesson.slug}.ipynb").write_bytes(notebook(lesson, exercise="ann"))
    (moodle / "scratch.ipynb").write_bytes(notebook(lesson, exercise="scratch"))
    (moodle / "sub" / "zz.ipynb").write_bytes(b"{")
    (downloads / "bob_8_900_hw.ipynb").write_bytes(notebook(lesson, exercise="newer"))
    (downloads / "bob_8_899_notes-2024.ipynb").write_bytes(notebook(lesson, exercise="older, a number in its own name"))
    (downloads / "cyd_9_1_hw.ipynb").write_bytes(notebook(lesson, exercise="cyd"))
    (downloads / "cyd_9_2_answers.pdf").write_bytes(b"%PDF")
    (downloads / "dan_10_1_hw.ipynb").write_bytes(b'{"cells": [')
    (downloads / "dan_10_2_hw.pdf").write_bytes(b"%PDF")
    taken = collect(lesson, downloads, course)
    assert {
        student: fill_of(course.step("submitted", student, lesson.slug) / f"{lesson.slug}.ipynb")
        for student in taken.students
    } == {"ann-lee-7": "ann", "bob-8": "newer", "cyd-9": "cyd", "dan-10": ""}
    assert len(taken.skipped) == 5 and [(s, why.split(";")[0]) for s, _, why in taken.unread] == [
        ("dan-10", "The file is cut off")
    ], "of unreadable files the .ipynb says what is wrong"


def test_nobody_takes_the_place_of_another(lesson, course, tmp_path):
    downloads = tmp_path / "d"
    for folder, name, said in (
        ("Bob Smith_9_assignsubmission_file_", "hw.ipynb", "bob"),
        ("Eve Roe_3_assignsubmission_file_", "Bob Smith_9_assignsubmission_file_hw.ipynb", "eve"),
        ("Cy Ho_4_assignsubmission_file_", "bob_9_1_hw.ipynb", "cy"),
    ):
        (downloads / folder).mkdir(parents=True)
        (downloads / folder / name).write_bytes(notebook(lesson, exercise=said))
    (downloads / "Eve Roe_3_assignsubmission_file_" / "timestamp.txt").write_text("2020-01-01 00:00:00 UTC")
    collect(lesson, downloads, course)
    assert {
        s: fill_of(course.step("submitted", s, lesson.slug) / f"{lesson.slug}.ipynb") for s in staged(course, lesson)
    } == {"bob-smith-9": "bob", "eve-roe-3": "eve", "cy-ho-4": "cy"}
    assert not list(course.root.rglob("timestamp.txt")), "nobody sets the time of his own hand-in"


def test_a_student_who_handed_in_nothing_that_can_be_taken_is_there_all_the_same(lesson, course, tmp_path):
    downloads = tmp_path / "d"
    (downloads / "Ann Lee_7_assignsubmission_file_").mkdir(parents=True)
    (downloads / "Bob Ho_8_assignsubmission_file_" / ".ipynb_checkpoints").mkdir(parents=True)
    (downloads / "Bob Ho_8_assignsubmission_file_" / ".ipynb_checkpoints" / "hw.ipynb").write_bytes(b"{}")
    (downloads / "Cyd_9_assignsubmission_file_").mkdir()
    (downloads / "Cyd_9_assignsubmission_file_" / ".hw.ipynb").write_bytes(notebook(lesson))
    gbk = os.fsencode(downloads) + "/张三_31_assignsubmission_file_hw.ipynb".encode("gbk")
    with open(gbk, "wb") as file:
        file.write(notebook(lesson))
    taken = collect(lesson, downloads, course)
    assert taken.students == ["ann-lee-7", "bob-ho-8", "cyd-9", "张三-31"] and [s for s, *_ in taken.unread] == [
        "ann-lee-7",
        "bob-ho-8",
    ]
    grade_submissions(lesson, course.root / "submitted", course, grader=FakeGrader(lesson))
    assert {f.result.student: f.result.state for f in final_results(course, lesson)} == {
        "ann-lee-7": "UNGRADED",
        "bob-ho-8": "UNGRADED",
        "cyd-9": "PASS",
        "张三-31": "PASS",
    }


def test_a_damaged_member_of_the_zip_costs_nobody_else(lesson, course, tmp_path):
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as z:
        z.writestr("Ann_7_assignsubmission_file_/hw.ipynb", notebook(lesson))
        z.writestr("Bob_8_assignsubmission_file_/hw.ipynb", b'{"x": "ZZZZZZZZ"}')
        z.writestr("Cyd_9_assignsubmission_file_/" + "长" * 200 + ".ipynb", notebook(lesson))
        z.writestr("Dan_10_assignsubmission_file_", b"x")
        z.writestr("Dan_10_assignsubmission_file_/hw.ipynb", notebook(lesson))
    damaged = path.read_bytes().replace(b"ZZZZZZZZ", b"ZZZZAZZZ", 1)
    path.write_bytes(damaged)
    taken = collect(lesson, path, course)
    assert taken.students == ["ann-7", "bob-8", "cyd-9", "dan-10"]
    assert taken.unread == [("bob-8", "Bob_8_assignsubmission_file_/hw.ipynb", "damaged in the zip; download it again")]
    with zipfile.ZipFile(path, "w") as z:
        z.writestr("Bob_8_assignsubmission_file_/hw.ipynb", notebook(lesson, exercise="mended"))
    assert collect(lesson, path, course).unread == [] and len(staged(course, lesson)) == 4
    path.write_bytes(damaged)
    assert "stays" in collect(lesson, path, course).unread[0][2] and b"mended" in staged(course, lesson)["bob-8"]


@pytest.mark.parametrize("zipped", [False, True])
@pytest.mark.parametrize("tree", ["flat", "downloaded again", "in one folder", "folders"])
def test_plain_names(lesson, course, tmp_path, tree, zipped):
    good = notebook(lesson)
    names = {
        "flat": {
            "wangwei.ipynb": good,
            "李娜.ipynb.txt": good,
            "jane.doe@x.org.pdf": b"%PDF",
            "~$e.doe@x.org.docx": b"Word's lock",
        },
        "downloaded again": {
            "wangwei.ipynb": b"{}",
            "wangwei (1).ipynb": good,
            "李娜(2).ipynb": good,
            "jane.doe@x.org.pdf": b"%PDF",
        },
        "in one folder": {"week 7/wangwei.ipynb": good, "week 7/李娜.json": good, "week 7/jane.doe@x.org": b"%PDF"},
        "folders": {
            f"wangwei/{lesson.slug}/{lesson.slug}.ipynb": good,
            f"wangwei/{lesson.slug}/timestamp.txt": b"2026-12-01 10:00:00 UTC",
            "wangwei/lesson06_smem_pipeline/lesson06_smem_pipeline.ipynb": b"{}",
            "李娜/hw.ipynb": good,
            "jane.doe@x.org/hw.pdf": b"%PDF",
            "other/lesson06_smem_pipeline/lesson06_smem_pipeline.ipynb": b"{}",
        },
    }[tree]
    downloads = tmp_path / "d"
    for name, data in names.items():
        (downloads / name).parent.mkdir(parents=True, exist_ok=True)
        (downloads / name).write_bytes(data)
    if zipped:
        with zipfile.ZipFile(tmp_path / "d.zip", "w") as z:
            for name in names:
                z.write(downloads / name, name)
    taken = collect(lesson, tmp_path / "d.zip" if zipped else downloads, course)
    assert sorted(taken.students) == ["jane.doe@x.org", "wangwei", "李娜"] and taken.names == {"plain": 3}
    assert [name for name, _ in taken.skipped] == (["wangwei.ipynb"] if tree == "downloaded again" else [])
    assert [student for student, *_ in taken.unread] == ["jane.doe@x.org"]
    assert len(list(course.root.rglob("timestamp.txt"))) == (tree == "folders"), (
        "an instructor's own folders say when it was handed in"
    )


def test_plain_names_beside_an_lms_only_where_asked_for(lesson, course, tmp_path):
    downloads = tmp_path / "d"
    downloads.mkdir()
    (downloads / "doejane_11_900_hw.ipynb").write_bytes(notebook(lesson))
    (downloads / "wangwei.ipynb").write_bytes(notebook(lesson))
    taken = collect(lesson, downloads, course)
    assert taken.students == ["doejane-11"] and "--plain" in taken.skipped[0][1] and '"wangwei"' in taken.skipped[0][1]
    assert collect(lesson, downloads, course, plain=True).students == ["doejane-11", "wangwei"]


def test_a_zip_that_cannot_be_opened(lesson, course, tmp_path):
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as z:
        z.writestr("Ann_7_assignsubmission_file_/hw.ipynb", notebook(lesson))
    data = bytearray(path.read_bytes())
    for start, flag in ((0, 6), (data.find(b"PK\1\2"), 8)):
        data[start + flag] |= 1
    path.write_bytes(data)
    with pytest.raises(CourseError, match="password"):
        collect(lesson, path, course)
    path.write_bytes(b"PK\3\4" + bytes(100))
    with pytest.raises(CourseError, match="neither a folder nor a zip"):
        collect(lesson, path, course)
