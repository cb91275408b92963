"""Collecting a folder (or zip) of downloads into submitted/<student>/<lesson>/<lesson>.ipynb.

Canvas:  name_[LATE_]<user id>_<attachment id>_<file>; name_[LATE_]<user id>_text.html for text typed into Canvas, _link.html for a link
Moodle:  Full Name_<participant>_assignsubmission_file/<file> (before Moodle 4 the folder ended in _), or the same flat:
         Full Name_<participant>_assignsubmission_file_<file>; onlinetext in place of file for text typed into Moodle
plain:   <student>.ipynb, a browser's second <student> (1).ipynb too, or <student>/ with whatever is in it; taken where no name is an LMS's, or where asked for
The LMS's number is kept as the student's lms_user_id, so that exports find the student again.

Whoever handed in anything stands in submitted/: what the grader cannot read as a notebook becomes UNGRADED with the reason.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path, PurePath

from autograder.errors import CourseError
from autograder.gradebook.course import CourseFolder, write_atomically
from autograder.gradebook.downloads import File, NotTaken, open_downloads
from autograder.gradebook.submissions import SIDE_FILES, student_id
from autograder.grading.read import Unreadable, read_hand_in, released
from autograder.lesson import Lesson, list_lessons

_CANVAS = re.compile(r"^(?P<name>.+?)_(?:(?:LATE|late)_)?(?P<id>\d+)_(?:(?P<number>\d+)_.+|(?:text|link)\.html)$", re.S)
_MOODLE = re.compile(r"^(?P<name>.+?)_(?P<id>\d+)_assignsubmission_(?:file|onlinetext)(?:_|$)", re.S)
_ENDINGS = re.compile(r"(?:\.(?:ipynb|json|txt|zip|html?|pdf|py|tar|gz|rar|7z|docx?))+$", re.I)
_AGAIN = re.compile(r"(?<=.) ?\(\d{1,2}\)$", re.S)
_LONGEST = 60  # characters of a name in an id: 255 bytes are a folder's longest name


@dataclass(frozen=True)
class Owner:
    """Whose file it is. lms: canvas, moodle or plain. lms_id: the LMS's number of the student. number: greater for a later upload (Canvas)."""

    lms: str
    name: str
    lms_id: str = ""
    number: int = 0

    @property
    def student(self) -> str:
        """An id for the gradebook: the name as the LMS writes it, made plain, with the LMS's number; a plain name as a folder's is."""
        if self.lms == "plain":
            return student_id(self.name)
        plain = re.sub(r"[^\w.-]+", "-", self.name.strip().lower()).strip("-.")[:_LONGEST] or "student"
        return f"{plain}-{self.lms_id}"


def recognise(path: PurePath) -> Owner | None:
    """Read a download's name; None for one that is neither Canvas's nor Moodle's.

    Moodle's outermost folder comes first: what lies in it was named by the student.
    """
    for text in path.parts:
        if m := _MOODLE.match(text):
            return Owner("moodle", m["name"], m["id"])
    if m := _CANVAS.match(path.name):
        return Owner("canvas", m["name"], m["id"], int(m["number"] or 0))
    return None


@dataclass
class Collected:
    """students: who was collected. unread: (student, file, why) for those whom the grader will leave UNGRADED. skipped: (file, why not taken).

    names: how many students by each way to read the names: canvas, moodle, plain.
    """

    students: list[str] = field(default_factory=list)
    unread: list[tuple[str, str, str]] = field(default_factory=list)
    skipped: list[tuple[str, str]] = field(default_factory=list)
    names: Counter = field(default_factory=Counter)


def collect(lesson: Lesson, downloads: Path, course: CourseFolder, *, plain: bool = False) -> Collected:
    """Copy each student's newest notebook into submitted/. Nothing that is already there for others is touched.

    plain: take also files without an LMS's name, the name of the file or of its folder as the student's.
    Raises CourseError where there is nothing to take.
    """
    with open_downloads(Path(downloads)) as files:
        taken = Collected()
        sides = {f.place: f for f in files if f.place.name in SIDE_FILES}
        files = [f for f in files if f.place not in sides]
        owned = [(recognise(f.place), f) for f in files]
        if plain or not any(owner for owner, _ in owned):
            loose = [f for owner, f in owned if owner is None]
            found = _plainly(lesson, loose)
            if not plain and not any(_look(lesson, f)[1] == "" for _, f in found):
                raise CourseError(
                    f"No file here is named as Canvas or Moodle names a submission, and none is a notebook of {lesson.slug}.",
                    where=str(downloads),
                    remedy="Name the folder or zip that the LMS's 'download all submissions' gave, or one that holds <student>.ipynb or <student>/ for each student.",
                )
            owned = [(owner, f) for owner, f in owned if owner is not None] + found
        hands: dict[tuple[str, str], list[tuple[Owner, File]]] = {}
        for owner, file in owned:
            if owner is not None:
                hands.setdefault((owner.lms, owner.lms_id or owner.name), []).append((owner, file))
            elif not file.place.name.startswith("."):
                taken.skipped.append(
                    (
                        str(file.place),
                        f'not a name of Canvas or Moodle; --plain takes it for the student "{_stem(file.place.parts[0])}"',
                    )
                )
        course.prepare()
        _place(lesson, course, hands.values(), sides, taken)
    return taken


