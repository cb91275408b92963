"""Runs mutants on the emulator: each builds once and runs under every policy and seed on inputs that reach all of its kernel."""

from __future__ import annotations

import contextlib
import hashlib
import inspect
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import numpy as np

from kernels import arrays
from kernels.compare import relative_error
from kernels.emulator import toolchain
from kernels.errors import CompileError, KernelError, LaunchError
from kernels.kernel import load
from kernels.mutate.operators import Mutant, mutants
from kernels.mutate.syntax import flatten
from kernels.sources import CUDA_DIR, Source
from kernels.spec import get_spec, tolerance

POLICIES = ("friendly", "rr", "random", "pct", "late", "lazy_mma")
TIMEOUT = 10.0  # seconds a launch; a right one takes a tenth


@dataclass(frozen=True)
class Input:
    """A call: the kernel, the sizes of its example, the emulated SMs (few, so that persistent kernels go round)."""

    kernel: str
    sizes: tuple[tuple[str, object], ...]
    sms: int = 8


def _input(kernel: str, sms: int = 8, **sizes) -> Input:
    return Input(kernel, tuple(sizes.items()), sms)


# Small, over both edges of a tile by one, more than two laps of a ring, more than one tile a persistent block.
_CLUSTERED = dict(sms=2, m=257, n=257, k=193)
_PERSISTENT = dict(sms=2, m=257, n=300, k=193)
# A source's inputs, which reach all of it; a header's are those of kernels that use all of it.
INPUTS: dict[str, tuple[Input, ...]] = {
    "accumulate_probe.cu": (
        _input("accumulate_probe", accumulator="e4m3", promote=2, k=384),
        _input("accumulate_probe", accumulator="fp16_acc16", k=128),
        _input("accumulate_probe", accumulator="bf16", k=128),
        _input("accumulate_probe", accumulator="fp16", k=64),
    ),
    "barrier_cost.cu": tuple(_input("barrier_cost", meeting=m, threads=96) for m in ("__syncthreads", "mbarrier, every thread", "mbarrier, each warp")),
    "gemm_cluster.cu": (_input("gemm_cluster", **_CLUSTERED),),
    "gemm_cooperative.cu": (_input("gemm_cooperative", m=129, n=270, k=577),),
    "gemm_dispatch.cu": (
        _input("gemm_dispatch", m=150, n=257, k=449),
        _input("gemm_dispatch", m=270, n=129, k=385, config="256x128"),
        _input("gemm_dispatch", m=70, n=70, k=385, config="64x64"),
    ),
    "gemm_epilogue.cu": (
        _input("gemm_epilogue", m=150, n=129, k=385),
        _input("gemm_epilogue", m=70, n=136, k=211, out="fp32", beta=0.0),
        _input("gemm_epilogue", m=65, n=64, k=64, out="fp16", bias=None),
    ),
    "gemm_grouped.cu": (
        _input("gemm_grouped", sms=2, heights=(131, 0, 1, 260, 0, 77), n=257, k=385),
        _input("gemm_grouped", sms=3, heights=tuple((7 * g) % 5 for g in range(40)), n=60, k=130),
        _input("gemm_grouped", sms=2, heights=(131, 0, 1, 260), n=257, k=70, search="scalar"),
    ),
    "gemm_naive.cu": (_input("gemm_naive", m=19, n=21, k=16),),
    "gemm_persistent.cu": (_input("gemm_persistent", **_PERSISTENT),),
    "gemm_pingpong.cu": (_input("gemm_pingpong", **_CLUSTERED), _input("gemm_pingpong", m=100, n=100, k=193, out="bf16")),
    "gemm_ring.cu": (_input("gemm_ring", m=129, n=270, k=577), _input("gemm_ring", m=50, n=60, k=150)),
    "gemm_store.cu": (_input("gemm_store", **_CLUSTERED, out="bf16"),),
    "gemm_tiled.cu": (_input("gemm_tiled", m=131, n=149, k=35),),
    "gemm_warp_specialized.cu": (_input("gemm_warp_specialized", m=129, n=150, k=449),),
    "gemm_wgmma.cu": (_input("gemm_wgmma", m=129, n=150, k=193),),
    "linear_epilogue.cu": (
        _input("linear_epilogue", m=37, n=51),
        _input("linear_epilogue", m=5, n=24, out="bf16", act="silu"),
        _input("linear_epilogue", m=64, n=64, beta=0.0, bias=None),
    ),
    "mbarrier_handshake.cu": (_input("mbarrier_handshake", m=57), _input("barrier_script")),
    "memory_bound.cu": (
        *(_input("stream_copy", n=40007, latency=latency) for latency in (1e-9, 6e-9, 1.2e-8, 3e-8)),  # one load in flight, two, four, eight
        _input("stream_copy", n=4096, width=8, latency=1e-8),
        _input("pointer_chase", n=401, steps=11),
        _input("gather", n=503, count=1301),
        _input("gather", n=503, count=1024),
    ),
    "ring_pipeline.cu": (_input("ring_pipeline", m=131, n=77, k=577, stages=3), _input("ring_pipeline", m=64, n=20, k=256, stages=1)),
    "roofline_probe.cu": (_input("roofline_probe", n=5003), _input("roofline_probe", n=4096), _input("roofline_probe", n=1000, resident=True)),
    "tma_tile_copy.cu": (_input("tma_tile_copy"), _input("tma_tile_copy", m=64, n=33, image=False)),
    "transpose.cu": (_input("transpose"), _input("transpose", read=4), _input("transpose", swizzle=0)),
    "warp_specialized.cu": (
        _input("warp_specialized", m=129, n=270, k=577),
        _input("warp_specialized", m=200, n=70, k=449, consumers=3, stages=2, producer_registers=32),
        _input("warp_specialized", m=129, n=270, k=577, roles="consumer copies"),
        _input("warp_specialized", m=50, n=60, k=100, roles="consumer copies"),
        _input("warp_specialized", m=60, n=60, k=449, consumers=1, roles="producer"),
    ),
    "wgmma_rate.cu": (_input("wgmma_rate"), _input("wgmma_rate", a_from="registers")),
    "wgmma_tile.cu": (_input("wgmma_tile"), _input("wgmma_tile", k=150, a_from="registers")),
    "gemm.cuh": (_input("gemm_cluster", **_CLUSTERED), _input("gemm_pingpong", **_CLUSTERED, out="bf16"), _input("gemm_persistent", **_PERSISTENT), _input("gemm_store", sms=2, m=257, n=129, k=257), _input("gemm_warp_specialized", m=65, n=70, k=257)),
    "tile_store.cuh": (_input("gemm_store", **_CLUSTERED, out="bf16"), _input("gemm_store", sms=2, m=140, n=130, k=70, out="fp32")),
    "wgmma_operands.cuh": (_input("wgmma_tile"), _input("wgmma_tile", k=150, a_from="registers")),
}  # fmt: skip


