// hopper_host.h - the host half of the vocabulary: the same words as hopper_device*.cuh, as calls into the emulator.
// Included by hopper.cuh only. What each function does and what must hold stands at its device half.
#pragma once
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "api.h"
#include "numbers.h"

// The place a call is made from: default arguments take the caller's file and line.
#define HOPPER_WHERE const char *file = __builtin_FILE(), int line = __builtin_LINE()
#define HOPPER_HERE emu::Where{file, line}
#if defined(__SANITIZE_THREAD__)
#define HOPPER_INSTRUMENTED 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define HOPPER_INSTRUMENTED 1
#endif
#endif

// ---------------------------------------------------------------------------------------------- CUDA's own words
#define __global__ __attribute__((noinline, used))
#define __device__
#define __host__
#define __forceinline__ inline
#define __noinline__ __attribute__((noinline))
#define __grid_constant__
#define __cluster_dims__(...)
#define __align__(bytes) alignas(bytes)
#define __shared__ static_assert(false, "write SHARED(T, name, [size]) or DYNAMIC_SHARED(Struct, name): see hopper.cuh");
// Kernels with launch bounds go to a section of their own: that is how the emulator knows that registers are capped.
#define __launch_bounds__(...) __attribute__((section("hopper_capped")))
extern "C" __attribute__((weak, visibility("hidden"))) const char __start_hopper_capped[];
extern "C" __attribute__((weak, visibility("hidden"))) const char __stop_hopper_capped[];

typedef emu::Dim3 dim3;
#define threadIdx (emu_thread->thread)
#define blockIdx (emu_thread->block)
#define blockDim (emu_thread->block_dim)
#define gridDim (emu_thread->grid_dim)
constexpr int warpSize = 32;

struct alignas(8) float2 { float x, y; };
struct alignas(16) float4 { float x, y, z, w; };
struct alignas(8) int2 { int x, y; };
struct alignas(16) int4 { int x, y, z, w; };
struct alignas(8) uint2 { unsigned x, y; };
struct alignas(16) uint4 { unsigned x, y, z, w; };
inline float2 make_float2(float x, float y) { return {x, y}; }
inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
inline int2 make_int2(int x, int y) { return {x, y}; }
inline int4 make_int4(int x, int y, int z, int w) { return {x, y, z, w}; }
inline uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }
inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }

template <class T> inline T min(T a, T b) { return b < a ? b : a; }
template <class T> inline T max(T a, T b) { return a < b ? b : a; }
inline uint32_t __float_as_uint(float v) { return emu::bits_of(v); }
inline int __float_as_int(float v) { return (int)emu::bits_of(v); }
inline float __uint_as_float(uint32_t u) { return emu::float_of(u); }
inline float __int_as_float(int i) { return emu::float_of((uint32_t)i); }
inline float __expf(float v) { return expf(v); }
inline float __logf(float v) { return logf(v); }
inline float __fdividef(float a, float b) { return a / b; }
inline float rsqrtf(float v) { return 1.0f / sqrtf(v); }
inline float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
inline int __popc(uint32_t v) { return __builtin_popcount(v); }
inline int __ffs(uint32_t v) { return __builtin_ffs((int)v); }
inline int __clz(uint32_t v) { return v ? __builtin_clz(v) : 32; }
inline uint32_t __umulhi(uint32_t a, uint32_t b) { return (uint32_t)((uint64_t)a * b >> 32); }
template <class T> inline T __ldg(const T* p) { return *p; }
inline long long clock64() { return emu_clock(); }
inline void __nanosleep(unsigned, HOPPER_WHERE) { emu_yield(HOPPER_HERE); }
inline void __trap(HOPPER_WHERE) { emu_trap(HOPPER_HERE); }

// ---------------------------------------------------------------------------------------------- shared memory
#define SHARED(T, name, dims) SHARED_ALIGNED(128, T, name, dims)
#define SHARED_ALIGNED(bytes, T, name, dims) \
  static char name##_key;                    \
  typedef T name##_type dims;                \
  name##_type& name = *(name##_type*)emu_shared_static(&name##_key, sizeof(name##_type), bytes, #name, emu::Where{__FILE__, __LINE__})
