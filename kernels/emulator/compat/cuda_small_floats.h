// cuda_small_floats.h - cuda_fp16.h and cuda_bf16.h: __half, __half2, __nv_bfloat16, __nv_bfloat162 with their operators and functions.
// Each operation is done in float (fma in double) and rounded once to the small type, which is what the hardware's instructions give.
#pragma once
#include "cuda_math.h"

#define EMU_SMALL(T, T2, raw, to_bits, to_float)                                                                      \
  struct raw { unsigned short x; };                                                                                   \
  struct alignas(2) T {                                                                                               \
    unsigned short __x;                                                                                               \
    T() = default;                                                                                                    \
    T(const raw& r) : __x(r.x) {}                                                                                     \
    template <class U, class = std::enable_if_t<std::is_arithmetic_v<U>>> T(U v) : __x(emu::to_bits((float)v)) {}     \
    operator float() const { return emu::to_float(__x); }                                                             \
    operator raw() const { return {__x}; }                                                                            \
    T& operator+=(const T& o) { return *this = T((float)*this + (float)o); }                                          \
    T& operator-=(const T& o) { return *this = T((float)*this - (float)o); }                                          \
    T& operator*=(const T& o) { return *this = T((float)*this * (float)o); }                                          \
    T& operator/=(const T& o) { return *this = T((float)*this / (float)o); }                                          \
    T operator-() const { return raw{(unsigned short)(__x ^ 0x8000)}; }                                               \
    T operator+() const { return *this; }                                                                             \
    T& operator++() { return *this += T(1.0f); }                                                                      \
  };                                                                                                                  \
  EMU_SMALL_OPERATOR(T, +) EMU_SMALL_OPERATOR(T, -) EMU_SMALL_OPERATOR(T, *) EMU_SMALL_OPERATOR(T, /)                 \
  EMU_SMALL_COMPARE(T, <) EMU_SMALL_COMPARE(T, <=) EMU_SMALL_COMPARE(T, >) EMU_SMALL_COMPARE(T, >=)                   \
  EMU_SMALL_COMPARE(T, ==) EMU_SMALL_COMPARE(T, !=)                                                                   \
  struct alignas(4) T2 {                                                                                              \
    T x, y;                                                                                                           \
    T2() = default;                                                                                                   \
    T2(const T& a, const T& b) : x(a), y(b) {}                                                                        \
    T2& operator+=(const T2& o) { return x += o.x, y += o.y, *this; }                                                 \
    T2& operator*=(const T2& o) { return x *= o.x, y *= o.y, *this; }                                                 \
  };                                                                                                                  \
  inline T2 operator+(const T2& a, const T2& b) { return {a.x + b.x, a.y + b.y}; }                                    \
  inline T2 operator-(const T2& a, const T2& b) { return {a.x - b.x, a.y - b.y}; }                                    \
  inline T2 operator*(const T2& a, const T2& b) { return {a.x * b.x, a.y * b.y}; }                                    \
  inline T2 operator/(const T2& a, const T2& b) { return {a.x / b.x, a.y / b.y}; }                                    \
  inline bool operator==(const T2& a, const T2& b) { return a.x == b.x && a.y == b.y; }                               \
  EMU_SMALL2(__hadd, T, a + b) EMU_SMALL2(__hsub, T, a - b) EMU_SMALL2(__hmul, T, a * b) EMU_SMALL2(__hdiv, T, a / b) \
  EMU_SMALL2(__hadd_rn, T, a + b) EMU_SMALL2(__hsub_rn, T, a - b) EMU_SMALL2(__hmul_rn, T, a * b)                     \
  EMU_SMALL2(__hadd2, T2, a + b) EMU_SMALL2(__hsub2, T2, a - b) EMU_SMALL2(__hmul2, T2, a * b) EMU_SMALL2(__h2div, T2, a / b) \
  EMU_SMALL2(__hmax, T, isnan((float)a) || a < b ? b : a) EMU_SMALL2(__hmin, T, isnan((float)a) || b < a ? b : a)     \
  inline T2 __hmax2(T2 a, T2 b) { return {__hmax(a.x, b.x), __hmax(a.y, b.y)}; }                                      \
  inline T2 __hmin2(T2 a, T2 b) { return {__hmin(a.x, b.x), __hmin(a.y, b.y)}; }                                      \
  inline T __hadd_sat(T a, T b) { return T(__saturatef((float)(a + b))); }                                            \
  inline T __hmul_sat(T a, T b) { return T(__saturatef((float)(a * b))); }                                            \
  inline T __hfma(T a, T b, T c) { return T((float)((double)(float)a * (float)b + (double)(float)c)); }               \
  inline T2 __hfma2(T2 a, T2 b, T2 c) { return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)}; }                      \
  inline T __hneg(T a) { return -a; }                                                                                 \
  inline T2 __hneg2(T2 a) { return {-a.x, -a.y}; }                                                                    \
  inline T __habs(T a) { return raw{(unsigned short)(a.__x & 0x7FFF)}; }                                              \
  inline T2 __habs2(T2 a) { return {__habs(a.x), __habs(a.y)}; }                                                      \
  inline bool __hisnan(T a) { return isnan((float)a); }                                                               \
  inline int __hisinf(T a) { return isinf((float)a) ? (float)a > 0 ? 1 : -1 : 0; }                                    \
  inline bool __heq(T a, T b) { return a == b; }                                                                      \
  inline bool __hne(T a, T b) { return a != b; }                                                                      \
  inline bool __hlt(T a, T b) { return a < b; }                                                                       \
  inline bool __hle(T a, T b) { return a <= b; }                                                                      \
  inline bool __hgt(T a, T b) { return a > b; }                                                                       \
  inline bool __hge(T a, T b) { return a >= b; }                                                                      \
  EMU_SMALL1(hexp, T, expf) EMU_SMALL1(hexp2, T, exp2f) EMU_SMALL1(hlog, T, logf) EMU_SMALL1(hlog2, T, log2f)         \
  EMU_SMALL1(hsqrt, T, sqrtf) EMU_SMALL1(hrsqrt, T, rsqrtf) EMU_SMALL1(hsin, T, sinf) EMU_SMALL1(hcos, T, cosf)       \
  EMU_SMALL1(htanh, T, tanhf) EMU_SMALL1(hceil, T, ceilf) EMU_SMALL1(hfloor, T, floorf) EMU_SMALL1(hrint, T, rintf)   \
  EMU_SMALL1(htrunc, T, truncf)                                                                                       \
  inline T hrcp(T a) { return T(1.0f / (float)a); }                                                                   \
  inline T2 h2exp(T2 a) { return {hexp(a.x), hexp(a.y)}; }                                                            \
  inline T2 h2exp2(T2 a) { return {hexp2(a.x), hexp2(a.y)}; }                                                         \
  inline T2 h2log(T2 a) { return {hlog(a.x), hlog(a.y)}; }                                                            \
  inline T2 h2sqrt(T2 a) { return {hsqrt(a.x), hsqrt(a.y)}; }                                                         \
  inline T2 h2rsqrt(T2 a) { return {hrsqrt(a.x), hrsqrt(a.y)}; }                                                      \
  inline T2 h2rcp(T2 a) { return {hrcp(a.x), hrcp(a.y)}; }                                                            \
  inline T2 h2tanh(T2 a) { return {htanh(a.x), htanh(a.y)}; }                                                         \
  inline T atomicAdd(T* p, T v, EMU_WHERE) { return emu_small_add<T>(p, v, EMU_HERE); }                               \
  inline T2 atomicAdd(T2* p, T2 v, EMU_WHERE) {                                                                       \
    const unsigned old = emu_atomic_loop((unsigned*)p, EMU_HERE, [=](unsigned o) { return emu_bits<unsigned>(emu_bits<T2>(o) + v); }); \
    return emu_bits<T2>(old);                                                                                         \
  }
