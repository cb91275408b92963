"""wgmma: every operand layout and type against float64, the accumulator map, asynchrony, and the precision of the sum."""

import json
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from emulator_sources import compiled, line_of

from kernels import TensorMap
from kernels.emulator import EmulatorCompileError, EmulatorMisuse, EmulatorOutOfBounds, EmulatorRace

# One tile: D[64, N] = A[64, K] * B[N, K]^T, operands by TMA, one 128-byte (or narrower) k-block at a time.
SOURCE = """#include "hopper.cuh"
constexpr int SPAN = SWIZZLE ? SWIZZLE : 16;              // bytes of K a row of the box holds
constexpr int STEP = SPAN < 32 ? SPAN : 32;
struct Smem { alignas(1024) uint8_t a[64 * 128]; alignas(1024) uint8_t b[256 * 128]; mbarrier full; };

extern "C" __global__ void __launch_bounds__(128, 1)
k_major(const __grid_constant__ TensorMap map_a, const __grid_constant__ TensorMap map_b, float* D, int K, const uint32_t* fragments) {
  DYNAMIC_SHARED(Smem, s);
  const int t = threadIdx.x;
  if (t == 0) { mbarrier_init(&s.full, 1, "FULL"); fence_mbarrier_init(); }
  __syncthreads();
  float d[WIDTH / 2];
  constexpr int BLOCK = SWIZZLE ? SPAN : 32;              // without swizzle: two boxes of 16 bytes a k-step
  for (int k = 0; k < K * (int)sizeof(ELEMENT); k += BLOCK) {
    if (t == 0) {
      mbarrier_arrive_expect_tx(&s.full, (64 + WIDTH) * BLOCK);
      for (int c = 0; c < BLOCK; c += SPAN) {
        tma_load_2d(s.a + c * 64, &map_a, (k + c) / (int)sizeof(ELEMENT), 0, &s.full);
        tma_load_2d(s.b + c * WIDTH, &map_b, (k + c) / (int)sizeof(ELEMENT), 0, &s.full);
      }
    }
    mbarrier_wait(&s.full, k / BLOCK & 1);
#if RS
    uint32_t r[BLOCK / 32][4];                            // before the fence, and not written again while a wgmma may read them
    for (int i = 0; i < BLOCK / 8; ++i) r[i / 4][i % 4] = fragments[((k / 32 + i / 4) * 128 + t) * 4 + i % 4];
#endif
    wgmma_fence();
    for (int kk = 0; kk < BLOCK; kk += 32) {
#if SWIZZLE
      const uint64_t a = desc_advance(desc_k_major<SWIZZLE>(s.a), kk), b = desc_advance(desc_k_major<SWIZZLE>(s.b), kk);
#else
      const uint64_t a = smem_descriptor<0>(s.a, 64 * 16, 128), b = smem_descriptor<0>(s.b, WIDTH * 16, 128);
#endif
      const int scale_d = k + kk > 0;                     // the first instruction overwrites whatever d holds
#if RS
      wgmma_rs<WIDTH, ELEMENT>(d, r[kk / 32], b, scale_d);
#else
      wgmma_ss<WIDTH, ELEMENT>(d, a, b, scale_d);
#endif
    }
    wgmma_commit();
    wgmma_wait<0>();
    __syncthreads();
  }
  for (int i = 0; i < WIDTH / 2; ++i) D[accumulator_row(t, i) * WIDTH + accumulator_column(t, i)] = d[i];
}
"""
ELEMENTS = {"bf16": ml_dtypes.bfloat16, "fp16": np.float16, "e4m3": ml_dtypes.float8_e4m3fn, "tf32": np.float32}
SMEM = 64 * 128 + 256 * 128 + 1024


def operands(element: str, n: int, k: int, seed: int = 0):
    """A (64, k) and B (n, k), rows of different scales, as the element type holds them."""
    rng = np.random.default_rng(seed)
    a = rng.standard_normal((64, k)) * np.linspace(0.5, 2, 64)[:, None]
    b = rng.standard_normal((n, k)) * np.linspace(2, 0.5, n)[:, None]
    if element == "tf32":  # the unit reads the upper 19 bits: give it values that have no others
        mask = lambda x: (x.astype(np.float32).view(np.uint32) & 0xFFFFE000).view(np.float32)
        return mask(a), mask(b)
    return a.astype(ELEMENTS[element]), b.astype(ELEMENTS[element])


