"""Asynchronous copies of sm_80 in foreign files: right kernels are clean under every policy, and each break is reported in every run."""

from __future__ import annotations

import numpy as np
import pytest

from kernels.foreign import load_source_kernel

POLICIES = ("random", "friendly", "rr", "pct", "late", "timed")
N, WIDTH = 5 * 96, 96

PTX = r"""
#include <cuda_runtime.h>
__global__ void copy(const int* x, int* y, int n) {
  __shared__ int s[2][96];
  const int t = threadIdx.x, k = n / 96;
  auto load = [&](int i) {
    const unsigned at = (unsigned)__cvta_generic_to_shared(&s[i % 2][t]);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;\n" ::"r"(at), "l"(x + i * 96 + t), "r"(i * 96 + t == 7 ? 0 : 4));
    COMMIT;
  };
  load(0);
  for (int i = 0; i < k; ++i) {
    if (i + 1 < k) { load(i + 1); WAIT_ONE; } else { asm volatile("cp.async.wait_all;"); }
    READY;
    y[i * 96 + t] = 3 * s[i % 2][(t + 7) % 96];
    FREE;
  }
}
"""
PTX_RIGHT = {
    "COMMIT": 'asm volatile("cp.async.commit_group;")',
    "WAIT_ONE": 'asm volatile("cp.async.wait_group 1;")',
    "READY": "__syncthreads()",
    "FREE": "__syncthreads()",
}

LIBRARY = r"""
#include <cooperative_groups/memcpy_async.h>
#include <cuda/pipeline>
#include <cuda_pipeline.h>
namespace cg = cooperative_groups;
__global__ void groups(const int* x, int* y, int n) {
  extern __shared__ int s[];
  auto block = cg::this_thread_block();
  const int w = block.size(), k = n / w;
  cg::memcpy_async(block, s, x, sizeof(int) * w);
  for (int i = 0; i < k; i++) {
    if (i + 1 < k) { cg::memcpy_async(block, s + (i + 1) % 2 * w, x + (i + 1) * w, cuda::aligned_size_t<4>(sizeof(int) * w)); PRIOR; }
    else cg::wait(block);
    y[i * w + threadIdx.x] = 3 * s[i % 2 * w + (threadIdx.x + 7) % w];
    GROUP_SYNC;
  }
}
__global__ void thread_pipe(const int* x, int* y, int n) {
  __shared__ int s[3][96];
  auto pipe = cuda::make_pipeline();
  const int t = threadIdx.x, k = n / 96;
  for (int i = 0, f = 0; i < k; ++i) {
    for (; f < k && f < i + 2; ++f) {
      pipe.producer_acquire();
      cuda::memcpy_async(&s[f % 3][t], &x[f * 96 + t], sizeof(int), pipe);
      pipe.producer_commit();
    }
    PIPE_WAIT;
    __syncthreads();
    y[i * 96 + t] = 3 * s[i % 3][(t + 7) % 96];
    pipe.consumer_release();
  }
}
__global__ void block_pipe(const int* x, int* y, int n) {
  constexpr int STAGES = 3;
  extern __shared__ int s[];
  auto block = cg::this_thread_block();
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope::thread_scope_block, STAGES> state;
  auto pipe = cuda::make_pipeline(block, &state);
  const int w = block.size(), k = n / w;
  for (int i = 0, f = 0; i < k; ++i) {
    for (; f < k && f < i + STAGES; ++f) {
      pipe.producer_acquire();
      cuda::memcpy_async(block, s + f % STAGES * w, x + f * w, sizeof(int) * w, pipe);
      pipe.producer_commit();
    }
    PIPE_WAIT;
    y[i * w + threadIdx.x] = 3 * s[i % STAGES * w + (threadIdx.x + 7) % w];
    PIPE_RELEASE;
  }
}
__global__ void roles(const int* x, int* y, int n) {  // the last warp copies
  extern __shared__ int s[];
  auto block = cg::this_thread_block();
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  const bool producer = threadIdx.x >= 96;
  auto pipe = cuda::make_pipeline(block, &state, producer ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer);
  for (int i = 0; i < n / 96; ++i) {
    if (producer) {
      pipe.producer_acquire();
      for (int j = threadIdx.x - 96; j < 96; j += 32) cuda::memcpy_async(&s[i % 2 * 96 + j], &x[i * 96 + j], sizeof(int), pipe);
      pipe.producer_commit();
    } else {
      PIPE_WAIT;
      y[i * 96 + threadIdx.x] = 3 * s[i % 2 * 96 + (threadIdx.x + 7) % 96];
      PIPE_RELEASE;
    }
  }
}
__global__ void barrier(const int* x, int* y, int n) {
  __shared__ alignas(16) int s[96];
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  if (threadIdx.x == 0) init(&bar, blockDim.x);
  __syncthreads();
  for (int i = 0; i < n / 96; ++i) {
    if (threadIdx.x < 24) __pipeline_memcpy_async(&s[4 * threadIdx.x], &x[i * 96 + 4 * threadIdx.x], 16);
    __pipeline_arrive_on(&bar);
    BARRIER;
    y[i * 96 + threadIdx.x] = 3 * s[(threadIdx.x + 7) % 96];
    __syncthreads();
  }
}
"""
LIBRARY_RIGHT = {
    "PRIOR": "cg::wait_prior<1>(block)",
    "GROUP_SYNC": "block.sync()",
    "PIPE_WAIT": "pipe.consumer_wait()",
    "PIPE_RELEASE": "pipe.consumer_release()",
    "BARRIER": "bar.arrive_and_wait()",
}


