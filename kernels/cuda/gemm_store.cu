// gemm_store.cu - rung 9: the tile leaves through shared memory and the copy engine.
//
// Computes D = A B^T.
// Launch: as gemm_cluster: clusters of 2 blocks of 384 threads, at most SMs / 2 clusters. map_d: boxes of 64 rows x 128 bytes,
// 128-byte swizzle.
// Invariants, beside those of gemm_cluster:
//   - who wrote a chunk makes it visible to the copy engine (fence_proxy_async) before the barrier, after which one thread stores
//     it; before that barrier the same thread sees to it that the buffer of the next chunk has been read (tile_store.cuh);
//   - the two consumers have buffers and barriers of their own and never wait for each other outside the ring, so that one may
//     multiply while the other stores;
//   - no block exits before its buffers have been read.
#include "tile_store.cuh"

#ifndef STAGES
#define STAGES 3
#endif
#ifndef BUFFERS
#define BUFFERS 4
#endif
#ifndef BAND
#define BAND 8
#endif
constexpr int TILE_M = 128, TILE_N = 256, CONSUMERS = 2, CLUSTER = 2;
constexpr int PRODUCER_REGISTERS = 24, CONSUMER_REGISTERS = 240;

struct Smem {
  Ring<TILE_M, TILE_N, STAGES> ring;
  alignas(1024) Chunk chunks[CONSUMERS][BUFFERS];
};

extern "C" __global__ void __cluster_dims__(CLUSTER, 1, 1) REGISTER_CAP((1 + CONSUMERS) * WARPGROUP, 1)
gemm_store(const __grid_constant__ TensorMap map_a, const __grid_constant__ TensorMap map_b, const __grid_constant__ TensorMap map_d,
           int M, int N, int K) {
  DYNAMIC_SHARED(Smem, sm);
  const int patches_m = ceil_div(M, CLUSTER * TILE_M), tiles_n = ceil_div(N, TILE_N), patches = patches_m * tiles_n;
  const int first = blockIdx.x / CLUSTER, clusters = gridDim.x / CLUSTER, rank = cluster_rank();
  const int k_blocks = ceil_div(K, TILE_K), warpgroup = warpgroup_index();
  if (threadIdx.x == 0) {
    tma_prefetch(&map_a);
    tma_prefetch(&map_b);
    tma_prefetch(&map_d);
    init_ring(sm.ring, CONSUMERS * CLUSTER);
  }
  cluster_sync();

  RingState<STAGES> state;
  if (warpgroup == 0) {
    reg_dec<PRODUCER_REGISTERS>();
    if (threadIdx.x == 0)
      for (int i = first; i < patches; i += clusters) {
        const Tile patch = tile_at(i, patches_m, tiles_n, BAND);
        const int m = (patch.m * CLUSTER + rank) * TILE_M, n = patch.n * TILE_N;
        for (int k = 0; k < k_blocks; ++k) load_stage_multicast<CLUSTER>(sm.ring, state, map_a, map_b, m, n, k);
      }
    __syncwarp();
  } else {
    reg_inc<CONSUMER_REGISTERS>();
    const int consumer = warpgroup - 1;
    auto release = [&](int stage) { release_to_cluster<CLUSTER>(sm.ring, stage); };
    float d[1][TILE_N / 2];
    for (int i = first; i < patches; i += clusters) {
      const Tile patch = tile_at(i, patches_m, tiles_n, BAND);
      const int m = (patch.m * CLUSTER + rank) * TILE_M + consumer * 64, n = patch.n * TILE_N;
      const int last = multiply_tile(d, sm.ring, state, consumer * 64, k_blocks, release);
      finish_tile(d, last, release);
      store_tile(map_d, sm.chunks[consumer], 1 + consumer, m, n, d[0]);
    }
    finish_stores();
  }
  cluster_sync();
}
