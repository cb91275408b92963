// vocabulary.cu - every word of hopper.cuh once, so that the two halves compile: it computes nothing and is never launched.
#include "hopper.cuh"
struct Smem { alignas(1024) bf16 a[64 * 64]; alignas(1024) bf16 b[256 * 64]; mbarrier full, empty; };
template <int N, class T> HOPPER_FN void mma_all(Smem& s, float* out) {
  float d[N / 2]; uint32_t a[4] = {1, 2, 3, 4};
  wgmma_fence();
  wgmma_ss<N, T>(d, desc_k_major<128>(s.a), desc_k_major<128>(s.b), 0);
  wgmma_rs<N, T>(d, a, desc_advance(desc_k_major<128>(s.b), 32));
  wgmma_commit(); wgmma_wait<0>(); wgmma_keep(d);
  for (int i = 0; i < N / 2; ++i) out[i * 128 + threadIdx.x] = d[i];
}
template <int N> HOPPER_FN void all_types(Smem& s, float* out) {
  mma_all<N, bf16>(s, out); mma_all<N, fp16>(s, out); mma_all<N, tf32>(s, out); mma_all<N, e4m3>(s, out);
  float d[N / 2]; wgmma_ss<N, bf16, MN_MAJOR, MN_MAJOR>(d, desc_mn_major<128>(s.a, 8192), desc_mn_major<64>(s.b, 4096), 0);
  uint32_t h[N / 4]; wgmma_ss_fp16_accumulate<N>(h, desc_k_major<64>(s.a), desc_k_major<32>(s.b), 0); wgmma_wait<0>();
  for (int i = 0; i < N / 2; ++i) out[i * 128 + threadIdx.x] += d[i];
  for (int i = 0; i < N / 4; ++i) out[i * 128 + threadIdx.x] += h[i];
}
extern "C" __global__ void __launch_bounds__(128, 1) vocab(const __grid_constant__ TensorMap map, float* out, uint32_t* flag) {
  DYNAMIC_SHARED(Smem, s);
  SHARED(float, tile, [32][33]);
  tile[threadIdx.x % 32][threadIdx.x / 32] = out[threadIdx.x];
  if (threadIdx.x == 0) { tma_prefetch(&map); mbarrier_init(&s.full, 1, "FULL", 0); mbarrier_init(&s.empty, 1); fence_mbarrier_init(); }
  cluster_sync();
  reg_dec<40>(); reg_inc<232>();
  if (elect_one()) {
    mbarrier_arrive_expect_tx(&s.full, 8192); mbarrier_expect_tx(&s.full, 8192); mbarrier_arrive(&s.empty); mbarrier_arrive_remote(&s.empty, 1); mbarrier_arrive_remote_read(&s.empty, 1);
    tma_load_2d(s.a, &map, 0, 0, &s.full); tma_load_2d_hint(s.a, &map, 0, 0, &s.full, l2_evict_last());
    tma_load_2d_multicast(s.a, &map, 0, 0, &s.full, 3); tma_load_2d_multicast_hint(s.a, &map, 0, 0, &s.full, 3, l2_evict_first());
    tma_store_2d(&map, s.a, 0, 0); tma_store_commit(); tma_store_wait_read<1>(); tma_store_wait<0>();
  }
  mbarrier_wait(&s.full, 0); mbarrier_wait_cluster(&s.empty, 1); if (mbarrier_try_wait(&s.full, 1)) out[3] = 0;
  fence_proxy_async(); fence_proxy_async_global(); cluster_arrive(); cluster_wait();
  named_barrier_sync(1, 128); named_barrier_arrive(2, 128); __syncthreads(); __syncwarp();
  out[0] = *cluster_map(&tile[0][0], cluster_rank() ^ 1) + cluster_size();
  stmatrix_x4(s.a, 1, 2, 3, 4); stmatrix_x2(s.a, 1, 2); uint32_t r[4]; ldmatrix_x4(r, s.b); out[4] = r[0] + r[3];
  float v = __shfl_xor_sync(~0u, out[1], 16); v += __shfl_sync(~0u, v, 3) + __shfl_up_sync(~0u, v, 1) + __shfl_down_sync(~0u, v, 1);
  uint32_t b = __ballot_sync(~0u, v > 0); out[5] = __popc(b) + __ffs(b) + __clz(b) + __any_sync(~0u, b) + __all_sync(~0u, b);
  store128(out, load128(out + 4)); store128_stream(out, load128_stream(out + 4));
  while (load_acquire(flag) != 3) __nanosleep(20);
  store_release(flag, 4); atomic_add_release(flag, 1); atomicAdd(out, 1.0f); atomicAdd(flag, 1u); atomicMax((int*)flag, 3); atomicCAS(flag, 0u, 1u); atomicExch(flag, 5u); __threadfence();
  out[6] = to_float(convert<bf16>(v)) + to_float(convert<fp16>(v)) + to_float(convert<e4m3>(v)) + to_float(convert_saturate<fp16>(v)) + convert<float>(v) + pack2<bf16>(v, v);
  out[7] = __expf(v) + expf(v) + tanhf(v) + erff(v) + rsqrtf(v) + fmaxf(v, 0.f) + min(1, 2) + max(3u, 4u) + (float)clock64();
  float4 f = make_float4(1, 2, 3, 4); out[8] = f.x + f.w + swizzled_offset<128>(3, 16) + accumulator_row(3, 4) + accumulator_column(3, 5);
  all_types<8>(s, out); all_types<64>(s, out); all_types<128>(s, out); all_types<256>(s, out); all_types<224>(s, out);
}
