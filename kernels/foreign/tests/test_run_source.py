"""Foreign CUDA files on the emulator: each feature once, in a kernel in the style of such files, on prime-ish sizes and uneven values."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import kernels
from kernels.errors import ArgumentError
from kernels.foreign import Program, load_source_kernel
from kernels.tensormap import TensorMap

RNG = np.random.default_rng(7)
f32 = lambda *shape: RNG.standard_normal(shape).astype(np.float32)


def close(a, b, tolerance=1e-5):
    a, b = np.asarray(a, np.float64), np.asarray(b, np.float64)
    assert np.linalg.norm(a - b) <= tolerance * np.linalg.norm(b), (a.ravel()[:8], b.ravel()[:8])


def nan(*shape, dtype=np.float32):
    return np.full(shape, np.nan, dtype)


REDUCE = r"""
#include <cuda_runtime.h>
#include <cub/cub.cuh>
#include <vector>
#include "not_here.h"
#define CHECK(call) do { cudaError_t e = (call); if (e) { std::cerr << e; exit(1); } } while (0)
std::vector<float> host_data;
static cublasHandle_t handle;
struct Timer { cudaEvent_t a; Timer() { cudaEventCreate(&a); } };
constexpr int ceil_div(int a, int b) { return (a + b - 1) / b; }
template <typename T> struct Sum { __host__ __device__ T operator()(T a, T b) const { return a + b; } };
template <typename T, int N, template <typename> class Op>
__global__ void __launch_bounds__(N) reduce(const T* __restrict__ x, T* out, int n) {
#if __CUDA_ARCH__ >= 900 && defined(__CUDACC__)
  extern __shared__ __align__(16) unsigned char raw[];
#else
#error the emulator is an sm_90
#endif
  T* part = reinterpret_cast<T*>(raw);
  __shared__ T total, *where;
  Op<T> op;
  T v = T(0);
  for (int i = blockIdx.x * N + threadIdx.x; i < n; i += gridDim.x * N) v = op(v, x[i]);
  part[threadIdx.x] = v;
  __syncthreads();
#pragma unroll
  for (int s = N / 2; s > 0; s >>= 1) {
    if (threadIdx.x < s) part[threadIdx.x] = op(part[threadIdx.x], part[threadIdx.x + s]);
    __syncthreads();
  }
  if (threadIdx.x == 0) { total = part[0]; where = &total; atomicAdd(out, *where); }
}
int main() {
  CHECK(cudaMalloc(0, 1));
  reduce<float, 64, Sum><<<ceil_div(3, 2), 64>>>(nullptr, nullptr, 3);
}
"""


def test_host_code_is_left_out_and_a_template_is_named():
    for kind, tolerance in (("float", 1e-5), ("double", 1e-13)):
        x = f32(1009).astype("f4" if kind == "float" else "f8")
        out = np.zeros(1, x.dtype)
        report = kernels.run_source(
            REDUCE,
            f"reduce<{kind}, 64, Sum>",
            grid=3,
            block=64,
            args={"x": x, "out": out, "n": 1009},
            shared=64 * x.itemsize,
        )
        assert report.clean and report.kernel.startswith("reduce<")
        close(out, [x.astype(np.float64).sum()], tolerance)


def test_the_program_knows_its_kernels():
    (entry,) = Program(REDUCE, "reduce.cu").entries
    assert (entry.name, entry.file, entry.line) == ("reduce", "reduce.cu", 12)
    assert [(p.type, p.name) for p in entry.parameters] == [("const T *", "x"), ("T *", "out"), ("int", "n")]


CONSTANT = r"""
namespace filters {
__constant__ float taps[5];
__device__ unsigned int blocks_done = 0;
__device__ int histogram[4];
enum Mode { PLAIN, TWICE };
typedef float (*Function)(float);
__device__ float twice(float v) { return 2 * v; }
__device__ Function chosen = twice;
__global__ void filter(float* y, const float* x, int n, int mode, int* last) {
  __shared__ float tile[128 + 4];
  __shared__ bool am_last;
  int i = blockIdx.x * 128 + threadIdx.x;
  for (int k = threadIdx.x; k < 132; k += blockDim.x) {
    int at = blockIdx.x * 128 + k - 2;
    tile[k] = at >= 0 && at < n ? x[at] : 0.0f;
  }
  __syncthreads();
  if (i < n) {
    float s = 0;
    for (int k = 0; k < 5; ++k) s += taps[k] * tile[threadIdx.x + k];
    y[i] = mode == TWICE ? chosen(s) : s;
    atomicAdd(&histogram[i % 4], 1);
  }
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) am_last = atomicInc(&blocks_done, gridDim.x) == gridDim.x - 1;
  __syncthreads();
  if (am_last && threadIdx.x == 0) {
    __threadfence();
    for (int k = 0; k < 4; ++k) last[k] = atomicAdd(&histogram[k], 0);
  }
}
}
"""


@pytest.mark.parametrize("seed", range(3))
def test_constant_and_device_variables(seed):
    x, taps, last = f32(401), f32(5), np.zeros(4, np.int32)
    y = nan(401)
    report = kernels.run_source(
        CONSTANT, "filters::filter", grid=4, block=128, args=[y, x, 401, 1, last], initial={"taps": taps}, seed=seed
    )
    assert report.clean
    close(y, 2 * np.convolve(np.pad(x, 2).astype(np.float64), taps[::-1], "valid"))
    assert last.tolist() == [101, 100, 100, 100]


def test_a_race_is_reported_at_its_line():
    source = "__global__ void f(int* x) {\n  __shared__ int s[64];\n  s[threadIdx.x] = threadIdx.x;\n  x[threadIdx.x] = s[63 - threadIdx.x];\n}\n"
    with pytest.raises(kernels.KernelError, match=r"source\.cu:4 reads `s`"):
        kernels.run_source(source, grid=1, block=64, args={"x": np.zeros(64, np.int32)})


INTRINSICS = r"""
__global__ void intrinsics(unsigned* u, float* f, long long* l, unsigned* counter, double* sum) {
  int i = threadIdx.x;
  unsigned v = i * 2654435761u;
  u[i] = __brev(v) ^ __popc(v) ^ __byte_perm(v, ~v, 0x5410) ^ __funnelshift_l(v, ~v, 7) ^ __umulhi(v, v);
  f[i] = __sinf(i * 0.1f) + __powf(1.5f, i * 0.01f) + __expf(-i * 0.01f) + rsqrtf(i + 1.0f) + fmaxf(i, 3) + min(i, 7) + __saturatef(i - 3.5f);
  l[i] = __double_as_longlong((double)i) + __clzll(i) + __ffs(i);
  atomicXor(counter, 1u << (i % 32));
  atomicSub(counter + 1, 3u);
  atomicInc(counter + 2, 10u);
  atomicAdd(sum, 0.5 * i);
  if (i < 20) atomicAdd(counter + 3, __popc(__activemask()));
  int all = __syncthreads_count(i % 3 == 0), none = __syncthreads_or(i > 1000), every = __syncthreads_and(i >= 0);
  if (i == 5) counter[4] = all + 1000 * none + 10000 * every;
  unsigned same = __match_any_sync(~0u, i % 5);
  if (i == 32) counter[5] = same;
  unsigned top = __reduce_max_sync(~0u, (unsigned)i);
  if (i == 40) counter[6] = top;
  assert(clock64() >= 0);
}
"""


def test_intrinsics_and_atomics():
    n = 64
    u, f, l = np.zeros(n, np.uint32), nan(n), np.zeros(n, np.int64)
    counter, total = np.zeros(7, np.uint32), np.zeros(1)
    assert kernels.run_source(INTRINSICS, grid=1, block=n, args=[u, f, l, counter, total]).clean
    i = np.arange(n)
    v = (i.astype(np.uint64) * 2654435761).astype(np.uint32)
    brev = np.array([int(f"{int(x):032b}"[::-1], 2) for x in v], np.uint32)
    popc = np.array([bin(int(x)).count("1") for x in v], np.uint32)
    low, high = v.astype(np.uint64), (~v).astype(np.uint64)
    perm = ((low & 0xFFFF) | (high & 0xFFFF) << 16).astype(np.uint32)
    shift = (((high << 32 | low) << 7) >> 32).astype(np.uint32)
    assert (u == brev ^ popc ^ perm ^ shift ^ (low * low >> 32).astype(np.uint32)).all()
    d = i.astype(np.float64)
    close(
        f,
        np.sin(d * 0.1)
        + 1.5 ** (d * 0.01)
        + np.exp(-d * 0.01)
        + 1 / np.sqrt(d + 1)
        + np.maximum(d, 3)
        + np.minimum(d, 7)
        + np.clip(d - 3.5, 0, 1),
    )
    clz = np.array([64 - int(x).bit_length() for x in i])
    ffs = np.array([(int(x) & -int(x)).bit_length() for x in i])
    assert (l == d.view(np.int64) + clz + ffs).all()
    assert counter[:3].tolist() == [0, 2**32 - 3 * n, n % 11]
    assert (
        counter[3] == 20 * 20
        and counter[4] == 22 + 10000
        and counter[5] == sum(1 << k for k in range(32) if (k + 32) % 5 == 2)
        and counter[6] == 63
    )
    assert total[0] == 0.5 * sum(range(n))


HALF = r"""
#include <cuda_fp16.h>
#include <cuda_bf16.h>
#include <cuda_fp8.h>
__global__ void halves(half* h, __nv_bfloat16* b, float* f, const float* x, half2* pair, int n, half scale) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  half v = __float2half(x[i]);
  h[i] = __hfma(v, scale, __hadd(v, __float2half(1.0f))) - v / half(3);
  b[i] = __float2bfloat16(x[i]) * __nv_bfloat16(2.0f) + __nv_bfloat16(1);
  __nv_fp8_e4m3 q(x[i]);
  f[i] = float(q) + __half2float(v) * 0.5f;
  if (i == 0) atomicAdd(pair, __floats2half2_rn(1.0f, 2.0f));
}
"""


def test_small_floats():
    n = 101
    x = 3 * f32(n)
    h, b, f, pair = nan(n, dtype=np.float16), nan(n, dtype=ml_dtypes.bfloat16), nan(n), np.ones(2, np.float16)
    assert kernels.run_source(HALF, grid=2, block=64, args=[h, b, f, x, pair, n, 1.5]).clean
    v = x.astype(np.float16)
    fma = (v.astype(np.float64) * 1.5 + (v + np.float16(1)).astype(np.float64)).astype(np.float16)
    assert (h == fma - v / np.float16(3)).all()
    bf = x.astype(ml_dtypes.bfloat16)
    assert (b == bf * ml_dtypes.bfloat16(2) + ml_dtypes.bfloat16(1)).all()
    close(f, x.astype(ml_dtypes.float8_e4m3fn).astype(np.float32) + v.astype(np.float32) * np.float32(0.5), 1e-7)
    assert pair.tolist() == [2, 3]


GROUPS = r"""
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
__global__ void groups(const int* x, int* out, int* scan, int* odd, int n) {
  cg::thread_block block = cg::this_thread_block();
  cg::thread_block_tile<8> tile = cg::tiled_partition<8>(block);
  cg::grid_group grid = cg::this_grid();
  int i = grid.thread_rank(), v = i < n ? x[i] : 0;
  int sum = cg::reduce(tile, v, cg::plus<int>()), most = cg::reduce(tile, v, cg::greater<int>());
  if (tile.thread_rank() == 0 && i < n) out[i / 8] = sum + 1000 * most;
  if (i < n) scan[i] = cg::inclusive_scan(tile, v);
  if (v % 2) {
    cg::coalesced_group active = cg::coalesced_threads();
    if (active.thread_rank() == 0) atomicAdd(odd, (int)active.size());
  }
  grid.sync();
  if (i == 0) odd[1] = out[0] + out[grid.size() / 8 - 1];
  block.sync();
}
"""


def test_cooperative_groups():
    n = 128
    x = RNG.integers(0, 50, n).astype(np.int32)
    out, scan, odd = np.zeros(n // 8, np.int32), np.zeros(n, np.int32), np.zeros(2, np.int32)
    assert kernels.run_source(GROUPS, grid=2, block=64, args=[x, out, scan, odd, n]).clean
    tiles = x.reshape(-1, 8)
    assert (out == tiles.sum(1) + 1000 * tiles.max(1)).all() and (scan == tiles.cumsum(1).ravel()).all()
    assert odd.tolist() == [(x % 2).sum(), out[0] + out[-1]]


VECTORS = r"""
struct __align__(8) Pair { float a; int b; };
__device__ inline float4 operator*(float4 v, float s) { return make_float4(v.x * s, v.y * s, v.z * s, v.w * s); }
extern __shared__ float4 stage[];
__device__ float4 from_stage(int i) { return stage[i]; }
__global__ void vectors(float4* out, const float4* in, Pair* pairs, int n) {
  int i = threadIdx.x + blockDim.x * threadIdx.y;
  dim3 size(blockDim.x, blockDim.y);
  if (i < n) stage[i] = in[i];
  __syncthreads();
  if (i < n) {
    out[i] = from_stage(n - 1 - i) * (float)size.y;
    pairs[i] = Pair{out[i].x, (int)(uchar4{1, 2, 3, 4}.z + blockIdx.x)};
  }
}
"""


def test_vector_types_and_shared_memory_outside_functions():
    x, out = f32(37, 4), nan(37, 4)
    pairs = np.zeros(37, np.dtype([("a", "f4"), ("b", "i4")]))
    assert kernels.run_source(VECTORS, grid=1, block=(8, 5), args=[out, x, pairs, 37], shared=37 * 16).clean
    close(out, x[::-1] * 5.0, 0)
    assert (pairs["a"] == out[:, 0]).all() and (pairs["b"] == 3).all()


TENSOR = r"""
#include <cuda/barrier>
#include <cuda_bf16.h>
typedef __nv_bfloat16 bf16;
using barrier = cuda::barrier<cuda::thread_scope_block>;
namespace cde = cuda::device::experimental;
__device__ uint64_t descriptor(bf16* p) {
  uint32_t address = static_cast<uint32_t>(__cvta_generic_to_shared(p));
  return ((uint64_t)(address & 0x3FFFF) >> 4) | 1ull << 16 | 64ull << 32 | 1ull << 62;
}
template <int N> __device__ void wait() { asm volatile("wgmma.wait_group.sync.aligned %0;\n" ::"n"(N) : "memory"); }
__global__ void __launch_bounds__(128) tile(const CUtensorMap* ma, const CUtensorMap* mb, float* c) {
  __shared__ alignas(128) bf16 a[64 * 64];
  __shared__ alignas(128) bf16 b[8 * 64];
  __shared__ barrier bar;
  if (threadIdx.x == 0) { init(&bar, blockDim.x); cde::fence_proxy_async_shared_cta(); }
  __syncthreads();
  barrier::arrival_token token;
  if (threadIdx.x == 0) {
    cde::cp_async_bulk_tensor_2d_global_to_shared(a, ma, 0, 0, bar);
    cde::cp_async_bulk_tensor_2d_global_to_shared(b, mb, 0, 0, bar);
    token = cuda::device::barrier_arrive_tx(bar, 1, sizeof(a) + sizeof(b));
  } else {
    token = bar.arrive();
  }
  bar.wait(std::move(token));
  float d[4] = {};
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  for (int k = 0; k < 4; ++k)
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %6, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0, %1, %2, %3}, %4, %5, p, 1, 1, 0, 0;\n}\n"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "l"(descriptor(a + 16 * k)), "l"(descriptor(b + 16 * k)), "r"(k));
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  wait<0>();
  int row = threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4, col = threadIdx.x % 4 * 2;
  c[row * 8 + col] = d[0];
  c[row * 8 + col + 1] = d[1];
  c[(row + 8) * 8 + col] = d[2];
  c[(row + 8) * 8 + col + 1] = d[3];
}
"""


def test_tensor_maps_cuda_barrier_and_inline_wgmma():
    a, b, c = f32(64, 64).astype(ml_dtypes.bfloat16), f32(8, 64).astype(ml_dtypes.bfloat16), nan(64, 8)
    assert kernels.run_source(
        TENSOR, grid=1, block=128, args={"ma": TensorMap(a, (64, 64)), "mb": TensorMap(b, (8, 64)), "c": c}
    ).clean
    close(c, a.astype(np.float64) @ b.astype(np.float64).T, 1e-6)


PTX = r"""
__global__ void ptx(unsigned* out, float* f, const uint4* in) {
  __shared__ uint64_t bar;
  unsigned address = (unsigned)__cvta_generic_to_shared(&bar), lane, seen;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  if (threadIdx.x == 0) asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(address), "r"(64));
  asm volatile("bar.sync 0;");
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(address) : "memory");
  asm volatile("{\n.reg .pred P1;\nLAB_WAIT:\nmbarrier.try_wait.parity.shared::cta.b64 P1, [%0], %1;\n@P1 bra DONE;\nbra LAB_WAIT;\nDONE:\n}"
               ::"r"(address), "r"(0) : "memory");
  uint4 v;
  asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(in + threadIdx.x));
  asm("{ .reg .b32 t; add.u32 t, %1, %2; shl.b32 %0, t, 1; }" : "=r"(seen) : "r"(v.x), "r"(v.w));
  float r;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"((float)lane));
  out[threadIdx.x] = seen + v.y + v.z;
  f[threadIdx.x] = r;
}
"""


def test_inline_ptx():
    v = RNG.integers(0, 2**30, (64, 4)).astype(np.uint32)
    out, f = np.zeros(64, np.uint32), nan(64)
    assert kernels.run_source(PTX, grid=1, block=64, args=[out, f, v]).clean
    assert (out == (v[:, 0] + v[:, 3]) * np.uint32(2) + v[:, 1] + v[:, 2]).all()
    close(f, 2.0 ** (np.arange(64) % 32), 1e-6)


def test_a_kernel_in_the_course_s_words():
    source = '#include "hopper.cuh"\nextern "C" __global__ void f(int* y, int n) {\n  SHARED(int, s, [32]);\n  s[threadIdx.x] = n;\n  __syncthreads();\n  y[threadIdx.x] = s[31 - threadIdx.x];\n}\n'
    y = np.zeros(32, np.int32)
    assert kernels.run_source(source, grid=1, block=32, args={"y": y, "n": 11}).clean and (y == 11).all()


def test_a_file_with_what_it_includes(tmp_path):
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "scale.cuh").write_text(
        '#pragma once\n#include "../common.h"\n__device__ float scaled(float v) { return SCALE * v; }\n'
    )
    (tmp_path / "common.h").write_text("#ifndef COMMON\n#define COMMON\n#define SCALE 3.0f\n#endif\n")
    (tmp_path / "main.cu").write_text(
        '#include "common.h"\n#include "inner/scale.cuh"\n__global__ void f(float* x) { x[threadIdx.x] = scaled(x[threadIdx.x]); }\n'
    )
    x = f32(31)
    expected = x * np.float32(3)
    kernel = kernels.load(str(tmp_path / "main.cu"))
    assert kernel(1, 31, {"x": x}).clean and (x == expected).all()


def test_the_arguments_must_fit():
    kernel = load_source_kernel(REDUCE, "reduce<float, 64, Sum>")
    with pytest.raises(
        ArgumentError, match=r"reduce\(const T \* x, T \* out, int n\): out is missing; it has no parameter y"
    ):
        kernel(1, 64, {"x": f32(3), "y": f32(1), "n": 3})
