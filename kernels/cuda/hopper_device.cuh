// hopper_device.cuh - the device half of the vocabulary: barriers, fences, registers, clusters, warps, global memory.
// Included by hopper.cuh only. All inline PTX of the course is in the hopper_device*.cuh files.
#pragma once

// ---------------------------------------------------------------------------------------------- shared memory
// A block's own array. Visible to all its threads after a barrier. 128-byte aligned, so TMA may write it unswizzled.
#define SHARED(T, name, dims) SHARED_ALIGNED(128, T, name, dims)
#define SHARED_ALIGNED(bytes, T, name, dims) __shared__ __align__(bytes) T name dims
// The launch's dynamic shared memory, as one struct, 1024-byte aligned (what the 128-byte swizzle needs).
#define DYNAMIC_SHARED(T, name)                          \
  extern __shared__ __align__(1024) uint8_t name##_raw[]; \
  T& name = *reinterpret_cast<T*>(name##_raw)

// The 32-bit address that barrier, TMA and descriptor operands want. p must point into shared memory.
HOPPER_FN uint32_t smem_address(const void* p) { return (uint32_t)__cvta_generic_to_shared(p); }

// ---------------------------------------------------------------------------------------------- conversions
HOPPER_FN bf16 float_to_bf16(float v) { bf16 r; asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(r.x) : "f"(v)); return r; }
HOPPER_FN fp16 float_to_fp16(float v) { fp16 r; asm("cvt.rn.f16.f32 %0, %1;" : "=h"(r.x) : "f"(v)); return r; }
HOPPER_FN float fp16_to_float(fp16 v) { float r; asm("cvt.f32.f16 %0, %1;" : "=f"(r) : "h"(v.x)); return r; }
HOPPER_FN e4m3 float_to_e4m3(float v) {  // the hardware converts pairs and always saturates
  uint16_t pair;
  asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(0.0f), "f"(v));
  e4m3 r;
  r.x = (uint8_t)pair;
  return r;
}
HOPPER_FN float e4m3_to_float(e4m3 v) {
  uint32_t pair;
  asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(pair) : "h"((uint16_t)v.x));
  return fp16_to_float(fp16{(uint16_t)pair});
}

// ---------------------------------------------------------------------------------------------- mbarriers
// One thread: `count` arrivals complete a phase. fence_mbarrier_init and a block or cluster barrier before others use it.
// name and index are for the emulator's reports.
HOPPER_FN void mbarrier_init(mbarrier* b, uint32_t count, const char* name = nullptr, int index = 0) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(smem_address(b)), "r"(count) : "memory");
}
// One arrival, releasing what this thread did before it.
HOPPER_FN void mbarrier_arrive(mbarrier* b) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(smem_address(b)) : "memory");
}
// One arrival that first adds `bytes` to what the phase still expects: the whole of the boxes about to be loaded.
HOPPER_FN void mbarrier_arrive_expect_tx(mbarrier* b, uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(smem_address(b)), "r"(bytes) : "memory");
}
// Adds `bytes` to what the phase expects, without arriving.
HOPPER_FN void mbarrier_expect_tx(mbarrier* b, uint32_t bytes) {
  asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(smem_address(b)), "r"(bytes) : "memory");
}
// One arrival at the same barrier in block `rank` of the cluster. That block must not have exited.
HOPPER_FN void mbarrier_arrive_remote(mbarrier* b, uint32_t rank) {
  asm volatile("{\n.reg .b32 remote;\nmapa.shared::cluster.u32 remote, %0, %1;\n"
               "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [remote];\n}" ::"r"(smem_address(b)), "r"(rank) : "memory");
}
// The same by a thread that only read what it now lets the other block overwrite: its own writes are not published there. The
// release at cluster scope above costs a fence of the whole GPU (MEMBAR.ALL.GPU in SASS), too much for every stage of a ring.
HOPPER_FN void mbarrier_arrive_remote_read(mbarrier* b, uint32_t rank) {
  asm volatile("{\n.reg .b32 remote;\nmapa.shared::cluster.u32 remote, %0, %1;\n"
               "mbarrier.arrive.shared::cluster.b64 _, [remote];\n}" ::"r"(smem_address(b)), "r"(rank) : "memory");
}
// True once the phase of that parity has completed. May return false early: call it in a loop.
HOPPER_FN bool mbarrier_try_wait(mbarrier* b, uint32_t parity) {
  uint32_t done;
  asm volatile("{\n.reg .pred p;\nmbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\nselp.u32 %0, 1, 0, p;\n}"
               : "=r"(done) : "r"(smem_address(b)), "r"(parity) : "memory");
  return done;
}
// Blocks until the phase of that parity has completed. A fresh barrier lets parity 1 pass at once.
HOPPER_FN void mbarrier_wait(mbarrier* b, uint32_t parity) {
  while (!mbarrier_try_wait(b, parity)) {}
}
// As mbarrier_wait, and also sees what other blocks of the cluster wrote before their remote arrival.
HOPPER_FN void mbarrier_wait_cluster(mbarrier* b, uint32_t parity) {
  uint32_t done = 0;
  while (!done)
    asm volatile("{\n.reg .pred p;\nmbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], %2;\nselp.u32 %0, 1, 0, p;\n}"
                 : "=r"(done) : "r"(smem_address(b)), "r"(parity) : "memory");
}

