"""Grouped GEMM: ragged and empty groups, more than a window of them, the search against a scalar one, its defects."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from part1 import POLICIES, defect_is_reported, functions_are_told_apart, hold_to_float64, lines_are_told_apart

from kernels import ArgumentError, races
from kernels.kernel import load
from kernels.spec import get_spec
from kernels.specs.gemm_grouped import example, find_group, several_laps, tile_counts

NAME = "gemm_grouped"
RULES = [bug for bug in get_spec(NAME).bugs if bug != "first_window_only"]
WRONG = {
    "side left": lambda i, counts: int(np.searchsorted(np.cumsum(counts), i, side="left")),
    "empty groups count one": lambda i, counts: int(np.searchsorted(np.cumsum(np.maximum(counts, 1)), i, side="right")),
    "first window only": lambda i, counts: min(find_group(i, counts), 31),
    "equal groups": lambda i, counts: int(i * len(counts) // max(1, counts.sum())),
    "one late": lambda i, counts: min(find_group(i, counts) + 1, len(counts) - 1),
}


@pytest.mark.emulator
def test_against_float64():
    hold_to_float64(NAME, 12)


@pytest.mark.emulator
@pytest.mark.parametrize("policy", POLICIES)
def test_clean_under_every_policy(policy):
    for search in ("ballot", "scalar"):
        arrays, params = several_laps(np.random.default_rng(3))
        kernel = load(NAME, "emulator", seed=4, policy=policy, sms=3)
        d, found = kernel(*arrays, **{**params, "search": search})
        reference, groups = kernel.reference(*arrays)
        assert kernel.report.clean and np.array_equal(found, groups)
        assert np.linalg.norm(d - reference) < 2e-5 * np.linalg.norm(reference)


@pytest.mark.emulator
def test_the_exercise():
    functions_are_told_apart(NAME, find_group, WRONG, count=6)


@given(st.lists(st.integers(0, 3), min_size=1, max_size=70).filter(any))
def test_the_search_is_counting(counts):
    """The group of each tile is what writing all of them down gives."""
    listed = [g for g, n in enumerate(counts) for _ in range(n)]
    assert [find_group(i, np.array(counts)) for i in range(len(listed))] == listed


@pytest.mark.emulator
@pytest.mark.parametrize("bug", RULES)
def test_defects(bug):
    defect_is_reported(NAME, bug)


@pytest.mark.emulator
def test_a_search_that_ends_early_gives_wrong_numbers_and_breaks_no_rule():
    bug = "first_window_only"
    given_, params = get_spec(NAME).bugs[bug].example(np.random.default_rng(0))
    assert races.run_once(NAME, bug, "friendly", 0, True, given_, params).status == "wrong numbers"
    assert races.run_once(NAME, None, "friendly", 0, True, given_, params).right


@pytest.mark.emulator
def test_the_challenge():
    wrong = {
        "ends at the tile": "bool ends_beyond = through >= linear;",
        "begins before": "bool ends_beyond = through - tiles <= linear;",
        "has tiles": "bool ends_beyond = tiles > 0;",
    }
    lines_are_told_apart(NAME, ["bool ends_beyond = linear < through;"], wrong, count=6)


@pytest.mark.emulator
def test_refusals_state_the_rule():
    (a, b, rows), params = example(np.random.default_rng(0), (3, 4), 8, 16)
    kernel = load(NAME, "emulator")
    for given_, rule in (
        ((a, b, rows + 1), "add up to"),
        ((a, b, np.array([-1, 8], np.int32)), "0 or more"),
        ((a, b[:1], rows), r"rows is \(G,\)"),
        ((a, b[:, :, :8].copy(), rows), r"a is \(T, K\)"),
    ):
        with pytest.raises(ArgumentError, match=rule):
            kernel(*given_, **params)


def test_tiles_are_counted_by_group():
    assert tile_counts([0, 1, 128, 129], 257).tolist() == [0, 2, 2, 4]
