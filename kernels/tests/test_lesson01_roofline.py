"""Lesson 1's probe on the emulator: sums and the roof, right and wrong models, arguments refused."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from part1 import functions_are_told_apart, hold_to_float64, lines_are_told_apart

from kernels import ArgumentError
from kernels.kernel import load
from kernels.specs.roofline import attainable, reference

pytestmark = pytest.mark.emulator
WRONG = {
    "always the slope": lambda flops, moved, peak, bandwidth: flops / moved * bandwidth if moved else peak,
    "always the peak": lambda flops, moved, peak, bandwidth: peak,
    "intensity upside down": lambda flops, moved, peak, bandwidth: (
        min(peak, moved / flops * bandwidth) if moved else peak
    ),
    "max for min": lambda flops, moved, peak, bandwidth: max(peak, flops / moved * bandwidth) if moved else peak,
    "nothing moved gives 0": lambda flops, moved, peak, bandwidth: (
        min(peak, flops / moved * bandwidth) if moved else 0.0
    ),
    "no case for nothing moved": lambda flops, moved, peak, bandwidth: min(peak, flops / moved * bandwidth),
    "bandwidth forgotten": lambda flops, moved, peak, bandwidth: min(peak, flops / moved) if moved else peak,
}


def test_against_float64():
    hold_to_float64("roofline_probe")


def test_the_exercise():
    functions_are_told_apart("roofline_probe", attainable, WRONG, count=12)


def test_the_challenge():
    wrong = {
        "max": "const float roof = bytes > 0.0f ? fmaxf(peak, bandwidth * (flops / bytes)) : peak;",
        "upside down": "const float roof = bytes > 0.0f ? fminf(peak, bandwidth * (bytes / flops)) : peak;",
        "nothing moved gives 0": "const float roof = bytes > 0.0f ? fminf(peak, bandwidth * (flops / bytes)) : 0.0f;",
        "peak": "const float roof = peak;",
    }
    # IEEE division: flops / 0 is infinity, and the lower roof is the peak. In Python the same quotient raises.
    lines_are_told_apart(
        "roofline_probe", ["const float roof = fminf(peak, bandwidth * (flops / bytes));"], wrong, count=4
    )


def test_a_constant_line_is_a_compile_error_with_its_place():
    from kernels import challenge

    assert "does not compile" in challenge("roofline_probe", "const float roof = fminf(peak;", count=1).error


@settings(max_examples=60, deadline=None)
@given(st.floats(1, 1e15), st.floats(0, 1e15), st.floats(1e9, 1e16), st.floats(1e8, 1e14))
def test_the_model_is_a_roof(flops, moved, peak, bandwidth):
    """Never above either roof, on one of them, and growing with the operations."""
    roof = attainable(flops, moved, peak, bandwidth)
    assert roof <= peak and (moved == 0 or roof <= flops / moved * bandwidth)
    assert roof == peak or roof == flops / moved * bandwidth
    assert attainable(2 * flops, moved, peak, bandwidth) >= roof


def test_many_multiply_adds_keep_the_input():
    """The chain contracts slowly: after 1024 steps two inputs still differ, so that a probe that dropped its loads would show."""
    x = np.zeros(4096, np.float32)
    y = np.ones(4096, np.float32)
    assert abs(reference(x, 1024)[0][0] - reference(y, 1024)[0][0]) > 100


def test_refusals():
    x = np.ones(5, np.float32)
    for params, rule in (
        ({"fmas": 0}, "1 to 65536"),
        ({"fmas": True}, "1 to 65536"),
        ({"peak": 0.0}, "peak must be above 0"),
        ({"bandwidth": -1.0}, "bandwidth must"),
    ):
        with pytest.raises(ArgumentError, match=rule):
            load("roofline_probe", "emulator")(x, **params)
