"""The language in which kernels speak: what happened, where, and what to do, in English or in Chinese.

Messages are made in English, by Python and by the emulator's runner; here each line that a known template fits is put into the reader's
language (wording_zh.py), what stands in its places too. A line that none fits stays as it is; names of rules, kernels and places do.
"""

from __future__ import annotations

import functools
import re
import unicodedata

LANGUAGES = ("en", "zh")
_spoken = "en"
_PLACED = re.compile(r"(.*) (\([\w.]+:\d+\))", re.S)  # a message, and the place that the emulator puts behind it
_INDENT = re.compile(r"^(\s*)(.*?)(\s*)$", re.S)


def speak(language: str) -> None:
    """Choose the language of every later message: "en" or "zh". Raises ValueError for another."""
    global _spoken
    if language not in LANGUAGES:
        raise ValueError(f"The kernels speak {' and '.join(LANGUAGES)}, not {language!r}.")
    _spoken = language


def spoken() -> str:
    return _spoken


def told(text: str) -> str:
    """The message in the language that was chosen."""
    return text if _spoken == "en" else "\n".join(map(_line, text.split("\n")))


@functools.lru_cache(maxsize=4096)
def _line(text: str) -> str:
    before, inside, after = _INDENT.match(text).groups()
    for pattern, words in _templates():
        if found := pattern.fullmatch(inside):
            return before + words.format(*(_line(g) for g in found.groups())) + after
    if placed := _PLACED.fullmatch(inside):
        return before + f"{_line(placed[1])} {placed[2]}" + after
    return text


@functools.cache
def _templates() -> list[tuple[re.Pattern, str]]:
    from kernels.wording_zh import TEMPLATES

    longest_first = sorted(
        TEMPLATES.items(), key=lambda pair: -len(pair[0])
    )  # a short one fits inside what a long one says
    return [(compiled(english), chinese) for english, chinese in longest_first]


def compiled(english: str) -> re.Pattern:
    """A template with {} for what differs, and {d} for a whole number, as an expression."""
    return re.compile(re.escape(english).replace(r"\{\}", "(.+?)").replace(r"\{d\}", r"(-?\d+)"), re.S)


def padded(text: str, columns: int) -> str:
    """The text with spaces behind it, so that it takes so many columns of a terminal; a Chinese character takes two."""
    return text + " " * (columns - width(text))


def width(text: str) -> int:
    return sum(1 + (unicodedata.east_asian_width(c) in "WF") for c in text)
