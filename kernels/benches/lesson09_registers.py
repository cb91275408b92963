"""Lesson 9: what a producer warpgroup is worth, what setmaxnreg is worth, and what becomes of a request beyond the pool."""

from __future__ import annotations

import subprocess
import sys

from kernels.bench import Bench, Session
from kernels.benches.gemm_ladder import Operands
from kernels.benches.ready import TIMES, compile_all, enqueue, rotate, time_shuffled
from kernels.benches.sanitizing import ROOT
from kernels.nvrtc import compile_source
from kernels.sources import load_source
from kernels.specs.warp_specialized import (
    MOST_CONSUMERS,
    ROLES,
    consumer_registers,
    launch_of,
    launch_registers,
    most_stages,
)

NAME, SOURCE = "warp_specialized", "warp_specialized.cu"
SHAPES = ((8064, 8192, 4096), (8064, 8192, 512))  # M, N, K: 8064 is a multiple of 64, 128 and 192
DEEP = (4032, 4096, 16384)
REPEATS, BURST_MS = 12, 6.0
SECONDS = 10.0  # a launch that has not ended by then is called one that never does: the right ones take milliseconds
GIFTS = {1: 40, 2: 24, 3: 32}  # registers the producer keeps


def _calls(operands: Operands, variants: dict[str, tuple[int, str, int]]) -> dict:
    """One call for each variant: (consumers, roles, stages)."""
    calls = {}
    for name, (consumers, roles, stages) in variants.items():
        launches = [
            launch_of(a, b, d, None, operands.size, consumers, roles, stages, GIFTS[consumers], "bf16")
            for a, b, d in operands.ours
        ]
        calls[name] = rotate(enqueue(SOURCE, launch) for launch in launches)
    return calls


def _measure(session: Session, size: tuple[int, int, int], variants: dict[str, tuple[int, str, int]]) -> list[dict]:
    """All variants and cuBLAS in turn, each round in another order."""
    m, n, k = size
    operands = Operands(size)
    calls = {"cublas": operands.cublas(), **_calls(operands, variants)}
    once = 2.0 * m * n * k / 600e12 * 1e3
    times = time_shuffled(calls, repeats=REPEATS, inner=max(2, round(BURST_MS / once)))
    points = []
    for name, t in times.items():
        consumers, roles, stages = variants.get(name, (0, name, 0))
        points.append({"m": m, "n": n, "k": k, "consumers": consumers, "roles": roles, "stages": stages, **_compiled(consumers, roles, stages),
                       "tflop_per_s": 2.0 * m * n * k / t["ms"] / 1e9, "of_cublas": times["cublas"]["ms"] / t["ms"], **t})  # fmt: skip
    session.say(f"{m}x{n}x{k}: " + "; ".join(f"{name} {p['tflop_per_s']:.0f}" for name, p in zip(times, points)))
    return points


def _compiled(consumers: int, roles: str, stages: int) -> dict:
    """What ptxas says: registers a thread at launch, bytes of spills, whether the wgmmas are serialised."""
    if not consumers:
        return {"registers": 0, "spill_bytes": 0, "serialised": 0}
    built = compile_source(load_source(SOURCE), _defines(consumers, roles, stages))
    used = built.resources[NAME]
    return {
        "registers": used.registers,
        "spill_bytes": used.spill_stores + used.spill_loads,
        "serialised": int(any("serialized" in r for r in built.remarks)),
    }


def _defines(consumers: int, roles: str, stages: int) -> dict:
    moved = {"PRODUCER_REGISTERS": GIFTS[consumers]} if roles == "setmaxnreg" else {}
    return {"STAGES": stages, "CONSUMERS": consumers, "OUT": "bf16", **ROLES[roles], **moved}


def specialization(session: Session) -> list[dict]:
    """One to three consumers, each with the three ways to share the roles, the ring as deep as shared memory allows."""
    variants = {
        f"{c} consumers, {roles}": (c, roles, most_stages(c)) for c in range(1, MOST_CONSUMERS + 1) for roles in ROLES
    }
    compile_all([(SOURCE, _defines(*v)) for v in variants.values()])
    return [p for size in SHAPES for p in _measure(session, size, variants)]


def stages(session: Session) -> list[dict]:
    """Two consumers, with and without a producer, over the number of stages; a deep K, where the epilogue counts least."""
    variants = {
        f"{roles}, {s} stages": (2, roles, s)
        for s in range(2, most_stages(2) + 1)
        for roles in ("consumer copies", "setmaxnreg")
    }
    compile_all([(SOURCE, _defines(*v)) for v in variants.values()])
    return _measure(session, DEEP, variants)


