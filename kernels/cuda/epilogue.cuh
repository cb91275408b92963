// epilogue.cuh - what an epilogue does with an accumulator, shared by linear_epilogue.cu and gemm_epilogue.cu.
//
//   D = convert<Out>(act(alpha * acc + beta * C + bias))      everything before the conversion in fp32
//
// The order is fixed: linear combination, bias, activation, and one rounding at the very end. C is an operand only where
// beta is not 0: whether to read it is the caller's decision (read_c), taken once, before any load.
#pragma once
#include "hopper.cuh"
#include "hopper_device_math.cuh"

enum Activation { ACT_NONE = 0, ACT_RELU = 1, ACT_GELU = 2, ACT_SILU = 3 };

HOPPER_FN float relu(float x) { return x < 0.0f ? 0.0f : x; }  // NaN stays NaN
HOPPER_FN float silu(float x) { return x * reciprocal_approx(1.0f + exp2_approx(-1.44269504f * x)); }  // exp(-x) by base 2
// The exact GELU, x * Phi(x), not the tanh approximation: relu(x) minus an even bump, |x| * erfc(|x| / sqrt 2) / 2. The library's
// erff would cost more instructions than the memory leaves time for, and 1 + erff(x) cancels for negative x. Here erfc(z) / 2 is
// t * Q(t) * exp(-z * z) with t = 1 / (1 + 0.375 z) and Q the minimax polynomial of degree 6: relative error below 1e-6.
HOPPER_FN float gelu(float x) {
  const float z = fminf(fabsf(x), 16.0f);  // beyond, the bump is 0; keeps infinity times 0 away
  const float t = reciprocal_approx(1.0f + 0.265165043f * z);
  float q = -0.0670145825f;
  q = q * t + 0.192120075f;
  q = q * t - 0.062235743f;
  q = q * t + 0.139720112f;
  q = q * t + 0.0840168893f;
  q = q * t + 0.107713759f;
  q = q * t + 0.105679564f;
  return relu(x) - z * t * q * exp2_approx(-0.721347520f * z * z);  // exp(-x * x / 2)
}

// alpha, beta and what is added; one per launch, the same in every thread.
struct EpilogueScalars {
  float alpha, beta;
  int activation;
  bool read_c;  // false: C is not read and may be null
};

// v = act(alpha * v + beta * c + bias), element by element. c is ignored where read_c is false.
template <int COUNT>
HOPPER_FN void apply_epilogue(float (&v)[COUNT], const float (&c)[COUNT], const float (&bias)[COUNT], const EpilogueScalars& e) {
#pragma unroll
  for (int i = 0; i < COUNT; ++i) {
    v[i] *= e.alpha;
    if (e.read_c) v[i] += e.beta * c[i];
    v[i] += bias[i];
  }
  // One branch a thread, not one an element: the activation is the same for the whole launch.
  if (e.activation == ACT_RELU) {
#pragma unroll
    for (int i = 0; i < COUNT; ++i) v[i] = relu(v[i]);
  } else if (e.activation == ACT_GELU) {
#pragma unroll
    for (int i = 0; i < COUNT; ++i) v[i] = gelu(v[i]);
  } else if (e.activation == ACT_SILU) {
#pragma unroll
    for (int i = 0; i < COUNT; ++i) v[i] = silu(v[i]);
  }
}

// ---------------------------------------------------------------------------------------------- 128-bit access
template <class T> struct PerVector { static constexpr int count = 16 / sizeof(T); };

// The elements of one 128-bit word, as floats. Little endian: the lower half of a word is the earlier element.
HOPPER_FN void unpack(const vec128& word, float* out, float) {
#pragma unroll
  for (int i = 0; i < 4; ++i) out[i] = __uint_as_float(word.w[i]);
}
template <class T> HOPPER_FN void unpack(const vec128& word, float* out, T) {
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    out[2 * i] = to_float(T{(uint16_t)(word.w[i] & 0xFFFF)});
    out[2 * i + 1] = to_float(T{(uint16_t)(word.w[i] >> 16)});
  }
}
// The reverse, saturating: what is too large for T becomes the largest finite T, NaN stays NaN.
HOPPER_FN vec128 pack(const float* v, float) {
  vec128 word;
#pragma unroll
  for (int i = 0; i < 4; ++i) word.w[i] = __float_as_uint(convert_saturate<float>(v[i]));
  return word;
}
template <class T> HOPPER_FN vec128 pack(const float* v, T) {
  vec128 word;
#pragma unroll
  for (int i = 0; i < 4; ++i) word.w[i] = pack2_saturate(v[2 * i], v[2 * i + 1], T());
  return word;
}

// v[i] = p[i] for i < count, 0 for the others. `aligned`: p is 16-byte aligned, so that a whole vector goes by 128-bit loads.
template <int COUNT, class T> HOPPER_FN void load_vector(float (&v)[COUNT], const T* p, int count, bool aligned = true) {
  constexpr int PER = PerVector<T>::count;
  static_assert(COUNT % PER == 0, "whole 128-bit words");
  if (aligned && count >= COUNT) {
#pragma unroll
    for (int i = 0; i < COUNT; i += PER) unpack(load128(p + i), v + i, T());
  } else {
#pragma unroll
    for (int i = 0; i < COUNT; ++i) v[i] = i < count ? to_float(p[i]) : 0.0f;
  }
}

// p[i] = v[i] for i < count, saturating; `aligned` as above.
template <int COUNT, class T> HOPPER_FN void store_vector(T* p, const float (&v)[COUNT], int count, bool aligned = true) {
  constexpr int PER = PerVector<T>::count;
  static_assert(COUNT % PER == 0, "whole 128-bit words");
  if (aligned && count >= COUNT) {
#pragma unroll
    for (int i = 0; i < COUNT; i += PER) store128(p + i, pack(v + i, T()));
  } else {
#pragma unroll
    for (int i = 0; i < COUNT; ++i)
      if (i < count) p[i] = convert_saturate<T>(v[i]);
  }
}

// The whole epilogue of COUNT neighbouring elements of a row: v holds the accumulators, c and d point at the first element.
template <int COUNT, class C, class Out>
HOPPER_FN void epilogue_vector(float (&v)[COUNT], const C* c, const float (&bias)[COUNT], Out* d, int count, bool aligned,
                               const EpilogueScalars& e) {
  float old[COUNT] = {};
  if (e.read_c) load_vector(old, c, count, aligned);
  apply_epilogue(v, old, bias, e);
  store_vector(d, v, count, aligned);
}
