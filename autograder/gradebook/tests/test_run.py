"""A grading run: what stands in the gradebook afterwards, what a rerun does, what bad input says."""

import errno
import json
import os
import sqlite3
import subprocess
from pathlib import Path

import pytest
from nbgrader.api import Gradebook
from sqlalchemy.exc import OperationalError

from autograder.errors import CourseError
from autograder.gradebook.course import CourseFolder, _stamp_new, open_gradebook
from autograder.gradebook.final import final_results
from autograder.gradebook.run import grade_submissions, run_lock
from autograder.gradebook.store import Writer
from autograder.gradebook.tests.fake import FakeGrader, finding, hand_in, notebook, result, slot
from autograder.records import MACHINE_FAULTS


def rows(course, slug, student):
    with Gradebook(course.db_url) as gb:
        nb = gb.find_submission_notebook(slug, slug, student)
        return {g.name: (g.auto_score, g.manual_score, g.needs_manual_grade) for g in nb.grades}


def set_manual(course, slug, student, cell, score, comment=None):
    """What formgrader's PUT does."""
    with Gradebook(course.db_url) as gb:
        grade = gb.find_grade(cell, slug, slug, student)
        grade.manual_score, grade.needs_manual_grade = score, False
        if comment:
            gb.find_comment(cell, slug, slug, student).manual_comment = comment
        gb.db.commit()


def test_rows_notebooks_and_results(lesson, course, inbox):
    hand_in(inbox, lesson, "ann", notebook(lesson, exercise="one"), "2026-11-29 10:00:00 UTC")
    hand_in(inbox, lesson, "bob", b"not json")
    verdicts = {
        "ann": result(lesson, "ann", state="REVIEW", slots={"q1": slot(lesson, "q1", 1.0, lane="review")}),
        "bob": result(lesson, "bob", state="UNGRADED"),
    }
    summary = grade_submissions(lesson, inbox, course, grader=FakeGrader(lesson, lambda s, _: verdicts[s]))
    assert (summary.graded, summary.kept, summary.students) == (2, 0, ["ann", "bob"])
    ann = rows(course, lesson.slug, "ann")
    assert ann["normal"] == (2.0, None, False) and ann["q2"] == (2.0, None, False)
    assert ann["q1"] == (None, None, True), "a suggestion must not count"
    assert set(rows(course, lesson.slug, "bob").values()) == {(None, None, True)}, "ungraded is not zero"
    with Gradebook(course.db_url) as gb:
        submission = gb.find_submission(lesson.slug, "ann")
        assert submission.timestamp.isoformat() == "2026-11-29T10:00:00" and submission.score == 8.0
        assert "Suggested 1 of 2" in gb.find_comment("q1", lesson.slug, lesson.slug, "ann").auto_comment
    shown = json.loads((course.step("autograded", "ann", lesson.slug) / f"{lesson.slug}.ipynb").read_text())
    assert next(c for c in shown["cells"] if c["id"] == "exercise")["source"] == "one"
    assert [f.result.state for f in final_results(course, lesson)] == ["REVIEW", "UNGRADED"]
    assert not list(course.grading.glob("*.journal.jsonl")), "a finished run leaves no journal"


def test_rerun_grades_nothing_twice_and_a_new_hand_in_again(lesson, course, inbox):
    for name in ("ann", "bob"):
        hand_in(inbox, lesson, name, notebook(lesson, exercise=name))
    grade_submissions(lesson, inbox, course, grader=FakeGrader(lesson))
    again = FakeGrader(lesson)
    summary = grade_submissions(lesson, inbox, course, grader=again)
    assert again.seen == [] and summary.kept == 2
    hand_in(inbox, lesson, "bob", notebook(lesson, exercise="better"))
    grade_submissions(lesson, inbox, course, grader=again)
    assert again.seen == ["bob"]
    assert {f.result.student: f.result.fill for f in final_results(course, lesson)} == {"ann": "ann", "bob": "better"}
    grade_submissions(lesson, inbox, course, grader=again, regrade=True)
    assert again.seen == ["bob", "ann", "bob"]


