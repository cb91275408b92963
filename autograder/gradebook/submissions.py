"""Finding what was handed in, and staging it in the course folder's submitted/ step.

A folder of submissions holds <student>/<lesson>/<lesson>.ipynb. What stands at the edge of that is still taken where it is
clear: another file name, a zipped notebook, a notebook directly in the student's folder. What is not clear is reported for
that student and stops nobody else.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from autograder.errors import CourseError
from autograder.gradebook.course import CourseFolder, write_atomically
from autograder.lesson import list_lessons

MAX_BYTES = 256 * 1024 * 1024
IGNORED = {"__MACOSX", "__pycache__", "timestamp.txt", "submission_secret.txt", "Thumbs.db", "desktop.ini"}
SIDE_FILES = ("timestamp.txt", "submission_secret.txt")
NOTEBOOK_SUFFIXES = (".ipynb", ".zip", ".json", ".txt")


@dataclass(frozen=True)
class Submission:
    """One student's hand-in. path is None where nothing could be taken; problem then says why, in both languages."""

    student: str
    path: Path | None
    timestamp: datetime | None = None  # UTC
    problem: dict[str, str] | None = None


def find_submissions(folder: Path, slug: str) -> list[Submission]:
    """All hand-ins of one lesson below `folder`, in order of the students' names. Raises CourseError where there is none."""
    folder = Path(folder)
    if folder.is_file():
        raise CourseError("The submissions are a file, not a folder.", where=str(folder), remedy=f"Name the folder that holds <student>/<lesson>/<lesson>.ipynb; `course collect {slug} {folder}` makes it from a zip.")
    if not folder.is_dir():
        raise CourseError("The folder of submissions does not exist.", where=str(folder), remedy="Name the folder that holds <student>/<lesson>/<lesson>.ipynb.")
    lessons = {p.name for p in list_lessons()}
    found = [s for student in _entries(folder) if student.is_dir() and (s := _looked_at(student, slug, lessons)) is not None]
    if not found:
        loose = [p.name for p in _entries(folder) if p.suffix in (".ipynb", ".zip")]
        remedy = f"The files lie loose (e.g. {loose[0]}): run `course collect {slug} {folder}` first, which sorts an LMS's files or <student>.ipynb into <student> folders." if loose else f"Expected: {folder}/<student>/{slug}/{slug}.ipynb."
        raise CourseError(f"There is no submission of {slug}.", where=str(folder), remedy=remedy)
    return found


def student_id(name: str) -> str:
    """A folder name as an id that any database holds: valid UTF-8, at most 128 characters."""
    text = os.fsencode(name).decode("utf-8", "backslashreplace")
    return text if len(text) <= 128 else text[:111] + "-" + hashlib.sha256(text.encode()).hexdigest()[:16]


def _entries(folder: Path) -> list[Path]:
    return sorted(p for p in folder.iterdir() if not p.name.startswith(".") and p.name not in IGNORED)


def _looked_at(folder: Path, slug: str, lessons: set[str]) -> Submission | None:
    """A folder that cannot be read is that student's problem, nobody else's."""
    try:
        return _of_student(folder, slug, lessons)
    except OSError:
        return Submission(student_id(folder.name), None, None, UNREADABLE)


def _of_student(folder: Path, slug: str, lessons: set[str]) -> Submission | None:
    """None: this student handed in other lessons only."""
    student = student_id(folder.name)
    place = folder / slug
    if not place.is_dir():
        if any((folder / other).is_dir() for other in lessons):
            return None
        folders = [p for p in _entries(folder) if p.is_dir()]
        place = folders[0] if len(folders) == 1 and not _candidates(folder) else folder
    stamp = read_timestamp(place / "timestamp.txt")
    candidates = _candidates(place)
    if not candidates:
        return Submission(student, None, stamp, _PROBLEMS["none"])
    exact = [p for p in candidates if p.name == f"{slug}.ipynb"]
    notebooks = exact or [p for p in candidates if p.suffix == ".ipynb"] or candidates
    if len(notebooks) > 1:
        return Submission(student, None, stamp, {k: v.format(names=", ".join(p.name for p in notebooks[:5])) for k, v in _PROBLEMS["many"].items()})
    chosen = notebooks[0]
    problem = "link" if place.is_symlink() and place != folder else _unfit(chosen)
    if problem:
        return Submission(student, None, stamp, _PROBLEMS[problem])
    return Submission(student, chosen, stamp)


