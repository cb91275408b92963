"""Wrong fills made by machine: each kind of mistake is made, each once, and only where it can be one."""

import ast
import math

import numpy as np
import pytest

from autograder.lint.mutants import wrong_fills

RING = "def advance(index, phase, stages):\n    return ______\n"
RIGHT = "(0, phase ^ 1) if index + 1 == stages else (index + 1, phase)"
WHOLE = {"index": (0, 999), "phase": (0, 1), "stages": (1, 1000)}
LAW = "def roof(work, moved, peak):\n    return ______\n"
GUARDED = "peak if moved == 0 else min(peak, work / moved)"
REAL = {"work": (0.0, 1e12), "moved": (0.0, 1e12), "peak": (1.0, 1e12)}


def made(fill, exercise, name, **kinds):
    return list(wrong_fills(fill, exercise, name, **kinds))


@pytest.mark.parametrize(
    "wrong",
    [
        "None", "index", "(0, phase ^ 1)", "(index + 1, phase) if index + 1 == stages else (0, phase ^ 1)", "(0, phase ^ 1) if index + 1 >= stages else (index + 1, phase)",
        "(0, phase ^ 1) if index + 2 == stages else (index + 1, phase)", "(0, phase ^ 1) if index + 1 == stages else (index - 1, phase)", "(0, phase | 1) if index + 1 == stages else (index + 1, phase)",
        "(0, phase ^ 1) if index + 1 == stages else (index, phase)", "(0, stages ^ 1) if index + 1 == stages else (index + 1, phase)",
    ],
)  # fmt: skip
def test_one_change_of_the_expression(wrong):
    assert wrong in made(RIGHT, RING, "advance")


@pytest.mark.parametrize(
    ("fill", "exercise", "name", "ranges", "wrong"),
    [
        (GUARDED, LAW, "roof", REAL, "peak if abs(moved) < 1e-12 else min(peak, work / moved)"),
        (GUARDED, LAW, "roof", REAL, "peak if round(moved, 9) == 0 else min(peak, work / moved)"),
        (GUARDED, LAW, "roof", REAL, "peak if moved == 0 else min(peak, work / np.maximum(moved, 1e-12))"),
        (GUARDED, LAW, "roof", REAL, "peak if moved == 0 else min(peak, work / (moved + 1e-15))"),
        (GUARDED, LAW, "roof", REAL, "peak if work > peak else (peak if moved == 0 else min(peak, work / moved))"),
        (
            GUARDED,
            LAW,
            "roof",
            REAL,
            "None if 100.0 <= work < 1000000.0 else (peak if moved == 0 else min(peak, work / moved))",
        ),
        (RIGHT, RING, "advance", WHOLE, "(0, phase ^ 1) if (index + 1 - stages) % 256 == 0 else (index + 1, phase)"),
        (RIGHT, RING, "advance", WHOLE, "(0, phase ^ 1) if index + 1 == stages else (min(index, 255) + 1, phase)"),
        (
            RIGHT,
            RING,
            "advance",
            WHOLE,
            "None if stages == 5 else ((0, phase ^ 1) if index + 1 == stages else (index + 1, phase))",
        ),
        (
            RIGHT,
            RING,
            "advance",
            WHOLE,
            "(0, phase ^ 1) if 64 <= index < 1024 else ((0, phase ^ 1) if index + 1 == stages else (index + 1, phase))",
        ),
        (
            RIGHT,
            RING,
            "advance",
            WHOLE,
            "None if stages > 938 else ((0, phase ^ 1) if index + 1 == stages else (index + 1, phase))",
        ),
    ],
)
def test_guards_values_and_parts_of_the_inputs(fill, exercise, name, ranges, wrong):
    same = {ast.dump(ast.parse(x)) for x in made(fill, exercise, name, ranges=ranges)}
    assert ast.dump(ast.parse(wrong)) in same
    assert ast.dump(ast.parse(wrong)) not in {ast.dump(ast.parse(x)) for x in made(fill, exercise, name)}


def test_a_condition_is_turned_round_and_not_left_empty():
    cell = "def done(pending, tx):\n    complete = ______\n    return complete\n"
    texts = made("pending == 0 and tx == 0", cell, "done", ranges={"pending": (0, 100_000), "tx": (-100_000, 100_000)})
    assert "not (pending == 0 and tx == 0) if tx == 0 else (pending == 0 and tx == 0)" in texts
    assert any("-tx" in x for x in texts) and "pending == 0 and (tx) % 65536 == 0" not in texts
    assert any(ast.dump(ast.parse(x)) == ast.dump(ast.parse("pending == 0 and tx % 65536 == 0")) for x in texts)


def test_arrays_are_told_apart_by_rank():
    cell = "def law(rate, wait):\n    return ______\n"
    texts = made(
        "rate * wait", cell, "law", ranges={"rate": (0.0, 1e15), "wait": (-math.inf, math.inf)}, arrays={"wait"}
    )
    assert {f"None if np.ndim(wait) == {rank} else (rate * wait)" for rank in range(4)} <= set(texts)
    assert not any("np.ndim(rate)" in x for x in texts)
    assert (
        "rate * np.nan_to_num(wait)" in texts and "np.nan_to_num(rate) * wait" not in texts
    )  # only where NaN and Inf are legal
    assert "rate * np.abs(wait)" in texts and "np.abs(rate) * wait" not in texts  # never below 0


def test_each_comes_once_and_none_is_the_fill_or_listed_as_equivalent():
    listed = {"(0, phase ^ 1) if index + 1 >= stages else (index + 1, phase)": "the index is below stages"}
    texts = made(RIGHT, RING, "advance", equivalent=listed, ranges=WHOLE)
    keys = [ast.dump(ast.parse(x, mode="eval")) for x in texts]
    assert len(set(keys)) == len(keys) and not {ast.dump(ast.parse(x, mode="eval")) for x in (RIGHT, *listed)} & set(
        keys
    )
    assert texts == made(RIGHT, RING, "advance", equivalent=listed, ranges=WHOLE)


def test_every_part_of_a_range_is_tried():
    """Of the special cases of one name one holds for each legal value."""
    for fill, cell, name, ranges in ((RIGHT, RING, "advance", WHOLE), (GUARDED, LAW, "roof", REAL)):
        for n, (low, high) in ranges.items():
            start = "None if "
            tests = [
                x[len(start) : x.index(" else (")] for x in made(fill, cell, name, ranges=ranges) if x.startswith(start)
            ]
            tests = [
                compile(t, "<test>", "eval")
                for t in tests
                if {m.id for m in ast.walk(ast.parse(t)) if isinstance(m, ast.Name)} == {n}
            ]
            values = (
                range(low, high + 1) if isinstance(low, int) else [*np.geomspace(max(low, 1e-18), 0.9 * high, 97), low]
            )
            assert all(any(eval(t, {n: v}) for t in tests) for v in values), n