def product(a, b):
    return a.astype(np.float64) @ b.astype(np.float64).T


def fragments(a: np.ndarray) -> np.ndarray:
    """A's registers for wgmma_rs, [k-step][thread][register] as PTX lays them out (figure of the A fragment)."""
    raw = np.ascontiguousarray(a).view(np.uint8).reshape(64, -1, 32)  # rows, k-steps, bytes
    out = np.empty((raw.shape[1], 128, 4, 4), np.uint8)
    for t in range(128):
        for r in range(4):
            row, byte = 16 * (t // 32) + t % 32 // 4 + 8 * (r % 2), 4 * (t % 4) + 16 * (r // 2)
            out[:, t, r] = raw[row, :, byte : byte + 4]
    return out.view(np.uint32)


def run_k_major(element, n, k, swizzle, rs=False, **options):
    a, b = operands(element, n, k)
    module = compiled(
        "wgmma", SOURCE, "k_major", instrument=False, ELEMENT=element, WIDTH=n, SWIZZLE=swizzle, RS=int(rs)
    )
    columns = (swizzle or 16) // a.itemsize
    d = np.full((64, n), np.nan, np.float32)
    module.launch(
        "k_major",
        1,
        128,
        [TensorMap(a, (64, columns), swizzle), TensorMap(b, (n, columns), swizzle), d, k, fragments(a)],
        smem=SMEM,
        **options,
    )
    return d, product(a, b)


CASES = [("bf16", 128, 128, 128), ("fp16", 64, 128, 128), ("bf16", 8, 64, 64), ("fp16", 256, 64, 32), ("bf16", 96, 64, 0), ("e4m3", 128, 256, 128),
         ("e4m3", 32, 128, 64), ("tf32", 64, 64, 128), ("tf32", 16, 32, 0)]  # fmt: skip


@pytest.mark.parametrize("element,n,k,swizzle", CASES)
def test_k_major_operands(element, n, k, swizzle):
    d, expected = run_k_major(element, n, k, swizzle)
    np.testing.assert_allclose(d, expected, rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("element,n,k", [("bf16", 64, 64), ("fp16", 128, 64), ("e4m3", 64, 128), ("tf32", 32, 32)])
def test_a_from_registers(element, n, k):
    d, expected = run_k_major(element, n, k, 128, rs=True)
    np.testing.assert_allclose(d, expected, rtol=1e-5, atol=1e-4)


MN_SOURCE = """#include "hopper.cuh"
struct Smem { alignas(1024) ELEMENT a[4096]; alignas(1024) ELEMENT b[256 * 64]; mbarrier full; };
constexpr int SPAN = SWIZZLE / 2;                         // elements of M or WIDTH in one box; a box has all 64 rows of K
extern "C" __global__ void __launch_bounds__(128, 1) mn_major(const __grid_constant__ TensorMap map_a, const __grid_constant__ TensorMap map_b, float* D) {
  DYNAMIC_SHARED(Smem, s);
  const int t = threadIdx.x;
  if (t == 0) {
    mbarrier_init(&s.full, 1, "FULL");
    fence_mbarrier_init();
    mbarrier_arrive_expect_tx(&s.full, (64 + WIDTH) * 64 * 2);
    for (int m = 0; m < 64; m += SPAN) tma_load_2d(s.a + m * 64, &map_a, m, 0, &s.full);
    for (int n = 0; n < WIDTH; n += SPAN) tma_load_2d(s.b + n * 64, &map_b, n, 0, &s.full);
  }
  __syncthreads();
  mbarrier_wait(&s.full, 0);
  float d[WIDTH / 2];
  wgmma_fence();
  for (int k = 0; k < 4; ++k)
    wgmma_ss<WIDTH, ELEMENT, MN_MAJOR, MN_MAJOR>(d, desc_advance(desc_mn_major<SWIZZLE>(s.a, 64 * SWIZZLE), k * 16 * SWIZZLE),
                                       desc_advance(desc_mn_major<SWIZZLE>(s.b, 64 * SWIZZLE), k * 16 * SWIZZLE), k > 0);
  wgmma_commit();
  wgmma_wait<0>();
  for (int i = 0; i < WIDTH / 2; ++i) D[accumulator_row(t, i) * WIDTH + accumulator_column(t, i)] = d[i];
}
"""


@pytest.mark.parametrize("swizzle,n", [(128, 128), (64, 64), (32, 32)])
def test_mn_major_operands(swizzle, n):
    a, b = operands("bf16", n, 64)
    at, bt = np.ascontiguousarray(a.T), np.ascontiguousarray(b.T)
    module = compiled("wgmma_mn", MN_SOURCE, "mn_major", instrument=False, ELEMENT="bf16", WIDTH=n, SWIZZLE=swizzle)
    d = np.full((64, n), np.nan, np.float32)
    module.launch(
        "mn_major",
        1,
        128,
        [TensorMap(at, (64, swizzle // 2), swizzle), TensorMap(bt, (64, swizzle // 2), swizzle), d],
        smem=4096 * 2 + 256 * 128 + 1024,
    )
    np.testing.assert_allclose(d, product(a, b), rtol=1e-5, atol=1e-4)


def test_tf32_and_fp8_must_be_k_major():
    with pytest.raises(EmulatorCompileError, match="must be K-major"):
        compiled("wgmma_mn", MN_SOURCE, "mn_major", ELEMENT="tf32", WIDTH=64, SWIZZLE=128)
    with pytest.raises(EmulatorCompileError, match="generate_wgmma"):
        compiled("wgmma", SOURCE, "k_major", ELEMENT="bf16", WIDTH=40, SWIZZLE=128, RS=0)


ASYNC = """#include "hopper.cuh"
struct Smem { alignas(1024) bf16 a[64 * 64], b[64 * 64]; };
extern "C" __global__ void __launch_bounds__(BLOCK, 1) tile(const bf16* a, const bf16* b, float* D) {
  DYNAMIC_SHARED(Smem, s);
  const int t = threadIdx.x;
  for (int i = t; i < 4096; i += blockDim.x) {
    const uint32_t at = swizzled_offset<128>(i / 64, i % 64 * 2) / 2;
    s.a[at] = a[i];                                       // fill
    s.b[at] = b[i];
  }
#if BUG != 1
  fence_proxy_async();
#endif
#if BUG != 2
  __syncthreads();
#endif
  float d[32] = {};
#if BUG != 3
  wgmma_fence();
#endif
#if BUG == 4
  if (t < 96)
#endif
  for (int k = 0; k < 4; ++k) wgmma_ss<64, bf16>(d, desc_advance(desc_k_major<128>(s.a), (BUG == 5 ? t / 32 : k) * 32), desc_advance(desc_k_major<128>(s.b), k * 32));  // issue
  wgmma_commit();
#if BUG == 6
  d[3] += 1;                                              // touched in flight
#endif
#if BUG == 10
  s.b[t].x = 0;                                           // operands written
#endif
#if BUG != 7 && BUG != 8
  wgmma_wait<0>();
#endif
#if BUG == 9
  wgmma_ss<64, bf16>(d, desc_k_major<128>(s.a + 64 * 64 * 2), desc_k_major<128>(s.b));
#endif
#if BUG == 8
  return;
#endif
  for (int i = 0; i < 32; ++i) D[accumulator_row(t, i) * 64 + accumulator_column(t, i)] = d[i];  // result
}
"""
RACES = {1: "missing-proxy-fence", 2: "read-after-write", 3: "missing-wgmma-fence", 6: "accumulator-in-flight", 7: "accumulator-in-flight",
         8: "exit-before-wgmma-wait", 10: "write-after-read"}  # fmt: skip


def launch_tile(bug, policy="random", seed=0, block=128, **options):
    module = compiled("async", ASYNC, "tile", BUG=bug, BLOCK=block)
    a, b = operands("bf16", 64, 64)
    d = np.full((64, 64), np.nan, np.float32)
    report = module.launch("tile", 1, block, [a, b, d], smem=16384 + 1024, policy=policy, seed=seed, **options)
    return d, product(a, b), report


@pytest.mark.parametrize("policy", ["friendly", "rr", "random", "pct", "lazy_mma", "timed"])
def test_operands_stored_by_threads(policy):
    d, expected, _ = launch_tile(0, policy)
    np.testing.assert_allclose(d, expected, rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("bug", RACES)
@pytest.mark.parametrize("policy", ["friendly", "random", "lazy_mma"])
def test_asynchrony_is_checked_at_every_seed(bug, policy):
    for seed in range(4):
        with pytest.raises(EmulatorRace) as e:
            launch_tile(bug, policy, seed)
        assert RACES[bug] in {f.rule for f in e.value.report.findings}
    markers = {1: "// fill", 6: "// touched", 7: "// result", 10: "// operands written"}
    if bug in markers:
        finding = next(f for f in e.value.report.findings if f.rule == RACES[bug])
        assert line_of(ASYNC, markers[bug]) in {p.line for p in finding.places}


def test_accumulators_in_flight_are_poisoned():
    for policy in (
        "lazy_mma",
        "friendly",
    ):  # friendly: done early, but nobody waited, so the registers have not come back
        d, _, report = launch_tile(7, policy, checks=False)  # without checks nothing is told
        assert report.clean and np.isnan(d).all()


@pytest.mark.parametrize("bug,rule", [(5, "wgmma-operands-differ"), (9, "shared-memory|array-index")])
def test_misuse(bug, rule):
    with pytest.raises((EmulatorMisuse, EmulatorOutOfBounds)) as e:
        launch_tile(bug)
    assert e.value.report.findings[-1].rule in rule.split(
        "|"
    )  # which of two true ones comes first is the compiler's choice


def test_part_of_a_warpgroup_cannot_issue():
    with pytest.raises(EmulatorMisuse, match="whole warpgroups"):
        launch_tile(0, block=96)
    with pytest.raises(Exception, match="96 of 128 threads|waits for its wgmmas"):  # three warps of four
        launch_tile(4)


# The kernel of lesson 7 that puts an accumulator to the test, and what it gave on an H200.
DATA = json.loads(
    (Path(__file__).parents[2] / "figures/data/lesson07_accumulation_error.json").read_text(encoding="utf-8")
)["points"]


def measured(accumulator, k):
    return next(p for p in DATA if p["accumulator"] == accumulator and p["k"] == k)


def mean_error(entry, dtype, k, *promote, **options):
    from kernels.emulator import build

    module = build(
        Path(__file__).parents[1] / "cuda/accumulate_probe.cu", ["probe_e4m3", "probe_fp16_acc16"], instrument=False
    )
    rng = np.random.default_rng(7)
    a, b = (rng.uniform(0.5, 1.5, (64, k)).astype(dtype) for _ in range(2))
    d = np.full((64, 64), np.nan, np.float32)
    module.launch(entry, 1, 128, [a, b, d, 64, k, *promote], checks=False, policy="friendly", **options)
    expected = product(a, b)
    return float(np.mean(np.abs(d - expected) / expected))


@pytest.mark.parametrize("k", [512, 4096, 16384])
def test_fp8_accumulation_loses_what_the_hardware_loses(k):
    reduced = mean_error("probe_e4m3", ml_dtypes.float8_e4m3fn, k, 0, fp8_reduced=True)
    assert reduced == pytest.approx(measured("fp8 instruction", k)["mean_error"], rel=0.05)
    assert mean_error("probe_e4m3", ml_dtypes.float8_e4m3fn, k, 0) < 1e-6  # without the option: fp32


def test_promotion_keeps_fp8_accumulation_right():
    reduced = mean_error("probe_e4m3", ml_dtypes.float8_e4m3fn, 4096, 1, fp8_reduced=True)
    assert reduced == pytest.approx(measured("promoted", 4096)["mean_error"], rel=0.15)


@pytest.mark.parametrize("k", [512, 4096])
def test_fp16_accumulators(k):
    assert mean_error("probe_fp16_acc16", np.float16, k) == pytest.approx(measured("fp16", k)["mean_error"], rel=0.15)
