"""The lesson as data. Everything that releases, checks, grades or publishes a lesson starts from these classes."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # a student's install has the names below, and neither checks nor rubrics
    from autograder.lesson.checks import Checks
    from autograder.lesson.rubric import Rubric

LANGS = ("zh", "en")  # the first one is the default edition
BLANK = "______"

CODE_ROLES = ("exercise", "boundary", "kernel", "experiment", "challenge", "solution")
ANSWER_SLOTS = ("explanation", "q1", "q2", "q3")


@dataclass(frozen=True)
class Cell:
    """One piece of a .qmd page, in reading order.

    kind: "markdown" (text), "code" (a Python cell) or "answer" (a slot the student writes in).
    source: text without fences; a code cell's `#|` lines are in `options`, not here.
    role: a code cell's course_role, else None.  slot: an answer's id, else None.
    line: line of the .qmd file where it starts, 1-based.
    """

    kind: str
    source: str
    line: int
    role: str | None = None
    slot: str | None = None
    options: dict = field(default_factory=dict)


@dataclass(frozen=True)
class Edition:
    """One language of a lesson: `front` is the page's YAML header."""

    lang: str
    path: Path
    front: dict
    cells: tuple[Cell, ...]
    text: str

    @property
    def title(self) -> str:
        return str(self.front.get("title", self.path.parent.name))

    def with_role(self, role: str) -> list[Cell]:
        return [c for c in self.cells if c.role == role]

    def slot(self, name: str) -> Cell | None:
        return next((c for c in self.cells if c.slot == name), None)


@dataclass(frozen=True)
class Lesson:
    """A lesson folder. slug is the folder's name, e.g. lesson07_mixed_precision_epilogue."""

    slug: str
    number: int
    folder: Path
    editions: dict[str, Edition]
    rubric: Rubric
    checks: Checks

    def edition(self, lang: str) -> Edition:
        return self.editions[lang]
