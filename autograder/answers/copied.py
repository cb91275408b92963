"""Is an answer somebody else's text: the reference, a hint, the lesson?

A piece of a source (a sentence, or clauses of a long one) is copied where most of it stands in the answer, in order, within twice its length.
So filler words, a dropped word and a new order of the sentences hide nothing, and chatter beside it dilutes nothing. A student's own words
share the terms with the source and not their order: the labelled answers say how far that goes (tests/test_answers_copied.py).
"""

from __future__ import annotations

import re
from functools import lru_cache

import numpy as np
from rapidfuzz.distance import LCSseq

from autograder.answers.normalise import Normal, normalise
from autograder.answers.segment import sentences
from autograder.lesson.rubric import Rubric

_WORD = re.compile(r"[a-z0-9_]+|[\u3400-\u9fff]")  # in a formula the names, whatever stands between them
_STANDS = 0.75  # the share of a piece's words that must stand in the answer, in order
_MAY = 0.6  # with fewer of its words, in any order, it is not looked for
_PIECE = (
    6,
    24,
)  # words of a piece, a Chinese character being one: fewer occur by chance, and half of a long sentence is a copy too
_LONG = 64  # copied words that make an answer a copy, whatever stands beside them
_HALF = 28  # ... where they are more than half of it
_WHOLE = 0.75  # ... this share of a shorter one
_SHORT = (8, 60)  # words of an answer that may be part of one sentence; it is a copy where
_NOTHING_ELSE = 0.95  # this share of it stands in the source, in order
_FIRST = 0x100  # the character for a source's first word


class _Source:
    """A source's pieces, each word one character, so that a word of the answer that is no word of the source is one that occurs nowhere."""

    def __init__(self, text: str):
        self._letters: dict[str, str] = {}
        normal = normalise(text)
        self._text = self._spelt(_WORD.findall(normal.text))
        self._pieces = list(map(self._spelt, _pieces(normal)))
        self._holds = np.zeros((len(self._letters), len(self._pieces)), bool)  # which letter stands in which piece
        for n, piece in enumerate(self._pieces):
            self._holds[[ord(c) - _FIRST for c in piece], n] = True
        self._least = np.ceil(_MAY * self._holds.sum(axis=0)).astype(int)

    def _spelt(self, piece: list[str]) -> str:
        return "".join(self._letters.setdefault(w, chr(_FIRST + len(self._letters))) for w in piece)

    def stands_in(self, said: list[str]) -> int:
        """How many words of an answer come from the source."""
        answer = "".join(self._letters.get(w, " ") for w in said)
        mine, taken = [ord(c) - _FIRST for c in set(answer) if c != " "], set()
        for n in np.flatnonzero(self._holds[mine].sum(axis=0) >= self._least).tolist():
            piece = self._pieces[n]
            if LCSseq.similarity(piece, answer) < _STANDS * len(
                piece
            ):  # then less of it stands in a part of the answer
                continue
            best, place = 0, 0
            for start in range(0, max(1, len(answer) - len(piece) // 2), len(piece) // 2):
                if (common := LCSseq.similarity(piece, answer[start : start + 2 * len(piece)])) > best:
                    best, place = common, start
            if best >= _STANDS * len(piece):
                same = LCSseq.opcodes(piece, answer[place : place + 2 * len(piece)])
                taken.update(place + k for op in same if op.tag == "equal" for k in range(op.dest_start, op.dest_end))
        return len(taken)

    def holds(self, said: list[str]) -> bool:
        """Is an answer nothing but a stretch of the source? Then some quarter of it stands there word for word."""
        answer, size = "".join(self._letters.get(w, " ") for w in said), len(said)
        for at in range(0, size - size // 4 + 1, size // 4):
            found = self._text.find(answer[at : at + size // 4])
            while found >= 0:
                start = max(0, found - at - size // 8)
                if LCSseq.similarity(answer, self._text[start : start + size + size // 4]) >= _NOTHING_ELSE * size:
                    return True
                found = self._text.find(answer[at : at + size // 4], found + 1)
        return False


def sources(rubric: Rubric, slot_name: str, lesson_text: str) -> dict[str, str]:
    """The texts that a student may not hand in as his own, by name: a reason's code is copied_ and the name. Both languages, but for the lesson, which is as given."""
    slot = rubric.slots[slot_name]
    hints = [*rubric.hints, *(x.hint for s in rubric.slots.values() for x in (*s.links, *s.misconceptions))]
    found = {
        "reference": f"{slot.reference.zh}\n{slot.reference.en}",
        "hint": "\n".join(t for h in hints for t in (h.zh, h.en)),
        "lesson": lesson_text,
    }
    return {name: text for name, text in found.items() if text}


def copied(text: str, source: str) -> bool:
    """Is the answer (canonical text) a copy from this source, all of it or so much that its points may rest on it?"""
    said = _WORD.findall(text)
    if len(said) < _PIECE[0]:
        return False
    taken = _source(source).stands_in(said)
    if (
        taken >= _LONG
        or (taken >= _HALF and taken > 0.55 * len(said))
        or (taken >= _PIECE[0] and taken >= _WHOLE * len(said))
    ):
        return True
    return _SHORT[0] <= len(said) <= _SHORT[1] and _source(source).holds(said)


@lru_cache(maxsize=256)  # a lesson's page is long and the same for every answer
def _source(text: str) -> _Source:
    return _Source(text)


def _pieces(normal: Normal) -> list[list[str]]:
    least, most = _PIECE
    out: list[list[str]] = []
    para = -1
    for sentence in sentences(normal):
        new = True
        for clause in sentence.clauses:
            said = _WORD.findall(normal.text[clause.start : clause.end])
            if out and (len(said) < least and sentence.para == para or not new and len(out[-1]) + len(said) <= most):
                out[-1] += said
            else:
                out.append(said)
            new, para = False, sentence.para
    return [piece for piece in out if len(piece) >= least]
