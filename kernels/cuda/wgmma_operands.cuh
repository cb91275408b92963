// wgmma_operands.cuh - operands of one warpgroup's wgmma, brought by ordinary loads: for kernels that show the instruction itself.
#pragma once
#include "hopper.cuh"

constexpr int ROW_BYTES = 128;  // of a tile: one line of the 128-byte swizzle
constexpr int STEP_BYTES = 32;  // what one wgmma takes of K: 256 bits, whatever the type

// `rows` rows of x from its byte column `byte0`, by all threads of the block, into a swizzled tile. row_bytes: a whole row of x. The caller
// fences towards the async proxy and has a barrier before the tile is used.
HOPPER_FN void fill_tile(uint8_t* tile, const uint8_t* x, int rows, uint64_t row_bytes, uint64_t byte0) {
  for (int i = threadIdx.x; i < rows * (ROW_BYTES / 16); i += blockDim.x) {
    const int row = i / (ROW_BYTES / 16), byte = i % (ROW_BYTES / 16) * 16;
    store128(tile + swizzled_offset<128>(row, byte), load128(x + row * row_bytes + byte0 + byte));
  }
}

// This thread's A fragment of one wgmma from global memory: r[i] holds 4 bytes at row 16 * warp + lane / 4 (+8 for odd i) and byte
// 4 * (lane % 4) (+16 for i >= 2) of the step.
HOPPER_FN void load_a_fragment(uint32_t (&r)[4], const uint8_t* x, uint64_t row_bytes, uint64_t byte0) {
  const int warp = threadIdx.x % 128 / 32, lane = threadIdx.x % 32;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int row = 16 * warp + lane / 4 + i % 2 * 8, byte = lane % 4 * 4 + i / 2 * 16;
    r[i] = *reinterpret_cast<const uint32_t*>(x + row * row_bytes + byte0 + byte);
  }
}
