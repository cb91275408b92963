// warp_specialized.cu - who copies, and whose registers: a GEMM with or without a producer and setmaxnreg.
//
// Computes D = A B^T (gemm.cuh says what the arrays are). registers[w], unless null, gets what warpgroup w of block 0 asked for
// by setmaxnreg, registers a thread; 0 where it asked nothing.
// Launch: CONSUMERS warpgroups that multiply, and with PRODUCER one more, warpgroup 0, that copies; one block a
// (64 CONSUMERS) x 256 tile of D; x runs along N; one block an SM. STAGES of the ring: as many as shared memory holds.
// Invariants:
//   - a consumer owns 64 rows of the tile: 128 sums a thread, however many consumers there are. It takes them in two halves of
//     128 columns: with three consumers and a producer a thread is launched with 128 registers, and there ptxas refuses an
//     instruction of 256 columns (C7602);
//   - EMPTY needs every consumer (CONSUMERS arrivals). Without a producer, thread 0 of the first consumer waits for it and
//     copies, so the first consumer multiplies nothing until the slowest has released the stage;
//   - setmaxnreg moves registers within the block's pool, which is what the launch bound gave: an equal share of the SM. All
//     four warps of a warpgroup ask for the same, and what all hold together never exceeds the pool: a request beyond it is
//     waited for, for ever.
#include "gemm.cuh"

#ifndef STAGES
#define STAGES 3
#endif
#ifndef CONSUMERS
#define CONSUMERS 2
#endif
#ifndef PRODUCER
#define PRODUCER 1            // 0: a consumer's thread copies
#endif
#ifndef MOVE_REGISTERS
#define MOVE_REGISTERS PRODUCER  // 0: every thread keeps what it was launched with
#endif
#ifndef PRODUCER_REGISTERS
#define PRODUCER_REGISTERS 24
#endif
#ifndef BEYOND
#define BEYOND 0              // a defect: registers a consumer thread asks for beyond its share of the pool
#endif
#ifndef ASKING_WARPS
#define ASKING_WARPS 4        // a defect, if fewer: warps of a consumer warpgroup that ask
#endif
constexpr int TILE_M = 64 * CONSUMERS, TILE_N = 256, HALF_N = TILE_N / 2;
constexpr int THREADS = (CONSUMERS + PRODUCER) * WARPGROUP;
constexpr int SM_REGISTERS = 65536, MOST_REGISTERS = 256;  // of an SM; of a thread, by setmaxnreg
using Smem = Ring<TILE_M, TILE_N, STAGES>;

// Registers a thread that each of `consumers` warpgroups may ask for, once one producer warpgroup of a block of `threads`
// holds `producer_registers` a thread.
HOPPER_FN constexpr int consumer_registers(int threads, int producer_registers, int consumers) {
  // CHALLENGE-BEGIN: the largest request that all consumer warpgroups get (capped at MOST_REGISTERS below)
  int request = ((threads / WARPGROUP) * (SM_REGISTERS / threads / 8 * 8) - producer_registers) / consumers / 8 * 8;
  // CHALLENGE-END
  return request < MOST_REGISTERS ? request : MOST_REGISTERS;
}
constexpr int CONSUMER_REGISTERS = consumer_registers(THREADS, PRODUCER_REGISTERS, CONSUMERS) + BEYOND;

// By one thread of each warpgroup.
HOPPER_FN void report(int* registers, int warpgroup, int asked) {
  if (registers != nullptr && threadIdx.x % WARPGROUP == 0) registers[warpgroup] = MOVE_REGISTERS ? asked : 0;
}

// A warpgroup of its own copies: nobody who multiplies waits for EMPTY.
HOPPER_FN void produce(Smem& ring, const TensorMap& map_a, const TensorMap& map_b, int m, int n, int k_blocks) {
  RingState<STAGES> state;
  for (int k = 0; k < k_blocks; ++k) load_stage(ring, state, map_a, map_b, m, n, k);
}

