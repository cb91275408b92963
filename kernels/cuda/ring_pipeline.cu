// ring_pipeline.cu - a ring of STAGES buffers between one producer and two consumers: FULL, EMPTY and the phase bit.
//
// Computes D = A B^T (gemm.cuh says what the arrays are). places, unless null, gets where block 0's first consumer stood at each k-block: the
// stage's index and the phase it waited for.
// Launch: 384 threads, one block a 128 x 128 tile of D; x runs along N. Warpgroup 0 is the producer (one thread works), 1 and 2 are consumers,
// each of 64 rows. STAGES is 1 to 7: a stage is 32 KB of the 227 KB a block may have.
// Invariants:
//   - the producer fills a stage only after both consumers released it in the lap before (EMPTY, count 2); in the first lap nobody has
//     to: it waits for the phase opposite to its own, which a fresh barrier lets pass;
//   - a consumer reads a stage only after both boxes landed (FULL, count 1 and the bytes), and releases it only after its wgmmas on it
//     are done. With two stages or more it keeps one group in flight, so it releases one k-block late; with one stage it cannot;
//   - everybody walks the ring by the same rule (advance), so nobody is told where the others are.
#include "gemm.cuh"

#ifndef STAGES
#define STAGES 4
#endif
constexpr int TILE_M = 128, TILE_N = 128, CONSUMERS = 2;
constexpr int IN_FLIGHT = STAGES > 1 ? 1 : 0;  // groups of wgmmas that still run when the next k-block begins
using Smem = Ring<TILE_M, TILE_N, STAGES>;

struct Place { int index; uint32_t phase; };

// The next place: index counts 0 .. STAGES - 1, phase flips with every lap.
HOPPER_FN Place advance(Place p) {
  // CHALLENGE-BEGIN: the place after (p.index, p.phase) in a ring of STAGES
  Place next = {p.index + 1 == STAGES ? 0 : p.index + 1, p.index + 1 == STAGES ? p.phase ^ 1 : p.phase};
  // CHALLENGE-END
  if (BUGGY(no_phase_bit)) next.phase = p.phase;
  return next;
}

HOPPER_FN void produce(Smem& ring, const TensorMap& map_a, const TensorMap& map_b, int m, int n, int k_blocks) {
  Place p = {0, 0};
  for (int k = 0; k < k_blocks; ++k, p = advance(p)) {
    if (!BUGGY(no_empty_wait)) mbarrier_wait(&ring.empty[p.index], p.phase ^ 1);
    expect_stage(ring, p.index);
    tma_load_2d(ring.a[p.index], &map_a, k * TILE_K, m, &ring.full[p.index]);
    tma_load_2d(ring.b[p.index], &map_b, k * TILE_K, n, &ring.full[p.index]);
  }
}

HOPPER_FN void consume(Smem& ring, float (&d)[1][TILE_N / 2], int row, int k_blocks, int* places) {
  const bool leader = threadIdx.x % WARPGROUP == 0;
  auto release = [&](int stage) {
    if (leader) mbarrier_arrive(&ring.empty[stage]);
  };
  Place p = {0, 0}, before = {0, 0};
  for (int k = 0; k < k_blocks; ++k, before = p, p = advance(p)) {
    if (!BUGGY(no_full_wait)) mbarrier_wait(&ring.full[p.index], p.phase);
    if (places != nullptr && leader && row == 0) {
      places[2 * k] = p.index;
      places[2 * k + 1] = (int)p.phase;
    }
    multiply_stage(d, ring, p.index, row, k > 0);
    if (BUGGY(empty_before_wgmma_wait)) {
      release(p.index);
    } else if (k >= IN_FLIGHT) {
      wgmma_wait<IN_FLIGHT>();
      release(IN_FLIGHT ? before.index : p.index);
    }
  }
  wgmma_wait<0>();
  wgmma_keep(d[0]);
}

extern "C" __global__ void __launch_bounds__((1 + CONSUMERS) * WARPGROUP, 1)
ring_pipeline(const __grid_constant__ TensorMap map_a, const __grid_constant__ TensorMap map_b, OUT* D, int* places, int M, int N, int K,
              int ldd) {
  DYNAMIC_SHARED(Smem, ring);
  const int m = blockIdx.y * TILE_M, n = blockIdx.x * TILE_N;
  const int k_blocks = ceil_div(K, TILE_K), warpgroup = warpgroup_index();
  if (threadIdx.x == 0) init_ring(ring, CONSUMERS);
  __syncthreads();
  if (warpgroup == 0) {
    if (threadIdx.x == 0) produce(ring, map_a, map_b, m, n, k_blocks);
  } else {
    const int row = (warpgroup - 1) * 64;
    float d[1][TILE_N / 2];
    consume(ring, d, row, k_blocks, blockIdx.x + blockIdx.y == 0 ? places : nullptr);
    store_accumulators(D, ldd, M, m + row, n, d[0]);
  }
}