@pytest.mark.parametrize("code", MACHINE_FAULTS)
def test_what_the_machine_failed_at_is_tried_again_at_the_next_run(lesson, course, inbox, code):
    for name in ("ann", "bob"):
        hand_in(inbox, lesson, name, notebook(lesson, exercise=name))
    fault = finding(code=code, where="")
    failed = lambda s, text: (
        result(lesson, s, fill=text)
        if s == "ann"
        else result(lesson, s, state="UNGRADED").model_copy(update={"findings": [fault]})
    )  # noqa: E731
    for _ in range(2):
        grader = FakeGrader(lesson, failed)
        grade_submissions(lesson, inbox, course, grader=grader)
    assert grader.seen == ["bob"]
    grade_submissions(lesson, inbox, course, grader=(grader := FakeGrader(lesson)))
    assert grader.seen == ["bob"] and [f.result.state for f in final_results(course, lesson)] == ["PASS", "PASS"]
    grade_submissions(lesson, inbox, course, grader=grader)
    assert grader.seen == ["bob"], "once it is graded it stays"


def test_a_second_try_is_not_lost_with_its_run(lesson, course, inbox):
    """The gradebook holds the machine's failure, the journal of the stopped run the grade."""
    for name in ("ann", "bob"):
        hand_in(inbox, lesson, name, notebook(lesson))
    failed = result(lesson, "ann", state="UNGRADED").model_copy(
        update={"findings": [finding(code="grader_crashed", where="")]}
    )
    grade_submissions(
        lesson, inbox, course, grader=FakeGrader(lesson, lambda s, _: failed if s == "ann" else result(lesson, s))
    )
    hand_in(inbox, lesson, "bob", notebook(lesson, exercise="new"))

    def stop(student, text):
        if student == "bob":
            raise KeyboardInterrupt
        return result(lesson, student, fill="second try")

    with pytest.raises(CourseError, match="interrupted"):
        grade_submissions(lesson, inbox, course, grader=FakeGrader(lesson, stop))
    again = FakeGrader(lesson)
    summary = grade_submissions(lesson, inbox, course, grader=again)
    assert again.seen == ["bob"] and summary.recovered == 1
    assert final_results(course, lesson)[0].result.fill == "second try"


def test_changed_rubric_regrades_and_keeps_manual_scores(lesson, course, inbox, monkeypatch):
    hand_in(inbox, lesson, "ann", notebook(lesson))
    low = lambda s, _: result(lesson, s, state="FAIL", slots={"q2": 0.0}, normal=0.0)  # noqa: E731
    grade_submissions(lesson, inbox, course, grader=FakeGrader(lesson, low))
    set_manual(course, lesson.slug, "ann", "q2", 1.5, "well argued")
    monkeypatch.setattr("autograder.gradebook.run.rubric_hash", lambda lesson: "f" * 64)
    regrade = FakeGrader(lesson, lambda s, _: result(lesson, s, slots={"q2": 1.0}))
    assert grade_submissions(lesson, inbox, course, grader=regrade).graded == 1
    got = rows(course, lesson.slug, "ann")
    assert got["q2"] == (1.0, 1.5, True), "the manual score stays, and a person is asked to look again"
    assert got["normal"] == (2.0, None, False)
    final = final_results(course, lesson)[0]
    assert final.result.points["q2"] == 1.5 and final.human.comments == {"q2": "well argued"}


def test_unchanged_regrade_leaves_what_a_person_settled(lesson, course, inbox):
    hand_in(inbox, lesson, "ann", notebook(lesson))
    unsure = FakeGrader(
        lesson, lambda s, _: result(lesson, s, state="REVIEW", slots={"q1": slot(lesson, "q1", 1.0, lane="review")})
    )
    grade_submissions(lesson, inbox, course, grader=unsure)
    set_manual(course, lesson.slug, "ann", "q1", 2.0)
    grade_submissions(lesson, inbox, course, grader=unsure, regrade=True)
    assert rows(course, lesson.slug, "ann")["q1"] == (None, 2.0, False)
    final = final_results(course, lesson)[0]
    assert final.result.state == "PASS" and final.result.total == 10


