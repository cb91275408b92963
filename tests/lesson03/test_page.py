"""What lesson 3's page tells of the emulator: the outcomes of wrong expectations, by seed."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

import kernels
from autograder.lesson.store import find_lesson
from autograder.paths import course_root
from kernels.compare import challenge_source
from kernels.emulator.toolchain import compiler
from kernels.emulator.trace import barrier_steps

pytestmark = pytest.mark.emulator
FOLDER = find_lesson("3")
BOXES = np.arange(24 * 32, dtype=np.float32).reshape(24, 32)


def run(expected: int, seed: int):
    """(phases of FULL that completed, whether somebody read too early, how it ended)"""
    source = challenge_source("mbarrier_handshake", f"uint32_t expected = {expected};")
    kernel = kernels.load("mbarrier_handshake", "emulator", source=source, seed=seed, policy="random", trace=True)
    try:
        kernel(BOXES)
    except kernels.KernelError:
        pass
    report = kernel.report
    phases = sum(s.completes and "FULL" in s.barrier for s in barrier_steps(report.trace))
    return phases, any(f.kind == "race" for f in report.findings), report.status


def test_stepping_over_zero_and_too_many_bytes_hang_without_an_early_read():
    for expected in (768, 256, 1536):
        found = [run(expected, seed) for seed in range(8)]
        if expected == 256:  # a forgotten sizeof(float), the challenge's guess
            assert all(status == "deadlock" for _, _, status in found)
        assert all(f == (0, False, "deadlock") for f in found), expected


def test_half_the_bytes_are_read_early_and_nothing_expected_mostly():
    assert all(early for _, early, _ in (run(512, seed) for seed in range(16)))
    nothing = [run(0, seed) for seed in range(16)]
    early = sum(e for _, e, _ in nothing)
    assert early > 8 and (
        early < 16 or compiler().family != "gcc"
    )  # where a kernel yields depends on the compiler: with zig all are early
    assert all(status == "deadlock" for _, e, status in nothing if not e)


def test_the_same_defect_is_right_wrong_or_hangs_by_seed():
    def outcome(x, seed, checks):
        kernel = kernels.load(
            "mbarrier_handshake", "emulator", bug="wrong_expect_tx", seed=seed, policy="random", checks=checks
        )
        try:
            return "right" if (kernel(x) == 2 * x).all() else "wrong"
        except kernels.KernelError:
            return kernel.report.status

    assert {outcome(BOXES[:8], seed, False) for seed in range(6)} == {"right", "wrong"}
    assert "deadlock" in {outcome(BOXES, seed, False) for seed in range(6)}
    assert outcome(BOXES[:8], 1, False) == "right" and outcome(BOXES[:8], 1, True) == "race"


def test_the_numbers_of_figure_3_3_are_the_traced_ones():
    points = json.loads(
        (course_root() / "figures" / "data" / "lesson03_expectations.json").read_text(encoding="utf-8")
    )["points"]
    series = lambda expected: [p["tx"] for p in points if p["expected"] == expected]
    assert series(768) == [768, 256, -256] and series(1536)[-1] == 512 and series(512)[:3] == [512, 0, -512]
    for lang in ("zh", "en"):
        assert "768 → 256 → −256" in (FOLDER / f"{lang}.qmd").read_text(encoding="utf-8")


def test_the_first_event_of_full_1_is_an_early_landing():
    points = json.loads(
        (course_root() / "figures" / "data" / "lesson03_barrier_states.json").read_text(encoding="utf-8")
    )["points"]
    steps = [p for p in points if p["barrier"] == "FULL[1]"]
    after = [(p["pending_after"], p["tx_after"], p["phase_after"], p["count"]) for p in steps]
    assert after == [(1, -512, 0, 1), (0, 512, 0, 1), (1, 0, 1, 1)]
    for lang in ("zh", "en"):
        text = re.sub(r"\s", "", (FOLDER / f"{lang}.qmd").read_text(encoding="utf-8"))
        for state in after:
            assert "(" + ",".join(map(str, state)) + ")" in text
