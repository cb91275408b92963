// cuda_export.h - what the library of a foreign kernel exports: its entry under a plain name, with its parameters.
#pragma once
#include "cuda_barrier.h"

template <class T> struct EmuParameter {
  static constexpr char kind = std::is_floating_point_v<T> ? 'f' : std::is_integral_v<T> ? 'i' : 'o';
  typedef T held;
  static T& give(void* p) { return *(T*)p; }
  static constexpr unsigned bytes = sizeof(T);
};
template <class T> struct EmuParameter<T*> {
  static constexpr char kind = 'p';
  static T*& give(void* p) { return *(T**)p; }
  static constexpr unsigned bytes = 8;
};
template <class T> struct EmuParameter<const T*> {
  static constexpr char kind = 'c';
  static const T*& give(void* p) { return *(const T**)p; }
  static constexpr unsigned bytes = 8;
};
template <> struct EmuParameter<TensorMap> {
  static constexpr char kind = 'm';
  static TensorMap& give(void* p) { return *(TensorMap*)p; }
  static constexpr unsigned bytes = sizeof(TensorMap);
};
template <> struct EmuParameter<const TensorMap*> {  // a map in global memory: the launch's own copy of it
  static constexpr char kind = 'm';
  static const TensorMap* give(void* p) { return (const TensorMap*)p; }
  static constexpr unsigned bytes = sizeof(TensorMap);
};
template <unsigned... I> struct EmuIndices {};
template <unsigned N, unsigned... I> struct EmuCount : EmuCount<N - 1, N - 1, I...> {};
template <unsigned... I> struct EmuCount<0, I...> { typedef EmuIndices<I...> type; };
template <auto F> struct EmuEntry;
template <class... A, void (*F)(A...)> struct EmuEntry<F> {
  template <unsigned... I> static void apply(void** a, EmuIndices<I...>) { F(EmuParameter<std::remove_cv_t<A>>::give(a[I])...); }
  static void call(void** a) { apply(a, typename EmuCount<sizeof...(A)>::type()); }
  static constexpr emu::Parameter parameters[sizeof...(A) + 1] = {{EmuParameter<std::remove_cv_t<A>>::kind, EmuParameter<std::remove_cv_t<A>>::bytes}..., {0, 0}};
  static constexpr unsigned count = sizeof...(A);
};
// ---------------------------------------------------------------------------------------------- inline PTX (kernels/foreign/ptx.py)
// An operand as the bits or the number that an instruction takes; what an instruction gives, into an operand.
template <class To, class From> inline To emu_get(From v) {
  To to = To();
  if constexpr (sizeof(To) == sizeof(From)) __builtin_memcpy(&to, &v, sizeof to);
  else to = (To)v;
  return to;
}
template <class To, class From> inline void emu_put(To& to, From v) {
  if constexpr (sizeof(To) == sizeof(From)) __builtin_memcpy(&to, &v, sizeof to);
  else to = (To)v;
}
template <class T> inline void* emu_pointer(T v) { return (void*)(uintptr_t)v; }
template <class T, int n> inline void emu_aligned(const void* p, emu::Where where) {
  if ((uintptr_t)p % (n * sizeof(T))) emu_misaligned(p, n * sizeof(T), where);
}
inline void emu_contiguous(const void* first, const void* last, unsigned bytes, emu::Where where) {
  if ((const char*)last - (const char*)first != (long)bytes)
    emu_refuse("The emulator wants the accumulators of a wgmma in one array, in order.", where);
}
inline void emu_arrive_at(uint32_t address, uint32_t arrivals, uint32_t bytes, bool publishes, emu::Where where) {
  const uint32_t rank = address >> 24, own = address & 0xFFFFFF;
  emu_mbarrier_arrive(emu_smem_pointer(own, where), arrivals, bytes, rank ? (int)rank - 1 : (int)emu_cluster_rank(), publishes, where);
}
// cp.async's last operand: bytes to read, or a predicate that says to read none.
template <class T> inline unsigned emu_async_given(unsigned bytes, T given) {
  if constexpr (std::is_same_v<T, bool>) return given ? 0 : bytes;
  else return (unsigned)given;
}
#define EMU_EXPORT(name, capped, ...)                                                                             \
  extern "C" __attribute__((visibility("default"))) const emu::Kernel emu_kernel_##name = {                       \
      EmuEntry<&__VA_ARGS__>::call, (const void*)&__VA_ARGS__, EmuEntry<&__VA_ARGS__>::parameters, EmuEntry<&__VA_ARGS__>::count, \
      (capped) ? (const char*)&__VA_ARGS__ : nullptr, (capped) ? (const char*)&__VA_ARGS__ + 1 : nullptr};
