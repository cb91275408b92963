"""Who is who in a class, from what an LMS says of it: roster.json in the course folder.

Moodle numbers a student anew in each assignment, so a number tells who handed in only with that assignment's grading worksheet or by the
full name; Canvas's number is the student's own. What a file adds is kept: names, e-mails, numbers, times of handing in, Canvas's LATE marks.
"""

from __future__ import annotations

import csv
import io
import json
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from autograder.errors import CourseError
from autograder.gradebook.course import CourseFolder, write_atomically
from autograder.gradebook.stamps import parse_date

if TYPE_CHECKING:
    from collections.abc import Mapping

FILE = "roster.json"
MAX_BYTES = 20_000_000
_PARTICIPANT = re.compile(r"^\D*(\d+)$")  # "Participant 4711", in whatever language the site speaks


def same_name(name: str) -> str:
    """A name as two spellings of it are compared: composed characters, no case, single blanks, "Family, Given" turned round."""
    text = " ".join(unicodedata.normalize("NFC", name).casefold().split())
    family, comma, given = text.partition(",")
    return f"{given.strip()} {family.strip()}" if comma else text


@dataclass
class Person:
    """student: the id in the gradebook, "" before the first hand-in. canvas: Canvas's number. idnumber: the school's."""

    name: str
    email: str = ""
    idnumber: str = ""
    canvas: str = ""
    student: str = ""

    def is_other(self, other: Person) -> bool:
        """Do the two surely differ: both have an e-mail, a number or a Canvas id, and not the same?"""
        return any(
            (a := getattr(self, what)) and (b := getattr(other, what)) and a.casefold() != b.casefold()
            for what in ("email", "idnumber", "canvas", "student")
        )

    def is_same(self, other: Person) -> bool:
        return any(
            (a := getattr(self, what)) and a.casefold() == getattr(other, what).casefold()
            for what in ("email", "idnumber", "canvas", "student")
        )


@dataclass
class Row:
    """A line of a class list. participant: Moodle's number in one assignment. handed_in: what the file says of the time, "" for nothing."""

    person: Person
    participant: str = ""
    handed_in: str = ""


@dataclass
class Roster:
    """people, and by lesson: participants {number: index in people}, times {index: ISO time, UTC}, late: indices that Canvas marked."""

    people: list[Person] = field(default_factory=list)
    participants: dict[str, dict[str, int]] = field(default_factory=dict)
    times: dict[str, dict[int, str]] = field(default_factory=dict)
    late: dict[str, list[int]] = field(default_factory=dict)

    # ------------------------------------------------------------------------------------------------ file
    @classmethod
    def read(cls, course: CourseFolder) -> Roster:
        """The course's roster, empty where there is none. Raises CourseError for a file that is none."""
        path = course.root / FILE
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
            times = {lesson: {int(k): v for k, v in found.items()} for lesson, found in data["times"].items()}
            return cls([Person(**p) for p in data["people"]], data["participants"], times, data["late"])
        except FileNotFoundError:
            return cls()
        except (OSError, ValueError, KeyError, TypeError) as e:
            raise CourseError(
                f"The roster cannot be read: {type(e).__name__}: {e}.",
                where=str(path),
                remedy="Move it away and give `course roster` the class lists again.",
            ) from None

    def write(self, course: CourseFolder) -> None:
        write_atomically(course.root / FILE, json.dumps(asdict(self), ensure_ascii=False, indent=1) + "\n")

    # ------------------------------------------------------------------------------------------------ people
    def add(self, person: Person) -> int:
        """The index of this person, who is added or whose gaps are filled. A namesake who surely differs is another person."""
        at = next((i for i, p in enumerate(self.people) if p.is_same(person)), None)
        if at is None:
            named = [i for i in self.named(person.name) if not self.people[i].is_other(person)]
            at = named[0] if len(named) == 1 else None
        if at is None:
            self.people.append(person)
            return len(self.people) - 1
        return self._fill(at, person)

    def _fill(self, at: int, person: Person) -> int:
        for what in ("email", "idnumber", "canvas", "student"):
            if not getattr(self.people[at], what):
                setattr(self.people[at], what, getattr(person, what))
        return at

    def named(self, name: str) -> list[int]:
        """Indices of those who bear this name."""
        wanted = same_name(name)
        return [i for i, p in enumerate(self.people) if same_name(p.name) == wanted]

    def of_student(self, student: str) -> int | None:
        return next((i for i, p in enumerate(self.people) if p.student == student), None)

    def participant_of(self, lesson: str) -> Mapping[str, str]:
        """{student's id: Moodle's number in this lesson's assignment}."""
        return {
            self.people[i].student: n for n, i in self.participants.get(lesson, {}).items() if self.people[i].student
        }

    # ------------------------------------------------------------------------------------------------ a class list
    def take(self, rows: Iterable[Row], lesson: str, zone: str) -> list[str]:
        """Add a class list; what is said of it, a line each. lesson: whose assignment the numbers and times are of, "" for none."""
        said, count, timed = [], 0, 0
        for row in rows:
            known = self.participants.get(lesson, {}).get(row.participant)  # the number is sure where it was met
            at = self.add(row.person) if known is None else self._fill(known, row.person)
            count += 1
            if row.participant and lesson:
                self.participants.setdefault(lesson, {})[row.participant] = at
            if row.handed_in and lesson:
                try:
                    text = row.handed_in if _has_zone(row.handed_in) else f"{row.handed_in} {zone}"
                    self.times.setdefault(lesson, {})[at] = parse_date(text).isoformat(" ")
                    timed += 1
                except ValueError:
                    said.append(f"no time is read from {row.handed_in!r} ({row.person.name})")
        said.append(f"{count} people read, {len(self.people)} in the roster")
        if lesson:
            said.append(f"{timed} times of handing in for {lesson}" + (f", read as {zone}" if timed else ""))
        return said


