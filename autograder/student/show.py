"""A list of findings, shown as HTML in a notebook and as plain text elsewhere. Everything is escaped."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from autograder.student.words import say

Status = Literal["ok", "bad", "todo", "note"]
_SIGN = {"ok": "✔", "bad": "✘", "todo": "○", "note": "·"}
_COLOUR = {
    "ok": "var(--jp-success-color1, #2e7d32)",
    "bad": "var(--jp-error-color1, #c62828)",
    "todo": "var(--jp-warn-color1, #b26a00)",
    "note": "inherit",
}


@dataclass(frozen=True)
class Item:
    """One line of a report. code: what it is about, for programs ("blank", "visible", "own_case", "answer", ...)."""

    status: Status
    text: str
    code: str = ""


@dataclass
class Report:
    """Shown by IPython through its two representations."""

    title: str
    lang: str
    items: list[Item] = field(default_factory=list)
    foot: list[str] = field(default_factory=list)

    def add(self, status: Status, text: str, code: str = "") -> None:
        self.items.append(Item(status, text, code))

    def extend(self, items: Iterable[Item]) -> None:
        self.items += items

    @property
    def open(self) -> int:
        """How many items are not right or not done yet."""
        return sum(i.status in ("bad", "todo") for i in self.items)

    def __str__(self) -> str:
        lines = [
            self.title,
            *(f"  {_SIGN[i.status]} " + i.text.replace("\n", "\n    ") for i in self.items),
            *self.foot,
        ]
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        rows = "".join(
            f'<li style="list-style:none;margin:.2em 0"><span role="img" aria-label="{html.escape(say(self.lang, i.status))}" '
            f'style="color:{_COLOUR[i.status]};font-weight:bold;display:inline-block;width:1.4em;vertical-align:top">{_SIGN[i.status]}</span>'
            f'<span style="display:inline-block;max-width:calc(100% - 2em)">{_text(i.text)}</span></li>'
            for i in self.items
        )
        foot = "".join(
            f'<div style="opacity:.75;margin-top:.3em;white-space:pre-wrap">{html.escape(f)}</div>' for f in self.foot
        )
        return f'<div style="border-left:4px solid var(--jp-brand-color1, #1976d2);padding:.4em .8em"><strong>{html.escape(self.title)}</strong><ul style="margin:.3em 0;padding:0">{rows}</ul>{foot}</div>'


def _text(text: str) -> str:
    """A sentence with `code`; what follows its first line is a listing or a log, and keeps its columns."""
    first, _, rest = text.partition("\n")
    first = re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(first))
    return first + (f'<pre style="margin:.3em 0;overflow-x:auto">{html.escape(rest)}</pre>' if rest else "")
