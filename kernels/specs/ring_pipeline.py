"""Lesson 6's kernel: a ring of 1 to 7 stages between one producer and two consumers.

d, places = kernels.load("ring_pipeline")(a, b, stages=3)        # d = a @ b.T; places[k]: the stage and the phase of k-block k
"""

from __future__ import annotations

import numpy as np

from kernels.arrays import require_choice
from kernels.spec import Bug, Case, KernelSpec, Launch, Plan, ceil_div
from kernels.specs import gemm
from kernels.tensormap import TensorMap

TILE, THREADS, MOST_STAGES = 128, 384, 7


def shared_bytes(stages: int) -> int:
    """Two tiles of 128 x 64 bf16 and two barriers a stage."""
    return stages * (2 * TILE * gemm.TILE_K * 2 + 16)


def advance(index: int, phase: int, stages: int) -> tuple[int, int]:
    """The place after (index, phase) in a ring of `stages`: the phase flips when the index wraps."""
    return (0, phase ^ 1) if index + 1 == stages else (index + 1, phase)


def check(a, b, stages=4, out="fp32") -> None:
    gemm.check(a, b, out=out)
    require_choice("stages", stages, tuple(range(1, MOST_STAGES + 1)))


def launch_of(a, b, d, places, size, stages: int, out: str) -> Launch:
    """One launch on arrays in padded rows (see kernels.specs.gemm); places may be None."""
    m, n, k = size
    maps = [TensorMap(x[:, :k], (TILE, gemm.TILE_K), l2=256, dtype="bfloat16") for x in (a, b)]
    args = [*maps, d, places, np.int32(m), np.int32(n), np.int32(k), np.int32(d.shape[1])]
    defines = {"STAGES": stages, "OUT": gemm.OUT[out]}
    grid = (ceil_div(n, TILE), ceil_div(m, TILE))
    return Launch("ring_pipeline", grid, (THREADS,), args, shared_bytes(stages), defines=defines, registers=168)


def plan(ctx, a, b, stages=4, out="fp32") -> Plan:
    (m, k), n = a.shape, b.shape[0]
    d, places = ctx.empty((m, gemm.pitch(n)), out), ctx.empty((ceil_div(k, gemm.TILE_K), 2), "int32")
    a, b = gemm.padded(ctx, a), gemm.padded(ctx, b)
    return Plan([launch_of(a, b, d, places, (m, n, k), stages, out)], (d[:, :n], places))


def walk(function, k_blocks: int, stages: int) -> np.ndarray:
    """The places of k-blocks 0, 1, ... by a function of (index, phase, stages)."""
    place, places = (0, 0), []
    for _ in range(k_blocks):
        places.append(tuple(place))
        place = function(*place, stages)
    return np.array(places, np.float64)


def reference(a, b, stages=4, out="fp32"):
    return gemm.reference(a, b), walk(advance, ceil_div(a.shape[1], gemm.TILE_K), stages)


def exercise(function, result, /, a, b, stages=4, **_):
    """advance(index, phase, stages) against the places that the kernel's consumer went through."""
    return walk(function, result[1].shape[0], stages), result[1]


def example(rng, m: int = 131, n: int = 77, k: int = 901, stages: int = 4, out: str = "fp32"):
    given, _ = gemm.example(rng, m, n, k)
    return given, dict(stages=stages, out=out)


def cases(rng, count: int):
    """One stage to seven, each more than two laps; K that no block divides."""
    for i in range(count):
        stages = (3, 1, 2, 4, 7, 5)[i % 6]
        m, n = (int(s) for s in rng.integers(1, 140, 2))
        k = int(rng.integers(64 * (2 * stages + 1), 64 * (2 * stages + 3)))
        yield Case(f"{stages} stages, {m} x {n} x {k}", *example(rng, m, n, k, stages))


def laps(rng, m: int = 128, n: int = 128, k: int = 20 * gemm.TILE_K, stages: int = 3):
    """More than six laps of the ring: what its defects need."""
    return example(rng, m, n, k, stages)


SPECS = (
    KernelSpec(
        name="ring_pipeline",
        source="ring_pipeline.cu",
        computes="D = A B^T through a ring of 1 to 7 stages, one producer and two consumers, and the places a consumer went through",
        plan=plan,
        check=check,
        reference=reference,
        example=example,
        cases=cases,
        exercise=exercise,
        work=lambda a, b, stages=4, out="fp32": gemm.work(a, b, out=out),
        tolerance=lambda a, b, stages=4, out="fp32": gemm.tolerance(a, b, out=out),
        max_registers=168,
        builds=tuple({"STAGES": s, "OUT": "bf16"} for s in (1, 2, 7)),
        entries=("ring_pipeline",),
        bugs={name: Bug({"BUG": name}, gemm.EXPLAINS[name], laps) for name in gemm.RING_BUGS},
    ),
)
