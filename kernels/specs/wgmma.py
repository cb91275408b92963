"""Lesson 5's kernels: one tile by wgmma with the raw registers of every thread, and the matrix unit's rate.

    d, fragments = kernels.load("wgmma_tile")(a, b)                      # d = a @ b.T; fragments[t, r]: register r of thread t
    d, fragments = kernels.load("wgmma_tile")(a, b, a_from="registers")  # RS instead of SS

a (64, K), b (N, K): bf16, fp16, e4m3, or fp32 (multiplied as tf32, which has 11 significant bits: the rest is dropped).
"""

from __future__ import annotations

import numpy as np

from kernels import arrays
from kernels.arrays import require_array, require_choice
from kernels.errors import ArgumentError
from kernels.spec import Bug, Case, KernelSpec, Launch, Plan, Work, ceil_div

TILE_M, ROW_BYTES, STEP_BYTES, THREADS = 64, 128, 32, 128
WIDTHS = (8, 16, 24, 32, 48, 64, 80, 96, 112, 128, 160, 192, 224, 256)  # of N that the vocabulary has instructions for
TYPES = {"bf16": "bf16", "fp16": "fp16", "fp32": "tf32", "e4m3": "e4m3"}  # of the array -> of the instruction
SOURCES = ("shared", "registers")


