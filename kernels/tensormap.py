"""A tensor map: what the copy engine (TMA) needs to know of an array. Described once, encoded by each back end.

    TensorMap(a, box=(128, 64))             # a is (rows, columns); the box is in the same order; 128-byte swizzle

The rules are those of cuTensorMapEncodeTiled (CUDA driver API reference) and are checked before any launch, on both back ends.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from kernels.arrays import address
from kernels.errors import ArgumentError, BackendError

SWIZZLES = (0, 32, 64, 128)  # bytes
L2_PROMOTIONS = (0, 64, 128, 256)  # bytes
_TYPES = {  # numpy dtype name -> CUtensorMapDataType
    "bfloat16": "BFLOAT16",
    "float16": "FLOAT16",
    "float32": "FLOAT32",
    "float64": "FLOAT64",
    "uint8": "UINT8",
    "uint16": "UINT16",
    "uint32": "UINT32",
    "int32": "INT32",
    "int64": "INT64",
    "uint64": "UINT64",
    "float8_e4m3fn": "UINT8",
    "float8_e5m2": "UINT8",
    "int8": "UINT8",
}


@dataclass(frozen=True)
class TensorMap:
    """A tiled view of `array` (NumPy or CuPy, 1 to 5 axes, last axis contiguous).

    box: elements of one copy along each axis, in the array's axis order, each 1..256.
    swizzle: 0, 32, 64 or 128 bytes; the box's last axis must not be longer.  l2: promotion of L2 fetches, 0, 64, 128 or 256 bytes.
    dtype: name of the element type where the array's own is a stand-in (bf16 bits held as uint16).
    """

    array: Any
    box: tuple[int, ...]
    swizzle: int = 128
    l2: int = 128
    dtype: str = ""

    def __post_init__(self):
        a, name = self.array, "tensor map"
        if self.element not in _TYPES:
            raise ArgumentError(
                f"{name}: the copy engine knows no element type {self.element}; it knows {', '.join(sorted(_TYPES))}."
            )
        if not 1 <= a.ndim <= 5 or len(self.box) != a.ndim:
            raise ArgumentError(
                f"{name}: an array of 1 to 5 axes and a box of as many are needed; got shape {a.shape} and box {self.box}."
            )
        if any(not 1 <= b <= 256 for b in self.box):
            raise ArgumentError(f"{name}: each side of the box must be 1 to 256 elements; got {self.box}.")
        if any(not 1 <= d <= 2**32 for d in a.shape):
            raise ArgumentError(f"{name}: each side of the array must be 1 to 2^32 elements; got {a.shape}.")
        if self.swizzle not in SWIZZLES or self.l2 not in L2_PROMOTIONS:
            raise ArgumentError(
                f"{name}: swizzle is one of {SWIZZLES} bytes, l2 one of {L2_PROMOTIONS}; got {self.swizzle}, {self.l2}."
            )
        inner = self.box[-1] * a.itemsize
        if inner % 16:
            raise ArgumentError(
                f"{name}: the box's last axis must be a multiple of 16 bytes; {self.box[-1]} x {a.itemsize} B = {inner} B."
            )
        if self.swizzle and inner > self.swizzle:
            raise ArgumentError(
                f"{name}: with the {self.swizzle}-byte swizzle the box's last axis may be {self.swizzle} B at most; it is {inner} B."
            )
        if a.strides[-1] != a.itemsize:
            raise ArgumentError(
                f"{name}: the array's last axis must be contiguous; its stride is {a.strides[-1]} B for {a.itemsize} B elements."
            )
        if self.address % 16:
            raise ArgumentError(f"{name}: the array's address must be a multiple of 16 B; it is {self.address:#x}.")
        for axis, s in enumerate(a.strides[:-1]):
            if s % 16 or not 0 < s < 2**40:
                raise ArgumentError(
                    f"{name}: the stride of axis {axis} is {s} B, but strides must be positive multiples of 16 B below 2^40. "
                    "Pad the rows (for bf16: a multiple of 8 elements a row)."
                )

    @property
    def element(self) -> str:
        return self.dtype or str(self.array.dtype)

    @property
    def address(self) -> int:
        return address(self.array)

    @property
    def box_bytes(self) -> int:
        """What one copy counts on its barrier, also when the box hangs over the array's edge."""
        return math.prod(self.box) * self.array.itemsize

    def encode(self):
        """The 128-byte CUtensorMap as a NumPy scalar of type V128, to be passed to a CuPy kernel by value. Needs the driver."""
        import numpy as np
        from cuda.bindings import driver

        a = self.array
        u64, u32 = driver.cuuint64_t, driver.cuuint32_t
        l2 = "NONE" if not self.l2 else f"L2_{self.l2}B"
        swizzle = "NONE" if not self.swizzle else f"{self.swizzle}B"
        status, tensor_map = driver.cuTensorMapEncodeTiled(
            getattr(driver.CUtensorMapDataType, "CU_TENSOR_MAP_DATA_TYPE_" + _TYPES[self.element]),
            a.ndim,
            self.address,
            [u64(d) for d in reversed(a.shape)],
            [u64(s) for s in reversed(a.strides[:-1])],
            [u32(b) for b in reversed(self.box)],
            [u32(1)] * a.ndim,
            driver.CUtensorMapInterleave.CU_TENSOR_MAP_INTERLEAVE_NONE,
            getattr(driver.CUtensorMapSwizzle, "CU_TENSOR_MAP_SWIZZLE_" + swizzle),
            getattr(driver.CUtensorMapL2promotion, "CU_TENSOR_MAP_L2_PROMOTION_" + l2),
            driver.CUtensorMapFloatOOBfill.CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
        )
        if status != driver.CUresult.CUDA_SUCCESS:
            raise BackendError(
                f"cuTensorMapEncodeTiled answered {status.name} for {self}. The driver must be of CUDA 12 or newer."
            )
        words = np.array([int(w) for w in tensor_map.opaque], np.uint64)
        return words.view("V128")[0]