#define DYNAMIC_SHARED(T, name) T& name = *(T*)emu_shared_dynamic(sizeof(T), emu::Where{__FILE__, __LINE__})
inline uint32_t smem_address(const void* p, HOPPER_WHERE) { return emu_smem_address(p, HOPPER_HERE); }

// ---------------------------------------------------------------------------------------------- conversions
inline bf16 float_to_bf16(float v) { return {emu::float_to_bf16(v)}; }
inline fp16 float_to_fp16(float v) { return {emu::float_to_fp16(v)}; }
inline float fp16_to_float(fp16 v) { return emu::fp16_to_float(v.x); }
inline e4m3 float_to_e4m3(float v) { return {emu::float_to_e4m3(v)}; }
inline float e4m3_to_float(e4m3 v) { return emu::e4m3_to_float(v.x); }

// ---------------------------------------------------------------------------------------------- mbarriers
inline void mbarrier_init(mbarrier* b, uint32_t count, const char* name = nullptr, int index = -1, HOPPER_WHERE) {
  emu_mbarrier_init(b, count, name, index, HOPPER_HERE);
}
inline void mbarrier_arrive(mbarrier* b, HOPPER_WHERE) { emu_mbarrier_arrive(b, 1, 0, -1, true, HOPPER_HERE); }
inline void mbarrier_arrive_expect_tx(mbarrier* b, uint32_t bytes, HOPPER_WHERE) { emu_mbarrier_arrive(b, 1, bytes, -1, true, HOPPER_HERE); }
inline void mbarrier_expect_tx(mbarrier* b, uint32_t bytes, HOPPER_WHERE) { emu_mbarrier_arrive(b, 0, bytes, -1, true, HOPPER_HERE); }
inline void mbarrier_arrive_remote(mbarrier* b, uint32_t rank, HOPPER_WHERE) { emu_mbarrier_arrive(b, 1, 0, (int)rank, true, HOPPER_HERE); }
inline void mbarrier_arrive_remote_read(mbarrier* b, uint32_t rank, HOPPER_WHERE) {
  emu_mbarrier_arrive(b, 1, 0, (int)rank, false, HOPPER_HERE);
}
inline bool mbarrier_try_wait(mbarrier* b, uint32_t parity, HOPPER_WHERE) { return emu_mbarrier_wait_a_while(b, parity, HOPPER_HERE); }
inline void mbarrier_wait(mbarrier* b, uint32_t parity, HOPPER_WHERE) { emu_mbarrier_wait(b, parity, false, HOPPER_HERE); }
inline void mbarrier_wait_cluster(mbarrier* b, uint32_t parity, HOPPER_WHERE) { emu_mbarrier_wait(b, parity, true, HOPPER_HERE); }

// ---------------------------------------------------------------------------------------------- fences
inline void fence_mbarrier_init(HOPPER_WHERE) { emu_fence_mbarrier_init(HOPPER_HERE); }
inline void fence_proxy_async(HOPPER_WHERE) { emu_fence_proxy_async(false, HOPPER_HERE); }
inline void fence_proxy_async_global(HOPPER_WHERE) { emu_fence_proxy_async(true, HOPPER_HERE); }
inline void __threadfence(HOPPER_WHERE) { emu_threadfence(HOPPER_HERE); }

