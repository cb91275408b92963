"""Lesson 5's hidden checks: every plausible wrong fill fails where it should, every right style passes and is admitted."""

from __future__ import annotations

import math

import numpy as np
import pytest

from autograder.lesson.checks import load_checks
from autograder.lesson.store import find_lesson
from autograder.lint.hidden import fixed_cases
from kernels.specs.wgmma import coordinates
from tests.support import fills

CHECKS = load_checks(find_lesson("5") / "checks.py")

# The cell gives warp and lane; a fill is the returned expression.
RIGHT = {
    "the reference": "16 * warp + 8 * (register // 2 % 2) + lane // 4, 8 * (register // 4) + 2 * (lane % 4) + register % 2",
    "in brackets": "(16 * warp + lane // 4 + register // 2 % 2 * 8, register // 4 * 8 + lane % 4 * 2 + register % 2)",
    "a list": "[lane // 4 + 16 * warp + 8 * ((register % 4) // 2), 2 * (thread % 4) + 8 * (register // 4) + (register & 1)]",
    "bits": "((thread >> 5) << 4 | (register & 2) << 2 | (thread >> 2 & 7), (register >> 2) << 3 | (thread & 3) << 1 | register & 1)",
    "from the thread alone": "(thread // 32 * 16 + thread % 32 // 4 + (8 if register % 4 >= 2 else 0), register // 4 * 8 + thread % 4 * 2 + register % 2)",
    "divmod": "(16 * warp + divmod(lane, 4)[0] + 8 * (divmod(register, 4)[1] > 1), 8 * divmod(register, 4)[0] + 2 * divmod(lane, 4)[1] + register % 2)",
    "a table for the pair": "(16 * warp + lane // 4 + (0, 0, 8, 8)[register % 4], 8 * (register // 4) + 2 * (lane % 4) + (0, 1, 0, 1)[register % 4])",
    "by NumPy": "np.array([16 * warp + 8 * (register // 2 % 2) + lane // 4, 8 * (register // 4) + 2 * (lane % 4) + register % 2]).tolist()",
}
# fill -> (normal cases pass, boundary cases pass)
WRONG = {
    "row and column exchanged": (
        "8 * (register // 4) + 2 * (lane % 4) + register % 2, 16 * warp + 8 * (register // 2 % 2) + lane // 4",
        (False, False),
    ),
    "no lower pair": ("16 * warp + lane // 4, 8 * (register // 4) + 2 * (lane % 4) + register % 2", (False, False)),
    "lower pair 1 row down": (
        "16 * warp + lane // 4 + register // 2 % 2, 8 * (register // 4) + 2 * (lane % 4) + register % 2",
        (False, False),
    ),
    "half and side exchanged": (
        "16 * warp + 8 * (register % 2) + lane // 4, 8 * (register // 4) + 2 * (lane % 4) + register // 2 % 2",
        (False, False),
    ),
    "registers of a thread in one row": (
        "16 * warp + lane // 4, 2 * (lane % 4) + register % 2 + 8 * (register // 2)",
        (False, False),
    ),
    "thread instead of lane": (
        "16 * warp + 8 * (register // 2 % 2) + thread // 4, 8 * (register // 4) + 2 * (lane % 4) + register % 2",
        (False, False),
    ),
    "warp 0's map for all": (
        "8 * (register // 2 % 2) + lane // 4, 8 * (register // 4) + 2 * (lane % 4) + register % 2",
        (False, False),
    ),
    "warps 8 rows apart": (
        "8 * warp + 8 * (register // 2 % 2) + lane // 4, 8 * (register // 4) + 2 * (lane % 4) + register % 2",
        (False, False),
    ),
    "warps 32 rows apart": (
        "32 * warp + 8 * (register // 2 % 2) + lane // 4, 8 * (register // 4) + 2 * (lane % 4) + register % 2",
        (False, False),
    ),
    "lane modulo 8": (
        "16 * warp + 8 * (register // 2 % 2) + lane % 8, 8 * (register // 4) + 2 * (lane // 8) + register % 2",
        (False, False),
    ),
    "2 * lane % 4": (
        "16 * warp + 8 * (register // 2 % 2) + lane // 4, 8 * (register // 4) + 2 * lane % 4 + register % 2",
        (False, False),
    ),
    "one column a thread": (
        "16 * warp + 8 * (register // 2 % 2) + lane // 4, 8 * (register // 4) + lane % 4 + 4 * (register % 2)",
        (False, False),
    ),
    "four columns a group": (
        "16 * warp + 8 * (register // 2 % 2) + lane // 4, 4 * (register // 4) + 2 * (lane % 4) + register % 2",
        (False, False),
    ),
    "only the first 8 columns": (
        "16 * warp + 8 * (register // 2 % 2) + lane // 4, 2 * (lane % 4) + register % 2",
        (False, False),
    ),
    "columns wrap at 128": (
        "16 * warp + 8 * (register // 2 % 2) + lane // 4, (8 * (register // 4) + 2 * (lane % 4) + register % 2) % 128",
        (False, False),
    ),
    "group of registers missing the last": (
        "16 * warp + 8 * (register // 2 % 2) + lane // 4, min(8 * (register // 4) + 2 * (lane % 4) + register % 2, 254)",
        (True, False),
    ),
    "right up to N = 128": (
        "16 * warp + 8 * (register // 2 % 2) + lane // 4, 8 * (register % 64 // 4) + 2 * (lane % 4) + register % 2",
        (False, False),
    ),
    "a row a thread": ("thread // 2, register + 64 * (thread % 2)", (False, False)),
    "counted from 1": (
        "1 + 16 * warp + 8 * (register // 2 % 2) + lane // 4, 1 + 8 * (register // 4) + 2 * (lane % 4) + register % 2",
        (False, False),
    ),
    "the visible cases only": (
        "{(0, 0): (0, 0), (5, 2): (9, 2), (127, 3): (63, 7)}.get((thread, register))",
        (False, False),
    ),
    "the corner by hand": (
        "(63, 2 * register + 1) if thread == 127 else (16 * warp + lane // 4, 8 * (register // 4) + 2 * (lane % 4) + register % 2)",
        (False, False),
    ),
    "the last warp unlike the others": (
        "16 * warp + (8 * (register // 2 % 2) if thread < 96 else register // 2 % 2) + lane // 4, 8 * (register // 4) + 2 * (lane % 4) + register % 2",
        (False, False),
    ),
    "right up to 40 columns": (
        "16 * warp + 8 * (register // 2 % 2) + lane // 4, 8 * min(register // 4, 4) + 2 * (lane % 4) + register % 2",
        (False, False),
    ),
    "one register wrong": (
        "(16 * warp + 8 * (register // 2 % 2) + lane // 4 if register != 77 else 0, 8 * (register // 4) + 2 * (lane % 4) + register % 2)",
        (False, True),
    ),
    "one thread wrong": (
        "(16 * warp + 8 * (register // 2 % 2) + lane // 4, 8 * (register // 4) + 2 * (lane % 4) + register % 2 if thread != 50 else 0)",
        (False, True),
    ),
    "true division": (
        "16 * warp + 8 * (register / 2 % 2) + lane // 4, 8 * (register // 4) + 2 * (lane % 4) + register % 2",
        (False, False),
    ),
    "one number": (
        "(16 * warp + 8 * (register // 2 % 2) + lane // 4) * 256 + 8 * (register // 4) + 2 * (lane % 4) + register % 2",
        (False, False),
    ),
}


