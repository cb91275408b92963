// hopper.cuh - the vocabulary of the course's kernels: one source, two back ends.
//
// A kernel includes this file and nothing else. Compiled by NVRTC or nvcc for sm_90a the words below are inline PTX
// (hopper_device*.cuh); compiled by a host C++ compiler they are calls into the emulator (hopper_host.h). This file holds
// what is the same on both: element types, 128-bit words, descriptors and swizzles.
//
//   element types     bf16 fp16 e4m3 tf32, convert<T>(float), convert_saturate<T>(float), to_float(x), pack2<T>(lo, hi)
//   shared memory     SHARED(T, name, [dims])   SHARED_ALIGNED(bytes, T, name, [dims])   DYNAMIC_SHARED(Struct, name)
//   mbarriers         mbarrier_init / arrive / arrive_expect_tx / expect_tx / arrive_remote[_read] / try_wait / wait / wait_cluster
//   fences            fence_mbarrier_init  fence_proxy_async  fence_proxy_async_global
//   TMA               tma_prefetch  tma_load_2d[_multicast][_hint]  tma_store_2d  tma_store_commit / wait_read<N> / wait<N>
//   wgmma             wgmma_fence / commit / wait<N>  wgmma_ss<N, T>  wgmma_rs<N, T>  wgmma_ss_fp16_accumulate<N>
//   descriptors       desc_k_major<Swizzle>  desc_mn_major<Swizzle>  desc_advance  swizzled_offset<Swizzle>
//   registers         reg_dec<R>  reg_inc<R>
//   barriers          __syncthreads  named_barrier_sync / arrive   cluster_rank / size / arrive / wait / sync / map
//   warp              __shfl*_sync  __ballot_sync  __syncwarp  elect_one  stmatrix_x4 / x2  ldmatrix_x4
//   global memory     load128  store128 (and _stream)  load_acquire  store_release  atomic_add_release  atomicAdd / Max / CAS
#pragma once

#if defined(__CUDACC_RTC__)
typedef signed char int8_t;
typedef unsigned char uint8_t;
typedef short int16_t;
typedef unsigned short uint16_t;
typedef int int32_t;
typedef unsigned int uint32_t;
typedef long long int64_t;
typedef unsigned long long uint64_t;
typedef unsigned long long uintptr_t;
#else
#include <stdint.h>
#endif

#if defined(__CUDACC__)
#define HOPPER_FN __device__ __forceinline__
#else
#define HOPPER_FN inline
#endif

// ---------------------------------------------------------------------------------------------- types
// Element types hold their bits in x; arithmetic is done in float. One size and alignment on both back ends.
struct bf16 { uint16_t x; };  // 8 exponent bits, 8 significant bits
struct fp16 { uint16_t x; };  // 5 exponent bits, 11 significant bits, largest finite value 65504
struct e4m3 { uint8_t x; };   // FP8: 4 exponent bits, 4 significant bits, largest finite value 448, no infinity
struct tf32 { uint32_t x; };  // a float of which the matrix unit reads 8 exponent bits and 11 significant bits

struct mbarrier { uint64_t state; };                       // lives in shared memory, 8-byte aligned; opaque
struct alignas(64) TensorMap { uint64_t opaque[16]; };     // a CUtensorMap, passed as const __grid_constant__ TensorMap
struct alignas(16) vec128 { uint32_t w[4]; };              // what one thread moves in one access at most

enum { K_MAJOR = 0, MN_MAJOR = 1 };  // which index of a matrix operand is contiguous in shared memory

// ---------------------------------------------------------------------------------------------- back end
#if defined(__CUDACC__)
#include "hopper_device.cuh"
#include "hopper_device_tma.cuh"
#include "hopper_device_wgmma.cuh"
#else
#include "hopper_host.h"
#endif

// ---------------------------------------------------------------------------------------------- conversions
template <class T> struct ElementTraits;
template <> struct ElementTraits<bf16> { static constexpr float max_finite = 3.38953138925153547590e38f; };
template <> struct ElementTraits<fp16> { static constexpr float max_finite = 65504.0f; };
template <> struct ElementTraits<e4m3> { static constexpr float max_finite = 448.0f; };
template <> struct ElementTraits<float> { static constexpr float max_finite = 3.40282346638528859812e38f; };

// Round to the nearest T, ties to even. Too large becomes infinity (e4m3 has none: it saturates); NaN stays NaN.
template <class T> HOPPER_FN T convert(float value);
template <> HOPPER_FN bf16 convert<bf16>(float value) { return float_to_bf16(value); }
template <> HOPPER_FN fp16 convert<fp16>(float value) { return float_to_fp16(value); }
template <> HOPPER_FN e4m3 convert<e4m3>(float value) { return float_to_e4m3(value); }
template <> HOPPER_FN float convert<float>(float value) { return value; }

