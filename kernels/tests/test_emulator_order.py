"""Reports follow from the order that a program guarantees: each of these is wrong under every schedule, and reported under every one."""

import functools

import numpy as np
import pytest
from emulator_sources import compiled

from kernels import TensorMap
from kernels.emulator import POLICIES
from kernels.emulator.toolchain import compiler

# One kernel a rule; WRONG=0 builds the right form of each.
SOURCE = """#include "hopper.cuh"
#ifndef WRONG
#define WRONG 1
#endif
#if WRONG
#define RIGHT(...)
#define ELSE(...) __VA_ARGS__
#else
#define RIGHT(...) __VA_ARGS__
#define ELSE(...)
#endif
struct Smem { mbarrier bar, other; int word; };

// -- memory
extern "C" __global__ void hidden_by_atomic(int* x, int* out) {      // a plain write, then the same thread's atomic
  if (blockIdx.x == 0 && threadIdx.x == 0) { ELSE(x[0] = 1;) atomicAdd(&x[0], 1); }
  if (blockIdx.x == 1 && threadIdx.x == 0) atomicAdd(&x[0], 1);
}
extern "C" __global__ void many_readers(int* x, int* out) {           // the first of eight warps that read is not ordered before the write
  out[threadIdx.x] = x[0];
  RIGHT(__syncthreads();)
  ELSE(if (threadIdx.x >= 32) named_barrier_sync(1, blockDim.x - 32);)
  if (threadIdx.x == blockDim.x - 1) x[0] = 7;
}
extern "C" __global__ void blocks_in_turn(int* x, int* out) {         // blocks that follow each other on an SM are not ordered
  RIGHT(x[blockIdx.x * 32 + threadIdx.x] = 1;)
  ELSE(x[threadIdx.x] = 1; __syncthreads();)
}
__device__ int counter;
extern "C" __global__ void device_variable(int* x, int* out) {
  if (threadIdx.x == 0) { ELSE(counter = counter + 1;) RIGHT(atomicAdd(&counter, 1);) }
}
extern "C" __global__ void warp_synchronous(int* x, int* out) {       // lanes of a warp do not run in step
  SHARED(int, sum, [64]);
  volatile int* s = sum;
  s[threadIdx.x] = x[threadIdx.x];
  for (int w = 16; w > 0; w /= 2) {
    RIGHT(__syncwarp();)
    const int other = s[threadIdx.x ^ w];
    RIGHT(__syncwarp();)
    s[threadIdx.x] = s[threadIdx.x] + other;
  }
  out[threadIdx.x] = s[threadIdx.x];
}
extern "C" __global__ void plain_flag(int* x, int* out) {             // a flag that is read by an ordinary load
  uint32_t* flag = (uint32_t*)x;
  if (blockIdx.x == 0 && threadIdx.x == 0) store_release(flag, 1);
  if (blockIdx.x == 1 && threadIdx.x == 0) out[0] = ELSE(*flag) RIGHT(load_acquire(flag));
}
extern "C" __global__ void same_value(int* x, int* out) {             // a race also where both write the same
  if (threadIdx.x < RIGHT(1) ELSE(2)) out[0] = 5;
}

// -- mbarriers
extern "C" __global__ void ignored_try(int* x, int* out) {
  SHARED(Smem, sm, [1]);
  if (threadIdx.x == 0) { mbarrier_init(&sm->bar, 1, "BAR"); fence_mbarrier_init(); }
  __syncthreads();
  if (threadIdx.x == 0) { sm->word = 3; mbarrier_arrive(&sm->bar); }
  while (RIGHT(!) mbarrier_try_wait(&sm->bar, 0) ELSE(&& false)) {}
  out[threadIdx.x] = sm->word;
}
extern "C" __global__ void other_barrier(int* x, int* out) {          // waits on a barrier that has long completed
  SHARED(Smem, sm, [1]);
  if (threadIdx.x == 0) { mbarrier_init(&sm->bar, 1, "BAR"); mbarrier_init(&sm->other, 1, "OTHER"); fence_mbarrier_init(); mbarrier_arrive(&sm->other); }
  __syncthreads();
  if (threadIdx.x == 0) { sm->word = 3; mbarrier_arrive(&sm->bar); }
  mbarrier_wait(RIGHT(&sm->bar) ELSE(&sm->other), 0);
  out[threadIdx.x] = sm->word;
}
extern "C" __global__ void overtaken(int* x, int* out) {              // the second phase can complete before the first was waited for
  SHARED(Smem, sm, [1]);
  if (threadIdx.x == 0) { mbarrier_init(&sm->bar, 1, "BAR"); fence_mbarrier_init(); }
  __syncthreads();
  if (threadIdx.x == 0) mbarrier_arrive(&sm->bar);
  if (threadIdx.x == 32) mbarrier_wait(&sm->bar, 0);
  RIGHT(__syncthreads();)
  if (threadIdx.x == 0) { mbarrier_wait(&sm->bar, 0); mbarrier_arrive(&sm->bar); }
  __syncthreads();
  out[threadIdx.x] = 0;
}

extern "C" __global__ void initialised_twice(int* x, int* out) {      // the second init's index is outside its array
  SHARED(Smem, sm, [1]);
  if (threadIdx.x == 0) { mbarrier_init(&sm->bar, 1, "BAR"); mbarrier_init(&sm->other, 1, "OTHER"); ELSE(mbarrier_init(&sm->bar + 1, 2, "BAR", 1);) fence_mbarrier_init(); }
  __syncthreads();
}

// -- clusters of two
extern "C" __global__ void __cluster_dims__(2) peer_not_started(int* x, int* out) {
  SHARED(int, word, [1]);
  RIGHT(cluster_sync();)
  if (threadIdx.x == 0) *cluster_map(word, cluster_rank() ^ 1) = 5;
  cluster_sync();
  out[blockIdx.x * blockDim.x + threadIdx.x] = *word;
}
extern "C" __global__ void __cluster_dims__(2) peer_may_exit(int* x, int* out) {
  SHARED(int, word, [1]);
  if (threadIdx.x == 0) word[0] = 1;
  cluster_sync();
  if (cluster_rank() == 0 && threadIdx.x == 0) out[0] = *cluster_map(word, 1);
  RIGHT(cluster_sync();)
}
extern "C" __global__ void __cluster_dims__(2) remote_scope(int* x, int* out) {  // the arrival publishes nothing, or the wait sees only its block
  SHARED(Smem, sm, [1]);
  if (threadIdx.x == 0) { mbarrier_init(&sm->bar, 1, "BAR"); fence_mbarrier_init(); }
  cluster_sync();
  if (cluster_rank() == 0 && threadIdx.x == 0) {
    *cluster_map(&sm->word, 1) = 5;
    if (WRONG == 2) mbarrier_arrive_remote_read(&sm->bar, 1);
    else mbarrier_arrive_remote(&sm->bar, 1);
  }
  if (cluster_rank() == 1) {
    if (WRONG == 1) mbarrier_wait(&sm->bar, 0);
    else mbarrier_wait_cluster(&sm->bar, 0);
    out[threadIdx.x] = sm->word;
  }
  cluster_sync();
}

// -- warps
extern "C" __global__ void __cluster_dims__(2) apart(int* x, int* out) {  // lane 0 waits in a branch, then an operation of the whole warp
  SHARED(Smem, sm, [1]);
  if (threadIdx.x == 0) { mbarrier_init(&sm->bar, 1, "BAR"); fence_mbarrier_init(); }
  __syncthreads();
  if (threadIdx.x == 32) mbarrier_arrive(&sm->bar);
  if (threadIdx.x == 0) mbarrier_wait(&sm->bar, 0);
  RIGHT(__syncwarp();)
  cluster_sync();
}
extern "C" __global__ void two_places(int* x, int* out) {
  RIGHT(__syncthreads();)
  ELSE(if (threadIdx.x % 2) __syncthreads(); else {)
  ELSE(__syncthreads(); })
  out[threadIdx.x] = 1;
}
"""
RULES = {
    "hidden_by_atomic": "write-after-write",
    "many_readers": "-after-",
    "blocks_in_turn": "write-after-write",
    "device_variable": "-after-",
    "warp_synchronous": "-after-",
    "plain_flag": "-after-",
    "same_value": "write-after-write",
    "ignored_try": "read-after-write",
    "other_barrier": "read-after-write",
    "overtaken": "phase-overtaken",
    "initialised_twice": "mbarrier-init-twice",
    "peer_not_started": "block-not-started",
    "peer_may_exit": "exit-before-remote-access",
    "remote_scope": "read-after-write",
    "apart": "divergent-warp",
    "two_places": "divergent-barrier",
}
SCHEDULES = [(p, s) for p in POLICIES for s in range(3)]
CLUSTERED = ("peer_not_started", "peer_may_exit", "remote_scope", "apart")


