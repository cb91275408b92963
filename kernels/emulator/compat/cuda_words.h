// cuda_words.h - CUDA's own words for a file that knows nothing of this course, as calls into the emulator: qualifiers, indices, vector
// types, barriers, warp operations, atomics. kernels/foreign puts it before the device code that it takes from such a file.
#pragma once
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include "api.h"
#include "foreign.h"
#include "numbers.h"

// Default arguments take the caller's file and line.
#define EMU_WHERE const char *file = __builtin_FILE(), int line = __builtin_LINE()
#define EMU_HERE emu::Where{file, line}

#define __global__ __attribute__((noinline, used))
#define __device__
#define __host__
#define __constant__
#define __managed__
#define __forceinline__ inline
#define __noinline__ __attribute__((noinline))
#define __inline__ inline
#define __grid_constant__
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#define __maxnreg__(...)
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __builtin_align__(bytes) __attribute__((aligned(bytes)))
#define __CUDACC__ 1

typedef unsigned char uchar;
typedef unsigned long long ulonglong;
typedef long long longlong;

#define threadIdx (emu_thread->thread)
#define blockIdx (emu_thread->block)
#define blockDim (emu_thread->block_dim)
#define gridDim (emu_thread->grid_dim)
constexpr int warpSize = 32;
#undef assert
#define assert(holds) ((holds) ? (void)0 : emu_assert_failed(#holds, emu::Where{__FILE__, __LINE__}))

// ---------------------------------------------------------------------------------------------- vector types
struct uint3 {
  unsigned x, y, z;
  uint3() = default;
  constexpr uint3(unsigned x, unsigned y, unsigned z) : x(x), y(y), z(z) {}
  constexpr uint3(const emu::Dim3& d) : x(d.x), y(d.y), z(d.z) {}
};
inline uint3 make_uint3(unsigned x, unsigned y, unsigned z) { return {x, y, z}; }
struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
  constexpr dim3(const uint3& d) : x(d.x), y(d.y), z(d.z) {}
  constexpr dim3(const emu::Dim3& d) : x(d.x), y(d.y), z(d.z) {}
};
#define EMU_VECTOR1(name, T, align) \
  struct alignas(align) name##1 { T x; }; \
  inline name##1 make_##name##1(T x) { return {x}; }
#define EMU_VECTOR2(name, T, align) \
  struct alignas(align) name##2 { T x, y; }; \
  inline name##2 make_##name##2(T x, T y) { return {x, y}; }
#define EMU_VECTOR3(name, T) \
  struct name##3 { T x, y, z; }; \
  inline name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; }
#define EMU_VECTOR4(name, T, align) \
  struct alignas(align) name##4 { T x, y, z, w; }; \
  inline name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }
#define EMU_VECTORS(name, T, a1, a2, a4) EMU_VECTOR1(name, T, a1) EMU_VECTOR2(name, T, a2) EMU_VECTOR3(name, T) EMU_VECTOR4(name, T, a4)
EMU_VECTORS(char, signed char, 1, 2, 4)
EMU_VECTORS(uchar, unsigned char, 1, 2, 4)
EMU_VECTORS(short, short, 2, 4, 8)
EMU_VECTORS(ushort, unsigned short, 2, 4, 8)
EMU_VECTORS(int, int, 4, 8, 16)
EMU_VECTOR1(uint, unsigned, 4) EMU_VECTOR2(uint, unsigned, 8) EMU_VECTOR4(uint, unsigned, 16)
EMU_VECTORS(long, long, 8, 16, 16)
EMU_VECTORS(ulong, unsigned long, 8, 16, 16)
EMU_VECTORS(longlong, long long, 8, 16, 16)
EMU_VECTORS(ulonglong, unsigned long long, 8, 16, 16)
EMU_VECTORS(float, float, 4, 8, 16)
EMU_VECTORS(double, double, 8, 16, 16)

