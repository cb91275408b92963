"""Does a piece of an answer speak of the answer, or of its subject?

Ways to deny, retract or disown a text have no end, and each is worded from the writer's and the text's side ("My tutor laughed at this",
"请按反义来读"), where an honest sentence is worded from the mechanism's. So a linear reader of sentence vectors tells the two apart, fitted
to the remarks of remarks.yml against all that the labelled right answers of the development split say, in both languages:
`python -m autograder.answers.remarks` writes remarks.json. It credits nothing: what reads like a remark is for a person.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import lru_cache
from importlib import resources
from pathlib import Path

import numpy as np
from ruamel.yaml import YAML

from autograder.answers.aside import _HEAD, plain
from autograder.answers.embed import encode
from autograder.answers.normalise import Span, normalise
from autograder.answers.segment import Sentence, sentences

HERE = Path(__file__).parent
RIDGE = 4.0
# From which values a piece is for a person. A sentence: a remark, or like nothing that the rubric says of the slot. An opening is short, and
# its vector less sure: the nearer it is to the rubric's own words, the more must speak for a remark.
REMARK, FOREIGN = 0.4, 0.25
OPENING, NEAR = 0.5, 0.35
_THAT = re.compile(r"(?<![a-z])that(?= \S)|(?:认为|以为|觉得|主张|断言|相信)(?=\S)")
_NOUN = re.compile(r"(?:an?|the|any|every|each|some) [a-z]+ ")  # "a version that divides": the words after it belong to the noun
_WORD = re.compile(r"[a-z]{2,}|[\u4e00-\u9fff]")


def openings(text: str, sents: list[Sentence], explained: list[Span]) -> list[Span]:
    """What stands before a sentence's statement: the words before a colon or "that", or a first clause on which no credited link rests."""
    found = dict.fromkeys(o for s in sents for o in _openings(text, s, explained))
    return [o for o in found if _WORD.search(text, o.start, o.end) and not plain(text[o.start : o.end])]


def _openings(text: str, s: Sentence, explained: list[Span]) -> Iterator[Span]:
    first, colon = s.clauses[0], text.find(":", s.start + 1, min(s.start + _HEAD, s.end))
    if colon > 0:
        yield Span(s.start, colon)
    elif len(s.clauses) > 1 and first.end - s.start <= _HEAD and text[first.end - 1] == "," and not any(first.overlaps(x) for x in explained):
        yield first
    if (m := _THAT.search(text, s.start, s.end)) and s.start < m.start() <= s.start + _HEAD and not _NOUN.fullmatch(text, s.start, m.start()):
        yield Span(s.start, m.start() if m[0].isascii() else m.end())


def values(vectors: np.ndarray) -> np.ndarray:
    """About 1 for a remark, -1 for what is said of the subject; shape (n,)."""
    weights = _weights()
    return np.round(vectors @ weights[:-1] + weights[-1], 3)


@lru_cache(maxsize=1)
def _weights() -> np.ndarray:
    """Shape (513,), the last entry the bias."""
    return np.array(json.loads(resources.files("autograder.answers").joinpath("remarks.json").read_text(encoding="utf-8")))


def fit(remarks: list[str], statements: list[str]) -> np.ndarray:
    """Ridge regression of +1 (remarks) against -1 (statements), both sides of the same weight."""
    x = encode([*remarks, *statements]).astype(np.float64)
    x = np.hstack([x, np.ones((len(x), 1))])
    y = np.r_[np.ones(len(remarks)), -np.ones(len(statements))]
    weight = np.r_[np.full(len(remarks), len(statements) / len(remarks)), np.ones(len(statements))]
    return np.linalg.solve((x * weight[:, None]).T @ x + RIDGE * np.eye(x.shape[1]), x.T @ (weight * y))


def learned() -> tuple[list[str], list[str]]:
    """The remarks of remarks.yml, and what right answers of the development split say: sentences, clauses and openings."""
    data = YAML(typ="safe").load((HERE / "remarks.yml").read_text(encoding="utf-8"))
    said: dict[str, None] = {}
    for path in sorted((HERE.parents[1] / "lessons").glob("lesson*/answers.jsonl")):
        for item in map(json.loads, path.read_text(encoding="utf-8").splitlines()):
            if item["split"] == "dev" and item["category"] in ("full", "partial"):
                normal = normalise(item["answer"])
                for s in sentences(normal):
                    said |= dict.fromkeys(normal.text[p.start : p.end] for p in (s.span, *s.clauses))
                    said |= dict.fromkeys(normal.text[p.start : p.end] for p in openings(normal.text, [s], []))
    said |= dict.fromkeys(bare(t) for t in list(said))
    remarks = [t for lang, stop in (("en", "."), ("zh", "。")) for r in data[lang] for t in (bare(_canonical(r)), bare(_canonical(r)) + stop)]
    return remarks, [" ".join(t.split()) for t in said if _WORD.search(t)]


def bare(text: str) -> str:
    """Without the marks at its ends: a colon alone moves the vector of three words by half a unit."""
    return " ".join(text.split()).strip(" .,:;!?。、\"'()")


def _canonical(text: str) -> str:
    return normalise(text).text


if __name__ == "__main__":
    (HERE / "remarks.json").write_text(json.dumps([round(float(w), 3) for w in fit(*learned())]) + "\n")