@functools.cache
def built(wrong: int):
    return compiled("order", SOURCE, *RULES, WRONG=wrong)


def launch(kernel: str, wrong: int, policy: str, seed: int, sms: int = 8):
    threads = {"warp_synchronous": 32, "blocks_in_turn": 32, "many_readers": 256}.get(kernel, 64)
    grid = (
        1
        if kernel
        in ("many_readers", "same_value", "warp_synchronous", "ignored_try", "other_barrier", "overtaken", "two_places")
        else 2
    )
    arrays = [np.zeros(256, np.int32), np.zeros(256, np.int32)]
    cluster = 2 if kernel in CLUSTERED else 1
    return built(wrong).launch(
        kernel, grid, threads, arrays, cluster=cluster, policy=policy, seed=seed, sms=sms, raises=False
    )


@pytest.mark.parametrize("kernel", RULES)
def test_reported_under_every_schedule_and_the_right_form_under_none(kernel):
    for policy, seed in SCHEDULES:
        report = launch(kernel, 1, policy, seed)
        assert RULES[kernel] in " ".join(f.rule for f in report.findings), (policy, seed, str(report))
        assert launch(kernel, 0, policy, seed).clean, (policy, seed, str(launch(kernel, 0, policy, seed)))


def test_an_arrival_that_publishes_no_writes_is_not_enough_at_cluster_scope():
    for policy, seed in SCHEDULES:
        assert {f.rule for f in launch("remote_scope", 2, policy, seed).findings} == {"read-after-write"}, (
            policy,
            seed,
        )


