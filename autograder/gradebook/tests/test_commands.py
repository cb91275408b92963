"""The commands as an instructor types them: exit status, one sentence on stderr, nothing half-written."""

import csv
import json
import os
import subprocess
import sys
import threading

import pytest

from autograder.cli import run
from autograder.gradebook.final import Final, Human
from autograder.gradebook.show import console, printable, verdict_table
from autograder.gradebook.tests.fake import hand_in, notebook, result
from autograder.records import POINT_NAMES
from autograder.release.notebook import student_notebook


@pytest.fixture
def course_command(capsys, monkeypatch):
    monkeypatch.delenv("COURSE_DB_URL", raising=False)

    def call(*arguments):
        with pytest.raises(SystemExit) as ended:
            run([str(a) for a in arguments])
        said = capsys.readouterr()
        return ended.value.code, said.out, said.err

    return call


@pytest.fixture
def class_of_two(lesson, inbox):
    exercise = next(c.source for c in student_notebook(lesson, "en").cells if c.id == "exercise")
    right = exercise.replace("______", "alpha * acc if beta == 0 else alpha * acc + beta * c", 1)
    hand_in(inbox, lesson, "ann", notebook(lesson, exercise=right), "2026-12-01 10:00:00 UTC")
    hand_in(inbox, lesson, "bob", b'{"cells": [')
    return inbox


def test_the_whole_way_with_the_real_grader(lesson, course, class_of_two, course_command, tmp_path):
    verdicts, where = tmp_path / "out" / "verdicts.json", ["--course", course.root]
    status, out, err = course_command(
        "grade", "--lesson", "7", "--submissions", class_of_two, "--json", verdicts, "--jobs", "1", *where
    )
    assert status == 0, err
    ann, bob = json.loads(verdicts.read_text())
    assert (
        set(ann) == {"student", "state", "total", "points", "veto", "findings", "reasons", "provisional"}
        and tuple(ann["points"]) == POINT_NAMES
    )
    assert (ann["student"], ann["state"], ann["points"]["normal"]) == ("ann", "FAIL", 2.0)
    assert (bob["student"], bob["state"]) == ("bob", "UNGRADED") and bob["reasons"][0].isascii()
    assert bob["total"] is None and set(bob["points"].values()) == {None}, "not known, which is no zero"
    assert " ".join(bob["reasons"][0].split()[:4]) in out, "the table shows the English reason"
    assert "2 graded now" in out and "UNGRADED 1" in out and str(course.root) in out
    assert "2+" in out and "Q1 Q2 Q3" in out, "the table keeps its columns beside long reasons"

    before = verdicts.read_bytes()
    status, out, _ = course_command("grade", "7", "--submissions", class_of_two, "--json", verdicts, *where)
    assert (status, verdicts.read_bytes()) == (0, before) and "0 graded now, 2 unchanged" in out

    act = f"cd {course.root} && jupyter lab"
    assert act in out and "Formgrader > Manual Grading" in out, "it says where a person acts"
    status, out, _ = course_command("feedback", "7", *where)
    assert status == 0 and "release_feedback" in out and "send each" in out, "it says how a student gets his page"
    status, out, _ = course_command("report", "7", *where)
    assert status == 0 and act in out
    for fmt in ("csv", "canvas", "moodle"):
        status, out, _ = course_command("export", "7", "--format", fmt, *where)
        assert status == 0 and ("UNGRADED: bob." in out) == (fmt != "csv")
    page = (course.root / "feedback" / "ann" / lesson.slug / f"{lesson.slug}.html").read_text()
    assert "Not passed" in page and "ann" in page
    with (course.grading / f"{lesson.slug}-csv.csv").open() as file:
        rows = {r["student"]: r for r in csv.DictReader(file)}
    assert rows["ann"]["normal"] == "2.0" and rows["bob"]["total"] == ""
    status, out, _ = course_command("due", "7", "--date", "2026-11-30 10:00 UTC", *where)
    assert status == 0 and "due: 2026-11-30 10:00:00 UTC" in out


