"""Hardware counters of the gather and the transpose, read by Nsight Compute (ncu) over one child process."""

from __future__ import annotations

import csv
import functools
import io
import shutil
import subprocess
import sys
from pathlib import Path

from kernels.bench import Session
from kernels.errors import KernelError

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 100
METRICS = (
    "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
    "lts__t_sectors_op_read.sum",
    "dram__bytes_read.sum",
    "dram__throughput.avg.pct_of_peak_sustained_elapsed",
    "gpu__time_duration.sum",
)
UNITS = {"Kbyte": 1e3, "Mbyte": 1e6, "Gbyte": 1e9, "us": 1e-6, "ns": 1e-9, "ms": 1e-3}  # ncu scales what it prints
L2_FETCH_GRANULARITY = 5  # cudaLimitMaxL2FetchGranularity, a hint to the driver
# order of the gather's indices; the last two are gathers at random under another fetch granularity of the L2, in bytes
HINTS = {"gather, at random, L2 fetches 32 B": 32, "gather, at random, L2 fetches 128 B": 128}
ORDERS = ("gather, in order", "gather, shuffled in 4 KiB", "gather, at random", *HINTS)
TRANSPOSES = ((0, 4), (128, 4), (0, 16), (128, 16))  # swizzle, bytes a read
SIDE = 2048
LOADS = 1 << 24  # of each gather


def child() -> None:
    """What ncu watches: one launch of each variant, in a fixed order, nothing else of these names."""
    import cupy
    import numpy as np

    from kernels.benches.ready import prepare
    from kernels.specs.memory_bound import sectors

    rng = np.random.default_rng(3)
    n, order = LOADS, np.arange(LOADS, dtype=np.uint32)
    within = (order.reshape(-1, 1024) // 1024 * 1024 + rng.permutation(1024).astype(np.uint32)).reshape(-1)
    x = cupy.random.default_rng(1).standard_normal(1 << 28, dtype=cupy.float32)
    runtime, at_random = cupy.cuda.runtime, rng.integers(0, x.size, n).astype(np.uint32)
    before = runtime.deviceGetLimit(L2_FETCH_GRANULARITY)
    for name, index in zip(ORDERS, (order, within, *[at_random] * 3)):
        launch = prepare("gather", x, cupy.asarray(index))[0]
        runtime.deviceSetLimit(L2_FETCH_GRANULARITY, HINTS.get(name, before))
        launch()
        runtime.deviceSynchronize()
        print(f"counted|{name}|{sectors(index)}|{runtime.deviceGetLimit(L2_FETCH_GRANULARITY)}", flush=True)
    runtime.deviceSetLimit(L2_FETCH_GRANULARITY, before)
    a = x[: SIDE * SIDE].reshape(SIDE, SIDE)
    for swizzle, read in TRANSPOSES:
        prepare("transpose", a, swizzle=swizzle, read=read)[0]()
    cupy.cuda.runtime.deviceSynchronize()


def profile(child: str, metrics: tuple[str, ...], pattern: str) -> tuple[list[dict], list[str]]:
    """Run the Python program `child` under ncu. Returns a row a launch of the kernels named by the regular expression `pattern`
    ("kernel" and the metrics by name, in base units), in the order of launches, and the lines that the child printed.
    Raises KernelError where ncu is absent or reads nothing."""
    tool = shutil.which("ncu")
    if not tool:
        raise KernelError("ncu is not on the PATH: it comes with Nsight Compute.")
    command = [
        tool,
        "--clock-control",
        "none",
        "--csv",
        "--metrics",
        ",".join(metrics),
        "-k",
        f"regex:{pattern}",
        sys.executable,
        "-c",
        child,
    ]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=SECONDS)
    lines = done.stdout.splitlines()
    start = next((i for i, l in enumerate(lines) if l.startswith('"ID"')), None)
    if done.returncode or start is None:
        raise KernelError(f"ncu read no counters (exit status {done.returncode}): {(done.stdout + done.stderr)[-800:]}")
    rows: dict[str, dict] = {}
    for r in csv.DictReader(io.StringIO("\n".join(l for l in lines[start:] if l.startswith('"')))):
        row = rows.setdefault(r["ID"], {"kernel": r["Kernel Name"].split("(")[0]})
        row[r["Metric Name"]] = float(r["Metric Value"].replace(",", "")) * UNITS.get(r["Metric Unit"], 1.0)
    return list(rows.values()), lines


@functools.cache
def _profile() -> tuple[dict, ...]:
    rows, lines = profile("from kernels.benches.counters import child; child()", METRICS, "gather|transpose")
    counted = {
        name: (float(sectors), int(granularity))
        for _, name, sectors, granularity in (l.split("|") for l in lines if l.startswith("counted|"))
    }
    gathers = [r for r in rows if r["kernel"] == "gather"]
    transposes = [r for r in rows if r["kernel"] == "transpose"]
    if (len(gathers), len(transposes)) != (len(ORDERS), len(TRANSPOSES)):
        raise KernelError(
            f"ncu saw {len(gathers)} gathers and {len(transposes)} transposes; {len(ORDERS)} and {len(TRANSPOSES)} were launched."
        )
    for row, name in zip(gathers, ORDERS):
        row |= {"variant": name, "counted": counted[name][0], "granularity": counted[name][1]}
    for row, (swizzle, read) in zip(transposes, TRANSPOSES):
        row |= {"swizzle": swizzle, "read": read}
    return (*gathers, *transposes)


def read_counters(session: Session) -> tuple[dict, ...]:
    """A row a launch: kernel, what was launched, and the counters by name. The process runs once for all benches."""
    rows = _profile()
    session.say(f"ncu: {len(rows)} launches")
    return rows
