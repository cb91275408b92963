// barrier_cost.cu - what it costs a block to meet once a round: __syncthreads, or an mbarrier in two ways.
//
// Each round one warp, the next one in turn, is late: its threads take `slow` steps of their own, and its lane 0 writes a word to shared
// memory. The block meets. Every thread takes `work` steps that need nothing of the others, and adds the late warp's word. y[thread] is
// what comes of x[thread] after `rounds` rounds; cycles[block] the SM's clock cycles that they took.
// Launch: a multiple of 32 threads, one block is enough. -DMEETING=0: __syncthreads; 1: an mbarrier at which every thread arrives;
// 2: an mbarrier at which each warp arrives once, after __syncwarp.
// Invariants:
//   - with __syncthreads nothing stands between arriving and waiting, so `work` comes after it; with an mbarrier it comes in between;
//   - the word has two places, used in turn: a thread that writes the next but one has passed a meeting at which all had read this one;
//   - round i waits for parity i % 2: nobody can be two phases late, since each phase needs everybody's arrival.
#include "hopper.cuh"

#ifndef MEETING
#define MEETING 0
#endif

struct Smem {
  uint32_t word[2];
  mbarrier met;
};

// `count` steps, each of which needs the one before.
HOPPER_FN uint32_t steps(uint32_t v, int count) {
#pragma unroll 1
  for (int i = 0; i < count; ++i) v = v * 1664525u + 1013904223u;
  return v;
}

extern "C" __global__ void __launch_bounds__(1024)
barrier_cost(const uint32_t* x, uint32_t* y, uint32_t* cycles, int rounds, int slow, int work) {
  DYNAMIC_SHARED(Smem, sm);
  const int warps = blockDim.x / 32, warp = threadIdx.x / 32, lane = threadIdx.x % 32, thread = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x == 0) {
    mbarrier_init(&sm.met, MEETING == 2 ? warps : (int)blockDim.x, "MET");
    fence_mbarrier_init();
  }
  __syncthreads();
  uint32_t v = x[thread];
  int late = 0;
  const long long began = clock64();
#pragma unroll 1
  for (int i = 0; i < rounds; ++i) {
    if (warp == late) {
      v = steps(v, slow);
      if (lane == 0) sm.word[i % 2] = v;
    }
    late = late + 1 == warps ? 0 : late + 1;
    if (MEETING == 0) {
      __syncthreads();
      v = steps(v, work);
    } else {
      if (MEETING == 2) __syncwarp();
      if (MEETING == 1 || lane == 0) mbarrier_arrive(&sm.met);
      v = steps(v, work);
      mbarrier_wait(&sm.met, i % 2);
    }
    v += sm.word[i % 2];
  }
  if (threadIdx.x == 0) cycles[blockIdx.x] = (uint32_t)(clock64() - began);
  y[thread] = v;
}
