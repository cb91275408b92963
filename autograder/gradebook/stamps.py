"""When something was handed in: nbgrader's timestamp.txt, read without trust, and dates as a person writes them. Times are naive UTC."""

from __future__ import annotations

import os
import re
import stat
import warnings
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from autograder.gradebook.course import write_atomically
from autograder.lesson.rubric import Text
from autograder.records import Finding, Result

SIDE_FILES = ("timestamp.txt", "submission_secret.txt")
MAX_SIDE = 10_000  # bytes of a side file that are read and copied
MAX_DATE = 200  # characters of a date
YEARS = range(2000, 2101)  # a course's dates; what lies outside is a mistake, and some libraries end at 1 or 9999
UNREAD = "bad_timestamp"
_ZONE = re.compile(r"[A-Za-z][\w+-]*(?:/[\w+-]+)*", re.A)  # never a path: dateutil opens one
_SAID = Text(
    zh="需要人工查看：提交时间无法读取（timestamp.txt），是否迟交不得而知。",
    en="A person must look: the time of handing in cannot be read (timestamp.txt), so nobody knows whether it was late.",
)


@dataclass(frozen=True)
class Stamp:
    """time: when it was handed in, None where nothing says so. unread: there is a timestamp.txt, but no time can be read from it."""

    time: datetime | None = None
    unread: bool = False


def read_timestamp(path: Path) -> Stamp:
    """A student's timestamp.txt. Never raises, never waits, never reads more than MAX_SIDE bytes."""
    try:
        data = read_side(path)
        return Stamp() if data is None else Stamp(parse_date(data.decode("utf-8")))
    except (OSError, ValueError):
        return Stamp(unread=True)


def with_stamp(result: Result, stamp: Stamp) -> Result:
    """The result, with a finding for a person where the time cannot be read. The verdict stands: lateness costs points only."""
    if not stamp.unread:
        return result
    finding = Finding(code=UNREAD, severity="review", message=_SAID, where="timestamp.txt")
    own = [_SAID.get(result.lang)] if result.state != "UNGRADED" else []
    why = [_SAID.en] if own and (result.reasons_en or not result.reasons) else []
    return result.model_copy(
        update={
            "findings": [*result.findings, finding],
            "reasons": [*result.reasons, *own],
            "reasons_en": [*result.reasons_en, *why],
        }
    )


def parse_date(text: str) -> datetime:
    """A whole date, with a time and a zone or without, as naive UTC. Raises ValueError for anything else.

    A date that lacks its year, month or day is refused: it would be filled in from today, differently on another day.
    """
    from dateutil import parser, tz

    words = text.split()
    if len(text) > MAX_DATE or not words:
        raise ValueError("not a date")
    zone = tz.gettz(words[-1]) if len(words) > 1 and _ZONE.fullmatch(words[-1]) else None
    if zone is not None:
        text = " ".join(words[:-1])
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # a zone that dateutil does not know would pass as none at all
            found, other = (parser.parse(text, default=day) for day in (datetime(2000, 1, 1), datetime(2001, 2, 2)))
        if found != other:
            raise ValueError("not a whole date")
        if zone is not None and found.tzinfo is None:
            found = found.replace(tzinfo=zone)
        if found.tzinfo is not None:
            found = (found - found.utcoffset()).replace(tzinfo=None)
    except Exception as e:  # dateutil raises whatever a text provokes, decimal's errors among it
        raise ValueError(f"not a date: {type(e).__name__}") from None
    if found.year not in YEARS:
        raise ValueError("not a year of a course")
    return found


def read_side(path: Path) -> bytes | None:
    """The first MAX_SIDE bytes of a side file, None where there is none. Raises OSError for what cannot be read or is no ordinary file."""
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    except (FileNotFoundError, NotADirectoryError):
        return None
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):  # a pipe or a device would be read for ever
            raise OSError("not an ordinary file")
        return os.read(descriptor, MAX_SIDE)
    finally:
        os.close(descriptor)


def copy_side_files(source: Path, target: Path) -> None:
    """What nbgrader's exchange puts beside a notebook and wants to find beside the feedback; none where the hand-in has none (any more).

    Raises OSError only for `target`: what a student's own file is like stops nobody.
    """
    for name in SIDE_FILES:
        data, there = _of(source / name), _of(target / name)
        if data is None:
            (target / name).unlink(missing_ok=True)
        elif data != there:
            write_atomically(target / name, data)


def _of(path: Path) -> bytes | None:
    try:
        return read_side(path)
    except OSError:
        return None
