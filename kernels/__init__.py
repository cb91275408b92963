"""Hopper kernels: one source, on a GPU through CuPy or on any CPU through the emulator."""

from kernels.errors import (
    ArgumentError,
    BackendError,
    CompileError,
    ContextDeadError,
    KernelError,
    LaunchError,
)
from kernels.tensormap import TensorMap

__all__ = ["ArgumentError", "BackendError", "CompileError", "ContextDeadError", "KernelError", "LaunchError", "TensorMap"]
