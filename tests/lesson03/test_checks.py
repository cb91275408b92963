"""Lesson 3's hidden checks: every plausible wrong fill fails, every right style passes and is admitted."""

from __future__ import annotations

import ast
import functools

import numpy as np
import pytest

from autograder.lesson.checks import load_checks
from autograder.lesson.model import BLANK
from autograder.lesson.store import find_lesson, load_lesson
from autograder.lint.hidden import failure, fixed_cases
from autograder.submission.admit import refusal
from autograder.submission.fill import extract, read_exercise

LESSON = load_lesson("3")
CHECKS = load_checks(find_lesson("3") / "checks.py")
CELL = LESSON.edition("zh").with_role("exercise")[0].source


def function_of(fill: str):
    tree = ast.parse(CELL.replace(BLANK, fill))
    tree.body = [s for s in tree.body if not isinstance(s, ast.Assert)]
    space: dict = {}
    exec(compile(tree, "<fill>", "exec"), space)
    return space[CHECKS.function]


@functools.cache
def cases(seed: int) -> tuple[list[dict], list[dict]]:
    """(normal, boundary)"""
    return CHECKS.normal_cases(np.random.default_rng(seed)), CHECKS.boundary_cases(np.random.default_rng(seed))


@functools.cache
def fixed() -> list[dict]:
    return fixed_cases(CHECKS)


def caught_without_luck(function) -> bool:
    return any(failure(function, case) for case in fixed())


def outcome(fill: str, seed: int = 7) -> tuple[bool, bool]:
    """(all normal cases pass, all boundary cases pass)"""
    function = function_of(fill)
    return tuple(all(not failure(function, case) for case in kind) for kind in cases(seed))


RIGHT = {
    "the reference": "pending == 0 and tx == 0",
    "truth values": "not pending and not tx",
    "one not": "not (pending or tx)",
    "chain": "pending == 0 == tx",
    "chain of three": "pending == tx == 0",
    "tuples": "(pending, tx) == (0, 0)",
    "bits": "(pending | tx) == 0",
    "sizes": "pending + abs(tx) == 0",
    "any": "not any((pending, tx))",
    "all": "all(n == 0 for n in (pending, tx))",
    "set": "{pending, tx} == {0}",
    "largest": "max(pending, abs(tx)) == 0",
    "from the arguments": "state[0] == event[0] and state[1] + event[1] == 0",
    "a conditional": "tx == 0 if pending == 0 else False",
    "pending at most 0": "pending <= 0 and tx == 0",
    "a product of conditions": "(pending == 0) * (tx == 0)",
}

