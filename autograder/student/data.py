"""lesson.json: what a student's machine knows about a lesson. Made by `course release`, stands beside the notebook."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from autograder.errors import CourseError
from autograder.student.words import say

FILE = "lesson.json"
FORMAT = 1
_LEVELS_UP = 3


@dataclass(frozen=True)
class ReleasedCell:
    """A cell of the released notebook. part: "exercise", "boundary_case", "normal", "q1", ... or "" for plain text and code."""

    id: str
    kind: str
    source: str
    part: str
    locked: bool


@dataclass(frozen=True)
class StudentLesson:
    """The student's view of a lesson: released cells, hints, points; nothing hidden.

    title, hints, released: by language.  folder: where lesson.json was found, None inside the repository.
    """

    slug: str
    function: str
    title: dict[str, str]
    points: dict[str, int]
    pass_mark: int
    hints: dict[str, list[str]]
    released: dict[str, tuple[ReleasedCell, ...]]
    folder: Path | None = None

    def release(self, lang: str) -> str:
        """The id of what was handed out in this language: see release_id."""
        return release_id((c.kind, c.part, c.source) for c in self.released[lang])

    def part(self, name: str, lang: str) -> ReleasedCell:
        return next(c for c in self.released[lang] if c.part == name)


def release_id(cells: Iterable[tuple[str, str, str]]) -> str:
    """A short name for a released notebook, of its cells' (kind, part, source): equal wherever it is made of the same page, another after
    any change."""
    return hashlib.sha256(json.dumps(list(cells)).encode()).hexdigest()[:8]


def to_json(lesson: StudentLesson) -> str:
    """Deterministic text of lesson.json. The full answer (hint 4) is packed, so that nobody reads it by accident."""
    data = {
        "format": FORMAT,
        "lesson": lesson.slug,
        "function": lesson.function,
        "title": lesson.title,
        "points": lesson.points,
        "pass_mark": lesson.pass_mark,
        "hints": {lang: [*hints[:3], pack(hints[3])] for lang, hints in lesson.hints.items()},
        "released": {lang: [vars(c) for c in cells] for lang, cells in lesson.released.items()},
    }
    return json.dumps(data, ensure_ascii=False, indent=1) + "\n"


def from_json(text: str, folder: Path | None = None, lang: str = "") -> StudentLesson:
    """The lesson of a lesson.json. lang: of the messages, "" for both. Raises CourseError where the text is none."""
    where = str(folder / FILE) if folder else FILE
    try:
        data = json.loads(text)
        if data["format"] != FORMAT:
            raise CourseError(say(lang, "data_format", found=data["format"], known=FORMAT), where=where)
        return StudentLesson(
            slug=data["lesson"],
            function=data["function"],
            title=data["title"],
            points=data["points"],
            pass_mark=data["pass_mark"],
            hints={lang: [*hints[:3], unpack(hints[3])] for lang, hints in data["hints"].items()},
            released={lang: tuple(ReleasedCell(**c) for c in cells) for lang, cells in data["released"].items()},
            folder=folder,
        )
    except (ValueError, KeyError, TypeError, AttributeError, IndexError, zlib.error) as e:
        raise CourseError(say(lang, "data_damaged"), where=where) from e


def load_student_lesson(name: str, near: Path | None = None, lang: str = "") -> StudentLesson:
    """A lesson's data by slug, number or part of the name: from a bundle near `near` (default: the working folder), else from the repository.

    lang: of the messages, "" for both. Raises CourseError where neither has it.
    """
    near = (near or Path.cwd()).resolve()
    for lesson in lessons_near(near, lang):
        if _is_called(lesson.slug, name):
            return lesson
    return _from_repository(name, near, lang)


def lessons_near(near: Path, lang: str = "") -> Iterator[StudentLesson]:
    """Bundles' lessons: in the folder, in the folders above, then in those directly below."""
    near = near.resolve()
    places = [near, *list(near.parents)[:_LEVELS_UP]]
    for file in [p / FILE for p in places if (p / FILE).is_file()] + sorted(near.glob(f"*/{FILE}")):
        yield from_json(file.read_text(encoding="utf-8", errors="replace"), file.parent, lang)


def _is_called(slug: str, name: str) -> bool:
    number = re.fullmatch(r"(?:lesson)?0*(\d+)", name)
    if number:
        found = re.match(r"lesson(\d+)", slug)
        return bool(found) and int(found[1]) == int(number[1])
    return bool(name) and name in slug


def _from_repository(name: str, near: Path, lang: str) -> StudentLesson:
    """Inside a checkout of the course, from the lesson itself."""
    try:
        from autograder.lesson import load_lesson
        from autograder.paths import course_root
        from autograder.release.data import student_lesson
    except ModuleNotFoundError:  # a student's install has neither the release part nor jupytext
        pass
    else:
        try:
            root = course_root(near)
        except CourseError:
            pass
        else:
            return student_lesson(load_lesson(name, root / "lessons"))
    raise CourseError(say(lang, "data_missing", name=name, file=FILE), where=str(near))


def pack(text: str) -> str:
    return base64.b64encode(zlib.compress(text.encode(), 9)).decode()


def unpack(text: str) -> str:
    return zlib.decompress(base64.b64decode(text)).decode()
