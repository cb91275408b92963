"""A fill held to a lesson's hidden checks, compared as the grader compares."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from autograder.lesson.checks import Checks
from autograder.lint.hidden import failure, fixed_cases
from autograder.submission.compare import matches


def passes(function: Callable, case: dict) -> bool:
    """Does the function give what the case expects? An exception is a no. Arrays are handed over as copies."""
    args = {k: v.copy() if isinstance(v, np.ndarray) else v for k, v in case["args"].items()}
    try:
        with np.errstate(all="ignore"):
            return matches(function(**args), case["expect"], case["rtol"], case["atol"])
    except Exception:
        return False


def outcome(checks: Checks, function: Callable, seed: int = 7) -> tuple[bool, bool]:
    """(all normal cases pass, all boundary cases pass), the inputs drawn from the seed."""
    normal, boundary = (make(np.random.default_rng(seed)) for make in (checks.normal_cases, checks.boundary_cases))
    return all(passes(function, c) for c in normal), all(passes(function, c) for c in boundary)


def caught_without_luck(checks: Checks, function: Callable) -> bool:
    """Does it fail a case that is the same in every draw?"""
    return any(failure(function, case) for case in fixed_cases(checks))