def test_review_finding_asks_at_its_cell(lesson, course, inbox):
    hand_in(inbox, lesson, "ann", notebook(lesson))
    grade_submissions(
        lesson,
        inbox,
        course,
        grader=FakeGrader(lesson, lambda s, _: result(lesson, s, state="REVIEW", findings=[finding(where="q2")])),
    )
    waiting = {name for name, row in rows(course, lesson.slug, "ann").items() if row[2]}
    assert waiting == {"q2"}


@pytest.mark.parametrize("odd", ["other name", "zip", "top level", "one other folder"])
def test_odd_places_are_still_found(lesson, course, inbox, odd):
    data, student = notebook(lesson, exercise="x"), inbox / "ann"
    place = {
        "other name": student / lesson.slug / "my hw (1).ipynb",
        "zip": student / lesson.slug / "hw.zip",
        "top level": student / "hw7.ipynb",
        "one other folder": student / "lesson 7" / "hw7.ipynb",
    }[odd]
    place.parent.mkdir(parents=True)
    place.write_bytes(data)
    (place.parent / ".DS_Store").write_bytes(b"x")
    grade_submissions(lesson, inbox, course, grader=FakeGrader(lesson))
    assert final_results(course, lesson)[0].result.fill == "x"


def test_what_cannot_be_taken_is_ungraded_and_stops_nobody(lesson, course, inbox, tmp_path):
    hand_in(inbox, lesson, "good", notebook(lesson))
    (inbox / "empty" / lesson.slug).mkdir(parents=True)
    for name in ("a.ipynb", "b.ipynb"):
        (inbox / "two" / lesson.slug).mkdir(parents=True, exist_ok=True)
        (inbox / "two" / lesson.slug / name).write_bytes(b"{}")
    secret = tmp_path / "secret.ipynb"
    secret.write_bytes(notebook(lesson))
    (inbox / "link" / lesson.slug).mkdir(parents=True)
    (inbox / "link" / lesson.slug / f"{lesson.slug}.ipynb").symlink_to(secret)
    (inbox / "dir" / lesson.slug / f"{lesson.slug}.ipynb").mkdir(parents=True)
    (inbox / "other" / "lesson99_unknown").mkdir(parents=True)
    summary = grade_submissions(lesson, inbox, course, grader=FakeGrader(lesson))
    states = {f.result.student: f.result.state for f in final_results(course, lesson)}
    assert states == {
        "good": "PASS",
        "empty": "UNGRADED",
        "two": "UNGRADED",
        "link": "UNGRADED",
        "dir": "UNGRADED",
        "other": "UNGRADED",
    }
    assert summary.graded == 6
    assert all(f.result.why[0].isascii() for f in final_results(course, lesson) if f.result.state == "UNGRADED"), (
        "the instructor's reasons are English"
    )
    assert not (course.step("submitted", "link", lesson.slug) / f"{lesson.slug}.ipynb").exists()


def test_nothing_to_grade(lesson, course, inbox):
    with pytest.raises(CourseError, match="There is no submission"):
        grade_submissions(lesson, inbox, course, grader=FakeGrader(lesson))
    with pytest.raises(CourseError, match="does not exist"):
        grade_submissions(lesson, inbox / "no", course, grader=FakeGrader(lesson))
    (inbox / "doe_1_2_hw.ipynb").write_bytes(b"{}")
    with pytest.raises(CourseError, match="course collect"):
        grade_submissions(lesson, inbox, course, grader=FakeGrader(lesson))


def impatient(course):
    """The same gradebook, waiting 0.1 s for a lock instead of 5 s."""
    return CourseFolder(course.root, db_url=f"{course.db_url}?timeout=0.1")


