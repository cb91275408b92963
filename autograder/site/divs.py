"""Quarto's fenced divs in a page's text: finding them and dropping those of the other edition."""

from __future__ import annotations

import re

_OPEN = re.compile(r"^:::+\s*(?P<attrs>[^\s:].*)$")
_CLOSE = re.compile(r"^:::+\s*$")
_FENCE = re.compile(r"^\s*(?P<mark>`{3,}|~{3,})(?P<info>.*)$")
ANSWER_ONLY = re.compile(r"\.content-visible\b[^}]*when-profile=[\"']answer[\"']")


def drop_answer_divs(text: str) -> str:
    """The page without what only the answer edition shows: `::: {.content-visible when-profile="answer"}` and all inside."""
    return _walk(text, keep_answers=False)


def unwrap_answer_divs(text: str) -> str:
    """The page with the answer edition's parts kept and their wrapping div taken away."""
    return _walk(text, keep_answers=True)


def _walk(text: str, keep_answers: bool) -> str:
    out: list[str] = []
    stack: list[bool] = []  # for each open div: is it an answer-only one
    fence = ""
    for line in text.split("\n"):
        inside = any(stack)
        mark = _FENCE.match(line)
        is_wrapper = False
        if fence:
            if mark and mark["mark"].startswith(fence) and not mark["info"].strip():
                fence = ""
        elif mark:
            fence = mark["mark"]
        elif opened := _OPEN.match(line):
            is_wrapper = bool(ANSWER_ONLY.search(opened["attrs"]))
            stack.append(is_wrapper)
        elif _CLOSE.match(line) and stack:
            is_wrapper = stack.pop()
        if is_wrapper or (inside and not keep_answers):
            continue
        out.append(line)
    return re.sub(r"\n{3,}", "\n\n", "\n".join(out)) if not keep_answers else "\n".join(out)