# fill -> (normal cases pass, boundary cases pass)
WRONG = {
    "arrivals alone": ("pending == 0", (False, False)),
    "bytes alone": ("tx == 0", (False, False)),
    "either": ("pending == 0 or tx == 0", (False, False)),
    "bytes at most 0": ("pending == 0 and tx <= 0", (True, False)),
    "bytes not above 0": ("pending == 0 and not tx > 0", (True, False)),
    "bytes clamped": ("pending == 0 and max(tx, 0) == 0", (True, False)),
    "only a landing completes": ("pending == 0 and tx == 0 and nbytes <= 0", (True, False)),
    "only an arrival completes": ("pending == 0 and tx == 0 and arrivals > 0", (False, False)),
    "bytes never completed by expecting": (
        "pending == 0 and tx == 0 and not (nbytes > 0 and arrivals == 0)",
        (True, False),
    ),
    "the sum": ("pending + tx == 0", (True, False)),
    "the difference": ("pending == tx", (False, True)),
    "the product": ("pending * tx == 0", (False, False)),
    "all have arrived at the start": ("state[0] == 0 and tx == 0", (False, False)),
    "bytes of the old state": ("pending == 0 and state[1] == 0", (False, False)),
    "count": ("pending == count and tx == 0", (False, False)),
    "never": ("False", (False, False)),
    "always": ("True", (False, False)),
    "one arrival left": ("pending == 1 and tx == 0", (False, False)),
    "phase 0 only": ("pending == 0 and tx == 0 and phase == 0", (False, False)),
    "assignment of zeros": ("(pending, tx) != (0, 0)", (False, False)),
    "fewer bytes than 16": ("pending == 0 and abs(tx) < 16", (False, False)),
    "whole chunks of 16 bytes": ("pending == 0 and tx // 16 == 0", (False, True)),
    "bytes modulo 64": ("pending == 0 and tx % 64 == 0", (False, False)),
    "bytes modulo 256": ("pending == 0 and tx % 256 == 0", (False, False)),
    "the low 10 bits of the bytes": ("pending == 0 and tx & 1023 == 0", (False, False)),
    "bytes in 16 bits": ("pending == 0 and tx % 65536 == 0", (False, False)),
    "arrivals in 8 bits": ("pending % 256 == 0 and tx == 0", (False, False)),
    "arrivals in 16 bits": ("pending % 65536 == 0 and tx == 0", (False, False)),
    "one too few of many": ("pending == 0 and tx == 0 if count < 256 else pending <= 1 and tx == 0", (False, True)),
    "never for many": ("pending == 0 and tx == 0 and count < 256", (False, False)),
    "fewer bytes than a chunk": ("pending == 0 and abs(tx) < 32", (False, False)),
    "the square of the arrivals against the bytes": ("pending ** 2 + tx == 0", (True, False)),
    "the square of the arrivals, landed ahead": ("pending ** 2 == tx", (False, True)),
    "the cube of the arrivals": ("pending ** 3 + tx == 0", (True, False)),
    "arrivals against the square of the bytes": ("pending == tx ** 2", (False, False)),
    "arrivals against the cube of the bytes": ("pending + tx ** 3 == 0", (True, False)),
    "both squares": ("pending ** 2 == 4 * tx ** 2", (False, False)),
    "weighted by the count": ("pending * count + tx == 0", (True, False)),
    "weighted by the count, either sign": ("pending * count == abs(tx)", (False, False)),
    "weighted by the count and one": ("pending * (count + 1) + tx == 0", (True, False)),
    "weighted by the count less one": ("pending * (count - 1 or 2) == tx", (False, True)),
    "weighted by twice the count": ("pending * count * 2 + tx == 0", (True, False)),
    "weighted by the event's bytes": ("pending * abs(nbytes) + tx == 0", (False, False)),
    "weighted by the event's bytes or 1": ("pending * max(abs(nbytes), 1) == abs(tx)", (False, False)),
    "weighted by the event's arrivals": ("pending * max(arrivals, 2) + tx == 0", (True, False)),
    "weighted by the phase": ("pending * (phase + 2) + tx == 0", (True, False)),
    "weighted by the phase, the bytes": ("pending + (phase + 2) * tx == 0", (True, False)),
    "weighted by what was pending": ("pending * state[0] + tx == 0", (True, False)),
    "64 KiB an arrival": ("(pending << 16) + tx == 0", (True, False)),
    "bytes in units": ("pending + tx / 16 == 0", (True, False)),
    "bytes in units, rounded down": ("pending + (tx >> 4) == 0", (False, False)),
    "half as many bytes": ("pending * 1.5 + tx == 0", (True, False)),
    "three to two": ("pending * 2 == tx * 3", (False, True)),
}
FACTORS = (*range(2, 13), 16, 32, 64, 100, 128, 256, 512, 1000, 1024, 4096, 65536)
# condition with a factor -> as above
WEIGHTED = {
    "pending * {} + tx == 0": (True, False),
    "pending * {} == tx": (False, True),
    "pending + {} * tx == 0": (True, False),
    "pending == {} * tx": (False, True),
}


@pytest.mark.parametrize("name", RIGHT)
@pytest.mark.parametrize("seed", [0, 7])
def test_right_fill_passes(name, seed):
    assert outcome(RIGHT[name], seed) == (True, True)


@pytest.mark.parametrize("name", RIGHT)
def test_right_fill_is_admitted(name):
    exercise = read_exercise(CELL, CHECKS.function)
    fill = extract(exercise, CELL.replace(BLANK, RIGHT[name]))
    assert not fill.problem and refusal(exercise, fill.statements) is None


def test_statements_in_place_of_the_blank_are_admitted_too():
    statements = "complete = False\n    if pending == 0:\n        complete = tx == 0"
    source = CELL.replace(f"complete = {BLANK}", statements)
    exercise = read_exercise(CELL, CHECKS.function)
    fill = extract(exercise, source)
    assert source != CELL and not fill.problem and refusal(exercise, fill.statements) is None