// ---------------------------------------------------------------------------------------------- TMA
inline void tma_prefetch(const TensorMap*) {}
inline uint64_t l2_evict_last() { return 0; }
inline uint64_t l2_evict_first() { return 0; }
inline void tma_load_2d(void* dst, const TensorMap* map, int x, int y, mbarrier* bar, HOPPER_WHERE) {
  emu_tma_load(dst, map, x, y, bar, 0, HOPPER_HERE);
}
inline void tma_load_2d_hint(void* dst, const TensorMap* map, int x, int y, mbarrier* bar, uint64_t, HOPPER_WHERE) {
  emu_tma_load(dst, map, x, y, bar, 0, HOPPER_HERE);
}
inline void tma_load_2d_multicast(void* dst, const TensorMap* map, int x, int y, mbarrier* bar, uint16_t blocks, HOPPER_WHERE) {
  emu_tma_load(dst, map, x, y, bar, blocks, HOPPER_HERE);
}
inline void tma_load_2d_multicast_hint(void* dst, const TensorMap* map, int x, int y, mbarrier* bar, uint16_t blocks, uint64_t,
                                       HOPPER_WHERE) {
  emu_tma_load(dst, map, x, y, bar, blocks, HOPPER_HERE);
}
inline void tma_store_2d(const TensorMap* map, const void* src, int x, int y, HOPPER_WHERE) { emu_tma_store(map, src, x, y, HOPPER_HERE); }
inline void tma_store_commit(HOPPER_WHERE) { emu_tma_store_commit(HOPPER_HERE); }
template <int N> inline void tma_store_wait_read(HOPPER_WHERE) { emu_tma_store_wait(N, true, HOPPER_HERE); }
template <int N> inline void tma_store_wait(HOPPER_WHERE) { emu_tma_store_wait(N, false, HOPPER_HERE); }

// ---------------------------------------------------------------------------------------------- wgmma
template <class T> struct HopperElement;
template <> struct HopperElement<bf16> { static constexpr emu::Element code = emu::BF16; };
template <> struct HopperElement<fp16> { static constexpr emu::Element code = emu::FP16; };
template <> struct HopperElement<e4m3> { static constexpr emu::Element code = emu::E4M3; };
template <> struct HopperElement<tf32> { static constexpr emu::Element code = emu::TF32; };
// The widths that generate_wgmma.py wrote for the device (tests hold the two lists together).
constexpr bool hopper_wgmma_width(int n) {
  return n == 8 || n == 16 || n == 24 || n == 32 || n == 48 || n == 64 || n == 80 || n == 96 || n == 112 || n == 128 || n == 160 ||
         n == 192 || n == 224 || n == 256;
}
inline void wgmma_fence(HOPPER_WHERE) { emu_wgmma_fence(HOPPER_HERE); }
inline void wgmma_commit(HOPPER_WHERE) { emu_wgmma_commit(HOPPER_HERE); }
template <int N> inline void wgmma_wait(HOPPER_WHERE) { emu_wgmma_wait(N, HOPPER_HERE); }
template <int R> inline void wgmma_keep(float (&d)[R], HOPPER_WHERE) { emu_wgmma_keep(d, sizeof d, HOPPER_HERE); }
template <int N, class T, int MajorA = 0, int MajorB = 0>
inline void wgmma_ss(float (&d)[N / 2], uint64_t a, uint64_t b, int scale_d = 1, HOPPER_WHERE) {
  static_assert(hopper_wgmma_width(N), "generate_wgmma.py writes no instruction of this width: add it there");
  static_assert(sizeof(T) == 2 || (MajorA == K_MAJOR && MajorB == K_MAJOR), "tf32 and e4m3 operands must be K-major");
  emu::Wgmma op = {d, N, HopperElement<T>::code, false, nullptr, a, b, MajorA, MajorB, scale_d};
  emu_wgmma(&op, HOPPER_HERE);
}
template <int N, class T, int MajorB = 0>
inline void wgmma_rs(float (&d)[N / 2], const uint32_t (&a)[4], uint64_t b, int scale_d = 1, HOPPER_WHERE) {
  static_assert(hopper_wgmma_width(N), "generate_wgmma.py writes no instruction of this width: add it there");
  static_assert(sizeof(T) == 2 || MajorB == K_MAJOR, "tf32 and e4m3 operands must be K-major");
  emu::Wgmma op = {d, N, HopperElement<T>::code, false, a, 0, b, K_MAJOR, MajorB, scale_d};
  emu_wgmma(&op, HOPPER_HERE);
}
template <int N> inline void wgmma_ss_fp16_accumulate(uint32_t (&d)[N / 4], uint64_t a, uint64_t b, int scale_d = 1, HOPPER_WHERE) {
  static_assert(hopper_wgmma_width(N), "generate_wgmma.py writes no instruction of this width: add it there");
  emu::Wgmma op = {d, N, emu::FP16, true, nullptr, a, b, K_MAJOR, K_MAJOR, scale_d};
  emu_wgmma(&op, HOPPER_HERE);
}