@pytest.mark.parametrize("sms", [1, 2])
def test_an_sm_s_next_block_hides_no_race_and_the_block_that_has_exited_is_named(sms):
    for seed in range(4):
        report = launch("blocks_in_turn", 1, "random", seed, sms)
        assert "block (0,0)" in report.findings[0].message and "block (1,0)" in report.findings[0].message, str(report)
        assert launch("blocks_in_turn", 0, "random", seed, sms).clean


# -- registers of wgmma. BUG: 1 A written after the fence, 2 A written in flight, 3 accumulators written after the fence, 4 added to accumulators
# that nobody wrote, 5 no fence at all
WGMMA = """#include "hopper.cuh"
struct Smem { alignas(1024) uint8_t b[64 * 128]; };
extern "C" __global__ void __launch_bounds__(128, 1) fragments(const uint32_t* a, float* d) {
  DYNAMIC_SHARED(Smem, sm);
  for (int i = threadIdx.x; i < 64 * 128 / 4; i += 128) ((uint32_t*)sm.b)[i] = 0x3F803F80;
  fence_proxy_async();
  __syncthreads();
  uint32_t r[4];
  float acc[32];
  for (int i = 0; i < 4; ++i) r[i] = a[threadIdx.x * 4 + i];
  if (BUG != 5) wgmma_fence();
  if (BUG == 1) r[1] = a[threadIdx.x];
  if (BUG == 3) acc[3] = 1.0f;
  wgmma_rs<64, bf16>(acc, r, desc_k_major<128>(sm.b), BUG == 4);
  wgmma_commit();
  if (BUG == 2) r[2] = a[threadIdx.x];
  wgmma_wait<0>();
  for (int i = 0; i < 32; ++i) d[threadIdx.x * 32 + i] = acc[i] + r[2];
}
"""


@pytest.mark.parametrize(
    "bug,rule",
    [
        (0, None),
        (1, "missing-wgmma-fence"),
        (2, "fragment-in-flight"),
        (3, "missing-wgmma-fence"),
        (4, "uninitialized-accumulator"),
        (5, "missing-wgmma-fence"),
    ],
)
def test_registers_of_a_wgmma(bug, rule):
    module = compiled("fragments", WGMMA, "fragments", BUG=bug)
    for policy, seed in SCHEDULES:
        report = module.launch(
            "fragments",
            1,
            128,
            [np.full(512, 0x3F803F80, np.uint32), np.zeros((128, 32), np.float32)],
            smem=64 * 128,
            policy=policy,
            seed=seed,
            raises=False,
        )
        assert {f.rule for f in report.findings} == ({rule} if rule else set()), (policy, seed, str(report))


# -- the copy engine
COPIES = """#include "hopper.cuh"
#ifndef WRONG
#define WRONG 0
#endif
struct Smem { alignas(1024) float box[BARRIERS][8 * 32]; mbarrier full[BARRIERS]; };
// One load on each of many barriers; every thread waits for all, or for all but one (WRONG).
extern "C" __global__ void many_queues(const __grid_constant__ TensorMap map, float* y) {
  DYNAMIC_SHARED(Smem, sm);
  if (threadIdx.x == 0) {
    for (int b = 0; b < BARRIERS; ++b) mbarrier_init(&sm.full[b], 1, "FULL", b);
    fence_mbarrier_init();
    for (int b = 0; b < BARRIERS; ++b) {
      mbarrier_arrive_expect_tx(&sm.full[b], sizeof(sm.box[b]));
      tma_load_2d(sm.box[b], &map, 0, 8 * b, &sm.full[b]);
    }
  }
  __syncthreads();
  float sum = 0;
  for (int b = 0; b < BARRIERS; ++b) {
    if (!(WRONG == 1 && b == 70)) mbarrier_wait(&sm.full[b], 0);
    if (!(WRONG == 2 && b == 70)) sum += sm.box[b][threadIdx.x];
    if (WRONG == 2 && b == 69) break;
  }
  y[threadIdx.x] = sum;
}
// Ordinary stores, a barrier, and the proxy fence on the side of the thread that stores the tile: the fence lies between write and read.
extern "C" __global__ void reader_fences(const __grid_constant__ TensorMap map, float* y) {
  SHARED_ALIGNED(1024, float, tile, [8 * 32]);
  for (int i = threadIdx.x; i < 8 * 32; i += blockDim.x) tile[i] = (float)i;
  __syncthreads();
  if (threadIdx.x == 0) {
    if (!WRONG) fence_proxy_async();
    tma_store_2d(&map, tile, 0, 0);
    tma_store_commit();
    tma_store_wait_read<0>();
  }
}
"""


