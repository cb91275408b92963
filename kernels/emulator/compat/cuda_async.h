// cuda_async.h - asynchronous copies of sm_80: __pipeline_memcpy_async, cuda::memcpy_async, cuda::pipeline of a thread and of a block,
// cooperative_groups::memcpy_async. What the library would copy at once (odd sizes, other memories) is as late here: its caller
// may not count on it.
#pragma once
#include "cuda_barrier.h"

// A run of bytes by `of` threads, of which this is number `rank`.
inline void emu_async_bytes(void* to, const void* from, size_t bytes, unsigned rank, unsigned of, emu::Where where) {
  const size_t all = (size_t)to | (size_t)from | bytes;
  const unsigned piece = all % 16 == 0 ? 16 : all % 8 == 0 ? 8 : all % 4 == 0 ? 4 : 1;
  for (size_t i = (size_t)rank * piece; i < bytes; i += (size_t)of * piece)
    emu_async_copy((char*)to + i, (const char*)from + i, piece, piece, 1, where);
}
inline void __pipeline_memcpy_async(void* to, const void* from, size_t bytes, size_t zeros = 0, EMU_WHERE) {
  emu_async_copy(to, from, (unsigned)bytes, (unsigned)(bytes - zeros), (unsigned)bytes, EMU_HERE);
}
inline void __pipeline_commit(EMU_WHERE) { emu_async_commit(EMU_HERE); }
inline void __pipeline_wait_prior(size_t groups, EMU_WHERE) { emu_async_wait((int)groups, EMU_HERE); }
inline void __pipeline_arrive_on(void* mbarrier, EMU_WHERE) { emu_async_arrive(mbarrier, false, EMU_HERE); }

