"""Threads together: warp operations, named barriers, clusters, registers, shared-memory and register budgets."""

import itertools

import numpy as np
import pytest
from emulator_sources import compiled, line_of
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.emulator import EmulatorDeadlock, EmulatorMisuse, EmulatorRace

WARP = """#include "hopper.cuh"
extern "C" __global__ void shuffles(const int* x, const int* lane, int* out, int width) {
  const int t = threadIdx.x, v = x[t], a = lane[t];
  out[t] = __shfl_sync(~0u, v, a, width);
  out[32 + t] = __shfl_xor_sync(~0u, v, a, width);
  out[64 + t] = __shfl_down_sync(~0u, v, a, width);
  out[96 + t] = __shfl_up_sync(~0u, v, a, width);
  out[128 + t] = __ballot_sync(~0u, v % 2);
  out[160 + t] = __any_sync(~0u, v == 7) + 2 * __all_sync(~0u, v > 0);
  out[192 + t] = elect_one();
}
extern "C" __global__ void halves(int* out) {     // two groups of lanes, each with its own mask
  const unsigned mask = threadIdx.x < 16 ? 0xFFFFu : 0xFFFF0000u;
  int v = threadIdx.x;
  for (int o = 8; o; o >>= 1) v += __shfl_xor_sync(mask, v, o);
  out[threadIdx.x] = v;
}
extern "C" __global__ void wide(const double* x, double* out) { out[threadIdx.x] = __shfl_down_sync(~0u, x[threadIdx.x], 1); }
extern "C" __global__ void narrow_block(int* out) { out[threadIdx.x] = __ballot_sync(~0u, 1); }
extern "C" __global__ void divergent(int* out) {
  int v = threadIdx.x;
  if (threadIdx.x < 16) v = __shfl_xor_sync(~0u, v, 1);     // half the warp
  else v = __ballot_sync(~0u, v);                           // the other half
  out[threadIdx.x] = v;
}
extern "C" __global__ void missing_lanes(int* out) { if (threadIdx.x < 16) out[threadIdx.x] = __shfl_sync(~0u, 1, 0); }
extern "C" __global__ void not_in_mask(int* out) { out[threadIdx.x] = __shfl_sync(0xFFu, 1, 0); }
extern "C" __global__ void matrices(const uint32_t* in, uint16_t* image, uint32_t* back) {
  SHARED(uint16_t, s, [32][8]);
  const int t = threadIdx.x;
  stmatrix_x4(s[t], in[t * 4], in[t * 4 + 1], in[t * 4 + 2], in[t * 4 + 3]);
  __syncwarp();
  for (int i = 0; i < 8; ++i) image[t * 8 + i] = s[t][i];
  uint32_t r[4];
  ldmatrix_x4(r, s[t]);
  for (int i = 0; i < 4; ++i) back[t * 4 + i] = r[i];
  __syncwarp();
  stmatrix_x2(s[t], ~in[t * 4], ~in[t * 4 + 1]);
  __syncwarp();
  for (int i = 0; i < 8; ++i) image[256 + t * 8 + i] = s[t][i];
}
"""
WARP_ENTRIES = ["shuffles", "halves", "wide", "narrow_block", "divergent", "missing_lanes", "not_in_mask", "matrices"]


@pytest.fixture(scope="module")
def warp():
    return compiled("warp", WARP, *WARP_ENTRIES)


@settings(max_examples=25, deadline=None)
@given(
    x=st.lists(st.integers(-9, 9), min_size=32, max_size=32),
    lane=st.integers(0, 31),
    width=st.sampled_from([1, 2, 4, 8, 16, 32]),
    own=st.booleans(),
)
def test_shuffles_follow_their_definition(warp, x, lane, width, own):
    v, t = np.array(x, np.int32), np.arange(32)
    a = (lane + t * own) % 32  # every lane its own argument, or all the same
    out = np.zeros(224, np.int32)
    warp.launch("shuffles", 1, 32, [v, a.astype(np.int32), out, width])
    base = t // width * width
    np.testing.assert_array_equal(out[:32], v[base + a % width])
    np.testing.assert_array_equal(out[32:64], np.where((t ^ a) < base + width, v[np.minimum(t ^ a, 31)], v))
    np.testing.assert_array_equal(out[64:96], np.where(t + a < base + width, v[np.minimum(t + a, 31)], v))
    np.testing.assert_array_equal(out[96:128], np.where(t - a >= base, v[t - a], v))
    ballot = np.array(sum(1 << i for i in range(32) if x[i] % 2), np.uint32).view(np.int32)
    assert (out[128:160] == ballot).all()
    assert (out[160:192] == (7 in x) + 2 * all(i > 0 for i in x)).all()
    assert out[192:].tolist() == [1] + [0] * 31


