// cuda_math.h - CUDA's arithmetic for a foreign file: overloads for float as its headers have them, intrinsics, bits. Approximate
// intrinsics (__expf, __sinf, ...) give the exact function's value here: a GPU's differs in the last bits.
#pragma once
#include "cuda_std.h"
#include "cuda_words.h"

#define CUDART_INF_F __builtin_inff()
#define CUDART_INF __builtin_inf()
#define CUDART_NAN_F __builtin_nanf("")
#define CUDART_PI_F 3.141592654f
#define CUDART_PI 3.1415926535897931e+0
#define CUDART_LN2_F 0.693147181f
#define CUDART_MAX_NORMAL_F 3.402823466e38f

// The C functions of doubles, for floats and for whole numbers as well.
#define EMU_MATH1(name)                            \
  inline float name(float x) { return name##f(x); } \
  template <class T> inline std::enable_if_t<std::is_integral_v<T>, double> name(T x) { return name((double)x); }
EMU_MATH1(exp) EMU_MATH1(exp2) EMU_MATH1(expm1) EMU_MATH1(log) EMU_MATH1(log2) EMU_MATH1(log10) EMU_MATH1(log1p) EMU_MATH1(sqrt) EMU_MATH1(cbrt)
EMU_MATH1(sin) EMU_MATH1(cos) EMU_MATH1(tan) EMU_MATH1(asin) EMU_MATH1(acos) EMU_MATH1(atan) EMU_MATH1(sinh) EMU_MATH1(cosh) EMU_MATH1(tanh)
EMU_MATH1(asinh) EMU_MATH1(acosh) EMU_MATH1(atanh) EMU_MATH1(erf) EMU_MATH1(erfc) EMU_MATH1(tgamma) EMU_MATH1(lgamma)
EMU_MATH1(ceil) EMU_MATH1(floor) EMU_MATH1(trunc) EMU_MATH1(round) EMU_MATH1(rint) EMU_MATH1(nearbyint) EMU_MATH1(fabs)
#define EMU_MATH2(name) inline float name(float x, float y) { return name##f(x, y); }
EMU_MATH2(pow) EMU_MATH2(atan2) EMU_MATH2(fmod) EMU_MATH2(fmax) EMU_MATH2(fmin) EMU_MATH2(hypot) EMU_MATH2(copysign) EMU_MATH2(fdim) EMU_MATH2(remainder)
inline float pow(float x, int n) { return powf(x, (float)n); }
inline double pow(double x, int n) { return pow(x, (double)n); }
inline float fma(float a, float b, float c) { return fmaf(a, b, c); }
inline float ldexp(float x, int e) { return ldexpf(x, e); }
inline float frexp(float x, int* e) { return frexpf(x, e); }
inline float modf(float x, float* whole) { return modff(x, whole); }
inline float abs(float x) { return fabsf(x); }
inline double abs(double x) { return fabs(x); }
inline long abs(long x) { return x < 0 ? -x : x; }
inline long long abs(long long x) { return x < 0 ? -x : x; }
#undef isnan
#undef isinf
#undef isfinite
#undef signbit
template <class T> inline bool isnan(T x) { return __builtin_isnan(x); }
template <class T> inline bool isinf(T x) { return __builtin_isinf(x); }
template <class T> inline bool isfinite(T x) { return __builtin_isfinite(x); }
template <class T> inline bool signbit(T x) { return __builtin_signbit(x); }

// The common type of mixed arguments, as CUDA's overloads choose it.
template <class A, class B> inline constexpr std::common_arithmetic_t<A, B> min(A a, B b) {
  typedef std::common_arithmetic_t<A, B> C;
  return (C)b < (C)a ? (C)b : (C)a;
}
template <class A, class B> inline constexpr std::common_arithmetic_t<A, B> max(A a, B b) {
  typedef std::common_arithmetic_t<A, B> C;
  return (C)a < (C)b ? (C)b : (C)a;
}
inline float rsqrtf(float x) { return 1.0f / sqrtf(x); }
inline double rsqrt(double x) { return 1.0 / sqrt(x); }
inline float rsqrt(float x) { return rsqrtf(x); }
inline float rcbrtf(float x) { return 1.0f / cbrtf(x); }
inline float sinpif(float x) { return (float)sin(3.14159265358979323846 * (double)x); }
inline float cospif(float x) { return (float)cos(3.14159265358979323846 * (double)x); }
inline double sinpi(double x) { return sin(3.14159265358979323846 * x); }
inline double cospi(double x) { return cos(3.14159265358979323846 * x); }
inline void sincospif(float x, float* s, float* c) { *s = sinpif(x), *c = cospif(x); }
inline float normcdff(float x) { return 0.5f * erfcf(-x * 0.70710678f); }
inline double normcdf(double x) { return 0.5 * erfc(-x * 0.70710678118654752440); }
inline float erfcxf(float x) { return (float)(exp((double)x * x) * erfc((double)x)); }
inline float fdividef(float a, float b) { return a / b; }
inline float norm3df(float a, float b, float c) { return sqrtf(a * a + b * b + c * c); }
inline float rnorm3df(float a, float b, float c) { return 1.0f / norm3df(a, b, c); }
inline float norm4df(float a, float b, float c, float d) { return sqrtf(a * a + b * b + c * c + d * d); }
inline float rhypotf(float a, float b) { return 1.0f / hypotf(a, b); }
inline float __saturatef(float x) { return x > 0 ? (x < 1 ? x : 1.0f) : 0.0f; }
inline float __expf(float x) { return expf(x); }
inline float __exp10f(float x) { return powf(10.0f, x); }
inline float __logf(float x) { return logf(x); }
inline float __log2f(float x) { return log2f(x); }
inline float __log10f(float x) { return log10f(x); }
inline float __sinf(float x) { return sinf(x); }
inline float __cosf(float x) { return cosf(x); }
inline float __tanf(float x) { return tanf(x); }
inline float __tanhf(float x) { return tanhf(x); }
inline void __sincosf(float x, float* s, float* c) { *s = sinf(x), *c = cosf(x); }
inline float __powf(float x, float y) { return powf(x, y); }
inline float __fdividef(float a, float b) { return a / b; }
inline float __frsqrt_rn(float x) { return (float)(1.0 / sqrt((double)x)); }
// Rounding to nearest is the host's own; directed rounding is not modelled, so those words are not here.
#define EMU_RN(name, T, expression) inline T name expression
EMU_RN(__fadd_rn, float, (float a, float b) { return a + b; })
EMU_RN(__fsub_rn, float, (float a, float b) { return a - b; })
EMU_RN(__fmul_rn, float, (float a, float b) { return a * b; })
EMU_RN(__fdiv_rn, float, (float a, float b) { return a / b; })
EMU_RN(__fmaf_rn, float, (float a, float b, float c) { return fmaf(a, b, c); })
EMU_RN(__frcp_rn, float, (float a) { return 1.0f / a; })
EMU_RN(__fsqrt_rn, float, (float a) { return sqrtf(a); })
EMU_RN(__dadd_rn, double, (double a, double b) { return a + b; })
EMU_RN(__dsub_rn, double, (double a, double b) { return a - b; })
EMU_RN(__dmul_rn, double, (double a, double b) { return a * b; })
EMU_RN(__ddiv_rn, double, (double a, double b) { return a / b; })
EMU_RN(__fma_rn, double, (double a, double b, double c) { return fma(a, b, c); })

// Conversions: rn nearest, rz towards zero, rd down, ru up; what does not fit takes the nearest bound, NaN 0 (as cvt does).
template <class To, class From> inline To emu_to_integer(From x) {
  constexpr bool is_signed = (To)-1 < (To)0;
  constexpr To high = is_signed ? (To)(((To)1 << (8 * sizeof(To) - 2)) - 1 + ((To)1 << (8 * sizeof(To) - 2))) : (To)-1, low = is_signed ? (To)(-high - 1) : 0;
  if (x != x) return 0;
  if (x >= (From)high) return high;
  return x <= (From)low ? low : (To)x;
}
#define EMU_TO_INTEGER(from, From, word, To)                                                            \
  inline To __##from##2##word##_rn(From x) { return emu_to_integer<To>((From)nearbyint((double)x)); }   \
  inline To __##from##2##word##_rz(From x) { return emu_to_integer<To>((From)trunc((double)x)); }       \
  inline To __##from##2##word##_rd(From x) { return emu_to_integer<To>((From)floor((double)x)); }       \
  inline To __##from##2##word##_ru(From x) { return emu_to_integer<To>((From)ceil((double)x)); }
EMU_TO_INTEGER(float, float, int, int) EMU_TO_INTEGER(float, float, uint, unsigned)
EMU_TO_INTEGER(float, float, ll, long long) EMU_TO_INTEGER(float, float, ull, unsigned long long)
EMU_TO_INTEGER(double, double, int, int) EMU_TO_INTEGER(double, double, uint, unsigned)
EMU_TO_INTEGER(double, double, ll, long long) EMU_TO_INTEGER(double, double, ull, unsigned long long)
inline float __int2float_rn(int x) { return (float)x; }
inline float __uint2float_rn(unsigned x) { return (float)x; }
inline float __ll2float_rn(long long x) { return (float)x; }
inline float __ull2float_rn(unsigned long long x) { return (float)x; }
inline float __double2float_rn(double x) { return (float)x; }
inline double __int2double_rn(int x) { return x; }
inline double __uint2double_rn(unsigned x) { return x; }
inline double __ll2double_rn(long long x) { return (double)x; }

template <class To, class From> inline To emu_bits(From x) {
  static_assert(sizeof(To) == sizeof(From), "the same number of bytes");
  To y;
  __builtin_memcpy(&y, &x, sizeof y);
  return y;
}
inline unsigned __float_as_uint(float x) { return emu_bits<unsigned>(x); }
inline int __float_as_int(float x) { return emu_bits<int>(x); }
inline float __uint_as_float(unsigned x) { return emu_bits<float>(x); }
inline float __int_as_float(int x) { return emu_bits<float>(x); }
inline long long __double_as_longlong(double x) { return emu_bits<long long>(x); }
inline double __longlong_as_double(long long x) { return emu_bits<double>(x); }
inline int __double2hiint(double x) { return (int)(emu_bits<uint64_t>(x) >> 32); }
inline int __double2loint(double x) { return (int)emu_bits<uint64_t>(x); }
inline double __hiloint2double(int high, int low) { return emu_bits<double>((uint64_t)(unsigned)high << 32 | (unsigned)low); }

inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __ffsll(long long x) { return __builtin_ffsll(x); }
inline int __clz(int x) { return x ? __builtin_clz((unsigned)x) : 32; }
inline int __clzll(long long x) { return x ? __builtin_clzll((unsigned long long)x) : 64; }
inline unsigned __brev(unsigned x) {
  unsigned y = 0;
  for (int i = 0; i < 32; ++i) y |= (x >> i & 1) << (31 - i);
  return y;
}
inline unsigned long long __brevll(unsigned long long x) { return (unsigned long long)__brev((unsigned)x) << 32 | __brev((unsigned)(x >> 32)); }
inline unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)((uint64_t)a * b >> 32); }
inline int __mulhi(int a, int b) { return (int)((int64_t)a * b >> 32); }
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) { return (unsigned long long)((unsigned __int128)a * b >> 64); }
inline int __mul24(int a, int b) { return (int)((unsigned)(a << 8 >> 8) * (unsigned)(b << 8 >> 8)); }
inline unsigned __umul24(unsigned a, unsigned b) { return (a & 0xFFFFFF) * (b & 0xFFFFFF); }
inline unsigned __sad(int a, int b, unsigned c) { return c + (unsigned)(a < b ? b - a : a - b); }
inline int __hadd(int a, int b) { return (int)(((int64_t)a + b) >> 1); }
inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned n) { return (unsigned)(((uint64_t)high << 32 | low) << (n & 31) >> 32); }
inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned n) { return (unsigned)(((uint64_t)high << 32 | low) >> (n & 31)); }
inline unsigned __byte_perm(unsigned x, unsigned y, unsigned s) {
  const uint64_t v = (uint64_t)y << 32 | x;
  unsigned r = 0;
  for (int i = 0; i < 4; ++i) {
    const unsigned pick = s >> (4 * i) & 15, byte = (unsigned)(v >> (8 * (pick & 7)) & 255);
    r |= (pick & 8 ? (byte & 128 ? 255u : 0u) : byte) << (8 * i);
  }
  return r;
}
inline int __dp4a(int a, int b, int c) {
  for (int i = 0; i < 4; ++i) c += (int)(int8_t)(a >> (8 * i)) * (int)(int8_t)(b >> (8 * i));
  return c;
}
inline unsigned __dp4a(unsigned a, unsigned b, unsigned c) {
  for (int i = 0; i < 4; ++i) c += (a >> (8 * i) & 255) * (b >> (8 * i) & 255);
  return c;
}
#define __builtin_assume_(x) ((void)0)
#define __builtin_assume(x) __builtin_assume_(x)
inline void __prof_trigger(int) {}
template <class T> inline T __ldg(const T* p) { return *p; }
template <class T> inline T __ldcs(const T* p) { return *p; }
template <class T> inline T __ldca(const T* p) { return *p; }
template <class T> inline T __ldcg(const T* p) { return *p; }
template <class T> inline T __ldcv(const T* p) { return *(const volatile T*)p; }
template <class T> inline T __ldlu(const T* p) { return *p; }
template <class T> inline void __stcs(T* p, typename EmuSame<T>::type v) { *p = v; }
template <class T> inline void __stcg(T* p, typename EmuSame<T>::type v) { *p = v; }
template <class T> inline void __stwb(T* p, typename EmuSame<T>::type v) { *p = v; }
template <class T> inline void __stwt(T* p, typename EmuSame<T>::type v) { *p = v; }
