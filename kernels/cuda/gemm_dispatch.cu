// gemm_dispatch.cu - one GEMM, many tile configurations: what a dispatch table chooses from.
//
// Computes D = A B^T (gemm.cuh says what the arrays are). accumulators, unless null, gets the fp32 accumulators each consumer thread holds.
// Launch: (1 + CONSUMERS) warpgroups, one block a TILE_M x TILE_N tile of D in grouped order; BLOCKS of them share an SM.
// The configuration is -DTILE_M -DTILE_N -DSTAGES -DCONSUMERS -DBLOCKS: shared memory STAGES * (TILE_M + TILE_N) * 128 bytes a block,
// accumulators TILE_M * TILE_N / (128 * CONSUMERS) registers a consumer thread.
// Invariants: TILE_M is a multiple of 64 * CONSUMERS; a consumer owns TILE_M / CONSUMERS rows of the tile, all its columns.
#include "gemm.cuh"

#ifndef TILE_M
#define TILE_M 128
#endif
#ifndef TILE_N
#define TILE_N 128
#endif
#ifndef STAGES
#define STAGES 3
#endif
#ifndef CONSUMERS
#define CONSUMERS 1
#endif
#ifndef BLOCKS
#define BLOCKS 2
#endif
constexpr int BAND = 16;
// What a thread of the block has at launch, 65,536 registers shared out in steps of 8, at most 255; the producer gives its share away.
constexpr int THREADS = (1 + CONSUMERS) * WARPGROUP, SHARE = 65536 / (BLOCKS * THREADS) / 8 * 8, AT_LAUNCH = SHARE < 248 ? SHARE : 248;
constexpr int PRODUCER_REGISTERS = 24, WANTED = (AT_LAUNCH + (AT_LAUNCH - PRODUCER_REGISTERS) / CONSUMERS) / 8 * 8;
constexpr int CONSUMER_REGISTERS = WANTED < 248 ? WANTED : 248;
constexpr bool MOVES_REGISTERS = AT_LAUNCH < 248;  // otherwise every thread has all it can address
using Smem = Ring<TILE_M, TILE_N, STAGES>;

// CHALLENGE-BEGIN: fp32 accumulators that each thread of a consumer warpgroup holds
constexpr int ACCUMULATORS = TILE_M * TILE_N / (CONSUMERS * WARPGROUP);
// CHALLENGE-END
constexpr int SLABS = ACCUMULATORS / (TILE_N / 2);  // 64 rows each

extern "C" __global__ void REGISTER_CAP(THREADS, BLOCKS)
gemm_dispatch(const __grid_constant__ TensorMap map_a, const __grid_constant__ TensorMap map_b, OUT* D, int* accumulators, int M, int N,
              int K, int ldd) {
  DYNAMIC_SHARED(Smem, ring);
  const Tile tile = tile_at(blockIdx.x, ceil_div(M, TILE_M), ceil_div(N, TILE_N), BAND);
  const int m = tile.m * TILE_M, n = tile.n * TILE_N, k_blocks = ceil_div(K, TILE_K), warpgroup = warpgroup_index();
  if (threadIdx.x == 0) init_ring(ring, CONSUMERS);
  __syncthreads();

  RingState<STAGES> state;
  if (warpgroup == 0) {
    if (MOVES_REGISTERS) reg_dec<PRODUCER_REGISTERS>();
    if (threadIdx.x == 0)
      for (int k = 0; k < k_blocks; ++k) load_stage(ring, state, map_a, map_b, m, n, k);
  } else {
    if (MOVES_REGISTERS) reg_inc<CONSUMER_REGISTERS>();
    const int row = (warpgroup - 1) * (TILE_M / CONSUMERS);
    auto release = [&](int stage) {
      if (threadIdx.x % WARPGROUP == 0) mbarrier_arrive(&ring.empty[stage]);
    };
    float d[SLABS][TILE_N / 2];
    const int last = multiply_tile(d, ring, state, row, k_blocks, release);
    finish_tile(d, last, release);
#pragma unroll
    for (int s = 0; s < SLABS; ++s) store_accumulators(D, ldd, M, m + row + 64 * s, n, d[s]);
    if (accumulators != nullptr && blockIdx.x == 0 && threadIdx.x == WARPGROUP) accumulators[0] = sizeof(d) / sizeof(float);
  }
}