def _plainly(lesson: Lesson, files: list[File]) -> list[tuple[Owner, File]]:
    """Whose each file is where the names are the students' own: the first part of its place, below a folder that holds the whole class."""
    lessons = {p.name for p in list_lessons()}
    files = [f for f in files if not lessons & set(f.place.parts[1:-1]) - {lesson.slug}]
    depth = 0
    while len({f.place.parts[depth] for f in files if len(f.place.parts) > depth}) == 1:
        below = {f.place.parts[depth + 1] for f in files if len(f.place.parts) > depth + 1}
        if len(below) < 2 or below & lessons:
            break  # one student's folder, not the class's
        depth += 1
    names = [(f.place.parts[min(depth, len(f.place.parts) - 1)], f) for f in files]
    return [
        (Owner("plain", _AGAIN.sub("", _stem(name)) if name == f.place.name else name), f)
        for name, f in names
        if not name.startswith((".", "~$"))
    ]


def _stem(name: str) -> str:
    return _ENDINGS.sub("", name) or name


def _place(
    lesson: Lesson, course: CourseFolder, hands: Iterable[list[tuple[Owner, File]]], sides: dict, taken: Collected
) -> None:
    with course.gradebook(write=True) as gradebook:
        known = {s.lms_user_id: s.id for s in gradebook.students if s.lms_user_id}
        for files in sorted(hands, key=lambda files: files[0][0].student):
            owner = files[0][0]
            student = known.get(owner.lms_id, owner.student)
            file, data, why = _newest(lesson, files)
            target = course.step("submitted", student, lesson.slug) / f"{lesson.slug}.ipynb"
            if data is not None:
                if target.is_file() and target.read_bytes() != data:
                    for name in SIDE_FILES:  # they are of the hand-in before this one
                        (target.parent / name).unlink(missing_ok=True)
                write_atomically(target, data)
            elif target.exists():
                why += "; what was collected before stays"
            else:
                target.parent.mkdir(parents=True, exist_ok=True)
            if owner.lms == "plain" and len(file.place.parts) > 1:
                _take_beside(file, sides, target.parent)
            if owner.lms_id and owner.lms_id not in known:
                given, _, family = owner.name.partition(" ")
                names = (
                    {"first_name": given, "last_name": family} if owner.lms == "moodle" else {"last_name": owner.name}
                )
                gradebook.update_or_create_student(student, lms_user_id=owner.lms_id, **names)
            taken.students.append(student)
            taken.names[owner.lms] += 1
            if why:
                taken.unread.append((student, str(file.place), why))
            taken.skipped += [
                (str(f.place), f"{student} handed in several files; {file.place.name} was taken")
                for _, f in files
                if f is not file
            ]


def _newest(lesson: Lesson, files: list[tuple[Owner, File]]) -> tuple[File, bytes | None, str]:
    """Of one student's files the newest that the grader can read; where it can read none, the newest .ipynb, then the newest; with why not.

    Newest: Canvas's number tells; else the file that has the lesson's name, then the file's time.
    """
    best: tuple | None = None
    for owner, file in files:
        data, why = _look(lesson, file)
        readable = data is not None and not why
        book = not readable and file.place.suffix.lower() == ".ipynb"
        rank = (readable, data is not None, book, owner.number, lesson.slug in file.place.name, file.time, file.place)
        if best is None or rank > best[0]:
            best = (rank, file, data, why)
    return best[1:]


def _look(lesson: Lesson, file: File) -> tuple[bytes | None, str]:
    """A file's bytes, None where they cannot be had; and why the grader cannot read them as this lesson's notebook, "" where it can."""
    try:
        data = file.read()
    except NotTaken as e:
        return None, str(e)
    try:
        read_hand_in(lesson, released(lesson), data)
    except Unreadable as e:
        return data, e.why.en
    except (RecursionError, MemoryError):
        return data, "The file is too large or too complex to be read."
    return data, ""


def _take_beside(file: File, sides: dict, folder: Path) -> None:
    """What nbgrader puts beside a notebook. Only from an instructor's own folders: in an LMS's, a student may have put it there."""
    for name in SIDE_FILES:
        if (side := sides.get(file.place.with_name(name))) is not None:
            try:
                write_atomically(folder / name, side.read()[:10_000])
            except NotTaken:
                continue
