"""Lesson 6: the ring of 1 to 7 stages, its places, its defects by seed, its timeline."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from part1 import POLICIES, defect_is_reported, functions_are_told_apart, hold_to_float64, lines_are_told_apart

from kernels import ArgumentError, races
from kernels.kernel import load
from kernels.spec import get_spec
from kernels.specs.ring_pipeline import MOST_STAGES, advance, example, laps, shared_bytes, walk

pytestmark = pytest.mark.emulator
WRONG = {
    "phase never flips": lambda i, p, s: ((i + 1) % s, p),
    "phase flips each step": lambda i, p, s: ((i + 1) % s, p ^ 1),
    "wraps one late": lambda i, p, s: (0, p ^ 1) if i == s else (i + 1, p),
    "wraps one early": lambda i, p, s: (0, p ^ 1) if i + 2 >= s else (i + 1, p),
    "phase set, not flipped": lambda i, p, s: (0, 1) if i + 1 == s else (i + 1, p),
    "never wraps": lambda i, p, s: (i + 1, p),
    "power of two only": lambda i, p, s: ((i + 1) & (s - 1), p ^ (i + 1 == s)),
    "phase counts laps": lambda i, p, s: (0, p + 1) if i + 1 == s else (i + 1, p),
}


def test_against_float64():
    hold_to_float64("ring_pipeline", 12)


@pytest.mark.parametrize("policy", POLICIES)
def test_clean_at_every_policy_with_few_stages(policy):
    """One stage and two are where a ring goes wrong first; more laps than the parity bit can count."""
    for stages in (1, 2):
        kernel = load("ring_pipeline", "emulator", seed=stages, policy=policy)
        arrays, params = example(np.random.default_rng(3), 70, 40, 64 * 9 + 5, stages)
        d, places = kernel(*arrays, **params)
        assert kernel.report.clean and np.array_equal(places, walk(advance, 10, stages))


def test_the_exercise():
    functions_are_told_apart("ring_pipeline", advance, WRONG, count=4)


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 9), st.integers(0, 60))
def test_advance_is_division(stages, k):
    """After k steps: index k mod stages, phase the lowest bit of k div stages."""
    place = (0, 0)
    for _ in range(k):
        place = advance(*place, stages)
    assert place == (k % stages, k // stages % 2)


@pytest.mark.parametrize("bug", get_spec("ring_pipeline").bugs)
def test_defects(bug):
    defect_is_reported("ring_pipeline", bug)


def test_early_release_is_right_numbers_under_a_friendly_schedule():
    """And wrong ones at some seeds of others: why one run of a test proves little."""
    given_, params = laps(np.random.default_rng(0))
    run = lambda policy, seed: (
        races.run_once("ring_pipeline", "empty_before_wgmma_wait", policy, seed, False, given_, params).status
    )
    assert run("friendly", 0) == "right"
    assert "wrong numbers" in {run("random", seed) for seed in range(4)}


def test_the_challenge():
    wrong = {
        "no phase": "Place next = {(p.index + 1) % STAGES, p.phase};",
        "flips each step": "Place next = {(p.index + 1) % STAGES, p.phase ^ 1};",
        "one late": "Place next = {p.index == STAGES ? 0 : p.index + 1, p.index == STAGES ? p.phase ^ 1 : p.phase};",
        "set": "Place next = {(p.index + 1) % STAGES, p.index + 1 == STAGES ? 1u : p.phase};",
    }
    right = ["Place next = {(p.index + 1) % STAGES, p.phase ^ (uint32_t)(p.index + 1 == STAGES)};"]
    found = lines_are_told_apart("ring_pipeline", right, wrong, count=3)
    assert all(".cu" in f.error for f in found.values())


def test_more_stages_end_sooner_on_the_nominal_clock():
    """Copies run ahead: the block ends earlier with each of the first stages, and the prologue fills as many as there are."""
    ends = {}
    for stages in (1, 2, 3):
        kernel = load("ring_pipeline", "emulator", trace=True, policy="timed")
        given_, params = example(np.random.default_rng(0), 128, 128, 64 * 8, stages)
        kernel(*given_, **params)
        trace = kernel.report.trace
        first = min(e.time for e in trace if e.kind == "wgmma")
        assert sum(e.kind == "tma_load" and e.time < first for e in trace) == 2 * stages
        ends[stages] = max(e.end for e in trace if e.kind == "wgmma")
    assert ends[1] > 1.3 * ends[2] and ends[2] >= ends[3]


def test_seven_stages_fit_a_block_and_eight_do_not():
    assert shared_bytes(MOST_STAGES) <= 227 * 1024 < shared_bytes(MOST_STAGES + 1)
    with pytest.raises(ArgumentError, match="stages must be one of"):
        given_, _ = example(np.random.default_rng(0), 8, 8, 8)
        load("ring_pipeline", "emulator")(*given_, stages=8)
