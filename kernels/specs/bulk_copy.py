"""Lesson 4's kernels: a tile by the copy engine in and out, and a transpose with and without the 128-byte swizzle.

y, image = kernels.load("tma_tile_copy")(x, scale, shift)        # y = scale[:, None] * x + shift; image: the tiles as they lay in shared memory
d = kernels.load("transpose")(a, swizzle=128, read=16)           # d = a.T
"""

from __future__ import annotations

import numpy as np

from kernels.arrays import require_array, require_choice
from kernels.spec import Bug, Case, KernelSpec, Launch, Plan, Work, ceil_div
from kernels.specs.barriers import pad_columns
from kernels.tensormap import TensorMap

ROWS, COLUMNS, ROW_BYTES = 64, 32, 128
SHARED_BYTES = ROWS * ROW_BYTES + 8


def swizzled_offset(row: int, byte: int) -> int:
    """Where byte `byte` (0..127) of row `row` lies in a tile of 128-byte rows with the 128-byte swizzle: chunk index XOR row mod 8."""
    return row * ROW_BYTES + (byte ^ row % 8 * 16)


def grid_of(m: int, n: int) -> tuple[int, int]:
    return ceil_div(n, COLUMNS), ceil_div(m, ROWS)


# ---------------------------------------------------------------------------------------------- tma_tile_copy
def check_copy(x, scale, shift, image=True) -> None:
    require_array("x", x, dtype="fp32", ndim=2)
    require_array("scale", scale, dtype="fp32", shape=(x.shape[0],))
    require_array("shift", shift, dtype="fp32", shape=(x.shape[1],))


def plan_copy(ctx, x, scale, shift, image=True) -> Plan:
    m, n = x.shape
    grid = grid_of(m, n)
    wide = pad_columns(ctx, x)
    y = ctx.empty(wide.shape, "fp32")
    pictures = ctx.empty((grid[0] * grid[1], ROWS, ROW_BYTES), "uint8") if image else None
    maps = [TensorMap(a[:, :n], (ROWS, COLUMNS)) for a in (wide, y)]
    args = [*maps, scale, shift, pictures, np.int32(m), np.int32(n)]
    result = (y[:, :n], pictures) if image else y[:, :n]
    return Plan([Launch("tma_tile_copy", grid, (128,), args, SHARED_BYTES)], result)


def tiles_of(x) -> np.ndarray:
    """(tiles, 64, 128) uint8: the bytes of each tile's rows, 0 where the tile hangs over the edge."""
    m, n = x.shape
    across, down = grid_of(m, n)
    full = np.zeros((down * ROWS, across * COLUMNS), np.float32)
    full[:m, :n] = x
    tiles = full.reshape(down, ROWS, across, COLUMNS).transpose(0, 2, 1, 3)
    return np.ascontiguousarray(tiles).view(np.uint8).reshape(across * down, ROWS, ROW_BYTES)


def lay_out(x, function) -> np.ndarray:
    """The tiles of x as they lie in shared memory, if `function(row, byte)` says where a byte goes."""
    offsets = np.array([[function(r, b) for b in range(ROW_BYTES)] for r in range(ROWS)]).reshape(-1)
    if sorted(offsets.tolist()) != list(range(ROWS * ROW_BYTES)):
        raise ValueError("two bytes of a tile are given the same place, or one a place outside the tile")
    tiles = tiles_of(x).reshape(-1, ROWS * ROW_BYTES)
    out = np.empty_like(tiles)
    out[:, offsets] = tiles
    return out.reshape(-1, ROWS, ROW_BYTES)


def reference_copy(x, scale, shift, image=True):
    y = scale.astype(np.float64)[:, None] * x.astype(np.float64) + shift.astype(np.float64)
    return (y, lay_out(x, swizzled_offset).astype(np.float64)) if image else y


def exercise_copy(function, result, /, x, scale, shift, image=True):
    """swizzled_offset(row, byte) against the bytes as the copy engine laid them."""
    return lay_out(x, function), result[1]


def example_copy(rng, m: int = 131, n: int = 77):
    draw = lambda *shape: rng.standard_normal(shape).astype(np.float32)
    return (draw(m, n) * np.linspace(1, 3, m, dtype=np.float32)[:, None], draw(m), draw(n)), {}


def cases_copy(rng, count: int):
    """One element, one tile, tiles over both edges; scale differs by row and shift by column, so that no misplaced chunk can pass."""
    sizes = [(131, 77), (1, 1), (64, 32), (65, 33), (3, 97), (127, 5)]
    for i in range(count):
        m, n = sizes[i] if i < len(sizes) else (int(rng.integers(1, 140)), int(rng.integers(1, 100)))
        yield Case(f"{m} x {n}", *example_copy(rng, m, n))


