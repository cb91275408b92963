// cuda_fp8.h - __nv_fp8_e4m3 and its conversions; e5m2 by way of fp16, whose upper byte it is.
#pragma once
#include "cuda_small_floats.h"

enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE };
enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 };
typedef unsigned char __nv_fp8_storage_t;
typedef unsigned short __nv_fp8x2_storage_t;
typedef unsigned __nv_fp8x4_storage_t;

inline __nv_fp8_storage_t emu_to_e5m2(float v) {
  const uint32_t u = emu_bits<uint32_t>(v), sign = u >> 24 & 0x80, size = u & 0x7FFFFFFF;
  if (size > 0x7F800000) return 0x7F;
  const uint32_t r = size >= 0x47700000 ? 0x7B : emu::round_magnitude<5, 2>(size);  // 61440: half-way beyond 57344
  return (__nv_fp8_storage_t)(sign | (r > 0x7B ? 0x7B : r));
}
inline __nv_fp8_storage_t __nv_cvt_float_to_fp8(float v, __nv_saturation_t, __nv_fp8_interpretation_t how) {
  return how == __NV_E4M3 ? emu::float_to_e4m3(v) : emu_to_e5m2(v);
}
inline __nv_fp8x2_storage_t __nv_cvt_float2_to_fp8x2(float2 v, __nv_saturation_t s, __nv_fp8_interpretation_t how) {
  return (__nv_fp8x2_storage_t)(__nv_cvt_float_to_fp8(v.x, s, how) | __nv_cvt_float_to_fp8(v.y, s, how) << 8);
}
inline float emu_fp8_value(__nv_fp8_storage_t v, __nv_fp8_interpretation_t how) {
  return how == __NV_E4M3 ? emu::e4m3_to_float(v) : emu::fp16_to_float((uint16_t)(v << 8));
}
inline __half_raw __nv_cvt_fp8_to_halfraw(__nv_fp8_storage_t v, __nv_fp8_interpretation_t how) { return __half(emu_fp8_value(v, how)); }

#define EMU_FP8(T, how)                                                                                                       \
  struct alignas(1) T {                                                                                                       \
    __nv_fp8_storage_t __x;                                                                                                   \
    T() = default;                                                                                                            \
    template <class U, class = std::enable_if_t<std::is_arithmetic_v<U>>> explicit T(U v) : __x(__nv_cvt_float_to_fp8((float)v, __NV_SATFINITE, how)) {} \
    explicit T(const __half& v) : T((float)v) {}                                                                              \
    explicit T(const __nv_bfloat16& v) : T((float)v) {}                                                                       \
    explicit operator float() const { return emu_fp8_value(__x, how); }                                                       \
    explicit operator __half() const { return __half((float)*this); }                                                         \
    explicit operator __nv_bfloat16() const { return __nv_bfloat16((float)*this); }                                           \
  };
EMU_FP8(__nv_fp8_e4m3, __NV_E4M3)
EMU_FP8(__nv_fp8_e5m2, __NV_E5M2)
struct alignas(2) __nv_fp8x2_e4m3 {
  __nv_fp8x2_storage_t __x;
  __nv_fp8x2_e4m3() = default;
  explicit __nv_fp8x2_e4m3(float2 v) : __x(__nv_cvt_float2_to_fp8x2(v, __NV_SATFINITE, __NV_E4M3)) {}
  explicit operator float2() const { return {emu::e4m3_to_float((uint8_t)__x), emu::e4m3_to_float((uint8_t)(__x >> 8))}; }
};
struct alignas(4) __nv_fp8x4_e4m3 {
  __nv_fp8x4_storage_t __x;
  __nv_fp8x4_e4m3() = default;
  explicit __nv_fp8x4_e4m3(float4 v)
      : __x(__nv_cvt_float2_to_fp8x2({v.x, v.y}, __NV_SATFINITE, __NV_E4M3) | (unsigned)__nv_cvt_float2_to_fp8x2({v.z, v.w}, __NV_SATFINITE, __NV_E4M3) << 16) {}
  explicit operator float4() const {
    return {emu::e4m3_to_float((uint8_t)__x), emu::e4m3_to_float((uint8_t)(__x >> 8)), emu::e4m3_to_float((uint8_t)(__x >> 16)), emu::e4m3_to_float((uint8_t)(__x >> 24))};
  }
};
