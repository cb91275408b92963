"""Calls made ready for timing: launches whose modules, tensor maps and arrays exist already, compiled side by side beforehand."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from kernels import gpu
from kernels.backends import Context
from kernels.bench import summary
from kernels.nvrtc import compile_source
from kernels.sources import load_source
from kernels.spec import Launch, get_spec

TIMES = {
    "ms": "median device time, milliseconds",
    "ms_min": "smallest reading",
    "ms_p10": "10th percentile",
    "ms_p90": "90th percentile",
    "readings": "number of readings, interleaved with the other variants",
}


def compile_all(builds: Iterable[tuple[str, Mapping[str, object]]]) -> None:
    """Compile (source name, defines) pairs at the same time; the timed part then finds them done."""
    with ThreadPoolExecutor(16) as pool:
        list(pool.map(lambda b: compile_source(load_source(b[0]), b[1]), builds))


def context() -> Context:
    import cupy

    return Context("gpu", gpu.require().sms, False, cupy)


@functools.cache
def _module(source: str, defines: tuple) -> gpu.Module:
    return gpu.Module(source, dict(defines))


def enqueue(source: str, launch: Launch) -> Callable[[], None]:
    """A function that enqueues the launch on the current stream."""
    function = _module(source, tuple(sorted(launch.defines.items()))).function(launch.entry, launch.smem)
    grid, block, packed = gpu.three(launch.grid), gpu.three(launch.block), tuple(map(gpu.pack, launch.args))
    return lambda: function(grid, block, packed, shared_mem=launch.smem)


def prepare(name: str, *args, **params) -> tuple[Callable[[], None], object]:
    """(a function that enqueues the kernel's one launch, its result). Arguments are CuPy arrays; the spec's check is made."""
    spec = get_spec(name)
    spec.check(*args, **params)
    plan = spec.plan(context(), *args, **params)
    (launch,) = plan.launches
    return enqueue(spec.source, launch), plan.result


def rotate(calls: Iterable[Callable[[], None]]) -> Callable[[], None]:
    """One call that runs the next of `calls` each time."""
    ring = itertools.cycle(list(calls))
    return lambda: next(ring)()


def time_shuffled(calls: Mapping[str, Callable[[], None]], repeats: int, inner: int, seed: int = 1) -> dict[str, dict]:
    """As Session.time, but each round runs the calls in another random order.

    For calls of a millisecond or more, whose heat and power reach into the next one: in a fixed order the neighbour would be part of
    the figure.
    """
    rng, readings = np.random.default_rng(seed), {name: [] for name in calls}
    gpu.time_ms(list(calls.values()), repeats=1, warmup=2, inner=inner)
    for _ in range(repeats):
        names = [str(n) for n in rng.permutation(list(calls))]
        for name, (ms,) in zip(names, gpu.time_ms([calls[n] for n in names], repeats=1, warmup=0, inner=inner)):
            readings[name].append(ms)
    return {name: summary(r) for name, r in readings.items()}


def graph_of(calls: Iterable[Callable[[], None]]) -> Callable[[], None]:
    """One call that runs all of `calls`, captured as a CUDA graph: no time goes to launching from Python."""
    import cupy

    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:
        stream.begin_capture()
        for call in calls:
            call()
        graph = stream.end_capture()
    graph.upload(cupy.cuda.Stream.null)
    return lambda: graph.launch(cupy.cuda.Stream.null)


def torch_graph_of(calls: Iterable[Callable[[], None]]) -> Callable[[], None]:
    """The same for calls into torch."""
    import torch

    calls = list(calls)
    for call in calls:  # workspaces are made before the capture
        call()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for call in calls:
            call()
    return graph.replay
