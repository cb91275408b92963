// gemm.cuh - what the rungs of the GEMM ladder share: the problem, the ring of stages, the tile order, the plain epilogue.
//
// Every rung computes D = A B^T. A is (M, K), B is (N, K), both bf16 with K contiguous; sums are float; D is (M, N) of OUT
// (bf16 or float) in rows of ldd elements. Rows of A, B and D start at multiples of 16 bytes (TMA's rule for strides), so K
// and N that are no multiple of 8 live in padded rows: what a tensor map calls K and N is the true size, and TMA fills a
// box beyond it with zeros, which add nothing. Columns N..ldd-1 of D are padding and may be overwritten.
#pragma once
#include "hopper.cuh"
#include "bugs.cuh"

#ifndef OUT
#define OUT bf16
#endif

constexpr int TILE_K = 64;      // elements of a stage along K: 128 bytes, one row of the 128-byte swizzle
constexpr int WGMMA_K = 16;     // bf16 elements of one wgmma along K
constexpr int WARPGROUP = 128;  // threads
constexpr int ROW_BYTES = TILE_K * sizeof(bf16);

HOPPER_FN int ceil_div(int a, int b) { return (a + b - 1) / b; }

// The warpgroup of this thread. Read from lane 0, which tells the compiler that the whole warp agrees.
HOPPER_FN int warpgroup_index() { return __shfl_sync(0xFFFFFFFFu, (int)threadIdx.x / WARPGROUP, 0); }

// ---------------------------------------------------------------------------------------------- the ring of stages
// Shared memory of a ring: `Stages` pairs of an A tile and a B tile as TMA leaves them (128-byte swizzle), and two barriers
// a stage. FULL: one arrival (the producer's) and the bytes of both tiles. EMPTY: one arrival from each consumer.
template <int TileM, int TileN, int Stages> struct Ring {
  static constexpr int stages = Stages;
  static constexpr int tile_n = TileN;
  static constexpr uint32_t stage_bytes = (TileM + TileN) * ROW_BYTES;
  bf16 a[Stages][TileM * TILE_K];
  bf16 b[Stages][TileN * TILE_K];
  mbarrier full[Stages];
  mbarrier empty[Stages];
};

// By one thread, before the barrier that publishes the ring.
template <class Ring> HOPPER_FN void init_ring(Ring& ring, int consumers) {
  for (int s = 0; s < Ring::stages; ++s) {
    mbarrier_init(&ring.full[s], 1, "FULL", s);
    mbarrier_init(&ring.empty[s], consumers, "EMPTY", s);
  }
  if (!BUGGY(no_mbarrier_init_fence)) fence_mbarrier_init();
}

// Where a producer or a consumer stands: the stage, and the parity of the lap. A consumer waits for FULL with `parity`, a
// producer for EMPTY with `parity ^ 1`: a fresh barrier passes parity 1 at once, so the first lap does not wait.
template <int Stages> struct RingState {
  int stage = 0;
  uint32_t parity = 0;
  HOPPER_FN void advance() {
    if (++stage == Stages) {
      stage = 0;
      if (!BUGGY(no_phase_bit)) parity ^= 1;
    }
  }
  HOPPER_FN void advance(int steps) {
    stage += steps;
    if (!BUGGY(no_phase_bit)) parity ^= stage / Stages & 1;
    stage %= Stages;
  }
};

// What the producer expects on FULL for one stage: the whole boxes, also where they hang over the edge of A or B.
template <class Ring> HOPPER_FN void expect_stage(Ring& ring, int stage) {
  mbarrier_arrive_expect_tx(&ring.full[stage], Ring::stage_bytes - (BUGGY(wrong_expect_tx) ? ROW_BYTES : 0));
}

// Producer, one thread: waits until the stage is free and loads k-block `k_block` of tile rows m and columns n into it.
template <class Ring> HOPPER_FN void load_stage(Ring& ring, RingState<Ring::stages>& state, const TensorMap& map_a,
                                                const TensorMap& map_b, int m, int n, int k_block) {
  if (!BUGGY(no_empty_wait)) mbarrier_wait(&ring.empty[state.stage], state.parity ^ 1);
  expect_stage(ring, state.stage);
  tma_load_2d(ring.a[state.stage], &map_a, k_block * TILE_K, m, &ring.full[state.stage]);
  tma_load_2d(ring.b[state.stage], &map_b, k_block * TILE_K, n, &ring.full[state.stage]);
  state.advance();
}

// The same in a cluster of `Cluster` blocks that compute tiles below one another: each needs its own A and all need one B, so
// each block loads 1/Cluster of the B tile and multicasts it to all. A stage is free when every consumer of every block
// released it, since the multicast writes to all; FULL counts what arrives here, from whichever block.
template <int Cluster, class Ring>
HOPPER_FN void load_stage_multicast(Ring& ring, RingState<Ring::stages>& state, const TensorMap& map_a, const TensorMap& map_b, int m,
                                    int n, int k_block) {
  constexpr int share = Ring::tile_n / Cluster;
  const int first = cluster_rank() * share;
  if (!BUGGY(no_empty_wait)) mbarrier_wait(&ring.empty[state.stage], state.parity ^ 1);
  expect_stage(ring, state.stage);
  tma_load_2d(ring.a[state.stage], &map_a, k_block * TILE_K, m, &ring.full[state.stage]);
  tma_load_2d_multicast(ring.b[state.stage] + first * TILE_K, &map_b, k_block * TILE_K, n + first, &ring.full[state.stage],
                        (1 << Cluster) - 1);
  state.advance();
}

