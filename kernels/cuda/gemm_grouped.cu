// gemm_grouped.cu - many GEMMs of different heights in one launch: which group a tile belongs to is found by a warp.
//
// Computes D_g = A_g B_g^T for g = 0 .. groups - 1. A holds all A_g below one another (rows[g] rows of K each, any number, zero too),
// D likewise; B is (groups, N, K). found, unless null, gets for each tile, in the order below, the group that it belongs to.
// Launch: 384 threads, one block an SM; block b computes tiles b, b + blocks, b + 2 * blocks, ... Tiles of 128 x 256 are counted group by
// group, and within a group down the columns first: blocks that run together share a tile of B.
// Invariants:
//   - nobody is told how many tiles there are: rows may have been written by the kernel before, and no host reads them. Every warp
//     that needs to know finds a tile's group for itself, by two prefix sums over 32 groups at a time and one ballot;
//   - a block's tiles come in rising order, so the search goes on in the window where it ended and never looks back;
//   - one tensor map serves all groups. A tile that hangs over the end of its group loads rows of the next one: they are
//     multiplied in vain and never stored. D leaves by ordinary stores for that reason, a TMA store would write them.
#include "gemm.cuh"

#ifndef STAGES
#define STAGES 4
#endif
#ifndef SCALAR_SEARCH
#define SCALAR_SEARCH 0       // 1: one lane walks from the first group each time
#endif
#ifndef TAKES_EMPTY
#define TAKES_EMPTY 0         // a defect: a group that ends exactly before the tile is taken for the tile's
#endif
#ifndef FIRST_WINDOW_ONLY
#define FIRST_WINDOW_ONLY 0   // a defect: the search ends with the first 32 groups
#endif
constexpr int TILE_M = 128, TILE_N = 256, CONSUMERS = 2, WINDOW = 32;
constexpr int PRODUCER_REGISTERS = 40, CONSUMER_REGISTERS = 232;
constexpr uint32_t ALL_LANES = 0xFFFFFFFFu;
using Smem = Ring<TILE_M, TILE_N, STAGES>;

// Where a search stands: the first group of the window, and the tiles and rows of all groups before it.
struct Window { int group, tiles, rows; };
// A tile: its group (-1: there is no such tile), the group's first row in A and D, its rows, and the tile's place in it.
struct Found { int group, first_row, rows, within; };

// The sum over this lane and those before it.
HOPPER_FN int sum_through(int value) {
#pragma unroll
  for (int step = 1; step < WINDOW; step *= 2) {
    const int before = __shfl_up_sync(ALL_LANES, value, step);
    if (threadIdx.x % WINDOW >= step) value += before;
  }
  return value;
}

// The group of tile `linear`, by a whole warp: lane i looks at group window.group + i.
HOPPER_FN Found find_group(Window& window, const int* rows, int groups, int tiles_n, int linear) {
  const int lane = threadIdx.x % WINDOW;
  while (window.group < groups) {
    const int mine = window.group + lane < groups ? rows[window.group + lane] : 0;
    const int tiles = ceil_div(mine, TILE_M) * tiles_n;
    const int through = window.tiles + sum_through(tiles), rows_through = window.rows + sum_through(mine);
    // CHALLENGE-BEGIN: does this lane's group end beyond tile `linear`?
    bool ends_beyond = through > linear;
    // CHALLENGE-END
    if (TAKES_EMPTY) ends_beyond = through >= linear;
    const uint32_t beyond = __ballot_sync(ALL_LANES, ends_beyond);
    if (beyond) {
      const int first = __ffs(beyond) - 1;
      return Found{window.group + first, __shfl_sync(ALL_LANES, rows_through - mine, first), __shfl_sync(ALL_LANES, mine, first),
                   linear - __shfl_sync(ALL_LANES, through - tiles, first)};
    }
    if (FIRST_WINDOW_ONLY) break;
    window.tiles = __shfl_sync(ALL_LANES, through, WINDOW - 1);
    window.rows = __shfl_sync(ALL_LANES, rows_through, WINDOW - 1);
    window.group += WINDOW;
  }
  return Found{-1, 0, 0, 0};
}

