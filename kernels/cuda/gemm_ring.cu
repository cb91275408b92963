// gemm_ring.cu - rung 4: a ring of stages, so that copies run ahead of the matrix unit.
//
// Computes D = A B^T.
// Launch: 256 threads (two warpgroups), one block a 128 x 256 tile of D; x runs along N. Warpgroup w computes rows 64 w..64 w + 63.
// Invariants:
//   - thread 0 refills a stage only after both warpgroups released it (EMPTY, two arrivals);
//   - a warpgroup reads a stage only after both boxes landed (FULL), and releases it only after its wgmmas on it are done;
//   - k-block k uses stage k mod STAGES in lap k div STAGES, whose lowest bit is the parity of both waits.
// Thread 0 computes too: while it waits for EMPTY, its warpgroup issues nothing. The next rung gives that wait to other warps.
#include "gemm.cuh"

#ifndef STAGES
#define STAGES 4
#endif
constexpr int TILE_M = 128, TILE_N = 256, CONSUMERS = 2;
using Smem = Ring<TILE_M, TILE_N, STAGES>;

extern "C" __global__ void __launch_bounds__(CONSUMERS * WARPGROUP, 1)
gemm_ring(const __grid_constant__ TensorMap map_a, const __grid_constant__ TensorMap map_b, OUT* D, int M, int N, int K, int ldd) {
  DYNAMIC_SHARED(Smem, ring);
  const int m = blockIdx.y * TILE_M, n = blockIdx.x * TILE_N;
  const int row = warpgroup_index() * 64, k_blocks = ceil_div(K, TILE_K);
  if (threadIdx.x == 0) init_ring(ring, CONSUMERS);
  __syncthreads();

  RingState<STAGES> load, use;
  int loaded = 0;
  if (threadIdx.x == 0)  // the prologue fills the ring
    for (; loaded < k_blocks && loaded < STAGES; ++loaded) load_stage(ring, load, map_a, map_b, m, n, loaded);

  auto release = [&](int stage) {
    if (threadIdx.x % WARPGROUP == 0) mbarrier_arrive(&ring.empty[stage]);
  };
  float d[1][TILE_N / 2];
  int previous = 0;
  for (int k = 0; k < k_blocks; ++k) {
    if (!BUGGY(no_full_wait)) mbarrier_wait(&ring.full[use.stage], use.parity);
    multiply_stage(d, ring, use.stage, row, k > 0);
    if (BUGGY(empty_before_wgmma_wait)) release(use.stage);
    if (k > 0) {  // block k runs; block k - 1 is done, its stage takes the next load
      if (!BUGGY(empty_before_wgmma_wait)) {
        wgmma_wait<1>();
        release(previous);
      }
      if (threadIdx.x == 0 && loaded < k_blocks) load_stage(ring, load, map_a, map_b, m, n, loaded++);
      __syncwarp();  // wgmma is for whole warps: lane 0 may have waited
    }
    previous = use.stage;
    use.advance();
  }
  wgmma_wait<0>();
  wgmma_keep(d[0]);
  store_accumulators(D, ldd, M, m + row, n, d[0]);
}
