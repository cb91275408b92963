"""The search index of one language: glossary entries, then pages and their sections, then code, the questions last.

Made from the rendered pages, so that either renderer gives the same. What a snippet shows is what a reader reads: math is left
out as LaTeX and so are diagrams, scripts and the page's frame.
"""

from __future__ import annotations

import html
import re
from pathlib import Path

from autograder.site.terms import Term

_DROP = re.compile(
    r"(?s)<(script|style|svg|nav|header|button|figure|details)\b.*?</\1>|<span class=\"math[^>]*>.*?</span>"
    r"|<math\b.*?</math>|<p[^>]*class=\"other-language\".*?</p>|<pre\b.*?</pre>"
)
_HEADING = re.compile(r"(?s)<h([1-4])([^>]*)>(.*?)</h\1>")
_ANCHOR = re.compile(r'data-anchor-id="([^"]*)"|\bid="([^"]*)"')
_QUESTION = re.compile(r"^(Q[1-3]|问题|Questions)\b")
GLOSSARY, TITLE, TEXT, QUESTION = range(4)


def index(site: Path, terms: list[Term], skip: tuple[str, ...] = ("kernels",)) -> list[list]:
    """[[kind, address, page title, heading, text], ...]; addresses are relative to the language's root."""
    found = [[GLOSSARY, f"glossary/index.html#{t.anchor}", ", ".join(t.names), "", t.shown] for t in terms]
    for page in sorted(site.rglob("*.html")):
        where = page.relative_to(site)
        if where.parts[0] in (*skip, "glossary", "404.html") or where.name == "accuracy.html":
            continue
        found += _sections(page.read_text(encoding="utf-8"), where.as_posix())
    return found


def _sections(page: str, where: str) -> list[list]:
    title = re.search(r'(?s)<h1[^>]*class="title[^>]*>(.*?)</h1>', page)
    name = _text(title[1]) if title else ""
    start, end = page.find("<main"), page.rfind("</main>")
    body = _DROP.sub(" ", page[page.find(">", start) + 1 : end])
    marks = [m for m in _HEADING.finditer(body) if m[1] != "1"]
    found = [[TITLE, where, name, "", _text(body[: marks[0].start()] if marks else body)]]
    asking = False
    for m, after in zip(marks, [*marks[1:], None]):
        heading = _text(m[3])
        asking = bool(_QUESTION.match(heading)) or (asking and m[1] == "3")
        text = _text(body[m.end() : after.start() if after else len(body)])
        named = _ANCHOR.search(m[2])
        anchor = named and (named[1] or named[2])
        found.append([QUESTION if asking else TEXT, where + (f"#{anchor}" if anchor else ""), name, heading, text])
    return found


def _text(markup: str) -> str:
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", markup))).strip()
