// gemm_epilogue.cu - D = convert<Out>(act(alpha * (A B^T) + beta * C + bias)), the epilogue fused into the GEMM.
//
// A is (M, K) and B is (N, K), both bf16 and K-major; accumulators fp32; C, D row-major (M, N); bias N floats or null.
// Launch: one 128 x 128 tile of D a block, 256 threads (two warpgroups, 64 rows each), grid (ceil(N/128), ceil(M/128)); dynamic
// shared memory sizeof(Stages). Two blocks fit an SM, so one block's epilogue runs beside the other's mainloop.
// Invariants: a stage is refilled only after every warpgroup has finished the wgmma that reads it; TMA fills boxes over the edge
// with zeros and counts their full bytes; the accumulators never leave the registers before the epilogue; C is read if and only
// if beta is not 0. The lesson on pipelines explains the ring; here it is as plain as it can be.
#include "epilogue.cuh"

constexpr int TILE_M = 128, TILE_N = 128, TILE_K = 64, STAGES = 3, THREADS = 256;
constexpr uint32_t STAGE_BYTES = (TILE_M + TILE_N) * TILE_K * sizeof(bf16);

struct Stages {
  bf16 a[STAGES][TILE_M * TILE_K];
  bf16 b[STAGES][TILE_N * TILE_K];
  mbarrier full[STAGES];
};

// Two neighbouring elements of a row, `count` of them inside the matrix. One access where both are there and aligned.
template <class T> HOPPER_FN void load_pair(float (&v)[2], const T* p, int count, bool aligned) {
  struct alignas(2 * sizeof(T)) Pair { T x, y; };
  if (count == 2 && aligned) {
    const Pair pair = *reinterpret_cast<const Pair*>(p);
    v[0] = to_float(pair.x);
    v[1] = to_float(pair.y);
  } else {
    v[0] = count > 0 ? to_float(p[0]) : 0.0f;
    v[1] = count > 1 ? to_float(p[1]) : 0.0f;
  }
}
template <class T> HOPPER_FN void store_pair(T* p, const float (&v)[2], int count, bool aligned) {
  struct alignas(2 * sizeof(T)) Pair { T x, y; };
  const Pair pair = {convert_saturate<T>(v[0]), convert_saturate<T>(v[1])};
  if (count == 2 && aligned) {
    *reinterpret_cast<Pair*>(p) = pair;
  } else {
    if (count > 0) p[0] = pair.x;
    if (count > 1) p[1] = pair.y;
  }
}

template <class C, class Out>
HOPPER_FN void gemm(const TensorMap& map_a, const TensorMap& map_b, const C* c, const float* bias, Out* d, float alpha, float beta,
                    int activation, int m, int n, int k) {
  DYNAMIC_SHARED(Stages, s);
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
    tma_load_2d(s.a[stage], &map_a, block * TILE_K, row0, &s.full[stage]);
    tma_load_2d(s.b[stage], &map_b, block * TILE_K, column0, &s.full[stage]);
  };
  if (threadIdx.x == 0)
    for (int block = 0; block < STAGES && block < blocks; ++block) load(block);

  // ---- mainloop: bf16 products, summed in fp32 registers
  float acc[TILE_N / 2];
  for (int block = 0; block < blocks; ++block) {
    const int stage = block % STAGES;
    mbarrier_wait(&s.full[stage], block / STAGES & 1);
    wgmma_fence();
    const uint64_t a = desc_k_major<128>(s.a[stage] + warpgroup * 64 * TILE_K), b = desc_k_major<128>(s.b[stage]);
#pragma unroll
    for (int kk = 0; kk < TILE_K / 16; ++kk)
      wgmma_ss<TILE_N, bf16>(acc, desc_advance(a, kk * 32), desc_advance(b, kk * 32), block > 0 || kk > 0);
    wgmma_commit();
    wgmma_wait<1>();  // the block before this one is done in this warpgroup ...
    __syncthreads();  // ... and in the other: its stage is free
    if (threadIdx.x == 0 && block > 0 && block - 1 + STAGES < blocks) load(block - 1 + STAGES);
  }
  wgmma_wait<0>();

  // ---- epilogue: in registers, on pairs of neighbouring columns
  bool read_c = beta != 0.0f;
#ifdef NO_BETA_GUARD  // the named defect no_beta_guard
  read_c = true;
#endif
  const EpilogueScalars scalars = {alpha, beta, activation, read_c};
  const bool aligned = n % 2 == 0;  // then every row starts on a pair
#pragma unroll
  for (int r = 0; r < TILE_N / 2; r += 2) {
    const int row = row0 + warpgroup * 64 + accumulator_row(t, r), column = column0 + accumulator_column(t, r);
    const int count = row >= m || column >= n ? 0 : column + 1 < n ? 2 : 1;
    const uint64_t index = (uint64_t)row * n + column;
    float v[2] = {acc[r], acc[r + 1]}, old[2] = {0.0f, 0.0f}, add[2] = {0.0f, 0.0f};
    if (count == 0) continue;
    if (read_c) load_pair(old, c + index, count, aligned);
    if (bias != nullptr) load_pair(add, bias + column, count, true);
    apply_epilogue(v, old, add, scalars);
    store_pair(d + index, v, count, aligned);
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