# Runs in a process of its own, since a launch that never ends takes its process with it. argv: consumers, producer's registers, beyond, warps.
ASKS = """
import sys
import cupy, numpy as np
from kernels import gpu
from kernels.specs.warp_specialized import launch_of
from kernels.benches.ready import enqueue
from dataclasses import replace
consumers, producer, beyond, warps = map(int, sys.argv[1:])
size = (192, 256, 512)
rng = np.random.default_rng(0)
host = [rng.standard_normal(s).astype(np.float32) for s in ((192, 512), (256, 512))]
bf16 = lambda x: cupy.asarray((x.view(np.uint32) >> 16).astype(np.uint16))
wide = lambda x: (x.view(np.uint32) & 0xFFFF0000).view(np.float32).astype(np.float64)
a, b = map(bf16, host)
d = cupy.zeros((192, 256), cupy.float32)
launch = launch_of(a, b, d, None, size, consumers, "setmaxnreg", 3, producer, "fp32")
launch = replace(launch, defines={**launch.defines, "BEYOND": beyond, "ASKING_WARPS": warps})
call = enqueue("warp_specialized.cu", launch)
print("built", flush=True)
call()
cupy.cuda.Device().synchronize()
right = wide(host[0]) @ wide(host[1]).T
print("right" if np.abs(d.get() - right).max() < 1e-3 * np.abs(right).max() else "wrong", flush=True)
"""


def asked(consumers: int, producer: int, beyond: int, warps: int) -> str:
    """ "right", "wrong", "never ended", or the error's last line."""
    process = subprocess.Popen(
        [sys.executable, "-c", ASKS, *map(str, (consumers, producer, beyond, warps))],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT,
    )  # fmt: skip
    assert process.stdout is not None
    if process.stdout.readline().strip() != "built":  # starting and compiling have no limit of their own
        return process.communicate(timeout=120)[1].strip().splitlines()[-1]
    try:
        out, err = process.communicate(timeout=SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        return "never ended"
    return out.strip() or err.strip().splitlines()[-1]


def requests(session: Session) -> list[dict]:
    """Requests at the pool's limit and beyond, and a request that one warp of four does not make."""
    points = []
    for consumers, producer, beyond, warps in (
        (2, 24, 0, 4), (2, 40, 0, 4), (3, 32, 0, 4), (2, 24, 8, 4), (2, 32, 8, 4), (3, 32, 8, 4), (2, 24, 0, 3),
    ):  # fmt: skip
        threads = (consumers + 1) * 128
        share = consumer_registers(threads, producer, consumers) + beyond
        pool, together = (consumers + 1) * launch_registers(threads), producer + consumers * share
        outcome = asked(consumers, producer, beyond, warps)
        points.append({"consumers": consumers, "producer_registers": producer, "consumer_registers": share, "asked": together, "pool": pool,
                       "asking_warps": warps, "outcome": outcome})  # fmt: skip
        session.say(f"{producer} + {consumers} x {share} = {together} of {pool}, {warps} warps ask: {outcome}")
    return points


RATE_FIELDS = {
    "m": "rows of D",
    "n": "columns of D",
    "k": "K",
    "consumers": "consumer warpgroups, 0 for cuBLAS",
    "roles": "who copies, and whether registers move; or cublas",
    "stages": "of the ring",
    "registers": "registers a thread at launch, as compiled",
    "spill_bytes": "bytes a thread spills, stores and loads",
    "serialised": "1: ptxas says that the wgmmas are serialised",
    "tflop_per_s": "2 M N K / median time",
    "of_cublas": "cuBLAS's median time over this one's",
    **TIMES,
}
BENCHES = (
    Bench(
        "lesson09_specialization",
        "warp_specialized with 1 to 3 consumers: a consumer copies, a producer copies, a producer copies and registers move; against cuBLAS",
        (NAME,),
        specialization,
        RATE_FIELDS,
    ),
    Bench(
        "lesson09_stages",
        f"warp_specialized with two consumers, with and without a producer, over the number of stages, K = {DEEP[2]}",
        (NAME,),
        stages,
        RATE_FIELDS,
    ),
    Bench(
        "lesson09_requests",
        "setmaxnreg requests at and beyond what the block was launched with: whether the launch ends, and with the right result",
        (NAME,),
        requests,
        {
            "consumers": "consumer warpgroups",
            "producer_registers": "registers a thread that the producer keeps",
            "consumer_registers": "registers a thread that each consumer asks for",
            "asked": "the warpgroups' registers a thread, added",
            "pool": "what the block was launched with, likewise",
            "asking_warps": "warps of a consumer warpgroup that ask, of 4",
            "outcome": f"right, wrong, or never ended (in {SECONDS:g} s)",
        },
    ),
)
