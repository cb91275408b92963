"""Is what the fill returned what the check expects? In the grader's process, on plain values only."""

from __future__ import annotations

import numpy as np

from autograder.submission import plain


def matches(actual: object, expected: object, rtol: float = 0.0, atol: float = 0.0) -> bool:
    """True when equal in kind, shape and value: |actual - expected| <= atol + rtol*|expected|, NaN equal to NaN, infinities by sign.

    Numbers: a Python number, a NumPy scalar and a 0-d array are one kind; a bool is not a number, complex is not real; an integer may
    come as a float. Arrays: same shape, and same kind of dtype (float precision may differ). Lists and tuples are one kind.
    """
    actual, expected = _scalar(actual), _scalar(expected)
    if isinstance(expected, np.ndarray):
        return (
            isinstance(actual, np.ndarray)
            and actual.shape == expected.shape
            and _kind(actual) == _kind(expected)
            and _close(actual, expected, rtol, atol)
        )
    return plain.matches(actual, expected, rtol, atol, matches)


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
