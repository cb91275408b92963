// hopper_device_math.cuh - fast arithmetic for epilogues: both halves, since the host's is plain C++. After hopper.cuh.
#pragma once

#if defined(__CUDACC__)
// 2^x, relative error 2^-22; results below 2^-126 are 0. One instruction of the special-function unit (expf costs eight).
HOPPER_FN float exp2_approx(float x) { float r; asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x)); return r; }
// 1 / x within one unit of the last place; 1 / infinity is 0.
HOPPER_FN float reciprocal_approx(float x) { float r; asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x)); return r; }
// Two floats as one register of two 16-bit elements, lo at the lower address; rounded to nearest, what is too large (infinities
// too) becomes the largest finite value, NaN stays NaN. One instruction for what convert_saturate does in eight.
HOPPER_FN uint32_t pack2_saturate(float lo, float hi, bf16) {
  uint32_t r;
  asm("cvt.rn.satfinite.bf16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(hi), "f"(lo));
  return r;
}
HOPPER_FN uint32_t pack2_saturate(float lo, float hi, fp16) {
  uint32_t r;
  asm("cvt.rn.satfinite.f16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(hi), "f"(lo));
  return r;
}
#else
HOPPER_FN float exp2_approx(float x) { return exp2f(x); }
HOPPER_FN float reciprocal_approx(float x) { return 1.0f / x; }
template <class T> HOPPER_FN uint32_t pack2_saturate(float lo, float hi, T) {
  return (uint32_t)convert_saturate<T>(lo).x | (uint32_t)convert_saturate<T>(hi).x << 16;
}
#endif
