"""Finding what was handed in, and staging it in the course folder's submitted/ step.

A folder of submissions holds <student>/<lesson>/<lesson>.ipynb. What stands at the edge of that is still taken where it is
clear: another file name, a zipped notebook, a folder in the folder, a notebook directly in the student's folder, an untouched one
beside it (taken.py). What is not clear is reported for that student and stops nobody else.
"""

from __future__ import annotations

import hashlib
import os
import unicodedata
from dataclasses import dataclass
from pathlib import Path

from autograder.errors import CourseError
from autograder.gradebook.course import CourseFolder, write_atomically
from autograder.gradebook.stamps import SIDE_FILES, Stamp, copy_side_files, read_timestamp
from autograder.gradebook.taken import taken_from
from autograder.lesson import Lesson, list_lessons
from autograder.lesson.rubric import Text
from autograder.submission.read import Unreadable

MAX_BYTES = 256 * 1024 * 1024
IGNORED = {"__MACOSX", "__pycache__", *SIDE_FILES, "Thumbs.db", "desktop.ini"}


@dataclass(frozen=True)
class Submission:
    """One student's hand-in. path is None where nothing could be taken; problem then says why, in both languages."""

    student: str
    path: Path | None
    stamp: Stamp = Stamp()
    problem: dict[str, str] | None = None
    place: Path | None = None  # the folder that the hand-in is, with nbgrader's side files


def find_submissions(folder: Path, lesson: Lesson) -> list[Submission]:
    """All hand-ins of one lesson below `folder`, in order of the students' names. Raises CourseError where there is none."""
    folder, slug = Path(folder), lesson.slug
    if folder.exists() and not folder.is_dir():
        raise CourseError(
            "The submissions are a file, not a folder.",
            where=str(folder),
            remedy=f"Name the folder that holds <student>/<lesson>/<lesson>.ipynb; `course collect {slug} {folder}` makes it from a zip.",
        )
    if not folder.is_dir():
        raise CourseError(
            "The folder of submissions does not exist.",
            where=str(folder),
            remedy="Name the folder that holds <student>/<lesson>/<lesson>.ipynb.",
        )
    lessons = {p.name for p in list_lessons()}
    entries = [p for p in _entries(folder) if p.is_dir() or _leads_nowhere(p)]
    _refuse_one_student(folder, entries, lesson, lessons)
    found: dict[str, Submission] = {}
    # a name that is its own id comes first: where another name gives the same id, it is that one's copy, staged by an earlier run
    for student in sorted(entries, key=lambda p: student_id(p.name) != p.name):
        if (submission := _looked_at(student, lesson, lessons)) is not None:
            found[submission.student] = submission
    if not found:
        loose = [p.name for p in _entries(folder) if p.suffix in (".ipynb", ".zip")]
        remedy = (
            f"The files lie loose (e.g. {loose[0]}): run `course collect {slug} {folder}` first, which sorts an LMS's files or <student>.ipynb into <student> folders."
            if loose
            else f"Expected: {folder}/<student>/{slug}/{slug}.ipynb."
        )
        raise CourseError(f"There is no submission of {slug}.", where=str(folder), remedy=remedy)
    return [found[student] for student in sorted(found)]


def _refuse_one_student(folder: Path, entries: list[Path], lesson: Lesson, lessons: set[str]) -> None:
    """One folder too deep: a student's own, whose lessons would be taken for students. A folder of that name beside students is not that."""
    at = folder.resolve()
    own = [p.name for p in entries if p.name in lessons]
    if at.name in lessons and any(p.suffix == ".ipynb" for p in _entries(folder)):
        raise CourseError(
            "This is one student's folder for one lesson.",
            where=str(folder),
            remedy=f"Name the folder of the whole class, two above it: {at.parent.parent}.",
        )
    if own and not any((p / lesson.slug).is_dir() for p in entries if p.name not in lessons):
        raise CourseError(
            f"This is one student's folder: {own[0]} lies in it.",
            where=str(folder),
            remedy=f"Name the folder above it, which holds a folder for each student: {at.parent}.",
        )


def _leads_nowhere(path: Path) -> bool:
    """Is it a link without a target where a student's folder could stand? He hears of it, as of any other link."""
    try:
        return path.is_symlink() and not path.exists() and path.suffix not in (".ipynb", ".zip")
    except OSError:
        return True