// ---------------------------------------------------------------------------------------------- shared memory, barriers, fences
// kernels/foreign turns __shared__ declarations into these.
// A tile of whole kilobytes begins at one, as it does in a block that holds nothing but such tiles: the 128-byte swizzle counts on it.
constexpr unsigned emu_shared_alignment(unsigned said, unsigned natural, unsigned bytes) {
  const unsigned least = said > natural ? said : natural;
  return bytes % 1024 == 0 && least < 1024 ? 1024 : least > 16 ? least : 16;
}
#define EMU_STATIC_SHARED(type, name, alignment, file, line) \
  (*(type*)emu_shared_static(&name##_emu_key, sizeof(type), emu_shared_alignment(alignment, alignof(type), sizeof(type)), #name, emu::Where{file, line}))

inline void __syncthreads(EMU_WHERE) { emu_named_barrier(0, 0, true, EMU_HERE); }
inline int __syncthreads_count(int p, EMU_WHERE) { return emu_barrier_reduce(p != 0, 0, EMU_HERE); }
inline int __syncthreads_and(int p, EMU_WHERE) { return emu_barrier_reduce(p != 0, 1, EMU_HERE); }
inline int __syncthreads_or(int p, EMU_WHERE) { return emu_barrier_reduce(p != 0, 2, EMU_HERE); }
inline void __threadfence(EMU_WHERE) { emu_threadfence(EMU_HERE); }
inline void __threadfence_block(EMU_WHERE) { emu_threadfence(EMU_HERE); }
inline void __threadfence_system(EMU_WHERE) { emu_threadfence(EMU_HERE); }
inline void __nanosleep(unsigned, EMU_WHERE) { emu_yield(EMU_HERE); }
inline void __trap(EMU_WHERE) { emu_trap(EMU_HERE); }
inline void __brkpt(EMU_WHERE) { emu_trap(EMU_HERE); }
inline long long clock64() { return emu_clock(); }
inline int clock() { return (int)emu_clock(); }
inline unsigned long long __globaltimer() { return (unsigned long long)emu_clock(); }
inline size_t __cvta_generic_to_shared(const void* p, EMU_WHERE) { return emu_smem_address(p, EMU_HERE); }
inline void* __cvta_shared_to_generic(size_t a, EMU_WHERE) { return emu_smem_pointer((uint32_t)a, EMU_HERE); }
inline size_t __cvta_generic_to_global(const void* p) { return (size_t)p; }
inline unsigned __isShared(const void* p) { return emu_is_shared(p); }
inline unsigned __isGlobal(const void* p) { return !emu_is_shared(p); }

// ---------------------------------------------------------------------------------------------- warps
template <class T> inline T emu_shuffle(emu::Collective kind, uint32_t mask, T value, int argument, int width, emu::Where where) {
  uint64_t words[(sizeof(T) + 7) / 8] = {};
  __builtin_memcpy(words, &value, sizeof(T));
  for (uint64_t& w : words) w = emu_collective(kind, mask, w, argument, width, where);
  __builtin_memcpy(&value, words, sizeof(T));
  return value;
}
inline void __syncwarp(uint32_t mask = ~0u, EMU_WHERE) { emu_collective(emu::SYNC_WARP, mask, 0, 0, 32, EMU_HERE); }
template <class T> inline T __shfl_sync(uint32_t mask, T v, int lane, int width = 32, EMU_WHERE) {
  return emu_shuffle(emu::SHUFFLE, mask, v, lane, width, EMU_HERE);
}
template <class T> inline T __shfl_xor_sync(uint32_t mask, T v, int lanes, int width = 32, EMU_WHERE) {
  return emu_shuffle(emu::SHUFFLE_XOR, mask, v, lanes, width, EMU_HERE);
}
template <class T> inline T __shfl_down_sync(uint32_t mask, T v, unsigned lanes, int width = 32, EMU_WHERE) {
  return emu_shuffle(emu::SHUFFLE_DOWN, mask, v, (int)lanes, width, EMU_HERE);
}
template <class T> inline T __shfl_up_sync(uint32_t mask, T v, unsigned lanes, int width = 32, EMU_WHERE) {
  return emu_shuffle(emu::SHUFFLE_UP, mask, v, (int)lanes, width, EMU_HERE);
}
inline uint32_t __ballot_sync(uint32_t mask, int p, EMU_WHERE) { return (uint32_t)emu_collective(emu::BALLOT, mask, p != 0, 0, 32, EMU_HERE); }
inline int __any_sync(uint32_t mask, int p, EMU_WHERE) { return emu_collective(emu::BALLOT, mask, p != 0, 0, 32, EMU_HERE) != 0; }
inline int __all_sync(uint32_t mask, int p, EMU_WHERE) { return emu_collective(emu::BALLOT, mask, p == 0, 0, 32, EMU_HERE) == 0; }
inline uint32_t __activemask(EMU_WHERE) { return emu_activemask(EMU_HERE); }
inline unsigned emu_lane() {
  const emu::Dim3 &t = threadIdx, &d = blockDim;
  return (t.x + d.x * (t.y + d.y * t.z)) % 32;
}
inline unsigned __laneid() { return emu_lane(); }
// Each lane in turn says its value to all lanes of the mask.
template <class T, class F> inline void emu_each_lane(uint32_t mask, T v, emu::Where where, F then) {
  const emu::Dim3& d = blockDim;
  const unsigned threads = d.x * d.y * d.z, t = threadIdx.x + d.x * (threadIdx.y + d.y * threadIdx.z);
  if (threads - t / 32 * 32 < 32) mask &= (1u << (threads % 32)) - 1;
  for (uint32_t m = mask; m; m &= m - 1) {
    const int lane = __builtin_ctz(m);
    then(lane, emu_shuffle(emu::SHUFFLE, mask, v, lane, 32, where));
  }
}
template <class T, class F> inline T emu_reduce_lanes(uint32_t mask, T v, emu::Where where, F combine) {
  T all = T();
  bool first = true;
  emu_each_lane(mask, v, where, [&](int, T one) { all = first ? one : (T)combine(all, one), first = false; });
  return all;
}
#define EMU_REDUCE(name, T, expression)                                                      \
  inline T name(uint32_t mask, T v, EMU_WHERE) {                                             \
    return emu_reduce_lanes(mask, v, EMU_HERE, [](T a, T b) { return (T)(expression); });    \
  }
EMU_REDUCE(__reduce_add_sync, unsigned, a + b) EMU_REDUCE(__reduce_add_sync, int, a + b)
EMU_REDUCE(__reduce_min_sync, unsigned, a < b ? a : b) EMU_REDUCE(__reduce_min_sync, int, a < b ? a : b)
EMU_REDUCE(__reduce_max_sync, unsigned, a < b ? b : a) EMU_REDUCE(__reduce_max_sync, int, a < b ? b : a)
EMU_REDUCE(__reduce_and_sync, unsigned, a & b) EMU_REDUCE(__reduce_or_sync, unsigned, a | b) EMU_REDUCE(__reduce_xor_sync, unsigned, a ^ b)
template <class T> inline uint32_t __match_any_sync(uint32_t mask, T v, EMU_WHERE) {
  uint32_t same = 0;
  emu_each_lane(mask, v, EMU_HERE, [&](int lane, T one) { same |= (uint32_t)(one == v) << lane; });
  return same;
}
template <class T> inline uint32_t __match_all_sync(uint32_t mask, T v, int* all, EMU_WHERE) {
  const uint32_t same = __match_any_sync(mask, v, file, line);
  *all = __all_sync(mask, same == mask, file, line);
  return *all ? mask : 0;
}

// ---------------------------------------------------------------------------------------------- atomics
template <class T> struct EmuNumber;
template <> struct EmuNumber<int> { static constexpr emu::Number code = emu::I32; };
template <> struct EmuNumber<unsigned> { static constexpr emu::Number code = emu::U32; };
template <> struct EmuNumber<float> { static constexpr emu::Number code = emu::F32; };
template <> struct EmuNumber<long> { static constexpr emu::Number code = emu::I64; };
template <> struct EmuNumber<long long> { static constexpr emu::Number code = emu::I64; };
template <> struct EmuNumber<unsigned long> { static constexpr emu::Number code = emu::U64; };
template <> struct EmuNumber<unsigned long long> { static constexpr emu::Number code = emu::U64; };
template <class T> inline T emu_atomic_as(T* p, emu::AtomicOp op, T operand, T compare, emu::Where where, emu::Order order = emu::RELAXED) {
  uint64_t o = 0, c = 0;
  __builtin_memcpy(&o, &operand, sizeof(T));
  __builtin_memcpy(&c, &compare, sizeof(T));
  o = emu_atomic((void*)p, op, EmuNumber<T>::code, order, o, c, where);
  __builtin_memcpy(&operand, &o, sizeof(T));
  return operand;
}
// Any other operation on a word, by compare and exchange. f: old value -> new value. Word: unsigned or unsigned long long.
template <class Word, class F> inline Word emu_atomic_loop(Word* p, emu::Where where, F f) {
  Word seen = emu_atomic_as<Word>(p, emu::COMPARE_EXCHANGE, 0, 0, where);
  for (;;) {
    const Word old = emu_atomic_as<Word>(p, emu::COMPARE_EXCHANGE, f(seen), seen, where);
    if (old == seen) return old;
    seen = old;
  }
}
template <class T> struct EmuSame { typedef T type; };  // operands take the pointer's type, as CUDA's overloads do
#define EMU_ATOMIC(name, op)                                                                                                       \
  template <class T> inline T name(T* p, typename EmuSame<T>::type v, EMU_WHERE) { return emu_atomic_as<T>(p, emu::op, v, T(), EMU_HERE); }       \
  template <class T> inline T name##_block(T* p, typename EmuSame<T>::type v, EMU_WHERE) { return name(p, v, file, line); }                      \
  template <class T> inline T name##_system(T* p, typename EmuSame<T>::type v, EMU_WHERE) { return name(p, v, file, line); }
EMU_ATOMIC(atomicAdd, ADD)
EMU_ATOMIC(atomicMax, MAX)
EMU_ATOMIC(atomicMin, MIN)
EMU_ATOMIC(atomicExch, EXCHANGE)
EMU_ATOMIC(atomicOr, OR)
EMU_ATOMIC(atomicAnd, AND)
template <class T> inline T atomicSub(T* p, typename EmuSame<T>::type v, EMU_WHERE) { return emu_atomic_as<T>(p, emu::ADD, (T)(0 - v), T(), EMU_HERE); }
template <class T> inline T atomicCAS(T* p, typename EmuSame<T>::type compare, typename EmuSame<T>::type v, EMU_WHERE) {
  return emu_atomic_as<T>(p, emu::COMPARE_EXCHANGE, v, compare, EMU_HERE);
}
inline unsigned atomicXor(unsigned* p, unsigned v, EMU_WHERE) { return emu_atomic_loop(p, EMU_HERE, [=](unsigned o) { return o ^ v; }); }
inline int atomicXor(int* p, int v, EMU_WHERE) { return (int)atomicXor((unsigned*)p, (unsigned)v, file, line); }
inline unsigned long long atomicXor(unsigned long long* p, unsigned long long v, EMU_WHERE) {
  return emu_atomic_loop(p, EMU_HERE, [=](unsigned long long o) { return o ^ v; });
}
inline unsigned atomicInc(unsigned* p, unsigned last, EMU_WHERE) {
  return emu_atomic_loop(p, EMU_HERE, [=](unsigned o) { return o >= last ? 0 : o + 1; });
}
inline unsigned atomicDec(unsigned* p, unsigned last, EMU_WHERE) {
  return emu_atomic_loop(p, EMU_HERE, [=](unsigned o) { return o == 0 || o > last ? last : o - 1; });
}
inline double atomicAdd(double* p, double v, EMU_WHERE) {
  const unsigned long long old = emu_atomic_loop((unsigned long long*)p, EMU_HERE, [=](unsigned long long o) {
    double d;
    __builtin_memcpy(&d, &o, 8);
    d += v;
    __builtin_memcpy(&o, &d, 8);
    return o;
  });
  double d;
  __builtin_memcpy(&d, &old, 8);
  return d;
}
inline float atomicExch(float* p, float v, EMU_WHERE) { return emu_atomic_as<float>(p, emu::EXCHANGE, v, 0, EMU_HERE); }
