"""Lesson 7's hidden checks: every plausible wrong fill fails, every right style passes."""

from __future__ import annotations

import math

import numpy as np
import pytest

from autograder.lesson.checks import load_checks
from autograder.lesson.store import find_lesson
from tests.support import fills

CHECKS = load_checks(find_lesson("7") / "checks.py")


class Touched(Exception):
    """The untouchable argument was used."""


class Untouchable:
    """Stands for the grader's probe: comparing it by identity is the only thing that leaves no trace."""

    __array_ufunc__ = None

    def __init__(self):
        object.__setattr__(self, "used", [])

    def _use(self, *args, **kwargs):
        object.__getattribute__(self, "used").append(True)
        raise Touched

    __getattribute__ = _use


for _name in "add radd sub rsub mul rmul truediv rtruediv matmul rmatmul neg bool eq ne lt gt le ge len iter getitem float int array call".split():
    setattr(Untouchable, f"__{_name}__", lambda self, *a, **k: Untouchable._use(self))
Untouchable.__hash__ = lambda self: Untouchable._use(self)


def function_of(fill: str):
    space = {"np": np, "math": math}
    exec(f"def linear_epilogue(acc, alpha, beta, c=None):\n    return {fill}\n", space)
    return space["linear_epilogue"]


def passes(function, case: dict) -> bool:
    args = dict(case["args"])
    probes = [k for k, v in args.items() if isinstance(v, dict)]
    for k in probes:
        args[k] = Untouchable()
    try:
        with np.errstate(all="ignore"):
            got = function(**args)
    except Exception:
        return False
    if any(object.__getattribute__(args[k], "used") for k in probes):
        return False
    expect = np.asarray(case["expect"], dtype=np.float64)
    try:
        got = np.asarray(got, dtype=np.float64)
    except (TypeError, ValueError):
        return False
    return got.shape == expect.shape and bool(
        np.allclose(got, expect, rtol=case["rtol"], atol=case["atol"], equal_nan=True)
    )


def outcome(fill: str, seed: int = 7) -> tuple[bool, bool]:
    function = function_of(fill)
    normal = CHECKS.normal_cases(np.random.default_rng(seed))
    boundary = CHECKS.boundary_cases(np.random.default_rng(seed))
    return all(passes(function, c) for c in normal), all(passes(function, c) for c in boundary)


RIGHT = {
    "the reference": "alpha * acc if beta == 0 else alpha * acc + beta * c",
    "guard on the other side": "alpha * acc + beta * c if beta != 0 else alpha * acc",
    "only C's term is guarded": "alpha * acc + (beta * c if beta else 0)",
    "0.0 added": "alpha * acc + (0.0 if beta == 0 else beta * c)",
    "factor outside": "acc * alpha + (c * beta if beta != 0.0 else 0.0)",
    "beta and ...": "alpha * acc + (beta and beta * c)",
    "absent C forgiven too": "alpha * acc if beta == 0 or c is None else alpha * acc + beta * c",
    "a lambda called": "(lambda x: x if not beta else x + beta * c)(alpha * acc)",
    "numpy functions": "np.multiply(alpha, acc) if beta == 0 else np.add(np.multiply(alpha, acc), np.multiply(beta, c))",
    "table of thunks": "{True: lambda: alpha * acc, False: lambda: alpha * acc + beta * c}[beta == 0]()",
    "sum of a guarded list": "sum([alpha * acc] + ([beta * c] if beta else []))",
}

