"""The fenced divs of a .qmd page as a tree. A div may open in one cell and close in another, with code between."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from autograder.lesson.model import Cell

_OPEN = re.compile(r"^:::+\s*(?P<attrs>\{.*\}|[\w.-]+)\s*:*\s*$")
_CLOSE = re.compile(r"^:::+\s*$")
_FENCE = re.compile(r"^\s*(?P<mark>`{3,}|~{3,})(?P<info>.*)$")
_ATTR = re.compile(
    r"""(?P<key>[\w-]+)=(?:"(?P<dq>[^"]*)"|'(?P<sq>[^']*)'|(?P<bare>[^\s}]+))|\#(?P<id>[\w:-]+)|\.(?P<cls>[\w-]+)"""
)
ANSWER_CLASSES = {"answer-edition", "answer-only", "solution"}


@dataclass(frozen=True)
class Attrs:
    """{#id .class key="value"}"""

    id: str = ""
    classes: tuple[str, ...] = ()
    values: dict[str, str] = field(default_factory=dict)


@dataclass
class Text:
    """Lines of Markdown outside any cell. line: where they start in the page, 1-based."""

    lines: list[str]
    line: int


@dataclass
class Div:
    attrs: Attrs
    line: int
    children: list[Div | Text | Cell] = field(default_factory=list)

    @property
    def callout(self) -> str | None:
        """ "note", "tip", "warning", "important" or "caution" for a callout, else None."""
        return next((c.removeprefix("callout-") for c in self.attrs.classes if c.startswith("callout-")), None)

    def walk(self) -> Iterator[Div | Text | Cell]:
        for child in self.children:
            yield child
            if isinstance(child, Div):
                yield from child.walk()

    @property
    def answer_edition(self) -> bool:
        """Is this part of the answer edition only? So marked, or it holds the solution."""
        values = self.attrs.values
        if ANSWER_CLASSES & set(self.attrs.classes):
            return True
        if "content-visible" in self.attrs.classes and any(
            "answer" in values.get(k, "") for k in ("when-profile", "when-meta")
        ):
            return True
        if "content-hidden" in self.attrs.classes and any(
            "answer" in values.get(k, "") for k in ("unless-profile", "unless-meta")
        ):
            return True
        return any(isinstance(n, Cell) and n.role == "solution" for n in self.walk())

    @property
    def in_notebook(self) -> bool:
        """Does the student's notebook show it? (Quarto's conditional content, for format ipynb and the student edition.)"""
        values = self.attrs.values
        if self.answer_edition:
            return False
        if "content-visible" in self.attrs.classes:
            return values.get("when-format", "ipynb") in ("ipynb", "html") and values.get("unless-format", "") not in (
                "ipynb",
                "html",
            )
        if "content-hidden" in self.attrs.classes:
            return (
                values.get("when-format", "") != "ipynb"
                and values.get("unless-format", "ipynb") == "ipynb"
                and not values.get("unless-profile")
            )
        return "course-pagination" not in self.attrs.classes


def parse_attrs(text: str) -> Attrs:
    """Read `{#id .class key="value"}`, or the bare class name of `::: name`."""
    text = text.strip()
    if not text.startswith("{"):
        return Attrs(classes=(text,))
    ident, classes, values = "", [], {}
    for m in _ATTR.finditer(text[1:-1]):
        if m["key"]:
            values[m["key"]] = m["dq"] if m["dq"] is not None else m["sq"] if m["sq"] is not None else m["bare"]
        elif m["id"]:
            ident = m["id"]
        else:
            classes.append(m["cls"])
    return Attrs(ident, tuple(classes), values)


def fence_of(line: str) -> tuple[str, str] | None:
    """(mark, info string) if the line opens a code fence."""
    m = _FENCE.match(line)
    return (m["mark"], m["info"].strip()) if m else None


def closes(line: str, mark: str) -> bool:
    bare = line.strip()
    return len(bare) >= len(mark) and set(bare) == {mark[0]}


def parse(cells: tuple[Cell, ...]) -> Div:
    """The page as a tree; the root is a Div without attributes. Divs are balanced: read_edition has checked them."""
    root = Div(Attrs(), 1)
    stack = [root]
    for cell in cells:
        if cell.kind != "markdown":
            stack[-1].children.append(cell)
            continue
        fence = ""
        for n, line in enumerate(cell.source.split("\n"), cell.line):
            opened = None if fence else fence_of(line)
            if fence:
                fence = "" if closes(line, fence) else fence
            elif opened:
                fence = opened[0]
            elif m := _OPEN.match(line):
                div = Div(parse_attrs(m["attrs"]), n)
                stack[-1].children.append(div)
                stack.append(div)
                continue
            elif _CLOSE.match(line) and len(stack) > 1:
                stack.pop()
                continue
            last = stack[-1].children[-1] if stack[-1].children else None
            if not isinstance(last, Text):
                last = Text([], n)
                stack[-1].children.append(last)
            last.lines += [""] * (n - last.line - len(last.lines))  # blank lines between two cells of text
            last.lines.append(line)
    return root
