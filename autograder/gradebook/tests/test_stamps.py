"""When something was handed in: one student's timestamp.txt is his own matter, and it counts as it stands now."""

import os
from datetime import datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nbgrader.api import Gradebook

from autograder.gradebook.final import final_results
from autograder.gradebook.run import grade_submissions
from autograder.gradebook.stamps import UNREAD, Stamp, parse_date, read_side, read_timestamp, with_stamp
from autograder.gradebook.tests.fake import FakeGrader, hand_in, notebook, result
from autograder.report.data import review_queue

NOON = datetime(2026, 11, 30, 12)


@pytest.mark.parametrize(
    "text",
    [
        "2026-11-30 12:00:00.000000 UTC",
        "2026-11-30 20:00 Asia/Shanghai",
        "2026-11-30 20:00 +0800",
        "2026-11-30T12:00:00Z",
        "30 November 2026 12:00",
        "2026-11-30 07:00 EST",
    ],
)
def test_whole_dates(text):
    assert parse_date(text) == NOON


@pytest.mark.parametrize(
    "text",
    [
        "",
        "12",
        "10:00",
        "30 November",
        "2026-11-30 12:00 Asia/Shangai",
        "9999-12-31 UTC",
        "0001-01-01",
        "2026-01-01 00:03" + "9" * 60,
        "2026-01-01 00:00 ../../../proc/kmsg",
        "nan",
    ],
)
def test_what_is_no_whole_date_of_a_course(text):
    with pytest.raises(ValueError):
        parse_date(text)


@settings(max_examples=400, deadline=None)
@given(
    st.one_of(
        st.text(max_size=60),
        st.text(alphabet="0123456789-: TZ+UTC/.,eE²٣Ⅷ\0", max_size=60),
        st.builds("2026-01-01 00:00{}".format, st.text(alphabet="0123456789-: TZ+UTC/.,eE", max_size=40)),
    )
)
def test_any_text_is_a_date_or_a_value_error(text):
    try:
        assert parse_date(text).tzinfo is None
    except ValueError:
        pass


def spoil(path, how):
    stamp = path.parent / "timestamp.txt"
    if how == "ann":
        return
    stamp.unlink(missing_ok=True)
    if how == "a terabyte":
        with stamp.open("wb") as file:
            file.truncate(1 << 40)
    elif how == "digits":
        stamp.write_text("2026-01-01 00:03" + "9" * 60)
    elif how == "a link":
        stamp.symlink_to("/etc/hostname")
    elif how == "a folder":
        stamp.mkdir()
    elif how == "a pipe":
        os.mkfifo(stamp)
    elif how == "empty":
        stamp.touch()
    elif how == "bytes":
        stamp.write_bytes(b"\xff\xfe2\x000\x00")


HOW = ["a terabyte", "digits", "a link", "a folder", "a pipe", "empty", "bytes"]


@pytest.mark.parametrize("where", ["inbox", "submitted"])
def test_a_stamp_that_cannot_be_read_is_a_finding_on_its_student_alone(lesson, course, inbox, where):
    folder = inbox if where == "inbox" else course.root / "submitted"
    for name in ("ann", *HOW):
        spoil(hand_in(folder, lesson, name, notebook(lesson), "2026-11-30 12:00:00 UTC"), name)
    for _ in range(2):
        grade_submissions(lesson, folder, course, grader=(grader := FakeGrader(lesson)))
    assert grader.seen == [], "graded once"
    found = {f.result.student: f for f in final_results(course, lesson)}
    assert found["ann"].timestamp == NOON and not found["ann"].result.findings
    for name in HOW:
        assert [x.code for x in found[name].result.findings] == [UNREAD] and found[name].timestamp is None
        assert found[name].human.waiting == ("normal",) and "timestamp.txt" in found[name].result.why[-1]
    assert ["timestamp.txt" in q.what for q in review_queue(found.values())] == [True] * len(HOW)
    spoil(hand_in(folder, lesson, "digits", notebook(lesson)), "")
    hand_in(folder, lesson, "digits", notebook(lesson), "2026-11-30 12:00:00 UTC")
    grade_submissions(lesson, folder, course, grader=grader)
    assert grader.seen == ["digits"]
    mended = next(f for f in final_results(course, lesson) if f.result.student == "digits")
    assert mended.timestamp == NOON and not mended.result.findings


def test_a_side_file_that_may_not_be_read(tmp_path, monkeypatch):
    """As with mode 000, which stops no administrator."""
    (tmp_path / "timestamp.txt").write_text("2026-11-30 12:00 UTC")
    assert read_timestamp(tmp_path / "timestamp.txt") == Stamp(NOON)

    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", refuse)
    assert read_timestamp(tmp_path / "timestamp.txt") == Stamp(unread=True)


def test_only_the_beginning_of_a_side_file_is_read(tmp_path):
    with (tmp_path / "secret").open("wb") as file:
        file.truncate(1 << 40)
    assert len(read_side(tmp_path / "secret")) == 10_000 and read_side(tmp_path / "none") is None


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_the_reason_speaks_the_notebooks_language(lesson, lang):
    marked = with_stamp(result(lesson, "ann", lang=lang), Stamp(unread=True))
    assert marked.state == "PASS" and marked.reasons[-1].isascii() == (lang == "en") and marked.why[-1].isascii()
    bad = result(lesson, "bob", state="UNGRADED")
    assert with_stamp(bad, Stamp(unread=True)).reasons == bad.reasons


def times(course, lesson):
    with Gradebook(course.db_url) as gb:
        return {s.student.id: s.timestamp for s in gb.assignment_submissions(lesson.slug)}


def test_a_new_hand_in_does_not_keep_the_old_time(lesson, course, inbox):
    path = hand_in(inbox, lesson, "ann", notebook(lesson), "2026-11-30 12:00:00 UTC")
    grade_submissions(lesson, inbox, course, grader=FakeGrader(lesson))
    (path.parent / "timestamp.txt").unlink()
    hand_in(inbox, lesson, "ann", notebook(lesson, exercise="better"))
    grade_submissions(lesson, inbox, course, grader=FakeGrader(lesson))
    assert times(course, lesson) == {"ann": None}
    for step in ("submitted", "autograded"):
        assert not (course.step(step, "ann", lesson.slug) / "timestamp.txt").exists(), "nbgrader reads it there"


def test_a_time_that_comes_or_goes_after_grading_is_taken_without_grading_again(lesson, course, inbox):
    path = hand_in(inbox, lesson, "ann", notebook(lesson))
    grader = FakeGrader(lesson)
    grade_submissions(lesson, inbox, course, grader=grader)
    hand_in(inbox, lesson, "ann", notebook(lesson), "2026-11-30 12:00:00 UTC")
    summary = grade_submissions(lesson, inbox, course, grader=grader)
    assert (summary.kept, summary.retimed, grader.seen, times(course, lesson)) == (1, 1, ["ann"], {"ann": NOON})
    assert (course.step("autograded", "ann", lesson.slug) / "timestamp.txt").is_file()
    (path.parent / "timestamp.txt").unlink()
    summary = grade_submissions(lesson, inbox, course, grader=grader)
    assert (summary.retimed, grader.seen, times(course, lesson)) == (1, ["ann"], {"ann": None})
    assert grade_submissions(lesson, inbox, course, grader=grader).retimed == 0