// ---------------------------------------------------------------------------------------------- registers, barriers, clusters
template <int R> inline void reg_dec(HOPPER_WHERE) { emu_setmaxnreg(R, false, HOPPER_HERE); }
template <int R> inline void reg_inc(HOPPER_WHERE) { emu_setmaxnreg(R, true, HOPPER_HERE); }
inline void __syncthreads(HOPPER_WHERE) { emu_named_barrier(0, 0, true, HOPPER_HERE); }
inline void named_barrier_sync(int id, int threads, HOPPER_WHERE) { emu_named_barrier(id, threads, true, HOPPER_HERE); }
inline void named_barrier_arrive(int id, int threads, HOPPER_WHERE) { emu_named_barrier(id, threads, false, HOPPER_HERE); }
inline uint32_t cluster_rank() { return emu_cluster_rank(); }
inline uint32_t cluster_size() { return emu_cluster_size(); }
inline void cluster_arrive(HOPPER_WHERE) { emu_cluster_arrive(HOPPER_HERE); }
inline void cluster_wait(HOPPER_WHERE) { emu_cluster_wait(HOPPER_HERE); }
inline void cluster_sync(HOPPER_WHERE) { emu_cluster_arrive(HOPPER_HERE); emu_cluster_wait(HOPPER_HERE); }
template <class T> inline T* cluster_map(T* p, uint32_t rank, HOPPER_WHERE) { return (T*)emu_cluster_map(p, rank, HOPPER_HERE); }

// ---------------------------------------------------------------------------------------------- warps
template <class T> inline T hopper_shuffle(emu::Collective kind, uint32_t mask, T value, int argument, int width, emu::Where where) {
  static_assert(sizeof(T) <= 8, "shuffles move at most 8 bytes");
  uint64_t bits = 0;
  memcpy(&bits, &value, sizeof(T));
  bits = emu_collective(kind, mask, bits, argument, width, where);
  memcpy(&value, &bits, sizeof(T));
  return value;
}
inline void __syncwarp(uint32_t mask = ~0u, HOPPER_WHERE) { emu_collective(emu::SYNC_WARP, mask, 0, 0, 32, HOPPER_HERE); }
template <class T> inline T __shfl_sync(uint32_t mask, T v, int lane, int width = 32, HOPPER_WHERE) {
  return hopper_shuffle(emu::SHUFFLE, mask, v, lane, width, HOPPER_HERE);
}
template <class T> inline T __shfl_xor_sync(uint32_t mask, T v, int lanes, int width = 32, HOPPER_WHERE) {
  return hopper_shuffle(emu::SHUFFLE_XOR, mask, v, lanes, width, HOPPER_HERE);
}
template <class T> inline T __shfl_down_sync(uint32_t mask, T v, unsigned lanes, int width = 32, HOPPER_WHERE) {
  return hopper_shuffle(emu::SHUFFLE_DOWN, mask, v, (int)lanes, width, HOPPER_HERE);
}
template <class T> inline T __shfl_up_sync(uint32_t mask, T v, unsigned lanes, int width = 32, HOPPER_WHERE) {
  return hopper_shuffle(emu::SHUFFLE_UP, mask, v, (int)lanes, width, HOPPER_HERE);
}
inline uint32_t __ballot_sync(uint32_t mask, int p, HOPPER_WHERE) { return (uint32_t)emu_collective(emu::BALLOT, mask, p != 0, 0, 32, HOPPER_HERE); }
inline int __any_sync(uint32_t mask, int p, HOPPER_WHERE) { return emu_collective(emu::BALLOT, mask, p != 0, 0, 32, HOPPER_HERE) != 0; }
inline int __all_sync(uint32_t mask, int p, HOPPER_WHERE) { return emu_collective(emu::BALLOT, mask, p == 0, 0, 32, HOPPER_HERE) == 0; }
inline bool elect_one(HOPPER_WHERE) { return emu_collective(emu::ELECT, ~0u, 0, 0, 32, HOPPER_HERE) != 0; }
inline void stmatrix_x4(void* row, uint32_t r0, uint32_t r1, uint32_t r2, uint32_t r3, HOPPER_WHERE) {
  uint32_t r[4] = {r0, r1, r2, r3};
  emu_matrix(true, row, r, 4, HOPPER_HERE);
}
inline void stmatrix_x2(void* row, uint32_t r0, uint32_t r1, HOPPER_WHERE) {
  uint32_t r[2] = {r0, r1};
  emu_matrix(true, row, r, 2, HOPPER_HERE);
}
inline void ldmatrix_x4(uint32_t (&r)[4], const void* row, HOPPER_WHERE) { emu_matrix(false, row, r, 4, HOPPER_HERE); }

