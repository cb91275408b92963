"""Texts that two students share. A lead for a person, never a finding: equal right answers to a small blank are no evidence."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass

import numpy as np
from rapidfuzz import fuzz, process

ALIKE = 90.0  # percent, rapidfuzz's token_sort_ratio or ratio
MOST = 50  # pairs shown
BLOCK = 512  # texts compared at once: flat memory
LIMIT = 4000  # texts compared pairwise; above it only equal texts are found


@dataclass(frozen=True)
class Pair:
    """Two or more students with the same or nearly the same text. percent: 100 means equal after normalising."""

    students: tuple[str, ...]
    percent: float
    excerpt: str


def similar_pairs(texts: dict[str, str], *, least: int, common: float = 1.0) -> list[Pair]:
    """Groups of equal texts first, then pairs that are nearly equal, most alike first; at most MOST.

    least: characters below which a text says too little.  common: a text that more than this share of the class has is
    what everybody writes, and is left out.
    """
    groups: dict[str, list[str]] = defaultdict(list)
    for student, text in sorted(texts.items()):
        plain = _plain(text)
        if len(plain) >= least:
            groups[plain].append(student)
    rare = {text: who for text, who in groups.items() if len(who) <= max(2, common * len(texts))}
    found = [Pair(tuple(who), 100.0, text[:160]) for text, who in rare.items() if len(who) > 1]
    found.sort(key=lambda p: (-len(p.students), p.students))
    return (found + _near(rare))[:MOST]


def _plain(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip().lower()


def _near(groups: dict[str, list[str]]) -> list[Pair]:
    texts = sorted(groups, key=len)
    if len(texts) > LIMIT:
        return []
    pairs = []
    for start in range(0, len(texts), BLOCK):
        block = texts[start : start + BLOCK]
        scores = process.cdist(block, texts[start:], scorer=fuzz.ratio, score_cutoff=ALIKE, dtype=np.float32)
        for row, column in zip(*np.nonzero(scores), strict=True):
            if column > row:
                one, other = block[row], texts[start + column]
                pairs.append(Pair((groups[one][0], groups[other][0]), round(float(scores[row, column]), 1), one[:160]))
    return sorted(pairs, key=lambda p: (-p.percent, p.students))
