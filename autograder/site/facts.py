"""What a reader wants to know of a lesson before opening it: time, what it needs, the kernels that it runs."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from autograder.lesson import Lesson
from autograder.lint.form import SECTIONS

WORDS_A_MINUTE = 120  # of technical text, figures and code read along; a Chinese character counts as half a word
EXERCISE_MIN, KERNEL_MIN, ANSWER_MIN = 15, 10, 10
_LINK = re.compile(r"\]\(\.\./(lesson(\d\d)_\w+)/\w+\.qmd")
_LOAD = re.compile(r"""(?:kernels\.load|challenge|run_once|arguments)\(\s*["'](\w+)["']""")


@dataclass(frozen=True)
class Facts:
    """minutes: an estimate, to a quarter of an hour. needs: earlier lessons that the text names as its foundation. kernels: sources it runs."""

    slug: str
    number: int
    title: str
    minutes: int
    needs: tuple[str, ...]
    kernels: tuple[str, ...]


def facts(lesson: Lesson, lang: str, sources: dict[str, Path]) -> Facts:
    edition = lesson.edition(lang)
    code = "\n".join(c.source for c in edition.cells if c.kind == "code")
    named = [f"{n}.cu" for n in dict.fromkeys(_LOAD.findall(code)) if f"{n}.cu" in sources]
    return Facts(lesson.slug, lesson.number, edition.title, _minutes(lesson), _needs(lesson, lang), tuple(named))


def _minutes(lesson: Lesson) -> int:
    """Reading the English page, the exercise with its own case, each kernel cell, and four written answers."""
    edition = lesson.edition("en")
    shown = [c for c in edition.cells if c.kind == "markdown" and c.role != "solution"]
    words = sum(len(c.source.split()) for c in shown)
    kernels = sum(c.role in ("kernel", "experiment", "challenge") for c in edition.cells)
    total = words / WORDS_A_MINUTE + EXERCISE_MIN + KERNEL_MIN * kernels + 4 * ANSWER_MIN
    return 15 * round(total / 15)


def _needs(lesson: Lesson, lang: str) -> tuple[str, ...]:
    """Lessons before this one that its route section links to."""
    route = next(s for s in SECTIONS if s.key == "route")
    inside, found = False, []
    for line in lesson.edition(lang).text.split("\n"):
        if line.startswith("#"):
            inside = line.startswith("## ") and route.known_by(line.strip("# "), lang)
        elif inside:
            found += [m[1] for m in _LINK.finditer(line) if int(m[2]) < lesson.number]
    return tuple(dict.fromkeys(found))