// With another number the result is the small type's where that number is one, else float's.
#define EMU_SMALL_OPERATOR(T, op)                                                   \
  inline T operator op(const T& a, const T& b) { return T((float)a op(float) b); }  \
  template <class U, class = std::enable_if_t<std::is_floating_point_v<U>>> inline U operator op(const T& a, U b) { return (float)a op b; } \
  template <class U, class = std::enable_if_t<std::is_floating_point_v<U>>> inline U operator op(U a, const T& b) { return a op(float) b; } \
  template <class U, class = std::enable_if_t<std::is_integral_v<U>>, class = void> inline T operator op(const T& a, U b) { return a op T(b); } \
  template <class U, class = std::enable_if_t<std::is_integral_v<U>>, class = void> inline T operator op(U a, const T& b) { return T(a) op b; }
#define EMU_SMALL_COMPARE(T, op)                                                    \
  inline bool operator op(const T& a, const T& b) { return (float)a op(float) b; }  \
  template <class U, class = std::enable_if_t<std::is_arithmetic_v<U>>> inline bool operator op(const T& a, U b) { return (float)a op(float) b; } \
  template <class U, class = std::enable_if_t<std::is_arithmetic_v<U>>> inline bool operator op(U a, const T& b) { return (float)a op(float) b; }
