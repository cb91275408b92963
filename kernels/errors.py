"""What can go wrong with a kernel, said so that a student can act on it."""

from __future__ import annotations

from kernels.wording import told


class KernelError(Exception):
    """Base of all errors raised by `kernels`: what happened, where, and what to do, in the language of `kernels.speak`."""

    def __str__(self) -> str:
        return told(super().__str__())


class BackendError(KernelError):
    """A back end that was asked for cannot run here (no GPU, wrong compute capability, driver too old, no compiler)."""


class ArgumentError(KernelError, ValueError):
    """An argument breaks a rule of the kernel (dtype, shape, alignment, contiguity, a missing C). Raised before the launch."""


class CompileError(KernelError):
    """The CUDA source does not compile. `file` and `line` (1-based, 0 where unknown) say where; `log` is the compiler's whole log."""

    def __init__(self, message: str, *, file: str = "", line: int = 0, log: str = ""):
        self.file, self.line, self.log = file, line, log
        super().__init__(message)


class LaunchError(KernelError):
    """A launch failed. `code` is the CUDA error's name, "" where there is none."""

    def __init__(self, message: str, *, code: str = ""):
        self.code = code
        super().__init__(message)


class ContextDeadError(LaunchError):
    """A sticky error: the CUDA context of this process is dead and every later CUDA call in it fails the same way."""