def test_groups_of_lanes_doubles_and_narrow_blocks(warp):
    out = np.zeros(32, np.int32)
    warp.launch("halves", 1, 32, [out])
    assert out.tolist() == [sum(range(16))] * 16 + [sum(range(16, 32))] * 16
    x, y = np.arange(32.0) / 3, np.zeros(32)
    warp.launch("wide", 1, 32, [x, y])
    np.testing.assert_array_equal(y, [*x[1:], x[31]])
    warp.launch("narrow_block", 1, 20, [out])
    assert (out[:20] == (1 << 20) - 1).all()


def test_divergence_is_named(warp):
    out = np.zeros(32, np.int32)
    with pytest.raises(EmulatorMisuse, match="Lanes of one warp meet in different operations") as e:
        warp.launch("divergent", 1, 32, [out])
    for marker in ("// half the warp", "// the other half"):
        assert f"warp.cu:{line_of(WARP, marker)}" in str(e.value)
    with pytest.raises(EmulatorDeadlock, match="mask 0xffffffff, arrived 0x0000ffff"):
        warp.launch("missing_lanes", 1, 32, [out])
    with pytest.raises(EmulatorMisuse, match="leaves itself out"):
        warp.launch("not_in_mask", 1, 32, [out])


def test_stmatrix_and_ldmatrix(warp):
    registers = np.random.default_rng(0).integers(0, 2**32, (32, 4), dtype=np.uint32)
    image, back = np.zeros((2, 4, 8, 8), np.uint16), np.zeros((32, 4), np.uint32)
    warp.launch("matrices", 1, 32, [registers, image, back])
    for matrix in range(4):
        for lane in range(32):  # PTX: register i of lane l holds elements 2 (l % 4), + 1 of row l / 4 of matrix i
            pair = image[0, matrix, lane // 4, 2 * (lane % 4) : 2 * (lane % 4) + 2]
            assert pair.view(np.uint32)[0] == registers[lane, matrix]
    np.testing.assert_array_equal(back, registers)
    np.testing.assert_array_equal(image[1, :2], ~image[0, :2])
    np.testing.assert_array_equal(image[1, 2:], image[0, 2:])


GROUPS = """#include "hopper.cuh"
extern "C" __global__ void producer_consumer(int* out) {       // arrive and sync: full and empty, by halves of the block
  SHARED(int, box, [64]);
  const int t = threadIdx.x % 64, consumer = threadIdx.x / 64;
  for (int round = 0; round < 5; ++round) {
    if (consumer) {
      named_barrier_sync(1, 128);                              // full
      out[round * 64 + t] = box[63 - t];
#if BUG != 1
      named_barrier_arrive(2, 128);                            // empty
#endif
    } else {
#if BUG != 1
      if (round) named_barrier_sync(2, 128);
#endif
      box[t] = round * 100 + t;                                // fill
      named_barrier_arrive(1, 128);
    }
  }
#if BUG != 1
  if (!consumer) named_barrier_sync(2, 128);
#endif
}
extern "C" __global__ void disagree() { named_barrier_sync(1, threadIdx.x < 32 ? 64 : 96); }
extern "C" __global__ void not_warps() { named_barrier_sync(1, 48); }
extern "C" __global__ void too_few() { if (threadIdx.x < 32) named_barrier_sync(3, 64); }
extern "C" __global__ void leavers(int* out) {                 // exited threads are not waited for
  if (threadIdx.x >= 40) return;
  __syncthreads();
  out[threadIdx.x] = 1;
}
extern "C" __global__ void __cluster_dims__(2, 2) cluster_halves(int* out) {          // arrive and wait apart
  SHARED(int, mine, [1]);
  if (threadIdx.x == 0) *mine = 10 + cluster_rank();
  cluster_arrive();
  cluster_wait();
  if (threadIdx.x == 0) for (unsigned r = 0; r < cluster_size(); ++r) out[blockIdx.y * 8 + blockIdx.x * 4 + r] = *cluster_map(mine, r);
  cluster_sync();
}
extern "C" __global__ void say(int n) { if (threadIdx.x == 0) printf("block %u says %d\\n", blockIdx.x, n); }
extern "C" __global__ void coordinates(int* out) {
  const int b = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x, t = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  atomicAdd(&out[b * blockDim.x * blockDim.y * blockDim.z + t], 1);
}
"""
GROUP_ENTRIES = [
    "producer_consumer",
    "disagree",
    "not_warps",
    "too_few",
    "leavers",
    "cluster_halves",
    "say",
    "coordinates",
]


@pytest.fixture(scope="module")
def groups():
    return compiled("groups", GROUPS, *GROUP_ENTRIES, BUG=0)


@pytest.mark.parametrize("policy", ["friendly", "rr", "random", "pct", "timed"])
def test_named_barriers_of_producer_and_consumer(groups, policy):
    for seed in range(3):
        out = np.zeros((5, 64), np.int32)
        groups.launch("producer_consumer", 1, 128, [out], policy=policy, seed=seed)
        np.testing.assert_array_equal(out, np.arange(5)[:, None] * 100 + np.arange(63, -1, -1))
        report = compiled("groups", GROUPS, *GROUP_ENTRIES, BUG=1).launch(
            "producer_consumer", 1, 128, [out], policy=policy, seed=seed, raises=False
        )
        assert report.status in ("race", "misuse", "deadlock") and report.findings


def test_barrier_misuse_and_deadlock(groups):
    with pytest.raises(
        EmulatorMisuse, match="expects 96 threads, but those that have arrived expect 64|expects 64 threads, but .* 96"
    ):
        groups.launch("disagree", 1, 96, [])
    with pytest.raises(EmulatorMisuse, match="multiple of 32"):
        groups.launch("not_warps", 1, 96, [])
    with pytest.raises(EmulatorDeadlock, match="barrier 3 .* 32 threads have arrived of 64"):
        groups.launch("too_few", 1, 64, [])
    out = np.zeros(64, np.int32)
    groups.launch("leavers", 1, 64, [out])
    assert out.sum() == 40


def test_cluster_ranks_and_coordinates(groups):
    out = np.zeros((2, 2, 4), np.int32)
    groups.launch("cluster_halves", (2, 2), 32, [out], cluster=(2, 2))
    assert (out == [10, 11, 12, 13]).all()
    counts = np.zeros(3 * 2 * 2 * 5 * 2 * 3, np.int32)
    groups.launch("coordinates", (3, 2, 2), (5, 2, 3), [counts])
    assert (counts == 1).all()


def test_printing(groups):
    report = groups.launch("say", 2, 32, [42])
    assert sorted(report.output.splitlines()) == ["block 0 says 42", "block 1 says 42"]


REGISTERS = """#include "hopper.cuh"
#if BUG != 1
#define BOUNDS __launch_bounds__(384, 1)
#else
#define BOUNDS
#endif
extern "C" __global__ void BOUNDS roles(int* out) {
  if (threadIdx.x < 128) {
#if BUG == 2
    reg_dec<120>();                          // gives too little back
#elif BUG == 4
    if (threadIdx.x < 96) reg_dec<40>();     // three warps of four
#elif BUG == 5
    reg_dec<42>();
#elif BUG == 6
    reg_inc<40>();                           // wrong way
#else
    reg_dec<40>();                           // give
#endif
  } else {
#if BUG == 8
    if (threadIdx.x % 128 < 96)              // three warps of four ask
#endif
    reg_inc<232>();                          // take
  }
#if BUG == 3
  if (threadIdx.x < 128) { named_barrier_sync(1, 128); reg_inc<48>(); }   // the pool is empty now
#elif BUG == 7
  if (threadIdx.x < 128) reg_dec<32>();      // no synchronisation since the last
#endif
  out[threadIdx.x] = 1;
}
struct Smem { char bytes[BYTES]; };
extern "C" __global__ void budget(int* out) {
  DYNAMIC_SHARED(Smem, s);
  SHARED(float, more, [16 * 1024]);
  more[threadIdx.x] = s.bytes[0] = 1;
  out[threadIdx.x] = 1;
}
extern "C" __global__ void __launch_bounds__(128, 1) starved() {
  SHARED_ALIGNED(1024, bf16, s, [256 * 64]);
  for (int i = threadIdx.x; i < 256 * 64; i += 128) s[i].x = 0;
  fence_proxy_async();
  __syncthreads();
  reg_dec<64>();
  float d[128] = {};
  wgmma_fence();
  wgmma_ss<256, bf16>(d, desc_k_major<128>(s), desc_k_major<128>(s));   // 128 accumulators in 64 registers
  wgmma_commit();
  wgmma_wait<0>();
}
"""


def roles(bug=0, bytes_=1024):
    return compiled("registers", REGISTERS, "roles", "budget", "starved", BUG=bug, BYTES=bytes_)


@pytest.mark.parametrize("policy", ["friendly", "random", "pct"])
def test_setmaxnreg_moves_registers(policy):
    out = np.zeros(384, np.int32)
    for seed in range(4):
        roles().launch("roles", 1, 384, [out], registers=168, policy=policy, seed=seed)
    assert out.all()


@pytest.mark.parametrize(
    "bug,error,message",
    [
        (1, EmulatorMisuse, "no register cap at launch"),
        (2, EmulatorDeadlock, r"waits for 232 registers a thread \(reg_inc\)"),
        (3, EmulatorDeadlock, "waits for 48 registers"),
        (4, EmulatorDeadlock, "waits for 232 registers"),
        (5, EmulatorMisuse, "multiple of 8"),
        (6, EmulatorMisuse, "holds 168 registers"),
        (7, EmulatorMisuse, "synchronise"),
        (8, EmulatorDeadlock, "waits for 232 registers"),  # also where the registers are given after they asked
    ],
)
def test_setmaxnreg_rules(bug, error, message):
    for policy, seed in itertools.product(("friendly", "rr", "late"), range(3)):
        with pytest.raises(error, match=message) as e:
            roles(bug).launch("roles", 1, 384, [np.zeros(384, np.int32)], registers=168, seed=seed, policy=policy)
        assert "registers.cu:" in str(e.value)


def test_budgets():
    out = np.zeros(32, np.int32)
    with pytest.raises(EmulatorMisuse, match="dynamic shared memory is 1024 bytes, the launch gave 512"):
        roles().launch("budget", 1, 32, [out], smem=512)
    with pytest.raises(EmulatorMisuse, match="with `more`; a block may have 232448"):
        roles(bytes_=200000).launch("budget", 1, 32, [out], smem=200000)
    with pytest.raises(EmulatorMisuse, match="a block may have 232448"):
        roles().launch("budget", 1, 32, [out], smem=240000)
    with pytest.raises(EmulatorMisuse, match="384 threads of 176 registers"):
        roles().launch("roles", 1, 384, [np.zeros(384, np.int32)], registers=176)
    with pytest.raises(EmulatorMisuse, match="1 to 1024"):
        roles().launch("roles", 1, 2048, [np.zeros(2048, np.int32)])
    with pytest.raises(EmulatorMisuse, match="whole number of clusters"):
        roles().launch("roles", 3, 384, [np.zeros(384, np.int32)], cluster=2)
    with pytest.raises(EmulatorMisuse, match="need 128 registers a thread, and the warpgroup holds 64") as e:
        roles().launch("starved", 1, 128, [])
    assert e.value.report.findings[-1].places[0].line == line_of(REGISTERS, "// 128 accumulators")


def test_races_are_told_once_with_their_count(groups):
    report = compiled("groups", GROUPS, *GROUP_ENTRIES, BUG=1).launch(
        "producer_consumer", 1, 128, [np.zeros((5, 64), np.int32)], policy="friendly", raises=False
    )
    told = [(f.rule, f.places) for f in report.findings]
    assert len(told) == len(set(told))
    assert isinstance(EmulatorRace(report), EmulatorRace) and "seen" in str(report)
