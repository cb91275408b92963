"""Lesson 2's three kernels on the emulator, Little's law, and the count of sectors against one by hand."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from part1 import functions_are_told_apart, hold_to_float64, lines_are_told_apart

from kernels import ArgumentError
from kernels.emulator import EmulatorError
from kernels.kernel import load
from kernels.specs.memory_bound import one_cycle, sectors, shape_of

pytestmark = pytest.mark.emulator


@pytest.mark.parametrize("name", ["stream_copy", "pointer_chase", "gather"])
def test_against_float64(name):
    hold_to_float64(name, 12 if name == "stream_copy" else 4)


@pytest.mark.parametrize("width,loads", [(4, 8), (8, 4), (16, 2)])
def test_fixed_loads(width, loads):
    """As the bench builds it; sizes that leave a part of the last word."""
    for n in (1, 37, 10007):
        x = np.random.default_rng(n).standard_normal(n, dtype=np.float32)
        assert (load("stream_copy", "emulator", seed=n)(x, width=width, loads=loads, warps=3)[0] == x).all()


def test_the_exercise():
    wrong = {
        "quotient": lambda bandwidth, latency: bandwidth / latency if latency else 0.0,
        "sum": lambda bandwidth, latency: bandwidth + latency,
        "nanoseconds taken for seconds": lambda bandwidth, latency: bandwidth * latency * 1e9,
        "half": lambda bandwidth, latency: bandwidth * latency / 2,
        "latency alone": lambda bandwidth, latency: latency,
    }
    functions_are_told_apart("stream_copy", lambda bandwidth, latency: bandwidth * latency, wrong)


def test_the_challenge():
    wrong = {
        "quotient": "const float needed = bandwidth / latency;",
        "one load": "const float needed = bandwidth;",
        "nothing": "const float needed = 0.0f;",
    }
    lines_are_told_apart("stream_copy", ["const float needed = latency * bandwidth;"], wrong, count=2)


@pytest.mark.parametrize("width", [8, 16])
def test_the_tail_that_a_wide_load_leaves(width):
    """Both defects are right where whole words fit. Otherwise one leaves floats unwritten and the other reads past the end of x."""
    for n in (8192, 8191):
        x = np.random.default_rng(n).standard_normal(n, dtype=np.float32)
        short = load("stream_copy", "emulator", bug="no_tail", poison=True)(x, width=width)[0]
        assert np.isnan(short).sum() == n % (width // 4) and (short == x).sum() == n // (width // 4) * (width // 4)
        whole = load("stream_copy", "emulator", bug="whole_words")
        if n % (width // 4):
            with pytest.raises(EmulatorError, match=r"memory_bound.cu:\d+"):
                whole(x, width=width)
        else:
            assert (whole(x, width=width)[0] == x).all()


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 64), st.integers(1, 132))
def test_warps_are_spread_over_the_sms(warps, sms):
    blocks, threads = shape_of(warps, sms)
    assert blocks % sms == 0 and threads % 32 == 0 and threads <= 1024
    assert 0 <= warps - blocks // sms * threads // 32 <= 1


@settings(max_examples=25, deadline=None)
@given(st.integers(2, 200), st.integers(0, 99))
def test_the_ring_is_one_cycle(n, seed):
    ring, seen, i = one_cycle(np.random.default_rng(seed), n), set(), 0
    for _ in range(n):
        seen.add(i)
        i = int(ring[i])
    assert i == 0 and len(seen) == n


def test_sectors_are_counted_as_the_hardware_does():
    """In order a thread's four neighbours share a vector, so one instruction of a warp touches every fourth element: 16 sectors.

    Nsight Compute on an H200 counted 16.0, 28.7 and 32.0 for the three orders (lesson02_sectors.json).
    """
    order = np.arange(1024, dtype=np.uint32)
    assert sectors(order) == 16.0
    assert sectors(np.zeros(1024, np.uint32)) == 1.0
    assert sectors(order * 8) == 32.0
    by_hand = [len({int(i) * 4 // 32 for i in order[::-1][4 * np.arange(32) + j]}) for j in range(4)]
    assert sectors(order[::-1]) == np.mean(by_hand)


def test_refusals():
    ring, start, x = np.arange(8, dtype=np.uint32), np.zeros(3, np.uint32), np.ones(8, np.float32)
    for name, args, params, rule in (
        ("stream_copy", (x,), {"width": 2}, "width must be one of"),
        ("stream_copy", (x,), {"warps": 0}, "1 to 64"),
        ("stream_copy", (x,), {"latency": -1.0}, "latency must not be below 0"),
        ("pointer_chase", (ring, start + 8), {}, "one of them is larger"),
        ("pointer_chase", (ring, start.astype(np.float32)), {}, "must hold uint32"),
        ("gather", (x, ring + 8), {}, "x has 8 elements"),
    ):
        with pytest.raises(ArgumentError, match=rule):
            load(name, "emulator")(*args, **params)
