// linear_epilogue.cu - D = convert<Out>(act(alpha * acc + beta * C + bias)), elementwise over an (M, N) fp32 accumulator.
//
// Launch: 256 threads a block; a thread makes one 128-bit vector of D (4 fp32 or 8 16-bit elements); the grid covers M * N
// elements. All arrays are row-major and contiguous, so the rows are one run of M * N elements and any N keeps 16-byte
// alignment; only the last vector of the whole matrix can be short. bias has N floats or is null.
// Invariants: C is read if and only if beta is not 0 (null C with beta = 0 is allowed); every element of D is written once;
// nothing is rounded before the last step. Memory-bound: acc and D move once, C once where it is read.
#include "epilogue.cuh"

constexpr int THREADS = 256;

// The bias of the elements at `index` .. in the flat matrix: column = index modulo n.
template <int COUNT> HOPPER_FN void load_bias(float (&v)[COUNT], const float* bias, uint64_t index, uint32_t n, bool fits32) {
  uint32_t column = fits32 ? (uint32_t)index % n : (uint32_t)(index % n);  // a 32-bit remainder costs a quarter
  if (n % COUNT == 0) {
    load_vector(v, bias + column, COUNT);
  } else {
#pragma unroll
    for (int i = 0; i < COUNT; ++i) {
      v[i] = bias[column];
      column = column + 1 == n ? 0 : column + 1;
    }
  }
}

template <class C, class Out>
HOPPER_FN void epilogue(const float* acc, const C* c, const float* bias, Out* d, float alpha, float beta, int activation,
                        uint32_t n, uint64_t total) {
  constexpr int COUNT = PerVector<Out>::count;
  // CHALLENGE-BEGIN: whether C is read, decided once from beta
  bool read_c = beta != 0.0f;
  // CHALLENGE-END
#ifdef NO_BETA_GUARD  // the named defect no_beta_guard
  read_c = true;
#endif
  const EpilogueScalars scalars = {alpha, beta, activation, read_c};
  const uint64_t index = ((uint64_t)blockIdx.x * THREADS + threadIdx.x) * COUNT;
  if (index >= total) return;
  const int count = total - index < COUNT ? (int)(total - index) : COUNT;
  float v[COUNT], add[COUNT] = {};
  load_vector(v, acc + index, count);
  if (bias != nullptr) load_bias(add, bias, index, n, total <= 0xFFFFFFFFu);
  epilogue_vector(v, c + (read_c ? index : 0), add, d + index, count, true, scalars);
}

// One entry for each pair of types: C is fp32 or of the output's type.
#define ENTRY(name, C, Out)                                                                                              \
  extern "C" __global__ void __launch_bounds__(THREADS)                                                                  \
      name(const float* acc, const C* c, const float* bias, Out* d, float alpha, float beta, int activation, uint32_t n, \
           uint64_t total) {                                                                                             \
    epilogue<C, Out>(acc, c, bias, d, alpha, beta, activation, n, total);                                                \
  }
ENTRY(linear_epilogue_fp32, float, float)
ENTRY(linear_epilogue_fp16, fp16, fp16)
ENTRY(linear_epilogue_bf16, bf16, bf16)
ENTRY(linear_epilogue_fp16_c32, float, fp16)
ENTRY(linear_epilogue_bf16_c32, float, bf16)
