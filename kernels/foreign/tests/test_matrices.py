"""nvcuda::wmma and mma.sync in foreign files, against float64, and their rules."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import kernels
from kernels.errors import CompileError
from kernels.foreign import load_source_kernel

RNG = np.random.default_rng(11)

WMMA = r"""
#include <mma.h>
using namespace nvcuda;
template <typename T, typename U, typename C, typename LA, typename LB, int K>
__global__ void gemm(const T* a, const T* b, const C* c, C* d, int n, int k, bool ra, bool rb) {
  wmma::fragment<wmma::matrix_a, 16, 16, K, U, LA> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, K, U, LB> fb;
  wmma::fragment<wmma::accumulator, 16, 16, K, C> sum, old;
  wmma::fill_fragment(sum, 0.0f);
  const int row = blockIdx.y * 16, col = blockIdx.x * 16, m = gridDim.y * 16;
  for (int i = 0; i < k; i += K) {
    wmma::load_matrix_sync(fa, ra ? a + row * k + i : a + i * m + row, ra ? k : m);
    wmma::load_matrix_sync(fb, rb ? b + i * n + col : b + col * k + i, rb ? n : k);
    wmma::mma_sync(sum, fa, fb, sum);
  }
  wmma::load_matrix_sync(old, c + col * m + row, m, wmma::mem_col_major);
  for (int i = 0; i < sum.num_elements; i++) sum.x[i] = (C)2 * sum.x[i] + old.x[i];
  wmma::store_matrix_sync(d + row * n + col, sum, n, wmma::mem_row_major);
}
"""


def error(d, reference) -> float:
    return float(np.linalg.norm(d.astype(np.float64) - reference) / np.linalg.norm(reference))


@pytest.mark.parametrize(
    ("type_", "element", "dtype", "sums", "k", "tolerance"),
    [
        ("half", "half", np.float16, "float", 16, 1e-6),
        ("half", "half", np.float16, "half", 16, 2e-3),
        ("__nv_bfloat16", "__nv_bfloat16", ml_dtypes.bfloat16, "float", 16, 1e-6),
        ("float", "wmma::precision::tf32", np.float32, "float", 8, 1e-6),
    ],
)
@pytest.mark.parametrize(("la", "lb"), [("row", "col"), ("col", "row"), ("row", "row")])
def test_wmma_against_float64(type_, element, dtype, sums, k, tolerance, la, lb):
    m, n, depth = 48, 80, 112
    a, b = RNG.standard_normal((m, depth)).astype(dtype), RNG.standard_normal((depth, n)).astype(dtype)
    if k == 8:  # TF32 keeps 10 bits
        a, b = ((v.view(np.uint32) & 0xFFFFE000).view(np.float32) for v in (a, b))
    out = np.float32 if sums == "float" else np.float16
    c, d = RNG.standard_normal((m, n)).astype(out), np.full((m, n), np.nan, out)
    args = [
        a if la == "row" else np.ascontiguousarray(a.T),
        b if lb == "row" else np.ascontiguousarray(b.T),
        np.ascontiguousarray(c.T),
        d,
    ]
    entry = f"gemm<{type_}, {element}, {sums}, wmma::{la}_major, wmma::{lb}_major, {k}>"
    report = kernels.run_source(
        WMMA, entry, grid=(n // 16, m // 16), block=32, args=[*args, n, depth, la == "row", lb == "row"]
    )
    assert report.clean
    assert error(d, 2 * a.astype(np.float64) @ b.astype(np.float64) + c) < tolerance


TILE = r"""
#include <mma.h>
using namespace nvcuda::wmma;
__global__ void f(const half* x, float* y) {
  __shared__ __align__(32) half s[16 * LD];
  __shared__ __align__(32) float out[256];
  for (int i = threadIdx.x; i < 256; i += blockDim.x) s[i / 16 * LD + i % 16] = x[i];
  LOADED;
  if (threadIdx.x < LANES) {
    fragment<matrix_a, 16, 16, 16, half, row_major> a;
    fragment<matrix_b, 16, 16, 16, half, col_major> b;
    fragment<accumulator, 16, 16, 16, float> c;
    fill_fragment(c, 0.0f);
    load_matrix_sync(a, s, LD);
    load_matrix_sync(b, s + OFFSET, LD);
    mma_sync(c, a, b, c);
    store_matrix_sync(out, c, 16, mem_row_major);
  }
  STORED;
  for (int i = threadIdx.x; i < 256; i += blockDim.x) y[i] = out[i];
}
"""


@pytest.mark.parametrize(
    ("broken", "rule"),
    [
        ({}, None),
        ({"LOADED": "(void)0"}, "read-after-write"),
        ({"STORED": "(void)0"}, "read-after-write"),
        ({"LD": "20"}, "matrix-pitch"),
        ({"OFFSET": "8"}, "misaligned"),
        ({"LANES": "16"}, "deadlock"),
    ],
)
def test_wmma_rules_in_every_run(broken, rule):
    defines = {"LOADED": "__syncthreads()", "STORED": "__syncthreads()", "LD": 24, "OFFSET": 0, "LANES": 32, **broken}
    kernel = load_source_kernel(TILE, defines=defines)
    for seed, policy in enumerate(("random", "friendly", "rr", "pct", "late", "timed")):
        x, y = RNG.standard_normal(256).astype(np.float16), np.full(256, np.nan, np.float32)
        report = kernel(1, 64, [x, y], raises=False, seed=seed, policy=policy)
        if rule is None:
            t = x.reshape(16, 16).astype(np.float64)
            assert report.clean and error(y.reshape(16, 16), t @ t.T) < 1e-6
        else:
            assert rule in {f.rule for f in report.findings}, policy


MMA = r"""
#include <cuda_fp16.h>
__global__ void f(const half* a, const half* b, float* d) {  // A 16 x 16 and B 16 x 8, row-major, by ldmatrix
  __shared__ __align__(16) half sa[16][24], sb[16][8];
  const int t = threadIdx.x, g = t / 4, q = t % 4;
  for (int i = t; i < 256; i += 32) sa[i / 16][i % 16] = a[i];
  for (int i = t; i < 128; i += 32) sb[i / 8][i % 8] = b[i];
  __syncwarp();
  unsigned ra[4], rb[2];
  float c[4] = {1, 2, 3, 4};
  const unsigned pa = __cvta_generic_to_shared(&sa[t % 16][t / 16 * 8]), pb = __cvta_generic_to_shared(&sb[t % 16][0]);
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(ra[0]), "=r"(ra[1]), "=r"(ra[2]), "=r"(ra[3]) : "r"(pa));
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];" : "=r"(rb[0]), "=r"(rb[1]) : "r"(pb));
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};"
               : "=f"(c[0]), "=f"(c[1]), "=f"(c[2]), "=f"(c[3])
               : "r"(ra[0]), "r"(ra[1]), "r"(ra[2]), "r"(ra[3]), "r"(rb[0]), "r"(rb[1]), "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]));
  d[g * 8 + 2 * q] = c[0], d[g * 8 + 2 * q + 1] = c[1], d[(g + 8) * 8 + 2 * q] = c[2], d[(g + 8) * 8 + 2 * q + 1] = c[3];
}
"""


def test_mma_sync_with_ldmatrix():
    a, b = RNG.standard_normal((16, 16)).astype(np.float16), RNG.standard_normal((16, 8)).astype(np.float16)
    d = np.full((16, 8), np.nan, np.float32)
    assert kernels.run_source(MMA, grid=1, block=32, args=[a, b, d]).clean
    c = np.where(np.arange(16)[:, None] < 8, [[1, 2] * 4], [[3, 4] * 4])
    assert error(d, a.astype(np.float64) @ b.astype(np.float64) + c) < 1e-6


@pytest.mark.parametrize(
    ("fragment", "said"),
    [
        ("fragment<accumulator, 32, 8, 16, float>", "fragments of 16 x 16 x 16"),
        ("fragment<matrix_a, 8, 8, 4, double, row_major>", "fragments of 16 x 16 x 16"),
        ("fragment<matrix_a, 16, 16, 16, signed char, row_major>", "the emulator has wmma for half"),
    ],
)
def test_other_fragments_are_named(fragment, said):
    source = f"#include <mma.h>\nusing namespace nvcuda::wmma;\n__global__ void f(int* x) {{\n  {fragment} f;\n  x[0] = f.num_elements;\n}}\n"
    with pytest.raises(CompileError, match=said) as e:
        load_source_kernel(source)
    assert e.value.line == 4 and "\n" not in str(e.value)
