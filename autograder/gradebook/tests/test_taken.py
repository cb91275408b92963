"""What a student's folder holds: both languages as nbgrader hands them out, copies, folders below, files that are none."""

from __future__ import annotations

import os
import shutil

import pytest
from nbgrader.api import Gradebook
from nbgrader.apps import AutogradeApp

from autograder.gradebook.run import grade_submissions
from autograder.gradebook.submissions import find_submissions
from autograder.gradebook.tests.fake import FakeGrader, fill_of, notebook, result
from autograder.gradebook.tests.test_nbgrader import nbgrader, table
from autograder.release.bundle import release

FILL = "def linear_epilogue(acc, alpha, beta, c=None):\n    return alpha * acc if beta == 0 else alpha * acc + beta * c"


def put(folder, files):
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    return folder


@pytest.fixture
def layouts(lesson):
    """Name of a student -> (his files below <student>/, which of them is his work)."""
    slug, work, zh, en = (
        lesson.slug,
        notebook(lesson, "en", exercise=FILL),
        notebook(lesson, "zh"),
        notebook(lesson, "en"),
    )
    own = notebook(lesson, "zh", exercise=FILL)
    return {
        "english": (
            {f"{slug}/{slug}.ipynb": zh, f"{slug}/en/{slug}.ipynb": work, f"{slug}/lesson.json": b"{}"},
            f"{slug}/en/{slug}.ipynb",
        ),
        "chinese": ({f"{slug}/{slug}.ipynb": own, f"{slug}/en/{slug}.ipynb": en}, f"{slug}/{slug}.ipynb"),
        "copied": ({f"{slug}/{slug}.ipynb": zh, f"{slug}/{slug}-Copy1.ipynb": own}, f"{slug}/{slug}-Copy1.ipynb"),
        "bundle": (
            {
                f"{slug}/zh/{slug}.ipynb": zh,
                f"{slug}/en/{slug}.ipynb": work,
                f"{slug}/lesson.json": b"{}",
                f"{slug}/requirements.txt": b"numpy",
            },
            f"{slug}/en/{slug}.ipynb",
        ),
        "below": ({f"{slug}/en/{slug}.ipynb": work}, f"{slug}/en/{slug}.ipynb"),
        "named": ({"Lesson 7/final/hw.ipynb": work}, "Lesson 7/final/hw.ipynb"),
        "text": ({f"{slug}/{slug}.ipynb.txt": work, f"{slug}/notes.txt": b"mine"}, f"{slug}/{slug}.ipynb.txt"),
        "both": (
            {
                f"{slug}/{slug}.ipynb": own,
                f"{slug}/en/{slug}.ipynb": notebook(lesson, "en", exercise=FILL, q1="Only here."),
            },
            f"{slug}/en/{slug}.ipynb",
        ),
        "two": (
            {
                f"{slug}/{slug}.ipynb": own,
                f"{slug}/en/{slug}.ipynb": notebook(lesson, "en", exercise=FILL.replace("+", "-")),
            },
            None,
        ),
        "none": (
            {f"{slug}/report.pdf": b"%PDF-1.7 x", f"{slug}/lesson.json": b"{}", f"{slug}/notes.txt": b"mine"},
            None,
        ),
    }


def test_the_one_that_was_worked_on_is_taken(lesson, inbox, layouts):
    for name, (files, _) in layouts.items():
        put(inbox / name, files)
    found = {s.student: s for s in find_submissions(inbox, lesson)}
    for name, (_, wanted) in layouts.items():
        path = found[name].path
        assert (path and path.relative_to(inbox / name).as_posix()) == wanted, name
    assert "2 notebooks" in found["two"].problem["en"] and "2 个笔记本" in found["two"].problem["zh"]
    assert "report.pdf" in found["none"].problem["en"] and "report.pdf" in found["none"].problem["zh"]