# fill -> (normal cases pass, boundary cases pass)
WRONG = {
    "narrow tolerance on beta": ("alpha * acc if abs(beta) < 1e-9 else alpha * acc + beta * c", (True, False)),
    "narrowest tolerance on beta": ("alpha * acc if abs(beta) < 1e-12 else alpha * acc + beta * c", (True, False)),
    "tolerance near the least float32": ("alpha * acc if abs(beta) < 1e-37 else alpha * acc + beta * c", (True, False)),
    "beta rounded": ("alpha * acc if round(beta, 9) == 0 else alpha * acc + beta * c", (True, False)),
    "beta close to 0": ("alpha * acc if np.isclose(beta, 0) else alpha * acc + beta * c", (True, False)),
    "NaN scrubbed from the result, beta 0": (
        "np.nan_to_num(alpha * acc) if beta == 0 else alpha * acc + beta * c",
        (True, False),
    ),
    "NaN scrubbed from acc": (
        "alpha * np.nan_to_num(acc) if beta == 0 else alpha * np.nan_to_num(acc) + beta * c",
        (False, False),
    ),
    "NaN scrubbed from acc, beta not 0": (
        "alpha * acc if beta == 0 else alpha * np.nan_to_num(acc) + beta * c",
        (False, True),
    ),
    "NaN scrubbed from acc, beta 0": (
        "alpha * np.nan_to_num(acc) if beta == 0 else alpha * acc + beta * c",
        (True, False),
    ),
    "cut off, beta 0": ("np.clip(alpha * acc, -1e4, 1e4) if beta == 0 else alpha * acc + beta * c", (True, False)),
    "saturates as FP16": (
        "alpha * acc if beta == 0 else np.clip(alpha * acc + beta * c, -65504, 65504)",
        (False, False),
    ),
    "alpha at most 255": ("min(255, alpha) * acc if beta == 0 else min(255, alpha) * acc + beta * c", (False, False)),
    "beta at most 255": ("alpha * acc if beta == 0 else alpha * acc + min(255, beta) * c", (False, True)),
    "large negative beta dropped": (
        "alpha * acc if beta == 0 else alpha * acc + (beta * c if beta > -100 else 0)",
        (False, True),
    ),
    "negative alpha, beta 0": (
        "abs(alpha) * acc if beta == 0 and alpha < -3 else (alpha * acc if beta == 0 else alpha * acc + beta * c)",
        (True, False),
    ),
    "C read always": ("alpha * acc + beta * c", (True, False)),
    "guard on C instead of beta": ("alpha * acc if c is None else alpha * acc + beta * c", (True, False)),
    "truth of C": ("alpha * acc if not c else alpha * acc + beta * c", (False, False)),
    "np.where evaluates both": ("np.where(beta == 0, alpha * acc, alpha * acc + beta * c)", (True, False)),
    "table built eagerly": ("(alpha * acc + beta * c, alpha * acc)[beta == 0]", (True, False)),
    "NaN scrubbed from C": ("alpha * acc + beta * np.nan_to_num(0.0 if c is None else c)", (True, False)),
    "nan_to_num of the product": ("alpha * acc if beta == 0 else alpha * acc + np.nan_to_num(beta * c)", (True, False)),
    "C replaced when absent": ("alpha * acc + beta * (0 if c is None else c)", (True, False)),
    "alpha and beta swapped": ("beta * acc if beta == 0 else beta * acc + alpha * c", (False, False)),
    "alpha ignored": ("acc if beta == 0 else acc + beta * c", (False, False)),
    "beta ignored": ("alpha * acc if beta == 0 else alpha * acc + c", (False, False)),
    "alpha over both": ("alpha * acc if beta == 0 else alpha * (acc + beta * c)", (False, False)),
    "positive beta only": ("alpha * acc + beta * c if beta > 0 else alpha * acc", (False, False)),
    "beta is exactly one": ("alpha * acc + c if beta == 1 else alpha * acc", (False, False)),
    "tolerance on beta": ("alpha * acc if abs(beta) < 1e-6 else alpha * acc + beta * c", (True, False)),
    "beta truncated": ("alpha * acc if int(beta) == 0 else alpha * acc + beta * c", (False, False)),
    "sign of zero": ("alpha * acc if str(beta) in ('0', '0.0') else alpha * acc + beta * c", (True, False)),
    "acc returned bare when beta is 0": ("acc if beta == 0 else alpha * acc + beta * c", (True, False)),
    "zero when beta is 0": ("0 * acc if beta == 0 else alpha * acc + beta * c", (True, False)),
    "early cast": ("alpha * np.float16(acc) if beta == 0 else alpha * np.float16(acc) + beta * c", (False, False)),
    "late cast that was not asked for": (
        "np.float16(alpha * acc) if beta == 0 else np.float16(alpha * acc + beta * c)",
        (False, False),
    ),
    "rounded to an integer": ("np.rint(alpha * acc) if beta == 0 else np.rint(alpha * acc + beta * c)", (False, False)),
    "C transposed": ("alpha * acc if beta == 0 else alpha * acc + beta * np.transpose(c)", (False, False)),
    "C's mean": ("alpha * acc if beta == 0 else alpha * acc + beta * np.mean(c)", (False, False)),
    "looks at C without need": (
        "alpha * acc if beta == 0 and (c is None or hasattr(c, 'dtype') or True) else alpha * acc + beta * c",
        (True, False),
    ),
}