// As convert, but what is too large (infinities too) becomes the largest finite T. NaN stays NaN.
template <class T> HOPPER_FN T convert_saturate(float value) {
  const float limit = ElementTraits<T>::max_finite;
  return convert<T>(value > limit ? limit : value < -limit ? -limit : value);
}

// Exact: every bf16, fp16 and e4m3 value is a float.
HOPPER_FN float to_float(float value) { return value; }
HOPPER_FN float to_float(bf16 value) { return __uint_as_float((uint32_t)value.x << 16); }
HOPPER_FN float to_float(fp16 value) { return fp16_to_float(value); }
HOPPER_FN float to_float(e4m3 value) { return e4m3_to_float(value); }

// Two neighbours as one 32-bit register, lo at the lower address: what stmatrix and 32-bit stores take.
template <class T> HOPPER_FN uint32_t pack2(float lo, float hi) {
  return (uint32_t)convert<T>(lo).x | (uint32_t)convert<T>(hi).x << 16;
}

// ---------------------------------------------------------------------------------------------- swizzle
// Byte offset in a tile whose rows are `Swizzle` bytes long (128, 64 or 32; 0: rows of `row_bytes`, not swizzled), as TMA
// writes it: the 16-byte chunk index is XORed with the row's place in its group. The tile starts at a multiple of
// 8 * Swizzle bytes. offset(row, byte) is its own inverse within a row.
template <int Swizzle> HOPPER_FN uint32_t swizzled_offset(uint32_t row, uint32_t byte, uint32_t row_bytes = Swizzle) {
  uint32_t linear = row * row_bytes + byte;
  if (Swizzle == 128) return linear ^ ((linear >> 7 & 7) << 4);
  if (Swizzle == 64) return linear ^ ((linear >> 7 & 3) << 4);
  if (Swizzle == 32) return linear ^ ((linear >> 7 & 1) << 4);
  return linear;
}

// ---------------------------------------------------------------------------------------------- wgmma descriptors
// The 64-bit matrix descriptor: start address, leading and stride byte offsets in units of 16 bytes, layout in the top bits.
template <int Swizzle> HOPPER_FN uint64_t smem_descriptor(const void* tile, uint32_t leading_bytes, uint32_t stride_bytes) {
  static_assert(Swizzle == 0 || Swizzle == 32 || Swizzle == 64 || Swizzle == 128, "swizzle spans are 0, 32, 64, 128 bytes");
  const uint64_t layout = Swizzle == 128 ? 1 : Swizzle == 64 ? 2 : Swizzle == 32 ? 3 : 0;
  return (uint64_t)((smem_address(tile) & 0x3FFFF) >> 4) | (uint64_t)(leading_bytes >> 4) << 16 |
         (uint64_t)(stride_bytes >> 4) << 32 | layout << 62;
}

// K contiguous, rows of exactly `Swizzle` bytes as a TMA box leaves them. The tile starts at a multiple of 8 * Swizzle bytes.
template <int Swizzle> HOPPER_FN uint64_t desc_k_major(const void* tile) {
  static_assert(Swizzle != 0, "without swizzle use smem_descriptor<0>(tile, bytes between k chunks, bytes between row groups)");
  return smem_descriptor<Swizzle>(tile, 16, 8 * Swizzle);
}

// M or N contiguous (bf16 and fp16 only): boxes of `Swizzle` bytes along M/N, one K index a row; `leading_bytes` is the
// distance from one such box to the next along M/N (a box of k rows: k * Swizzle).
template <int Swizzle> HOPPER_FN uint64_t desc_mn_major(const void* tile, uint32_t leading_bytes) {
  static_assert(Swizzle != 0, "without swizzle use smem_descriptor<0>");
  return smem_descriptor<Swizzle>(tile, leading_bytes, 8 * Swizzle);
}

// The same tile, `bytes` further along: one k step is 32 bytes for K-major, 16 * Swizzle for MN-major 16-bit types.
HOPPER_FN uint64_t desc_advance(uint64_t descriptor, uint32_t bytes) { return descriptor + (bytes >> 4); }

// ---------------------------------------------------------------------------------------------- accumulators
// Where register r of thread t (0..127) of a warpgroup lies in the 64 x N accumulator tile.
HOPPER_FN int accumulator_row(int t, int r) { return 16 * (t / 32) + t % 32 / 4 + 8 * (r / 2 % 2); }
HOPPER_FN int accumulator_column(int t, int r) { return 8 * (r / 4) + 2 * (t % 4) + r % 2; }
