"""Lesson 5: one tile by wgmma, the fragment map read off its own output, the rate kernel, defects."""

import numpy as np
import pytest
from part1 import defect_is_reported, functions_are_told_apart, hold_to_float64, lines_are_told_apart

from kernels import ArgumentError
from kernels.arrays import DTYPES
from kernels.kernel import load
from kernels.spec import get_spec
from kernels.specs.wgmma import SOURCES, coordinates, elements_a_step, fragment_map, index_operands

pytestmark = pytest.mark.emulator
WRONG = {
    "row and column swapped": lambda t, r: coordinates(t, r)[::-1] if coordinates(t, r)[1] < 64 else (0, 0),
    "second pair not 8 rows down": lambda t, r: (coordinates(t, r)[0] - 8 * (r // 2 % 2), coordinates(t, r)[1]),
    "one column a thread": lambda t, r: (coordinates(t, r)[0], 8 * (r // 4) + t % 4 + 4 * (r % 2)),
    "warps 8 rows apart": lambda t, r: (coordinates(t, r)[0] - 8 * (t // 32), coordinates(t, r)[1]),
    "columns 4 a step": lambda t, r: (
        coordinates(t, r)[0],
        4 * (r // 4) + 2 * (t % 4) + r % 2 if 4 * (r // 4) + 7 < 8 else 0,
    ),
    "one warp's map for all": lambda t, r: coordinates(t % 32, r),
}


@pytest.mark.parametrize("name", ["wgmma_tile", "wgmma_rate"])
def test_against_float64(name):
    hold_to_float64(name, 8 if name == "wgmma_tile" else 3)


@pytest.mark.parametrize("a_from", SOURCES)
@pytest.mark.parametrize("n", [8, 24, 256])
def test_the_fragment_map_is_the_kernels_own(n, a_from):
    """The product of the index matrices puts each register's coordinates into it: nothing is assumed."""
    seen = fragment_map(load("wgmma_tile", "emulator")(*index_operands(n), a_from=a_from)[1])
    assert seen.shape == (128, n // 2, 2)
    assert (seen == np.array([[coordinates(t, r) for r in range(n // 2)] for t in range(128)])).all()
    assert len({tuple(c) for c in seen.reshape(-1, 2)}) == 64 * n  # a bijection
    assert tuple(seen[127, -1]) == (63, n - 1)


def test_k_of_one_instruction_is_256_bits():
    assert {d: elements_a_step(d) for d in ("bf16", "fp16", "fp32", "e4m3")} == {
        "bf16": 16,
        "fp16": 16,
        "fp32": 8,
        "e4m3": 32,
    }


def test_tf32_drops_bits_and_the_reference_knows():
    """An fp32 operand with all its bits: the result is the product of the truncated operands, not of the full ones."""
    a, b = np.full((64, 32), 1 + 2.0**-11, np.float32), np.ones((8, 32), np.float32)
    d, _ = load("wgmma_tile", "emulator")(a, b)
    assert (d == 32.0).all()


def test_the_exercise():
    functions_are_told_apart("wgmma_tile", coordinates, WRONG, count=3)


def test_the_challenge():
    wrong = {
        "swapped": "const Coordinates at = {(8 * (r / 4) + 2 * (t % 4) + r % 2) % 64, (16 * (t / 32) + t % 32 / 4) % TILE_N};",
        "no 8 rows": "const Coordinates at = {16 * (t / 32) + t % 32 / 4, 8 * (r / 4) + 2 * (t % 4) + r % 2};",
        "lane modulo 8": "const Coordinates at = {16 * (t / 32) + t % 8 + 8 * (r / 2 % 2), 8 * (r / 4) + 2 * (t % 4) + r % 2};",
    }
    right = ["const Coordinates at = {accumulator_row(t, r), accumulator_column(t, r)};"]
    lines_are_told_apart("wgmma_tile", right, wrong, count=2)


@pytest.mark.parametrize("bug", get_spec("wgmma_tile").bugs)
def test_defects(bug):
    rules = {f.rule for r in defect_is_reported("wgmma_tile", bug) for f in r.findings}
    assert {"read_before_wgmma_wait": "accumulator-in-flight", "no_proxy_fence": "missing-proxy-fence"}[bug] in rules


def test_the_rate_kernel_counts_each_repeat():
    """Twice the repeats, twice the sums; RS and SS give the same."""
    rng = np.random.default_rng(3)
    a, b = (rng.standard_normal((rows, 64)).astype(DTYPES["bf16"]) for rows in (128, 24))
    kernel = load("wgmma_rate", "emulator", sms=1)
    one = kernel(a, b, repeats=3)
    assert np.allclose(kernel(a, b, repeats=6), 2 * one, rtol=1e-5, atol=1e-3)
    assert np.array_equal(kernel(a, b, repeats=3, a_from="registers"), one)


def test_refusals():
    a, b = index_operands(16)
    for args, params, rule in (
        ((a[:32].copy(), b), {}, r"a is \(64, K\)"),
        ((a, np.ones((7, 64), DTYPES["bf16"])), {}, "N one of"),
        ((a, b.astype(np.float32)), {}, "b must hold bf16"),
        ((a, b), {"a_from": "global"}, "a_from must be one of"),
    ):
        with pytest.raises(ArgumentError, match=rule):
            load("wgmma_tile", "emulator")(*args, **params)
