"""Lesson 2's kernels, one source: bound by bandwidth (stream_copy), by latency (pointer_chase), by locality (gather).

y, needed = kernels.load("stream_copy")(x, width=16, warps=8)       # needed: (1,), bytes that must be in flight
end = kernels.load("pointer_chase")(ring, start, steps=1000)
y = kernels.load("gather")(x, index)
"""

from __future__ import annotations

import math

import numpy as np

from kernels.arrays import require_array, require_choice, require_number, to_numpy
from kernels.errors import ArgumentError
from kernels.spec import Bug, Case, KernelSpec, Launch, Plan, Work, ceil_div

SOURCE, WIDTHS = "memory_bound.cu", (4, 8, 16)
BANDWIDTH, LATENCY = 4.2e12, 7.0e-7  # byte/s and s, about an H200's
CHAIN_THREADS = 32


# ---------------------------------------------------------------------------------------------- stream_copy
def check_copy(x, width=16, warps=8, loads=0, bandwidth=BANDWIDTH, latency=LATENCY) -> None:
    require_array("x", x, dtype="fp32", ndim=1)
    require_choice("width", width, WIDTHS)
    require_choice("loads", loads, (0, 1, 2, 4, 8))
    if not isinstance(warps, int) or not 1 <= warps <= 64:
        raise ArgumentError(f"warps is how many an SM holds, 1 to 64; it is {warps!r}.")
    for name, value in (("bandwidth", bandwidth), ("latency", latency)):
        require_number(name, value)
        if value < 0:
            raise ArgumentError(f"{name} must not be below 0; it is {value!r}.")


