// gemm_warp_specialized.cu - rung 5: one warpgroup copies, another multiplies.
//
// Computes D = A B^T.
// Launch: 256 threads, one block a 128 x 128 tile of D; x runs along N. Warpgroup 0 is the producer (one of its threads works),
// warpgroup 1 the consumer. Two blocks share an SM: while one stores its tile, the other multiplies.
// Invariants:
//   - producer and consumer meet only at FULL (the bytes landed) and EMPTY (the consumer's wgmmas are done);
//   - setmaxnreg moves registers within the block's pool: 256 threads start with the 128 each that the launch bound leaves for
//     two blocks an SM; 40 + 216 = 2 * 128;
//   - each role is one branch of one if/else, entered by whole warpgroups.
#include "gemm.cuh"

#ifndef STAGES
#define STAGES 3
#endif
constexpr int TILE_M = 128, TILE_N = 128;
constexpr int PRODUCER_REGISTERS = 40, CONSUMER_REGISTERS = 216;
using Smem = Ring<TILE_M, TILE_N, STAGES>;

extern "C" __global__ void REGISTER_CAP(2 * WARPGROUP, 2)
gemm_warp_specialized(const __grid_constant__ TensorMap map_a, const __grid_constant__ TensorMap map_b, OUT* D, int M, int N, int K,
                      int ldd) {
  DYNAMIC_SHARED(Smem, ring);
  const int m = blockIdx.y * TILE_M, n = blockIdx.x * TILE_N;
  const int k_blocks = ceil_div(K, TILE_K);
  if (threadIdx.x == 0) init_ring(ring, 1);
  __syncthreads();

  RingState<STAGES> state;
  if (warpgroup_index() == 0) {
    reg_dec<PRODUCER_REGISTERS>();
    if (threadIdx.x == 0)
      for (int k = 0; k < k_blocks; ++k) load_stage(ring, state, map_a, map_b, m, n, k);
  } else {
    reg_inc<CONSUMER_REGISTERS>();
    auto release = [&](int stage) {
      if (threadIdx.x % WARPGROUP == 0) mbarrier_arrive(&ring.empty[stage]);
    };
    float d[2][TILE_N / 2];
    const int last = multiply_tile(d, ring, state, 0, k_blocks, release);
    finish_tile(d, last, release);
    store_accumulators(D, ldd, M, m, n, d[0]);
    store_accumulators(D, ldd, M, m + 64, n, d[1]);
  }
}
