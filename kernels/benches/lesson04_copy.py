"""Lesson 4: the transpose with and without swizzle, the tile copy, and by hardware counters bank conflicts and the tile copy's sectors."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kernels.bench import Bench, Session
from kernels.benches.counters import SIDE, profile, read_counters
from kernels.benches.lesson07_speed import device_copy, random_fp32
from kernels.benches.ready import TIMES, compile_all, context, enqueue, graph_of, prepare
from kernels.errors import KernelError
from kernels.spec import get_spec
from kernels.specs.bulk_copy import COLUMNS, ROWS, wavefronts
from kernels.tensormap import TensorMap

LARGE, SMALL = 16384, 2048  # sides: 1 GiB of fp32, far beyond the L2; 16 MiB, within it
COPIES = (
    (LARGE, LARGE),
    (LARGE - 31, LARGE - 32),
    (LARGE - 31, LARGE - 16),
    (LARGE - 31, LARGE - 24),
    (LARGE - 31, LARGE - 28),
)  # m, n
FENCE = ((LARGE, 2000), (SMALL, 20000))  # side, launches
VARIANTS = ((0, 4), (128, 4), (0, 16), (128, 16))  # swizzle, bytes a read
READ, WRITTEN = "read", "write"  # which way, in the counters' names
TRAFFIC = tuple(f"lts__t_sectors_op_{way}.sum" for way in (READ, WRITTEN)) + tuple(
    f"dram__bytes_{way}.sum" for way in (READ, WRITTEN)
)
LAUNCHES = 3  # of each size under the counters; the first warms the caches, the median of each counter is told


def transposes(session: Session) -> list[dict]:
    """Every variant at a size bound by device memory and at one that stays in the L2."""
    compile_all([("transpose.cu", {"SWIZZLE": s, "READ": r}) for s, r in VARIANTS])
    points = []
    for side, inner in ((LARGE, 1), (SMALL, 20)):
        a = random_fp32((side, side))
        calls = {"device copy": device_copy(a.nbytes)}
        for swizzle, read in VARIANTS:
            calls[f"swizzle {swizzle}, {read}-byte reads"], _ = prepare("transpose", a, swizzle=swizzle, read=read)
        if inner > 1:  # too short to be launched one by one
            calls = {name: graph_of([call] * inner) for name, call in calls.items()}
        times = {
            name: {k: v / inner if k.startswith("ms") else v for k, v in t.items()}
            for name, t in session.time(calls, repeats=15).items()
        }
        rate = lambda t: 2 * a.nbytes / t["ms"] / 1e9
        for name, t in times.items():
            swizzle, read = VARIANTS[list(times).index(name) - 1] if name != "device copy" else (0, 0)
            counted = wavefronts(swizzle, read) if read else {"wavefronts": 0, "least": 0}
            points.append({"side": side, "variant": name, "swizzle": swizzle, "read": read, "tb_per_s": rate(t), "of_copy": rate(t) / rate(times["device copy"]),
                           "counted_wavefronts": counted["wavefronts"], "least_wavefronts": counted["least"], **t})  # fmt: skip
        session.say(
            f"side {side}: " + ", ".join(f"{p['variant']} {p['of_copy']:.1%}" for p in points if p["side"] == side)
        )
    return points


def tile_copy(session: Session) -> list[dict]:
    """The tile in and out by the copy engine, against a device copy: whole tiles, tiles over the edge, rows that start between lines."""
    points = []
    for m, n in COPIES:
        x, scale, shift = random_fp32((m, n)), random_fp32(m), random_fp32(n)
        call, _ = prepare("tma_tile_copy", x, scale, shift, image=False)
        times = session.time({"device copy": device_copy(x.nbytes), "tma_tile_copy": call}, repeats=20)
        copy = times["device copy"]["ms"]
        aligned = 4 * n & -(4 * n)
        points += [{"m": m, "n": n, "row_alignment": min(128, aligned), "variant": v, "tb_per_s": 2 * x.nbytes / t["ms"] / 1e9, "of_copy": copy / t["ms"], **t}
                   for v, t in times.items()]  # fmt: skip
        session.say(
            f"{m} x {n}, rows start at multiples of {min(128, aligned)} B: tma_tile_copy {points[-1]['of_copy']:.1%} of the copy"
        )
    return points


def child() -> None:
    """What ncu watches: LAUNCHES of the tile copy at each size, in a fixed order, nothing else of this name."""
    import cupy

    for m, n in COPIES:
        call, _ = prepare("tma_tile_copy", random_fp32((m, n)), random_fp32(m), random_fp32(n), image=False)
        for _ in range(LAUNCHES):
            call()
            cupy.cuda.runtime.deviceSynchronize()


def counted_sectors(m: int, n: int) -> int:
    """Sectors of 32 bytes that all boxes' rows touch, one way, from the addresses: the tensor starts with a sector, boxes end at its edge."""
    row = 4 * n * np.arange(m)[:, None]
    start = row + np.arange(0, 4 * n, 4 * COLUMNS)
    last = np.minimum(start + 4 * COLUMNS, row + 4 * n) - 1
    return int((last // 32 - start // 32 + 1).sum())


def row_traffic(session: Session) -> list[dict]:
    """Sectors that the tile copy moves through the L2 and bytes of device memory, by ncu, beside the count from addresses."""
    rows, _ = profile("from kernels.benches.lesson04_copy import child; child()", TRAFFIC, "tma_tile_copy")
    if len(rows) != LAUNCHES * len(COPIES):
        raise KernelError(f"ncu saw {len(rows)} launches; {LAUNCHES * len(COPIES)} were made.")
    points = []
    for i, (m, n) in enumerate(COPIES):
        kept = rows[i * LAUNCHES + 1 : (i + 1) * LAUNCHES]
        of = {name: sorted(r[name] for r in kept)[len(kept) // 2] for name in TRAFFIC}
        useful = 4 * m * n
        point = {
            "m": m,
            "n": n,
            "row_alignment": min(128, 4 * n & -(4 * n)),
            "counted": 32 * counted_sectors(m, n) / useful,
        }
        point |= {f"l2_{way}": 32 * of[f"lts__t_sectors_op_{way}.sum"] / useful for way in (READ, WRITTEN)}
        point |= {f"dram_{way}": of[f"dram__bytes_{way}.sum"] / useful for way in (READ, WRITTEN)}
        points.append(point)
        session.say(f"{m} x {n}: " + ", ".join(f"{k} {v:.3f}" for k, v in point.items() if isinstance(v, float)))
    return points


def row_sides(session: Session) -> list[dict]:
    """The same tiles with the rows of x, of y, of both or of neither aligned to 16 bytes only, the others to 128: which way costs the time?"""
    import cupy

    spec, points = get_spec("tma_tile_copy"), []
    for side, inner in ((LARGE, 1), (SMALL, 20)):
        m, n = side - 31, side - 28
        (launch,) = spec.plan(context(), random_fp32((m, n)), random_fp32(m), random_fp32(n), image=False).launches
        calls, kept = {"device copy": device_copy(4 * m * n)}, []
        for read, written in ((128, 128), (16, 128), (128, 16), (16, 16)):
            x, y = (
                cupy.zeros((m, side if alignment == 128 else n), cupy.float32)[:, :n] for alignment in (read, written)
            )
            kept += [x, y]
            maps = [TensorMap(a, (ROWS, COLUMNS)) for a in (x, y)]
            calls[f"read {read}, written {written}"] = enqueue(
                spec.source, replace(launch, args=[*maps, *launch.args[2:]])
            )
        if inner > 1:  # too short to be launched one by one
            calls = {name: graph_of([call] * inner) for name, call in calls.items()}
        times = {
            name: {k: v / inner if k.startswith("ms") else v for k, v in t.items()}
            for name, t in session.time(calls, repeats=20).items()
        }
        copy = times.pop("device copy")
        aligned = times["read 128, written 128"]["ms"]
        for (name, t), (read, written) in zip(times.items(), ((128, 128), (16, 128), (128, 16), (16, 16))):
            points.append({"side": side, "m": m, "n": n, "read_alignment": read, "write_alignment": written, "of_copy": copy["ms"] / t["ms"],
                           "over_aligned": t["ms"] / aligned, **t})  # fmt: skip
        session.say(f"side {side}: " + ", ".join(f"{name} {t['ms'] / aligned:.3f}" for name, t in times.items()))
    return points


def proxy_fence(session: Session) -> list[dict]:
    """With and without the fence before the store: time, and elements that differ from the fenced kernel's, over many launches.

    The result is filled with NaN before each launch, so that what was not written shows too.
    """
    import cupy

    spec, points = get_spec("tma_tile_copy"), []
    for side, launches in FENCE:
        x, scale, shift = random_fp32((side, side)), random_fp32(side), random_fp32(side)
        plan = spec.plan(context(), x, scale, shift, image=False)
        (fenced,) = plan.launches
        bare = replace(fenced, defines={**fenced.defines, **spec.bugs["no_proxy_fence"].defines})
        calls = {"fence": enqueue(spec.source, fenced), "no fence": enqueue(spec.source, bare)}
        calls["fence"]()
        right = plan.result.copy()
        wrong = {}
        for name, call in calls.items():
            counts = []
            for _ in range(launches):
                plan.result.fill(cupy.nan)
                call()
                counts.append(cupy.count_nonzero(plan.result != right))
            counts = cupy.stack(counts).get()
            wrong[name] = {
                "launches": launches,
                "wrong_launches": int((counts > 0).sum()),
                "wrong_elements": int(counts.sum()),
            }
        times = session.time(calls, repeats=30)
        points += [
            {"side": side, "variant": v, **wrong[v], "over_fenced": t["ms"] / times["fence"]["ms"], **t}
            for v, t in times.items()
        ]
        session.say(f"side {side}: " + "; ".join(f"{v} {t['ms']:.4f} ms, {wrong[v]}" for v, t in times.items()))
    return points


def bank_conflicts(session: Session) -> list[dict]:
    """Wavefronts of shared-memory loads, by ncu, beside the count from addresses and banks."""
    points = []
    tiles = (SIDE // ROWS) * (SIDE // COLUMNS)
    for row in read_counters(session):
        if row["kernel"] == "transpose":
            counted = wavefronts(row["swizzle"], row["read"])
            measured = row["l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"]
            points.append({"swizzle": row["swizzle"], "read": row["read"], "tiles": tiles, "wavefronts": measured, "wavefronts_per_tile": measured / tiles,
                           "conflicts": row["l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"],
                           "counted_per_tile": counted["wavefronts"], "least_per_tile": counted["least"]})  # fmt: skip
    return points


BENCHES = (
    Bench(
        "lesson04_transpose",
        f"Transpose through shared memory with and without the 128-byte swizzle, 4- and 16-byte reads: {LARGE} and {SMALL} fp32 square",
        ("transpose",),
        transposes,
        {
            "side": "rows and columns of A",
            "variant": "what ran",
            "swizzle": "bytes of the swizzle, 0 for none",
            "read": "bytes a thread reads from shared memory at a time",
            "tb_per_s": "bytes read + written / median time, 10^12 bytes a second",
            "of_copy": "that rate over the device copy's of the same size in the same run",
            "counted_wavefronts": "wavefronts a tile's reads take, counted from addresses and banks (not measured)",
            "least_wavefronts": "the fewest possible",
            **TIMES,
        },
    ),
    Bench(
        "lesson04_tile_copy",
        "tma_tile_copy (y = scale * x + shift through shared memory) against a device copy: whole tiles, tiles over the edge, and rows that "
        "start at multiples of 128, 64, 32 and 16 bytes",
        ("tma_tile_copy",),
        tile_copy,
        {
            "m": "rows",
            "n": "columns",
            "row_alignment": "bytes that every row's start is a multiple of, 128 at most",
            "variant": "what ran",
            "tb_per_s": "bytes read + written / median time, 10^12 bytes a second",
            "of_copy": "the device copy's time over this one's, same run",
            **TIMES,
        },
    ),
    Bench(
        "lesson04_proxy_fence",
        "tma_tile_copy with and without fence_proxy_async before the store: time, and elements that differ from the fenced kernel's over many launches",
        ("tma_tile_copy",),
        proxy_fence,
        {
            "side": "rows and columns of x",
            "variant": "fence: as the kernel is; no fence: its defect no_proxy_fence",
            "launches": "launches whose results were compared",
            "wrong_launches": "launches with at least one element that differs",
            "wrong_elements": "elements that differ, all launches together",
            "over_fenced": "median time over the fenced kernel's, same run",
            **TIMES,
        },
    ),
    Bench(
        "lesson04_row_sides",
        "tma_tile_copy with the rows of x, of y, of both or of neither aligned to 16 bytes only: 1 GiB and within the L2",
        ("tma_tile_copy",),
        row_sides,
        {
            "side": "16384: about 1 GiB; 2048: about 16 MiB, within the L2",
            "m": "rows",
            "n": "columns",
            "read_alignment": "bytes that every row of x starts at a multiple of",
            "write_alignment": "bytes that every row of y starts at a multiple of",
            "of_copy": "the device copy's time over this one's, same run",
            "over_aligned": "median time over that with both aligned to 128 bytes, same run",
            **TIMES,
        },
    ),
    Bench(
        "lesson04_row_traffic",
        "tma_tile_copy by row alignment: sectors through the L2 and bytes of device memory by hardware counters (Nsight Compute), over the tensor's own bytes",
        ("tma_tile_copy",),
        row_traffic,
        {
            "m": "rows",
            "n": "columns",
            "row_alignment": "bytes that every row's start is a multiple of, 128 at most",
            "counted": "bytes of the sectors that the boxes' rows touch, one way, counted from addresses, over the tensor's bytes",
            "l2_read": "32 lts__t_sectors_op_read.sum / the tensor's bytes",
            "l2_write": "32 lts__t_sectors_op_write.sum / the tensor's bytes",
            "dram_read": "dram__bytes_read.sum / the tensor's bytes",
            "dram_write": "dram__bytes_write.sum / the tensor's bytes",
        },
    ),
    Bench(
        "lesson04_bank_conflicts",
        f"Shared-memory wavefronts of the transpose's reads by hardware counters (Nsight Compute), {SIDE} fp32 square",
        ("transpose",),
        bank_conflicts,
        {
            "swizzle": "bytes of the swizzle, 0 for none",
            "read": "bytes a thread reads at a time",
            "tiles": "tiles of 64 x 32",
            "wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
            "wavefronts_per_tile": "wavefronts / tiles",
            "conflicts": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
            "counted_per_tile": "counted from addresses and banks",
            "least_per_tile": "the fewest possible",
        },
    ),
)