# ---------------------------------------------------------------------------------------------- transpose
def check_transpose(a, swizzle=128, read=16) -> None:
    require_array("a", a, dtype="fp32", ndim=2)
    require_choice("swizzle", swizzle, (0, 128))
    require_choice("read", read, (4, 16))


def plan_transpose(ctx, a, swizzle=128, read=16) -> Plan:
    m, n = a.shape
    d = ctx.empty((n, m), "fp32")
    args = [
        TensorMap(pad_columns(ctx, a)[:, :n], (ROWS, COLUMNS), swizzle=swizzle, l2=256),
        d,
        np.int32(m),
        np.int32(n),
        np.int32(m),
    ]
    return Plan(
        [Launch("transpose", grid_of(m, n), (256,), args, SHARED_BYTES, defines={"SWIZZLE": swizzle, "READ": read})], d
    )


def example_transpose(rng, m: int = 131, n: int = 77, swizzle: int = 128, read: int = 16):
    return (rng.standard_normal((m, n)).astype(np.float32),), dict(swizzle=swizzle, read=read)


def cases_transpose(rng, count: int):
    """Sizes over both edges; mostly the swizzled tile, since that is where the challenge is."""
    sizes = [(131, 77), (1, 1), (64, 32), (65, 33), (3, 97), (127, 5)]
    for i in range(count):
        m, n = sizes[i] if i < len(sizes) else (int(rng.integers(1, 140)), int(rng.integers(1, 100)))
        swizzle, read = (128, (16, 4)[i % 2]) if i % 4 != 3 else (0, 16)
        yield Case(f"{m} x {n}, swizzle {swizzle}, {read}-byte reads", *example_transpose(rng, m, n, swizzle, read))


def wavefronts(swizzle: int, read: int) -> dict[str, int]:
    """Wavefronts of shared memory that reading one tile down its columns takes, and the fewest possible. Counted, not measured.

    A warp's access is served 128 bytes at a time: 4-byte reads by 32 lanes together, 16-byte reads by 8; a wavefront takes each of the
    32 banks (4 bytes) once, for one word.
    """
    lanes = 32 if read == 4 else 8
    total = least = 0
    for column in range(0, COLUMNS, read // 4):
        for first in range(0, ROWS, lanes):
            words: dict[int, set[int]] = {}
            for row in range(first, first + lanes):
                at = swizzled_offset(row, 4 * column) if swizzle else row * ROW_BYTES + 4 * column
                for word in range(at // 4, (at + read) // 4):
                    words.setdefault(word % 32, set()).add(word)
            total += max(map(len, words.values()))
            least += 1
    return {"wavefronts": total, "least": least}


BUGS = {
    "no_proxy_fence": "The tile is changed by ordinary stores and stored by the copy engine without fence_proxy_async: the copy engine may read "
    "what was in shared memory before.",
    "expect_inside_only": "At the edge only the bytes inside the tensor are expected. The box is filled with zeros and counts its full bytes all "
    "the same, so the transaction count never comes back to 0: the block waits for ever.",
    "wrong_expect_tx": "128 bytes too few are expected: the phase completes while the last bytes are still on their way.",
    "no_full_wait": "Nobody waits for FULL: the tile is read before it has landed.",
    "no_swizzle": "The tile lies swizzled and is read as if it did not: every row but the first of eight has its chunks in another order.",
}

SPECS = (
    KernelSpec(
        name="tma_tile_copy",
        source="tma_tile_copy.cu",
        computes="y = scale[m] * x + shift[n], tile by tile by the copy engine, and the tiles as they lay in shared memory",
        plan=plan_copy,
        check=check_copy,
        reference=reference_copy,
        example=example_copy,
        cases=cases_copy,
        exercise=exercise_copy,
        work=lambda x, scale, shift, image=True: Work(flops=2.0 * x.size, bytes=8.0 * x.size),
        tolerance=2e-7,
        max_registers=40,
        entries=("tma_tile_copy",),
        bugs={name: Bug({"BUG": name}, why) for name, why in BUGS.items()},
    ),
    KernelSpec(
        name="transpose",
        source="transpose.cu",
        computes="D = A^T through shared memory, with and without the 128-byte swizzle, read 4 or 16 bytes at a time",
        plan=plan_transpose,
        check=check_transpose,
        reference=lambda a, swizzle=128, read=16: a.T.astype(np.float64),
        example=example_transpose,
        cases=cases_transpose,
        work=lambda a, **_: Work(bytes=8.0 * a.size),
        tolerance=0.0,
        max_registers=40,
        builds=tuple({"SWIZZLE": s, "READ": r} for s in (0, 128) for r in (4, 16)),
        entries=("transpose",),
        bugs={name: Bug({"BUG": name}, BUGS[name]) for name in ("wrong_expect_tx", "no_full_wait", "no_swizzle")},
    ),
)
