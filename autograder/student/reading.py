"""A student's saved notebook, read by the grader's own reading against the released cells of his bundle.

What is taken for the fill, for an answer or for a changed check is decided by the same code as in grading, so that `course check`
and `course grade` cannot disagree. Hidden checks and the scoring of answers are not here: a student's machine has neither.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from pathlib import Path

from autograder.errors import CourseError
from autograder.lesson.model import LANGS
from autograder.student.data import StudentLesson, lessons_near, load_student_lesson
from autograder.student.words import say
from autograder.submission.choose import Chosen, choose
from autograder.submission.read import Reading, Released, Unreadable, read_bytes, read_hand_in, read_notebook
from autograder.submission.read.released import edition_of, part_of

_SLUG = re.compile(r"lesson\d\d_[a-z0-9_]+")
_CJK = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]")


@dataclass(frozen=True)
class Saved:
    """A notebook as it was saved. chosen: the fill that would be graded."""

    lesson: StudentLesson
    reading: Reading
    chosen: Chosen

    @property
    def lang(self) -> str:
        """The language of the notebook's text, whatever its metadata say."""
        return self.reading.lang


def read_saved(path: Path, lesson: StudentLesson | None = None) -> Saved:
    """The notebook at `path`; also one in a zip or in a folder, as the grader takes it.

    lesson: which lesson it is; by default the one whose data lie beside the notebook. Raises CourseError, in the notebook's language
    as far as it can be told, where the file cannot be read or no such lesson is known.
    """
    lang = next(
        (p.name for p in (path.absolute(), path.absolute().parent) if p.name in LANGS), ""
    )  # a bundle keeps zh/ and en/ apart
    if not path.exists():
        raise CourseError(say(lang, "no_file"), where=str(path))
    try:
        return _read(path.resolve(), [lesson] if lesson else _lessons(path, lang))
    except Unreadable as e:
        lang = lang or (e.lang if e.lang in LANGS else "")
        raise CourseError(e.why.get(lang) if lang else f"{e.why.zh} / {e.why.en}", where=str(path)) from None
    except (RecursionError, MemoryError):
        raise CourseError(say(lang, "too_complex"), where=str(path)) from None


def _read(path: Path, lessons: list[StudentLesson]) -> Saved:
    """As the notebook of the first of these lessons whose notebook it is."""
    refused = None
    for lesson in lessons:
        try:
            reading = read_hand_in(lesson, editions_of(lesson), path).reading
        except Unreadable as e:
            refused = refused or e
            if not e.foreign:
                break
        else:
            return Saved(lesson, reading, choose(reading))
    raise refused


def _lessons(path: Path, lang: str) -> list[StudentLesson]:
    """The lessons it may be, likeliest first. Raises CourseError where none is known here."""
    folder = path.absolute() if path.is_dir() else path.absolute().parent
    named = _named(path)
    found = list(lessons_near(folder, lang))
    found.sort(key=lambda lesson: lesson.slug not in named)  # stable: else the nearest first
    if found:
        return found
    data = read_notebook(read_bytes(path))  # what cannot be read at all is told first
    names = [n for n in (data.lesson, *named) if n]
    if not names:
        raise CourseError(say(lang, "no_lesson"), where=str(path))
    return [load_student_lesson(names[0], folder, lang)]


def _named(path: Path) -> list[str]:
    return [
        m[0]
        for name in (path.stem, path.absolute().parent.name, path.absolute().parent.parent.name)
        if (m := _SLUG.search(name))
    ]


def editions_of(lesson: StudentLesson) -> dict[str, Released]:
    """The released notebooks as the grader's reading needs them."""
    return {
        lang: edition_of(
            lang,
            [part_of(c.part or c.id, c.kind, c.source, (c.part, c.id)) for c in cells],
            lesson.function,
            lesson.release(lang),
        )
        for lang, cells in lesson.released.items()
    }


def word_count(text: str) -> int:
    """Chinese characters and words of other scripts; full-width letters are letters."""
    text = unicodedata.normalize("NFKC", text)
    return len(_CJK.findall(text)) + len(re.findall(r"[A-Za-z0-9_]+(?:[.'-][A-Za-z0-9_]+)*", text))
