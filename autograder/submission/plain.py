"""Comparing plain Python values: numbers, texts, None, lists, tuples, dicts. What holds arrays too is compare.py, which begins here.

Also run by the website, in the reader's browser (MicroPython): nothing is imported but math, and no order of bool and int is relied on.
"""

import math

TOLERANCE = 1e-6  # of a result that a person predicts by hand


def matches(actual, expected, rtol=0.0, atol=0.0, again=None):
    """True when equal in kind and value: |actual - expected| <= atol + rtol*|expected|, NaN equal to NaN, infinities by sign.

    A bool is not a number, complex is not real; an integer may come as a float; lists and tuples are one kind. again: compares what a
    list or dict holds, by default this function.
    """
    again = again or matches
    if isinstance(expected, (list, tuple)):
        return (
            isinstance(actual, (list, tuple))
            and len(actual) == len(expected)
            and all(again(a, e, rtol, atol) for a, e in zip(actual, expected))
        )
    if isinstance(expected, dict):
        return (
            isinstance(actual, dict)
            and set(actual) == set(expected)
            and all(again(actual[k], v, rtol, atol) for k, v in expected.items())
        )
    if expected is None or isinstance(expected, (bool, str)):
        return type(actual) is type(expected) and actual == expected
    if isinstance(expected, (int, float, complex)):
        return _number(actual, expected, rtol, atol)
    return False


def agrees(predicted, result, again=None):
    """Is the result what was predicted, as exactly as a person works it out: integers exactly, floats to TOLERANCE of the result?"""
    again = again or agrees
    if isinstance(result, (list, tuple)):
        return (
            isinstance(predicted, (list, tuple))
            and len(predicted) == len(result)
            and all(again(p, r) for p, r in zip(predicted, result))
        )
    return matches(predicted, result, 0.0 if isinstance(result, int) else TOLERANCE)


def _number(actual, expected, rtol, atol):
    if isinstance(actual, bool) or not isinstance(actual, (int, float, complex)):
        return False
    if isinstance(actual, complex) or isinstance(expected, complex):
        if not (isinstance(actual, complex) and isinstance(expected, complex)):
            return False
        return _number(actual.real, expected.real, rtol, atol) and _number(actual.imag, expected.imag, rtol, atol)
    if isinstance(actual, int) and isinstance(expected, int) and not rtol and not atol:
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
