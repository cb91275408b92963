"""What the reader learns from: frames that take an answer back or leave it, and epochs that depend on seed and number alone."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from autograder.answers import accuracy, verifier
from autograder.answers.tokens import Tokens
from autograder.answers.training.batches import Encoder, Plan, batches, part_of
from autograder.answers.training.material import (
    ABSENT,
    CONTRADICTED,
    PRESENT,
    WRONG,
    Epoch,
    Example,
    Frames,
    collect,
    read_frames,
)

LESSONS = Path(__file__).resolve().parents[3] / "lessons"
KINDS = ("taken_back", "withdrawn", "kept")
VOCABULARY = verifier.MODEL / "vocabulary.json"


@pytest.fixture(scope="module")
def material():
    data = collect(LESSONS)
    some = [x for x in data["lines"] if x["split"] == "train" and x["key"].startswith("lesson02")][::12]
    return data["slots"], some, data["frames"]


def test_every_frame_holds_the_text_once_and_none_is_one_that_accuracy_is_measured_with():
    frames, r = Frames(read_frames()), random.Random(0)
    for lang in ("zh", "en"):
        measured = {f.replace("{}", "{X}") for f in accuracy.TAKEN_BACK[lang]}
        for kind in KINDS:
            drawn = {frames.draw(kind, lang, r) for _ in range(400)}
            assert len(drawn) > 15 and all(f.count("{X}") == 1 and "{W" not in f for f in drawn), kind
            assert not drawn & measured


def test_what_is_taken_back_is_denied_and_what_is_kept_keeps_its_labels(material):
    slots, rows, frames = material
    epoch = Epoch(slots, rows, Frames(frames), seed=3)
    told = [e for e in epoch.whole if e.only is None and any(s.has for s in e.segments)]
    assert len(told) > 30
    for e in told:
        links = {i["id"] for i in slots[e.key]["items"] if i["kind"] == "link"}
        had = {x for s in e.segments for x in s.has}
        kept = Example(e.key, e.lang, [epoch._kept(e)])
        back = Example(e.key, e.lang, [epoch._all_taken_back(e)])
        assert e.text in kept.text and len(kept.text) > len(e.text)
        assert all(kept.label(i, links) == e.label(i, links) for i in {*had, WRONG})
        assert all(back.label(x, links) == CONTRADICTED for x in had & links)
        if e.label(WRONG, links) == ABSENT and had & links:
            assert back.label(WRONG, links) == PRESENT


def test_batches_are_the_same_from_any_number_of_processes(material):
    slots, rows, frames = material
    plan = Plan(size=8, made=1.0, withdrawn=0.5, seed=1)
    enc = Encoder(Tokens(VOCABULARY), slots)
    here = [b for n in range(3) for b in part_of(n, plan, enc, rows, Frames(frames))]
    there = batches(plan, slots, rows, frames, VOCABULARY, processes=2)
    same = lambda a, b: all(np.array_equal(getattr(a, f), getattr(b, f)) for f in a.__dataclass_fields__)
    assert all(map(same, here, there))
    there.close()
    assert not same(here[0], here[-1])


def test_the_parts_of_an_epoch_hold_every_labelled_answer_once(material):
    slots, rows, frames = material
    parts = [Epoch(slots, rows, Frames(frames), k, made=0.0, part=(k, 5)) for k in range(5)]
    told = [e.text for p in parts for e in p]
    assert sorted(told) == sorted(e.text for e in Epoch(slots, rows, Frames(frames), 0, made=0.0))


def test_a_batch_asks_every_answer_about_items_of_its_own_slot_or_of_another_lesson(material):
    slots, rows, frames = material
    enc = Encoder(Tokens(VOCABULARY), slots)
    for batch in part_of(0, Plan(8, 1.0, 0.5, 2), enc, rows, Frames(frames)):
        n, a = batch.marks.shape
        assert n == len(batch.which) == len(batch.owner) == len(batch.label) and a == batch.ids.shape[1]
        assert batch.which.max() < len(batch.item_ids) and batch.owner.max() < len(batch.ids)
        assert set(np.unique(batch.label)) <= {0, 1, 2, 3} and set(np.unique(batch.marks)) <= {-1, 0, 1}
        assert (batch.marks[batch.mask[batch.owner] == 0] == -1).all()
