"""Lesson 2's hidden checks: every plausible wrong fill fails, every right style passes and is admitted."""

from __future__ import annotations

import ast
import math

import numpy as np
import pytest

from autograder.lesson import load_lesson
from autograder.submission.admit import refusal
from autograder.submission.fill import read_exercise
from tests.support import fills

LESSON = load_lesson("2")
CHECKS = LESSON.checks
EXERCISE = read_exercise(LESSON.edition("en").with_role("exercise")[0].source, CHECKS.function)


def function_of(fill: str):
    """fill: an expression, or statements."""
    body = fill if "return" in fill else f"return {fill}"
    space = {"np": np, "math": math}
    exec("def bytes_in_flight(bandwidth, latency):\n" + "".join(f"    {line}\n" for line in body.splitlines()), space)
    return space["bytes_in_flight"]


def outcome(fill: str, seed: int = 7) -> tuple[bool, bool]:
    return fills.outcome(CHECKS, function_of(fill), seed)


RIGHT = {
    "the reference": "bandwidth * latency",
    "the other order": "latency * bandwidth",
    "numpy": "np.multiply(bandwidth, latency)",
    "two lines": "needed = bandwidth * latency\nreturn needed",
    "a guard that arrays survive": "np.where(np.equal(latency, 0), 0, bandwidth * latency)[()]",
    "math.prod": "math.prod((bandwidth, latency))",
    "floats on the way": "np.asarray(bandwidth, dtype=float) * latency",
    "np.vectorize": "np.vectorize(lambda a, b: a * b)(bandwidth, latency)[()]",
    "a lambda": "(lambda rate, wait: rate * wait)(bandwidth, latency)",
}

# fill -> (normal cases pass, boundary cases pass)
WRONG = {
    "quotient": ("bandwidth / latency", (False, False)),
    "quotient with a guard": ("bandwidth / latency if latency else 0.0", (False, False)),
    "quotient the other way": ("latency / bandwidth", (False, False)),
    "sum": ("bandwidth + latency", (False, False)),
    "nanoseconds taken for seconds": ("bandwidth * latency * 1e9", (False, False)),
    "GB/s and ns": ("bandwidth / 1e9 * latency * 1e9 * 1e9", (False, False)),
    "bits": ("8 * bandwidth * latency", (False, False)),
    "half, for reads": ("bandwidth / 2 * latency", (False, False)),
    "per SM": ("bandwidth * latency / 132", (False, False)),
    "warps instead of bytes": ("bandwidth * latency / 32", (False, False)),
    "bandwidth alone": ("bandwidth", (False, False)),
    "axes of length 1 dropped": ("np.squeeze(bandwidth * latency)", (False, True)),
    "axes of length 1 dropped from an argument": ("np.squeeze(bandwidth) * latency", (False, False)),
    "rounded": ("np.rint(bandwidth * latency)", (False, False)),
    "whole bytes": ("int(bandwidth * latency)", (False, False)),
    "rounded up": ("np.ceil(bandwidth * latency)", (False, False)),
    "floats only": ("float(bandwidth) * float(latency)", (False, False)),
    "float32 on the way": ("np.float32(bandwidth) * np.float32(latency)", (False, False)),
    "a guard for numbers only": ("0.0 if latency == 0 else bandwidth * latency", (False, False)),
    "dot product": ("np.dot(bandwidth, latency)", (False, False)),
    "outer product": ("np.outer(bandwidth, latency)", (False, False)),
    "total": ("np.sum(bandwidth * latency)", (False, False)),
    "at least one load of a warp": ("np.maximum(bandwidth * latency, 128)", (False, False)),
    "at least one byte": ("np.maximum(bandwidth * latency, 1)[()]", (False, False)),
    "short waits ignored": ("bandwidth * np.where(np.asarray(latency) < 1e-9, 0, latency)[()]", (True, False)),
    "a default latency": ("bandwidth * np.where(np.asarray(latency) == 0, 5e-7, latency)[()]", (True, False)),
    "the inverse of the inverse": ("bandwidth / (1 / latency)", (True, False)),
    "shortest waits ignored": ("bandwidth * np.where(np.asarray(latency) < 1e-15, 0, latency)[()]", (True, False)),
    "waits in femtoseconds": ("bandwidth * np.round(latency, 15)", (False, False)),
    "no table with a number": (
        "bandwidth * latency if np.ndim(bandwidth) < 2 or np.ndim(latency) else bandwidth * 0",
        (False, True),
    ),
    "no number with a table": (
        "bandwidth * latency if np.ndim(latency) < 2 or np.ndim(bandwidth) else latency * 0",
        (False, True),
    ),
    "no three dimensions": ("bandwidth * latency if np.ndim(latency) < 3 else latency", (False, True)),
    "no NumPy scalars": ("bandwidth * latency if not isinstance(latency, np.float64) else 0.0", (False, True)),
    "capped at the registers": ("np.minimum(bandwidth * latency, 132 * 65536 * 4)[()]", (False, True)),
}


