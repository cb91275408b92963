// transpose.cu - D = A^T through shared memory: what the 128-byte swizzle is for.
//
// A is (M, N) fp32, D is (N, M) with rows of ldd elements. A tile of 64 rows x 32 columns comes by the copy engine, one row after the
// other in 128-byte lines, with the 128-byte swizzle (-DSWIZZLE=128) or without (0); it is read down its columns and stored in rows of D.
//   READ 4    a warp reads 32 rows of one column, 4 bytes a lane: all lanes in one bank without swizzle (32-way), 8 of 32 banks with (4-way)
//   READ 16   a warp reads 32 rows of four columns, 16 bytes a lane, 8 lanes at a time: one chunk of four banks without swizzle (8-way),
//             eight different ones with it (no conflict)
// Launch: 256 threads, one block a tile; x runs along N.
// Invariants: both READs store the same 128-byte pieces of D; the tile starts at a multiple of 1024 bytes.
#include "hopper.cuh"
#include "bugs.cuh"

#ifndef SWIZZLE
#define SWIZZLE 128
#endif
#ifndef READ
#define READ 16
#endif
constexpr int ROWS = 64, COLUMNS = 32, ROW_BYTES = COLUMNS * sizeof(float), THREADS = 256;
constexpr uint32_t BOX_BYTES = ROWS * ROW_BYTES;

struct Smem {
  uint8_t tile[BOX_BYTES];
  mbarrier full;
};

// Where byte `byte` of row `row` of the tile lies.
HOPPER_FN uint32_t tile_offset(uint32_t row, uint32_t byte) {
  if (SWIZZLE == 0 || BUGGY(no_swizzle)) return row * ROW_BYTES + byte;
  // CHALLENGE-BEGIN: where byte `byte` of row `row` lies in a tile with the 128-byte swizzle
  const uint32_t offset = row * ROW_BYTES + (byte ^ row % 8 * 16);
  // CHALLENGE-END
  return offset;
}

extern "C" __global__ void __launch_bounds__(THREADS)
transpose(const __grid_constant__ TensorMap map_a, float* D, int M, int N, int ldd) {
  DYNAMIC_SHARED(Smem, sm);
  const int m = blockIdx.y * ROWS, n = blockIdx.x * COLUMNS, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (threadIdx.x == 0) {
    mbarrier_init(&sm.full, 1, "FULL");
    fence_mbarrier_init();
    mbarrier_arrive_expect_tx(&sm.full, BOX_BYTES - (BUGGY(wrong_expect_tx) ? ROW_BYTES : 0));
    tma_load_2d(sm.tile, &map_a, n, m, &sm.full);
  }
  __syncthreads();
  if (!BUGGY(no_full_wait)) mbarrier_wait(&sm.full, 0);

  const int first = 4 * warp;  // this warp's four columns
#pragma unroll
  for (int row = lane; row < ROWS; row += 32) {
    float v[4];
    if (READ == 16) {
      const vec128 word = load128(sm.tile + tile_offset(row, first * 4));
#pragma unroll
      for (int c = 0; c < 4; ++c) v[c] = __uint_as_float(word.w[c]);
    } else {
#pragma unroll
      for (int c = 0; c < 4; ++c) v[c] = *reinterpret_cast<const volatile float*>(sm.tile + tile_offset(row, (first + c) * 4));
    }
#pragma unroll
    for (int c = 0; c < 4; ++c)
      if (m + row < M && n + first + c < N) D[(int64_t)(n + first + c) * ldd + m + row] = v[c];
  }
}