def _candidates(folder: Path) -> list[Path]:
    """Files that may be the notebook. A file without a known suffix counts only where it stands alone."""
    files = [p for p in _entries(folder) if not p.is_dir() or p.suffix == ".ipynb"]
    known = [p for p in files if p.suffix.lower() in NOTEBOOK_SUFFIXES]
    return known or (files if len(files) == 1 else [])


def _unfit(path: Path) -> str | None:
    """A link is refused wherever it leads: to another student's work as to a file of the machine."""
    info = path.lstat()
    if stat.S_ISLNK(info.st_mode):
        return "link"
    if not stat.S_ISREG(info.st_mode):
        return "kind"
    return "large" if info.st_size > MAX_BYTES else None


UNREADABLE = {"zh": "提交的文件或文件夹无法读取，请重新提交。", "en": "The submitted file or folder cannot be read; hand it in again."}
_PROBLEMS = {
    "none": {"zh": "提交文件夹里没有 notebook 文件，请把 .ipynb 文件放进去重新提交。", "en": "The submission holds no notebook file; hand in the .ipynb file."},
    "many": {"zh": "提交里有多个 notebook（{names}），无法判断该批改哪一个，请只交一个。", "en": "The submission holds several notebooks ({names}); hand in exactly one."},
    "link": {"zh": "提交的文件是一个指向别处的链接，请交文件本身。", "en": "The submitted file is a link to somewhere else; hand in the file itself."},
    "kind": {"zh": "提交的不是普通文件，请交 .ipynb 文件。", "en": "What was submitted is not an ordinary file; hand in the .ipynb file."},
    "large": {"zh": "文件超过 256 MiB，请清除输出后重新提交。", "en": "The file is larger than 256 MiB; clear its outputs and hand it in again."},
}


def read_timestamp(path: Path) -> datetime | None:
    """nbgrader's timestamp.txt as naive UTC, None where it is missing or cannot be read."""
    from nbgrader.utils import parse_utc

    try:
        if not stat.S_ISREG(path.lstat().st_mode):  # a pipe or a device would be read for ever
            return None
        with path.open(encoding="utf-8") as file:
            text = file.read(200).strip()
        return parse_utc(text) if text else None
    except (OSError, ValueError, OverflowError):
        return None


def stage(submission: Submission, course: CourseFolder, slug: str) -> tuple[Path | None, str]:
    """Put the hand-in into submitted/<student>/<lesson>/ byte for byte; return its path there and the SHA-256 of its bytes.

    Without a file the hash is that of the problem, so that a later, readable hand-in is graded anew.
    """
    problem = submission.problem or UNREADABLE
    try:
        data = submission.path.read_bytes() if submission.path is not None else None
    except OSError:  # gone or closed since it was found: that student's problem, not the run's
        data = None
    if data is None:
        return None, hashlib.sha256(problem["en"].encode()).hexdigest()
    digest = hashlib.sha256(data).hexdigest()
    target = course.step("submitted", submission.student, slug) / f"{slug}.ipynb"
    if target.resolve() != submission.path.resolve():
        if not target.is_file() or target.stat().st_size != len(data) or file_hash(target) != digest:
            write_atomically(target, data)
        copy_side_files(submission.path.parent, target.parent)
    return target, digest


def copy_side_files(source: Path, target: Path) -> None:
    """What nbgrader's exchange puts beside a notebook and wants to find beside the feedback."""
    for name in SIDE_FILES:
        if (source / name).is_file() and not (source / name).is_symlink():
            data = (source / name).read_bytes()[:10_000]
            if not (target / name).is_file() or (target / name).read_bytes() != data:
                write_atomically(target / name, data)


def file_hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def staged(course: CourseFolder, slug: str) -> Iterator[tuple[str, Path]]:
    """(student, notebook) for everything in submitted/ of this lesson."""
    for folder in _entries(course.root / "submitted") if (course.root / "submitted").is_dir() else []:
        path = folder / slug / f"{slug}.ipynb"
        if path.is_file():
            yield folder.name, path