@pytest.mark.parametrize("name", RIGHT)
@pytest.mark.parametrize("seed", [0, 7])
def test_right_fill_passes(name, seed):
    assert outcome(RIGHT[name], seed) == (True, True)


@pytest.mark.parametrize("name", RIGHT)
def test_right_fill_is_admitted(name):
    body = RIGHT[name] if "return" in RIGHT[name] else f"return {RIGHT[name]}"
    assert refusal(EXERCISE, ast.parse(body).body) is None


@pytest.mark.parametrize("name", WRONG)
def test_wrong_fill_fails_where_it_should(name):
    fill, expected = WRONG[name]
    assert outcome(fill) == expected
    assert expected != (True, True)
    assert fills.caught_without_luck(CHECKS, function_of(fill))


def test_each_case_expects_what_the_reference_gives_and_has_both_names():
    rng = np.random.default_rng(3)
    for case in CHECKS.normal_cases(rng) + CHECKS.boundary_cases(rng):
        assert fills.passes(CHECKS.reference, case), case["name"]["en"]
        assert set(case["name"]) == {"zh", "en"}


def test_cases_are_the_same_for_the_same_seed_and_differ_between_seeds():
    first = lambda seed: CHECKS.normal_cases(np.random.default_rng(seed))[1]["args"]["bandwidth"]
    assert first(1) == first(1) != first(2)


@pytest.mark.parametrize(
    ("args", "counts"),
    [
        ({"bandwidth": 2e12, "latency": 0}, True),
        ({"bandwidth": 3, "latency": 0.0}, True),
        ({"bandwidth": 2e12, "latency": -0.0}, True),
        ({"bandwidth": 3.0e12, "latency": 0}, False),  # the visible assert's
        ({"bandwidth": 2.0e12, "latency": np.array([5.0e-7, 0.0])}, False),
        ({"bandwidth": 2.0e12, "latency": np.array([3.0e-7, 0.0])}, True),
        ({"bandwidth": np.array([1e12, 2e12]), "latency": 0.0}, True),
        ({"bandwidth": np.array([0.0, 2e12]), "latency": np.array([0.0, 5e-7])}, False),  # nowhere both
        ({"bandwidth": np.array([1e12, 2e12]), "latency": np.zeros(3)}, False),  # no shapes that broadcast
        ({"bandwidth": np.array([1e12, np.inf]), "latency": 0.0}, False),
        ({"bandwidth": [1e12, 2e12], "latency": 0}, False),  # a list times 0 is an empty list
        ({"bandwidth": 0.0, "latency": 0.0}, False),
        ({"bandwidth": 0, "latency": 5e-7}, False),
        ({"bandwidth": 2e12, "latency": 5e-7}, False),
        ({"bandwidth": 2e12, "latency": False}, False),
        ({"bandwidth": float("inf"), "latency": 0}, False),
        ({"bandwidth": "fast", "latency": 0}, False),
        ({}, False),
    ],
)
def test_own_input_counts_only_where_a_quotient_gives_itself_away(args, counts):
    assert bool(CHECKS.is_boundary(args)) is counts
