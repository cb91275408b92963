"""Lesson 2: bandwidth against loads in flight, latency by size, and three kernels with equal loads and unequal times."""

from __future__ import annotations

import itertools

from kernels.arrays import to_numpy
from kernels.bench import Bench, Session
from kernels.benches.counters import L2_FETCH_GRANULARITY, read_counters
from kernels.benches.counters import LOADS as GATHERED
from kernels.benches.lesson07_speed import device_copy, random_fp32
from kernels.benches.ready import TIMES, compile_all, prepare, rotate
from kernels.nvrtc import compile_source
from kernels.sources import load_source
from kernels.specs.memory_bound import SOURCE, WIDTHS, sectors, shape_of

STREAM = 1 << 27  # fp32 elements: 512 MiB each way
LOADS, WARPS = (1, 2, 4, 8), (1, 2, 4, 8, 16, 32, 48, 64)
SIZES = tuple(1 << s for s in (14, 17, 20, 22, 24, 25, 26, 27, 28, 30))  # bytes chased over
LINE = 32  # elements: one node of the chase every 128 bytes
STEPS = 32768
EQUAL = 1 << 26  # loads of 4 bytes, out of 2^28 elements
CHAINS = (131072, 65536, 16384, 4096)  # at most 1024 an SM: all of them run at once
BLOCKS = 1024  # elements: shuffled inside 4 KiB
REACHES = tuple(1 << s for s in (24, 25, 26, 28, 30, 32, 34))  # bytes a random gather reaches over
GRANULARITIES = (0, 32, 64, 128)  # bytes; 0: as the driver sets it


