// accumulate_probe.cu - D = A B^T by tensor cores with the accumulator under test: how does the error grow with K?
//
// A is (M, K) and B is (N, K), K-major, of fp16, bf16 or e4m3; D is fp32 (M, N). M and N are multiples of 64, K of 128 bytes.
// Launch: one 64 x 64 tile of D a block, one warpgroup (128 threads), grid (N/64, M/64).
// Invariants: operands reach shared memory by ordinary stores in the 128-byte swizzle, so each writer fences towards the async
// proxy before the barrier; one k-block of 128 bytes a row is in shared memory at a time (a probe: exact, not fast).
//   probe_fp16_acc16   fp16 operands, fp16 accumulator          probe_fp16, probe_bf16   fp32 accumulator
//   probe_e4m3         fp8 operands, the instruction's own accumulator; with `promote` > 0 it is added to fp32 registers by
//                      CUDA cores and restarted every `promote` k-blocks (a k-block is 128 elements)
#include "hopper.cuh"

constexpr int TILE = 64, ROW_BYTES = 128, THREADS = 128;

struct Tiles {
  uint8_t a[TILE * ROW_BYTES];
  uint8_t b[TILE * ROW_BYTES];
};

// Rows row0 .. row0+63 of x, bytes [byte0, byte0 + 128) of each, into a swizzled tile. row_bytes: a whole row of x.
HOPPER_FN void fill_tile(uint8_t* tile, const uint8_t* x, int row0, uint64_t row_bytes, uint64_t byte0) {
  for (int i = threadIdx.x; i < TILE * ROW_BYTES / 16; i += THREADS) {
    const int row = i / 8, chunk = i % 8;
    store128(tile + swizzled_offset<128>(row, chunk * 16), load128(x + (row0 + row) * row_bytes + byte0 + chunk * 16));
  }
}

// Calls step(descriptor of A, descriptor of B, k-block, first or not) for each instruction's slice of K, in order.
template <class Step> HOPPER_FN void for_each_slice(Tiles& tiles, const uint8_t* a, const uint8_t* b, uint64_t row_bytes, Step step) {
  for (uint64_t byte0 = 0; byte0 < row_bytes; byte0 += ROW_BYTES) {
    __syncthreads();  // the last slice's wgmma is done with the tiles
    fill_tile(tiles.a, a, blockIdx.y * TILE, row_bytes, byte0);
    fill_tile(tiles.b, b, blockIdx.x * TILE, row_bytes, byte0);
    fence_proxy_async();
    __syncthreads();
    step(desc_k_major<128>(tiles.a), desc_k_major<128>(tiles.b), (int)(byte0 / ROW_BYTES));
  }
}

HOPPER_FN void store_tile(float* d, int n, const float (&acc)[TILE / 2]) {
  for (int r = 0; r < TILE / 2; ++r)
    d[(uint64_t)(blockIdx.y * TILE + accumulator_row(threadIdx.x, r)) * n + blockIdx.x * TILE + accumulator_column(threadIdx.x, r)] =
        acc[r];
}

template <class T>
HOPPER_FN void probe(const T* a, const T* b, float* d, int n, int k, int promote) {
  SHARED_ALIGNED(1024, Tiles, tiles, );
  float acc[TILE / 2], sum[TILE / 2];
  for (int r = 0; r < TILE / 2; ++r) sum[r] = 0.0f;
  const int last = k * (int)sizeof(T) / ROW_BYTES - 1;
  for_each_slice(tiles, (const uint8_t*)a, (const uint8_t*)b, (uint64_t)k * sizeof(T), [&](uint64_t da, uint64_t db, int block) {
    const bool restart = promote > 0 ? block % promote == 0 : block == 0;
    wgmma_fence();
#pragma unroll
    for (int kk = 0; kk < ROW_BYTES / 32; ++kk)
      wgmma_ss<TILE, T>(acc, desc_advance(da, kk * 32), desc_advance(db, kk * 32), !(restart && kk == 0));
    wgmma_commit();
    wgmma_wait<0>();
    if (block == last || (promote > 0 && (block + 1) % promote == 0)) {
#pragma unroll
      for (int r = 0; r < TILE / 2; ++r) sum[r] += acc[r];  // the promotion: an fp32 add on CUDA cores
    }
  });
  store_tile(d, n, sum);
}

extern "C" __global__ void __launch_bounds__(THREADS) probe_fp16(const fp16* a, const fp16* b, float* d, int n, int k, int promote) {
  probe<fp16>(a, b, d, n, k, promote);
}
extern "C" __global__ void __launch_bounds__(THREADS) probe_bf16(const bf16* a, const bf16* b, float* d, int n, int k, int promote) {
  probe<bf16>(a, b, d, n, k, promote);
}
extern "C" __global__ void __launch_bounds__(THREADS) probe_e4m3(const e4m3* a, const e4m3* b, float* d, int n, int k, int promote) {
  probe<e4m3>(a, b, d, n, k, promote);
}
extern "C" __global__ void __launch_bounds__(THREADS) probe_fp16_acc16(const fp16* a, const fp16* b, float* d, int n, int k) {
  SHARED_ALIGNED(1024, Tiles, tiles, );
  uint32_t acc[TILE / 4];
  for_each_slice(tiles, (const uint8_t*)a, (const uint8_t*)b, (uint64_t)k * sizeof(fp16), [&](uint64_t da, uint64_t db, int block) {
    wgmma_fence();
#pragma unroll
    for (int kk = 0; kk < ROW_BYTES / 32; ++kk)
      wgmma_ss_fp16_accumulate<TILE>(acc, desc_advance(da, kk * 32), desc_advance(db, kk * 32), block > 0 || kk > 0);
    wgmma_commit();
    wgmma_wait<0>();
  });
  float out[TILE / 2];
#pragma unroll
  for (int i = 0; i < TILE / 4; ++i) {  // register i holds two neighbouring columns, lower half first
    const int r = i % 2 * 2 + i / 2 * 4;
    out[r] = to_float(fp16{(uint16_t)(acc[i] & 0xFFFF)});
    out[r + 1] = to_float(fp16{(uint16_t)(acc[i] >> 16)});
  }
  store_tile(d, n, out);
}
