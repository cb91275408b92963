"""Reports follow from the order that a program guarantees: each of these is wrong under every schedule, and reported under every one."""

import functools

import numpy as np
import pytest
from emulator_sources import compiled

from kernels.emulator import POLICIES

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
    grid = 1 if kernel in ("many_readers", "same_value", "warp_synchronous", "ignored_try", "other_barrier", "overtaken", "two_places") else 2
    arrays = [np.zeros(256, np.int32), np.zeros(256, np.int32)]
    cluster = 2 if kernel in CLUSTERED else 1
    return built(wrong).launch(kernel, grid, threads, arrays, cluster=cluster, policy=policy, seed=seed, sms=sms, raises=False)


@pytest.mark.parametrize("kernel", RULES)
def test_reported_under_every_schedule_and_the_right_form_under_none(kernel):
    for policy, seed in SCHEDULES:
        report = launch(kernel, 1, policy, seed)
        assert RULES[kernel] in " ".join(f.rule for f in report.findings), (policy, seed, str(report))
        assert launch(kernel, 0, policy, seed).clean, (policy, seed, str(launch(kernel, 0, policy, seed)))


def test_an_arrival_that_publishes_no_writes_is_not_enough_at_cluster_scope():
    for policy, seed in SCHEDULES:
        assert {f.rule for f in launch("remote_scope", 2, policy, seed).findings} == {"read-after-write"}, (policy, seed)


@pytest.mark.parametrize("sms", [1, 2])
def test_an_sm_s_next_block_hides_no_race_and_the_block_that_has_exited_is_named(sms):
    for seed in range(4):
        report = launch("blocks_in_turn", 1, "random", seed, sms)
        assert "block (0,0)" in report.findings[0].message and "block (1,0)" in report.findings[0].message, str(report)
        assert launch("blocks_in_turn", 0, "random", seed, sms).clean
