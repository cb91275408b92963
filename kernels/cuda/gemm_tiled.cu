// gemm_tiled.cu - rung 2: tiles in shared memory, on the CUDA cores.
//
// Computes D = A B^T. A and B have rows of lda and ldb elements, padded with zeros to a multiple of 8, 16-byte aligned.
// Launch: 256 threads, one block a 128 x 128 tile of D; x runs along N. A thread owns 8 x 8 elements of D.
// Invariants:
//   - per block and k-step of 16 the tiles are read from global memory once and from shared memory 16 times;
//   - two barriers a step: after the stores (everybody sees the tiles) and after the loads (nobody reads them any more);
//   - tiles are kept as float and K-major lines of 128 values, so that a thread's 8 values are two 16-byte loads; the lines
//     are 4 values longer than the tile, so that the transposing stores meet few bank conflicts.
#include "gemm.cuh"

constexpr int TILE = 128, STEP = 16, PER_THREAD = 8, LINE = TILE + 4;
struct alignas(16) Float4 { float v[4]; };

// One thread's share of a tile: 8 neighbours along K of one row, from global memory (zeros outside) to column `row`.
HOPPER_FN void load_share(float (&tile)[STEP][LINE], const bf16* rows, int ld, int row, int row_count, int first_row, int k) {
  const int chunk = threadIdx.x % 2 * 8;
  union { vec128 bits; bf16 element[8]; } share = {};
  if (first_row + row < row_count && k + chunk < ld) share.bits = load128(rows + (int64_t)(first_row + row) * ld + k + chunk);
#pragma unroll
  for (int i = 0; i < 8; ++i) tile[chunk + i][row] = to_float(share.element[i]);
}

HOPPER_FN void load_line(float (&values)[PER_THREAD], const float* line) {
#pragma unroll
  for (int i = 0; i < PER_THREAD; i += 4) {
    const Float4 four = *reinterpret_cast<const Float4*>(line + i);
#pragma unroll
    for (int j = 0; j < 4; ++j) values[i + j] = four.v[j];
  }
}

extern "C" __global__ void __launch_bounds__(256)
gemm_tiled(const bf16* A, const bf16* B, OUT* D, int M, int N, int K, int lda, int ldb, int ldd) {
  SHARED(float, a_tile, [STEP][LINE]);
  SHARED(float, b_tile, [STEP][LINE]);
  const int m = blockIdx.y * TILE, n = blockIdx.x * TILE;
  const int my_m = threadIdx.x / 16 * PER_THREAD, my_n = threadIdx.x % 16 * PER_THREAD;

  float d[PER_THREAD][PER_THREAD] = {};
  for (int k = 0; k < K; k += STEP) {
    load_share(a_tile, A, lda, threadIdx.x / 2, M, m, k);
    load_share(b_tile, B, ldb, threadIdx.x / 2, N, n, k);
    __syncthreads();
#pragma unroll
    for (int step = 0; step < STEP; ++step) {
      float a[PER_THREAD], b[PER_THREAD];
      load_line(a, &a_tile[step][my_m]);
      load_line(b, &b_tile[step][my_n]);
#pragma unroll
      for (int i = 0; i < PER_THREAD; ++i)
#pragma unroll
        for (int j = 0; j < PER_THREAD; ++j) d[i][j] += a[i] * b[j];
    }
    __syncthreads();
  }

#pragma unroll
  for (int i = 0; i < PER_THREAD; ++i) {
    if (m + my_m + i >= M) break;
    OUT* line = D + (int64_t)(m + my_m + i) * ldd + n + my_n;
#pragma unroll
    for (int j = 0; j < PER_THREAD; j += 2)
      if (n + my_n + j < ldd) store_pair(line + j, d[i][j], d[i][j + 1]);
  }
}
