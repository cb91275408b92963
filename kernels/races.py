"""One kernel over many seeds and schedules on the emulator: which go wrong silently, and what the checks say."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kernels import arrays
from kernels.compare import relative_error
from kernels.errors import ArgumentError, LaunchError
from kernels.kernel import load
from kernels.spec import get_spec, tolerance

FRIENDLY = "friendly"
ADVERSARIAL = ("pct", "late", "lazy_mma")


@dataclass(frozen=True)
class Outcome:
    """One run. status: "right" or "wrong numbers", or what the emulator found ("race", "deadlock", "out_of_bounds", ...).

    error: relative error norm, None where the launch did not end.  report: the emulator's LaunchReport.
    """

    policy: str
    seed: int
    checks: bool
    status: str
    error: float | None
    report: Any

    @property
    def right(self) -> bool:
        return self.status == "right"


def arguments(name: str, bug: str | None = None, seed: int = 0, **sizes):
    """The example arguments of a kernel, or of one of its defects: (arrays, params). Raises ArgumentError for sizes that give none."""
    spec = get_spec(name)
    example = (spec.bugs[bug].example if bug else None) or spec.example
    try:
        return example(np.random.default_rng(seed), **sizes)
    except (ValueError, TypeError, LookupError, ArithmeticError, MemoryError) as e:
        if not sizes:
            raise
        settings = ", ".join(f"{k}={v}" for k, v in sizes.items())
        raise ArgumentError(f"No example of {name} can be made with {settings}: {type(e).__name__}: {e}.") from e


def run_once(
    name: str, bug: str | None, policy: str, seed: int, checks: bool, given, params, timeout: float = 60.0
) -> Outcome:
    """Run once and say what came of it. Raises what is not an outcome of the launch (a compile error, a wrong argument)."""
    kernel = load(name, "emulator", bug=bug, policy=policy, seed=seed, checks=checks, timeout=timeout)
    try:
        out = kernel(*given, **params)
    except LaunchError as e:
        return Outcome(policy, seed, checks, e.code or "failed", None, kernel.report)
    error = relative_error(arrays.to_numpy(out), kernel.reference(*given, **params))
    right = error <= tolerance(kernel.spec, given, params)
    return Outcome(policy, seed, checks, "right" if right else "wrong numbers", error, kernel.report)


def sweep(
    name: str,
    bug: str | None = None,
    seeds: int = 10,
    policies: Sequence[str] = (FRIENDLY, *ADVERSARIAL),
    *,
    timeout: float = 60.0,
    sizes: dict | None = None,
    progress: Callable[[Outcome], None] = lambda o: None,
) -> list[Outcome]:
    """Every policy and seed twice: with the checks off (does it go wrong by itself?) and on (is it reported?)."""
    given, params = arguments(name, bug, **(sizes or {}))
    outcomes = []
    for policy in policies:
        for checks in (False, True):
            for seed in range(seeds):
                outcome = run_once(name, bug, policy, seed, checks, given, params, timeout)
                outcomes.append(outcome)
                progress(outcome)
    return outcomes
