"""Glossary terms in the text: each page's first use of a term leads to its entry, and shows it when pointed at."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass
from pathlib import Path

from autograder.site.weave import ALWAYS, inside_main, over_text

_ENTRY = re.compile(r"(?m)^- \*\*(?P<names>.+?)\*\*(?P<rest>.*)$")
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
_SKIP = ALWAYS | {"code", "pre", "th", *(f"h{n}" for n in range(1, 7))}
_SKIP_CLASS = re.compile(
    r'class="[^"]*\b(?:math|callout-header|answer-slot|cell-output|course-control|lesson-head|claim|do-\w+)\b'
)


@dataclass(frozen=True)
class Term:
    """One entry. names: the wordings under which the text uses it; shown: the entry as plain text."""

    anchor: str
    names: tuple[str, ...]
    shown: str


def read_terms(lessons: Path, lang: str) -> list[Term]:
    path = lessons / "glossary" / f"{lang}.qmd"
    if not path.is_file():
        return []
    found = []
    for m in _ENTRY.finditer(path.read_text(encoding="utf-8")):
        names = tuple(n.strip(" `") for n in re.split(r"[,，、]", m["names"]) if n.strip(" `"))
        text = re.sub(r"[*`$]", "", _LINK.sub(r"\1", m["names"] + m["rest"]))
        found.append(Term(_anchor(names[0]), names, text.strip()))
    return found


def _anchor(name: str) -> str:
    return "term-" + re.sub(r"[^\w]+", "-", name.lower()).strip("-")


def anchored(page: str, terms: list[Term]) -> str:
    """The glossary page with an anchor at each entry, in the order of its source."""
    left = iter(terms)
    return re.sub(
        r"<li>(?=(?:<p>)?<strong>)", lambda m: f'<li id="{t.anchor}">' if (t := next(left, None)) else m[0], page
    )


def linked(page: str, terms: list[Term], glossary: str) -> str:
    """A rendered page whose first use of each term, outside headings, code, math and links, leads to the glossary."""
    left = {n.lower(): t for t in terms for n in t.names if len(n) > 1}
    if not left:
        return page
    return inside_main(page, lambda body: over_text(body, lambda text: _link(text, left, glossary), _SKIP, _SKIP_CLASS))


def _link(text: str, left: dict[str, Term], glossary: str) -> str:
    if not left:
        return text
    pattern = "|".join(
        (rf"(?<![\w-]){re.escape(n)}(?![\w-])" if n[0].isascii() else re.escape(n))
        for n in sorted(left, key=len, reverse=True)
    )

    def one(m: re.Match) -> str:
        term = left.get(m[0].lower())
        if term is None:  # an earlier use in this very text took it
            return m[0]
        for name in term.names:
            left.pop(name.lower(), None)
        return f'<a class="term" href="{glossary}#{term.anchor}" data-term="{html.escape(term.anchor)}">{m[0]}</a>'

    return re.sub(pattern, one, text, flags=re.I)
