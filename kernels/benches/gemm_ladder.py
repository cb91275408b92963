"""The GEMM ladder on a GPU: every rung against cuBLAS, and every rung's result against float64 and the emulator."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable

import numpy as np

from kernels import arrays, gpu
from kernels.bench import Bench, Session
from kernels.compare import relative_error
from kernels.errors import KernelError
from kernels.specs.gemm import CUDA_CORES, LADDER, ODD_SIZES, Rung, example, launch_of, reference, tolerance

SHAPES = ((4096, 4096, 4096), (8192, 8192, 8192), (8192, 8192, 512), (8192, 8192, 1024))  # M, N, K
LAST = ("gemm_store", "gemm_pingpong")  # measured with rests as well
REPEATS = 25
BURST_S = 6e-3  # device time of one reading
IN_ROTATION = 512 << 20  # bytes of operands and results: several times the L2
LARGE_SIZES = ((509, 769, 2053), (1009, 3001, 131), (2304, 2560, 640))  # M, N, K


class Operands:
    """Sets of operands and results in rotation, normal entries, for torch and for us: the same memory."""

    def __init__(self, size: tuple[int, int, int]):
        import cupy

        torch = _torch()
        m, n, k = size
        self.size = size
        generator = torch.Generator(device="cuda").manual_seed(sum(size))
        normal = lambda *shape: torch.randn(*shape, device="cuda", generator=generator).bfloat16()
        count = max(2, min(8, IN_ROTATION // (2 * (m * k + n * k + m * n))))
        self.torch = [
            (normal(m, k), normal(n, k), torch.empty(m, n, device="cuda", dtype=torch.bfloat16)) for _ in range(count)
        ]
        self.ours = [[cupy.from_dlpack(t.view(torch.int16)).view(np.uint16) for t in s] for s in self.torch]

    def cublas(self) -> Callable[[], None]:
        """Enqueues cuBLAS through torch.matmul on the next set."""
        matmul, sets = _torch().matmul, itertools.cycle(self.torch)

        def call():
            a, b, d = next(sets)
            matmul(a, b.T, out=d)

        return call

    def rung(self, rung: Rung, sms: int) -> tuple[Callable[[], None], Rung]:
        """Enqueues the rung on the next set; also the form of it that the shape gets."""
        m, n, _ = self.size
        form = rung.choose(m, n, sms)
        ready = []
        for a, b, d in self.ours:
            launch = launch_of(form, a, b, d, self.size, sms)
            module = gpu.Module(f"{form.name}.cu", launch.defines)
            ready.append(
                (
                    module.function(launch.entry, launch.smem),
                    gpu.three(launch.grid),
                    gpu.three(launch.block),
                    tuple(map(gpu.pack, launch.args)),
                    launch.smem,
                )
            )
        sets = itertools.cycle(ready)

        def call():
            function, grid, block, packed, smem = next(sets)
            function(grid, block, packed, shared_mem=smem)

        return call, form


def _torch():
    try:
        import torch
    except ImportError as e:
        raise KernelError(
            "The ladder is measured against cuBLAS through torch.matmul, and torch is not installed here (pip install torch)."
        ) from e
    return torch


def ladder(session: Session) -> list[dict]:
    """Every rung at every shape, interleaved with cuBLAS: bursts of launches back to back; the last rungs also one launch at a time."""
    points = []
    for size in SHAPES:
        m, n, k = size
        flops = 2.0 * m * n * k
        operands = Operands(size)
        burst = max(4, round(BURST_S / (flops / 700e12)))
        for step, rung in enumerate(LADDER, 1):
            call, form = operands.rung(rung, session.device.sms)
            slow = rung.name in CUDA_CORES
            repeats, inner = (3, 1) if slow else (REPEATS, burst)
            point = {
                "step": step,
                "rung": rung.name,
                "idea": rung.idea,
                "m": m,
                "n": n,
                "k": k,
                "tile_m": form.tile[0],
                "tile_n": form.tile[1],
            }
            calls = {"cublas": operands.cublas(), "rung": call}
            points.append(
                point
                | _figures(session.time(calls, repeats, warmup=1 if slow else 4, inner=inner), flops, inner, "bursts")
            )
            if rung.name in LAST:
                points.append(point | _figures(_with_rests(calls), flops, 1, "single"))
        session.say(_table(points, size))
    return points


def _with_rests(calls: dict[str, Callable[[], None]], repeats: int = 25, rest: float = 8e-3) -> dict[str, dict]:
    """Single launches in turn, each after a rest, so that neither heat nor the power limit builds up. The launch before it is untimed."""
    import cupy

    from kernels.bench import summary

    readings = {name: [] for name in calls}
    start, stop = cupy.cuda.Event(), cupy.cuda.Event()
    for _ in range(repeats):
        for name, call in calls.items():
            time.sleep(rest)
            call()
            start.record()
            call()
            stop.record()
            stop.synchronize()
            readings[name].append(cupy.cuda.get_elapsed_time(start, stop))
    return {name: summary(r) for name, r in readings.items()}


def _figures(timed: dict[str, dict], flops: float, launches: int, mode: str) -> dict:
    ours, cublas = timed["rung"], timed["cublas"]
    rate = lambda ms: flops / ms / 1e9
    return {
        "mode": mode,
        "launches": launches,
        "tflops": rate(ours["ms"]),
        "cublas_tflops": rate(cublas["ms"]),
        "of_cublas": cublas["ms"] / ours["ms"],
        **ours,
        **{f"cublas_{key}": value for key, value in cublas.items() if key != "readings"},
    }


def _table(points: list[dict], size: tuple[int, int, int]) -> str:
    rows = [p for p in points if (p["m"], p["n"], p["k"]) == size]
    lines = [
        f"{p['rung']:24s} {p['mode']:7s} {p['tflops']:7.1f}   cuBLAS {p['cublas_tflops']:6.1f}   {100 * p['of_cublas']:6.1f} %"
        for p in rows
    ]
    return "\n  ".join(["x".join(map(str, size)) + " TFLOP/s", *lines])


def correctness(session: Session) -> list[dict]:
    """Every rung at odd sizes, both outputs, poisoned before: the error against float64, and against the emulator where that is quick."""
    from kernels import emulator
    from kernels.kernel import load

    emulated, why = emulator.available()
    session.say(why)
    points = []
    for rung in LADDER:
        kernel = load(rung.name, "gpu", poison=True)
        for size, out in itertools.product(ODD_SIZES + LARGE_SIZES, ("bf16", "fp32")):
            m, n, k = size
            (a, b), _ = example(np.random.default_rng(m * n + k), m, n, k)
            d = arrays.to_numpy(kernel(a, b, out=out))
            exact = reference(a, b)
            point = {
                "rung": rung.name,
                "m": m,
                "n": n,
                "k": k,
                "out": out,
                "error": relative_error(d, exact),
                "bound": tolerance(a, b, out=out),
            }
            if not point["error"] < point["bound"]:
                raise AssertionError(f"{rung.name} is wrong at {size}, {out}: relative error {point['error']}.")
            quick = m * n * k < (3e6 if rung.name in CUDA_CORES else 4e7)
            point["emulator_difference"] = None
            if emulated and quick and out == "fp32":
                point["emulator_difference"] = relative_error(
                    load(rung.name, "emulator", checks=False)(a, b, out=out), d
                )
            points.append(point)
        session.say(
            f"{rung.name}: worst error {max(p['error'] for p in points if p['rung'] == rung.name and p['out'] == 'fp32'):.1e} (fp32 out)"
        )
    return points


BENCHES = (
    Bench(
        name="gemm_ladder",
        what="Every rung of the GEMM ladder against cuBLAS (torch.matmul), interleaved in one run.",
        kernels=tuple(r.name for r in LADDER),
        run=ladder,
        fields={
            "step": "place on the ladder, 1 to 10",
            "rung, idea": "kernel and what it adds",
            "m, n, k": "D (m, n) = A (m, k) B (n, k)^T, bf16 in and out, float sums, normal entries",
            "tile_m, tile_n": "the tile of D that the rung took for this shape",
            "mode": "bursts: readings of `launches` launches back to back, rung and cuBLAS in turn; single: one launch a reading, each after 8 ms of rest",
            "tflops, cublas_tflops": "2 m n k over the median time of a launch, TFLOP/s",
            "of_cublas": "cuBLAS's median time over the rung's: above 1 the rung is faster",
            "ms, ms_min, ms_p10, ms_p90, readings": "time of one launch, milliseconds; cublas_* the same of cuBLAS",
        },
    ),
    Bench(
        name="gemm_correctness",
        what="Every rung of the GEMM ladder at odd sizes against float64 and against the emulator.",
        kernels=tuple(r.name for r in LADDER),
        run=correctness,
        fields={
            "error": "||D - A B^T|| / ||A B^T|| in float64, outputs poisoned with NaN before the launch",
            "bound": "what the error must stay below",
            "emulator_difference": "||D_emulator - D_gpu|| / ||D_gpu|| for the same source and operands; null where it was not run",
        },
    ),
)
