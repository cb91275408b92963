// tile_store.cuh - the epilogue through shared memory: registers -> chunk buffers -> D, by the copy engine.
//
// A warpgroup's 64 x N accumulators go to D in chunks of 64 rows x 128 bytes. One thread stores a chunk with TMA (whole lines,
// clipped at D's edge), asynchronously: the store runs while the next chunk is written and while the next tile is multiplied.
// Chunk buffers have the 128-byte swizzle, so that the 8 rows of an 8x8 matrix lie in different banks.
#pragma once
#include "gemm.cuh"

constexpr int CHUNK_ROWS = 64, CHUNK_ROW_BYTES = 128, CHUNK_COLUMNS = CHUNK_ROW_BYTES / sizeof(OUT);
using Chunk = uint8_t[CHUNK_ROWS * CHUNK_ROW_BYTES];  // 1024-byte aligned

// The accumulators d[0 .. CHUNK_COLUMNS / 2) of each thread to a chunk. bf16: stmatrix writes four 8x8 matrices at once, rows 0-7
// and 8-15 of 16 columns; the lanes give the addresses of their rows. (The pointer argument only names the type.)
HOPPER_FN void write_chunk(const bf16*, Chunk& chunk, const float* d) {
  const int t = threadIdx.x % WARPGROUP, lane = t % 32;
  const int row = t / 32 * 16 + lane % 16;
#pragma unroll
  for (int column = 0; column < CHUNK_COLUMNS; column += 16, d += 8)
    stmatrix_x4(chunk + swizzled_offset<128>(row, (column + lane / 16 * 8) * sizeof(bf16)), pack2<bf16>(d[0], d[1]),
                pack2<bf16>(d[2], d[3]), pack2<bf16>(d[4], d[5]), pack2<bf16>(d[6], d[7]));
}
// float: stmatrix moves 16-bit elements only; each thread stores its pairs.
HOPPER_FN void write_chunk(const float*, Chunk& chunk, const float* d) {
  const int t = threadIdx.x % WARPGROUP;
#pragma unroll
  for (int r = 0; r < CHUNK_COLUMNS / 2; r += 2)
    store_pair(reinterpret_cast<float*>(chunk + swizzled_offset<128>(accumulator_row(t, r), accumulator_column(t, r) * sizeof(float))),
               d[r], d[r + 1]);
}

// By one warpgroup: its accumulators to D at (m, n), through `Buffers` chunk buffers and the named barrier `barrier`, both its own.
// On return the last stores may still read their buffers: finish_stores before the block exits.
template <int Buffers, int Registers>
HOPPER_FN void store_tile(const TensorMap& map_d, Chunk (&buffers)[Buffers], int barrier, int m, int n, const float (&d)[Registers]) {
  constexpr int chunks = 2 * Registers / CHUNK_COLUMNS;
  static_assert(Buffers >= 2, "the next chunk is written while this one is stored");
  static_assert(chunks % Buffers == 0, "every tile starts with buffer 0, which the last tile's last chunk must not use");
  const bool leader = threadIdx.x % WARPGROUP == 0;
#pragma unroll
  for (int c = 0; c < chunks; ++c) {
    Chunk& chunk = buffers[c % Buffers];
    write_chunk(static_cast<OUT*>(nullptr), chunk, d + c * CHUNK_COLUMNS / 2);
    if (!BUGGY(no_proxy_fence)) fence_proxy_async();
    if (leader) tma_store_wait_read<Buffers - 2>();  // the next chunk's buffer has been read
    named_barrier_sync(barrier, WARPGROUP);          // everybody wrote this chunk, and may write the next
    if (leader) {
      tma_store_2d(&map_d, chunk, n + c * CHUNK_COLUMNS, m);
      tma_store_commit();
    }
  }
}

// By the warpgroup, at the end: its buffers have been read, so the block may exit.
HOPPER_FN void finish_stores() {
  if (threadIdx.x % WARPGROUP == 0) tma_store_wait_read<0>();
  __syncwarp();
}
