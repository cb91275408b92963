"""Conversions of the host vocabulary are those of the hardware: every value of the small types, and arbitrary floats."""

import ml_dtypes
import numpy as np
import pytest
from emulator_sources import compiled
from hypothesis import given, settings
from hypothesis import strategies as st

SOURCE = """#include "hopper.cuh"
template <class T> HOPPER_FN void widen_all(const T* in, float* out, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] = to_float(in[i]);
}
template <class T> HOPPER_FN void narrow_all(const float* in, T* out, T* saturated, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] = convert<T>(in[i]), saturated[i] = convert_saturate<T>(in[i]);
}
extern "C" __global__ void widen_bf16(const bf16* in, float* out, int n) { widen_all(in, out, n); }
extern "C" __global__ void widen_fp16(const fp16* in, float* out, int n) { widen_all(in, out, n); }
extern "C" __global__ void widen_e4m3(const e4m3* in, float* out, int n) { widen_all(in, out, n); }
extern "C" __global__ void narrow_bf16(const float* in, bf16* out, bf16* s, int n) { narrow_all(in, out, s, n); }
extern "C" __global__ void narrow_fp16(const float* in, fp16* out, fp16* s, int n) { narrow_all(in, out, s, n); }
extern "C" __global__ void narrow_e4m3(const float* in, e4m3* out, e4m3* s, int n) { narrow_all(in, out, s, n); }
extern "C" __global__ void pack(const float* in, uint32_t* out) { out[0] = pack2<bf16>(in[0], in[1]); }
"""
TYPES = {"bf16": ml_dtypes.bfloat16, "fp16": np.float16, "e4m3": ml_dtypes.float8_e4m3fn}
FINITE = {"bf16": 3.3895313892515355e38, "fp16": 65504.0, "e4m3": 448.0}


@pytest.fixture(scope="module")
def module():
    entries = [f"{w}_{t}" for w in ("widen", "narrow") for t in TYPES]
    return compiled("numbers", SOURCE, *entries, "pack", instrument=False)


@pytest.mark.parametrize("name", TYPES)
def test_widening_is_exact_for_every_value(module, name):
    dtype = np.dtype(TYPES[name])
    values = np.arange(2 ** (8 * dtype.itemsize), dtype=np.uint32).astype(f"u{dtype.itemsize}").view(dtype)
    out = np.empty(values.size, np.float32)
    module.launch(f"widen_{name}", 1, 128, [values, out, values.size])
    np.testing.assert_array_equal(out, values.astype(np.float32))


def narrow(module, name, values):
    dtype = TYPES[name]
    out, saturated = np.empty(values.size, dtype), np.empty(values.size, dtype)
    module.launch(f"narrow_{name}", 1, 128, [values, out, saturated, values.size], checks=False)
    return out, saturated


@pytest.mark.parametrize("name", TYPES)
def test_narrowing_rounds_to_nearest_even_at_every_boundary(module, name):
    dtype = np.dtype(TYPES[name])
    every = (
        np.arange(2 ** (8 * dtype.itemsize), dtype=np.uint32)
        .astype(f"u{dtype.itemsize}")
        .view(dtype)
        .astype(np.float32)
    )
    finite = np.unique(every[np.isfinite(every)])
    middle = (finite[:-1].astype(np.float64) + finite[1:].astype(np.float64)) / 2
    middle = middle.astype(np.float32)
    values = np.concatenate(
        [finite, middle, np.nextafter(middle, np.float32(np.inf)), np.nextafter(middle, np.float32(-np.inf))]
    )
    values = values[np.abs(values) <= FINITE[name]].astype(np.float32)
    out, saturated = narrow(module, name, values)
    np.testing.assert_array_equal(out.astype(np.float32), values.astype(TYPES[name]).astype(np.float32))
    np.testing.assert_array_equal(saturated.astype(np.float32), out.astype(np.float32))


@settings(max_examples=15, deadline=None)
@given(values=st.lists(st.floats(width=32), min_size=1, max_size=200))
def test_narrowing_of_arbitrary_floats(module, values):
    x = np.array(values, np.float32)
    for name, dtype in TYPES.items():
        out, saturated = narrow(module, name, x)
        with np.errstate(over="ignore", invalid="ignore"):
            expected = np.clip(x, -FINITE[name], FINITE[name]).astype(dtype).astype(np.float32)
            plain = expected if name == "e4m3" else x.astype(dtype).astype(np.float32)
        np.testing.assert_array_equal(saturated.astype(np.float32), expected)
        np.testing.assert_array_equal(out.astype(np.float32), plain)


def test_pack_puts_the_first_element_low(module):
    out = np.zeros(1, np.uint32)
    module.launch("pack", 1, 1, [np.array([1.5, -2.25], np.float32), out])
    np.testing.assert_array_equal(out.view(ml_dtypes.bfloat16).astype(np.float32), [1.5, -2.25])
