"""Lesson 8's hidden checks: every plausible wrong fill fails, every right style is admitted and passes."""

from __future__ import annotations

import math

import numpy as np
import pytest

from autograder.lesson.checks import load_checks
from autograder.lesson.store import find_lesson
from autograder.lint.hidden import fixed_cases
from tests.support import fills

CHECKS = load_checks(find_lesson("8") / "checks.py")


def function_of(fill: str):
    space = {"np": np, "math": math, "WARPGROUP": 128}
    exec(f"def accumulator_registers(tile_m, tile_n, consumer_warpgroups):\n    return {fill}\n", space)
    return space["accumulator_registers"]


def outcome(fill: str, seed: int = 7) -> tuple[bool, bool]:
    return fills.outcome(CHECKS, function_of(fill), seed)


RIGHT = {
    "the reference": "tile_m * tile_n // (WARPGROUP * consumer_warpgroups)",
    "a number": "tile_m * tile_n // (128 * consumer_warpgroups)",
    "true division": "tile_m * tile_n / (128 * consumer_warpgroups)",
    "int of it": "int(tile_m * tile_n / WARPGROUP / consumer_warpgroups)",
    "one after the other": "tile_m * tile_n // WARPGROUP // consumer_warpgroups",
    "rows of a warpgroup": "(tile_m // consumer_warpgroups) * tile_n // 128",
    "slabs of 64 rows": "tile_m // 64 // consumer_warpgroups * (tile_n // 2)",
    "slabs of 64 rows, another order": "tile_n // 2 * (tile_m // (64 * consumer_warpgroups))",
    "warps": "tile_m * tile_n // (4 * 32 * consumer_warpgroups)",
    "rounded up": "math.ceil(tile_m * tile_n / (128 * consumer_warpgroups))",
    "rounded up without math": "-(-tile_m * tile_n // (128 * consumer_warpgroups))",
    "numpy": "np.prod([tile_m, tile_n]) // (128 * consumer_warpgroups)",
    "bytes over bytes": "tile_m * tile_n * 4 // (128 * consumer_warpgroups * 4)",
}

# fill -> (normal cases pass, boundary cases pass)
WRONG = {
    "all threads of a warp only": ("tile_m * tile_n // (32 * consumer_warpgroups)", (False, False)),
    "groups forgotten": ("tile_m * tile_n // 128", (False, False)),
    "groups multiply": ("tile_m * tile_n * consumer_warpgroups // 128", (False, False)),
    "sum for product": ("(tile_m + tile_n) // consumer_warpgroups", (False, False)),
    "half precision": ("tile_m * tile_n // (256 * consumer_warpgroups)", (False, False)),
    "the producer counted": ("tile_m * tile_n // (128 * (consumer_warpgroups + 1))", (False, False)),
    "always two groups": ("tile_m * tile_n // 256", (False, False)),
    "cut off at 255": ("min(255, tile_m * tile_n // (128 * consumer_warpgroups))", (True, False)),
    "cut off at what fits": ("min(229, tile_m * tile_n // (128 * consumer_warpgroups))", (True, False)),
    "None where it does not fit": (
        "tile_m * tile_n // (128 * consumer_warpgroups) if tile_m * tile_n // (128 * consumer_warpgroups) <= 255 else None",
        (True, False),
    ),
    "the other registers added": ("tile_m * tile_n // (128 * consumer_warpgroups) + 26", (False, False)),
    "steps of 8, as setmaxnreg": ("tile_m * tile_n // (128 * consumer_warpgroups) // 8 * 8", (None, False)),
    "steps of 8, rounded up": ("(tile_m * tile_n // (128 * consumer_warpgroups) + 7) // 8 * 8", (None, False)),
    "64 rows assumed": ("tile_n // 2", (False, False)),
    "64 rows a group assumed, groups divided": ("tile_n // (2 * consumer_warpgroups)", (False, False)),
    "only the visible tile": ("tile_m // 2 * (3 - consumer_warpgroups) if tile_m == 256 else 128", (False, False)),
    "square tiles": ("tile_m * tile_m // (128 * consumer_warpgroups)", (False, False)),
    "bytes": ("tile_m * tile_n * 4 // (128 * consumer_warpgroups)", (False, False)),
    "operands": ("(tile_m + tile_n) * 64 // (128 * consumer_warpgroups)", (False, False)),
    "the block's share": ("65536 // (128 * (consumer_warpgroups + 1))", (False, False)),
    "two groups at most": ("tile_m * tile_n // (128 * min(2, consumer_warpgroups))", (False, False)),
    "four groups at most": ("tile_m * tile_n // (128 * min(consumer_warpgroups, 4))", (False, False)),
    "1024 rows at most": ("min(tile_m, 1024) * tile_n // (128 * consumer_warpgroups)", (False, False)),
    "the low 10 bits of the rows": ("(tile_m & 1023) * tile_n // (128 * consumer_warpgroups)", (False, False)),
    "1024 registers at most": ("min(tile_m * tile_n // (128 * consumer_warpgroups), 1024)", (True, False)),
    "255 rows of the groups at most": ("tile_m // min(255, 64 * consumer_warpgroups) * (tile_n // 2)", (None, False)),
    "one height wrong": ("tile_m * tile_n // (128 * consumer_warpgroups) if tile_m != 832 else 0", (True, False)),
    "one tall one wrong": ("tile_m * tile_n // (128 * consumer_warpgroups) if tile_m != 3008 else 0", (True, False)),
    "one width wrong": ("tile_m * tile_n // (128 * consumer_warpgroups) if tile_n != 32 else 0", (None, False)),
    "some widths wrong": (
        "tile_m * tile_n // (128 * consumer_warpgroups) if tile_n not in (48, 80, 96, 144, 208) else 0",
        (False, False),
    ),
    "columns shared out": ("tile_m // 64 * (tile_n // consumer_warpgroups // 8) * 4", (None, False)),
}


