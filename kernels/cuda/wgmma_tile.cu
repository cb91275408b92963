// wgmma_tile.cu - one 64 x TILE_N tile of D = A B^T by one warpgroup, and which thread holds which element.
//
// A is (64, K), B is (TILE_N, K), K-major, of type T (bf16, fp16, tf32, e4m3); K is a multiple of 128 bytes. d is (64, TILE_N) fp32, row-major.
// fragments is (128, TILE_N / 2): register r of thread t, untouched by any idea of where it belongs.
// Launch: 128 threads, one block. -DA_FROM_REGISTERS=1: A is loaded into registers (RS), otherwise it is in shared memory (SS).
// Invariants:
//   - operands reach shared memory by ordinary stores, so each writer fences towards the async proxy before the barrier;
//   - one k-block of 128 bytes a row is in shared memory at a time: four wgmmas of 256 bits each, one group;
//   - neither accumulators nor A registers nor the tiles are touched before wgmma_wait.
#include "wgmma_operands.cuh"
#include "bugs.cuh"

#ifndef T
#define T bf16
#endif
#ifndef TILE_N
#define TILE_N 128
#endif
#ifndef A_FROM_REGISTERS
#define A_FROM_REGISTERS 0
#endif
constexpr int TILE_M = 64, THREADS = 128, REGISTERS = TILE_N / 2, STEPS = ROW_BYTES / STEP_BYTES;

struct Smem {
  uint8_t a[TILE_M * ROW_BYTES];
  uint8_t b[TILE_N * ROW_BYTES];
};
struct Coordinates { int row, column; };

extern "C" __global__ void __launch_bounds__(THREADS) wgmma_tile(const T* a, const T* b, float* d, float* fragments, int k) {
  DYNAMIC_SHARED(Smem, sm);
  const uint64_t row_bytes = (uint64_t)k * sizeof(T);
  const uint8_t *a_bytes = (const uint8_t*)a, *b_bytes = (const uint8_t*)b;
  const int t = threadIdx.x;
  float acc[REGISTERS];
  for (uint64_t byte0 = 0; byte0 < row_bytes; byte0 += ROW_BYTES) {
    __syncthreads();  // everybody's wgmma is done with the last block
    if (!A_FROM_REGISTERS) fill_tile(sm.a, a_bytes, TILE_M, row_bytes, byte0);
    fill_tile(sm.b, b_bytes, TILE_N, row_bytes, byte0);
    if (!BUGGY(no_proxy_fence)) fence_proxy_async();
    __syncthreads();

    uint32_t fragment[STEPS][4];
    if (A_FROM_REGISTERS)
#pragma unroll
      for (int s = 0; s < STEPS; ++s) load_a_fragment(fragment[s], a_bytes, row_bytes, byte0 + s * STEP_BYTES);
    wgmma_fence();
#pragma unroll
    for (int s = 0; s < STEPS; ++s) {
      const uint64_t desc_b = desc_advance(desc_k_major<128>(sm.b), s * STEP_BYTES);
      const int accumulate = byte0 > 0 || s > 0;
      if (A_FROM_REGISTERS) wgmma_rs<TILE_N, T>(acc, fragment[s], desc_b, accumulate);
      else wgmma_ss<TILE_N, T>(acc, desc_advance(desc_k_major<128>(sm.a), s * STEP_BYTES), desc_b, accumulate);
    }
    wgmma_commit();
    if (!BUGGY(read_before_wgmma_wait) || byte0 + ROW_BYTES < row_bytes) wgmma_wait<0>();
  }
  wgmma_keep(acc);
#pragma unroll
  for (int r = 0; r < REGISTERS; ++r) {
    // CHALLENGE-BEGIN: row and column of D that register r of thread t holds
    const Coordinates at = {16 * (t / 32) + t % 32 / 4 + 8 * (r / 2 % 2), 8 * (r / 4) + 2 * (t % 4) + r % 2};
    // CHALLENGE-END
    d[at.row * TILE_N + at.column] = acc[r];
    fragments[t * REGISTERS + r] = acc[r];
  }
}
