"""What a reader wants to know of a lesson before opening it: time, what it needs, the kernels that it runs."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from autograder.lesson import Lesson
from autograder.lint.form import SECTIONS
from autograder.lint.page import length
from kernels.errors import KernelError
from kernels.spec import get_spec

# The rule of the overview's claim `hours`: the text as lint counts it, and an hour for exercise, kernel and questions.
WORDS_A_MINUTE, WORK_MIN = 100, 60
_LOAD = re.compile(r"""(?:kernels\.load|challenge|run_once|arguments)\(\s*["'](\w+)["']""")


@dataclass(frozen=True)
class Facts:
    """minutes: an estimate, to a quarter of an hour. needs: earlier lessons, by number, that the text asks for. kernels: sources it runs."""

    slug: str
    number: int
    title: str
    minutes: int
    needs: tuple[int, ...]
    kernels: tuple[str, ...]


def facts(lesson: Lesson, lang: str, sources: dict[str, Path]) -> Facts:
    edition = lesson.edition(lang)
    code = "\n".join(c.source for c in edition.cells if c.kind == "code")
    named = dict.fromkeys(source for n in _LOAD.findall(code) if (source := _source(n)) in sources)
    return Facts(lesson.slug, lesson.number, edition.title, _minutes(lesson), _needs(lesson), tuple(named))


def _source(kernel: str) -> str:
    try:
        return get_spec(kernel).source
    except KernelError:  # a name that the lesson's own code makes up
        return ""


def _minutes(lesson: Lesson) -> int:
    """By the English page, so that both languages say the same."""
    return 15 * round((length(lesson.edition("en")) / WORDS_A_MINUTE + WORK_MIN) / 15)


def _needs(lesson: Lesson) -> tuple[int, ...]:
    """Lessons before this one that the first paragraph of the English route section names."""
    route = next(s for s in SECTIONS if s.key == "route")
    after = ""
    for heading, text in re.findall(r"(?ms)^## (.+?)$(.*?)(?=^## |\Z)", lesson.edition("en").text):
        if route.known_by(heading, "en"):
            after = text.strip().split("\n\n")[0]
            break
    numbers = (int(n) for n in re.findall(r"\blesson (\d+)", after))
    return tuple(dict.fromkeys(n for n in numbers if n < lesson.number))