@pytest.mark.parametrize(
    "arguments, said",
    [
        (["grade", "--lesson", "lesson99_nothing", "--submissions", "{inbox}"], "no lesson"),
        (["grade", "--lesson", "7", "--submissions", "{inbox}/nowhere"], "does not exist"),
        (["grade", "--lesson", "7", "--submissions", "{inbox}"], "no submission"),
        (["feedback", "7"], "no gradebook"),
        (["report", "7"], "no gradebook"),
        (["export", "7", "--format", "xlsx"], "no export format"),
        (["collect", "7", "{inbox}/nowhere"], "do not exist"),
        (["grade", "7", "--submissions", __file__], "`course collect"),
    ],
)
def test_bad_input_is_one_sentence_and_a_remedy(inbox, tmp_path, course_command, arguments, said):
    folder = tmp_path / "fresh"
    status, out, err = course_command(*(a.format(inbox=inbox) for a in arguments), "--course", folder)
    assert status == 1 and said in err and err.startswith("course: ") and len(err.strip().splitlines()) == 1
    assert "Traceback" not in err and not folder.exists(), "nothing half-written"


def test_json_into_a_folder_is_refused_before_any_work(lesson, class_of_two, tmp_path, course_command):
    status, _, err = course_command(
        "grade", "--lesson", "7", "--submissions", class_of_two, "--json", tmp_path, "--course", tmp_path / "fresh"
    )
    assert status == 1 and "names a folder" in err and not (tmp_path / "fresh").exists()


def test_a_file_that_the_user_names_is_written_where_it_is(lesson, class_of_two, tmp_path, course, course_command):
    (tmp_path / "target.json").write_text("old")
    (tmp_path / "link.json").symlink_to(tmp_path / "target.json")
    where = ["--submissions", class_of_two, "--course", course.root, "--json"]
    assert course_command("grade", "7", *where, tmp_path / "link.json")[0] == 0
    assert (tmp_path / "link.json").is_symlink() and json.loads((tmp_path / "target.json").read_text())
    os.mkfifo(tmp_path / "pipe")
    reader = threading.Thread(target=lambda said: said.append((tmp_path / "pipe").read_text()), args=(said := [],))
    reader.start()
    assert course_command("export", "7", "--course", course.root, "--out", tmp_path / "pipe")[0] == 0
    reader.join(10)
    assert said[0].startswith("lesson,student") and (tmp_path / "pipe").is_fifo()
    before = course.sqlite_file.read_bytes()
    status, _, err = course_command("export", "7", "--course", course.root, "--out", course.sqlite_file)
    assert status == 1 and "the gradebook itself" in err and course.sqlite_file.read_bytes() == before
    (tmp_path / "alias").symlink_to(course.root / "submitted")
    for own in (
        tmp_path / "alias" / "ann.csv",
        course.root / "nbgrader_config.py",
        course.grading / f"{lesson.slug}.lock",
    ):
        status, _, err = course_command("export", "7", "--course", course.root, "--out", own)
        assert status == 1 and "lives on" in err
    (tmp_path / "mine.csv").touch(mode=0o600)
    assert course_command("export", "7", "--course", course.root, "--out", tmp_path / "mine.csv")[0] == 0
    assert (tmp_path / "mine.csv").stat().st_mode & 0o777 == 0o600, "grades stay as private as the file was"


@pytest.mark.parametrize("where", ["pipe", "file"])
def test_standard_output_is_a_file_that_can_be_named(lesson, class_of_two, course, course_command, tmp_path, where):
    assert course_command("grade", "7", "--submissions", class_of_two, "--course", course.root)[0] == 0
    command = [
        sys.executable,
        "-m",
        "autograder.cli",
        "export",
        "7",
        "--course",
        str(course.root),
        "--out",
        "/dev/stdout",
    ]
    with (tmp_path / "said").open("w+") as file:
        done = subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE if where == "pipe" else file)
        said = done.stdout if where == "pipe" else (tmp_path / "said").read_text()
    assert said.startswith("lesson,student,") and "Grades: /dev/stdout" in said and os.path.islink("/dev/stdout")


def test_names_are_harmless_in_the_table(lesson, capsys):
    """A right-to-left override, a name wider than its letters, a name shorter than the column's title."""
    finals = [
        Final(r := result(lesson, name), r, Human({}, {}, {}, ()))
        for name in ("a\u202eb", "x\x1b[31m", "[red]", "学生" * 20)
    ]
    for shown in (finals, finals[2:3]):
        screen = console()
        screen.print(verdict_table(lesson, shown, screen.width))
        out = capsys.readouterr().out
        assert "student" in out and "\x1b" not in out and "\u202e" not in out and "[red]" in out and "Q1 Q2 Q3" in out
    assert printable("a\u202eb\n学\u3000生") == "a\\u202eb\\n学\u3000生"


