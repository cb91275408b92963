// gemm_pingpong.cu - rung 10, the last: two consumers take turns. While one stores its tile, the other multiplies.
//
// Computes D = A B^T.
// Launch: clusters of 2 blocks of 384 threads, at most SMs / 2 clusters; cluster c computes patches c, c + clusters, ... of the
// grouped order, the two consumer groups of a block alternately. A patch is two tiles below one another, one a block; a tile is
// 128 x TILE_N and belongs to one group (TILE_N accumulators a thread). map_d: boxes of 64 rows x 128 bytes, 128-byte swizzle.
// Invariants, beside those of gemm_cluster and gemm_store:
//   - the ordered barrier (2 turns x 2 groups, one arrival each): mainloops are ordered with mainloops, epilogues with epilogues.
//     A group enters its mainloop when the other has issued its last wgmma, and its epilogue when the other has finished its
//     own. Group 0 goes first: its first waits pass (parity 1);
//   - one ring feeds both, in tile order. A group skips the stages of the other's tile by advancing its state k_blocks further.
//     The mainloop's turn keeps the two from being two laps apart, where one parity bit would name the wrong lap;
//   - a stage is read by one group only, so EMPTY has one arrival from each block of the cluster.
#include "tile_store.cuh"

#ifndef TILE_N
#define TILE_N 128
#endif
#ifndef STAGES
#define STAGES 6
#endif
#ifndef BUFFERS
#define BUFFERS 2
#endif
#ifndef BAND
#define BAND 8
#endif
constexpr int TILE_M = 128, GROUPS = 2, CLUSTER = 2;
constexpr int PRODUCER_REGISTERS = 24, CONSUMER_REGISTERS = 240;
enum { MAINLOOP, EPILOGUE };

struct Smem {
  Ring<TILE_M, TILE_N, STAGES> ring;
  mbarrier turn[2][GROUPS];
  alignas(1024) Chunk chunks[GROUPS][BUFFERS];
};

extern "C" __global__ void __cluster_dims__(CLUSTER, 1, 1) REGISTER_CAP((1 + GROUPS) * WARPGROUP, 1)
gemm_pingpong(const __grid_constant__ TensorMap map_a, const __grid_constant__ TensorMap map_b, const __grid_constant__ TensorMap map_d,
              int M, int N, int K) {
  DYNAMIC_SHARED(Smem, sm);
  const int patches_m = ceil_div(M, CLUSTER * TILE_M), tiles_n = ceil_div(N, TILE_N), patches = patches_m * tiles_n;
  const int first = blockIdx.x / CLUSTER, clusters = gridDim.x / CLUSTER, rank = cluster_rank();
  const int k_blocks = ceil_div(K, TILE_K), warpgroup = warpgroup_index();
  if (threadIdx.x == 0) {
    tma_prefetch(&map_a);
    tma_prefetch(&map_b);
    tma_prefetch(&map_d);
    for (int group = 0; group < GROUPS; ++group) {
      mbarrier_init(&sm.turn[MAINLOOP][group], 1, "MAINLOOP turn", group);
      mbarrier_init(&sm.turn[EPILOGUE][group], 1, "EPILOGUE turn", group);
    }
    init_ring(sm.ring, CLUSTER);
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
    const int group = warpgroup - 1;
    auto release = [&](int stage) { release_to_cluster<CLUSTER>(sm.ring, stage); };
    auto hand_over = [&](int what) {
      if (threadIdx.x % WARPGROUP == 0) mbarrier_arrive(&sm.turn[what][1 - group]);
    };
    uint32_t parity = group == 0;  // of the turns
    state.advance(group * k_blocks);
    float d[TILE_M / 64][TILE_N / 2];
    for (int i = first + group * clusters; i < patches; i += GROUPS * clusters) {
      const Tile patch = tile_at(i, patches_m, tiles_n, BAND);
      const int m = (patch.m * CLUSTER + rank) * TILE_M, n = patch.n * TILE_N;
      if (!BUGGY(no_mainloop_order)) mbarrier_wait(&sm.turn[MAINLOOP][group], parity);
      const int last = multiply_tile(d, sm.ring, state, 0, k_blocks, release);
      hand_over(MAINLOOP);
      finish_tile(d, last, release);

      mbarrier_wait(&sm.turn[EPILOGUE][group], parity);
#pragma unroll
      for (int half = 0; half < TILE_M / 64; ++half)
        store_tile(map_d, sm.chunks[group], 1 + group, m + half * 64, n, d[half]);
      hand_over(EPILOGUE);

      parity ^= 1;
      state.advance(k_blocks);  // past the other group's tile
    }
    finish_stores();
  }
  cluster_sync();
}
