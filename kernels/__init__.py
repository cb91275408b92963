"""Hopper kernels: one source, on a GPU through CuPy or on any CPU through the emulator.

    kernel = kernels.load("linear_epilogue")               # the GPU where it can run one, else the emulator
    d = kernel(acc, alpha=2.0, beta=0.0)                   # NumPy or CuPy arrays in and out
    kernel.backend, kernel.why, kernel.receipt

    kernels.compare("linear_epilogue", my_function)        # a Python function against the kernel, on inputs that a wrong one fails
    kernels.challenge("linear_epilogue", "const bool ...;")  # the kernel with its challenge line replaced, on the emulator

    kernels.run_source("saxpy.cu", grid=4, block=256, args={"n": 1000, "a": 2.0, "x": x, "y": y})   # a CUDA file that knows nothing of this course

`kernels.registry()` lists the kernels (kernels.spec says how one is added); kernels.gpu and kernels.emulator are the two back ends,
kernels.nvrtc compiles for sm_90a without a driver. Errors are KernelError and its kinds.
"""

from kernels.arrays import DTYPES
from kernels.compare import challenge, challenge_left, challenge_statement, challenge_text, compare
from kernels.errors import ArgumentError, BackendError, CompileError, ContextDeadError, KernelError, LaunchError
from kernels.foreign import ForeignKernel, run_source
from kernels.kernel import Kernel, load
from kernels.line import LineRefused
from kernels.receipt import Receipt
from kernels.spec import registry
from kernels.tensormap import TensorMap
from kernels.wording import speak

__all__ = [
    "DTYPES",
    "ArgumentError",
    "BackendError",
    "CompileError",
    "ContextDeadError",
    "ForeignKernel",
    "Kernel",
    "KernelError",
    "LaunchError",
    "LineRefused",
    "Receipt",
    "TensorMap",
    "challenge",
    "challenge_left",
    "challenge_statement",
    "challenge_text",
    "compare",
    "load",
    "registry",
    "run_source",
    "speak",
]
