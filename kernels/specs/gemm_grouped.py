"""Lesson 13's kernel: many GEMMs of different heights in one launch.

d, found = kernels.load("gemm_grouped")(a, b, rows)

a (T, K) bf16: all groups' rows below one another.  b (G, N, K) bf16.  rows (G,) int32, sum T: rows of each group, any number, zero too; on a GPU
they may have been written by another kernel.  d (T, N) bf16 or fp32: rows of group g times b[g].T.  found (tiles,) int32: the group of each tile.
"""

from __future__ import annotations

import numpy as np

from kernels import arrays
from kernels.arrays import require_choice
from kernels.errors import ArgumentError
from kernels.spec import Bug, Case, KernelSpec, Launch, Plan, Work, ceil_div
from kernels.specs import gemm
from kernels.tensormap import TensorMap

TILE_M, TILE_N, STAGES, THREADS = 128, 256, 4, 384
SEARCHES = {"ballot": 0, "scalar": 1}
SHARED = STAGES * ((TILE_M + TILE_N) * gemm.TILE_K * 2 + 16)


def tile_counts(rows, n: int) -> np.ndarray:
    """Tiles of each group, (G,) int64."""
    return -(-np.asarray(rows, np.int64) // TILE_M) * ceil_div(n, TILE_N)


def find_group(linear: int, counts) -> int:
    """The group of tile `linear`, tiles counted group by group; groups without tiles are passed over."""
    return int(np.searchsorted(np.cumsum(counts), linear, side="right"))


def check(a, b, rows, *, search="ballot", out="bf16") -> None:
    arrays.require_array("a", a, dtype="bf16", ndim=2)
    arrays.require_array("b", b, dtype="bf16", ndim=3)
    arrays.require_array("rows", rows, dtype="int32", ndim=1)
    arrays.require_sides("a", a)
    arrays.require_sides("b", b)
    require_choice("search", search, tuple(SEARCHES))
    require_choice("out", out, tuple(gemm.OUT))
    if a.shape[1] != b.shape[2] or rows.shape[0] != b.shape[0]:
        raise ArgumentError(
            f"a is (T, K), b is (G, N, K) and rows is (G,); got {tuple(a.shape)}, {tuple(b.shape)}, {tuple(rows.shape)}."
        )
    given = arrays.to_numpy(rows)
    if (given < 0).any() or int(given.sum()) != a.shape[0]:
        raise ArgumentError(
            f"rows must be 0 or more and add up to a's {a.shape[0]} rows; they add up to {int(given.sum())}."
        )
    if b.shape[0] * b.shape[1] >= 2**31:
        raise ArgumentError(
            "G times N must be less than 2**31: the copy engine counts all groups' rows of b as one matrix's."
        )


def launch_of(a, b, d, rows, found, size, search: str, out: str, sms: int) -> Launch:
    """One launch on arrays in padded rows; b as (G * N, K); size (G, N, K); found may be None."""
    groups, n, k = size
    maps = [TensorMap(x[:, :k], (t, gemm.TILE_K), l2=256, dtype="bfloat16") for x, t in ((a, TILE_M), (b, TILE_N))]
    args = [*maps, d, rows, found, np.int32(groups), np.int32(n), np.int32(k), np.int32(d.shape[1])]
    defines = {"OUT": gemm.OUT[out], "SCALAR_SEARCH": SEARCHES[search]}
    return Launch("gemm_grouped", (sms,), (THREADS,), args, SHARED, defines=defines, registers=168)


def plan(ctx, a, b, rows, *, search="ballot", out="bf16") -> Plan:
    groups, n, k = b.shape
    tiles = int(tile_counts(arrays.to_numpy(rows), n).sum())
    d, found = ctx.empty((a.shape[0], gemm.pitch(n)), out), ctx.empty((tiles,), "int32")
    a, b = gemm.padded(ctx, a), gemm.padded(ctx, b.reshape(groups * n, k))
    return Plan([launch_of(a, b, d, rows, found, (groups, n, k), search, out, ctx.sms)], (d[:, :n], found))


def reference(a, b, rows, *, search="ballot", out="bf16"):
    """(d in float64, the group of each tile)."""
    parts = np.split(a.astype(np.float64), np.cumsum(rows)[:-1])
    d = np.concatenate([x @ w.T for x, w in zip(parts, b.astype(np.float64))])
    counts = tile_counts(rows, b.shape[1])
    return d, np.repeat(np.arange(len(counts)), counts).astype(np.float64)


def exercise(function, result, /, a, b, rows, **_):
    """find_group(linear, tile_counts) against the groups that the kernel found."""
    counts = tile_counts(rows, b.shape[1])
    asked = [function(i, counts.copy()) for i in range(int(counts.sum()))]
    return np.array(asked, np.float64), result[1]


def example(
    rng, heights=(131, 0, 1, 260, 0, 77), n: int = 277, k: int = 197, search: str = "ballot", out: str = "fp32"
):
    """Groups of the given heights; every row and every group has a scale of its own."""
    rows = np.array(heights, np.int32)
    a = rng.standard_normal((int(rows.sum()), k)) * np.linspace(0.5, 2.0, int(rows.sum()))[:, None]
    b = rng.standard_normal((len(rows), n, k)) * np.linspace(2.0, 0.5, len(rows))[:, None, None]
    bf16 = arrays.DTYPES["bf16"]
    return (a.astype(bf16), b.astype(bf16), rows), {"search": search, "out": out}


def cases(rng, count: int):
    """Empty groups first, last and in a row; more than 32 groups; one group; heights at a tile's edge."""
    heights = (
        (131, 0, 1, 260, 0, 77),
        (0, 0, 0, 5, 128, 0),
        (300,),
        tuple(int(h) for h in rng.integers(0, 40, 37)),
        (128, 256, 1, 127, 129),
        (*(0,) * 33, 9, *(0,) * 30, 3),
    )
    for i in range(count):
        n, k = (int(s) for s in rng.integers(1, 300, 2))
        chosen = heights[i % len(heights)]
        search, out = ("ballot", "scalar")[i // len(heights) % 2], ("fp32", "bf16")[i % 2]
        label = f"{len(chosen)} groups, {sum(chosen)} rows, N {n}, K {k}, {search}, {out} out"
        yield Case(label, *example(rng, chosen, n, k, search, out))


def several_laps(rng):
    """Two tiles or more a block on the emulator's eight SMs, each more than one lap of the ring."""
    return example(rng, (300, 0, 129, 400, 10, 200), 300, 9 * gemm.TILE_K)


def many_groups(rng):
    """More than one window of 32 groups, some of them empty."""
    return example(rng, tuple((7 * g) % 5 for g in range(40)), 60, 130)


def work(a, b, rows, *, search="ballot", out="bf16") -> Work:
    (t, k), (groups, n, _) = a.shape, b.shape
    moved = 2 * (t * k + groups * n * k) + arrays.DTYPES[out].itemsize * t * n
    return Work(flops=2.0 * t * n * k, bytes=moved)


BUGS = {
    **{name: Bug({"BUG": name}, gemm.EXPLAINS[name], several_laps) for name in (*gemm.RING_BUGS, "no_register_cap")},
    "takes_an_empty_group": Bug(
        {"TAKES_EMPTY": 1},
        "A group counts as the tile's when its tiles end exactly before it: the first tile of each group goes to the group before, empty "
        "ones among them. Wrong products, and one tile too many, which is noted behind the end of groups_found.",
        many_groups,
    ),
    "first_window_only": Bug(
        {"FIRST_WINDOW_ONLY": 1},
        "The search ends with the first 32 groups: the tiles of later groups are never computed. D keeps what stood there.",
        many_groups,
    ),
}

SPECS = (
    KernelSpec(
        name="gemm_grouped",
        source="gemm_grouped.cu",
        computes="D_g = A_g B_g^T for groups of different heights in one launch, and the group of each tile",
        plan=plan,
        check=check,
        reference=reference,
        example=example,
        cases=cases,
        exercise=exercise,
        work=work,
        tolerance=lambda a, b, rows, *, out="bf16", **_: 4e-3 if out == "bf16" else 2e-5,
        max_registers=168,
        builds=tuple({"OUT": c, "SCALAR_SEARCH": s} for c in gemm.OUT.values() for s in (0, 1)),
        entries=("gemm_grouped",),
        bugs=BUGS,
        compared_on_gpu=False,
    ),
)
