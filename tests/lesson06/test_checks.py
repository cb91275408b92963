"""Lesson 6's hidden checks: every plausible wrong fill fails, every right style is admitted and passes."""

from __future__ import annotations

import ast

import numpy as np
import pytest

from autograder.lesson import load_lesson
from autograder.lesson.checks import load_checks
from autograder.lesson.model import BLANK
from autograder.lesson.store import find_lesson
from autograder.lint.hidden import fixed_cases
from autograder.submission.admit import refusal
from autograder.submission.fill import read_exercise
from tests.support import fills

CHECKS = load_checks(find_lesson("6") / "checks.py")

RIGHT = {
    "the reference": "(0, phase ^ 1) if index + 1 == stages else (index + 1, phase)",
    "other branch first": "(index + 1, phase) if index + 1 < stages else (0, 1 - phase)",
    "remainder": "(index + 1) % stages, phase ^ (index + 1 == stages)",
    "quotient": "(index + 1) % stages, phase ^ (index + 1) // stages",
    "sum of bits": "(index + 1) % stages, (phase + (index + 1) // stages) % 2",
    "not": "(0, not phase) if index == stages - 1 else (index + 1, phase)",
    "comparison of bits": "(index + 1) % stages, phase != (index == stages - 1)",
    "a list": "[(index + 1) % stages, 1 - phase if index + 1 == stages else phase]",
    "divmod": "(lambda q, r: (r, phase ^ q))(*divmod(index + 1, stages))",
    "table": "{True: (0, phase ^ 1), False: (index + 1, phase)}[index + 1 == stages]",
    "the place as one number": "(lambda n: (n % stages, n // stages % 2))(phase * stages + index + 1)",
    "numpy": "(np.mod(index + 1, stages), np.bitwise_xor(phase, int(index + 1 == stages)))",
    "at least": "(0, phase ^ 1) if index + 1 >= stages else (index + 1, phase)",
}

# fill -> (normal cases pass, boundary cases pass)
WRONG = {
    "phase never flips": ("(index + 1) % stages, phase", (False, False)),
    "phase flips each step": ("(index + 1) % stages, phase ^ 1", (False, False)),
    "wraps one late": ("(0, phase ^ 1) if index == stages else (index + 1, phase)", (False, False)),
    "wraps one early": ("(0, phase ^ 1) if index + 2 >= stages else (index + 1, phase)", (False, False)),
    "phase set, not flipped": ("(0, 1) if index + 1 == stages else (index + 1, phase)", (True, False)),
    "phase counts laps": ("(0, phase + 1) if index + 1 == stages else (index + 1, phase)", (True, False)),
    "or in place of xor": ("(index + 1) % stages, phase | (index + 1 == stages)", (True, False)),
    "never wraps": ("(index + 1, phase)", (False, False)),
    "flips but does not wrap": (
        "(index + 1, phase ^ 1) if index + 1 == stages else (index + 1, phase)",
        (False, False),
    ),
    "power of two only": ("(index + 1) & (stages - 1), phase ^ (index + 1 == stages)", (False, False)),
    "operands swapped": ("(phase ^ 1, 0) if index + 1 == stages else (phase, index + 1)", (False, False)),
    "phase is the index's lowest bit": ("(index + 1) % stages, (index + 1) % 2", (False, False)),
    "wraps to 1": ("(1, phase ^ 1) if index + 1 == stages else (index + 1, phase)", (False, False)),
    "flips one early": ("(index + 1) % stages, phase ^ (index + 2 == stages)", (False, False)),
    "flips on entering the last stage and on leaving it": (
        "(index + 1) % stages, phase ^ (index + 2 >= stages)",
        (False, False),
    ),
    "cleared at the wrap": ("(index + 1) % stages, phase * (index + 1 < stages)", (False, False)),
    "one stage forgotten": (
        "(0, phase) if stages == 1 else ((index + 1) % stages, phase ^ (index + 1 == stages))",
        (True, False),
    ),
    "one stage waits for nobody": (
        "(0, 0) if stages == 1 else ((index + 1) % stages, phase ^ (index + 1 == stages))",
        (True, False),
    ),
    "the stages of the visible case": ("(index + 1) % 3, phase ^ (index + 1 == 3)", (False, False)),
    "wrong from 64 stages on": (
        "((index + 1) % stages, phase ^ (index + 1 == stages)) if stages < 64 else (index + 1, phase)",
        (False, False),
    ),
    "wrong for 5 and 6 stages": (
        "((index + 1) % stages, phase ^ (index + 1 == stages)) if stages not in (5, 6) else (index + 1, phase)",
        (False, False),
    ),
    "no flip with 6 stages": ("((index + 1) % stages, phase ^ (index + 1 == stages and stages != 6))", (False, False)),
    "wrong for 9 stages": (
        "((index + 1) % stages, phase ^ (index + 1 == stages)) if stages != 9 else (0, 0)",
        (False, True),
    ),
    "wrong for some rings of up to 15": (
        "((index + 1) % stages, phase ^ (index + 1 == stages)) if stages not in (9, 10, 12, 13, 14, 15) else (index + 1, phase)",
        (False, False),
    ),
    "phase lost within a ring of 14": (
        "((index + 1) % stages, phase ^ (index + 1 == stages)) if stages != 14 or index == 13 else (index + 1, phase ^ 1)",
        (False, True),
    ),
    "no flip with 24 stages": (
        "((index + 1) % stages, phase ^ (index + 1 == stages and stages != 24))",
        (False, False),
    ),
    "phase set with 31 stages": (
        "((index + 1) % stages, (phase ^ (index + 1 == stages)) if stages != 31 else 0)",
        (False, True),
    ),
    "phase lost from stage 30 on": (
        "(0, phase ^ 1) if index >= stages - 1 else (index + 1, phase * (index < 30))",
        (False, True),
    ),
    "-phase": ("(0, -phase) if index + 1 == stages else (index + 1, phase)", (False, False)),
    "complement of all bits": ("(0, ~phase) if index + 1 == stages else (index + 1, phase)", (False, False)),
}


