"""Lesson 6: throughput of the ring against its number of stages, beside cuBLAS."""

from __future__ import annotations

from kernels.bench import Bench, Session
from kernels.benches.gemm_ladder import Operands
from kernels.benches.ready import TIMES, compile_all, enqueue, rotate, time_shuffled
from kernels.specs.ring_pipeline import MOST_STAGES, launch_of, shared_bytes

SHAPES = ((8192, 8192, 8192), (4096, 4096, 4096), (8192, 8192, 512))  # M, N, K
BURST = {(8192, 8192, 8192): 4, (4096, 4096, 4096): 20, (8192, 8192, 512): 30}


def stages(session: Session) -> list[dict]:
    """1 to 7 stages and cuBLAS, bursts back to back, in another order each round."""
    compile_all([("ring_pipeline.cu", {"STAGES": s, "OUT": "bf16"}) for s in range(1, MOST_STAGES + 1)])
    points = []
    for size in SHAPES:
        m, n, k = size
        operands = Operands(size)
        calls = {"cublas": operands.cublas()}
        for s in range(1, MOST_STAGES + 1):
            calls[f"{s} stages"] = rotate(
                enqueue("ring_pipeline.cu", launch_of(a, b, d, None, size, s, "bf16")) for a, b, d in operands.ours
            )
        times = time_shuffled(calls, repeats=12, inner=BURST[size])
        for name, t in times.items():
            s = 0 if name == "cublas" else int(name.split()[0])
            points.append({"m": m, "n": n, "k": k, "variant": name, "stages": s, "shared_bytes": shared_bytes(s), "tflop_per_s": 2.0 * m * n * k / t["ms"] / 1e9,
                           "of_cublas": times["cublas"]["ms"] / t["ms"], **t})  # fmt: skip
        session.say(
            f"{m}x{n}x{k}: "
            + ", ".join(f"{p['variant']} {p['tflop_per_s']:.0f}" for p in points if (p["m"], p["k"]) == (m, k))
            + " TFLOP/s"
        )
    return points


BENCHES = (
    Bench(
        "lesson06_stages",
        "ring_pipeline (128 x 128 tiles, one producer, two consumers, one block an SM) with 1 to 7 stages against cuBLAS",
        ("ring_pipeline",),
        stages,
        {
            "m": "rows of D",
            "n": "columns of D",
            "k": "K",
            "variant": "what ran",
            "stages": "stages of the ring, 0 for cuBLAS",
            "shared_bytes": "shared memory a block",
            "tflop_per_s": "2 M N K / median time",
            "of_cublas": "cuBLAS's median time over this one's",
            **TIMES,
        },
    ),
)