@pytest.mark.parametrize("name", RIGHT)
@pytest.mark.parametrize("seed", [0, 7])
def test_right_fill_passes(name, seed):
    assert outcome(RIGHT[name], seed) == (True, True)


@pytest.mark.parametrize("name", WRONG)
@pytest.mark.parametrize("seed", [0, 7])
def test_wrong_fill_fails_where_it_should(name, seed):
    fill, expected = WRONG[name]
    got = outcome(fill, seed)
    assert got != (True, True)
    assert all(want is None or is_ == want for is_, want in zip(got, expected)), got
    assert fills.caught_without_luck(CHECKS, function_of(fill))


def test_each_case_is_what_a_thread_of_wgmma_holds():
    """m64nN gives N / 2 a thread; a warpgroup does tile_m / groups / 64 of them."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        for case in CHECKS.normal_cases(rng) + CHECKS.boundary_cases(rng):
            m, n, groups = case["args"].values()
            slabs, rest = divmod(m, 64 * groups)
            assert not rest and n % 8 == 0 and n <= 256
            assert case["expect"] == slabs * (n // 2) and isinstance(case["expect"], int)
            assert set(case["name"]) == {"zh", "en"}


def test_every_height_width_and_number_of_warpgroups_stands_in_each_draw():
    heights, widths, groups = map(set, zip(*(c["args"].values() for c in fixed_cases(CHECKS))))
    assert heights == set(range(64, 4097, 64)) and widths == set(range(8, 257, 8)) and groups == set(range(1, 8))


def test_cases_are_the_same_for_the_same_seed_and_differ_between_seeds():
    first = lambda seed: [c["args"] for c in CHECKS.normal_cases(np.random.default_rng(seed))]
    assert first(1) == first(1) != first(2)


@pytest.mark.parametrize(
    ("tile", "counts"),
    [
        ((256, 128, 1), True),
        ((128, 256, 1), True),
        ((256, 256, 2), True),
        ((192, 160, 1), True),  # 240: below 255, and spills
        ((64 * 7, 64, 1), True),  # 224: fits, one step more does not
        ((128, 224, 1), False),  # likewise, but a visible assert's
        ((128, 232, 1), False),  # a visible assert's
        ((256, 224, 2), False),  # a visible assert's
        ((256, 112, 1), True),
        ((128, 216, 1), False),  # 8 more columns still fit
        ((256, 216, 2), True),  # 216 + 26 is past the 240 that setmaxnreg can give two warpgroups
        ((256, 208, 2), True),
        ((256, 200, 2), False),
        ((128, 128, 1), False),
        ((64, 64, 1), False),
        ((128, 256, 2), False),
        ((192, 256, 2), False),  # two warpgroups cannot share three slabs
        ((256, 130, 1), False),  # no width of wgmma
        ((128, 512, 1), False),
        ((256.0, 128, 1), False),
        ((256, 128, 0), False),
        ((True, 128, 1), False),
    ],
)
def test_own_input_counts_only_near_the_limit(tile, counts):
    args = dict(zip(("tile_m", "tile_n", "consumer_warpgroups"), tile))
    assert CHECKS.is_boundary(args) is counts


def test_no_arguments_is_no_boundary():
    assert CHECKS.is_boundary({}) is False
