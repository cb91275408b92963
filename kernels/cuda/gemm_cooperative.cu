// gemm_cooperative.cu - rung 6: two consumers share one large tile.
//
// Computes D = A B^T.
// Launch: 384 threads, one block a 128 x 256 tile of D, one block an SM; x runs along N. Warpgroup 0 is the producer,
// warpgroups 1 and 2 are consumers: each multiplies its own 64 rows of A by the whole of B.
// Invariants:
//   - the tile has 85 FLOP per byte loaded where 128 x 128 has 64; 128 x 256 sums need 256 registers a thread in one
//     warpgroup, which no thread has, and 128 in two. The two never add their sums: each owns its rows;
//   - EMPTY needs both consumers (two arrivals);
//   - 24 + 2 * 240 = 3 * 168, the launch bound's share of 65,536 registers for 384 threads.
#include "gemm.cuh"

#ifndef STAGES
#define STAGES 4
#endif
constexpr int TILE_M = 128, TILE_N = 256, CONSUMERS = 2;
constexpr int PRODUCER_REGISTERS = 24, CONSUMER_REGISTERS = 240;
using Smem = Ring<TILE_M, TILE_N, STAGES>;

extern "C" __global__ void REGISTER_CAP((1 + CONSUMERS) * WARPGROUP, 1)
gemm_cooperative(const __grid_constant__ TensorMap map_a, const __grid_constant__ TensorMap map_b, OUT* D, int M, int N, int K,
                 int ldd) {
  DYNAMIC_SHARED(Smem, ring);
  const int m = blockIdx.y * TILE_M, n = blockIdx.x * TILE_N;
  const int k_blocks = ceil_div(K, TILE_K), warpgroup = warpgroup_index();
  if (threadIdx.x == 0) init_ring(ring, CONSUMERS);
  __syncthreads();

  RingState<STAGES> state;
  if (warpgroup == 0) {
    reg_dec<PRODUCER_REGISTERS>();
    if (threadIdx.x == 0)
      for (int k = 0; k < k_blocks; ++k) load_stage(ring, state, map_a, map_b, m, n, k);
  } else {
    reg_inc<CONSUMER_REGISTERS>();
    const int row = (warpgroup - 1) * 64;
    auto release = [&](int stage) {
      if (threadIdx.x % WARPGROUP == 0) mbarrier_arrive(&ring.empty[stage]);
    };
    float d[1][TILE_N / 2];
    const int last = multiply_tile(d, ring, state, row, k_blocks, release);
    finish_tile(d, last, release);
    store_accumulators(D, ldd, M, m + row, n, d[0]);
  }
}
