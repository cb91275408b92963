// gemm_wgmma.cu - rung 3: the copy engine fills shared memory, the matrix unit reads it; one stage.
//
// Computes D = A B^T.
// Launch: 128 threads (one warpgroup), one block a 128 x 128 tile of D; x runs along N. Boxes of 128 x 64, 128-byte swizzle.
// Invariants:
//   - FULL completes phase k when one thread has arrived and both boxes of k-block k have landed; everybody waits for it;
//   - with one stage the parity flips every k-block;
//   - the next load starts only after all warps passed wgmma_wait<0> and the barrier, so it never overwrites what the matrix
//     unit reads. Copying and computing alternate; only other blocks on the same SM fill the gaps.
#include "gemm.cuh"

constexpr int TILE_M = 128, TILE_N = 128;

struct Smem {
  bf16 a[TILE_M * TILE_K];
  bf16 b[TILE_N * TILE_K];
  mbarrier full;
};

extern "C" __global__ void __launch_bounds__(WARPGROUP)
gemm_wgmma(const __grid_constant__ TensorMap map_a, const __grid_constant__ TensorMap map_b, OUT* D, int M, int N, int K, int ldd) {
  DYNAMIC_SHARED(Smem, sm);
  const int m = blockIdx.y * TILE_M, n = blockIdx.x * TILE_N;
  if (threadIdx.x == 0) {
    mbarrier_init(&sm.full, 1, "FULL");
    if (!BUGGY(no_mbarrier_init_fence)) fence_mbarrier_init();
  }
  __syncthreads();

  float d[2][TILE_N / 2];  // rows 0-63 and 64-127 of the tile
  uint32_t parity = 0;
  for (int k = 0; k < K; k += TILE_K) {
    if (threadIdx.x == 0) {
      mbarrier_arrive_expect_tx(&sm.full, sizeof(sm.a) + sizeof(sm.b) - (BUGGY(wrong_expect_tx) ? ROW_BYTES : 0));
      tma_load_2d(sm.a, &map_a, k, m, &sm.full);
      tma_load_2d(sm.b, &map_b, k, n, &sm.full);
    }
    if (!BUGGY(no_full_wait)) mbarrier_wait(&sm.full, parity);
    if (!BUGGY(no_phase_bit)) parity ^= 1;

    wgmma_fence();
#pragma unroll
    for (int step = 0; step < TILE_K; step += WGMMA_K)
#pragma unroll
      for (int half = 0; half < 2; ++half)
        wgmma_ss<TILE_N, bf16>(d[half], desc_advance(desc_k_major<128>(sm.a + half * 64 * TILE_K), step * 2),
                               desc_advance(desc_k_major<128>(sm.b), step * 2), k + step > 0);
    wgmma_commit();
    wgmma_wait<0>();
    __syncthreads();
  }
  store_accumulators(D, ldd, M, m, n, d[0]);
  store_accumulators(D, ldd, M, m + 64, n, d[1]);
}
