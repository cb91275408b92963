"""Lesson 6: what more stages do to the memory system: bytes read from L2 and device memory by hardware counters (Nsight Compute)."""

from __future__ import annotations

from kernels.bench import Bench, Session
from kernels.benches.counters import profile
from kernels.benches.lesson06_stages import SHAPES
from kernels.errors import KernelError
from kernels.specs.ring_pipeline import MOST_STAGES

CYCLES, DRAM, L2, HIT = (
    "sm__cycles_elapsed.max",
    "dram__bytes_read.sum",
    "lts__t_sectors_op_read.sum",
    "lts__t_sector_op_read_hit_rate.pct",
)
LAUNCHES = 3  # of each variant; the first warms the caches, the median is told


def child() -> None:
    """What ncu watches: LAUNCHES of each number of stages at each shape, in a fixed order, nothing else of this name."""
    import cupy

    from kernels.benches.gemm_ladder import Operands
    from kernels.benches.ready import enqueue
    from kernels.specs.ring_pipeline import launch_of

    for size in SHAPES:
        a, b, d = Operands(size).ours[0]
        for s in range(1, MOST_STAGES + 1):
            call = enqueue("ring_pipeline.cu", launch_of(a, b, d, None, size, s, "bf16"))
            for _ in range(LAUNCHES):
                call()
                cupy.cuda.runtime.deviceSynchronize()


def traffic(session: Session) -> list[dict]:
    """Cycles, and bytes read from L2 and device memory, a launch: the median of the launches after the first."""
    rows, _ = profile(
        "from kernels.benches.lesson06_traffic import child; child()", (CYCLES, DRAM, L2, HIT), "ring_pipeline"
    )
    variants = [(size, s) for size in SHAPES for s in range(1, MOST_STAGES + 1)]
    if len(rows) != LAUNCHES * len(variants):
        raise KernelError(f"ncu saw {len(rows)} launches; {LAUNCHES * len(variants)} were made.")
    points = []
    for i, ((m, n, k), s) in enumerate(variants):
        kept = sorted(rows[i * LAUNCHES + 1 : (i + 1) * LAUNCHES], key=lambda r: r[CYCLES])
        row = kept[len(kept) // 2]
        points.append(
            {
                "m": m,
                "n": n,
                "k": k,
                "stages": s,
                "cycles": row[CYCLES],
                "dram_bytes": row[DRAM],
                "l2_bytes": 32 * row[L2],
                "l2_hit_percent": row[HIT],
            }
        )
        session.say(
            f"{m}x{n}x{k} {s} stages: {row[CYCLES] / 1e6:.3f} M cycles, {row[DRAM] / 1e9:.2f} GB of device memory, {32 * row[L2] / 1e9:.2f} GB of L2, hit {row[HIT]:.1f} %"
        )
    return points


BENCHES = (
    Bench(
        "lesson06_traffic",
        "ring_pipeline with 1 to 7 stages: cycles, and bytes read from L2 and device memory (Nsight Compute)",
        ("ring_pipeline",),
        traffic,
        {
            "m": "rows of D",
            "n": "columns of D",
            "k": "K",
            "stages": "stages of the ring",
            "cycles": "SM cycles of the launch, at whatever clock the card ran",
            "dram_bytes": "bytes read from device memory",
            "l2_bytes": "bytes read from L2 (sectors of 32)",
            "l2_hit_percent": "of the sectors read",
        },
    ),
)
