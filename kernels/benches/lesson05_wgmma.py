"""Lesson 5: the matrix unit's rate by the tile's width, A from shared memory or registers; the fragment map of the device."""

from __future__ import annotations

import itertools

import numpy as np

from kernels.arrays import to_numpy
from kernels.bench import Bench, Session
from kernels.benches.lesson07_speed import random_fp32, to_bits16
from kernels.benches.ready import TIMES, compile_all, context, enqueue
from kernels.errors import KernelError
from kernels.kernel import load
from kernels.specs.wgmma import SOURCES, WIDTHS, coordinates, fragment_map, index_operands, launch_rate

GROUPS = 2
CYCLES = 1 << 21  # about, a launch
MAP_N = 16


def rates(session: Session) -> list[dict]:
    """Every width, SS and RS, random operands, two warpgroups an SM."""
    compile_all(
        [
            ("wgmma_rate.cu", {"TILE_N": n, "GROUPS": GROUPS, "A_FROM_REGISTERS": r})
            for n, r in itertools.product(WIDTHS, (0, 1))
        ]
    )
    import cupy

    calls, labels, ctx = {}, {}, context()
    a = to_bits16(random_fp32((64 * GROUPS, 64)), "bf16")
    for n, a_from in itertools.product(WIDTHS, SOURCES):
        name, repeats = f"N = {n}, A from {a_from}", CYCLES // (4 * n)
        sums, cycles = ctx.empty((ctx.sms, 128 * GROUPS), "fp32"), cupy.zeros(ctx.sms, cupy.uint32)
        b = to_bits16(random_fp32((n, 64)), "bf16")
        calls[name] = enqueue("wgmma_rate.cu", launch_rate(ctx, a, b, sums, cycles, repeats, a_from))
        labels[name] = (n, a_from, repeats, cycles)
    times = session.time(calls, repeats=12, warmup=2)
    points = []
    for name, (n, a_from, repeats, cycles) in labels.items():
        each = float(np.median(to_numpy(cycles))) / (4 * repeats * GROUPS)
        flops = 2.0 * 64 * GROUPS * 64 * n * repeats * session.device.sms
        read = 32 * (n + (64 if a_from == "shared" else 0))
        points.append({"n": n, "a_from": a_from, "repeats": repeats, "tflop_per_s": flops / times[name]["ms"] / 1e9, "cycles_per_wgmma": each, "clock_ghz": each * 4 * repeats * GROUPS / times[name]["ms"] / 1e6, "shared_bytes_per_wgmma": read,
                       "ideal_cycles_per_wgmma": n / 2, "ideal_bytes_per_cycle": read / (n / 2), **times[name]})  # fmt: skip
    best = max(p["tflop_per_s"] for p in points)
    for p in points:
        p["of_best"] = p["tflop_per_s"] / best
    session.say(
        "; ".join(
            f"N {p['n']} {p['a_from'][:3]} {p['cycles_per_wgmma']:.1f} cycles ({p['of_best']:.0%})" for p in points
        )
    )
    return points


def map_of_device(session: Session) -> list[dict]:
    """Which element each register of each thread holds, read off a product whose elements are their own coordinates."""
    kernel = load("wgmma_tile", "gpu", poison=True)
    points = []
    for n in WIDTHS:
        seen = fragment_map(kernel(*index_operands(n))[1])
        expected = np.array([[coordinates(t, r) for r in range(n // 2)] for t in range(128)])
        if not (seen == expected).all():
            raise KernelError(f"N = {n}: the device's fragment map is not the one of specs.wgmma.coordinates.")
        if n == MAP_N:
            points = [
                {"thread": t, "register": r, "row": int(seen[t, r, 0]), "column": int(seen[t, r, 1])}
                for t in range(128)
                for r in range(n // 2)
            ]
    session.say(f"fragment maps of {len(WIDTHS)} widths as computed; written for N = {MAP_N}")
    return points


BENCHES = (
    Bench(
        "lesson05_rate",
        f"wgmma m64nNk16 (bf16) on operands that stay on the chip, {GROUPS} warpgroups an SM: rate by N, A from shared memory (SS) or registers (RS)",
        ("wgmma_rate",),
        rates,
        {
            "n": "N of the instruction",
            "a_from": "where A is",
            "repeats": "groups of four instructions each warpgroup issued",
            "tflop_per_s": "operations / median time",
            "cycles_per_wgmma": "SM clock cycles (clock64) of the last launch over the instructions its block issued, median over the SMs",
            "clock_ghz": "those cycles over the median time: the clock, about (the launch's own time is in it)",
            "of_best": "that over the best of the run",
            "shared_bytes_per_wgmma": "bytes of shared memory one instruction reads: 32 a row of B, and of A where it is there",
            "ideal_cycles_per_wgmma": "N / 2: 64 * N * 16 multiply-adds at 2048 a cycle and SM",
            "ideal_bytes_per_cycle": "those bytes over those cycles; shared memory gives 128",
            **TIMES,
        },
    ),
    Bench(
        "lesson05_fragment_map",
        f"The 64 x {MAP_N} accumulator tile's fragment map as the device's registers hold it (all widths were checked)",
        ("wgmma_tile",),
        map_of_device,
        {"thread": "of the warpgroup", "register": "of the thread", "row": "in the tile", "column": "in the tile"},
    ),
)
