// memory_bound.cu - three ways to be bound by memory: bandwidth (stream_copy), latency (pointer_chase), locality (gather).
//
//   stream_copy     y = x, n floats in words of WIDTH bytes, by a grid that stays: each thread takes every (threads of the grid)-th
//                   word and loads `loads` of them (1, 2, 4, 8) before it stores the first. How many is decided by Little's law
//                   from `bandwidth` (byte/s) and `latency` (s), or fixed by -DLOADS; in_flight[0] gets the bytes needed in flight.
//   pointer_chase   chain c: i = start[c], then `steps` times i = next[i]; each load's address is the last load's value.
//   gather          y[i] = x[index[i]]: 4 bytes wanted of each 32-byte sector touched, unless neighbours want the same sector.
// Launch: stream_copy any grid and block of whole warps; pointer_chase one thread a chain; gather 4 elements a thread, the grid covers n.
// Invariants: every element of y is written once; x and y do not overlap, which the compiler is not told, so that it neither merges
// nor moves loads across stores: `loads` is what is in flight.
#include "hopper.cuh"

#ifndef WIDTH
#define WIDTH 16
#endif
#if WIDTH == 4
using Word = uint32_t;
#elif WIDTH == 8
using Word = uint2;
#else
using Word = vec128;
#endif
static_assert(sizeof(Word) == WIDTH, "WIDTH is 4, 8 or 16 bytes");

// Floats after the last whole word are copied one by one. -DTAIL=WHOLE and -DTAIL=NONE build the defects whole_words and no_tail.
enum { ONE_BY_ONE, WHOLE, NONE };
#ifndef TAIL
#define TAIL ONE_BY_ONE
#endif

template <class T> HOPPER_FN T load_word(const T* p) { return *p; }
template <class T> HOPPER_FN void store_word(T* p, T v) { *p = v; }
HOPPER_FN vec128 load_word(const vec128* p) { return load128(p); }
HOPPER_FN void store_word(vec128* p, vec128 v) { store128(p, v); }

template <int LOADS_EACH> HOPPER_FN void copy_words(Word* y, const Word* x, uint64_t words) {
  const uint64_t threads = (uint64_t)gridDim.x * blockDim.x;
  uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
#pragma unroll 1
  for (; i + (LOADS_EACH - 1) * threads < words; i += LOADS_EACH * threads) {
    Word w[LOADS_EACH];
#pragma unroll
    for (int j = 0; j < LOADS_EACH; ++j) w[j] = load_word(x + i + j * threads);
#pragma unroll
    for (int j = 0; j < LOADS_EACH; ++j) store_word(y + i + j * threads, w[j]);
  }
#pragma unroll 1
  for (; i < words; i += threads) store_word(y + i, load_word(x + i));
}

extern "C" __global__ void __launch_bounds__(1024)
stream_copy(const float* x, float* y, float* in_flight, uint64_t n, float bandwidth, float latency) {
  // CHALLENGE-BEGIN: bytes that must be on their way at any time, on the whole device (Little's law)
  const float needed = bandwidth * latency;
  // CHALLENGE-END
  const float round = (float)gridDim.x * blockDim.x * WIDTH;  // bytes in flight when every thread has one load out
  int loads = 1;
  while (loads < 8 && loads * round < needed) loads *= 2;

  const uint64_t words = (n * sizeof(float) + (TAIL == WHOLE ? WIDTH - 1 : 0)) / WIDTH;
  const Word* from = reinterpret_cast<const Word*>(x);
  Word* to = reinterpret_cast<Word*>(y);
#ifdef LOADS
  loads = LOADS;
  copy_words<LOADS>(to, from, words);
#else
  if (loads == 1) copy_words<1>(to, from, words);
  if (loads == 2) copy_words<2>(to, from, words);
  if (loads == 4) copy_words<4>(to, from, words);
  if (loads == 8) copy_words<8>(to, from, words);
#endif
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    for (uint64_t i = words * (WIDTH / sizeof(float)); TAIL != NONE && i < n; ++i) y[i] = x[i];
    in_flight[0] = needed;
  }
}

extern "C" __global__ void __launch_bounds__(1024)
pointer_chase(const uint32_t* next, const uint32_t* start, uint32_t* end, int chains, int steps) {
  const int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= chains) return;
  uint32_t i = start[c];
#pragma unroll 8
  for (int s = 0; s < steps; ++s) i = next[i];
  end[c] = i;
}

extern "C" __global__ void __launch_bounds__(256)
gather(const float* x, const uint32_t* index, float* y, uint64_t n) {
  const uint64_t at = 4 * ((uint64_t)blockIdx.x * blockDim.x + threadIdx.x);
  if (at + 4 <= n) {
    const vec128 i = load128(index + at);
    vec128 v;
#pragma unroll
    for (int j = 0; j < 4; ++j) v.w[j] = __float_as_uint(x[i.w[j]]);
    store128(y + at, v);
  } else {
    for (uint64_t k = at; k < n; ++k) y[k] = x[index[k]];
  }
}
