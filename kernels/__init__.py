"""Hopper kernels: one source, on a GPU through CuPy or on any CPU through the emulator."""

from kernels.errors import KernelError

__all__ = ["KernelError"]
