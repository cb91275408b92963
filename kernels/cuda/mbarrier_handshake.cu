// mbarrier_handshake.cu - one producer, two consumers, two barriers a buffer: arrivals, transaction bytes, parity.
//
//   mbarrier_handshake   y = 2 x, an (M, N) fp32 matrix. The producer copies boxes of 8 rows x 32 columns with the copy engine, as two
//                        halves of 4 rows; two consumer warps double them and store them.
//   barrier_script       one thread plays a list of events on one mbarrier and notes the phase's parity after each: what the
//                        hardware's barrier does, to hold a model of it against.
// Launch: mbarrier_handshake 96 threads (warp 0 is the producer), one block a strip of 32 columns, all M rows of it, box after box.
// Invariants:
//   - FULL[b] completes a phase when the producer has arrived (count 1) and every byte it expects has landed; the first half may land
//     before the bytes are expected: the transaction count is then negative, and the arrival still missing keeps the phase open;
//   - EMPTY[b] completes when both consumer warps have read the buffer (count 2);
//   - box i uses buffer i % 2 in lap i / 2, whose lowest bit is the parity that the consumers wait for; the producer waits for the
//     opposite parity of EMPTY, which a fresh barrier lets pass;
//   - a box over the edge of x is filled with zeros and counts its full bytes.
#include "hopper.cuh"
#include "hopper_device_barrier_probe.cuh"
#include "bugs.cuh"

constexpr int BUFFERS = 2, BOX_ROWS = 8, BOX_COLUMNS = 32, CONSUMERS = 2, THREADS = 32 * (1 + CONSUMERS);
constexpr int HALF_ROWS = BOX_ROWS / 2;
constexpr uint32_t HALF_BYTES = HALF_ROWS * BOX_COLUMNS * sizeof(float);

struct Smem {
  float box[BUFFERS][BOX_ROWS * BOX_COLUMNS];
  mbarrier full[BUFFERS];
  mbarrier empty[BUFFERS];
};

// One thread: both halves of box `i` of the strip that starts at column `column`.
HOPPER_FN void produce(Smem& sm, const TensorMap& map, int column, int i) {
  const int b = i % BUFFERS, row = i * BOX_ROWS;
  if (!BUGGY(no_empty_wait)) mbarrier_wait(&sm.empty[b], i / BUFFERS % 2 ^ 1);
  tma_load_2d(sm.box[b], &map, column, row, &sm.full[b]);
  // CHALLENGE-BEGIN: the bytes that this phase of FULL expects, of both copies together
  uint32_t expected = 2 * HALF_BYTES;
  // CHALLENGE-END
  if (BUGGY(wrong_expect_tx)) expected = HALF_BYTES;
  if (BUGGY(too_much_expect_tx)) expected = 3 * HALF_BYTES;
  mbarrier_arrive_expect_tx(&sm.full[b], expected);
  tma_load_2d(sm.box[b] + HALF_ROWS * BOX_COLUMNS, &map, column, row + HALF_ROWS, &sm.full[b]);
}

// Both consumer warps: box `i`, doubled, to rows i * 8 .. of y.
HOPPER_FN void consume(Smem& sm, float* y, int M, int N, int ld, int column, int i) {
  const int b = i % BUFFERS, lane = threadIdx.x % 32, warp = threadIdx.x / 32 - 1;
  if (!BUGGY(no_full_wait)) mbarrier_wait(&sm.full[b], i / BUFFERS % 2);
  for (int r = warp; r < BOX_ROWS; r += CONSUMERS) {
    const int row = i * BOX_ROWS + r;
    const float v = sm.box[b][r * BOX_COLUMNS + lane];
    if (row < M && column + lane < N) y[(int64_t)row * ld + column + lane] = 2.0f * v;
  }
  __syncwarp();  // the whole warp has read the buffer; lane 0 says so
  if (lane == 0) mbarrier_arrive(&sm.empty[b]);
}

extern "C" __global__ void __launch_bounds__(THREADS)
mbarrier_handshake(const __grid_constant__ TensorMap map, float* y, int M, int N, int ld) {
  DYNAMIC_SHARED(Smem, sm);
  const int column = blockIdx.x * BOX_COLUMNS, boxes = (M + BOX_ROWS - 1) / BOX_ROWS;
  if (threadIdx.x == 0) {
    for (int b = 0; b < BUFFERS; ++b) {
      mbarrier_init(&sm.full[b], 1, "FULL", b);
      mbarrier_init(&sm.empty[b], CONSUMERS, "EMPTY", b);
    }
    if (!BUGGY(no_mbarrier_init_fence)) fence_mbarrier_init();
  }
  __syncthreads();
  if (threadIdx.x == 0)
    for (int i = 0; i < boxes; ++i) produce(sm, map, column, i);
  if (threadIdx.x >= 32)
    for (int i = 0; i < boxes; ++i) consume(sm, y, M, N, ld, column, i);
}

enum Event { ARRIVE, EXPECT, ARRIVE_EXPECT, LAND };

extern "C" __global__ void __launch_bounds__(32) barrier_script(const int* events, int* parity, int length, int count) {
  SHARED(mbarrier, barrier, [1]);
  mbarrier_init(barrier, count, "BARRIER");
  fence_mbarrier_init();
  for (int i = 0; i < length; ++i) {
    const int what = events[2 * i], bytes = events[2 * i + 1];
    if (what == ARRIVE) mbarrier_arrive(barrier);
    if (what == EXPECT) mbarrier_expect_tx(barrier, bytes);
    if (what == ARRIVE_EXPECT) mbarrier_arrive_expect_tx(barrier, bytes);
    if (what == LAND) mbarrier_complete_tx(barrier, bytes);
    parity[i] = mbarrier_test_wait(barrier, 0);  // phase 0 is over: the phase bit is 1
  }
}
