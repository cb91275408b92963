// numbers.h - element types on the host, bit for bit as the hardware's cvt instructions round them (to nearest, ties to even).
#pragma once
#include <stdint.h>
#include <string.h>

namespace emu {

inline uint32_t bits_of(float v) {
  uint32_t u;
  memcpy(&u, &v, 4);
  return u;
}
inline float float_of(uint32_t u) {
  float v;
  memcpy(&v, &u, 4);
  return v;
}

inline float bf16_to_float(uint16_t h) { return float_of((uint32_t)h << 16); }
inline uint16_t float_to_bf16(float v) {
  uint32_t u = bits_of(v);
  if ((u & 0x7FFFFFFF) > 0x7F800000) return 0x7FFF;  // cvt gives one canonical NaN
  return (uint16_t)((u + 0x7FFF + (u >> 16 & 1)) >> 16);
}

// A small float with `E` exponent and `M` fraction bits: rounding of a magnitude, without infinities and NaN.
template <int E, int M>
inline uint32_t round_magnitude(uint32_t u) {
  const int bias = (1 << (E - 1)) - 1;
  int exponent = (int)(u >> 23) - 127;
  if (exponent < -bias - M) return 0;  // under half of the smallest subnormal
  uint32_t fraction = (u & 0x7FFFFF) | 0x800000;
  int shift = 23 - M;
  if (exponent < 1 - bias) shift += 1 - bias - exponent;  // subnormal: fewer bits
  uint32_t kept = fraction >> shift, rest = fraction & ((1u << shift) - 1), half = 1u << (shift - 1);
  if (rest > half || (rest == half && (kept & 1))) ++kept;
  if (exponent < 1 - bias) return kept;  // a carry makes it the smallest normal: same bits
  return ((uint32_t)(exponent + bias) << M) + kept - (1u << M);
}

inline uint16_t float_to_fp16(float v) {
  uint32_t u = bits_of(v), sign = u >> 16 & 0x8000;
  u &= 0x7FFFFFFF;
  if (u > 0x7F800000) return 0x7FFF;
  if (u >= 0x47800000) return (uint16_t)(sign | 0x7C00);  // 65536 and more
  uint32_t r = round_magnitude<5, 10>(u);
  return (uint16_t)(sign | (r > 0x7C00 ? 0x7C00 : r));
}
inline float fp16_to_float(uint16_t h) {
  uint32_t sign = (uint32_t)(h & 0x8000) << 16, exponent = h >> 10 & 31, fraction = h & 1023;
  if (exponent == 31) return float_of(sign | 0x7F800000 | fraction << 13);
  if (exponent) return float_of(sign | (exponent + 112) << 23 | fraction << 13);
  float v = (float)fraction * 5.9604644775390625e-8f;  // 2^-24
  return sign ? -v : v;
}

inline uint8_t float_to_e4m3(float v) {  // saturates: cvt has no other form
  uint32_t u = bits_of(v), sign = u >> 24 & 0x80;
  u &= 0x7FFFFFFF;
  if (u > 0x7F800000) return 0x7F;
  uint32_t r = u >= 0x43E80000 ? 0x7E : round_magnitude<4, 3>(u);  // 464: half-way beyond 448
  return (uint8_t)(sign | (r > 0x7E ? 0x7E : r));
}
inline float e4m3_to_float(uint8_t h) {
  uint32_t exponent = h >> 3 & 15, fraction = h & 7;
  float v = exponent == 15 && fraction == 7 ? float_of(0x7FFFFFFF)
            : exponent                      ? float_of((exponent + 120) << 23 | fraction << 20)
                                            : (float)fraction * 0.001953125f;  // 2^-9
  return h & 0x80 ? -v : v;
}

}  // namespace emu
