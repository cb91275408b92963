// gemm_naive.cu - rung 1: one thread an element of D.
//
// Computes D = A B^T (gemm.cuh says what the arrays are; here rows may start anywhere: lda, ldb and ldd are in elements).
// Launch: blocks of 16 x 16 threads, one block a 16 x 16 tile of D; x runs along N.
// Invariants: a thread reads one row of A and one row of B, 2 K elements for 2 K operations, so the arithmetic intensity is
// 0.5 FLOP/byte before the caches help: this is what the other rungs are measured against.
#include "gemm.cuh"

extern "C" __global__ void __launch_bounds__(256)
gemm_naive(const bf16* A, const bf16* B, OUT* D, int M, int N, int K, int lda, int ldb, int ldd) {
  const int m = blockIdx.y * blockDim.y + threadIdx.y;
  const int n = blockIdx.x * blockDim.x + threadIdx.x;
  if (m >= M || n >= N) return;
  const bf16* a = A + (int64_t)m * lda;
  const bf16* b = B + (int64_t)n * ldb;
  float sum = 0.0f;
  for (int k = 0; k < K; ++k) sum += to_float(a[k]) * to_float(b[k]);
  D[(int64_t)m * ldd + n] = convert<OUT>(sum);
}