def run(entry: str, seed: int = 0, policy: str = "random", **broken: str):
    source, right = (PTX, PTX_RIGHT) if entry == "copy" else (LIBRARY, LIBRARY_RIGHT)
    kernel = load_source_kernel(source, entry, defines={**right, **broken})
    x, y = np.arange(5, 5 + N, dtype=np.int32) ** 2, np.full(N, -1, np.int32)
    threads = 128 if entry == "roles" else WIDTH
    report = kernel(1, threads, [x, y, N], shared=3 * 4 * WIDTH, raises=False, seed=seed, policy=policy, timeout=20)
    if entry == "copy":
        x[7] = 0  # of zero bytes: filled with zeros
    right_result = np.array_equal(y, 3 * np.roll(x.reshape(-1, WIDTH), -7, axis=1).ravel())
    return {f.rule for f in report.findings}, right_result


@pytest.mark.parametrize("entry", ["copy", "groups", "thread_pipe", "block_pipe", "roles", "barrier"])
def test_right_kernels_are_clean(entry):
    for seed, policy in enumerate(POLICIES):
        assert run(entry, seed, policy) == (set(), True), policy


@pytest.mark.parametrize(
    ("entry", "broken", "rule"),
    [
        ("copy", {"WAIT_ONE": "(void)0"}, "read-after-write"),
        ("copy", {"WAIT_ONE": 'asm volatile("cp.async.wait_group 2;")'}, "read-after-write"),
        ("copy", {"COMMIT": "(void)0"}, "read-after-write"),
        ("copy", {"READY": "(void)0"}, "read-after-write"),
        ("copy", {"FREE": "(void)0"}, "write-after-read"),
        ("groups", {"PRIOR": "block.sync()"}, "read-after-write"),
        ("groups", {"GROUP_SYNC": "(void)0"}, "write-after-read"),
        ("thread_pipe", {"PIPE_WAIT": "(void)0"}, "read-after-write"),
        ("thread_pipe", {"PIPE_WAIT": "cuda::pipeline_consumer_wait_prior<2>(pipe)"}, "read-after-write"),
        ("block_pipe", {"PIPE_WAIT": "(void)0"}, "read-after-write"),
        ("block_pipe", {"PIPE_RELEASE": "(void)0"}, "deadlock"),
        ("roles", {"PIPE_WAIT": "(void)0"}, "read-after-write"),
        ("barrier", {"BARRIER": "bar.arrive()"}, "read-after-write"),
        ("barrier", {"BARRIER": "__syncthreads()"}, "read-after-write"),
    ],
)
def test_each_break_is_reported_in_every_run(entry, broken, rule):
    for seed, policy in enumerate(POLICIES):
        assert rule in run(entry, seed, policy, **broken)[0], policy


def one_copy(body: str, n: int = 64, **options):
    source = (
        "#include <cuda_pipeline.h>\n__global__ void f(const float* x, float* y) {\n"
        f"  __shared__ alignas(16) float s[64];\n  {body}\n}}\n"
    )
    x, y = np.arange(n, dtype=np.float32), np.zeros(n, np.float32)
    return load_source_kernel(source)(1, 32, [x, y], raises=False, **options)


def test_a_copy_in_flight_at_exit_is_reported_under_every_policy():
    for policy in POLICIES:
        report = one_copy("__pipeline_memcpy_async(&s[threadIdx.x], &x[threadIdx.x], 4);", policy=policy)
        assert {f.rule for f in report.findings} == {"exit-before-load"}
        assert "cp.async copy (source.cu:4)" in report.findings[0].message


@pytest.mark.parametrize(
    ("body", "rule"),
    [
        ("__pipeline_memcpy_async(&s[threadIdx.x], &x[threadIdx.x], 16);", "misaligned"),
        ("__pipeline_memcpy_async(&s[0], &x[0], 12);", "async-copy-size"),
        ("__pipeline_memcpy_async(&y[0], &x[0], 16);", "async-copy-target"),
        ("__pipeline_memcpy_async(&s[0], &s[4], 16);", "async-copy-source"),
        ("__pipeline_memcpy_async(&s[0], x + 2 * blockDim.x, 16);", "out-of-bounds"),
        ("__pipeline_memcpy_async(s + 2 * blockDim.x, x, 16);", "out-of-bounds"),
    ],
)
def test_what_the_instruction_cannot_do(body, rule):
    report = one_copy(body + " __pipeline_commit(); __pipeline_wait_prior(0);")
    assert rule in {f.rule for f in report.findings}
    assert report.findings[-1].places[0].line == 4


def test_a_source_that_is_overwritten_while_the_copy_reads_it():
    body = "__pipeline_memcpy_async(&s[threadIdx.x], &y[threadIdx.x], 4); y[threadIdx.x] = 1; __pipeline_commit(); __pipeline_wait_prior(0);"
    for policy in POLICIES:
        assert {f.rule for f in one_copy(body, policy=policy).findings} == {"write-after-read"}
