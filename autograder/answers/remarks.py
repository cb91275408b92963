"""Does a stretch of an answer speak of the answer itself ("Wrong!", "错误示范", "I made this up") and not of the subject?

The reader of links looks for what is stated and overlooks a remark that takes it back. This is a linear model over word n-grams of short
windows, fitted to remarks against what right answers say (training/remarks.py); model/remarks.npz holds its weights. What it finds waits
for a person and moves no points.
"""

from __future__ import annotations

import re
import zlib
from functools import lru_cache
from pathlib import Path

import numpy as np

from autograder.answers.normalise import Span
from autograder.answers.segment import sentences

FILE = Path(__file__).with_name("model") / "remarks.npz"
NEW = "<new>"
BUCKETS, SIZES = 1 << 14, (3, 6, 10)  # hashed n-grams; words of a window (a Chinese character is one)
_WORD = re.compile(r"[a-z']+|[\u3400-\u9fff]|[!?❌×✗]|\d+|[^\s\w]")


def words_of(text: str) -> list[str]:
    return _WORD.findall(text)


def windows(text: str, usual: frozenset[str]) -> list[tuple[Span, list[int]]]:
    """How each sentence of a canonical text begins and ends, in windows of SIZES words, each with the buckets of its n-grams: as they stand,
    and with words that right answers hardly use as NEW. usual: the words that right answers use."""
    out = []
    for sentence in sentences(text):
        words = list(_WORD.finditer(text, sentence.start, sentence.end))
        cuts = {(0, min(n, len(words))) for n in SIZES} | {(max(0, len(words) - n), len(words)) for n in SIZES}
        for a, b in sorted(c for c in cuts if c[1] > c[0]):
            said = [*(["<s>"] if a == 0 else []), *(m[0] for m in words[a:b]), *(["</s>"] if b == len(words) else [])]
            plain = [w if w in usual or w in ("<s>", "</s>") else NEW for w in said]
            grams = {
                " ".join(row[i : i + n]) for row in (said, plain) for n in (1, 2, 3) for i in range(len(row) - n + 1)
            }
            grams.add(f"{plain.count(NEW)} {NEW} of {len(plain)}")
            out.append(
                (Span(words[a].start(), words[b - 1].end()), sorted({zlib.crc32(g.encode()) % BUCKETS for g in grams}))
            )
    return out


@lru_cache(maxsize=1)
def _model() -> tuple[np.ndarray, float, float, frozenset[str]]:
    with np.load(FILE) as data:
        usual = frozenset(bytes(data["usual"]).decode("utf-8").split("\n"))
        return data["weights"].astype(np.float32), float(data["bias"]), float(data["line"]), usual


def remark(text: str) -> Span | None:
    """The window that is likeliest a remark, None where none is likely."""
    weights, bias, line, usual = _model()
    found = [(float(weights[grams].sum()) + bias, span) for span, grams in windows(text, usual)]
    best, span = max(found, key=lambda f: f[0], default=(0.0, None))
    return span if span and best > line else None