@dataclass
class Result:
    """What came of a mutant. runs: (policy, seed) -> "right", "wrong", or the rule of the emulator's first finding.

    compiles: False where it is no program, or the very same one.
    """

    mutant: Mutant
    compiles: bool = True
    runs: dict[tuple[str, int], str] = field(default_factory=dict)
    message: str = ""  # of the first finding

    @property
    def reported(self) -> int:
        """Runs with a report."""
        return sum(r not in ("right", "wrong") for r in self.runs.values())

    @property
    def verdict(self) -> str:
        """The column of the table that it belongs to."""
        right = sum(r == "right" for r in self.runs.values())
        if self.reported == len(self.runs):
            return "reported in every run"
        if right == len(self.runs):
            return "survived"
        if right == 0:
            return "wrong result only" if self.reported == 0 else "reported or wrong in every run"
        return "in some runs"


def all_mutants(kernels: Sequence[str] = (), operators: Sequence[str] = ()) -> list[Mutant]:
    """Mutants of the sources (all, or those whose names begin with one of `kernels`), by file and line."""
    found = []
    for file in INPUTS:
        if not kernels or any(file.startswith(k) for k in kernels):
            found += [
                m
                for m in mutants(file, (CUDA_DIR / file).read_text(encoding="utf-8"))
                if not operators or m.operator in operators
            ]
    return found


