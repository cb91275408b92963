"""Lesson 1's hidden checks: every plausible wrong fill fails, every right style is admitted and passes."""

from __future__ import annotations

import ast
import math

import numpy as np
import pytest

from autograder.lesson import load_lesson
from autograder.lesson.checks import load_checks
from autograder.lesson.store import find_lesson
from autograder.submission.admit import refusal
from autograder.submission.fill import read_exercise
from tests.support import fills

CHECKS = load_checks(find_lesson("1") / "checks.py")

EXPRESSIONS = {
    "the reference": "peak_flops if bytes_moved == 0 else min(peak_flops, flops / bytes_moved * bandwidth)",
    "guard on the other side": "min(peak_flops, bandwidth * flops / bytes_moved) if bytes_moved else peak_flops",
    "slower time decides": "flops / max(flops / peak_flops, bytes_moved / bandwidth)",
    "infinite intensity": "min(peak_flops, bandwidth * (flops / bytes_moved if bytes_moved else float('inf')))",
    "math.inf": "min(math.inf if bytes_moved == 0 else bandwidth * (flops / bytes_moved), peak_flops)",
    "ridge compared": "peak_flops if flops * bandwidth >= peak_flops * bytes_moved else flops / bytes_moved * bandwidth",
    "numpy": "float(np.minimum(peak_flops, np.divide(flops, bytes_moved) * bandwidth)) if bytes_moved != 0 else peak_flops",
    "sorted": "sorted([peak_flops] + ([flops * bandwidth / bytes_moved] if bytes_moved > 0 else []))[0]",
    "min over a list": "min([peak_flops] if not bytes_moved else [peak_flops, flops / (bytes_moved / bandwidth)])",
}
STATEMENTS = {
    "if first": "if bytes_moved == 0:\n        return peak_flops\n    intensity = flops / bytes_moved\n    return min(peak_flops, intensity * bandwidth)",
    "try": "try:\n        return min(peak_flops, flops / bytes_moved * bandwidth)\n    except ZeroDivisionError:\n        return peak_flops",
}
# fill -> (normal cases pass, boundary cases pass)
WRONG = {
    "always the slope": ("flops / bytes_moved * bandwidth if bytes_moved else peak_flops", (False, False)),
    "always the peak": ("peak_flops", (False, False)),
    "intensity upside down": (
        "min(peak_flops, bytes_moved / flops * bandwidth) if bytes_moved else peak_flops",
        (False, False),
    ),
    "max for min": ("max(peak_flops, flops / bytes_moved * bandwidth) if bytes_moved else peak_flops", (False, False)),
    "nothing moved gives 0": (
        "min(peak_flops, flops / bytes_moved * bandwidth) if bytes_moved else 0.0",
        (True, False),
    ),
    "nothing moved gives the bandwidth": (
        "min(peak_flops, flops / bytes_moved * bandwidth) if bytes_moved else bandwidth",
        (True, False),
    ),
    "nothing moved gives infinity": (
        "min(peak_flops, flops / bytes_moved * bandwidth) if bytes_moved else float('inf')",
        (True, False),
    ),
    "no case for nothing moved": ("min(peak_flops, flops / bytes_moved * bandwidth)", (True, False)),
    "bandwidth forgotten": ("min(peak_flops, flops / bytes_moved) if bytes_moved else peak_flops", (False, False)),
    "divided by the bandwidth": (
        "min(peak_flops, flops / bytes_moved / bandwidth) if bytes_moved else peak_flops",
        (False, False),
    ),
    "one byte in place of none": ("min(peak_flops, flops / (bytes_moved or 1) * bandwidth)", (True, False)),
    "at least one byte": ("min(peak_flops, flops / max(bytes_moved, 1) * bandwidth)", (True, False)),
    "a little added": ("min(peak_flops, flops / (bytes_moved + 1e-6) * bandwidth)", (None, False)),
    "guard too wide": (
        "peak_flops if bytes_moved < 1 else min(peak_flops, flops / bytes_moved * bandwidth)",
        (True, False),
    ),
    "guard of a thousandth": (
        "peak_flops if bytes_moved < 1e-3 else min(peak_flops, flops / bytes_moved * bandwidth)",
        (True, False),
    ),
    "guard of a ten-thousandth": (
        "peak_flops if bytes_moved < 1e-4 else min(peak_flops, flops / bytes_moved * bandwidth)",
        (True, False),
    ),
    "guard with a tolerance": (
        "peak_flops if abs(bytes_moved) < 1e-12 else min(peak_flops, flops / bytes_moved * bandwidth)",
        (True, False),
    ),
    "guard by closeness": (
        "peak_flops if math.isclose(bytes_moved, 0, abs_tol=1e-9) else min(peak_flops, flops / bytes_moved * bandwidth)",
        (True, False),
    ),
    "a little in place of none": ("min(peak_flops, flops / max(bytes_moved, 1e-12) * bandwidth)", (True, False)),
    "next to nothing added": ("min(peak_flops, flops / (bytes_moved + 1e-15) * bandwidth)", (True, False)),
    "hardly anything added": ("min(peak_flops, flops / (bytes_moved + 1e-25) * bandwidth)", (True, False)),
    "hardly anything in place of none": ("min(peak_flops, flops / max(bytes_moved, 1e-18) * bandwidth)", (True, False)),
    "guard of 1e-17": (
        "peak_flops if bytes_moved <= 1e-17 else min(peak_flops, flops / bytes_moved * bandwidth)",
        (True, False),
    ),
    "very many FLOP/s in place of the peak": (
        "min(peak_flops, flops * bandwidth / bytes_moved) if bytes_moved else min(peak_flops, flops * 1e40)",
        (True, False),
    ),
    "at least 1 FLOP/s": (
        "max(1, peak_flops if bytes_moved == 0 else min(peak_flops, flops / bytes_moved * bandwidth))",
        (False, False),
    ),
    "the peak below its own number": (
        "(peak_flops if bytes_moved == 0 else min(peak_flops, flops / bytes_moved * bandwidth)) if peak_flops > flops else peak_flops",
        (False, None),
    ),
    "times in 8 bits": (
        "flops / (max(flops / peak_flops, bytes_moved / bandwidth) % 256) if flops else 0.0",
        (False, None),
    ),
    "capped": (
        "peak_flops if bytes_moved == 0 else min(peak_flops, flops / bytes_moved * bandwidth, 1e15)",
        (False, None),
    ),
    "guard truncates": (
        "peak_flops if int(bytes_moved) == 0 else min(peak_flops, flops / bytes_moved * bandwidth)",
        (True, False),
    ),
    "guard on flops": (
        "peak_flops if flops == 0 else min(peak_flops, flops / bytes_moved * bandwidth)",
        (False, False),
    ),
    "whole-number intensity": (
        "min(peak_flops, flops // bytes_moved * bandwidth) if bytes_moved else peak_flops",
        (False, None),
    ),
    "times added": ("flops / (flops / peak_flops + bytes_moved / bandwidth)", (False, False)),
    "harmonic of the roofs": ("1 / (1 / peak_flops + bytes_moved / (flops * bandwidth))", (False, False)),
    "the ridge itself": ("peak_flops / bandwidth", (False, False)),
    "intensity against the ridge, both absolute": (
        "min(peak_flops / bandwidth, flops / bytes_moved) if bytes_moved else peak_flops / bandwidth",
        (False, False),
    ),
    "peak below the ridge too": (
        "peak_flops if not bytes_moved or flops / bytes_moved > 1 else flops / bytes_moved * bandwidth",
        (False, False),
    ),
    "FMA counted twice": (
        "min(peak_flops, 2 * flops / bytes_moved * bandwidth) if bytes_moved else peak_flops",
        (False, False),
    ),
    "time instead of rate": ("max(flops / peak_flops, bytes_moved / bandwidth)", (False, False)),
    "rounded": (
        "round(min(peak_flops, flops / bytes_moved * bandwidth), -12) if bytes_moved else peak_flops",
        (False, None),
    ),
}