// ---------------------------------------------------------------------------------------------- memory
#if defined(HOPPER_INSTRUMENTED)
#define HOPPER_ACCESS(p, write) emu_access(p, 16, write, HOPPER_HERE)
#define HOPPER_UNWATCHED __attribute__((no_sanitize("thread")))
#else
#define HOPPER_ACCESS(p, write) (void)file, (void)line
#define HOPPER_UNWATCHED
#endif
HOPPER_UNWATCHED inline vec128 load128(const void* p, HOPPER_WHERE) {
  if ((uintptr_t)p % 16) emu_misaligned(p, 16, HOPPER_HERE);
  HOPPER_ACCESS(p, false);
  return *(const vec128*)p;
}
HOPPER_UNWATCHED inline void store128(void* p, vec128 v, HOPPER_WHERE) {
  if ((uintptr_t)p % 16) emu_misaligned(p, 16, HOPPER_HERE);
  HOPPER_ACCESS(p, true);
  *(vec128*)p = v;
}
inline vec128 load128_stream(const void* p, HOPPER_WHERE) { return load128(p, file, line); }
inline void store128_stream(void* p, vec128 v, HOPPER_WHERE) { store128(p, v, file, line); }

template <class T> struct HopperNumber;
template <> struct HopperNumber<int> { static constexpr emu::Number code = emu::I32; };
template <> struct HopperNumber<unsigned> { static constexpr emu::Number code = emu::U32; };
template <> struct HopperNumber<float> { static constexpr emu::Number code = emu::F32; };
template <> struct HopperNumber<long long> { static constexpr emu::Number code = emu::I64; };
template <> struct HopperNumber<unsigned long> { static constexpr emu::Number code = emu::U64; };
template <> struct HopperNumber<unsigned long long> { static constexpr emu::Number code = emu::U64; };
template <class T>
inline T hopper_atomic(T* p, emu::AtomicOp op, emu::Order order, T operand, T compare, emu::Where where) {
  uint64_t o = 0, c = 0;
  memcpy(&o, &operand, sizeof(T));
  memcpy(&c, &compare, sizeof(T));
  o = emu_atomic((void*)p, op, HopperNumber<T>::code, order, o, c, where);
  memcpy(&operand, &o, sizeof(T));
  return operand;
}
template <class T> struct HopperSame { typedef T type; };  // operands take the pointer's type, as CUDA's overloads do
#define HOPPER_ATOMIC(name, op)                                                                   \
  template <class T> inline T name(T* p, typename HopperSame<T>::type v, HOPPER_WHERE) {          \
    return hopper_atomic<T>(p, emu::op, emu::RELAXED, v, T(), HOPPER_HERE);                             \
  }
