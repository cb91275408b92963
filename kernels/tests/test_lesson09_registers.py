"""Lesson 9: who copies and whose registers; the requests that a pool grants, and those it never does."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from part1 import POLICIES, defect_is_reported, functions_are_told_apart, hold_to_float64, lines_are_told_apart

from kernels import ArgumentError, emulator, nvrtc
from kernels.kernel import load
from kernels.sources import CUDA_DIR, load_source
from kernels.spec import get_spec
from kernels.specs.warp_specialized import ROLES, consumer_registers, example, launch_of, most_stages, shared_bytes

NAME = "warp_specialized"
WRONG = {
    "of one thread's share": lambda t, p, c: (65536 // t - p) // 8 * 8,
    "rounded up": lambda t, p, c: min(-(-(t // 128 * (65536 // t // 8 * 8) - p) // c // 8) * 8, 256),
    "not in steps of 8": lambda t, p, c: min((t // 128 * (65536 // t // 8 * 8) - p) // c, 256),
    "no limit": lambda t, p, c: (t // 128 * (65536 // t // 8 * 8) - p) // c // 8 * 8,
    "the limit of an instruction": lambda t, p, c: min((t // 128 * (65536 // t // 8 * 8) - p) // c // 8 * 8, 255),
    "producer forgotten": lambda t, p, c: min(t // 128 * (65536 // t // 8 * 8) // c // 8 * 8, 256),
    "one producer register too many": lambda t, p, c: min(
        (t // 128 * (65536 // t // 8 * 8) - p * c) // c // 8 * 8, 256
    ),
}


@pytest.mark.emulator
def test_against_float64():
    hold_to_float64(NAME, 12)


@pytest.mark.emulator
@pytest.mark.parametrize("roles", ROLES)
@pytest.mark.parametrize("policy", POLICIES)
def test_clean_under_every_policy(policy, roles):
    for consumers in (1, 2, 3):
        arrays, params = example(np.random.default_rng(3), 200, 270, 64 * 7 + 5, consumers, roles, 2)
        kernel = load(NAME, "emulator", seed=consumers, policy=policy)
        d, _ = kernel(*arrays, **params)
        assert kernel.report.clean and np.linalg.norm(d - kernel.reference(*arrays)[0]) < 2e-5 * np.linalg.norm(d)


@pytest.mark.emulator
def test_the_exercise():
    functions_are_told_apart(NAME, consumer_registers, WRONG, count=8)


@given(st.integers(1, 3), st.integers(3, 16).map(lambda n: 8 * n))
def test_the_share_is_the_largest_that_fits(consumers, producer):
    """In steps of 8: what all hold is within what the launch gave, and 8 more for each consumer are not, or beyond the limit of 256."""
    threads = (consumers + 1) * 128
    pool = 65536 // threads // 8 * 8 * (consumers + 1)
    share = consumer_registers(threads, producer, consumers)
    assert share % 8 == 0 and producer + consumers * share <= pool
    assert share == 256 or producer + consumers * (share + 8) > pool


@pytest.mark.emulator
@pytest.mark.parametrize("bug", get_spec(NAME).bugs)
def test_defects(bug):
    reports = defect_is_reported(NAME, bug)
    if bug.startswith("request"):
        assert all("reg_inc" in str(r) for r in reports)


@pytest.mark.emulator
@pytest.mark.parametrize(
    ("consumers", "producer", "beyond", "granted"),
    [(2, 24, 0, True), (2, 32, 8, False), (3, 32, 0, True), (3, 32, 8, False)],
)
def test_a_request_beyond_the_pool_is_waited_for_for_ever(consumers, producer, beyond, granted):
    """24 + 2 x 240 are the 504 of three warpgroups at 168; 32 + 2 x 240 are not."""
    (a, b), _ = example(np.random.default_rng(1), 64, 64, 128)
    d, registers = np.zeros((64, 64), np.float32), np.zeros(consumers + 1, np.int32)
    launch = launch_of(a, b, d, registers, (64, 64, 128), consumers, "setmaxnreg", 2, producer, "fp32")
    module = emulator.build(CUDA_DIR / f"{NAME}.cu", [NAME], {**launch.defines, "BEYOND": beyond})
    run = lambda: module.launch(
        NAME, launch.grid, launch.block, launch.args, smem=launch.smem, registers=launch.registers, timeout=20
    )
    if granted:
        run()
        share = consumer_registers((consumers + 1) * 128, producer, consumers)
        assert registers.tolist() == [producer] + [share] * consumers
    else:
        with pytest.raises(emulator.EmulatorDeadlock, match=r"\(reg_inc\)"):
            run()


@pytest.mark.emulator
def test_the_challenge():
    wrong = {
        "one thread's share": "int request = SM_REGISTERS / threads - producer_registers;",
        "producer forgotten": "int request = (threads / WARPGROUP) * (SM_REGISTERS / threads / 8 * 8) / consumers / 8 * 8;",
        "no step": "int request = ((threads / WARPGROUP) * (SM_REGISTERS / threads / 8 * 8) - producer_registers) / consumers;",
        "timid": "int request = SM_REGISTERS / threads / 8 * 8;",
    }
    right = [
        "int request = ((SM_REGISTERS / threads & ~7) * (threads / WARPGROUP) - producer_registers) / consumers & ~7;"
    ]
    lines_are_told_apart(NAME, right, wrong, count=3)


@pytest.mark.nvrtc
def test_three_consumers_spill_until_registers_move():
    """What a compiler alone says: 128 sums a thread in the 128 registers that four warpgroups are launched with."""
    built = lambda roles: nvrtc.compile_source(
        load_source(f"{NAME}.cu"), {"OUT": "bf16", "CONSUMERS": 3, **ROLES[roles]}
    )
    kept, moved, alone = built("producer"), built("setmaxnreg"), built("consumer copies")
    assert kept.resources[NAME].registers == 128 and kept.resources[NAME].spill_stores > 1000
    assert any("serialized due to insufficient register" in r for r in kept.remarks)
    assert moved.resources[NAME].spill_stores == alone.resources[NAME].spill_stores == 0 and not moved.remarks


def test_stages_fit_and_one_more_does_not():
    for consumers in (1, 2, 3):
        stages = most_stages(consumers)
        assert shared_bytes(consumers, stages) <= 227 * 1024 < shared_bytes(consumers, stages + 1)


@pytest.mark.emulator
def test_refusals_state_the_rule():
    (a, b), _ = example(np.random.default_rng(0), 8, 8, 16)
    for params, rule in (
        ({"consumers": 4}, "consumers must be one of"),
        ({"stages": 7}, "stages must be one of"),
        ({"roles": "both"}, "roles must be"),
        ({"producer_registers": 20}, "producer_registers must be"),
    ):
        with pytest.raises(ArgumentError, match=rule):
            load(NAME, "emulator")(a, b, **params)