def function_of(body: str):
    space = {"np": np, "math": math}
    exec(f"def attainable_flops(flops, bytes_moved, peak_flops, bandwidth):\n    {body}\n", space)
    return space["attainable_flops"]


def outcome(body: str, seed: int) -> tuple[bool, bool]:
    return fills.outcome(CHECKS, function_of(body), seed)


RIGHT = {n: f"return {e}" for n, e in EXPRESSIONS.items()} | STATEMENTS


@pytest.mark.parametrize("name", RIGHT)
def test_right_fill_passes_and_is_admitted(name):
    for seed in range(20):
        assert outcome(RIGHT[name], seed) == (True, True), seed
    exercise = read_exercise(load_lesson("1").edition("zh").with_role("exercise")[0].source, CHECKS.function)
    statements = ast.parse("def f():\n    " + RIGHT[name]).body[0].body
    assert refusal(exercise, statements) is None


@pytest.mark.parametrize("name", WRONG)
def test_wrong_fill_fails_where_it_should(name):
    fill, expected = WRONG[name]
    for seed in range(20):
        got = outcome(f"return {fill}", seed)
        assert got != (True, True), seed
        assert all(e is None or e == g for e, g in zip(expected, got)), (seed, got)
    assert fills.caught_without_luck(CHECKS, function_of(f"return {fill}"))


def test_each_case_expects_what_the_reference_gives():
    for seed in range(5):
        for case in CHECKS.normal_cases(np.random.default_rng(seed)) + CHECKS.boundary_cases(
            np.random.default_rng(seed)
        ):
            assert fills.passes(CHECKS.reference, case), case["name"]["en"]
            assert set(case["name"]) == {"zh", "en"}


def test_normal_cases_lie_on_the_side_they_name():
    for case in CHECKS.normal_cases(np.random.default_rng(2)):
        a = case["args"]
        at_peak = case["expect"] == a["peak_flops"]
        if "memory-bound" in case["name"]["en"] or "left" in case["name"]["en"]:
            assert not at_peak
        if "compute-bound" in case["name"]["en"] or "right" in case["name"]["en"]:
            assert at_peak


@pytest.mark.parametrize(
    ("args", "counts"),
    [
        (dict(flops=2, bytes_moved=0, peak_flops=60e12, bandwidth=4e12), True),
        (dict(flops=1e9, bytes_moved=0.0, peak_flops=60e12, bandwidth=4e12), True),
        (dict(flops=8, bytes_moved=0, peak_flops=60e12, bandwidth=4e12), False),  # the visible assert's
        (dict(flops=1e9, bytes_moved=1, peak_flops=60e12, bandwidth=4e12), False),
        (dict(flops=0, bytes_moved=0, peak_flops=60e12, bandwidth=4e12), False),
        (dict(flops=1e9, bytes_moved=False, peak_flops=60e12, bandwidth=4e12), False),
        (dict(flops=1e9, bytes_moved=None, peak_flops=60e12, bandwidth=4e12), False),
        (dict(flops=1e9, bytes_moved=0, peak_flops=float("inf"), bandwidth=4e12), False),
        (dict(flops=1e9, bytes_moved=0, peak_flops=60e12, bandwidth=0), False),
        ({}, False),
    ],
)
def test_own_input_counts_only_where_nothing_moves(args, counts):
    assert CHECKS.is_boundary(args) is counts
