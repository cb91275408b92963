// gemm_cluster.cu - rung 8: two blocks share what they both need.
//
// Computes D = A B^T.
// Launch: clusters of 2 blocks of 384 threads, at most SMs / 2 clusters. A cluster computes 256 x 256 patches of D, one at a time:
// its blocks compute the 128 x 256 tiles below one another and need the same B. Each loads one half of it and multicasts it.
// Invariants:
//   - a pair of tiles needs 2 A tiles and 1 B tile from L2 instead of 2 and 2: a third less traffic;
//   - EMPTY has 2 consumers x 2 blocks arrivals: a block may write into the other's stage only when that one's consumers are done;
//   - FULL counts the own A tile and both halves of B. The other block's half may land before this block expects it: the count
//     goes below zero and the phase waits for this block's arrival;
//   - no block exits while the other may still write to its shared memory or arrive at its barriers: cluster_sync at the end.
#include "gemm.cuh"

#ifndef STAGES
#define STAGES 4
#endif
#ifndef BAND
#define BAND 8
#endif
constexpr int TILE_M = 128, TILE_N = 256, CONSUMERS = 2, CLUSTER = 2;
constexpr int PRODUCER_REGISTERS = 24, CONSUMER_REGISTERS = 240;
using Smem = Ring<TILE_M, TILE_N, STAGES>;

extern "C" __global__ void __cluster_dims__(CLUSTER, 1, 1) REGISTER_CAP((1 + CONSUMERS) * WARPGROUP, 1)
gemm_cluster(const __grid_constant__ TensorMap map_a, const __grid_constant__ TensorMap map_b, OUT* D, int M, int N, int K, int ldd) {
  DYNAMIC_SHARED(Smem, ring);
  const int patches_m = ceil_div(M, CLUSTER * TILE_M), tiles_n = ceil_div(N, TILE_N), patches = patches_m * tiles_n;
  const int first = blockIdx.x / CLUSTER, clusters = gridDim.x / CLUSTER, rank = cluster_rank();
  const int k_blocks = ceil_div(K, TILE_K), warpgroup = warpgroup_index();
  if (threadIdx.x == 0) init_ring(ring, CONSUMERS * CLUSTER);
  cluster_sync();

  RingState<STAGES> state;
  if (warpgroup == 0) {
    reg_dec<PRODUCER_REGISTERS>();
    if (threadIdx.x == 0)
      for (int i = first; i < patches; i += clusters) {
        const Tile patch = tile_at(i, patches_m, tiles_n, BAND);
        const int m = (patch.m * CLUSTER + rank) * TILE_M, n = patch.n * TILE_N;
        for (int k = 0; k < k_blocks; ++k) load_stage_multicast<CLUSTER>(ring, state, map_a, map_b, m, n, k);
      }
    __syncwarp();
  } else {
    reg_inc<CONSUMER_REGISTERS>();
    const int row = (warpgroup - 1) * 64;
    auto release = [&](int stage) { release_to_cluster<CLUSTER>(ring, stage); };
    float d[1][TILE_N / 2];
    for (int i = first; i < patches; i += clusters) {
      const Tile patch = tile_at(i, patches_m, tiles_n, BAND);
      const int last = multiply_tile(d, ring, state, row, k_blocks, release);
      finish_tile(d, last, release);
      store_accumulators(D, ldd, M, (patch.m * CLUSTER + rank) * TILE_M + row, patch.n * TILE_N, d[0]);
    }
  }
  cluster_sync();
}