def exercise_source(lang: str = "zh") -> str:
    return load_lesson("6").edition(lang).with_role("exercise")[0].source


def function_of(fill: str):
    """The exercise's function with the blank filled, without the visible asserts."""
    tree = ast.parse(exercise_source().replace(BLANK, fill))
    tree.body = [s for s in tree.body if not isinstance(s, ast.Assert)]
    space = {"np": np}
    exec(compile(tree, "exercise", "exec"), space)
    return space["advance"]


def outcome(fill: str, seed: int = 7) -> tuple[bool, bool]:
    return fills.outcome(CHECKS, function_of(fill), seed)


@pytest.mark.parametrize("name", RIGHT)
@pytest.mark.parametrize("seed", [0, 7])
def test_right_fill_passes(name, seed):
    assert outcome(RIGHT[name], seed) == (True, True)


@pytest.mark.parametrize("name", RIGHT)
def test_right_fill_is_admitted_and_passes_the_visible_asserts(name):
    exercise = read_exercise(exercise_source(), "advance")
    assert refusal(exercise, ast.parse(f"next_index, next_phase = {RIGHT[name]}").body) is None
    exec(exercise_source().replace(BLANK, RIGHT[name]), {"np": np})


@pytest.mark.parametrize("name", WRONG)
@pytest.mark.parametrize("seed", [1, 7])
def test_wrong_fill_fails_where_it_should(name, seed):
    fill, expected = WRONG[name]
    got = outcome(fill, seed)
    assert got == expected
    assert got != (True, True)
    assert fills.caught_without_luck(CHECKS, function_of(fill))


def test_the_cases_reach_every_place_of_a_ring_over_two_laps():
    """The reference is what division says: after n steps index n % stages, phase n // stages % 2."""
    cases = CHECKS.normal_cases(np.random.default_rng(0)) + CHECKS.boundary_cases(np.random.default_rng(0))
    for case in cases:
        index, phase, stages = case["args"].values()
        n = phase * stages + index + 1
        assert case["expect"] == (n % stages, n // stages % 2) and set(case["name"]) == {"zh", "en"}
    assert len({tuple(c["args"].values()) for c in cases}) == len(cases)


def test_every_ring_of_up_to_32_stages_wraps_in_both_laps_in_each_draw():
    fixed = {tuple(c["args"].values()) for c in fixed_cases(CHECKS)}
    assert {(n - 1, phase, n) for n in range(1, 33) for phase in (0, 1)} <= fixed
    assert {n for index, _, n in fixed if index + 1 < n} >= set(range(2, 17))


@pytest.mark.parametrize(
    ("args", "counts"),
    [
        (dict(index=0, phase=0, stages=1), True),
        (dict(index=0, phase=1, stages=1), True),
        (dict(index=2, phase=1, stages=3), True),
        (dict(index=6, phase=1, stages=7), True),
        (dict(index=2, phase=0, stages=3), False),
        (dict(index=1, phase=1, stages=3), False),
        (dict(index=0, phase=0, stages=4), False),
        (dict(index=3, phase=1, stages=3), False),
        (dict(index=0, phase=2, stages=1), False),
        (dict(index=0, phase=True, stages=1), False),
        (dict(index=0.0, phase=1, stages=1), False),
        (dict(index=-1, phase=1, stages=0), False),
        (dict(index=2, phase=1), False),
        (dict(index="2", phase=1, stages=3), False),
        ({}, False),
    ],
)
def test_own_input_counts_only_where_a_wrong_bit_shows(args, counts):
    assert CHECKS.is_boundary(args) is counts
