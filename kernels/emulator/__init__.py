"""Runs the course's CUDA kernels on any CPU, thread by thread, and says what is wrong with them.

    from kernels.emulator import build

    module = build(Path("gemm.cu"), ["gemm"], {"STAGES": 3})
    report = module.launch("gemm", (2, 2), 384, [TensorMap(a, (128, 64)), TensorMap(b, (128, 64)), c, m, n, k],
                           smem=98368, seed=3, policy="pct")
    print(report)                 # clean, 0.02 s, 1,204 steps

`build(source, entries, defines, instrument=True)` compiles the file once (cached by content) and gives a `Module`.
`Module.launch(...)` runs one grid in a process of its own, so that neither a crash nor a hang reaches the caller, changes the
arrays in place, and returns a `LaunchReport`, or raises a `KernelError`:

    EmulatorUnavailable    no compiler here, or not a Linux x86-64 / aarch64 machine (a BackendError)
    EmulatorCompileError   the source does not compile; file, line, log (a CompileError)
    EmulatorArgumentError  the arguments do not fit the kernel's parameters (an ArgumentError)
    EmulatorRace           unordered accesses, a missing fence, registers or memory touched while in flight
    EmulatorDeadlock       nothing can run any more; who waits for what
    EmulatorMisuse         a rule of the hardware is broken (alignment, barrier counts, setmaxnreg, divergent collectives, budgets)
    EmulatorOutOfBounds    access outside the arrays, the block's shared memory or a thread's stack
    EmulatorTimeout        the time limit; who was where
    EmulatorCrash          the kernel's process died in a way that is none of the above

All but the first three are `EmulatorError`s (LaunchErrors), with the whole report in `.report`. With `raises=False` `launch`
returns the report of a failed launch as well (`report.status`, `report.findings`), for tables over seeds.

Arguments, in the order of the kernel's parameters: NumPy arrays (C-contiguous; any dtype), None for a null pointer,
`kernels.TensorMap` of two axes, and scalars (np.float32, np.int32, np.uint64 ...; a Python int or float takes the parameter's size).

Schedules. `policy` says who runs next and when asynchronous work lands; the same seed and policy give the same run:

    friendly   warps in turn, copies and wgmma done at once: the schedule under which most bugs hide
    rr         warps in turn, copies and wgmma at random times
    random     warps, copies and wgmma at random
    pct        random priorities with a few changes (finds bugs that need a long delay), copies and wgmma at random
    late       as pct; copies land as late as they can, wgmma early
    lazy_mma   as pct; copies land early, wgmma runs as late as it can
    timed      by a nominal clock (copy latency, tensor-core cycles): for timelines, not a measurement

`checks=True` finds races whatever the schedule (vector clocks); in plain shared and global memory accesses too if the module was
built with instrument=True. `trace=True` records events for timelines: see `kernels.emulator.trace`.
"""

from kernels.emulator.errors import (
    EmulatorArgumentError,
    EmulatorCompileError,
    EmulatorCrash,
    EmulatorDeadlock,
    EmulatorError,
    EmulatorMisuse,
    EmulatorOutOfBounds,
    EmulatorRace,
    EmulatorTimeout,
    EmulatorUnavailable,
)
from kernels.emulator.module import Module, build
from kernels.emulator.report import POLICIES, Event, Finding, LaunchReport, Place
from kernels.emulator.toolchain import available

__all__ = [
    "POLICIES",
    "EmulatorArgumentError",
    "EmulatorCompileError",
    "EmulatorCrash",
    "EmulatorDeadlock",
    "EmulatorError",
    "EmulatorMisuse",
    "EmulatorOutOfBounds",
    "EmulatorRace",
    "EmulatorTimeout",
    "EmulatorUnavailable",
    "Event",
    "Finding",
    "LaunchReport",
    "Module",
    "Place",
    "available",
    "build",
]