def _has_zone(text: str) -> bool:
    return bool(re.search(r"(?:Z|[+-]\d\d:?\d\d|UTC|GMT)$", text.strip()))


def read_class_list(path: Path) -> list[Row]:
    """The lines of Moodle's grading worksheet, Canvas's gradebook export, or a CSV with a column `name` and e-mail or number.

    Raises CourseError where the file is none of them.
    """
    try:
        raw = path.read_bytes()
    except OSError as e:
        raise CourseError(
            f"The class list cannot be read: {e.strerror}.", where=str(path), remedy="Name a CSV file."
        ) from None
    if len(raw) > MAX_BYTES:
        raise CourseError("The class list is too large.", where=str(path), remedy="Name the CSV that the LMS gives.")
    text = _decoded(raw)
    head = text.splitlines()[0] if text.strip() else ""
    rows = list(csv.DictReader(io.StringIO(text), delimiter=max(",;\t", key=head.count)))
    columns = {(c or "").strip().casefold(): c for c in (rows[0] if rows else {})}
    for kind in (_moodle, _canvas, _plain):
        if (read := kind(columns)) is not None:
            return [r for line in rows if (r := read(line)) is not None]
    raise CourseError(
        f"The columns are those of no class list: {', '.join(c for c in columns.values() if c) or 'none'}.",
        where=str(path),
        remedy="Give Moodle's grading worksheet (Identifier, Full name, ...), Canvas's gradebook export (Student, ID, ...), or a CSV with "
        "the columns name and email or id.",
    )


def _decoded(raw: bytes) -> str:
    for encoding in ("utf-8-sig", "gb18030", "latin-1"):
        try:
            return raw.decode("utf-16" if raw[:2] in (b"\xff\xfe", b"\xfe\xff") else encoding)
        except UnicodeDecodeError:
            continue
    return ""


def _cell(line: dict, column: str | None) -> str:
    value = line.get(column) if column is not None else None
    return " ".join(unicodedata.normalize("NFC", value).split()) if isinstance(value, str) else ""


def _first(columns: dict, *names: str) -> str | None:
    return next((columns[n] for n in names if n in columns), None)


def _moodle(columns: dict):
    """Full name and identifier; the site's language may be Chinese."""
    number = _first(columns, "identifier", "标识符", "识别号")
    name = _first(columns, "full name", "全名", "姓名")
    if number is None or name is None:
        return None
    email = _first(columns, "email address", "电子邮件地址", "电子邮箱地址", "email")
    idnumber = _first(columns, "id number", "编号", "学号")
    time = next(
        (
            columns[c]
            for c in columns
            if c.startswith(("last modified (submission", "上次修改（提交", "最后修改(提交", "最后修改（提交"))
        ),
        None,
    )

    def read(line: dict) -> Row | None:
        found = _PARTICIPANT.match(_cell(line, number))
        if not _cell(line, name) or not found:
            return None
        when = _cell(line, time)
        person = Person(_cell(line, name), _cell(line, email), _cell(line, idnumber))
        return Row(person, found[1], when if re.search(r"\d", when) else "")

    return read


def _canvas(columns: dict):
    name, number = _first(columns, "student"), _first(columns, "id")
    if name is None or number is None:
        return None
    sis, login = _first(columns, "sis user id"), _first(columns, "sis login id")

    def read(line: dict) -> Row | None:
        if not _cell(line, number).isdigit():  # "Points Possible", a test student
            return None
        mail = _cell(line, login)
        return Row(Person(_cell(line, name), mail if "@" in mail else "", _cell(line, sis), _cell(line, number)))

    return read


def _plain(columns: dict):
    name = _first(columns, "name", "full name", "姓名")
    email, number, student = (
        _first(columns, "email"),
        _first(columns, "id", "idnumber", "学号"),
        _first(columns, "student"),
    )
    if name is None or (email or number or student) is None:
        return None

    def read(line: dict) -> Row | None:
        person = Person(_cell(line, name), _cell(line, email), _cell(line, number), student=_cell(line, student))
        return Row(person) if person.name else None

    return read


def put_times(roster: Roster, lesson: str, course: CourseFolder) -> list[str]:
    """Write what the roster knows of times beside the hand-ins, as nbgrader does; the students whose time is new or another."""
    changed = []
    for at, time in roster.times.get(lesson, {}).items():
        student = roster.people[at].student
        folder = course.step("submitted", student, lesson)
        if student and folder.is_dir():
            text = f"{datetime.fromisoformat(time).isoformat(' ')} UTC"
            path = folder / "timestamp.txt"
            if not path.is_file() or path.read_text(encoding="utf-8", errors="replace").strip() != text:
                write_atomically(path, text + "\n")
                changed.append(student)
    return sorted(changed)
