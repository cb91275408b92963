"""Epochs of training as arrays, made by processes of their own beside the GPU.

An epoch of 12,500 lines takes a core longer to tokenise and pad than a GPU to learn from, so that a GPU fed by its own process waits. Here
epochs are made in PARTS by several processes, each part from its number and the seed alone: how many there are changes nothing.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from autograder.answers.tokens import END, PAD, START, Tokens
from autograder.answers.training.material import UNKNOWN, WRONG, Epoch, Example, Frames, joined

ITEM, ANSWER = 96, 352  # as autograder.answers.verifier reads them: tokens at most
PREFIX = {"link": "query: ", "misconception": "claim: ", "wrong": "claim: "}


def language_of(text: str) -> str:
    return "zh" if 8 * sum("\u3400" <= c <= "\u9fff" for c in text) > len(text) else "en"


class Encoder:
    """Texts as ids, each text once."""

    def __init__(self, tokens: Tokens, slots: dict):
        self.tokens, self.slots = tokens, slots
        self.known: dict[str, list[int]] = {}
        self.kind = {(key, i["id"]): i for key, slot in slots.items() for i in slot["items"]}

    def ids(self, text: str, most: int) -> list[int]:
        if text not in self.known:
            self.known[text] = self.tokens(text).ids
        return [START, *self.known[text][: most - 2], END]

    def item(self, key: str, item: str, lang: str) -> list[int]:
        i = self.kind[key, item]
        return self.ids(PREFIX[i["kind"]] + i[lang], ITEM)

    def answer(self, segments, lang: str) -> tuple[list[int], list[int]]:
        """(ids, for each id the number of the piece that it stands in, -1 for none)."""
        texts = [s if isinstance(s, str) else s.text for s in segments]
        whole = "passage: " + joined(texts, lang)
        found = self.tokens(whole)
        ends, at = [], len("passage: ")
        for t in texts:
            at += len(t) + (lang != "zh")
            ends.append(at)
        piece = [
            -1 if b <= len("passage: ") else next((n for n, e in enumerate(ends) if a < e), len(ends) - 1)
            for a, b in found.at
        ]
        keep = ANSWER - 2
        return [START, *found.ids[:keep], END], [-1, *piece[:keep], -1]


Asked = tuple[
    tuple[str, str, str], int, np.ndarray | None
]  # (slot, item, language), label, label of each token or None


@dataclass(frozen=True)
class Prepared:
    """An answer as ids, and what is asked of it."""

    ids: list[int]
    asked: list[Asked]


@dataclass(frozen=True)
class Batch:
    """b answers of at most a tokens, n questions about them, u different items of at most t tokens.

    ids (b, a), mask (b, a); item_ids (u, t), item_mask (u, t); which (n,): a question's item; owner (n,): its answer; label (n,);
    marks (n, a), int8: does this token belong to what states the item, -1 where nobody said.
    """

    ids: np.ndarray
    mask: np.ndarray
    item_ids: np.ndarray
    item_mask: np.ndarray
    which: np.ndarray
    owner: np.ndarray
    label: np.ndarray
    marks: np.ndarray


def padded(rows: Sequence[Sequence[int]]) -> tuple[np.ndarray, np.ndarray]:
    """(ids, mask), int64 and float32, as long as the longest row, up to a multiple of 8."""
    n = (max(map(len, rows)) + 7) // 8 * 8
    ids, mask = np.full((len(rows), n), PAD), np.zeros((len(rows), n), np.float32)
    for i, r in enumerate(rows):
        ids[i, : len(r)] = r
        mask[i, : len(r)] = 1
    return ids, mask


def prepare(example: Example, enc: Encoder, r: random.Random) -> Prepared:
    """An example as numbers; items of which nobody said anything are left out."""
    ids, piece = enc.answer(example.segments, example.lang)
    spoken = language_of(example.text)
    items = enc.slots[example.key]["items"]
    links = {i["id"] for i in items if i["kind"] == "link"}
    out: list[Asked] = []
    several = example.only is None and (len(example.segments) > 1 or len(example.text) < 120)
    for i in items:
        y = example.label(i["id"], links)
        if y == UNKNOWN:
            continue
        lang = spoken if r.random() < 0.85 else ("en" if spoken == "zh" else "zh")
        marks = None
        if several:
            if i["id"] == WRONG:
                flags = [s.wrong for s in example.segments]
            else:
                flags = [i["id"] in s.has for s in example.segments]
            if None not in flags:
                marks = np.array([-1 if p < 0 else int(flags[p]) for p in piece], np.int8)
        out.append(((example.key, i["id"], lang), y, marks))
    out += [((key, item, spoken), 0, None) for key, item in example.other]
    return Prepared(ids, out)


def batch_of(some: Sequence[Prepared], enc: Encoder) -> Batch:
    ids, mask = padded([p.ids for p in some])
    names = list(dict.fromkeys(name for p in some for name, *_ in p.asked))
    number = {n: k for k, n in enumerate(names)}
    item_ids, item_mask = padded([enc.item(*n) for n in names])
    asked = [(k, *q) for k, p in enumerate(some) for q in p.asked]
    marks = np.full((len(asked), ids.shape[1]), -1, np.int8)
    for i, (*_, m) in enumerate(asked):
        if m is not None:
            marks[i, : len(m)] = m
    column = lambda values: np.array(list(values), np.int64)
    return Batch(ids, mask, item_ids, item_mask, column(number[q[1]] for q in asked), column(q[0] for q in asked),
                 column(q[2] for q in asked), marks)  # fmt: skip


def shuffled(prepared: list[Prepared], size: int, r: random.Random) -> list[list[Prepared]]:
    """Batches of `size`, answers of like length together, in random order."""
    r.shuffle(prepared)
    out = []
    for i in range(0, len(prepared), size * 16):
        window = sorted(prepared[i : i + size * 16], key=lambda p: len(p.ids))
        some = [window[j : j + size] for j in range(0, len(window), size)]
        r.shuffle(some)
        out += some
    return out


@dataclass(frozen=True)
class Plan:
    """What an epoch is made of: material.Epoch's numbers, the batch's size and the seed."""

    size: int
    made: float
    withdrawn: float
    seed: int


PARTS = 16  # of an epoch


def part_of(number: int, plan: Plan, enc: Encoder, rows: list[dict], frames: Frames) -> list[Batch]:
    """The batches of part `number` (of epoch number // PARTS): the same for the same number and plan."""
    seed = 100_000 * plan.seed + number
    r = random.Random(seed)
    epoch = Epoch(enc.slots, rows, frames, seed, plan.made, plan.withdrawn, (number % PARTS, PARTS))
    ready = [prepare(e, enc, r) for e in epoch]
    return [batch_of(some, enc) for some in shuffled([p for p in ready if p.asked], plan.size, r)]


_here: tuple[Plan, Encoder, list[dict], Frames] | None = None  # what a process makes batches from


def _begin(plan: Plan, slots: dict, rows: list[dict], frames: dict, vocabulary: Path) -> None:
    global _here
    _here = plan, Encoder(Tokens(vocabulary), slots), rows, Frames(frames)


def _make(number: int) -> list[Batch]:
    assert _here is not None
    return part_of(number, *_here)


def batches(
    plan: Plan, slots: dict, rows: list[dict], frames: dict, vocabulary: Path, processes: int
) -> Iterator[Batch]:
    """Batches without end, epoch after epoch. slots, rows, frames: as material.collect gives them."""
    with ProcessPoolExecutor(processes, initializer=_begin, initargs=(plan, slots, rows, frames, vocabulary)) as pool:
        ahead = deque(pool.submit(_make, n) for n in range(2 * processes))
        n = 2 * processes
        try:
            while True:
                done = ahead.popleft()
                ahead.append(pool.submit(_make, n))
                n += 1
                yield from done.result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