def shape_of(warps: int, sms: int) -> tuple[int, int]:
    """(blocks, threads a block) that put `warps` warps on each SM; an odd number above 32 is split unevenly: one warp fewer."""
    blocks = ceil_div(warps, 32)
    return blocks * sms, 32 * (warps // blocks)


def plan_copy(ctx, x, width=16, warps=8, loads=0, bandwidth=BANDWIDTH, latency=LATENCY) -> Plan:
    y, needed = ctx.empty(x.shape, "fp32"), ctx.empty((1,), "fp32")
    blocks, threads = shape_of(warps, ctx.sms)
    defines = {"WIDTH": width, **({"LOADS": loads} if loads else {})}
    args = [x, y, needed, np.uint64(x.size), np.float32(bandwidth), np.float32(latency)]
    return Plan([Launch("stream_copy", (blocks,), (threads,), args, defines=defines)], (y, needed))


def reference_copy(x, width=16, warps=8, loads=0, bandwidth=BANDWIDTH, latency=LATENCY):
    """(y, needed): the copy, and Little's law."""
    return x.astype(np.float64), np.array([float(np.float32(bandwidth)) * float(np.float32(latency))])


def exercise_copy(function, result, /, x, width=16, warps=8, loads=0, bandwidth=BANDWIDTH, latency=LATENCY):
    """bytes_in_flight(bandwidth, latency) against the bytes that the kernel computed."""
    return [function(float(np.float32(bandwidth)), float(np.float32(latency)))], result[1]


def example_copy(rng, n: int = 100003, width: int = 16, warps: int = 4):
    return (rng.standard_normal(n, dtype=np.float32),), dict(width=width, warps=warps, latency=1.0e-8)


def cases_copy(rng, count: int):
    """Sizes that no word divides; from one load that is more than enough to eight that are too few; no latency: nothing need be in flight."""
    for i in range(count):
        n, width, warps = (
            int(rng.choice([1, 2, 3, 5, 4093, 8191, 30011])),
            WIDTHS[i % 3],
            int(rng.choice([1, 2, 3, 5, 8])),
        )
        round_bytes = math.prod(shape_of(warps, 8)) * width
        bandwidth = float(np.float32(10.0 ** rng.uniform(11, 13)))
        factor = 0.0 if i % 6 == 5 else float(rng.choice([0.3, 1.7, 3.1, 6.5, 20.0]))
        what = "no latency" if not factor else f"needs {factor:g} loads a thread"
        x = (rng.standard_normal(n) * 10.0 ** rng.uniform(-2, 2)).astype(np.float32)
        yield Case(
            f"n = {n}, {width} B, {warps} warps, {what}",
            (x,),
            dict(width=width, warps=warps, bandwidth=bandwidth, latency=factor * round_bytes / bandwidth),
        )


# ---------------------------------------------------------------------------------------------- pointer_chase
def check_chase(ring, start, steps=64) -> None:
    require_array("ring", ring, dtype="uint32", ndim=1)
    require_array("start", start, dtype="uint32", ndim=1)
    if not isinstance(steps, int) or steps < 0:
        raise ArgumentError(f"steps is a whole number, 0 or more; it is {steps!r}.")
    if isinstance(ring, np.ndarray) and (int(ring.max()) >= ring.size or int(to_numpy(start).max()) >= ring.size):
        raise ArgumentError(f"ring and start hold indices of ring, 0 to {ring.size - 1}; one of them is larger.")


def plan_chase(ctx, ring, start, steps=64) -> Plan:
    end = ctx.empty(start.shape, "uint32")
    args = [ring, start, end, np.int32(start.size), np.int32(steps)]
    return Plan(
        [
            Launch(
                "pointer_chase", (ceil_div(start.size, CHAIN_THREADS),), (CHAIN_THREADS,), args, defines={"WIDTH": 16}
            )
        ],
        end,
    )


def reference_chase(ring, start, steps=64):
    i = start.astype(np.int64)
    for _ in range(steps):
        i = ring[i].astype(np.int64)
    return i.astype(np.float64)


def one_cycle(rng, n: int) -> np.ndarray:
    """A random ring through all of 0 .. n - 1: a chase comes back to its start after n steps and not before."""
    order = rng.permutation(n).astype(np.uint32)
    ring = np.empty(n, np.uint32)
    ring[order] = np.roll(order, -1)
    return ring


def example_chase(rng, n: int = 4099, chains: int = 37, steps: int = 101):
    return (one_cycle(rng, n), rng.integers(0, n, chains).astype(np.uint32)), dict(steps=steps)


# ---------------------------------------------------------------------------------------------- gather
def check_gather(x, index) -> None:
    require_array("x", x, dtype="fp32", ndim=1)
    require_array("index", index, dtype="uint32", ndim=1)
    if isinstance(index, np.ndarray) and int(index.max()) >= x.size:
        raise ArgumentError(f"index holds {int(index.max())}, but x has {x.size} elements.")


def plan_gather(ctx, x, index) -> Plan:
    y = ctx.empty(index.shape, "fp32")
    args = [x, index, y, np.uint64(index.size)]
    return Plan([Launch("gather", (ceil_div(index.size, 4 * 256),), (256,), args, defines={"WIDTH": 16})], y)


def example_gather(rng, n: int = 5003, count: int = 3001):
    return (rng.standard_normal(n, dtype=np.float32), rng.integers(0, n, count).astype(np.uint32)), {}


def sectors(index: np.ndarray, element: int = 4) -> float:
    """32-byte sectors that the gather's load instructions touch, for each instruction of a warp (32 elements): 4 at best, 32 at worst.

    Counted, not measured: thread t of a warp loads elements 4 t .. 4 t + 3 of its 128, one of each four by each instruction.
    """
    whole = index[: index.size // 128 * 128].astype(np.int64).reshape(-1, 32, 4).transpose(0, 2, 1).reshape(-1, 32)
    touched = np.sort(whole * element // 32, axis=1)
    return float((1 + (np.diff(touched, axis=1) != 0).sum(axis=1)).mean())


SPECS = (
    KernelSpec(
        name="stream_copy",
        source=SOURCE,
        computes="y = x in words of 4, 8 or 16 bytes, as many loads in flight as Little's law asks for",
        plan=plan_copy,
        check=check_copy,
        reference=reference_copy,
        example=example_copy,
        cases=cases_copy,
        exercise=exercise_copy,
        work=lambda x, **_: Work(bytes=8.0 * x.size),
        tolerance=1e-6,
        max_registers=64,
        builds=({"WIDTH": 16}, {"WIDTH": 4, "LOADS": 8}),
        entries=("stream_copy", "pointer_chase", "gather"),
        bugs={
            "no_tail": Bug(
                {"TAIL": "NONE"},
                "only whole words are copied: the last one to three floats are never written, unless the size happens to fit",
            ),
            "whole_words": Bug(
                {"TAIL": "WHOLE"},
                "the last word is loaded and stored whole: it reads past the end of x and writes past the end of y",
            ),
        },
    ),
    KernelSpec(
        name="pointer_chase",
        source=SOURCE,
        computes="end[c]: where a chain stands after `steps` loads, each of whose addresses is the last one's value",
        plan=plan_chase,
        check=check_chase,
        reference=reference_chase,
        example=example_chase,
        work=lambda ring, start, steps=64: Work(bytes=4.0 * steps * start.size),
        tolerance=0.0,
        max_registers=64,
        builds=({"WIDTH": 16},),
        entries=("stream_copy", "pointer_chase", "gather"),
    ),
    KernelSpec(
        name="gather",
        source=SOURCE,
        computes="y[i] = x[index[i]]",
        plan=plan_gather,
        check=check_gather,
        reference=lambda x, index: x[index].astype(np.float64),
        example=example_gather,
        work=lambda x, index: Work(bytes=12.0 * index.size),
        tolerance=0.0,
        max_registers=64,
        builds=({"WIDTH": 16},),
        entries=("stream_copy", "pointer_chase", "gather"),
    ),
)