def stream(session: Session) -> list[dict]:
    """y = x by every word width, loads a thread and warps an SM."""
    compile_all([(SOURCE, {"WIDTH": w, "LOADS": n}) for w, n in itertools.product(WIDTHS, LOADS)])
    x = random_fp32(STREAM)
    calls, labels = {"device copy": device_copy(x.nbytes)}, {}
    y = None
    for width, loads, warps in itertools.product(WIDTHS, LOADS, WARPS):
        name = f"{width} B, {loads} loads, {warps} warps"
        calls[name], y = prepare("stream_copy", x, width=width, loads=loads, warps=warps)
        labels[name] = (width, loads, warps)
    times = session.time(calls, repeats=7, warmup=1)
    rate = lambda t: 2 * x.nbytes / t["ms"] / 1e9
    copy = rate(times["device copy"])
    points = [{"variant": "device copy", "width": 0, "loads": 0, "warps": 0, "resident_warps": 0, "bytes_in_flight": 0, "tb_per_s": copy, "of_copy": 1.0,
               **times["device copy"]}]  # fmt: skip
    for name, (width, loads, warps) in labels.items():
        blocks, threads = shape_of(warps, 1)
        registers = (
            compile_source(load_source(SOURCE), {"WIDTH": width, "LOADS": loads}).resources["stream_copy"].registers
        )
        resident = min(blocks, 65536 // (-(-registers // 8) * 8 * threads)) * threads // 32
        points.append({"variant": name, "width": width, "loads": loads, "warps": warps, "resident_warps": resident,
                       "bytes_in_flight": resident * 32 * width * loads, "tb_per_s": rate(times[name]), "of_copy": rate(times[name]) / copy,
                       **times[name]})  # fmt: skip
    best = max(points[1:], key=lambda p: p["tb_per_s"])
    session.say(
        f"copy {copy:.2f} TB/s; best {best['variant']}: {best['of_copy']:.1%} of it; one warp, 4 B, 1 load: {points[1]['tb_per_s']:.4f} TB/s"
    )
    return points


def ring_on_gpu(nodes: int, spacing: int):
    """A random ring through elements 0, spacing, 2 * spacing, ...: as memory_bound.one_cycle, on the GPU."""
    import cupy

    order = cupy.random.permutation(nodes).astype(cupy.uint32) * spacing
    ring = cupy.zeros(nodes * spacing, cupy.uint32)
    ring[order] = cupy.roll(order, -1)
    return ring


def latency(session: Session) -> list[dict]:
    """One thread chasing pointers, a node every 128 bytes. Up to 32 MiB the warm-up has walked the whole ring; above, starts differ."""
    import cupy

    points = []
    for size in SIZES:
        nodes = size // (4 * LINE)
        ring = ring_on_gpu(nodes, LINE)
        whole = size <= 32 << 20
        steps = max(nodes, 8192) if whole else STEPS
        starts = cupy.random.randint(0, nodes, 16).astype(cupy.uint32) * LINE
        calls = [prepare("pointer_chase", ring, starts[i : i + 1].copy(), steps=steps)[0] for i in range(16)]
        t = session.time({"chase": rotate(calls)}, repeats=5, warmup=2)["chase"]
        points.append({"bytes": size, "steps": steps, "ns_per_load": t["ms"] * 1e6 / steps, **t})
    session.say(", ".join(f"{p['bytes'] >> 10} KiB {p['ns_per_load']:.0f} ns" for p in points))
    return points


def equal_loads(session: Session) -> list[dict]:
    """The same number of 4-byte loads: in order, shuffled within 4 KiB, at random, and at random with each address from the last load."""
    import cupy

    x, order = random_fp32(1 << 28), cupy.arange(EQUAL, dtype=cupy.uint32)
    within = (
        order.reshape(-1, BLOCKS) // BLOCKS * BLOCKS + cupy.random.permutation(BLOCKS).astype(cupy.uint32)
    ).reshape(-1)
    at_random = cupy.random.randint(0, x.size, EQUAL, dtype=cupy.uint32)
    index = {"gather, in order": order, "gather, shuffled in 4 KiB": within, "gather, at random": at_random}
    calls = {name: prepare("gather", x, i)[0] for name, i in index.items()}
    ring = ring_on_gpu(1 << 28, 1)
    for chains in CHAINS:
        steps = EQUAL // 4 // chains
        sets = [
            prepare("pointer_chase", ring, cupy.random.randint(0, ring.size, chains).astype(cupy.uint32), steps=steps)[
                0
            ]
            for _ in range(4)
        ]
        calls[f"chase, {chains} chains"] = rotate(sets)
    times = session.time(calls, repeats=9)
    points = []
    for name, t in times.items():
        loads = EQUAL if name in index else EQUAL // 4
        counted = sectors(to_numpy(index[name][: 1 << 20])) if name in index else 32.0
        points.append({"variant": name, "loads": loads, "loads_per_ns": loads / t["ms"] / 1e6, "useful_tb_per_s": 4 * loads / t["ms"] / 1e9,
                       "sectors_per_request": counted, "sector_tb_per_s": counted / 32 * 32 * loads / t["ms"] / 1e9, **t})  # fmt: skip
    session.say(", ".join(f"{p['variant']}: {p['loads_per_ns']:.1f} loads/ns" for p in points))
    return points


def reach(session: Session) -> list[dict]:
    """Random gathers over more and more memory, under each hint of how much the L2 fetches at a time."""
    import cupy

    runtime, points = cupy.cuda.runtime, []
    x = cupy.empty(REACHES[-1] // 4, cupy.float32)
    for part in range(0, x.size, 1 << 28):
        x[part : part + (1 << 28)] = random_fp32(1 << 28)
    before = runtime.deviceGetLimit(L2_FETCH_GRANULARITY)
    calls = {}
    for size in REACHES:
        sets = [cupy.random.randint(0, size // 4, EQUAL // 4, dtype=cupy.uint64).astype(cupy.uint32) for _ in range(3)]
        calls[size] = rotate([prepare("gather", x[: size // 4], i)[0] for i in sets])
    for hint in GRANULARITIES:
        runtime.deviceSetLimit(L2_FETCH_GRANULARITY, hint or before)
        got = runtime.deviceGetLimit(L2_FETCH_GRANULARITY)
        for size, t in session.time(calls, repeats=9).items():
            points.append(
                {"bytes": size, "hint": hint, "granularity": got, "loads_per_ns": EQUAL // 4 / t["ms"] / 1e6, **t}
            )
        session.say(
            f"{got} B: "
            + ", ".join(f"{p['bytes'] >> 20} MiB {p['loads_per_ns']:.1f}" for p in points if p["hint"] == hint)
            + " loads/ns"
        )
    runtime.deviceSetLimit(L2_FETCH_GRANULARITY, before)
    return points


def gather_sectors(session: Session) -> list[dict]:
    """Sectors a request of the gather, by the hardware's counters (ncu), beside the count from the indices."""
    points = []
    for row in read_counters(session):
        if row["kernel"] == "gather":
            requests, touched = (
                row["l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"],
                row["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"],
            )
            points.append({"variant": row["variant"], "requests": requests, "sectors": touched, "counted_sectors_per_request": row["counted"],
                           "sectors_per_request_of_x": (touched - 16.0 * requests / 5) / (requests * 4 / 5),
                           "granularity": row["granularity"], "dram_percent_of_peak": row["dram__throughput.avg.pct_of_peak_sustained_elapsed"],
                           "l2_bytes_per_load": 32 * row["lts__t_sectors_op_read.sum"] / GATHERED, "dram_bytes_per_load": row["dram__bytes_read.sum"] / GATHERED})  # fmt: skip
            session.say(str(points[-1]))
    return points


BENCHES = (
    Bench(
        "lesson02_stream",
        f"stream_copy of {STREAM} fp32 elements over word width, loads in flight a thread, and warps an SM, against a device copy",
        ("stream_copy",),
        stream,
        {
            "variant": "what ran",
            "width": "bytes a load",
            "loads": "loads a thread issues before it stores the first",
            "warps": "warps an SM, asked for",
            "resident_warps": "of them, that fit beside each other by registers",
            "bytes_in_flight": "resident_warps * 32 * width * loads, an SM",
            "tb_per_s": "bytes read + written / median time, 10^12 bytes a second",
            "of_copy": "that rate over the device copy's in the same run",
            **TIMES,
        },
    ),
    Bench(
        "lesson02_latency",
        "pointer_chase by one thread over a random ring, one node every 128 bytes: nanoseconds a load by the ring's size",
        ("pointer_chase",),
        latency,
        {
            "bytes": "size of the ring",
            "steps": "loads in one launch",
            "ns_per_load": "median time / steps, launch included",
            **TIMES,
        },
    ),
    Bench(
        "lesson02_equal_loads",
        f"{EQUAL} loads of 4 bytes by gather in three orders, {EQUAL // 4} by pointer chases, all over the same 1 GiB",
        ("gather", "pointer_chase"),
        equal_loads,
        {
            "variant": "what ran",
            "loads": "loads of 4 bytes",
            "loads_per_ns": "loads / median time",
            "useful_tb_per_s": "4 bytes a load / median time",
            "sectors_per_request": "32-byte sectors a warp's load touches, counted from the indices (not measured); chases: 32",
            "sector_tb_per_s": "sectors times 32 bytes / median time, 10^12 bytes a second",
            **TIMES,
        },
    ),
    Bench(
        "lesson02_reach",
        f"{EQUAL // 4} random loads of 4 bytes by gather over 16 MiB to 16 GiB, by the L2's fetch granularity (a hint to the driver)",
        ("gather",),
        reach,
        {
            "bytes": "size of what is gathered from",
            "hint": "cudaLimitMaxL2FetchGranularity as set, bytes; 0: left as the driver had it",
            "granularity": "the same as read back",
            "loads_per_ns": "loads / median time",
            **TIMES,
        },
    ),
    Bench(
        "lesson02_sectors",
        f"gather's 32-byte sectors a request, and bytes read from L2 and DRAM, by hardware counters (Nsight Compute), {GATHERED} loads of each order",
        ("gather",),
        gather_sectors,
        {
            "variant": "order of the indices",
            "requests": "load instructions of warps (l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum)",
            "sectors": "sectors they touched (l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum)",
            "sectors_per_request_of_x": "of the loads of x alone: the indices' own loads, one in five, take 16 sectors each",
            "counted_sectors_per_request": "the same counted from the indices",
            "granularity": "cudaLimitMaxL2FetchGranularity at the launch, bytes, as read back; only the last two variants set it",
            "dram_percent_of_peak": "dram__throughput.avg.pct_of_peak_sustained_elapsed",
            "l2_bytes_per_load": "32 lts__t_sectors_op_read.sum / loads: x and the indices (4 bytes each)",
            "dram_bytes_per_load": "dram__bytes_read.sum / loads: x and the indices; the in-order and shuffled x may be in the L2 from before",
        },
    ),
)
