"""Lesson 5: accumulators read before wgmma_wait on the device. What the compiler makes of it, whether the numbers are right, what it costs."""

from __future__ import annotations

import itertools

import numpy as np

from kernels import gpu
from kernels.arrays import to_numpy
from kernels.bench import Bench, Session
from kernels.benches.lesson05_wgmma import CYCLES
from kernels.benches.lesson07_speed import random_fp32, to_bits16
from kernels.benches.ready import TIMES, context
from kernels.compare import relative_error
from kernels.errors import KernelError
from kernels.kernel import load
from kernels.nvrtc import compile_source
from kernels.sources import Source, load_source
from kernels.specs.wgmma import example_tile, launch_rate

WAIT = "    wgmma_wait<1>();\n"
SUM = "float sum = 0.0f;"
# variant -> what stands in wgmma_rate.cu in place of WAIT and SUM
VARIANTS = {
    "one group in flight": (WAIT, SUM),
    "waits for each group": (WAIT.replace("<1>", "<0>"), SUM),
    "reads early": ("    early += acc[0];\n" + WAIT, "float sum = early;"),
}
NS, GROUPS = (64, 128, 256), (1, 2)


def edited(variant: str) -> Source:
    """wgmma_rate.cu with the variant's wait. "reads early": one accumulator register is read between commit and wait, in every round."""
    wait, total = VARIANTS[variant]
    text = load_source("wgmma_rate.cu").text
    if text.count(WAIT) != 1 or text.count(SUM) != 1:
        raise KernelError("wgmma_rate.cu no longer holds the lines that this bench edits.")
    text = text.replace(WAIT, wait).replace(SUM, total)
    return load_source("wgmma_rate.cu", text.replace("float acc[REGISTERS];", "float acc[REGISTERS], early = 0.0f;"))


def remark(built) -> str:
    return "; ".join(built.remarks)


def numbers(session: Session) -> list[dict]:
    """wgmma_tile with the defect read_before_wgmma_wait against float64."""
    points = []
    for n, a_from in itertools.product((16, 64, 256), ("shared", "registers")):
        (a, b), params = example_tile(np.random.default_rng(n), n, 512, "bf16", a_from)
        kernel = load("wgmma_tile", "gpu", bug="read_before_wgmma_wait", poison=True)
        error = max(
            relative_error(to_numpy(kernel(a, b, **params)), kernel.reference(a, b, **params)) for _ in range(20)
        )
        built = compile_source(
            kernel.source,
            {"T": "bf16", "TILE_N": n, "A_FROM_REGISTERS": int(a_from == "registers"), "BUG": "read_before_wgmma_wait"},
        )
        points.append(
            {
                "kernel": "wgmma_tile",
                "variant": "read_before_wgmma_wait",
                "n": n,
                "a_from": a_from,
                "error": error,
                "remark": remark(built),
            }
        )
        session.say(
            f"wgmma_tile, N {n}, A from {a_from}: worst error of 20 runs {error:.1e}; {remark(built) or 'no remark'}"
        )
    return points


def cost(session: Session) -> list[dict]:
    """wgmma_rate, SS: cycles of an instruction for each variant, by width and warpgroups an SM."""
    import cupy

    calls, labels, ctx = {}, {}, context()
    for variant, n, groups in itertools.product(VARIANTS, NS, GROUPS):
        a, b, repeats = (
            to_bits16(random_fp32((64 * groups, 64)), "bf16"),
            to_bits16(random_fp32((n, 64)), "bf16"),
            CYCLES // (2 * n * groups),
        )
        sums, cycles = ctx.empty((ctx.sms, 128 * groups), "fp32"), cupy.zeros(ctx.sms, cupy.uint32)
        launch = launch_rate(ctx, a, b, sums, cycles, repeats, "shared")
        module = gpu.Module(edited(variant), launch.defines)
        function, packed = module.function(launch.entry, launch.smem), tuple(map(gpu.pack, launch.args))
        grid, block = gpu.three(launch.grid), gpu.three(launch.block)
        name = f"{variant}, N {n}, {groups} warpgroups"
        calls[name] = lambda f=function, g=grid, b=block, p=packed, s=launch.smem: f(g, b, p, shared_mem=s)
        labels[name] = (variant, n, groups, repeats, cycles, remark(module.built))
    times = session.time(calls, repeats=12, warmup=2)
    points = []
    for name, (variant, n, groups, repeats, cycles, said) in labels.items():
        each = float(np.median(to_numpy(cycles))) / (4 * repeats * groups)
        points.append({"kernel": "wgmma_rate", "variant": variant, "n": n, "a_from": "shared", "warpgroups": groups, "repeats": repeats, "cycles_per_wgmma": each, "of_ideal": each / (n / 2), "remark": said, **times[name]})  # fmt: skip
        session.say(f"{name}: {each:.1f} cycles, {each / (n / 2):.2f} of N / 2; {said or 'no remark'}")
    return points


BENCHES = (
    Bench(
        "lesson05_early_read",
        "Accumulators read between wgmma_commit and wgmma_wait: what the compiler says, whether the numbers are right, and the cycles of an instruction",
        ("wgmma_tile", "wgmma_rate"),
        lambda session: numbers(session) + cost(session),
        {
            "kernel": "the kernel: wgmma_tile for the numbers, wgmma_rate for the cycles",
            "variant": f"the defect, or what stands in the loop of wgmma_rate.cu: {', '.join(VARIANTS)}",
            "n": "N of the instruction",
            "a_from": "where A is",
            "error": "largest relative error norm of 20 runs against float64, K = 512 (wgmma_tile)",
            "warpgroups": "warpgroups an SM",
            "repeats": "groups of four instructions each warpgroup issued",
            "cycles_per_wgmma": "SM clock cycles (clock64) of the last launch over the instructions its block issued, median over the SMs",
            "of_ideal": "those over N / 2",
            "remark": "what ptxas said about the build, empty if nothing",
            **TIMES,
        },
    ),
)
