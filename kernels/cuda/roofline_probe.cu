// roofline_probe.cu - loads with a chosen number of fused multiply-adds (FMA) each: where the memory's roof meets the arithmetic one.
//
// Computes: every element v of x becomes f(f(...f(v))), FMAS times, f(v) = scale * v + shift, in fp32 on the CUDA cores; y holds one sum
// a warp (512 elements). 2 * FMAS operations for 4 bytes loaded: the arithmetic intensity is FMAS / 2 FLOP/byte.
// Launch: 256 threads a block, 16 elements a thread, as four 128-bit loads; the grid covers x. x null: register-resident, the
// elements are made from their index and nothing is loaded (the sums, 4 bytes for 512 elements, are not counted).
// Invariants: each element is loaded once; the 16 chains of FMAs of a thread do not depend on each other, so their latency hides.
// roof[0] is what the roofline model says this launch can reach at most, in FLOP/s, from its counts and two ceilings.
#include "hopper.cuh"

#ifndef FMAS
#define FMAS 8
#endif
constexpr int THREADS = 256, VECTORS = 4, ELEMENTS = 4 * VECTORS;

// Element `index` where nothing is loaded.
HOPPER_FN float made_from(uint64_t index) { return (float)(index % 256) * (1.0f / 256.0f); }

extern "C" __global__ void __launch_bounds__(THREADS)
roofline_probe(const float* x, float* y, float* roof_out, uint64_t n, float scale, float shift, float flops, float bytes, float peak,
               float bandwidth) {
  const uint64_t first = (uint64_t)blockIdx.x * THREADS * ELEMENTS + 4 * threadIdx.x;  // vector j: 4 * THREADS * j further
  float v[ELEMENTS];
#pragma unroll
  for (int j = 0; j < VECTORS; ++j) {
    const uint64_t at = first + j * 4 * THREADS;
    if (x != nullptr && at + 4 <= n) {
      const vec128 word = load128(x + at);
#pragma unroll
      for (int i = 0; i < 4; ++i) v[4 * j + i] = __uint_as_float(word.w[i]);
    } else {
#pragma unroll
      for (int i = 0; i < 4; ++i) v[4 * j + i] = x == nullptr ? made_from(at + i) : at + i < n ? x[at + i] : 0.0f;
    }
  }
#pragma unroll 8
  for (int f = 0; f < FMAS; ++f)
#pragma unroll
    for (int i = 0; i < ELEMENTS; ++i) v[i] = __fmaf_rn(v[i], scale, shift);

  float sum = 0.0f;
#pragma unroll
  for (int i = 0; i < ELEMENTS; ++i)
    if (first + i / 4 * 4 * THREADS + i % 4 < n) sum += v[i];
#pragma unroll
  for (int lanes = 16; lanes > 0; lanes /= 2) sum += __shfl_xor_sync(0xFFFFFFFFu, sum, lanes);
  if (threadIdx.x % 32 == 0) y[blockIdx.x * (THREADS / 32) + threadIdx.x / 32] = sum;

  if (blockIdx.x == 0 && threadIdx.x == 0) {
    // CHALLENGE-BEGIN: the most this launch can reach, FLOP/s: the lower of the two roofs; nothing moved leaves only one
    const float roof = bytes > 0.0f ? fminf(peak, bandwidth * (flops / bytes)) : peak;
    // CHALLENGE-END
    roof_out[0] = roof;
  }
}
