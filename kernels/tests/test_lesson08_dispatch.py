"""Lesson 8: every tile configuration, the choice between them, and the one that does not fit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from part1 import functions_are_told_apart, hold_to_float64, lines_are_told_apart

from kernels import ArgumentError, nvrtc
from kernels.kernel import load
from kernels.sources import load_source
from kernels.specs.gemm_dispatch import CONFIGS, SPILLS, accumulator_registers, choose, example, launch_of

WRONG = {
    "all threads of a warp only": lambda m, n, groups: m * n // (32 * groups),
    "groups forgotten": lambda m, n, groups: m * n // 128,
    "groups multiply": lambda m, n, groups: m * n * groups // 128,
    "sum for product": lambda m, n, groups: (m + n) // groups,
    "half precision": lambda m, n, groups: m * n // (256 * groups),
    "the producer counted": lambda m, n, groups: m * n // (128 * (groups + 1)),
}


@pytest.mark.emulator
def test_against_float64():
    hold_to_float64("gemm_dispatch", len(CONFIGS) + 3)


@pytest.mark.emulator
def test_the_exercise():
    functions_are_told_apart("gemm_dispatch", accumulator_registers, WRONG, count=4)


@pytest.mark.emulator
def test_the_challenge():
    wrong = {
        "groups forgotten": "constexpr int ACCUMULATORS = TILE_M * TILE_N / WARPGROUP;",
        "half": "constexpr int ACCUMULATORS = TILE_M * TILE_N / (2 * CONSUMERS * WARPGROUP);",
        "a warp": "constexpr int ACCUMULATORS = TILE_M * TILE_N / (CONSUMERS * 32);",
    }
    lines_are_told_apart(
        "gemm_dispatch", ["constexpr int ACCUMULATORS = TILE_M / CONSUMERS * TILE_N / 128;"], wrong, count=3
    )


def test_configurations_fit_and_the_spilling_one_says_why_not():
    for c in CONFIGS.values():
        assert not c.fits() and c.tile_m % (64 * c.consumers) == 0
        assert c.at_launch * c.threads * c.blocks <= 65536
    assert SPILLS.accumulators == 256 and "255 registers for everything" in SPILLS.fits()


@settings(max_examples=80, deadline=None)
@given(st.integers(1, 20000), st.integers(1, 20000), st.integers(1, 200))
def test_the_choice_is_a_configuration_and_never_dominated(m, n, sms):
    """No other configuration of at least its intensity has fewer elements on its busiest SM."""
    c = choose(m, n, sms)
    assert c in CONFIGS.values()
    work = lambda x: -(-x.tiles(m, n) // sms) * x.tile_m * x.tile_n
    intensity = lambda x: x.tile_m * x.tile_n / (x.tile_m + x.tile_n)
    assert not any(intensity(x) >= intensity(c) and work(x) < work(c) for x in CONFIGS.values())


def test_measured_rates_change_the_choice():
    """With all weight on one configuration's rate it wins where tiles are plenty."""
    rates = {name: 1.0 for name in CONFIGS} | {"64x256": 50.0}
    assert choose(8192, 8192, 132, rates).name == "64x256"


@pytest.mark.nvrtc
def test_256_accumulators_spill():
    """The compiler's own word: one warpgroup cannot hold 256 x 128; two can."""
    build = lambda c: nvrtc.compile_source(load_source("gemm_dispatch.cu"), {**c.defines, "OUT": "bf16"})
    spilled, whole = build(SPILLS), build(CONFIGS["256x128"])
    assert spilled.resources["gemm_dispatch"].spill_stores > 256 and any("C7511" in r for r in spilled.remarks)
    assert whole.resources["gemm_dispatch"].spill_stores == 0 and not whole.remarks


@pytest.mark.nvrtc
def test_one_wide_wgmma_needs_its_registers_at_launch():
    """setmaxnreg does not help the compiler: with two blocks an SM, 128 registers at launch, m64n256 is refused (C7602)."""
    from dataclasses import replace

    from kernels import CompileError

    with pytest.raises(CompileError, match="154"):
        nvrtc.compile_source(
            load_source("gemm_dispatch.cu"), {**replace(CONFIGS["64x256"], blocks=2, stages=2).defines, "OUT": "bf16"}
        )


def test_refusals():
    given_, _ = example(np.random.default_rng(0), 8, 8, 8)
    with pytest.raises(ArgumentError, match="config must be one of"):
        load("gemm_dispatch", "emulator")(*given_, config="512x512")
    from dataclasses import replace

    with pytest.raises(ArgumentError, match="shared memory"):
        launch_of(replace(CONFIGS["128x256"], stages=5), *given_, given_[0], None, (8, 8, 8), "fp32")