// Consumer, one warpgroup: releases a stage to the producer of every block of the cluster.
template <int Cluster, class Ring> HOPPER_FN void release_to_cluster(Ring& ring, int stage) {
  const int t = threadIdx.x % WARPGROUP;
  if (t < Cluster) mbarrier_arrive_remote_read(&ring.empty[stage], t);
}

// Consumer, one warpgroup: issues the wgmmas of one stage, rows `row`.. of its A tile (64 * Rows of them) by its whole B tile,
// as one group. accumulate = false starts from zero: no instruction clears the accumulators.
template <int Rows, class Ring>
HOPPER_FN void multiply_stage(float (&d)[Rows][Ring::tile_n / 2], Ring& ring, int stage, int row, bool accumulate) {
  const uint64_t a = desc_k_major<128>(ring.a[stage] + row * TILE_K);
  const uint64_t b = desc_k_major<128>(ring.b[stage]);
  wgmma_fence();
#pragma unroll
  for (int k = 0; k < TILE_K / WGMMA_K; ++k)
#pragma unroll
    for (int r = 0; r < Rows; ++r)
      wgmma_ss<Ring::tile_n, bf16>(d[r], desc_advance(a, r * 64 * ROW_BYTES + k * WGMMA_K * 2), desc_advance(b, k * WGMMA_K * 2),
                                   accumulate || k > 0);
  wgmma_commit();
}

// Consumer, one warpgroup: all k-blocks of one tile. One group stays in flight: while it runs, the next stage's group is
// issued, so the matrix unit never waits for the wait; a stage is released (`release(stage)`) one block later, when wait<1>
// says that its group is done. On return the last group is still in flight and its stage, which is returned, not released.
template <int Rows, class Ring, class Release>
HOPPER_FN int multiply_tile(float (&d)[Rows][Ring::tile_n / 2], Ring& ring, RingState<Ring::stages>& state, int row, int k_blocks,
                            Release release) {
  int previous = 0;
  for (int k = 0; k < k_blocks; ++k) {
    if (!BUGGY(no_full_wait)) mbarrier_wait(&ring.full[state.stage], state.parity);
    multiply_stage<Rows>(d, ring, state.stage, row, k > 0);
    if (BUGGY(empty_before_wgmma_wait)) {
      release(state.stage);
    } else if (k > 0) {
      wgmma_wait<1>();
      release(previous);
    }
    previous = state.stage;
    state.advance();
  }
  return previous;
}

// The end of multiply_tile: afterwards the accumulators hold the tile.
template <int Rows, int Registers, class Release>
HOPPER_FN void finish_tile(float (&d)[Rows][Registers], int last_stage, Release release) {
  wgmma_wait<0>();
  if (!BUGGY(empty_before_wgmma_wait)) release(last_stage);
#pragma unroll
  for (int r = 0; r < Rows; ++r) wgmma_keep(d[r]);
}

// ---------------------------------------------------------------------------------------------- tile order
struct Tile { int m, n; };  // row and column in the grid of tiles

// The tile of place `linear` in grouped order: bands of `band` tile rows, each walked column by column. Blocks that run at the
// same time then cover a near-square patch of D, whose rows of A and B fit in L2. The last band may be narrower.
HOPPER_FN Tile tile_at(int linear, int tiles_m, int tiles_n, int band) {
  const int first = linear / (band * tiles_n) * band;
  const int rows = tiles_m - first < band ? tiles_m - first : band;
  const int within = linear % (band * tiles_n);
  return Tile{first + within % rows, within / rows};
}

// ---------------------------------------------------------------------------------------------- plain epilogue
struct alignas(8) FloatPair { float lo, hi; };
HOPPER_FN void store_pair(bf16* p, float lo, float hi) { *reinterpret_cast<uint32_t*>(p) = pack2<bf16>(lo, hi); }
HOPPER_FN void store_pair(float* p, float lo, float hi) { *reinterpret_cast<FloatPair*>(p) = FloatPair{lo, hi}; }

// A warpgroup's 64 x 2 * Registers accumulators to D at (m, n), straight from registers: two neighbours a store.
template <int Registers> HOPPER_FN void store_accumulators(OUT* D, int ldd, int M, int m, int n, const float (&d)[Registers]) {
  const int t = threadIdx.x % WARPGROUP;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int row = m + accumulator_row(t, 2 * half);
    if (row >= M) continue;
    OUT* line = D + (int64_t)row * ldd;
#pragma unroll
    for (int r = 2 * half; r < Registers; r += 4) {
      const int column = n + accumulator_column(t, r);
      if (column < ldd) store_pair(line + column, d[r], d[r + 1]);
    }
  }
}
