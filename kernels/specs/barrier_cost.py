"""Lesson 3's measurement: what a block pays to meet once a round.

    y = kernels.load("barrier_cost")(x, meeting="mbarrier, every thread", rounds=64, slow=0, work=0)

x: uint32, one value a thread of the block. The cycles that the rounds took are for the bench (`launch`): the emulator has no clock worth reading.
"""

from __future__ import annotations

import numpy as np

from kernels.arrays import require_array, require_choice
from kernels.errors import ArgumentError
from kernels.spec import Case, KernelSpec, Launch, Plan

MEETINGS = ("__syncthreads", "mbarrier, every thread", "mbarrier, each warp")  # in the order of -DMEETING
SHARED_BYTES = 2 * 4 + 8
MULTIPLIER, INCREMENT = 1664525, 1013904223


def check(x, meeting=MEETINGS[0], rounds=8, slow=0, work=0) -> None:
    require_array("x", x, dtype="uint32", ndim=1)
    require_choice("meeting", meeting, MEETINGS)
    if x.size % 32 or x.size > 1024:
        raise ArgumentError(
            f"x holds one value a thread of the block: a multiple of 32, at most 1024; it holds {x.size}."
        )
    if rounds < 1 or slow < 0 or work < 0:
        raise ArgumentError(f"rounds is above 0, slow and work are not below 0; they are {rounds}, {slow}, {work}.")


def launch(x, y, cycles, meeting, rounds, slow, work) -> Launch:
    args = [x, y, cycles, np.int32(rounds), np.int32(slow), np.int32(work)]
    return Launch("barrier_cost", (1,), (x.size,), args, SHARED_BYTES, defines={"MEETING": MEETINGS.index(meeting)})


def plan(ctx, x, meeting=MEETINGS[0], rounds=8, slow=0, work=0) -> Plan:
    y, cycles = ctx.empty(x.shape, "uint32"), ctx.empty((1,), "uint32")
    return Plan([launch(x, y, cycles, meeting, rounds, slow, work)], y)


def _steps(v, count: int):
    for _ in range(count):
        v = v * np.uint32(MULTIPLIER) + np.uint32(INCREMENT)
    return v


def reference(x, meeting=MEETINGS[0], rounds=8, slow=0, work=0):
    """The same arithmetic without a block: it does not depend on how the block meets."""
    v, warps = x.astype(np.uint32), x.size // 32
    for i in range(rounds):
        late = slice(32 * (i % warps), 32 * (i % warps) + 32)
        v[late] = _steps(v[late], slow)
        word = v[late.start]
        v = _steps(v, work) + word
    return v.astype(np.float64)


def example(rng, threads: int = 128, meeting: str = MEETINGS[1], rounds: int = 11, slow: int = 7, work: int = 5):
    return (rng.integers(0, 2**32, threads, dtype=np.uint32),), dict(
        meeting=meeting, rounds=rounds, slow=slow, work=work
    )


def cases(rng, count: int):
    """Each way to meet, from one warp up; more rounds than warps, and fewer."""
    sizes = [(32, 5), (96, 7), (256, 9), (160, 3), (64, 12)]
    for i in range(count):
        threads, rounds = sizes[i % len(sizes)]
        slow, work = int(rng.integers(0, 9)), int(rng.integers(0, 9))
        yield Case(f"{threads} threads, {MEETINGS[i % 3]}", *example(rng, threads, MEETINGS[i % 3], rounds, slow, work))


SPECS = (
    KernelSpec(
        name="barrier_cost",
        source="barrier_cost.cu",
        computes="rounds in which a block meets, by __syncthreads or an mbarrier: what meeting costs",
        plan=plan,
        check=check,
        reference=reference,
        example=example,
        cases=cases,
        tolerance=0.0,
        max_registers=32,
        builds=tuple({"MEETING": m} for m in range(len(MEETINGS))),
        entries=("barrier_cost",),
    ),
)