#define EMU_SMALL1(name, T, f) inline T name(T a) { return T(f((float)a)); }
#define EMU_SMALL2(name, T, expression) inline T name(T a, T b) { return expression; }

// A 16-bit word is added by compare and exchange of the 32 bits that hold it.
template <class T> inline T emu_small_add(T* p, T v, emu::Where where) {
  unsigned* word = (unsigned*)((uintptr_t)p & ~(uintptr_t)3);
  const int shift = (uintptr_t)p & 2 ? 16 : 0;
  auto part = [=](unsigned o) { return emu_bits<T>((unsigned short)(o >> shift)); };
  const unsigned old = emu_atomic_loop(word, where, [=](unsigned o) {
    return (o & ~(0xFFFFu << shift)) | (unsigned)emu_bits<unsigned short>(T((float)part(o) + (float)v)) << shift;
  });
  return part(old);
}
EMU_SMALL(__half, __half2, __half_raw, float_to_fp16, fp16_to_float)
EMU_SMALL(__nv_bfloat16, __nv_bfloat162, __nv_bfloat16_raw, float_to_bf16, bf16_to_float)
typedef __half half;
typedef __half2 half2;
typedef __half __nv_half;
typedef __half2 __nv_half2;
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;

#define EMU_SMALL_WORDS(T, T2, w, w2)                                                          \
  inline T __float2##w(float v) { return T(v); }                                               \
  inline T __float2##w##_rn(float v) { return T(v); }                                          \
  inline T __double2##w(double v) { return T((float)v); }                                      \
  inline float __##w##2float(T v) { return (float)v; }                                         \
  inline T __int2##w##_rn(int v) { return T(v); }                                              \
  inline T __uint2##w##_rn(unsigned v) { return T(v); }                                        \
  inline int __##w##2int_rn(T v) { return __float2int_rn((float)v); }                          \
  inline int __##w##2int_rz(T v) { return __float2int_rz((float)v); }                          \
  inline T2 __float2##w2##_rn(float v) { return {T(v), T(v)}; }                                \
  inline T2 __floats2##w2##_rn(float a, float b) { return {T(a), T(b)}; }                      \
  inline T2 __float22##w2##_rn(float2 v) { return {T(v.x), T(v.y)}; }                          \
  inline float2 __##w2##2float2(T2 v) { return {(float)v.x, (float)v.y}; }                     \
  inline T2 __##w##2##w2(T v) { return {v, v}; }                                               \
  inline T2 __halves2##w2(T a, T b) { return {a, b}; }                                         \
  inline T __low2##w(T2 v) { return v.x; }                                                     \
  inline T __high2##w(T2 v) { return v.y; }                                                    \
  inline T2 __low2##w2(T2 v) { return {v.x, v.x}; }                                            \
  inline T2 __high2##w2(T2 v) { return {v.y, v.y}; }                                           \
  inline T2 __lowhigh2highlow(T2 v) { return {v.y, v.x}; }                                     \
  inline float __low2float(T2 v) { return (float)v.x; }                                        \
  inline float __high2float(T2 v) { return (float)v.y; }                                       \
  inline short __##w##_as_short(T v) { return (short)v.__x; }                                  \
  inline unsigned short __##w##_as_ushort(T v) { return v.__x; }                               \
  inline T2 make_##w2(T a, T b) { return {a, b}; }                                             \
  inline T __ushort_as_##w(unsigned short x) { return emu_bits<T>(x); }                        \
  inline T __short_as_##w(short x) { return emu_bits<T>(x); }
EMU_SMALL_WORDS(__half, __half2, half, half2)
EMU_SMALL_WORDS(__nv_bfloat16, __nv_bfloat162, bfloat16, bfloat162)
#define CUDART_INF_FP16 __ushort_as_half(0x7C00)
#define CUDART_ZERO_FP16 __ushort_as_half(0)
#define CUDART_ONE_FP16 __ushort_as_half(0x3C00)
#define CUDART_INF_BF16 __ushort_as_bfloat16(0x7F80)
