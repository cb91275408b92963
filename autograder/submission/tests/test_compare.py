"""Comparison in the grader: NaN, infinity, kinds and shapes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.submission.compare import matches

nan, inf = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("actual", "expected"),
    [(6, 6.0), (6.0, 6), (np.float32(6), 6.0), (np.array(6.0), 6.0), (nan, nan), (inf, inf), ((1, 2), [1, 2]), (np.bool_(True), True), ({"a": 1.0}, {"a": 1}), (None, None), ("x", "x"),
     (np.array([1.0, nan]), np.array([1.0, nan])), (np.ones(3, np.float32), np.ones(3)), (np.ones(2, np.int8), np.ones(2, np.int64)), (10**400, 10**400), (1j, 1j)],
)  # fmt: skip
def test_equal(actual, expected):
    assert matches(actual, expected)


@pytest.mark.parametrize(
    ("actual", "expected"),
    [(True, 1), (1, True), (True, 1.0), ("6", 6), (None, 0), (6, None), (nan, 1.0), (1.0, nan), (inf, -inf), (1e308, inf), ([1], 1), (1, [1]), ([1], [1, 2]), (1j, 1.0), (1.0, 1j), ({"a": 1}, {"b": 1}),
     (np.ones(3), 1.0), (1.0, np.ones(3)), (np.ones((1, 3)), np.ones(3)), (np.ones(3, bool), np.ones(3)), (np.ones(3), np.ones(3, int)), ([1.0] * 3, np.ones(3)), (np.array([nan, 1]), np.array([1.0, 1])), (10**400, 1.0)],
)  # fmt: skip
def test_different(actual, expected):
    assert not matches(actual, expected, rtol=1e-6)


@given(st.floats(allow_nan=False, allow_infinity=False, width=32), st.floats(1e-9, 1e-3))
def test_tolerance_is_a_band_around_the_expected_value(value, rtol):
    assert matches(value, value, rtol)
    assert matches(value * (1 + 0.5 * rtol), value, rtol, 1e-300)
    if abs(value) > 1e-30:
        assert not matches(value * (1 + 3 * rtol), value, rtol)
        assert not matches(np.array([value * (1 + 3 * rtol)]), np.array([value]), rtol)


def test_a_tolerance_hides_no_infinity():
    assert not matches(np.array([inf]), np.array([1.0]), rtol=1e9, atol=1e9)
    assert not matches(inf, 1.0, rtol=1e9, atol=1e9)
