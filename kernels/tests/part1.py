"""What the tests of lessons 1 to 6 and 8 share: a kernel over its spec's cases, defects over schedules, exercises, challenges."""

from __future__ import annotations

import numpy as np
import pytest

import kernels
from kernels import arrays, emulator
from kernels.compare import relative_error
from kernels.kernel import load
from kernels.spec import cases, get_spec, tolerance

POLICIES = ("friendly", "rr", "random", "pct", "late", "lazy_mma")


def hold_to_float64(name: str, count: int = 12, seed: int = 7) -> None:
    """Every case of the spec with the checks on, each under another schedule; outputs are poisoned. A finding raises."""
    spec = get_spec(name)
    for i, case in enumerate(cases(spec, np.random.default_rng(seed), count)):
        kernel = load(name, "emulator", seed=i, policy=POLICIES[i % len(POLICIES)])
        out = arrays.to_numpy(kernel(*case.arrays, **case.params))
        error = relative_error(out, kernel.reference(*case.arrays, **case.params))
        assert error <= tolerance(spec, case.arrays, case.params), (case.label, error)


def defect_is_reported(name: str, bug: str, policies=POLICIES, seeds=1) -> list:
    """With the checks on the emulator stops the defect under every schedule, and names a line of the source. The reports."""
    spec = get_spec(name)
    given, params = (spec.bugs[bug].example or spec.example)(np.random.default_rng(1))
    reports = []
    for policy in policies:
        for seed in range(seeds):
            kernel = load(name, "emulator", bug=bug, seed=seed, policy=policy, timeout=20)
            with pytest.raises(emulator.EmulatorError):
                kernel(*given, **params)
            assert kernel.report.findings and ".cu" in str(kernel.report), (bug, policy, seed)
            reports.append(kernel.report)
    return reports


def defect_gives_wrong_numbers(name: str, bug: str) -> None:
    """A defect that breaks no rule of the hardware: the run is clean and the result wrong."""
    spec = get_spec(name)
    given, params = spec.example(np.random.default_rng(1))
    kernel = load(name, "emulator", bug=bug, poison=True)
    out = arrays.to_numpy(kernel(*given, **params))
    assert kernel.report.clean and not relative_error(out, kernel.reference(*given, **params)) <= tolerance(
        spec, given, params
    )


def functions_are_told_apart(name: str, right, wrong: dict, count: int = 8) -> None:
    """The right function agrees with the kernel on every input; each wrong one fails on at least one."""
    kernel = load(name, "emulator", poison=True)
    assert kernels.compare(kernel, right, count=count).passed
    for label, function in wrong.items():
        found = kernels.compare(kernel, function, count=count)
        assert found.rows and not found.passed, label


def lines_are_told_apart(name: str, right: list[str], wrong: dict, count: int = 6) -> dict:
    """Challenge lines: the right ones pass, each wrong one fails with a row or a report that says why. label -> what was found."""
    for line in right:
        found = kernels.challenge(name, line, count=count)
        assert found.passed, (line, str(found))
    results = {}
    for label, line in wrong.items():
        results[label] = kernels.challenge(name, line, count=count)
        assert not results[label].passed, label
        assert results[label].error or any(not r.passed for r in results[label].rows), label
    return results