// The same by one lane, group after group from the first, told to the others: what the ballot saves.
HOPPER_FN Found find_group_scalar(const int* rows, int groups, int tiles_n, int linear) {
  Found found = {-1, 0, 0, 0};
  if (threadIdx.x % WINDOW == 0) {
    int tiles = 0, row = 0;
    for (int g = 0; g < groups && found.group < 0; ++g) {
      const int here = ceil_div(rows[g], TILE_M) * tiles_n;
      if (tiles + here > linear) found = Found{g, row, rows[g], linear - tiles};
      tiles += here;
      row += rows[g];
    }
  }
  return Found{__shfl_sync(ALL_LANES, found.group, 0), __shfl_sync(ALL_LANES, found.first_row, 0), __shfl_sync(ALL_LANES, found.rows, 0),
               __shfl_sync(ALL_LANES, found.within, 0)};
}

HOPPER_FN Found find(Window& window, const int* rows, int groups, int tiles_n, int linear) {
  return SCALAR_SEARCH ? find_group_scalar(rows, groups, tiles_n, linear) : find_group(window, rows, groups, tiles_n, linear);
}

// Rows and columns of the tile in its group: down the columns first.
HOPPER_FN Tile place_of(const Found& found) {
  const int tiles_m = found.rows > TILE_M ? ceil_div(found.rows, TILE_M) : 1;  // never 0, whatever was found
  return Tile{found.within % tiles_m, found.within / tiles_m};
}

extern "C" __global__ void REGISTER_CAP((1 + CONSUMERS) * WARPGROUP, 1)
gemm_grouped(const __grid_constant__ TensorMap map_a, const __grid_constant__ TensorMap map_b, OUT* D, const int* rows, int* groups_found,
             int groups, int N, int K, int ldd) {
  DYNAMIC_SHARED(Smem, ring);
  const int tiles_n = ceil_div(N, TILE_N), k_blocks = ceil_div(K, TILE_K), warpgroup = warpgroup_index();
  if (threadIdx.x == 0) init_ring(ring, CONSUMERS);
  __syncthreads();

  RingState<STAGES> state;
  Window window = {0, 0, 0};
  if (warpgroup == 0) {
    reg_dec<PRODUCER_REGISTERS>();
    if (threadIdx.x < WINDOW)  // a whole warp, since it searches: the shuffles of the next search wait for the lane that copies
      for (int i = blockIdx.x;; i += gridDim.x) {
        const Found found = find(window, rows, groups, tiles_n, i);
        if (found.group < 0) break;
        if (threadIdx.x == 0) {
          const Tile tile = place_of(found);
          if (groups_found != nullptr) groups_found[i] = found.group;
          for (int k = 0; k < k_blocks; ++k)
            load_stage(ring, state, map_a, map_b, found.first_row + tile.m * TILE_M, found.group * N + tile.n * TILE_N, k);
        }
      }
  } else {
    reg_inc<CONSUMER_REGISTERS>();
    const int row = (warpgroup - 1) * 64;
    auto release = [&](int stage) {
      if (threadIdx.x % WARPGROUP == 0) mbarrier_arrive(&ring.empty[stage]);
    };
    float d[1][TILE_N / 2];
    for (int i = blockIdx.x;; i += gridDim.x) {
      const Found found = find(window, rows, groups, tiles_n, i);
      if (found.group < 0) break;
      const Tile tile = place_of(found);
      const int last = multiply_tile(d, ring, state, row, k_blocks, release);
      finish_tile(d, last, release);
      store_accumulators(D + (int64_t)found.first_row * ldd, ldd, found.rows, tile.m * TILE_M + row, tile.n * TILE_N, d[0]);
    }
  }
}
