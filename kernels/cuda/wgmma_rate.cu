// wgmma_rate.cu - how fast the matrix unit takes wgmmas when nothing else is asked of it: the ceiling of every GEMM.
//
// Each warpgroup multiplies its own 64 rows of A (bf16, 64 columns) by the block's B (TILE_N, 64), `repeats` times over, onto the same
// accumulators; sums[thread] is the sum of its registers: repeats * (A B^T). All operands stay on the chip. cycles, unless null, gets the
// SM's clock cycles from each block's first wgmma until its last was done.
// Launch: GROUPS warpgroups a block, a block or more an SM. -DA_FROM_REGISTERS=1: A in registers (RS), otherwise in shared memory (SS).
// Invariants: one group of four wgmmas (K = 64) in flight while the next is issued; SS reads 64 x 32 bytes of A and TILE_N x 32 bytes of B
// from shared memory for each wgmma, RS only B.
#include "wgmma_operands.cuh"

#ifndef TILE_N
#define TILE_N 256
#endif
#ifndef GROUPS
#define GROUPS 2
#endif
#ifndef A_FROM_REGISTERS
#define A_FROM_REGISTERS 0
#endif
constexpr int TILE_M = 64, REGISTERS = TILE_N / 2, STEPS = ROW_BYTES / STEP_BYTES;

struct Smem {
  uint8_t a[GROUPS][TILE_M * ROW_BYTES];
  uint8_t b[TILE_N * ROW_BYTES];
};

extern "C" __global__ void __launch_bounds__(GROUPS * 128)
wgmma_rate(const bf16* a, const bf16* b, float* sums, uint32_t* cycles, int repeats) {
  DYNAMIC_SHARED(Smem, sm);
  const int group = __shfl_sync(0xFFFFFFFFu, (int)threadIdx.x / 128, 0);
  for (int g = 0; g < GROUPS; ++g) fill_tile(sm.a[g], (const uint8_t*)a + g * TILE_M * ROW_BYTES, TILE_M, ROW_BYTES, 0);
  fill_tile(sm.b, (const uint8_t*)b, TILE_N, ROW_BYTES, 0);
  fence_proxy_async();
  __syncthreads();

  uint32_t fragment[STEPS][4];
  if (A_FROM_REGISTERS)
#pragma unroll
    for (int s = 0; s < STEPS; ++s) load_a_fragment(fragment[s], (const uint8_t*)a + group * TILE_M * ROW_BYTES, ROW_BYTES, s * STEP_BYTES);
  const uint64_t desc_a = desc_k_major<128>(sm.a[group]), desc_b = desc_k_major<128>(sm.b);
  float acc[REGISTERS];
  const long long began = clock64();
#pragma unroll 1
  for (int i = 0; i < repeats; ++i) {
    wgmma_fence();
#pragma unroll
    for (int s = 0; s < STEPS; ++s) {
      if (A_FROM_REGISTERS) wgmma_rs<TILE_N, bf16>(acc, fragment[s], desc_advance(desc_b, s * STEP_BYTES), i + s > 0);
      else wgmma_ss<TILE_N, bf16>(acc, desc_advance(desc_a, s * STEP_BYTES), desc_advance(desc_b, s * STEP_BYTES), i + s > 0);
    }
    wgmma_commit();
    wgmma_wait<1>();
  }
  wgmma_wait<0>();
  wgmma_keep(acc);
  if (cycles != nullptr && threadIdx.x == 0) cycles[blockIdx.x] = (uint32_t)(clock64() - began);
  float sum = 0.0f;
#pragma unroll
  for (int r = 0; r < REGISTERS; ++r) sum += acc[r];
  sums[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