def test_locked_gradebook_is_told_before_any_work(lesson, course, inbox):
    course = impatient(course)
    hand_in(inbox, lesson, "ann", notebook(lesson))
    grader = FakeGrader(lesson)
    holder = sqlite3.connect(course.root / "gradebook.db", isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    try:
        with pytest.raises(CourseError, match="locked") as told:
            grade_submissions(lesson, inbox, course, grader=grader)
        assert told.value.remedy and grader.seen == []
    finally:
        holder.execute("ROLLBACK")
        holder.close()
    grade_submissions(lesson, inbox, course, grader=grader)
    assert grader.seen == ["ann"]


def test_a_lock_file_that_cannot_be_opened_is_told_in_one_sentence(lesson, course, inbox):
    hand_in(inbox, lesson, "ann", notebook(lesson))
    (course.grading / f"{lesson.slug}.lock").mkdir(parents=True)  # as on a read-only disk: opening fails, also for root
    with pytest.raises(CourseError, match="cannot be written") as told:
        grade_submissions(lesson, inbox, course, grader=FakeGrader(lesson))
    assert told.value.remedy


def test_gradebook_locked_in_the_middle_loses_nothing(lesson, course, inbox):
    course = impatient(course)
    for n in range(3):
        hand_in(inbox, lesson, f"s{n}", notebook(lesson))
    holder = sqlite3.connect(course.root / "gradebook.db", isolation_level=None, check_same_thread=False)

    def lock_then_grade(student, text):
        if student == "s2":
            holder.execute("BEGIN EXCLUSIVE")
        return result(lesson, student)

    with pytest.raises(CourseError, match="locked"):
        grade_submissions(lesson, inbox, course, grader=FakeGrader(lesson, lock_then_grade))
    holder.execute("ROLLBACK")
    holder.close()
    again = FakeGrader(lesson)
    summary = grade_submissions(lesson, inbox, course, grader=again)
    assert again.seen == [] and summary.recovered == 3


@pytest.mark.parametrize("how", ["read-only file", "not a database", "read-only url"])
def test_unusable_gradebook(lesson, course, inbox, how):
    hand_in(inbox, lesson, "ann", notebook(lesson))
    file = course.root / "gradebook.db"
    if how == "read-only file":
        file.chmod(0o444)
    elif how == "not a database":
        file.write_bytes(b"hello" * 1000)
    else:
        course = CourseFolder(course.root, db_url=f"sqlite:///file:{file}?mode=ro&uri=true")
    before = file.read_bytes()
    with pytest.raises(CourseError) as told:
        grade_submissions(lesson, inbox, course, grader=FakeGrader(lesson))
    assert told.value.remedy and ("read-only" in str(told.value) or "not a database" in str(told.value))
    assert file.read_bytes() == before and not (course.step("autograded", "ann", lesson.slug)).exists()


def test_one_writer(lesson, course, inbox):
    hand_in(inbox, lesson, "ann", notebook(lesson))
    with run_lock(course, lesson.slug), pytest.raises(CourseError, match="Another grading run"):
        grade_submissions(lesson, inbox, course, grader=FakeGrader(lesson))


def test_interrupted_run_keeps_what_was_graded(lesson, course, inbox):
    for n in range(4):
        hand_in(inbox, lesson, f"s{n}", notebook(lesson))

    def interrupt(student, text):
        if student == "s2":
            raise KeyboardInterrupt
        return result(lesson, student)

    with pytest.raises(CourseError, match="interrupted") as told:
        grade_submissions(lesson, inbox, course, grader=FakeGrader(lesson, interrupt))
    assert "same command again" in told.value.remedy
    again = FakeGrader(lesson)
    summary = grade_submissions(lesson, inbox, course, grader=again)
    assert again.seen == ["s2", "s3"] and summary.recovered == 2


def test_submissions_may_lie_in_the_course_folder_itself(lesson, course):
    hand_in(course.root / "submitted", lesson, "ann", notebook(lesson))
    grade_submissions(lesson, course.root / "submitted", course, grader=FakeGrader(lesson))
    assert [f.result.student for f in final_results(course, lesson)] == ["ann"]


def test_pipes_and_links_harm_only_their_own_student(lesson, course, inbox):
    """A pipe as timestamp would be read for ever; a link loop or a link to another's work is no hand-in."""
    hand_in(inbox, lesson, "ann", notebook(lesson))
    os.mkfifo(hand_in(inbox, lesson, "pipe", notebook(lesson)).parent / "timestamp.txt")
    for name, target in (
        ("loop", "loop.ipynb"),
        ("borrowed", str(inbox / "ann" / lesson.slug / f"{lesson.slug}.ipynb")),
    ):
        place = inbox / name / lesson.slug
        place.mkdir(parents=True)
        (place / (f"{name}.ipynb" if name == "loop" else f"{lesson.slug}.ipynb")).symlink_to(target)
    grader = FakeGrader(lesson)
    summary = grade_submissions(lesson, inbox, course, grader=grader)
    assert sorted(summary.students) == ["ann", "borrowed", "loop", "pipe"]
    assert sorted(grader.seen) == ["ann", "pipe"]


@pytest.mark.parametrize("left", ["nothing", "the stamp alone"])
def test_a_gradebook_is_made_without_another_process(tmp_path, monkeypatch, left):
    """nbgrader asks a process `alembic` for its layout's version: killed, it cost a traceback and a gradebook without a version."""
    from alembic.script import ScriptDirectory
    from nbgrader.dbutil import ALEMBIC_DIR
    from sqlalchemy import text

    def started(*_, **__):
        raise subprocess.CalledProcessError(-9, ["alembic"])

    monkeypatch.setattr(subprocess, "Popen", started)
    url = f"sqlite:///{tmp_path / 'gradebook.db'}"
    if left == "the stamp alone":
        _stamp_new(url)
    gradebook = open_gradebook(url)
    try:
        (version,) = gradebook.db.execute(text("SELECT version_num FROM alembic_version")).scalars()
        assert version == ScriptDirectory(ALEMBIC_DIR).get_current_head() and gradebook.assignments == []
    finally:
        gradebook.close()


@pytest.mark.parametrize("where", ["submitted", "journal", "autograded", "gradebook"])
def test_a_full_disk_is_one_sentence_and_the_next_run_goes_on(lesson, course, inbox, monkeypatch, where):
    """At whichever write the room ends: what was graded before it is graded no second time."""
    for n in range(6):
        hand_in(inbox, lesson, f"s{n}", notebook(lesson, exercise=str(n)))
    full = OSError(errno.ENOSPC, "No space left on device")
    with monkeypatch.context() as m:
        if where == "journal":
            write = os.write

            def half(fd, data):
                if b'"s3"' in data[:40]:
                    return write(fd, data[: len(data) // 2])
                return write(fd, data)

            m.setattr("autograder.gradebook.journal.os.write", half)
        elif where == "gradebook":
            m.setattr(
                Writer,
                "write",
                lambda self, entries: _raise(
                    OperationalError("INSERT", {}, sqlite3.OperationalError("database or disk is full"))
                ),
            )
        else:
            write_bytes = Path.write_bytes
            m.setattr(
                Path,
                "write_bytes",
                lambda self, data: (
                    _raise(full) if "s3" in self.parts and where in self.parts else write_bytes(self, data)
                ),
            )
        first = FakeGrader(lesson)
        with pytest.raises(CourseError) as told:
            grade_submissions(lesson, inbox, course, grader=first)
    assert "No space left" in told.value.what or told.value.what == "The disk that holds the gradebook is full."
    assert "run the same command again" in told.value.remedy
    second = FakeGrader(lesson)
    summary = grade_submissions(lesson, inbox, course, grader=second)
    kept = {"submitted": 3, "journal": 3}.get(where, 6)
    assert (len(second.seen), summary.graded) == (6 - kept, 6 - kept) and [
        f.result.state for f in final_results(course, lesson)
    ] == ["PASS"] * 6


def _raise(e):
    raise e
