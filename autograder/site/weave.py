"""Changing the running text of a rendered page, and nothing of its markup: what stands in links, headings or code stays."""

from __future__ import annotations

import re
from collections.abc import Callable

_TOKEN = re.compile(r"(?s)(<!--.*?-->|<[^>]+>)")
_VOID = {"br", "img", "hr", "input", "meta", "link", "source", "wbr"}
ALWAYS = frozenset(
    {"a", "script", "style", "svg", "button", "summary", "nav", "header", "figure", "label", "textarea", "option"}
)


def over_text(
    body: str, change: Callable[[str], str], skip: frozenset[str] = ALWAYS, skip_class: re.Pattern | None = None
) -> str:
    """`body` with `change` applied to each run of text that is in no element of `skip` and in none whose tag matches skip_class."""
    out, stack, skipping = [], [], 0
    for token in _TOKEN.split(body):
        if not token.startswith("<"):
            out.append(token if skipping or not token.strip() else change(token))
            continue
        out.append(token)
        name = re.match(r"</?([\w-]+)", token)
        if not name or name[1].lower() in _VOID or token.endswith("/>"):
            continue
        tag = name[1].lower()
        if token.startswith("</"):
            while stack:
                opened, skips = stack.pop()
                skipping -= skips
                if opened == tag:
                    break
        else:
            skips = tag in skip or bool(skip_class and skip_class.search(token))
            stack.append((tag, skips))
            skipping += skips
    return "".join(out)


def inside_main(page: str, change: Callable[[str], str]) -> str:
    """A page with `change` applied to its main part."""
    start, end = page.find("<main"), page.rfind("</main>")
    return page if start < 0 else page[:start] + change(page[start:end]) + page[end:]
