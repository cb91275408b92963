"""The released notebook as the reader needs it: which cell is which part, and by what it is known again."""

from __future__ import annotations

import ast
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from autograder.lesson.model import ANSWER_SLOTS, LANGS, Lesson
from autograder.submission.challenge_line import challenge_of
from autograder.submission.fill import Exercise, read_exercise
from autograder.submission.read.text import shadow
from autograder.submission.source import MAX_REMEMBERED, NotPython, parse

_CHINESE = re.compile(r"[\u3400-\u9fff]")
HEADING = re.compile(r"\s{0,3}#{1,6}\s+\S")
_MARKUP = re.compile(r"[\s#*_>`~:：.。，,、()（）-]+")


@dataclass(frozen=True)
class Part:
    """One released cell. name: exercise, boundary_case, normal, boundary, setup, a slot's name, or its id for the rest."""

    name: str
    kind: str
    source: str
    ids: frozenset[str]
    words: Counter

    @property
    def is_slot(self) -> bool:
        return self.name in ANSWER_SLOTS


@dataclass(frozen=True)
class Released:
    """One edition's released notebook. leads: for each slot the parts between the previous code or slot and it (the question above it).

    prompt_lines: normalised lines that belong to a slot's prompt or lead -> the slot, "" where several share it. placeholders: lines of
    the slots themselves, markup left out, that an answer may be typed beside. chinese: lines with Chinese characters; shadows: what they
    look like where those are lost. beginnings: each part's first lines. release: the id of what was handed out, "" where it is not known.
    headings: of its Markdown, plain. followers: pairs of lines, plain, that stand one below the other in a cell.
    """

    lang: str
    parts: tuple[Part, ...]
    by_text: dict[str, int]
    exercise: Exercise
    leads: dict[str, tuple[int, ...]]
    prompt_lines: dict[str, str]
    placeholders: tuple[str, ...]
    lines: frozenset[str]
    text: str
    challenge: str | None  # the kernel whose line the challenge cell asks for
    chinese: frozenset[str]
    shadows: frozenset[str]
    beginnings: tuple[str, ...]
    release: str = ""
    headings: frozenset[str] = frozenset()
    followers: frozenset[tuple[str, str]] = frozenset()

    def part(self, name: str) -> Part:
        return next(p for p in self.parts if p.name == name)


def plain(text: str) -> str:
    """A line or cell as it is compared: NFKC, no case, no markup, no spaces."""
    return _MARKUP.sub("", unicodedata.normalize("NFKC", text).casefold())


def squeezed(text: str) -> str:
    """A whole cell as it is compared: trailing and surrounding space left out."""
    return _remembered(text) if len(text) <= MAX_REMEMBERED else _squeezed(text)


@lru_cache(maxsize=512)  # most cells are as they were released, and are asked for several times
def _remembered(text: str) -> str:
    return _squeezed(text)


def _squeezed(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.strip().split("\n"))


def words(text: str) -> Counter:
    """Words and CJK pairs, for likeness."""
    tokens = re.findall(r"[a-z0-9_]+|[\u3400-\u9fff]{1,2}", text.casefold())
    return Counter(tokens)


def likeness(a: Counter, b: Counter) -> float:
    """Share of the words of `a` that are in `b`, 0 to 1."""
    total = a.total()
    return (a & b).total() / total if total else 0.0


_CACHE: dict[int, tuple[Lesson, dict[str, Released]]] = {}


def released(lesson: Lesson) -> dict[str, Released]:
    """Both editions' released notebooks, made once a lesson object."""
    kept = _CACHE.get(id(lesson))
    if kept is None or kept[0] is not lesson:
        if len(_CACHE) > 16:
            _CACHE.clear()
        kept = _CACHE[id(lesson)] = (lesson, {lang: _make(lesson, lang) for lang in LANGS})
    return kept[1]


def _make(lesson: Lesson, lang: str) -> Released:
    from autograder.release.notebook import student_notebook

    parts = []
    notebook = student_notebook(lesson, lang)
    for cell in notebook.cells:
        nbgrader, course = cell.metadata.get("nbgrader", {}), cell.metadata.get("course", {})
        role = course.get("role", "")
        name = (
            course.get("slot")
            or course.get("check")
            or ("boundary_case" if role == "boundary" else role if role in ("exercise", "setup") else cell.id)
        )
        parts.append(part_of(name, cell.cell_type, cell.source, (nbgrader.get("grade_id"), cell.id)))
    return edition_of(lang, parts, lesson.checks.function, notebook.metadata["course"].get("release", ""))


def part_of(name: str, kind: str, source: str, ids: Iterable[str | None]) -> Part:
    return Part(name, kind, source, frozenset(i for i in ids if i), words(source))


def edition_of(lang: str, parts: list[Part], function: str, release: str = "") -> Released:
    """One edition from its cells alone: the grader takes them from the lesson, a student's machine from his bundle."""
    leads: dict[str, tuple[int, ...]] = {}
    for i, part in enumerate(parts):
        if part.is_slot:
            first = i
            while first and parts[first - 1].kind == "markdown" and not parts[first - 1].is_slot:
                first -= 1
            leads[part.name] = tuple(range(first, i))
    prompt_lines: dict[str, str] = {}
    for slot, before in leads.items():
        at = next(i for i, p in enumerate(parts) if p.name == slot)
        for line in {plain(x) for i in (*before, at) for x in parts[i].source.split("\n")} - {""}:
            prompt_lines[line] = "" if line in prompt_lines and prompt_lines[line] != slot else slot
    slot_lines = {x.strip(" *_#>") for p in parts if p.is_slot for x in p.source.split("\n")} - {""}
    placeholders = tuple(sorted(slot_lines, key=len, reverse=True))
    by_text: dict[str, int] = {}
    for i, part in enumerate(parts):
        by_text.setdefault(squeezed(part.source), i)
    exercise = read_exercise(next(p.source for p in parts if p.name == "exercise"), function)
    text = [x for p in parts for x in p.source.split("\n")]
    lines = frozenset(map(plain, text)) - {""}
    chinese = frozenset(x.strip() for x in text if len(_CHINESE.findall(x)) >= 2)
    challenge = next(
        (k for p in parts if p.kind == "code" and "challenge(" in p.source and (k := challenge_of(p.source))), None
    )
    whole = "\n\n".join(p.source for p in parts)
    shadows = frozenset(map(shadow, chinese))
    beginnings = tuple(line for p in parts for line in p.source.split("\n")[:3] if line)
    headings = frozenset(
        plain(x) for p in parts if p.kind == "markdown" for x in p.source.split("\n") if HEADING.match(x)
    )
    rows = [[b for x in p.source.split("\n") if (b := plain(x))] for p in parts]
    followers = frozenset(pair for row in rows for pair in pairwise(row))
    return Released(
        lang,
        tuple(parts),
        by_text,
        exercise,
        leads,
        prompt_lines,
        placeholders,
        lines,
        whole,
        challenge,
        chinese,
        shadows,
        beginnings,
        release,
        headings,
        followers,
    )


def hints(editions: dict[str, Released]) -> list[str]:
    """Lines by which an unmarked encoding is told."""
    return [line for book in editions.values() for line in book.beginnings]


def statements(source: str) -> list[ast.stmt]:
    """Top-level statements of a code cell, none where it is not Python."""
    try:
        return parse(source).body
    except NotPython:
        return []
