// gemm_persistent.cu - rung 7: one block an SM for the whole problem, tiles in an order that L2 likes.
//
// Computes D = A B^T.
// Launch: 384 threads, at most one block an SM (as few as finish in the least number of rounds: 4 rounds of 128 blocks rather
// than 3 of 132 and one of 116); block b computes tiles b, b + blocks, b + 2 * blocks, ... of the grouped order.
// Invariants:
//   - the ring lives on across tiles: stage and parity go on where the last tile left them, so the loads of the next tile run
//     while the consumers store this one; barriers are initialised once;
//   - producer and consumers walk the same list of tiles, each computing it for itself: nothing is communicated;
//   - every tile is computed by exactly one block, since tile_at is a bijection.
#include "gemm.cuh"

#ifndef STAGES
#define STAGES 4
#endif
#ifndef BAND
#define BAND 16
#endif
constexpr int TILE_M = 128, TILE_N = 256, CONSUMERS = 2;
constexpr int PRODUCER_REGISTERS = 24, CONSUMER_REGISTERS = 240;
using Smem = Ring<TILE_M, TILE_N, STAGES>;

extern "C" __global__ void REGISTER_CAP((1 + CONSUMERS) * WARPGROUP, 1)
gemm_persistent(const __grid_constant__ TensorMap map_a, const __grid_constant__ TensorMap map_b, OUT* D, int M, int N, int K,
                int ldd) {
  DYNAMIC_SHARED(Smem, ring);
  const int tiles_m = ceil_div(M, TILE_M), tiles_n = ceil_div(N, TILE_N), tiles = tiles_m * tiles_n;
  const int k_blocks = ceil_div(K, TILE_K), warpgroup = warpgroup_index();
  if (threadIdx.x == 0) init_ring(ring, CONSUMERS);
  __syncthreads();

  RingState<STAGES> state;
  if (warpgroup == 0) {
    reg_dec<PRODUCER_REGISTERS>();
    if (threadIdx.x == 0)
      for (int i = blockIdx.x; i < tiles; i += gridDim.x) {
        const Tile tile = tile_at(i, tiles_m, tiles_n, BAND);
        for (int k = 0; k < k_blocks; ++k) load_stage(ring, state, map_a, map_b, tile.m * TILE_M, tile.n * TILE_N, k);
      }
  } else {
    reg_inc<CONSUMER_REGISTERS>();
    const int row = (warpgroup - 1) * 64;
    auto release = [&](int stage) {
      if (threadIdx.x % WARPGROUP == 0) mbarrier_arrive(&ring.empty[stage]);
    };
    float d[1][TILE_N / 2];
    for (int i = blockIdx.x; i < tiles; i += gridDim.x) {
      const Tile tile = tile_at(i, tiles_m, tiles_n, BAND);
      const int last = multiply_tile(d, ring, state, row, k_blocks, release);
      finish_tile(d, last, release);
      store_accumulators(D, ldd, M, tile.m * TILE_M + row, tile.n * TILE_N, d[0]);
    }
  }
}
