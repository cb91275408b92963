"""Is what the fill returned what the check expects? In the grader's process, on plain values only."""

from __future__ import annotations

import math
from numbers import Integral

import numpy as np


def matches(actual: object, expected: object, rtol: float = 0.0, atol: float = 0.0) -> bool:
    """True when equal in kind, shape and value: |actual - expected| <= atol + rtol*|expected|, NaN equal to NaN, infinities by sign.

    Numbers: a Python number, a NumPy scalar and a 0-d array are one kind; a bool is not a number, complex is not real; an integer may
    come as a float. Arrays: same shape, and same kind of dtype (float precision may differ). Lists and tuples are one kind.
    """
    actual, expected = _scalar(actual), _scalar(expected)
    if isinstance(expected, (list, tuple)):
        return (
            isinstance(actual, (list, tuple))
            and len(actual) == len(expected)
            and all(matches(a, e, rtol, atol) for a, e in zip(actual, expected, strict=True))
        )
    if isinstance(expected, dict):
        return (
            isinstance(actual, dict)
            and actual.keys() == expected.keys()
            and all(matches(actual[k], v, rtol, atol) for k, v in expected.items())
        )
    if isinstance(expected, np.ndarray):
        return (
            isinstance(actual, np.ndarray)
            and actual.shape == expected.shape
            and _kind(actual) == _kind(expected)
            and _close(actual, expected, rtol, atol)
        )
    if expected is None or isinstance(expected, (bool, str)):
        return type(actual) is type(expected) and actual == expected
    if isinstance(expected, (int, float, complex)):
        return _number(actual, expected, rtol, atol)
    return False


def _scalar(x: object) -> object:
    """A NumPy scalar or 0-d array as the Python value it holds (the narrow float types as float)."""
    if isinstance(x, np.ndarray) and x.ndim == 0:
        x = x[()]
    if isinstance(x, np.generic):
        x = x.item() if x.dtype.kind in "biufc" else float(x)
    return x


def _kind(a: np.ndarray) -> str:
    return {"u": "i", "V": "f"}.get(a.dtype.kind, a.dtype.kind)


def _close(actual: np.ndarray, expected: np.ndarray, rtol: float, atol: float) -> bool:
    if _kind(expected) == "b":
        return bool((actual == expected).all())
    if _kind(expected) == "i" and not rtol and not atol:
        return bool((actual == expected).all())
    wide = np.complex128 if _kind(expected) == "c" else np.float64
    a, e = actual.astype(wide), expected.astype(wide)
    with np.errstate(all="ignore"):  # np.isclose says the same, five times as slowly for a small array
        near = (np.abs(a - e) <= atol + rtol * np.abs(e)) & np.isfinite(e)
        return bool((near | (a == e) | (np.isnan(a) & np.isnan(e))).all())


def _number(actual: object, expected: complex, rtol: float, atol: float) -> bool:
    if isinstance(actual, bool) or not isinstance(actual, (int, float, complex)):
        return False
    if isinstance(actual, complex) or isinstance(expected, complex):
        if not (isinstance(actual, complex) and isinstance(expected, complex)):
            return False
        return _number(actual.real, expected.real, rtol, atol) and _number(actual.imag, expected.imag, rtol, atol)
    if isinstance(actual, Integral) and isinstance(expected, Integral) and not rtol and not atol:
        return actual == expected
    try:
        a, e = float(actual), float(expected)
    except OverflowError:
        return actual == expected
    if math.isnan(e) or math.isnan(a):
        return math.isnan(e) and math.isnan(a)
    if math.isinf(e) or math.isinf(a):
        return a == e
    return abs(a - e) <= atol + rtol * abs(e)