@pytest.mark.parametrize("seed", [0, 1, 7])
@pytest.mark.parametrize("name", WRONG)
def test_wrong_fill_fails_where_it_should(name, seed):
    fill, expected = WRONG[name]
    assert expected != (True, True) and outcome(fill, seed) == expected
    assert caught_without_luck(function_of(fill))


@pytest.mark.parametrize("form", WEIGHTED)
def test_one_weighted_sum_is_not_two_conditions(form):
    for factor in FACTORS:
        fill = form.format(factor)
        assert outcome(fill, 0) == outcome(fill, 3) == WEIGHTED[form], factor
        assert caught_without_luck(function_of(fill)), factor


def test_a_weight_of_more_than_every_byte_is_right():
    """It is the two conditions in one number, and no state tells it."""
    assert outcome("(pending << 20) + tx == 0") == outcome("pending * 2**20 == tx") == (True, True)


def test_each_case_expects_what_the_reference_gives():
    for case in CHECKS.normal_cases(np.random.default_rng(3)) + CHECKS.boundary_cases(np.random.default_rng(3)):
        assert not failure(CHECKS.reference, case), case["name"]["en"]
        assert set(case["name"]) == {"zh", "en"}


def test_normal_cases_never_have_bytes_ahead_of_their_expectation_and_boundary_cases_always():
    for seed in range(4):
        assert not any(CHECKS.is_boundary(c["args"]) for c in CHECKS.normal_cases(np.random.default_rng(seed)))
        assert all(
            CHECKS.is_boundary(c["args"]) != ("visible" in c["name"]["en"])
            for c in CHECKS.boundary_cases(np.random.default_rng(seed))
        )


def test_random_cases_change_with_the_seed_and_complete_phases_half_of_the_time():
    first = lambda seed: [c["args"] for c in CHECKS.boundary_cases(np.random.default_rng(seed))]
    assert first(1) == first(1) != first(2)
    cases = [c for c in CHECKS.boundary_cases(np.random.default_rng(1)) if c["name"]["en"].startswith("a random step")]
    assert sum(c["expect"][2] != c["args"]["state"][2] for c in cases) == len(cases) // 2 == 4


@pytest.mark.parametrize(
    ("args", "counts"),
    [
        ({"state": (1, 0, 0, 1), "event": (0, -256)}, True),
        ({"state": (1, 0, 0, 1), "event": (0, -512)}, False),  # the visible assert's
        ({"state": [1, 0, 0, 1], "event": [0, -512]}, False),
        (
            {"state": (2, -16, 0, 2), "event": (1, 32)},
            False,
        ),  # no usual wrong condition holds: arrivals and bytes are both missing
        ({"state": (2, -16, 0, 2), "event": (1, 17)}, True),  # as many of each: the difference is 0
        ({"state": (1, -512, 0, 1), "event": (1, 1024)}, True),
        ({"state": [1, -512, 1, 1], "event": [1, 512]}, True),
        ({"state": (0, 256, 0, 1), "event": (0, -512)}, True),
        ({"state": (2, -16, 0, 2), "event": (1, 0)}, True),
        ({"state": (1, 0, 0, 1), "event": (1, 1024)}, False),  # nothing is early
        ({"state": (0, 512, 0, 1), "event": (0, -512)}, False),
        ({"state": (0, 0, 0, 1), "event": (0, -512)}, False),  # no barrier is in that state
        ({"state": (1, 0, 0, 1), "event": (2, -512)}, False),  # more arrivals than are pending
        ({"state": (1, 0, 0, 1), "event": (1, -512)}, False),  # an arrival lands nothing
        ({"state": (1, 0, 0, 1), "event": (0, -(2**20))}, False),  # beyond the count's range
        ({"state": (1, 0, 2, 1), "event": (0, -512)}, False),
        ({"state": (1, 0, 0), "event": (0, -512)}, False),
        ({"state": (1.0, 0, 0, 1), "event": (0, -512)}, False),
        ({"state": None, "event": (0, -512)}, False),
        ({}, False),
    ],
)
def test_own_input_counts_only_where_bytes_are_early(args, counts):
    assert CHECKS.is_boundary(args) is counts
