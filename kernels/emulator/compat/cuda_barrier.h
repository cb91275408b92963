// cuda_barrier.h - <cuda/barrier> and the tensor copies of cuda::device::experimental, by the emulator's mbarriers; CUtensorMap.
#pragma once
#include "cuda_math.h"

struct alignas(64) TensorMap { uint64_t opaque[16]; };  // kernels.TensorMap fills it
typedef TensorMap CUtensorMap;
typedef TensorMap CUtensorMap_st;

namespace cuda {
enum thread_scope { thread_scope_system, thread_scope_device, thread_scope_block, thread_scope_thread };
template <thread_scope Scope, class Completion = void> struct alignas(8) barrier {
  uint64_t state;
  typedef uint32_t arrival_token;
  barrier() = default;
  static_assert(Scope == thread_scope_block, "the emulator has cuda::barrier<cuda::thread_scope_block>, an mbarrier in shared memory");
  arrival_token arrive(long count = 1, EMU_WHERE) {
    const arrival_token phase = emu_barrier_phase(this);
    emu_mbarrier_arrive(this, (uint32_t)count, 0, -1, true, EMU_HERE);
    return phase;
  }
  void wait(arrival_token phase, EMU_WHERE) const { emu_mbarrier_wait((void*)this, phase, false, EMU_HERE); }
  void wait_parity(bool parity, EMU_WHERE) const { emu_mbarrier_wait((void*)this, parity, false, EMU_HERE); }
  bool try_wait(arrival_token phase, EMU_WHERE) const { return emu_mbarrier_wait_a_while((void*)this, phase, EMU_HERE); }
  bool try_wait_parity(bool parity, EMU_WHERE) const { return emu_mbarrier_wait_a_while((void*)this, parity, EMU_HERE); }
  void arrive_and_wait(EMU_WHERE) { wait(arrive(1, file, line), file, line); }
  friend void init(barrier* b, long count, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    emu_mbarrier_init(b, (uint32_t)count, nullptr, -1, emu::Where{file, line});
  }
};
namespace device {
template <thread_scope S> inline uint64_t* barrier_native_handle(barrier<S>& b) { return &b.state; }
template <thread_scope S> inline uint32_t barrier_arrive_tx(barrier<S>& b, long count, long bytes, EMU_WHERE) {
  const uint32_t phase = emu_barrier_phase(&b);
  emu_mbarrier_arrive(&b, (uint32_t)count, (uint32_t)bytes, -1, true, EMU_HERE);
  return phase;
}
template <thread_scope S> inline void barrier_expect_tx(barrier<S>& b, long bytes, EMU_WHERE) { emu_mbarrier_arrive(&b, 0, (uint32_t)bytes, -1, true, EMU_HERE); }
namespace experimental {
// The documented way to show an initialised barrier to the asynchronous proxy.
inline void fence_proxy_async_shared_cta(EMU_WHERE) { emu_fence_proxy_async(false, EMU_HERE), emu_fence_mbarrier_init(EMU_HERE); }
inline void fence_proxy_async_global(EMU_WHERE) { emu_fence_proxy_async(true, EMU_HERE); }
template <thread_scope S>
inline void cp_async_bulk_tensor_2d_global_to_shared(void* to, const CUtensorMap* map, int x, int y, barrier<S>& b, EMU_WHERE) {
  emu_tma_load(to, map, x, y, &b, 0, EMU_HERE);
}
inline void cp_async_bulk_tensor_2d_shared_to_global(const CUtensorMap* map, int x, int y, const void* from, EMU_WHERE) {
  emu_tma_store(map, from, x, y, EMU_HERE);
}
inline void cp_async_bulk_commit_group(EMU_WHERE) { emu_tma_store_commit(EMU_HERE); }
template <int N> inline void cp_async_bulk_wait_group(EMU_WHERE) { emu_tma_store_wait(N, false, EMU_HERE); }
template <int N> inline void cp_async_bulk_wait_group_read(EMU_WHERE) { emu_tma_store_wait(N, true, EMU_HERE); }
}  // namespace experimental
}  // namespace device
}  // namespace cuda