HOPPER_ATOMIC(atomicAdd, ADD)
HOPPER_ATOMIC(atomicMax, MAX)
HOPPER_ATOMIC(atomicMin, MIN)
HOPPER_ATOMIC(atomicExch, EXCHANGE)
HOPPER_ATOMIC(atomicOr, OR)
HOPPER_ATOMIC(atomicAnd, AND)
template <class T>
inline T atomicCAS(T* p, typename HopperSame<T>::type compare, typename HopperSame<T>::type v, HOPPER_WHERE) {
  return hopper_atomic<T>(p, emu::COMPARE_EXCHANGE, emu::RELAXED, v, compare, HOPPER_HERE);
}
inline uint32_t load_acquire(const uint32_t* p, HOPPER_WHERE) {
  return hopper_atomic<uint32_t>((uint32_t*)p, emu::LOAD, emu::ACQUIRE, 0, 0, HOPPER_HERE);
}
inline void store_release(uint32_t* p, uint32_t v, HOPPER_WHERE) { hopper_atomic<uint32_t>(p, emu::STORE, emu::RELEASE, v, 0, HOPPER_HERE); }
inline uint32_t atomic_add_release(uint32_t* p, uint32_t v, HOPPER_WHERE) {
  return hopper_atomic<uint32_t>(p, emu::ADD, emu::RELEASE, v, 0, HOPPER_HERE);
}

// ---------------------------------------------------------------------------------------------- what a kernel's library exports
template <class T> struct HopperParameter { static constexpr char kind = 'o'; };
template <class T> struct HopperParameter<T*> { static constexpr char kind = 'p'; };
template <class T> struct HopperParameter<const T*> { static constexpr char kind = 'c'; };
template <> struct HopperParameter<TensorMap> { static constexpr char kind = 'm'; };
template <> struct HopperParameter<float> { static constexpr char kind = 'f'; };
template <> struct HopperParameter<double> { static constexpr char kind = 'f'; };
#define HOPPER_INTEGER(T) template <> struct HopperParameter<T> { static constexpr char kind = 'i'; };
HOPPER_INTEGER(bool) HOPPER_INTEGER(char) HOPPER_INTEGER(signed char) HOPPER_INTEGER(unsigned char) HOPPER_INTEGER(short)
HOPPER_INTEGER(unsigned short) HOPPER_INTEGER(int) HOPPER_INTEGER(unsigned) HOPPER_INTEGER(long) HOPPER_INTEGER(unsigned long)
HOPPER_INTEGER(long long) HOPPER_INTEGER(unsigned long long)

template <unsigned... I> struct HopperIndices {};
template <unsigned N, unsigned... I> struct HopperCount : HopperCount<N - 1, N - 1, I...> {};
template <unsigned... I> struct HopperCount<0, I...> { typedef HopperIndices<I...> type; };
template <class T> struct HopperPlain { typedef T type; };
template <class T> struct HopperPlain<const T> { typedef T type; };
template <auto F> struct HopperEntry;
template <class... A, void (*F)(A...)> struct HopperEntry<F> {
  template <unsigned... I> static void apply(void** a, HopperIndices<I...>) { F(*(typename HopperPlain<A>::type*)a[I]...); }
  static void call(void** a) { apply(a, typename HopperCount<sizeof...(A)>::type()); }
  static constexpr emu::Parameter parameters[sizeof...(A) + 1] = {
      {HopperParameter<typename HopperPlain<A>::type>::kind, sizeof(A)}..., {0, 0}};
  static constexpr unsigned count = sizeof...(A);
};
#define HOPPER_EXPORT(name)                                                                                       \
  extern "C" __attribute__((visibility("default"))) const emu::Kernel emu_kernel_##name = {                       \
      HopperEntry<&name>::call, (const void*)&name, HopperEntry<&name>::parameters, HopperEntry<&name>::count, \
      __start_hopper_capped, __stop_hopper_capped};
// What stands before an entry's name, as numbers: toolchain.py writes HOPPER_BOUNDS(name, what stands there) at the end of the source, where
// the two words call these functions.
struct HopperBounds {
  emu::Bounds of;
  constexpr HopperBounds launch(unsigned threads, unsigned blocks = 0, unsigned = 0) const { return {{threads, blocks, of.cluster}}; }
  constexpr HopperBounds cluster(unsigned x, unsigned y = 1, unsigned z = 1) const { return {{of.threads, of.blocks, {x, y, z}}}; }
};
#define HOPPER_BOUNDS(name, ...) \
  extern "C" __attribute__((visibility("default"))) const emu::Bounds emu_bounds_##name = (HopperBounds{} __VA_ARGS__).of;
