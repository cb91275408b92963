"""Lesson 3: the handshake, its defects, and the model of the mbarrier against every event of traces."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from part1 import POLICIES, defect_is_reported, functions_are_told_apart, hold_to_float64, lines_are_told_apart

from kernels import ArgumentError
from kernels.emulator import EmulatorError
from kernels.emulator.trace import barrier_steps
from kernels.kernel import load
from kernels.sources import load_source
from kernels.spec import get_spec
from kernels.specs import barrier_cost, gemm
from kernels.specs.barriers import example_handshake, random_script, step, walk

pytestmark = pytest.mark.emulator


def model(condition):
    """A barrier that completes a phase when condition(pending, tx) says so."""

    def barrier(state, event):
        pending, tx, phase, count = state
        pending, tx = pending - event[0], tx + event[1]
        return (count, 0, phase ^ 1, count) if condition(pending, tx) else (pending, tx, phase, count)

    return barrier


def forgets_the_flip(state, event):
    pending, tx, phase, count = step(state, event)
    return pending, tx, 0, count


def drops_early_bytes(state, event):
    """Bytes that land before they are expected are lost."""
    pending, tx, phase, count = state
    return step(state, (event[0], max(event[1], -tx)) if event[1] < 0 else event)


WRONG = {
    "arrivals alone": model(lambda pending, tx: pending == 0),
    "bytes alone": model(lambda pending, tx: tx == 0),
    "or": model(lambda pending, tx: pending == 0 or tx == 0),
    "bytes at most 0": model(lambda pending, tx: pending == 0 and tx <= 0),
    "never": model(lambda pending, tx: False),
    "no flip": forgets_the_flip,
    "early bytes lost": drops_early_bytes,
}


@pytest.mark.parametrize("name", ["mbarrier_handshake", "barrier_script", "barrier_cost"])
def test_against_the_reference(name):
    hold_to_float64(name, 14)


@pytest.mark.parametrize("policy", POLICIES)
def test_the_model_explains_every_event_of_every_barrier(policy):
    """Two kernels, many seeds: from each state and event of the trace the model gives the next state, and completes when it did."""
    landed_early = completed = 0
    (x,), _ = example_handshake(np.random.default_rng(4), 45, 67)
    for seed in range(6):
        for name, given_, params in (
            ("mbarrier_handshake", (x,), {}),
            ("ring_pipeline", gemm.example(np.random.default_rng(2), 130, 40, 330)[0], {"stages": 2}),
        ):
            if name == "ring_pipeline" and seed > 1:
                continue
            kernel = load(name, "emulator", trace=True, seed=seed, policy=policy)
            kernel(*given_, **params)
            steps = barrier_steps(kernel.report.trace)
            for s in steps:
                assert step(s.before, s.event) == s.after, s
                assert s.completes == (s.after[2] != s.before[2])
                landed_early += s.after[1] < 0
            # Every phase of the trace is one of ours, and every box of a strip has completed one phase of FULL and of EMPTY.
            done = sum(s.completes for s in steps)
            assert done == sum(e.kind == "phase" for e in kernel.report.trace)
            if name == "mbarrier_handshake":
                assert done == 3 * 6 * 2
            completed += done
    assert completed
    if policy in ("random", "rr", "pct"):
        assert landed_early, "no seed showed bytes that land before they are expected"


def test_the_last_state_is_where_the_next_step_begins():
    kernel = load("mbarrier_handshake", "emulator", trace=True, seed=3, policy="pct")
    kernel(*example_handshake(np.random.default_rng(0), 40, 32)[0])
    last = {}
    for s in barrier_steps(kernel.report.trace):
        assert last.get(s.barrier, s.before) == s.before
        last[s.barrier] = s.after
    assert len(last) == 4 and {b.split()[-1] for b in last} == {"FULL[0]", "FULL[1]", "EMPTY[0]", "EMPTY[1]"}


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 6), st.integers(0, 10**6))
def test_the_script_kernel_follows_the_model(count, seed):
    events = random_script(np.random.default_rng(seed), count, 60)
    out = load("barrier_script", "emulator", seed=seed % 7)(events, count=count)
    assert out.tolist() == walk(step, events, count)


def test_the_exercise():
    functions_are_told_apart("barrier_script", step, WRONG, count=10)


@pytest.mark.parametrize("bug", get_spec("mbarrier_handshake").bugs)
def test_defects(bug):
    reports = defect_is_reported("mbarrier_handshake", bug, seeds=2)
    if bug == "too_much_expect_tx":  # a hang: who waits for what
        assert all(r.status == "deadlock" and "bytes expected that no copy brings" in str(r) for r in reports)
    if bug == "wrong_expect_tx":  # an early read
        assert any("reads dynamic shared memory" in str(r) for r in reports)


def test_the_challenge():
    wrong = {
        "half": "uint32_t expected = HALF_BYTES;",
        "too much": "uint32_t expected = 3 * HALF_BYTES;",
        "elements for bytes": "uint32_t expected = 2 * HALF_ROWS * BOX_COLUMNS;",
        "nothing": "uint32_t expected = 0;",
        "without the last row": "uint32_t expected = 2 * HALF_BYTES - BOX_COLUMNS * sizeof(float);",
    }
    found = lines_are_told_apart("mbarrier_handshake", ["uint32_t expected = sizeof(sm.box[b]);"], wrong)
    assert "bytes expected that no copy brings" in found["too much"].error
    assert "mbarrier_handshake.cu:" in found["half"].error


def test_refusals():
    kernel = load("barrier_script", "emulator")
    script = lambda *events: np.array(events, np.int32)
    for events, count, rule in (
        (script((1, 8), (1, 0)), 1, "no arrival of this phase is pending"),
        (script((0, 0)), 1, "an arrival"),
        (script((2, 0)), 3, "an arrival"),
        (script((0, 2**20 - 1), (0, 1)), 1, "1048575 at most"),
        (script((1, 0)), 0, "1 to 1000"),
    ):
        with pytest.raises(ArgumentError, match=rule):
            kernel(events, count=count)


def test_what_meeting_costs_is_computed_alike_however_the_block_meets():
    """Under hostile schedules too; and without its wait the kernel is caught."""
    (x,), params = barrier_cost.example(np.random.default_rng(5), 96, rounds=8)
    expected = barrier_cost.reference(x, **params)
    for meeting in barrier_cost.MEETINGS:
        for policy in POLICIES:
            out = load("barrier_cost", "emulator", seed=3, policy=policy)(x, **{**params, "meeting": meeting})
            assert (out == expected).all(), (meeting, policy)
    text = load_source("barrier_cost.cu").text
    broken = load_source("barrier_cost.cu", text.replace("mbarrier_wait(&sm.met, i % 2);", ""))
    assert broken.text != text
    with pytest.raises(EmulatorError):
        load("barrier_cost", "emulator", source=broken, policy="random")(x, **params)
