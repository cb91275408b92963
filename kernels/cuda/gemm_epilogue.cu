// gemm_epilogue.cu - D = convert<Out>(act(alpha * (A B^T) + beta * C + bias)), the epilogue fused into the GEMM.
//
// A is (M, K) and B is (N, K), both bf16 and K-major; accumulators fp32; C, D row-major (M, N); bias N floats or null.
// Launch: one 128 x 128 tile of D a block, 256 threads (two warpgroups, 64 rows each), grid (ceil(N/128), ceil(M/128)); dynamic
// shared memory sizeof(Shared). Two blocks fit an SM, so one block's epilogue runs beside the other's mainloop.
// Invariants: a stage is refilled only after every warpgroup has finished the wgmma that reads it; TMA fills boxes over the edge
// with zeros and counts their full bytes; the accumulators never go to device memory; C is read if and only if beta is not 0.
// The lesson on pipelines explains the ring; here it is as plain as it can be.
#include "epilogue.cuh"

constexpr int TILE_M = 128, TILE_N = 128, TILE_K = 64, STAGES = 3, THREADS = 256;
constexpr uint32_t STAGE_BYTES = (TILE_M + TILE_N) * TILE_K * sizeof(bf16);

constexpr int TILE_ROW = TILE_N + 8;  // floats from one row of the staged tile to the next: rows fall into different banks

struct Shared {
  union {
    struct {
      bf16 a[STAGES][TILE_M * TILE_K];
      bf16 b[STAGES][TILE_N * TILE_K];
    } ring;                           // mainloop
    float tile[TILE_M * TILE_ROW];    // epilogue: the accumulators, row by row
  };
  mbarrier full[STAGES];
};
struct alignas(8) Pair { float x, y; };

template <class C, class Out>
HOPPER_FN void gemm(const TensorMap& map_a, const TensorMap& map_b, const C* c, const float* bias, Out* d, float alpha, float beta,
                    int activation, int m, int n, int k) {
  DYNAMIC_SHARED(Shared, s);
  const int t = threadIdx.x % 128, warpgroup = threadIdx.x / 128;
  const int row0 = blockIdx.y * TILE_M, column0 = blockIdx.x * TILE_N;
  const int blocks = (k + TILE_K - 1) / TILE_K;

  if (threadIdx.x == 0) {
    for (int i = 0; i < STAGES; ++i) mbarrier_init(&s.full[i], 1, "FULL", i);
    fence_mbarrier_init();
  }
  __syncthreads();
  auto load = [&](int block) {  // thread 0 only: bring k-block `block` into its stage
    const int stage = block % STAGES;
    mbarrier_arrive_expect_tx(&s.full[stage], STAGE_BYTES);
    tma_load_2d(s.ring.a[stage], &map_a, block * TILE_K, row0, &s.full[stage]);
    tma_load_2d(s.ring.b[stage], &map_b, block * TILE_K, column0, &s.full[stage]);
  };
  if (threadIdx.x == 0)
    for (int block = 0; block < STAGES && block < blocks; ++block) load(block);

  // ---- mainloop: bf16 products, summed in fp32 registers
  float acc[TILE_N / 2];
  for (int block = 0; block < blocks; ++block) {
    const int stage = block % STAGES;
    mbarrier_wait(&s.full[stage], block / STAGES & 1);
    wgmma_fence();
    const uint64_t a = desc_k_major<128>(s.ring.a[stage] + warpgroup * 64 * TILE_K), b = desc_k_major<128>(s.ring.b[stage]);
#pragma unroll
    for (int kk = 0; kk < TILE_K / 16; ++kk)
      wgmma_ss<TILE_N, bf16>(acc, desc_advance(a, kk * 32), desc_advance(b, kk * 32), block > 0 || kk > 0);
    wgmma_commit();
    wgmma_wait<1>();  // the block before this one is done in this warpgroup ...
    __syncthreads();  // ... and in the other: its stage is free
    if (threadIdx.x == 0 && block > 0 && block - 1 + STAGES < blocks) load(block - 1 + STAGES);
  }
  wgmma_wait<0>();

  // ---- epilogue: the fragments go through shared memory, so that rows of C and D move in whole 128-bit words
  __syncthreads();  // both warpgroups are done with the ring: the tile may take its place
#pragma unroll
  for (int r = 0; r < TILE_N / 2; r += 2) {
    const int row = warpgroup * 64 + accumulator_row(t, r), column = accumulator_column(t, r);
    *reinterpret_cast<Pair*>(&s.tile[row * TILE_ROW + column]) = Pair{acc[r], acc[r + 1]};
  }
  __syncthreads();

  bool read_c = beta != 0.0f;
#ifdef NO_BETA_GUARD  // the named defect no_beta_guard
  read_c = true;
#endif
  const EpilogueScalars scalars = {alpha, beta, activation, read_c};
  constexpr int COUNT = PerVector<Out>::count, PER_ROW = TILE_N / COUNT, STEP = THREADS / PER_ROW;
  const int in_tile = threadIdx.x % PER_ROW * COUNT, column = column0 + in_tile;
  const int count = n - column < COUNT ? n - column : COUNT;
  if (count <= 0) return;
  float add[COUNT] = {};
  if (bias != nullptr) load_vector(add, bias + column, count);
#pragma unroll 4
  for (int row = threadIdx.x / PER_ROW; row < TILE_M; row += STEP) {
    if (row0 + row >= m) break;
    const uint64_t index = (uint64_t)(row0 + row) * n + column;
    float v[COUNT];
    load_vector(v, &s.tile[row * TILE_ROW + in_tile], COUNT);
    epilogue_vector(v, c + (read_c ? index : 0), add, d + index, count, n % COUNT == 0, scalars);
  }
}

// One entry for each pair of types: C is fp32 or of the output's type.
#define ENTRY(name, C, Out)                                                                                               \
  extern "C" __global__ void __launch_bounds__(THREADS, 2)                                                                \
      name(const __grid_constant__ TensorMap map_a, const __grid_constant__ TensorMap map_b, const C* c, const float* bias, \
           Out* d, float alpha, float beta, int activation, int m, int n, int k) {                                        \
    gemm<C, Out>(map_a, map_b, c, bias, d, alpha, beta, activation, m, n, k);                                             \
  }
ENTRY(gemm_epilogue_fp32, float, float)
ENTRY(gemm_epilogue_fp16, fp16, fp16)
ENTRY(gemm_epilogue_bf16, bf16, bf16)
ENTRY(gemm_epilogue_fp16_c32, float, fp16)
ENTRY(gemm_epilogue_bf16_c32, float, bf16)