@pytest.mark.parametrize("name", RIGHT)
@pytest.mark.parametrize("seed", [0, 7])
def test_right_fill_passes(name, seed):
    assert outcome(RIGHT[name], seed) == (True, True)


@pytest.mark.parametrize("name", WRONG)
def test_wrong_fill_fails_where_it_should(name):
    fill, expected = WRONG[name]
    got = outcome(fill)
    assert got == expected
    assert got != (True, True)
    assert fills.caught_without_luck(CHECKS, function_of(fill))


def test_each_case_expects_what_the_reference_gives():
    rng = np.random.default_rng(3)
    for case in CHECKS.normal_cases(rng) + CHECKS.boundary_cases(rng):
        assert passes(CHECKS.reference, case), case["name"]["en"]
        assert set(case["name"]) == {"zh", "en"}


def test_cases_are_the_same_for_the_same_seed_and_differ_between_seeds():
    def first(seed):
        return next(
            c["args"]["acc"] for c in CHECKS.normal_cases(np.random.default_rng(seed)) if "float64" in c["name"]["en"]
        )

    assert np.array_equal(first(1), first(1))
    assert not np.array_equal(first(1), first(2))


@pytest.mark.parametrize(
    ("args", "counts"),
    [
        ({"acc": 3.0, "alpha": -2.0, "beta": 0.0, "c": None}, True),
        ({"acc": 5.0, "alpha": 2.0, "beta": 0}, True),
        ({"acc": 3.0, "alpha": 2.5, "beta": -0.0, "c": float("nan")}, True),
        ({"acc": 3.0, "alpha": 2.0, "beta": 0.0, "c": None}, False),  # what the visible asserts have
        ({"acc": 3, "alpha": 2, "beta": 0}, False),
        ({"acc": 3.0, "alpha": 2.0, "beta": -0.0, "c": float("nan")}, False),
        ({"acc": 3.0, "alpha": 2.0, "beta": 0.0, "c": float("inf")}, True),
        ({"acc": [1.0], "alpha": 2.0, "beta": 0.0, "c": [float("nan")]}, True),
        ({"acc": 3.0, "alpha": 2.0, "beta": 0.0, "c": 4.0}, False),
        ({"acc": 3.0, "alpha": 2.0, "beta": 0.5, "c": float("nan")}, False),
        ({"acc": 3.0, "alpha": 2.0, "beta": False, "c": None}, False),
        ({"acc": 3.0, "alpha": 2.0, "beta": None, "c": None}, False),
        ({"acc": 3.0, "alpha": 2.0, "beta": 0.0, "c": "nothing"}, False),
        ({}, False),
    ],
)
def test_own_input_counts_only_where_it_can_betray_a_read(args, counts):
    assert CHECKS.is_boundary(args) is counts