// One stage: rows `row`.. of its A tile by both halves of its B tile, as one group.
HOPPER_FN void multiply_halves(float (&d)[2][HALF_N / 2], Smem& ring, int stage, int row, bool accumulate) {
  const uint64_t a = desc_k_major<128>(ring.a[stage] + row * TILE_K), b = desc_k_major<128>(ring.b[stage]);
  wgmma_fence();
#pragma unroll
  for (int k = 0; k < TILE_K / WGMMA_K; ++k)
#pragma unroll
    for (int half = 0; half < 2; ++half)
      wgmma_ss<HALF_N, bf16>(d[half], desc_advance(a, k * WGMMA_K * 2),
                             desc_advance(b, half * HALF_N * ROW_BYTES + k * WGMMA_K * 2), accumulate || k > 0);
  wgmma_commit();
}

// A consumer's 64 rows. copies: this warpgroup also refills the ring, by its first thread.
HOPPER_FN void consume(float (&d)[2][HALF_N / 2], Smem& ring, bool copies, const TensorMap& map_a, const TensorMap& map_b,
                       int m, int n, int row, int k_blocks) {
  RingState<STAGES> load, use;
  const bool leader = threadIdx.x % WARPGROUP == 0;
  int loaded = 0, previous = 0;
  if (copies && leader)
    for (; loaded < k_blocks && loaded < STAGES; ++loaded) load_stage(ring, load, map_a, map_b, m, n, loaded);
  auto release = [&](int stage) {
    if (leader) mbarrier_arrive(&ring.empty[stage]);
  };
  for (int k = 0; k < k_blocks; ++k) {
    if (!BUGGY(no_full_wait)) mbarrier_wait(&ring.full[use.stage], use.parity);
    multiply_halves(d, ring, use.stage, row, k > 0);
    if (BUGGY(empty_before_wgmma_wait)) release(use.stage);
    if (k > 0) {  // block k runs; block k - 1 is done
      if (!BUGGY(empty_before_wgmma_wait)) {
        wgmma_wait<1>();
        release(previous);
      }
      if (copies) {
        if (leader && loaded < k_blocks) load_stage(ring, load, map_a, map_b, m, n, loaded++);
        __syncwarp();  // wgmma is for whole warps: lane 0 may have waited
      }
    }
    previous = use.stage;
    use.advance();
  }
  wgmma_wait<0>();  // nobody fills the ring again: the last stage is not released
  wgmma_keep(d[0]);
  wgmma_keep(d[1]);
}

extern "C" __global__ void REGISTER_CAP(THREADS, 1)
warp_specialized(const __grid_constant__ TensorMap map_a, const __grid_constant__ TensorMap map_b, OUT* D, int* registers,
                 int M, int N, int K, int ldd) {
  DYNAMIC_SHARED(Smem, ring);
  const int m = blockIdx.y * TILE_M, n = blockIdx.x * TILE_N;
  const int k_blocks = ceil_div(K, TILE_K), warpgroup = warpgroup_index();
  if (blockIdx.x + blockIdx.y != 0) registers = nullptr;
  if (threadIdx.x == 0) init_ring(ring, CONSUMERS);
  __syncthreads();

  if (PRODUCER && warpgroup == 0) {
    if (MOVE_REGISTERS) reg_dec<PRODUCER_REGISTERS>();
    report(registers, warpgroup, PRODUCER_REGISTERS);
    if (threadIdx.x == 0) produce(ring, map_a, map_b, m, n, k_blocks);
  } else {
    if (MOVE_REGISTERS) {
      if (ASKING_WARPS == 4 || threadIdx.x % WARPGROUP / 32 < ASKING_WARPS) reg_inc<CONSUMER_REGISTERS>();
    }
    report(registers, warpgroup, CONSUMER_REGISTERS);
    const int row = (warpgroup - PRODUCER) * 64;
    float d[2][HALF_N / 2];
    consume(d, ring, !PRODUCER && warpgroup == 0, map_a, map_b, m, n, row, k_blocks);
    store_accumulators(D, ldd, M, m + row, n, d[0]);
    store_accumulators(D, ldd, M, m + row, n + HALF_N, d[1]);
  }
}
