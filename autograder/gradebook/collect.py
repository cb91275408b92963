"""Collecting a folder (or zip) of downloads from Canvas or Moodle into submitted/<student>/<lesson>/<lesson>.ipynb.

Canvas:  name_[LATE_]<user id>_<submission id>_<file>[-<attempt>].ipynb
Moodle:  Full Name_<participant>_assignsubmission_file_/<file>, or the same flat: Full Name_<participant>_assignsubmission_file_<file>
The number is kept as the student's lms_user_id, so that exports find the student again.
"""

from __future__ import annotations

import re
import stat
import tempfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from autograder.errors import CourseError
from autograder.gradebook.course import CourseFolder, write_atomically
from autograder.gradebook.submissions import MAX_BYTES, student_id
from autograder.lesson import Lesson

_CANVAS = re.compile(r"^(?P<name>[^_/]+)_(?:(?:LATE|late)_)?(?P<id>\d+)_(?P<sub>\d+)_(?P<file>.+?)(?:-(?P<attempt>\d+))?(?P<ext>\.[A-Za-z0-9]+)$")
_MOODLE = re.compile(r"^(?P<name>.+?)_(?P<id>\d+)_assignsubmission_file_?(?P<file>.*)$")


@dataclass(frozen=True)
class Download:
    """A file of an LMS download. lms_id: the LMS's number of the student; attempt: 0 for the first hand-in."""

    path: Path
    lms: str
    name: str
    lms_id: str
    attempt: int = 0

    @property
    def student(self) -> str:
        """An id for the gradebook: the name as the LMS writes it, made plain, with the LMS's number."""
        plain = re.sub(r"[^\w.-]+", "-", self.name.strip().lower()).strip("-.") or "student"
        return student_id(f"{plain}-{self.lms_id}")


def recognise(path: Path) -> Download | None:
    """Read a download's name (its folder's name for Moodle's folders); None for a file that is neither."""
    for text, inside in ((path.name, False), (path.parent.name, True)):
        if m := _MOODLE.match(text):
            if not inside and not m["file"]:
                continue
            return Download(path, "moodle", m["name"], m["id"])
    if m := _CANVAS.match(path.name):
        return Download(path, "canvas", m["name"], m["id"], int(m["attempt"] or 0))
    return None


@dataclass
class Collected:
    """students: who was collected. skipped: files not taken, with the reason."""

    students: list[str]
    skipped: list[tuple[str, str]]


def collect(lesson: Lesson, downloads: Path, course: CourseFolder) -> Collected:
    """Copy the newest notebook of each student into submitted/. Nothing that is already there for others is touched.

    Raises CourseError where no file name is Canvas's or Moodle's.
    """
    with tempfile.TemporaryDirectory() as scratch:
        root = _unpacked(Path(downloads), Path(scratch))
        newest: dict[tuple[str, str], Download] = {}
        skipped: list[tuple[str, str]] = []
        for path in sorted(root.rglob("*")):
            info = path.lstat()
            if path.name.startswith(".") or "__MACOSX" in path.parts or stat.S_ISDIR(info.st_mode):
                continue
            found = recognise(path)
            if not stat.S_ISREG(info.st_mode):
                skipped.append((path.name, "not an ordinary file"))
            elif found is None:
                skipped.append((path.name, "not a name of Canvas or Moodle"))
            elif path.suffix.lower() not in (".ipynb", ".zip"):
                skipped.append((path.name, "not a notebook"))
            elif info.st_size > MAX_BYTES:
                skipped.append((path.name, "larger than 256 MiB"))
            else:
                key = (found.lms, found.lms_id)
                if key in newest:
                    older = min(newest[key], found, key=_age)
                    skipped.append((older.path.name, f"{found.student} handed in a newer one"))
                    found = max(newest[key], found, key=_age)
                newest[key] = found
        if not newest:
            raise CourseError(
                "No file here is named as Canvas or Moodle names a submission.", where=str(downloads), remedy="Name the folder or zip that the LMS's 'download all submissions' gave."
            )
        course.prepare()
        return Collected(_place(lesson, course, list(newest.values())), skipped)


def _age(d: Download) -> tuple:
    """The later attempt is the newer one; of two files of one attempt, a notebook before a zip, then the file's time."""
    return d.attempt, d.path.suffix == ".ipynb", d.path.stat().st_mtime, d.path.name


def _place(lesson: Lesson, course: CourseFolder, downloads: list[Download]) -> list[str]:
    with course.gradebook(write=True) as gradebook:
        known = {s.lms_user_id: s.id for s in gradebook.students if s.lms_user_id}
        students = []
        for d in sorted(downloads, key=lambda d: d.student):
            student = known.get(d.lms_id, d.student)
            write_atomically(course.step("submitted", student, lesson.slug) / f"{lesson.slug}.ipynb", d.path.read_bytes())
            if d.lms_id not in known:
                given, _, family = d.name.partition(" ")
                names = {"first_name": given, "last_name": family} if d.lms == "moodle" else {"last_name": d.name}
                gradebook.update_or_create_student(student, lms_user_id=d.lms_id, **names)
            students.append(student)
        return students


def _unpacked(downloads: Path, scratch: Path) -> Path:
    """The folder, or a zip's members below scratch (never outside it, never more than the limit)."""
    if downloads.is_dir():
        return downloads
    if not zipfile.is_zipfile(downloads):
        raise CourseError("The downloads are neither a folder nor a zip.", where=str(downloads), remedy="Name the folder or zip of downloaded submissions.")
    with zipfile.ZipFile(downloads) as archive:
        for member in _regular(archive):
            archive.extract(member, scratch)
    return scratch


def _regular(archive: zipfile.ZipFile) -> Iterator[zipfile.ZipInfo]:
    for member in archive.infolist():
        if not member.is_dir() and member.file_size <= MAX_BYTES and not stat.S_ISLNK(member.external_attr >> 16):
            yield member
