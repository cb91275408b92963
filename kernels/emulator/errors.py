"""What the emulator raises. Every message says what happened, where (file and line), and what to do."""

from __future__ import annotations

from kernels.errors import ArgumentError, BackendError, CompileError, LaunchError


class EmulatorUnavailable(BackendError):
    """The emulator cannot run on this machine: no compiler, or a system it does not know."""


class EmulatorCompileError(CompileError):
    """The kernel does not compile for the emulator. `file`, `line` and `log` as in CompileError."""


class EmulatorArgumentError(ArgumentError):
    """The arguments of a launch do not fit the kernel's parameters. Nothing ran."""


class EmulatorError(LaunchError):
    """A launch on the emulator went wrong. `report` is its LaunchReport, with every finding; `code` is its status."""

    def __init__(self, report):
        self.report = report
        super().__init__(str(report), code=report.status)


class EmulatorRace(EmulatorError):
    """Two accesses that nothing orders, a fence that is missing, or data touched while an asynchronous operation uses it."""


class EmulatorDeadlock(EmulatorError):
    """No thread can run and nothing is in flight."""


class EmulatorMisuse(EmulatorError):
    """A rule of the hardware is broken: alignment, barrier counts, setmaxnreg, collectives, register or shared-memory budget."""


class EmulatorOutOfBounds(EmulatorError):
    """An access outside the arrays of the launch, the block's shared memory, or a thread's stack."""


class EmulatorTimeout(EmulatorError):
    """The launch did not end within its time limit."""


class EmulatorCrash(EmulatorError):
    """The launch's process died otherwise."""


BY_STATUS = {
    "race": EmulatorRace,
    "deadlock": EmulatorDeadlock,
    "misuse": EmulatorMisuse,
    "out_of_bounds": EmulatorOutOfBounds,
    "timeout": EmulatorTimeout,
    "crash": EmulatorCrash,
}