@pytest.mark.parametrize("wrong,rule", [(0, None), (1, "read-after-write"), (2, "exit-before-load")])
def test_more_copy_queues_than_a_machine_word_has_bits(wrong, rule):
    module = compiled("copies", COPIES, "many_queues", "reader_fences", BARRIERS=90, WRONG=wrong)
    x = np.arange(90 * 8 * 32, dtype=np.float32).reshape(90 * 8, 32)
    for policy, seed in SCHEDULES:
        report = module.launch(
            "many_queues",
            1,
            32,
            [TensorMap(x, (8, 32), 0), np.zeros(32, np.float32)],
            smem=90 * 1032 + 1024,
            policy=policy,
            seed=seed,
            raises=False,
        )
        assert (rule in {f.rule for f in report.findings}) if rule else report.clean, (policy, seed, str(report))


@pytest.mark.parametrize("wrong", [0, 1])
def test_a_proxy_fence_between_write_and_copy_is_enough_on_either_side(wrong):
    module = compiled("copies", COPIES, "many_queues", "reader_fences", BARRIERS=2, WRONG=wrong)
    for policy, seed in SCHEDULES:
        report = module.launch(
            "reader_fences",
            1,
            64,
            [TensorMap(np.zeros((8, 32), np.float32), (8, 32), 0), np.zeros(1, np.float32)],
            policy=policy,
            seed=seed,
            raises=False,
        )
        assert {f.rule for f in report.findings} == ({"missing-proxy-fence"} if wrong else set()), (
            policy,
            seed,
            str(report),
        )


# -- alignment, and the launch against what the source says of it
ALIGNED = """#include "hopper.cuh"
constexpr int THREADS = 64;
#define BOUNDED __launch_bounds__(THREADS, 2)
extern "C" __global__ void BOUNDED word(int* x) { *reinterpret_cast<int*>((char*)x + BYTES) = 1; }
extern "C" __global__ void two(int* x) { const float2 v = *reinterpret_cast<float2*>((char*)x + BYTES); x[9] = (int)(v.x + v.y); }
extern "C" __global__ void four(int* x) { *reinterpret_cast<float4*>((char*)x + BYTES) = make_float4(1, 2, 3, 4); }
#define ENTRY(name, T) extern "C" __global__ void __cluster_dims__(2) __launch_bounds__(THREADS) name(T* x) { x[blockIdx.x * THREADS + threadIdx.x] = 1; }
ENTRY(made, int)
"""


@pytest.mark.parametrize("instrument", [True, False])
@pytest.mark.parametrize("kernel,size", [("word", 4), ("two", 8), ("four", 16)])
def test_every_access_is_aligned(kernel, size, instrument):
    if kernel != "word" and compiler().family != "gcc":
        pytest.skip("clang's and zig's sanitizer looks at no copy of a whole struct (README of the emulator)")
    for offset, aligned in ((0, True), (size, True), (size // 2, False)):
        module = compiled("aligned", ALIGNED, "word", "two", "four", "made", instrument=instrument, BYTES=offset)
        report = module.launch(kernel, 1, 1, [np.zeros(32, np.int32)], raises=False)
        assert [f.rule for f in report.findings] == ([] if aligned else ["misaligned"]), str(report)
        assert (
            aligned
            or report.findings[0].places[0].line
            == ALIGNED[: ALIGNED.index(f"void {kernel}" if kernel != "word" else "BOUNDED word")].count("\n") + 1
        )


def test_a_launch_is_held_to_the_source_s_bounds():
    module = compiled("aligned", ALIGNED, "word", "two", "four", "made", BYTES=0)
    rules = lambda kernel, threads, **how: [
        f.rule
        for f in module.launch(kernel, 2, threads, [np.zeros(256, np.int32)], raises=False, sms=2, **how).findings
    ]
    assert rules("word", 96) == ["launch-bounds"] and rules("two", 96, cluster=2) == ["cluster-dims"]
    assert (
        rules("made", 64, cluster=2) == []
        and rules("made", 64, cluster=1) == ["cluster-dims"]
        and rules("made", 65, cluster=2) == ["launch-bounds"]
    )