def student_id(name: str) -> str:
    """A folder name as an id that any database, terminal and glob takes: UTF-8, at most 128 characters and 200 bytes, no control or glob character.

    nbgrader looks for folders by glob. A name that has to be changed ends with its hash, so that two names are two ids.
    """
    data = os.fsencode(name)
    text = data.decode("utf-8", "backslashreplace")
    plain = "".join("_" if c in "*?[]" or unicodedata.category(c) in ("Cc", "Zl", "Zp") else c for c in text)
    if plain.encode() == data and len(plain) <= 128 and len(data) <= 200:
        return plain
    return plain.encode()[:183].decode("utf-8", "ignore")[:111] + "-" + hashlib.sha256(data).hexdigest()[:16]


def _entries(folder: Path) -> list[Path]:
    return sorted(p for p in folder.iterdir() if not p.name.startswith(".") and p.name not in IGNORED)


def _looked_at(folder: Path, lesson: Lesson, lessons: set[str]) -> Submission | None:
    """A folder that cannot be read is that student's problem, nobody else's. One that is a link may lead into another student's."""
    try:
        if folder.is_symlink():
            return Submission(student_id(folder.name), None, Stamp(), _PROBLEMS["link"])
        return _of_student(folder, lesson, lessons)
    except OSError:
        return Submission(student_id(folder.name), None, Stamp(), UNREADABLE)


def _of_student(folder: Path, lesson: Lesson, lessons: set[str]) -> Submission | None:
    """None: this student handed in other lessons only."""
    student = student_id(folder.name)
    place = folder / lesson.slug
    if not place.is_dir():
        if any((folder / other).is_dir() for other in lessons):
            return None
        place = folder
    if place.is_symlink():
        return Submission(student, None, Stamp(), _PROBLEMS["link"])
    try:
        chosen = taken_from(lesson, place)
    except Unreadable as e:
        return Submission(
            student, None, read_timestamp(place / "timestamp.txt"), {"zh": e.why.zh, "en": e.why.en}, place
        )
    if not (place / "timestamp.txt").exists():  # a folder of another name
        place = chosen.parent
    return Submission(student, chosen, read_timestamp(place / "timestamp.txt"), None, place)


UNREADABLE = {
    "zh": "提交的文件或文件夹无法读取，请重新提交。",
    "en": "The submitted file or folder cannot be read; hand it in again.",
}
_PROBLEMS = {
    "link": {
        "zh": "提交的文件或文件夹是一个指向别处的链接，请交文件本身。",
        "en": "The submitted file or folder is a link to somewhere else; hand in the file itself.",
    },
}


def stage(submission: Submission, course: CourseFolder, slug: str) -> tuple[Path | None, str]:
    """Put the hand-in into submitted/<student>/<lesson>/ byte for byte; return its path there and the SHA-256 of its bytes.

    What lies there already beside a notebook of the lesson's name, as nbgrader collected it, stays where it is: no file of a student's is
    written over.
    Without a file the hash is that of the problem, so that a later, readable hand-in is graded anew.
    """
    problem = submission.problem or UNREADABLE
    try:
        data = submission.path.read_bytes() if submission.path is not None else None
    except OSError:  # gone or closed since it was found: that student's problem, not the run's
        data = None
    if data is None:
        return None, _problem_hash(problem["en"])
    digest = hashlib.sha256(data).hexdigest()
    target = course.step("submitted", submission.student, slug) / f"{slug}.ipynb"
    if target.is_file() and submission.path.resolve().is_relative_to(target.parent.resolve()):
        return submission.path, digest
    if target.resolve() != submission.path.resolve():
        if not target.is_file() or target.stat().st_size != len(data) or file_hash(target) != digest:
            write_atomically(target, data)
        copy_side_files(submission.place or submission.path.parent, target.parent)
    return target, digest


def hand_in(lesson: Lesson, folder: Path) -> tuple[Path | Text, str]:
    """What a folder submitted/<student>/<lesson> holds to be graded, or why there is nothing; and the hash that `stage` gives for it."""
    try:
        path = taken_from(lesson, folder)
        return path, file_hash(path)
    except Unreadable as e:
        return e.why, _problem_hash(e.why.en)


def _problem_hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def file_hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