def source_of(kernel: str, changed: dict[str, str]) -> Source:
    """The kernel's source with files replaced, its headers written out in place."""
    path = CUDA_DIR / get_spec(kernel).source
    text = flatten(path, changed)
    return Source(path.name, text, (path,), hashlib.sha256(text.encode()).hexdigest())


@lru_cache
def _prepared(given: Input):
    spec = get_spec(given.kernel)
    takes = inspect.signature(spec.example).parameters
    example, params = spec.example(np.random.default_rng(1), **{k: v for k, v in given.sizes if k in takes})
    params.update(
        {k: v for k, v in given.sizes if k not in takes}
    )  # a parameter of the call that the example does not vary
    reference = spec.reference(*map(arrays.to_numpy, example), **params)
    return spec, example, params, reference, tolerance(spec, example, params)


def _right(out, reference, bound: float) -> bool:
    pairs = zip(out, reference) if isinstance(out, tuple) else [(out, reference)]
    return all(relative_error(arrays.to_numpy(o), r) <= bound for o, r in pairs)


def run_one(kernel_source: Source | None, given: Input, policy: str, seed: int) -> tuple[str, str]:
    """("right", ""), ("wrong", "") or (rule, message) of a launch with that source (None: the kernel's own)."""
    spec, example, params, reference, bound = _prepared(given)
    kernel = load(
        given.kernel, "emulator", source=kernel_source, seed=seed, policy=policy, timeout=TIMEOUT, sms=given.sms
    )
    try:
        out = kernel(*example, **params)
    except LaunchError as e:
        finding = kernel.report.findings[0] if kernel.report and kernel.report.findings else None
        return (finding.rule, finding.message) if finding else (type(e).__name__, str(e))
    return ("right" if _right(out, reference, bound) else "wrong"), ""


def run_mutant(mutant: Mutant, seeds: int) -> Result:
    """Under every policy and seed; in each, the inputs in turn until one is reported, or all have run."""
    result = Result(mutant)
    sources = {i.kernel: source_of(i.kernel, {mutant.file: mutant.text}) for i in INPUTS[mutant.file]}
    try:
        for policy in POLICIES:
            for seed in range(seeds):
                worst = "right"
                for given in INPUTS[mutant.file]:
                    found, message = run_one(sources[given.kernel], given, policy, seed)
                    if found != "right":
                        worst, result.message = found, result.message or message
                    if found not in ("right", "wrong"):
                        break
                result.runs[policy, seed] = worst
    except CompileError:
        result.compiles = False
    except KernelError as e:  # before any launch: the spec refuses it
        result.runs[policy, seed], result.message = type(e).__name__, str(e)
    return result


@contextlib.contextmanager
def own_cache() -> Iterator[None]:
    """A cache folder for the mutants, which would drive everything else out of the common one; with the runner that is there."""
    runner = toolchain.runner()
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        if runner.parent != toolchain.PREBUILT / toolchain.machine():
            with contextlib.suppress(OSError):
                shutil.copy2(runner, Path(folder) / runner.name)
        before = os.environ.get("KERNELS_CACHE")
        os.environ["KERNELS_CACHE"] = folder
        try:
            yield
        finally:
            os.environ.pop("KERNELS_CACHE")
            if before is not None:
                os.environ["KERNELS_CACHE"] = before


def run_all(
    todo: Sequence[Mutant], seeds: int = 2, jobs: int | None = None, progress: Callable[[Result], None] = lambda r: None
) -> list[Result]:
    """The results in the order of `todo`; progress is called with each as it comes."""
    with own_cache():
        if jobs == 1 or len(todo) < 3:
            results = []
            for m in todo:
                results.append(run_mutant(m, seeds))
                progress(results[-1])
            return results
        with ProcessPoolExecutor(jobs or os.cpu_count()) as pool:
            waiting = [pool.submit(run_mutant, m, seeds) for m in todo]
            for f in waiting:
                progress(f.result())
            return [f.result() for f in waiting]
