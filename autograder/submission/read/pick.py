"""From a hand-in to its reading: of several notebooks the one that was worked on.

A hand-in may hold both languages, an untouched copy, an earlier draft. A notebook in which everything stands that was written in the
others is the one that is meant. Where two hold different work nobody can tell, and the student is asked.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from autograder.lesson.model import BLANK, Lesson
from autograder.submission.challenge_line import read_line
from autograder.submission.fill import extract
from autograder.submission.read.files import Found, notebooks_in, several
from autograder.submission.read.match import Reading, read_submission
from autograder.submission.read.notebook import read_notebook
from autograder.submission.read.released import Released, hints, plain, squeezed, statements
from autograder.submission.read.unreadable import Unreadable
from autograder.submission.source import key

Work = dict[str, Hashable]


@dataclass(frozen=True)
class HandIn:
    """number: which of the files it is. data: the notebook's bytes."""

    number: int
    data: bytes
    reading: Reading


def read_hand_in(lesson: Lesson, editions: dict[str, Released], source: Path | bytes) -> HandIn:
    """The notebook at a path (a file, a folder or zip that holds it) or in these bytes, read against the lesson. Raises Unreadable."""
    return pick(lesson, editions, notebooks_in(source))


def pick(lesson: Lesson, editions: dict[str, Released], found: list[Found]) -> HandIn:
    """The one of these files that is meant. Raises Unreadable."""
    if len(found) == 1:
        return HandIn(0, found[0].data, _read(lesson, editions, found[0].data))
    order = sorted(range(len(found)), key=lambda n: (PurePosixPath(found[n].name).stem != lesson.slug, n))
    read: dict[int, tuple[Reading, Work]] = {}
    refused: dict[int, Unreadable] = {}
    for n in order:
        try:
            reading = _read(lesson, editions, found[n].data)
        except Unreadable as e:
            refused[n] = e
        else:
            read[n] = (reading, work_of(reading))
    damaged = [n for n, e in refused.items() if not e.foreign]
    if not read:
        raise refused[(damaged or order)[0]]
    worked = [n for n, (_, work) in read.items() if work]
    named = [n for n in worked if lesson.slug in found[n].name]
    among = named or worked or list(read)
    meant = next((n for n in among if all(_holds(read[n][1], read[m][1]) for m in among)), None)
    if meant is None or any(lesson.slug in found[n].name or not named for n in damaged):
        raise several([found[n].name for n in sorted({*among, *damaged})])
    return HandIn(meant, found[meant].data, read[meant][0])


def _read(lesson: Lesson, editions: dict[str, Released], data: bytes) -> Reading:
    notebook = read_notebook(data, hints(editions))
    try:
        return read_submission(lesson, editions, notebook)
    except Unreadable as e:
        e.lang = notebook.lang
        raise


def work_of(reading: Reading) -> Work:
    """What the student wrote, by part; nothing for a part that is as it was released."""
    book = reading.released
    fills = [(extract(book.exercise, c.source), c.source) for c in reading.exercise[:50]]
    fill = frozenset(
        squeezed(source) if f.problem else f.key
        for f, source in fills
        if f.problem != "unfilled" and squeezed(source) != squeezed(book.exercise.source)
    )
    case = frozenset(_statements(c.source) for c in reading.found.get("boundary_case", [])) - {
        _statements(book.part("boundary_case").source)
    }
    challenge = (
        read_line((c.source for c in reading.code if "challenge" in c.source), book.challenge) if book.challenge else ""
    )
    work = {"exercise": fill, "boundary_case": case, "challenge": challenge} | {
        slot: plain(text) for slot, text in reading.answers.items()
    }
    return {part: value for part, value in work.items() if value}


def _statements(source: str) -> Hashable:
    return frozenset(key(s) for s in statements(source) if BLANK not in key(s)) or squeezed(source)


def _holds(mine: Work, other: Work) -> bool:
    """Is all of the other work in mine?"""
    return all(mine.get(part) == value for part, value in other.items())