namespace cuda {
template <size_t Alignment> struct aligned_size_t {
  static constexpr size_t align = Alignment;
  size_t value;
  constexpr explicit aligned_size_t(size_t bytes) : value(bytes) {}
  constexpr operator size_t() const { return value; }
};
enum class pipeline_role { producer, consumer };
template <thread_scope Scope, int Stages> struct pipeline_shared_state { uint64_t full[Stages], empty[Stages]; };

template <thread_scope Scope> struct pipeline;
template <> struct pipeline<thread_scope_thread> {
  unsigned committed = 0, waited = 0;
  void producer_acquire() {}
  void producer_commit(EMU_WHERE) { emu_async_commit(EMU_HERE), ++committed; }
  void consumer_wait(EMU_WHERE) {
    if (committed != waited) emu_async_wait((int)(committed - ++waited), EMU_HERE);
  }
  void consumer_release() {}  // the wait has counted the stage, as libcu++ does
  bool quit() { return true; }
};
// The ring of lesson 6: a full and an empty mbarrier for each stage.
template <> struct pipeline<thread_scope_block> {
  uint64_t *full, *empty;
  unsigned stages, head = 0, tail = 0;
  void producer_acquire(EMU_WHERE) { emu_mbarrier_wait(&empty[head % stages], (head / stages & 1) ^ 1, false, EMU_HERE); }
  void producer_commit(EMU_WHERE) {
    emu_async_arrive(&full[head % stages], false, EMU_HERE);
    emu_mbarrier_arrive(&full[head++ % stages], 1, 0, -1, true, EMU_HERE);
  }
  void consumer_wait(EMU_WHERE) { emu_mbarrier_wait(&full[tail % stages], tail / stages & 1, false, EMU_HERE); }
  void consumer_release(EMU_WHERE) { emu_mbarrier_arrive(&empty[tail++ % stages], 1, 0, -1, true, EMU_HERE); }
  bool quit() { return true; }
};
inline pipeline<thread_scope_thread> make_pipeline() { return {}; }
template <class Group, thread_scope S, int N>
inline pipeline<thread_scope_block> emu_make_pipeline(const Group& g, pipeline_shared_state<S, N>* state, unsigned producers, unsigned consumers, emu::Where where) {
  static_assert(S == thread_scope_block, "the emulator has cuda::pipeline_shared_state<cuda::thread_scope_block, stages>");
  if (g.thread_rank() == 0)
    for (int i = 0; i < N; ++i) {
      emu_mbarrier_init(&state->full[i], producers, "full", i, where);
      emu_mbarrier_init(&state->empty[i], consumers, "empty", i, where);
    }
  g.sync(where.file, where.line);
  return {state->full, state->empty, (unsigned)N};
}
template <class Group, thread_scope S, int N> inline pipeline<thread_scope_block> make_pipeline(const Group& g, pipeline_shared_state<S, N>* state, EMU_WHERE) {
  return emu_make_pipeline(g, state, g.size(), g.size(), EMU_HERE);
}
template <class Group, thread_scope S, int N>
inline pipeline<thread_scope_block> make_pipeline(const Group& g, pipeline_shared_state<S, N>* state, pipeline_role role, EMU_WHERE) {
  static_assert(std::is_same_v<decltype(g.group_dim()), dim3>, "the emulator has pipelines with roles for a whole block (this_thread_block)");
  const unsigned producers = (unsigned)emu_barrier_reduce(role == pipeline_role::producer, 0, EMU_HERE);
  return emu_make_pipeline(g, state, producers, g.size() - producers, EMU_HERE);
}
template <class Group, thread_scope S, int N>
inline pipeline<thread_scope_block> make_pipeline(const Group& g, pipeline_shared_state<S, N>* state, size_t producers, EMU_WHERE) {
  return emu_make_pipeline(g, state, (unsigned)producers, g.size() - (unsigned)producers, EMU_HERE);
}
template <int N> inline void pipeline_consumer_wait_prior(pipeline<thread_scope_thread>& p, EMU_WHERE) {
  emu_async_wait(N, EMU_HERE);
  p.waited = p.committed - (p.committed < N ? p.committed : N);
}
template <thread_scope S> inline void pipeline_producer_commit(pipeline<thread_scope_thread>&, barrier<S>& b, EMU_WHERE) { emu_async_arrive(&b, false, EMU_HERE); }

struct async_contract_fulfillment {};
inline void emu_joins(pipeline<thread_scope_thread>&, emu::Where) {}
inline void emu_joins(pipeline<thread_scope_block>&, emu::Where) {}
template <thread_scope S> inline void emu_joins(barrier<S>& b, emu::Where where) { emu_async_arrive(&b, false, where); }
template <class Size, class Sync> inline async_contract_fulfillment memcpy_async(void* to, const void* from, Size bytes, Sync& with, EMU_WHERE) {
  emu_async_bytes(to, from, (size_t)bytes, 0, 1, EMU_HERE);
  emu_joins(with, EMU_HERE);
  return {};
}
template <class Group, class Size, class Sync>
inline async_contract_fulfillment memcpy_async(const Group& g, void* to, const void* from, Size bytes, Sync& with, EMU_WHERE) {
  emu_async_bytes(to, from, (size_t)bytes, g.thread_rank(), g.size(), EMU_HERE);
  emu_joins(with, EMU_HERE);
  return {};
}
}  // namespace cuda

namespace cooperative_groups {
template <class Group, class Size> inline void memcpy_async(const Group& g, void* to, const void* from, Size bytes, EMU_WHERE) {
  emu_async_bytes(to, from, (size_t)bytes, g.thread_rank(), g.size(), EMU_HERE);
  emu_async_commit(EMU_HERE);
}
template <class Group, class T, class N, class M> inline void memcpy_async(const Group& g, T* to, N room, const T* from, M given, EMU_WHERE) {
  const size_t elements = (size_t)room < (size_t)given ? (size_t)room : (size_t)given;
  memcpy_async(g, to, from, elements * sizeof(T), file, line);
}
template <class Group> inline void wait(const Group& g, EMU_WHERE) { emu_async_wait(0, EMU_HERE), g.sync(file, line); }
template <unsigned N, class Group> inline void wait_prior(const Group& g, EMU_WHERE) { emu_async_wait((int)N, EMU_HERE), g.sync(file, line); }
}  // namespace cooperative_groups
