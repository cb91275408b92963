"""The rows of each export. An ungraded submission has an empty grade, never 0; an LMS gets no provisional grade, whatever the verdict.

Canvas: header as its own gradebook export writes it; a student is matched by ID or SIS Login ID; "Notes" is Canvas's custom
column of that name, the place it offers for text (gradebook_importer.rb of canvas-lms reads it between Section and the
assignments). Moodle: the offline grading worksheet, matched by "Identifier"; an empty Grade changes nothing
(importgradeslib.php of moodle's assignfeedback_offline needs Identifier, Grade and Last modified (grade)).
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator

from autograder.gradebook.final import LIFT, Final, is_veto
from autograder.gradebook.rows import joined
from autograder.lesson import Lesson
from autograder.records import POINT_NAMES

NAMES_SHOWN = 30

CSV_COLUMNS = (
    "lesson",
    "student",
    "last_name",
    "first_name",
    "email",
    "state",
    "total",
    "late_penalty",
    "score",
    "max_score",
    *POINT_NAMES,
    "waiting_for_review",
    "scored_by_hand",
    "veto",
    "reasons",
    "findings",
    "timestamp",
    "due",
)


def csv_rows(lesson: Lesson, finals: Iterable[Final]) -> Iterator[list]:
    """One line a student with state, points, veto and reasons. Times are ISO, UTC."""
    yield list(CSV_COLUMNS)
    for f in finals:
        result = f.result
        graded = result.state != "UNGRADED"
        yield [
            lesson.slug,
            _text(result.student),
            _text(f.last_name),
            _text(f.first_name),
            _text(f.email),
            result.state,
            result.total if graded else "",
            f.penalty if graded else "",
            f.score if graded else "",
            lesson.rubric.points.total(),
            *(result.points.get(n, 0.0) if graded else "" for n in POINT_NAMES),
            " ".join(f.human.waiting),
            " ".join(n for n in POINT_NAMES if n in f.human.manual),
            _text(" ".join(result.veto)),
            _text(joined(result.why)),
            _text(joined(x.message.en for x in result.findings)),
            f.timestamp.isoformat() if f.timestamp else "",
            f.duedate.isoformat() if f.duedate else "",
        ]


def canvas_rows(lesson: Lesson, finals: Iterable[Final]) -> Iterator[list]:
    """Student, ID, SIS User ID, SIS Login ID, Section, Notes, <lesson>. A provisional grade stays empty."""
    title = lesson.edition("en").title
    yield ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "Notes", title]
    yield ["    Points Possible", "", "", "", "", "", lesson.rubric.points.total()]
    for f in finals:
        given, family = _names(f)
        name = ", ".join(x for x in (family, given) if x) or f.result.student
        yield [_text(name), f.lms_user_id, "", _text(f.result.student), "", _text(_remark(f)), released(lesson, f)]


def moodle_rows(lesson: Lesson, finals: Iterable[Final]) -> Iterator[list]:
    """Moodle's offline grading worksheet; Identifier is "Participant <number>" where the number came with the download."""
    yield [
        "Identifier",
        "Full name",
        "Email address",
        "Status",
        "Grade",
        "Maximum Grade",
        "Grade can be changed",
        "Last modified (grade)",
        "Feedback comments",
    ]
    for f in finals:
        name = " ".join(x for x in (f.first_name, f.last_name) if x) or f.result.student
        identifier = f"Participant {f.lms_user_id}" if f.lms_user_id else _text(f.result.student)
        grade = released(lesson, f)
        status = "Graded" if grade != "" else "Submitted for grading"
        modified = f.graded_at.strftime("%A, %d %B %Y, %I:%M %p") if f.graded_at and grade != "" else "-"
        yield [
            identifier,
            _text(name),
            _text(f.email),
            status,
            grade,
            lesson.rubric.points.total(),
            "Yes",
            modified,
            _text(_remark(f)),
        ]


ROWS: dict[str, Callable[[Lesson, Iterable[Final]], Iterator[list]]] = {
    "csv": csv_rows,
    "canvas": canvas_rows,
    "moodle": moodle_rows,
}


def to_csv(rows: Iterable[list]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue()


def released(lesson: Lesson, f: Final) -> float | str:
    """The grade an LMS may show the student; "" while it is ungraded, any of its points waits for a person, or a veto stands beside points
    that pass: to the LMS such a grade would say that the student passed."""
    return "" if f.score is None or f.waits or contradicted(lesson, f) else f.score


def contradicted(lesson: Lesson, f: Final) -> bool:
    """Does a veto stand beside a score that would pass?"""
    return bool(f.result.veto) and f.score is not None and f.score >= lesson.rubric.pass_mark


def held_back(lesson: Lesson, finals: Iterable[Final]) -> list[str]:
    """Whose grades an LMS does not get, one line for each reason, with what waits."""
    finals = list(finals)
    waiting = [f"{f.result.student} ({' '.join(f.human.waiting)})" for f in finals if f.waits]
    vetoed = [f.result.student for f in finals if not f.waits and contradicted(lesson, f)]
    ungraded = [f.result.student for f in finals if f.score is None]
    return [
        f"Grade left empty for {len(names)}, {why}: {', '.join(names[:NAMES_SHOWN])}"
        + (f" and {len(names) - NAMES_SHOWN} more" if len(names) > NAMES_SHOWN else "")
        + "."
        for names, why in (
            (waiting, "whose points wait for a person"),
            (ungraded, "who are UNGRADED"),
            (
                vetoed,
                f"whose points would pass and whose veto stands (a comment {LIFT} on any cell in formgrader lifts it)",
            ),
        )
        if names
    ]


def _remark(f: Final) -> str:
    """For the student, in words; the rubric's names of vetoes are the grader's own."""
    veto = [_VETO[f.result.lang]] if f.result.veto and not any(is_veto(r) for r in f.result.reasons) else []
    return joined([f"{f.result.state}.", *veto, *f.result.reasons], f.result.lang)


_VETO = {"zh": "有一票否决。", "en": "A veto applies."}


def _names(f: Final) -> tuple[str, str]:
    """(given, family). Where Moodle writes "Family, Given", the gradebook has them the other way round, parted at the first blank."""
    family, comma, given = f"{f.first_name} {f.last_name}".partition(",")
    return (
        (given.strip(), family.strip())
        if f.first_name and comma and not _SUFFIX.fullmatch(given.strip())
        else (f.first_name, f.last_name)
    )


_SUFFIX = re.compile(r"(?:jr|sr|[ivx]+|ph\.?d|m\.?d|esq)?\.?", re.I)  # what follows a comma in "Mary O'Brien, Jr."


def _text(value: str) -> str:
    """A text cell that no spreadsheet takes for a formula (ids and reasons may hold what a student wrote), nor one that parts cells at semicolons."""
    value = re.sub(r";(?=[\s\"']*[=+@-])", ";'", " ".join(value.split()))
    return "'" + value if value[:1] in ("=", "+", "-", "@") else value
