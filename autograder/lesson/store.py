"""Finding and loading lessons."""

from __future__ import annotations

import difflib
import re
from pathlib import Path

from autograder.errors import CourseError
from autograder.lesson.checks import load_checks
from autograder.lesson.model import LANGS, Lesson
from autograder.lesson.qmd import read_edition
from autograder.lesson.rubric import load_rubric
from autograder.paths import lessons_dir

_NAME = re.compile(r"^lesson(\d\d)_[a-z0-9_]+$")


def list_lessons(root: Path | None = None) -> list[Path]:
    """Lesson folders in route order."""
    root = root or lessons_dir()
    return sorted(p for p in root.iterdir() if p.is_dir() and _NAME.match(p.name))


def find_lesson(name: str, root: Path | None = None) -> Path:
    """A lesson folder by slug, number ("7", "07", "lesson07") or unique part. Raises CourseError with the nearest names."""
    known = {p.name: p for p in list_lessons(root)}
    if name in known:
        return known[name]
    number = re.fullmatch(r"(?:lesson)?0*(\d+)", name)
    hits = [
        p for n, p in known.items() if (number and int(n[6:8]) == int(number[1])) or (not number and name and name in n)
    ]
    if len(hits) == 1:
        return hits[0]
    near = difflib.get_close_matches(name, known, n=3, cutoff=0.3) or list(known)
    raise CourseError(
        f"There is no lesson {name!r}.",
        remedy=f"Did you mean {', '.join(near) or 'none: lessons/ is empty'}? `course list` shows all.",
    )


def load_lesson(name: str | Path, root: Path | None = None) -> Lesson:
    """Load a lesson by name or folder. Raises CourseError at the first thing that cannot be read."""
    folder = name if isinstance(name, Path) else find_lesson(name, root)
    if not _NAME.match(folder.name):
        raise CourseError(
            "A lesson folder is named lessonNN_slug.",
            where=str(folder),
            remedy="Rename it, e.g. lesson07_mixed_precision_epilogue.",
        )
    editions = {lang: read_edition(folder / f"{lang}.qmd", lang) for lang in LANGS}
    return Lesson(
        slug=folder.name,
        number=int(folder.name[6:8]),
        folder=folder,
        editions=editions,
        rubric=load_rubric(folder / "rubric.yml"),
        checks=load_checks(folder / "checks.py"),
    )