def coordinates(thread: int, register: int) -> tuple[int, int]:
    """(row, column) of the 64 x N accumulator tile that a register of a thread holds (PTX ISA, wgmma, matrix D)."""
    row = 16 * (thread // 32) + thread % 32 // 4 + 8 * (register // 2 % 2)
    return row, 8 * (register // 4) + 2 * (thread % 4) + register % 2


def elements_a_step(dtype: str) -> int:
    """K of one wgmma: 256 bits, whatever the type."""
    return STEP_BYTES // arrays.DTYPES[dtype].itemsize


# ---------------------------------------------------------------------------------------------- wgmma_tile
def check_tile(a, b, a_from="shared") -> None:
    require_array("a", a, dtype=tuple(TYPES), ndim=2)
    require_array("b", b, dtype=arrays.NAMES[a.dtype], ndim=2)
    require_choice("a_from", a_from, SOURCES)
    if a.shape[0] != TILE_M or b.shape[0] not in WIDTHS or a.shape[1] != b.shape[1]:
        raise ArgumentError(
            f"a is (64, K) and b (N, K) with N one of {WIDTHS}; got {tuple(a.shape)} and {tuple(b.shape)}."
        )


def pad_k(ctx, x):
    """x with rows filled up with zeros to whole lines of 128 bytes."""
    step = ROW_BYTES // x.itemsize
    if x.shape[1] % step == 0:
        return x
    bits = f"u{x.itemsize}"  # CuPy allocates no array of an 8-bit float
    wide = ctx.zeros((x.shape[0], ceil_div(x.shape[1], step) * step), bits)
    wide[:, : x.shape[1]] = x.view(bits)
    return wide.view(x.dtype)


def plan_tile(ctx, a, b, a_from="shared") -> Plan:
    n = b.shape[0]
    a, b = pad_k(ctx, a), pad_k(ctx, b)
    d, fragments = ctx.empty((TILE_M, n), "fp32"), ctx.empty((THREADS, n // 2), "fp32")
    defines = {"T": TYPES[arrays.NAMES[a.dtype]], "TILE_N": n, "A_FROM_REGISTERS": int(a_from == "registers")}
    args = [a, b, d, fragments, np.int32(a.shape[1])]
    return Plan(
        [Launch("wgmma_tile", (1,), (THREADS,), args, (TILE_M + n) * ROW_BYTES, defines=defines)], (d, fragments)
    )


def exact(x) -> np.ndarray:
    """x in float64 as the instruction sees it: fp32 with the bits that tf32 has not dropped."""
    if x.dtype == np.float32:
        x = (x.view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32)
    return x.astype(np.float64)


def gather_fragments(d: np.ndarray, function) -> np.ndarray:
    """(128, N / 2): the element of d that each register of each thread holds, if `function(thread, register)` says where it belongs."""
    places = np.array([[function(t, r) for r in range(d.shape[1] // 2)] for t in range(THREADS)])
    if places.shape[2:] != (2,):
        raise ValueError("the function must return (row, column)")
    if places.min() < 0 or (places >= d.shape).any():
        raise ValueError(f"a place outside the {d.shape[0]} x {d.shape[1]} tile")
    return d[places[..., 0], places[..., 1]]


def reference_tile(a, b, a_from="shared"):
    d = exact(a) @ exact(b).T
    return d, gather_fragments(d, coordinates)


def exercise_tile(function, result, /, a, b, a_from="shared"):
    """accumulator_coord(thread, register) against the registers: the exact product gathered by the function."""
    return gather_fragments(exact(a) @ exact(b).T, function), result[1]


def index_operands(n: int):
    """(a, b) whose product is 256 * row + column, exactly: the registers then hold their own coordinates. bf16, K = 64."""
    a, b = np.zeros((TILE_M, 64)), np.zeros((n, 64))
    a[:, 0], a[:, 1] = np.arange(TILE_M), 1.0
    b[:, 0], b[:, 1] = 256.0, np.arange(n)
    return a.astype(arrays.DTYPES["bf16"]), b.astype(arrays.DTYPES["bf16"])


def fragment_map(fragments: np.ndarray) -> np.ndarray:
    """(128, N / 2, 2): row and column of each register, read off the result for index_operands."""
    value = fragments.astype(np.int64)
    return np.stack([value // 256, value % 256], axis=-1)


def example_tile(rng, n: int = 128, k: int = 197, dtype: str = "bf16", a_from: str = "shared"):
    scale = np.linspace(0.5, 2.0, TILE_M)[:, None]
    a, b = rng.standard_normal((TILE_M, k)) * scale, rng.standard_normal((n, k)) * np.linspace(2.0, 0.5, n)[:, None]
    return (a.astype(arrays.DTYPES[dtype]), b.astype(arrays.DTYPES[dtype])), dict(a_from=a_from)


def cases_tile(rng, count: int):
    """The narrowest and the widest tile, K that no instruction divides, all types, A from both places."""
    plan = [
        (128, 197, "bf16", 0),
        (8, 1, "bf16", 1),
        (256, 64, "fp16", 0),
        (24, 131, "bf16", 1),
        (16, 61, "fp32", 0),
        (64, 257, "e4m3", 1),
    ]
    for i in range(count):
        n, k, dtype, registers = (
            plan[i] if i < len(plan) else (int(rng.choice(WIDTHS[:10])), int(rng.integers(1, 260)), "bf16", i % 2)
        )
        yield Case(
            f"64 x {n} x {k}, {dtype}, A from {SOURCES[registers]}", *example_tile(rng, n, k, dtype, SOURCES[registers])
        )


def bound_tile(a, b, a_from="shared") -> float:
    """fp32 sums; FP8 instructions keep about 14 bits of theirs (lesson 7 measures it)."""
    return 1e-2 if a.dtype == arrays.DTYPES["e4m3"] else 1e-5


# ---------------------------------------------------------------------------------------------- wgmma_rate
def check_rate(a, b, repeats=8, a_from="shared") -> None:
    require_array("a", a, dtype="bf16", ndim=2)
    require_array("b", b, dtype="bf16", ndim=2)
    require_choice("a_from", a_from, SOURCES)
    if a.shape[1] != 64 or b.shape[1] != 64 or b.shape[0] not in WIDTHS or a.shape[0] not in (64, 128, 192, 256):
        raise ArgumentError(
            f"a is (64, 128, 192 or 256; 64) and b (N, 64) with N one of {WIDTHS}; got {tuple(a.shape)} and {tuple(b.shape)}."
        )
    if not isinstance(repeats, int) or repeats < 1:
        raise ArgumentError(f"repeats is a whole number above 0; it is {repeats!r}.")


def launch_rate(ctx, a, b, sums, cycles, repeats: int, a_from: str) -> Launch:
    """One block an SM. sums: (SMs, threads a block) fp32; cycles: (SMs,) uint32 or None."""
    groups, n = a.shape[0] // TILE_M, b.shape[0]
    defines = {"TILE_N": n, "GROUPS": groups, "A_FROM_REGISTERS": int(a_from == "registers")}
    args = [a, b, sums, cycles, np.int32(repeats)]
    return Launch("wgmma_rate", (ctx.sms,), (groups * THREADS,), args, (a.shape[0] + n) * ROW_BYTES, defines=defines)


def plan_rate(ctx, a, b, repeats=8, a_from="shared") -> Plan:
    sums = ctx.empty((ctx.sms, a.shape[0] // TILE_M * THREADS), "fp32")
    return Plan([launch_rate(ctx, a, b, sums, None, repeats, a_from)], sums[0])


def reference_rate(a, b, repeats=8, a_from="shared"):
    groups = [
        gather_fragments(exact(a[g : g + TILE_M]) @ exact(b).T, coordinates).sum(axis=1)
        for g in range(0, a.shape[0], TILE_M)
    ]
    return repeats * np.concatenate(groups)


def example_rate(rng, n: int = 64, groups: int = 2, repeats: int = 5, a_from: str = "shared"):
    draw = lambda rows: rng.standard_normal((rows, 64)).astype(arrays.DTYPES["bf16"])
    return (draw(TILE_M * groups), draw(n)), dict(repeats=repeats, a_from=a_from)


BUGS = {
    "read_before_wgmma_wait": "The accumulators are read after wgmma_commit without wgmma_wait: the matrix unit may still add to them. The registers "
    "hold sums of the k steps that happen to be done.",
    "no_proxy_fence": "Operands reach shared memory by ordinary stores without fence_proxy_async: the matrix unit may read what was there before.",
}
SPECS = (
    KernelSpec(
        name="wgmma_tile",
        source="wgmma_tile.cu",
        computes="D = A B^T for one 64 x N tile by one warpgroup, and the accumulators as each thread holds them",
        plan=plan_tile,
        check=check_tile,
        reference=reference_tile,
        example=example_tile,
        cases=cases_tile,
        exercise=exercise_tile,
        work=lambda a, b, a_from="shared": Work(flops=2.0 * a.shape[0] * a.shape[1] * b.shape[0]),
        tolerance=bound_tile,
        max_registers=200,
        builds=(
            {"TILE_N": 256},
            {"TILE_N": 256, "A_FROM_REGISTERS": 1},
            {"T": "e4m3", "TILE_N": 8},
            {"T": "tf32", "TILE_N": 64},
        ),
        entries=("wgmma_tile",),
        bugs={name: Bug({"BUG": name}, why) for name, why in BUGS.items()},
    ),
    KernelSpec(
        name="wgmma_rate",
        source="wgmma_rate.cu",
        computes="the same wgmmas over and over on operands that stay on the chip: the matrix unit's rate",
        plan=plan_rate,
        check=check_rate,
        reference=reference_rate,
        example=example_rate,
        work=lambda a, b, repeats=8, a_from="shared": Work(flops=2.0 * a.shape[0] * 64 * b.shape[0] * repeats),
        tolerance=1e-4,
        max_registers=200,
        builds=({"TILE_N": 256}, {"TILE_N": 64, "A_FROM_REGISTERS": 1}),
        entries=("wgmma_rate",),
    ),
)
