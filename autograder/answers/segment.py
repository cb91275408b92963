"""Sentences and clauses of a canonical answer, Chinese, English and mixed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from autograder.answers.normalise import BREAK, Normal, Span

# A full stop ends a sentence only before a blank, a CJK character or the end, and not after a number or a known short form.
_SHORT = re.compile(r"(?:\b(?:e\.g|i\.e|etc|vs|cf|fig|eq|approx|resp|al|mr|dr|st)|\be|\bi|^\s*\d{1,2})$")
_END = re.compile(
    r"[。！？!?；;]+[\"')\]]*|\.+[\"')\]]*(?=\s|$|[\u4e00-\u9fff])|(?<=[\u4e00-\u9fff])\.(?=[a-z])|" + BREAK
)
_CLAUSE_END = re.compile(r"[,，、:：]|\s[-—]{1,2}\s|——|—|\s?->|[()\[\]]")
# A new clause also begins at these words, comma or not.
_CLAUSE_START = re.compile(
    r"(?<![a-z])(?:but|however|whereas|while|although|though|because|since|so that|therefore|thus|hence|which|unless|instead|rather than|otherwise|and then|and so)(?![a-z])"
    r"|(?:但是|但|然而|不过|可是|而是|因为|由于|所以|因此|因而|从而|于是|否则|尽管|虽然|即使|即便|反而|以免|以便)"
)
_SAYS = re.compile(r"[^\W_]")  # a letter or a digit
_LIST_COMMA = re.compile(r"(?<=\d),(?=\d)")


@dataclass(frozen=True)
class Sentence:
    """start, end: where it stands in the canonical text.  clauses: its clauses, in order.  para: number of the line it stands on."""

    start: int
    end: int
    clauses: tuple[Span, ...]
    para: int

    @property
    def span(self) -> Span:
        return Span(self.start, self.end)


def sentences(normal: Normal | str) -> list[Sentence]:
    return list(_sentences(normal if isinstance(normal, str) else normal.text))


@lru_cache(maxsize=16)  # gate and scorer ask for the same text
def _sentences(text: str) -> tuple[Sentence, ...]:
    out: list[Sentence] = []
    start, para = 0, 0
    for m in [*_END.finditer(text), None]:
        if m is not None and m[0].startswith(".") and _SHORT.search(text[start : m.start()]):
            if not re.match(r"\.\s*$", text[m.start() :]):
                continue
        end = m.end() if m else len(text)
        begin = start + len(text[start:end]) - len(text[start:end].lstrip())
        stop = start + len(text[start:end].rstrip())
        if _SAYS.search(text, begin, stop):
            out.append(Sentence(begin, stop, tuple(_clauses(text, begin, stop)), para))
        if m and m[0] == BREAK:
            para += 1
        start = end
    return tuple(out)


def _clauses(text: str, start: int, end: int) -> list[Span]:
    cuts = {start, end}
    for m in _CLAUSE_END.finditer(text, start, end):
        if not (m[0] == "," and _LIST_COMMA.match(text, m.start())):
            cuts.add(m.end())
    for m in _CLAUSE_START.finditer(text, start, end):
        cuts.add(m.start())
    marks = sorted(cuts)
    spans = []
    for a, b in zip(marks, marks[1:]):
        while a < b and text[a] in " ,，、:：)]":
            a += 1
        while b > a and text[b - 1] == " ":
            b -= 1
        if _SAYS.search(text, a, b):
            spans.append(Span(a, b))
    return spans or [Span(start, end)]
