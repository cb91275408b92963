// tma_tile_copy.cu - a tile in by the copy engine, changed in shared memory by ordinary code, out by the copy engine.
//
// Computes y = scale[m] * x + shift[n], (M, N) fp32, in tiles of 64 rows x 32 columns (128 bytes), 128-byte swizzle both ways. image,
// unless null, gets the bytes of each tile as the copy engine left them in shared memory: tile after tile, 64 x 128 bytes.
// Launch: 128 threads, one block a tile; x runs along N.
// Invariants:
//   - the tile starts at a multiple of 1024 bytes: then the swizzle is a function of row and byte alone;
//   - at the edge the box is filled with zeros and counts its full 8,192 bytes; the store writes what lies inside only;
//   - every thread fences what it stored to shared memory towards the copy engine before the barrier, after which one thread starts
//     the store; the block does not exit before the copy engine has read the tile.
#include "hopper.cuh"
#include "bugs.cuh"

constexpr int ROWS = 64, COLUMNS = 32, ROW_BYTES = COLUMNS * sizeof(float), THREADS = 128, CHUNK = 16;
constexpr uint32_t BOX_BYTES = ROWS * ROW_BYTES;

struct Smem {
  uint8_t tile[BOX_BYTES];
  mbarrier full;
};

HOPPER_FN int inside(int first, int size, int total) { return total - first < size ? total - first : size; }

extern "C" __global__ void __launch_bounds__(THREADS)
tma_tile_copy(const __grid_constant__ TensorMap map_x, const __grid_constant__ TensorMap map_y, const float* scale, const float* shift,
              uint8_t* image, int M, int N) {
  DYNAMIC_SHARED(Smem, sm);
  const int m = blockIdx.y * ROWS, n = blockIdx.x * COLUMNS;
  if (threadIdx.x == 0) {
    mbarrier_init(&sm.full, 1, "FULL");
    fence_mbarrier_init();
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    uint32_t expected = BOX_BYTES - (BUGGY(wrong_expect_tx) ? ROW_BYTES : 0);
    if (BUGGY(expect_inside_only)) expected = inside(m, ROWS, M) * inside(n, COLUMNS, N) * sizeof(float);
    mbarrier_arrive_expect_tx(&sm.full, expected);
    tma_load_2d(sm.tile, &map_x, n, m, &sm.full);
  }
  if (!BUGGY(no_full_wait)) mbarrier_wait(&sm.full, 0);

  if (image != nullptr) {
    uint8_t* to = image + (uint64_t)(blockIdx.y * gridDim.x + blockIdx.x) * BOX_BYTES;
    for (int i = threadIdx.x * CHUNK; i < BOX_BYTES; i += THREADS * CHUNK) store128(to + i, load128(sm.tile + i));
    __syncthreads();  // the picture is taken before the tile changes
  }

  for (int i = threadIdx.x; i < ROWS * (ROW_BYTES / CHUNK); i += THREADS) {
    const int row = i / (ROW_BYTES / CHUNK), byte = i % (ROW_BYTES / CHUNK) * CHUNK;
    // CHALLENGE-BEGIN: where byte `byte` of row `row` lies in the swizzled tile
    uint32_t offset = row * ROW_BYTES + (byte ^ row % 8 * 16);
    // CHALLENGE-END
    if (BUGGY(no_swizzle)) offset = row * ROW_BYTES + byte;
    vec128 word = load128(sm.tile + offset);
    const float factor = m + row < M ? scale[m + row] : 0.0f;
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const int column = n + byte / (int)sizeof(float) + j;
      word.w[j] = __float_as_uint(factor * __uint_as_float(word.w[j]) + (column < N ? shift[column] : 0.0f));
    }
    store128(sm.tile + offset, word);
  }
  if (!BUGGY(no_proxy_fence)) fence_proxy_async();
  __syncthreads();
  if (threadIdx.x == 0) {
    tma_store_2d(&map_y, sm.tile, n, m);
    tma_store_commit();
    tma_store_wait_read<0>();
  }
}