// ---------------------------------------------------------------------------------------------- fences
// After mbarrier_init, by the thread that did it, before the barrier that publishes it to other threads and to TMA.
HOPPER_FN void fence_mbarrier_init() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }
// After ordinary stores to shared memory that TMA or wgmma will read: by the writing threads, before their barrier.
HOPPER_FN void fence_proxy_async() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
// The same for ordinary stores to global memory that a TMA load of this launch will read.
HOPPER_FN void fence_proxy_async_global() { asm volatile("fence.proxy.async.global;" ::: "memory"); }

// ---------------------------------------------------------------------------------------------- registers
// Give registers back to the block's pool, down to R a thread. By all warps of a warpgroup; R a multiple of 8 in 24..256.
// Takes effect only when the launch caps the registers (__launch_bounds__).
template <int R> HOPPER_FN void reg_dec() { asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(R)); }
// Take registers up to R a thread; waits until the pool has them. The new ones are undefined.
template <int R> HOPPER_FN void reg_inc() { asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(R)); }

// ---------------------------------------------------------------------------------------------- named barriers
// Barrier `id` (1..15; 0 is __syncthreads) for `threads` threads, a multiple of 32: waits for all of them.
HOPPER_FN void named_barrier_sync(int id, int threads) { asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory"); }
// Counts towards barrier `id` without waiting; `threads` counts those that sync and those that arrive.
HOPPER_FN void named_barrier_arrive(int id, int threads) { asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory"); }

// ---------------------------------------------------------------------------------------------- clusters
// This block's rank in its cluster, and the number of blocks in it.
HOPPER_FN uint32_t cluster_rank() { uint32_t r; asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(r)); return r; }
HOPPER_FN uint32_t cluster_size() { uint32_t r; asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(r)); return r; }
// Arrive at, or wait for, the cluster's barrier: by every thread of every block of the cluster, whole warps together.
HOPPER_FN void cluster_arrive() { asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory"); }
HOPPER_FN void cluster_wait() { asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory"); }
// Both. Before first use of another block's shared memory, and before exit while others may still use this block's.
HOPPER_FN void cluster_sync() { cluster_arrive(); cluster_wait(); }
// The same shared-memory object in block `rank`: a pointer for ordinary loads and stores (distributed shared memory).
template <class T> HOPPER_FN T* cluster_map(T* p, uint32_t rank) {
  uint64_t remote;
  asm volatile("mapa.u64 %0, %1, %2;" : "=l"(remote) : "l"(p), "r"(rank));
  return reinterpret_cast<T*>(remote);
}

// ---------------------------------------------------------------------------------------------- warps
// True in exactly one lane. All 32 lanes must be here.
HOPPER_FN bool elect_one() {
  uint32_t chosen;
  asm volatile("{\n.reg .pred p;\nelect.sync _|p, 0xFFFFFFFF;\nselp.u32 %0, 1, 0, p;\n}" : "=r"(chosen));
  return chosen;
}
// Store four (two) 8x8 matrices of 16-bit elements from registers. Lane l gives the address of row l % 8 of matrix l / 8
// (16 bytes, 16-byte aligned); register i of lane l holds elements 2 * (l % 4), +1 of row l / 4 of matrix i.
HOPPER_FN void stmatrix_x4(void* row, uint32_t r0, uint32_t r1, uint32_t r2, uint32_t r3) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(smem_address(row)), "r"(r0), "r"(r1),
               "r"(r2), "r"(r3) : "memory");
}
HOPPER_FN void stmatrix_x2(void* row, uint32_t r0, uint32_t r1) {
  asm volatile("stmatrix.sync.aligned.m8n8.x2.shared.b16 [%0], {%1, %2};" ::"r"(smem_address(row)), "r"(r0), "r"(r1) : "memory");
}
// The reverse of stmatrix_x4: loads r[0..3], the A fragment of wgmma_rs when matrices are (rows 0-7, k 0-7), (rows 8-15, k 0-7),
// (rows 0-7, k 8-15), (rows 8-15, k 8-15).
HOPPER_FN void ldmatrix_x4(uint32_t (&r)[4], const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(smem_address(row)) : "memory");
}

// ---------------------------------------------------------------------------------------------- memory
// 16 bytes in one access, from global or shared memory. p is 16-byte aligned.
HOPPER_FN vec128 load128(const void* p) { return *reinterpret_cast<const vec128*>(p); }
HOPPER_FN void store128(void* p, vec128 v) { *reinterpret_cast<vec128*>(p) = v; }
// 16 bytes of global memory that is read (written) once: not kept in L1. load128_stream: nobody writes it during the launch.
HOPPER_FN vec128 load128_stream(const void* p) {
  vec128 v;
  asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.w[0]), "=r"(v.w[1]), "=r"(v.w[2]), "=r"(v.w[3]) : "l"(p));
  return v;
}
HOPPER_FN void store128_stream(void* p, vec128 v) {
  asm volatile("st.global.cs.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(p), "r"(v.w[0]), "r"(v.w[1]), "r"(v.w[2]), "r"(v.w[3]) : "memory");
}
// Flags in global memory, between blocks: a load_acquire that sees the value of a store_release (or atomic_add_release) also
// sees what the storing thread wrote before it.
HOPPER_FN uint32_t load_acquire(const uint32_t* p) {
  uint32_t v;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
  return v;
}
HOPPER_FN void store_release(uint32_t* p, uint32_t v) { asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(p), "r"(v) : "memory"); }
// Adds v and returns the old value; release: what this thread wrote before is visible to who acquires the sum.
HOPPER_FN uint32_t atomic_add_release(uint32_t* p, uint32_t v) {
  uint32_t old;
  asm volatile("atom.add.release.gpu.global.u32 %0, [%1], %2;" : "=r"(old) : "l"(p), "r"(v) : "memory");
  return old;
}