def function_of(fill: str):
    space = {"np": np, "math": math}
    exec(
        f"def accumulator_coord(thread, register):\n    warp, lane = thread // 32, thread % 32\n    return {fill}\n",
        space,
    )
    return space["accumulator_coord"]


def outcome(fill: str, seed: int = 7) -> tuple[bool, bool]:
    return fills.outcome(CHECKS, function_of(fill), seed)


@pytest.mark.parametrize("name", RIGHT)
@pytest.mark.parametrize("seed", [0, 7])
def test_right_fill_passes(name, seed):
    assert outcome(RIGHT[name], seed) == (True, True)


@pytest.mark.parametrize("name", WRONG)
@pytest.mark.parametrize("seed", [0, 7, 2026])
def test_wrong_fill_fails_where_it_should(name, seed):
    fill, expected = WRONG[name]
    assert outcome(fill, seed) == expected
    assert fills.caught_without_luck(CHECKS, function_of(fill))


def test_every_thread_and_every_register_stands_in_each_draw():
    fixed = [c["args"] for c in fixed_cases(CHECKS)]
    assert {a["thread"] for a in fixed} == {a["register"] for a in fixed} == set(range(128))


def test_the_reference_is_the_kernels():
    assert all(CHECKS.reference(t, r) == coordinates(t, r) for t in range(128) for r in range(128))


def test_every_case_is_named_in_both_languages_and_drawn_by_its_seed():
    def drawn(seed):
        rng = np.random.default_rng(seed)
        return [tuple(c["args"].values()) for c in CHECKS.normal_cases(rng) + CHECKS.boundary_cases(rng)]

    for case in CHECKS.normal_cases(np.random.default_rng(1)) + CHECKS.boundary_cases(np.random.default_rng(1)):
        assert set(case["name"]) == {"zh", "en"} and case["expect"] == coordinates(**case["args"])
    assert drawn(1) == drawn(1) != drawn(2)


@pytest.mark.parametrize(
    ("args", "counts"),
    [
        ({"thread": 127, "register": 3}, True),
        ({"thread": 127, "register": 127}, True),
        ({"thread": 127, "register": 63}, True),
        ({"thread": 127, "register": 7}, False),  # N = 16: the visible assert's
        ({"thread": 127, "register": 31}, False),  # N = 64: (63, 63)
        ({"thread": 127, "register": 2}, False),
        ({"thread": 127, "register": 131}, False),
        ({"thread": 128, "register": 3}, False),
        ({"thread": 0, "register": 127}, False),
        ({"thread": 127.0, "register": 3}, False),
        ({"thread": True, "register": 3}, False),
        ({"thread": 127}, False),
        ({"thread": 127, "register": 127, "n": 256}, False),
        ({}, False),
    ],
)
def test_own_input_counts_only_at_the_last_corner_of_a_tile(args, counts):
    assert CHECKS.is_boundary(args) is counts


def test_the_names_of_checks_that_feedback_shows_tell_no_drawn_value():
    names = [
        {tuple(c["name"].values()) for c in make(np.random.default_rng(seed))}
        for seed in range(5)
        for make in (CHECKS.normal_cases, CHECKS.boundary_cases)
    ]
    assert names[0] == names[2] == names[8] and names[1] == names[3] == names[9]
    assert not any("register 2" in en or "thread 8" in en for _, en in names[0])


def test_the_corner_of_n_64_does_not_tell_row_from_column():
    assert CHECKS.reference(127, 31) == CHECKS.reference(127, 31)[::-1]
