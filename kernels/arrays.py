"""Rules for a kernel's array arguments, and moving arrays between NumPy and CuPy.

Element types are named as in the kernels: fp32, fp16, bf16 (ml_dtypes.bfloat16), e4m3 (ml_dtypes.float8_e4m3fn), int32, uint32, uint8.
"""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from kernels.errors import ArgumentError

DTYPES = {
    "fp32": np.dtype(np.float32),
    "fp16": np.dtype(np.float16),
    "bf16": np.dtype(ml_dtypes.bfloat16),
    "e4m3": np.dtype(ml_dtypes.float8_e4m3fn),
    "int32": np.dtype(np.int32),
    "uint32": np.dtype(np.uint32),
    "uint8": np.dtype(np.uint8),
}
NAMES = {v: k for k, v in DTYPES.items()}
REMEDY = {
    "fp32": "x.astype(np.float32)",
    "fp16": "x.astype(np.float16)",
    "bf16": "x.astype(ml_dtypes.bfloat16)",
    "e4m3": "x.astype(ml_dtypes.float8_e4m3fn)",
    "int32": "x.astype(np.int32)",
    "uint32": "x.astype(np.uint32)",
    "uint8": "x.astype(np.uint8)",
}


def is_cupy(a) -> bool:
    """Whether a is a CuPy array, without importing CuPy."""
    return type(a).__module__.split(".")[0] == "cupy" and hasattr(a, "__cuda_array_interface__")


def is_array(a) -> bool:
    return isinstance(a, np.ndarray) or is_cupy(a)


def address(a) -> int:
    """Where a's first element is. (NumPy's `.data` refuses bfloat16, so the attribute is no test for CuPy.)"""
    return a.data.ptr if is_cupy(a) else a.ctypes.data


def require_array(
    name: str, a, *, dtype: str | tuple[str, ...], ndim: int = 0, shape: tuple[int, ...] | None = None
) -> None:
    """Raise ArgumentError unless a is a NumPy or CuPy array of a dtype (by name), of `ndim` axes or exactly `shape`, with at least one
    element, row-major contiguous, at an address that is a multiple of 16 bytes: what the kernels' 128-bit accesses and TMA need.
    """
    if not is_array(a):
        raise ArgumentError(f"{name} must be a NumPy or CuPy array; it is {type(a).__name__}.")
    wanted = (dtype,) if isinstance(dtype, str) else dtype
    if a.dtype not in [DTYPES[w] for w in wanted]:
        have = NAMES.get(a.dtype, str(a.dtype))
        raise ArgumentError(
            f"{name} must hold {' or '.join(dict.fromkeys(wanted))}; it holds {have}. Convert it: {REMEDY[wanted[0]]}."
        )
    if shape is not None and tuple(a.shape) != tuple(shape):
        raise ArgumentError(f"{name} must have shape {tuple(shape)}; it has {tuple(a.shape)}.")
    if ndim and a.ndim != ndim:
        raise ArgumentError(f"{name} must have {ndim} axes; its shape is {tuple(a.shape)}.")
    if a.size == 0:
        raise ArgumentError(f"{name} must have at least one element; its shape is {tuple(a.shape)}.")
    if not a.flags.c_contiguous:
        raise ArgumentError(
            f"{name} must be row-major contiguous; its strides are {a.strides} bytes. Copy it: np.ascontiguousarray(x)."
        )
    if address(a) % 16:
        raise ArgumentError(
            f"{name} must start at a multiple of 16 bytes, since the kernel moves 128 bits at a time; it starts at {address(a):#x} "
            "(a view into another array?). Copy it: x.copy()."
        )


LONGEST_SIDE = 2**31 - 1024  # sizes are int32 in the kernels, rounded up to whole tiles


def require_sides(name: str, a) -> None:
    """Raise ArgumentError unless each side of a, rounded up to a tile, fits the kernel's 32-bit sizes."""
    if max(a.shape) > LONGEST_SIDE:
        raise ArgumentError(
            f"{name}: each side may be {LONGEST_SIDE:,} at most, since the kernel counts in 32 bits; its shape is {tuple(a.shape)}."
        )


def require_number(name: str, value) -> None:
    """Raise ArgumentError unless value is a real number that fits fp32 (infinities and NaN allowed)."""
    if isinstance(value, bool) or not isinstance(value, (int, float, np.floating, np.integer)):
        raise ArgumentError(f"{name} must be a number; it is {type(value).__name__}.")
    size = (
        abs(int(value)) if isinstance(value, (int, np.integer)) else abs(float(value))
    )  # an int may be too large for a float
    if float(np.finfo(np.float32).max) < size < float("inf"):
        raise ArgumentError(f"{name} must fit fp32; it is {value}.")


def require_choice(name: str, value, choices) -> None:
    """Raise ArgumentError unless value is one of choices."""
    if is_array(value) or value not in choices:
        raise ArgumentError(f"{name} must be one of {', '.join(map(repr, choices))}; it is {value!r}.")


def to_numpy(a) -> Any:
    """A NumPy array of a's elements and type; a tuple of arrays becomes a tuple of such."""
    if isinstance(a, tuple):
        return tuple(map(to_numpy, a))
    return a.get() if is_cupy(a) else a


def to_cupy(a) -> Any:
    """A CuPy array of a's elements and type (8- and 16-bit types travel as their bits)."""
    import cupy

    if is_cupy(a):
        return a
    if a.dtype not in (DTYPES["bf16"], DTYPES["e4m3"]):
        return cupy.asarray(a)
    return cupy.asarray(a.view(f"u{a.dtype.itemsize}")).view(a.dtype)


def poison(a) -> None:
    """Fill an array with NaN (every byte 0xFF: NaN in fp32, fp16, bf16 and e4m3), so that an element nobody wrote shows."""
    a.view("u1")[...] = 0xFF
