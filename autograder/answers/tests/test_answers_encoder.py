"""The shared-work encoder against the package it follows, and its own law: a vector depends on its text alone."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.answers import embed
from autograder.answers.normalise import normalise
from autograder.answers.polarity import stance
from autograder.answers.segment import sentences

ODD = ["", "a", "é", "e\u0301 cafe\u0301", "ﬁne ½ ①", "カ\u3099ン", "  two  blanks ", "\u200b", "𝒳 emoji 🙂 🙂", "한글 \u1112\u1161\u11ab", "x" * 300, "，。！", "αβ/δ β=0.5", "a\u2581b"]


@pytest.fixture(scope="module")
def encoder():
    return embed._encoder()


@pytest.fixture(scope="module")
def pieces(lesson_folder) -> list[list[str]]:
    """The overlapping pieces of every 25th labelled answer."""
    out = []
    for line in (lesson_folder / "answers.jsonl").read_text(encoding="utf-8").splitlines()[::25]:
        normal = normalise(json.loads(line)["answer"])
        sents = sentences(normal)
        out.append([u.text for u in embed.units(normal, sents, stance(normal.text, sents))])
    return [p for p in out if p]


def test_vectors_are_those_of_the_package(encoder, pieces):
    flat = [text for p in pieces for text in p] + ODD
    assert len(flat) > 60
    assert np.abs(encoder.encode(flat) - encoder._model.encode(flat)).max() < 2e-6


def test_a_vector_does_not_depend_on_its_company(encoder, pieces):
    flat = [text for p in pieces for text in p]
    together = encoder.encode(flat)
    assert (encoder.encode(flat[::-1])[::-1] == together).all()
    assert all((encoder.encode([text])[0] == vector).all() for text, vector in zip(flat[:12], together))


def test_long_texts_are_encoded_apart(encoder):
    texts = ["the accumulator stays in registers. " * 700, "short", "beta 为零时跳过读取。" * 600]
    assert np.abs(encoder.encode(texts) - encoder._model.encode(texts)).max() < 1e-4  # float32 sums over thousands of tokens


@settings(deadline=None, max_examples=150)
@given(st.one_of(st.sampled_from(ODD), st.text(st.characters(exclude_categories=["Cs"]), max_size=40), st.text("ab ,.，。累加βe\u0301\u3099ｶﬁ", max_size=30)))
def test_tokens_are_those_of_the_package(text):
    encoder = embed._encoder()
    assert encoder._tokens.ids(text) == encoder._tokens._tokenizer.encode(text)
