"""Whose lesson a notebook is, where its own exercise is not in it: by the lines that only one lesson of the course has."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

from autograder.submission.read.released import Released, plain

MIN_LINE = 16  # characters, markup left out: shorter lines are headings that every lesson may have


@lru_cache(maxsize=4)
def _pages(root: Path) -> dict[str, frozenset[str]]:
    """Lesson's slug -> the lines of its pages, as plain() leaves them. Empty where no lesson's pages are at hand (a student's machine)."""
    out = {}
    for page in sorted(root.glob("lesson[0-9][0-9]_*/*.qmd")):
        try:
            lines = page.read_text(encoding="utf-8").split("\n")
        except (OSError, ValueError):
            continue
        out[page.parent.name] = out.get(page.parent.name, frozenset()) | _long(lines)
    return out


def _long(lines: Iterable[str]) -> frozenset[str]:
    return frozenset(p for line in lines if len(p := plain(line)) >= MIN_LINE)


def lines_of_lessons(
    folder: Path | None, slug: str, editions: dict[str, Released], lines: Iterable[str]
) -> dict[str, int]:
    """How many of a notebook's lines are such that one lesson alone has them, by lesson. folder: this lesson's own, among the others.

    Empty where the course's other lessons are not at hand.
    """
    pages = _pages(folder.parent) if folder is not None else {}
    others = {name: text for name, text in pages.items() if name != slug}
    if not others:
        return {}
    seen = _long(lines)
    texts = others | {slug: frozenset().union(pages.get(slug, ()), *(book.lines for book in editions.values()))}
    return {
        name: sum(not any(line in t for n, t in texts.items() if n != name) for line in seen & text)
        for name, text in texts.items()
    }