def test_it_is_staged_under_the_lessons_name_and_shown(lesson, course, inbox, layouts):
    for name in ("english", "copied", "bundle", "named"):
        put(inbox / name, layouts[name][0])
    (inbox / "english" / lesson.slug / "timestamp.txt").write_text("2026-12-01 10:00:00 UTC")
    grader = FakeGrader(lesson)
    assert grade_submissions(lesson, inbox, course, grader=grader).graded == 4
    for name in ("english", "copied", "bundle", "named"):
        assert fill_of(course.step("submitted", name, lesson.slug) / f"{lesson.slug}.ipynb") == FILL
        assert (
            "alpha * acc + beta * c"
            in (course.step("autograded", name, lesson.slug) / f"{lesson.slug}.ipynb").read_text()
        )
    with Gradebook(course.db_url) as gb:
        assert gb.find_submission(lesson.slug, "english").timestamp.isoformat() == "2026-12-01T10:00:00"


def test_nothing_that_nbgrader_collected_is_written_over(lesson, course, layouts, monkeypatch):
    """Graded where it lies, by course grade and nbgrader autograde alike, with the same rows; a rerun grades nothing twice."""
    names = ("english", "chinese", "copied", "two")
    for name in names:
        put(course.root / "submitted" / name, layouts[name][0])
    before = {p: p.read_bytes() for p in (course.root / "submitted").rglob("*") if p.is_file()}
    verdict = lambda student, fill: result(lesson, student, fill=fill, normal=2.0 if fill == FILL else 0.0)  # noqa: E731
    monkeypatch.setattr(
        "autograder.grading.grade_notebook",
        lambda lesson, path, student: verdict(student, fill_of(path)),
        raising=False,
    )
    grader = FakeGrader(lesson, verdict)
    grade_submissions(lesson, course.root / "submitted", course, grader=grader)
    assert {p: p.read_bytes() for p in (course.root / "submitted").rglob("*") if p.is_file()} == before and len(
        grader.seen
    ) == 3
    ours = table(course, lesson.slug)
    shown = {p: p.read_text() for p in course.root.glob(f"autograded/*/*/{lesson.slug}.ipynb")}
    assert {name: dict(g[:2] for g in ours[name][3])["normal"] for name in names} == {
        "english": 2.0,
        "chinese": 2.0,
        "copied": 2.0,
        "two": None,
    }
    assert grade_submissions(lesson, course.root / "submitted", course, grader=grader).kept == 4

    with Gradebook(course.db_url) as gb:
        for name in names:
            gb.remove_submission(lesson.slug, name)
    shutil.rmtree(course.root / "autograded")
    nbgrader(AutogradeApp, course, lesson.slug, "--force", "--log-level", "ERROR")
    assert table(course, lesson.slug) == ours
    assert {p: p.read_text() for p in course.root.glob(f"autograded/*/*/{lesson.slug}.ipynb")} == shown
    assert (
        grade_submissions(lesson, course.root / "submitted", course, grader=grader).kept == 4 and len(grader.seen) == 3
    )


def test_a_release_of_ours_handed_back_with_the_english_notebook_filled_in(lesson, course, tmp_path):
    """release/<lesson> as nbgrader's exchange hands it out and takes it back, whole."""
    release([lesson], tmp_path / "fall")
    mine = course.root / "submitted" / "ann" / lesson.slug
    shutil.copytree(tmp_path / "fall" / "release" / lesson.slug, mine)
    book = mine / "en" / f"{lesson.slug}.ipynb"
    book.write_text(
        book.read_text(encoding="utf-8").replace(
            "return ______", "return alpha * acc if beta == 0 else alpha * acc + beta * c"
        ),
        encoding="utf-8",
    )
    (found,) = find_submissions(course.root / "submitted", lesson)
    assert found.path == book


def test_a_link_in_the_folder_leads_nowhere(lesson, course, inbox):
    put(inbox / "ann", {f"{lesson.slug}/{lesson.slug}.ipynb": notebook(lesson, exercise=FILL)})
    (inbox / "bob" / lesson.slug).mkdir(parents=True)
    os.symlink(inbox / "ann" / lesson.slug, inbox / "bob" / lesson.slug / "en")
    os.symlink(inbox / "ann" / lesson.slug, inbox / "cyd")
    (inbox / "dan").mkdir()
    os.symlink(inbox / "ann" / lesson.slug, inbox / "dan" / lesson.slug)
    found = {s.student: s for s in find_submissions(inbox, lesson)}
    assert (
        found["ann"].path
        and not any(found[n].path for n in ("bob", "cyd", "dan"))
        and all(found[n].problem for n in ("bob", "cyd", "dan"))
    )
