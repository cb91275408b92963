"""Lesson 8: tile configurations over a grid of shapes, against one fixed configuration and cuBLAS; a tile that spills."""

from __future__ import annotations

import itertools

from kernels.bench import Bench, Session
from kernels.benches.gemm_ladder import Operands
from kernels.benches.ready import TIMES, compile_all, enqueue, graph_of, rotate, torch_graph_of
from kernels.nvrtc import compile_source
from kernels.sources import load_source
from kernels.specs.gemm_dispatch import CONFIGS, SPILLS, choose, launch_of

MS, NS, K = (128, 256, 512, 1024, 2048, 4096, 8192), (1024, 2048, 4096, 8192), 4096
FIXED = "128x256"
SPILL_SIZE = (8192, 8192, 4096)
SOURCE = "gemm_dispatch.cu"
BATCH_S = 4e-4  # device time of one graph, about


def grid(session: Session) -> list[dict]:
    """Every configuration and cuBLAS at every shape, each as a CUDA graph of several launches over rotating operands."""
    compile_all([(SOURCE, {**c.defines, "OUT": "bf16"}) for c in CONFIGS.values()])
    points = []
    for m, n in itertools.product(MS, NS):
        size = (m, n, K)
        operands = Operands(size)
        count = max(len(operands.ours), min(40, round(BATCH_S / (2.0 * m * n * K / 500e12))))
        turns = [operands.ours[i % len(operands.ours)] for i in range(count)]
        cublas = operands.cublas()
        calls = {"cublas": torch_graph_of([cublas] * count)}
        for name, c in CONFIGS.items():
            ready = [enqueue(SOURCE, launch_of(c, a, b, d, None, size, "bf16")) for a, b, d in operands.ours]
            calls[name] = graph_of([ready[i % len(ready)] for i in range(len(turns))])
        times = {
            name: {k: v / count if k.startswith("ms") else v for k, v in t.items()}
            for name, t in session.time(calls, repeats=9, warmup=2).items()
        }
        modelled = choose(m, n, session.device.sms).name
        best = min(CONFIGS, key=lambda name: times[name]["ms"])
        for name, t in times.items():
            points.append({"m": m, "n": n, "k": K, "config": name, "tflop_per_s": 2.0 * m * n * K / t["ms"] / 1e9, "of_fixed": times[FIXED]["ms"] / t["ms"],
                           "of_cublas": times["cublas"]["ms"] / t["ms"], "best": int(name == best), "modelled": int(name == modelled), "launches": count, **t})  # fmt: skip
        session.say(
            f"{m}x{n}: best {best} {times[FIXED]['ms'] / times[best]['ms']:.2f}x of {FIXED}, {times['cublas']['ms'] / times[best]['ms']:.2f} of cuBLAS; model {modelled}"
        )
        del operands, calls
    return points


def spill(session: Session) -> list[dict]:
    """256x128 by one consumer warpgroup (256 accumulators a thread) and by two (128), and what the compiler says of all configurations."""
    operands = Operands(SPILL_SIZE)
    shown = {"256x128, 1 consumer": SPILLS, **{c.name: c for c in CONFIGS.values()}}
    calls = {
        name: rotate(enqueue(SOURCE, launch_of(c, a, b, d, None, SPILL_SIZE, "bf16")) for a, b, d in operands.ours)
        for name, c in shown.items()
    }
    times = session.time(calls, repeats=7, warmup=2)
    points = []
    m, n, k = SPILL_SIZE
    for name, c in shown.items():
        built = compile_source(load_source(SOURCE), {**c.defines, "OUT": "bf16"})
        used = built.resources["gemm_dispatch"]
        points.append({"config": name, "consumers": c.consumers, "stages": c.stages, "blocks": c.blocks, "accumulators": c.accumulators, "registers": used.registers,
                       "spill_bytes": used.spill_stores + used.spill_loads, "remarks": "; ".join(built.remarks), "shared_bytes": c.smem,
                       "flop_per_byte": c.tile_m * c.tile_n / (c.tile_m + c.tile_n), "tflop_per_s": 2.0 * m * n * k / times[name]["ms"] / 1e9, **times[name]})  # fmt: skip
    session.say("; ".join(f"{p['config']} {p['tflop_per_s']:.0f} TFLOP/s, spills {p['spill_bytes']} B" for p in points))
    return points


BENCHES = (
    Bench(
        "lesson08_configurations",
        f"gemm_dispatch: {len(CONFIGS)} tile configurations at {len(MS) * len(NS)} shapes with K = {K}, against {FIXED} always and against cuBLAS",
        ("gemm_dispatch",),
        grid,
        {
            "m": "rows of D",
            "n": "columns of D",
            "k": "K",
            "config": "tile, or cublas",
            "tflop_per_s": "2 M N K / median time",
            "of_fixed": f"the time of {FIXED} over this one's",
            "of_cublas": "cuBLAS's time over this one's",
            "best": "1: the fastest configuration of this shape",
            "modelled": "1: the one that specs.gemm_dispatch.choose picks without measurements",
            "launches": "in one CUDA graph; times are of one launch",
            **TIMES,
        },
    ),
    Bench(
        "lesson08_spill",
        f"What each configuration takes of an SM, and its rate at {SPILL_SIZE}; 256 x 128 by one consumer warpgroup spills its accumulators",
        ("gemm_dispatch",),
        spill,
        {
            "config": "tile",
            "consumers": "consumer warpgroups",
            "stages": "of the ring",
            "blocks": "blocks that share an SM",
            "accumulators": "fp32 registers a consumer thread",
            "registers": "registers a thread at launch, as compiled",
            "spill_bytes": "bytes a thread spills, stores and loads",
            "remarks": "the compiler's performance remarks",
            "shared_bytes": "shared memory a block",
            "flop_per_byte": "of the tile: operations for each byte of A and B loaded (bf16)",
            "tflop_per_s": "2 M N K / median time",
            **TIMES,
        },
    ),
)
