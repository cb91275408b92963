"""Segmentation."""

import pytest

from autograder.answers.normalise import normalise
from autograder.answers.segment import sentences


def clauses(answer):
    n = normalise(answer)
    return [[n.text[c.start : c.end].strip(" ,。.;(") for c in s.clauses] for s in sentences(n)]


@pytest.mark.parametrize(
    "answer, parts",
    [
        ("如果 C 为空，会出错；而且浪费带宽。", [["如果 c 为空", "会出错"], ["而且浪费带宽"]]),
        (
            "It faults (e.g. on null). It costs 1.43x time because traffic grows.",
            [["it faults", "e.g. on null)"], ["it costs 1.43x time", "because traffic grows"]],
        ),
        ("1. 第一\n2. 第二", [["第一"], ["第二"]]),
        ("See fig. 3. Next.", [["see fig. 3"], ["next"]]),
        ("结果是 0.5.所以", [["结果是 0.5"], ["所以"]]),
        ("。。。", []),
    ],
)
def test_sentences_and_clauses(answer, parts):
    assert clauses(answer) == parts
