"""Text as the reader's tokens: a Unigram vocabulary of Chinese and English, with the characters that each token stands for."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from tokenizers import Tokenizer, models

START, PAD, END = 0, 1, 2  # ids of XLM-R, from which the vocabulary was cut
VOCABULARY = Path(__file__).with_name("model") / "vocabulary.json"


@dataclass(frozen=True)
class Encoded:
    """ids: without start and end marks.  at[i]: (start, end) in the text of the characters that token i stands for."""

    ids: list[int]
    at: list[tuple[int, int]]


class Tokens:
    """A vocabulary: {"pieces": [[text, score], ...], "norm": [[code point, replacement], ...]}."""

    def __init__(self, path: Path = VOCABULARY):
        data = json.loads(path.read_text(encoding="utf-8"))
        self._norm = {chr(c): out for c, out in data["norm"]}
        self._unigram = Tokenizer(models.Unigram([(p, s) for p, s in data["pieces"]], unk_id=3, byte_fallback=False))
        self.size = len(data["pieces"])

    def __call__(self, text: str) -> Encoded:
        chars: list[str] = ["▁"]
        where = [0]
        for i, c in enumerate(text):
            for out in self._norm.get(c, c):
                if out in " \n\t":
                    if chars[-1] == "▁":
                        continue
                    out = "▁"
                chars.append(out)
                where.append(i)
        encoded = self._unigram.encode("".join(chars))
        where.append(len(text) - 1)
        return Encoded(
            encoded.ids, [(where[a + (a == 0 and len(where) > 2)], where[b - 1] + 1) for a, b in encoded.offsets]
        )


@lru_cache(maxsize=1)
def shipped() -> Tokens:
    """The vocabulary that stands in the repository, read once a process."""
    return Tokens()
