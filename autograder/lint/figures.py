"""Figures typed by hand: a measured or quoted quantity enters a page by reference to a claim, so that it cannot drift.

Caught is a digit followed by a unit of time, rate, frequency, power or capacity, by a per cent sign, cycles or a ratio's
"times", and scientific notation. Free are code, inline code, math, `[...]{.worked}` spans (arithmetic worked out on the spot),
and counts of bits, bytes, threads and the like, which define a thing rather than measure it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from autograder.lesson.references import OPAQUE, SHORTCODE

Line = tuple[int, str, bool]

# A digit that ends a number: the number begins neither inside a word (FP8, H100, sm_90a) nor as an exponent (2^10).
_NUMBER = r"(?<![\w.^])[-+−±~≈]?\d(?:[\d,]*\d)?(?:\.\d+)?"
_RATE = r"(?:[KMGTP]i?)?(?:B|bit|b)/s|[KMGTP]?(?:FLOPS|FLOP/s|FLOPs/s|FLOP/byte|FLOPs?(?:/s)?)(?![a-z])|(?:bytes?|字节)(?:/| per | a )(?:s|second|cycle|clock|周期)|字节每周期|次/秒|[KMG]?ops/s"
_UNITS = (
    _RATE,
    r"(?:[nmµμ]s|us|s|h)(?![\w/-])|(?:nano|micro|milli)?seconds?\b|min(?:utes?)?\b|hours?\b|[纳微毫]?秒(?!钟?[杀表])|分钟|个?小时",
    r"[kKMG]?Hz\b|赫兹",
    r"[mkM]?W(?![\w/-])|watts?\b|瓦",
    r"[kKMGTP]i?B(?![\w])|(?:kilo|mega|giga|tera)bytes?\b",
    r"[%％‰]|per ?cent\b|percent\b|个百分点",
    r"(?:clock )?cycles?\b|clocks\b|个?(?:时钟)?周期",
    r"多?倍|-?fold\b|times (?=as\b|the\b|that\b|faster|slower|more|less|larger|smaller|longer|shorter|higher|lower|better|worse)",
)
_QUANTITY = re.compile(rf"{_NUMBER}(?:\s| |-)?(?:{'|'.join(_UNITS)})")
_RATIO = re.compile(rf"(?<![\w.^])\d+\.\d+ times\b|{_NUMBER}[x×](?![\w×]|\s*[\d(\x01])")  # 128×128 and 64 x K are sizes
_SCIENTIFIC = re.compile(
    r"(?<![\w.^])\d+(?:\.\d+)?[eE][-+]?\d+(?!\w)|(?<![\w.^])\d+(?:\.\d+)?\s*[×x·*]\s*10(?:\^|\*\*|[⁰¹²³⁴-⁹⁻]+)"
)
_DECADE = re.compile(r"\b(?:1[89]|20)\d0s\b")
_ATTRIBUTES = re.compile(r"\{(?=[^{}]*[.#=])[^{}]*\}")
_SHOWN_ATTRIBUTE = re.compile(r"(?:fig-alt|title|alt)=(?:\"([^\"]*)\"|'([^']*)')")
_WORKED = re.compile(r"\[(?:[^\[\]]|\[[^\[\]]*\])*\]\{[^{}]*\.worked[^{}]*\}")
_TARGET = re.compile(r"\]\([^)]*\)|<https?://[^>]*>|https?://\S+")
_COMMENT = re.compile(r"<!--.*?-->")


def typed_figures(line: str) -> list[str]:
    """The quantities that a line of Markdown types by hand, as they stand there."""
    text = _bare(line)
    found = [m for pattern in (_SCIENTIFIC, _QUANTITY, _RATIO) for m in pattern.finditer(text)]
    kept: list[re.Match] = []
    for m in sorted(found, key=lambda m: (m.start(), -m.end())):
        if not kept or m.start() >= kept[-1].end():
            kept.append(m)
    return [m[0].strip() for m in kept if not _DECADE.fullmatch(m[0].strip())]


def _bare(line: str) -> str:
    """The words a reader sees, without what may hold figures."""
    text = _COMMENT.sub(" ", line)
    text = OPAQUE.sub("\x01", text)
    text = _WORKED.sub("\x01", text)
    text = SHORTCODE.sub("\x01", text)
    text = _TARGET.sub("]", text)
    return _ATTRIBUTES.sub(lambda m: " " + " ".join(a or b for a, b in _SHOWN_ATTRIBUTE.findall(m[0])) + " ", text)


def lint_figures(prose: Iterable[Line], say: Callable[[int, str, str], None]) -> None:
    """prose: the page's lines as they are written, references and all."""
    for n, line, _ in _without_display_math(prose):
        for figure in typed_figures(line):
            say(
                n,
                f"The figure {figure!r} is typed by hand.",
                "Enter it in claims.yml and write its reference; arithmetic worked out here stands in $...$ or [...]{.worked}.",
            )


def _without_display_math(prose: Iterable[Line]) -> Iterator[Line]:
    inside = False
    for n, line, answer in prose:
        if line.count("$$") % 2:
            before, _, after = line.partition("$$")
            line = after if inside else before
            inside = not inside
            yield n, line, answer
        elif not inside:
            yield n, line, answer