@pytest.mark.parametrize("name", ["f?1", "a%20b"])
def test_a_folder_name_that_is_part_of_a_url_is_refused(class_of_two, tmp_path, course_command, name):
    status, _, err = course_command("grade", "7", "--submissions", class_of_two, "--course", tmp_path / "q" / name)
    assert status == 1 and "neither ? nor %" in err and not (tmp_path / "q").exists(), "nothing half-written"


def test_one_feedback_page_in_the_way_keeps_no_other_back(lesson, class_of_two, course, course_command):
    assert course_command("grade", "7", "--submissions", class_of_two, "--course", course.root)[0] == 0
    (course.root / "feedback" / "ann").write_text("x")
    status, _, err = course_command("feedback", "7", "--course", course.root)
    assert (
        status == 1
        and "1 of 2 pages" in err
        and (course.root / "feedback" / "bob" / lesson.slug / f"{lesson.slug}.html").is_file()
    )


def test_a_course_folder_that_cannot_be_made(lesson, class_of_two, tmp_path, course_command):
    (tmp_path / "file").write_text("x")
    status, _, err = course_command(
        "grade", "--lesson", "7", "--submissions", class_of_two, "--course", tmp_path / "file" / "course"
    )
    assert status == 1 and "cannot be written" in err


def test_broken_settings(lesson, class_of_two, course, course_command):
    (course.root / "nbgrader_config.py").write_text("c = get_config(\n")
    status, _, err = course_command("grade", "--lesson", "7", "--submissions", class_of_two, "--course", course.root)
    assert status == 1 and "settings cannot be read" in err and "nbgrader_config.py" in err


def test_the_lesson_of_grade_is_an_argument_or_an_option(class_of_two, tmp_path, course_command):
    for names in ([], ["7", "--lesson", "7"]):
        status, _, err = course_command("grade", *names, "--submissions", class_of_two, "--course", tmp_path / "fresh")
        assert status == 2 and "Name one lesson" in err and not (tmp_path / "fresh").exists()


@pytest.mark.parametrize("option", ["--out", "--course"])
def test_release_says_the_next_step(tmp_path, course_command, monkeypatch, option):
    from autograder.commands import release

    def made(lessons, out, *_):
        (tmp_path / "a.zip").write_bytes(b"x")
        return [tmp_path / "a.zip"]

    monkeypatch.setattr(release, "release", made)
    monkeypatch.setattr("autograder.gradebook.assignment.register", lambda *_: None)
    status, out, _ = course_command("release", "7", option, "fall", "--lang", "en")
    assert status == 0 and "course collect 7 DOWNLOADS --course fall" in out
    assert (
        "fall/source" in out
        and "fall/release" in out
        and "the English notebook" in out
        and "in zh/" in out
        and "--lang zh" in out
    )


def test_collect_says_how_it_read_the_names(lesson, course, tmp_path, course_command):
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "wangwei.ipynb").write_bytes(notebook(lesson))
    (tmp_path / "d" / "lina\x1b[2J.pdf").write_bytes(b"%PDF")
    status, out, _ = course_command("collect", "7", tmp_path / "d", "--course", course.root)
    assert (
        status == 0
        and "2 submissions collected: 2 by the name of the file" in out
        and f"course grade {lesson.slug} --submissions" in out
    )
    assert "will be UNGRADED: lina__2J-" in out and "lina\\x1b[2J.pdf" in out and "PDF" in out and "\x1b" not in out


@pytest.mark.parametrize("width", [80, 150, 1000])
def test_the_table_keeps_points_and_reasons_at_any_width(lesson, width):
    """At 80 columns the reasons stand below the table; in a pipe nothing is cut."""
    import io

    from rich.console import Console

    from autograder.gradebook.final import Final, Human
    from autograder.gradebook.show import verdict_table

    reasons = [f"reason number {n} of a student whose name is long" for n in range(6)]
    res = result(lesson, "a-rather-long-name-1234567", state="FAIL", reasons=reasons)
    shown = [Final(res, res, Human({}, {}, {}, ()))]
    out = io.StringIO()
    Console(file=out, width=width).print(verdict_table(lesson, shown, width))
    lines = out.getvalue().splitlines()
    assert all(len(line) <= width for line in lines) and "2+1" in out.getvalue() and "Q1 Q2 Q3" in out.getvalue()
    said = " ".join(" ".join(lines).split())
    assert reasons[0] in said
    if width != 150:
        assert all(r in said for r in reasons), "whole"
