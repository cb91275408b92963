// cuda_groups.h - cooperative groups: the block, tiles of a warp, the lanes that are active, the cluster, and the grid (for which all
// blocks must be resident: --sms as many as the grid has).
#pragma once
#include "cuda_math.h"

namespace cooperative_groups {
inline unsigned emu_rank() { return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z); }

struct thread_block {
  static void sync(EMU_WHERE) { emu_named_barrier(0, 0, true, EMU_HERE); }
  static void barrier_wait(EMU_WHERE) { emu_named_barrier(0, 0, true, EMU_HERE); }
  static unsigned thread_rank() { return emu_rank(); }
  static unsigned size() { return blockDim.x * blockDim.y * blockDim.z; }
  static unsigned num_threads() { return size(); }
  static dim3 group_index() { return {blockIdx.x, blockIdx.y, blockIdx.z}; }
  static dim3 thread_index() { return {threadIdx.x, threadIdx.y, threadIdx.z}; }
  static dim3 group_dim() { return {blockDim.x, blockDim.y, blockDim.z}; }
  static dim3 dim_threads() { return group_dim(); }
};
inline thread_block this_thread_block() { return {}; }

// Lanes of one warp, in order. A tile of n lanes has a mask of n neighbours.
struct emu_lanes {
  uint32_t mask;
  unsigned rank_, size_;
  unsigned thread_rank() const { return rank_; }
  unsigned size() const { return size_; }
  unsigned num_threads() const { return size_; }
  void sync(EMU_WHERE) const { emu_collective(emu::SYNC_WARP, mask, 0, 0, 32, EMU_HERE); }
  int lane(unsigned rank) const {
    uint32_t m = mask;
    for (rank %= size_; rank; --rank) m &= m - 1;
    return __builtin_ctz(m);
  }
  template <class T> T shfl(T v, unsigned rank, EMU_WHERE) const { return emu_shuffle(emu::SHUFFLE, mask, v, lane(rank), 32, EMU_HERE); }
  template <class T> T shfl_down(T v, unsigned by, EMU_WHERE) const {
    return emu_shuffle(emu::SHUFFLE, mask, v, lane(rank_ + by < size_ ? rank_ + by : rank_), 32, EMU_HERE);
  }
  template <class T> T shfl_up(T v, unsigned by, EMU_WHERE) const {
    return emu_shuffle(emu::SHUFFLE, mask, v, lane(rank_ >= by ? rank_ - by : rank_), 32, EMU_HERE);
  }
  template <class T> T shfl_xor(T v, unsigned by, EMU_WHERE) const {
    return emu_shuffle(emu::SHUFFLE, mask, v, lane((rank_ ^ by) < size_ ? rank_ ^ by : rank_), 32, EMU_HERE);
  }
  unsigned ballot(int p, EMU_WHERE) const {
    const uint32_t all = (uint32_t)emu_collective(emu::BALLOT, mask, p != 0, 0, 32, EMU_HERE);
    unsigned found = 0, i = 0;
    for (uint32_t m = mask; m; m &= m - 1) found |= (all >> __builtin_ctz(m) & 1) << i++;
    return found;
  }
  int any(int p, EMU_WHERE) const { return ballot(p, file, line) != 0; }
  int all(int p, EMU_WHERE) const { return ballot(!p, file, line) == 0; }
  template <class T> unsigned match_any(T v, EMU_WHERE) const {
    unsigned same = 0;
    for (unsigned i = 0; i < size_; ++i) same |= (unsigned)(shfl(v, i, file, line) == v) << i;
    return same;
  }
};
template <unsigned N, class Parent = void> struct thread_block_tile : emu_lanes {
  static_assert(N >= 1 && N <= 32 && (N & (N - 1)) == 0, "the emulator has tiles of 1, 2, 4, 8, 16 and 32 threads");
  thread_block_tile() : emu_lanes{(N == 32 ? ~0u : (1u << N % 32) - 1) << (emu_lane() / N * N), emu_lane() % N, N} {
    const unsigned left = blockDim.x * blockDim.y * blockDim.z - emu_rank() / 32 * 32;
    if (left < 32) mask &= (1u << left) - 1;
  }
  template <class P> thread_block_tile(const thread_block_tile<N, P>& o) : emu_lanes(o) {}
  static constexpr unsigned size() { return N; }
  static constexpr unsigned num_threads() { return N; }
  unsigned meta_group_rank() const { return emu_rank() / N; }
  unsigned meta_group_size() const { return (blockDim.x * blockDim.y * blockDim.z + N - 1) / N; }
};
template <unsigned N, class Group> inline thread_block_tile<N, Group> tiled_partition(const Group&) { return {}; }
struct thread_group : emu_lanes {
  bool block = false;
  thread_group(const thread_block&) : emu_lanes{~0u, emu_rank(), thread_block::size()}, block(true) {}
  template <unsigned N, class P> thread_group(const thread_block_tile<N, P>& t) : emu_lanes(t) {}
  thread_group(const emu_lanes& l) : emu_lanes(l) {}
  void sync(EMU_WHERE) const {
    if (block) thread_block::sync(file, line);
    else emu_lanes::sync(file, line);
  }
};
inline thread_group tiled_partition(const thread_group&, unsigned n) {
  const uint32_t mask = (n == 32 ? ~0u : (1u << n) - 1) << (emu_lane() / n * n);
  return thread_group(emu_lanes{mask, emu_lane() % n, n});
}
struct coalesced_group : emu_lanes {
  unsigned meta_group_rank() const { return 0; }
  unsigned meta_group_size() const { return 1; }
};
inline coalesced_group emu_coalesced(uint32_t mask) {
  return {{mask, (unsigned)__builtin_popcount(mask & ((1u << emu_lane()) - 1)), (unsigned)__builtin_popcount(mask)}};
}
inline coalesced_group coalesced_threads(EMU_WHERE) { return emu_coalesced(emu_activemask(EMU_HERE)); }
template <class Group> inline coalesced_group binary_partition(const Group& g, bool p, EMU_WHERE) {
  const uint32_t yes = (uint32_t)emu_collective(emu::BALLOT, g.mask, p, 0, 32, EMU_HERE);
  return emu_coalesced(p ? yes : g.mask & ~yes);
}
template <class Group> inline coalesced_group labeled_partition(const Group& g, int label, EMU_WHERE) {
  uint32_t same = 0;
  emu_each_lane(g.mask, label, EMU_HERE, [&](int lane, int one) { same |= (uint32_t)(one == label) << lane; });
  return emu_coalesced(same);
}

static unsigned emu_grid_arrived;
struct grid_group {
  static void sync(EMU_WHERE) {
    const unsigned blocks = gridDim.x * gridDim.y * gridDim.z;
    emu_named_barrier(0, 0, true, EMU_HERE);
    emu_threadfence(EMU_HERE);
    if (emu_rank() == 0) {
      const unsigned before = emu_atomic_as<unsigned>(&emu_grid_arrived, emu::ADD, 1u, 0u, EMU_HERE, emu::RELEASE), end = (before / blocks + 1) * blocks;
      while (emu_atomic_as<unsigned>(&emu_grid_arrived, emu::LOAD, 0u, 0u, EMU_HERE, emu::ACQUIRE) < end) {
      }
    }
    emu_threadfence(EMU_HERE);
    emu_named_barrier(0, 0, true, EMU_HERE);
  }
  static bool is_valid() { return true; }
  static unsigned long long block_rank() { return blockIdx.x + (unsigned long long)gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z); }
  static unsigned long long num_blocks() { return (unsigned long long)gridDim.x * gridDim.y * gridDim.z; }
  static unsigned long long thread_rank() { return block_rank() * thread_block::size() + emu_rank(); }
  static unsigned long long size() { return num_blocks() * thread_block::size(); }
  static unsigned long long num_threads() { return size(); }
  static dim3 group_dim() { return {gridDim.x, gridDim.y, gridDim.z}; }
};
inline grid_group this_grid() { return {}; }
struct cluster_group {
  static void sync(EMU_WHERE) { emu_cluster_arrive(EMU_HERE), emu_cluster_wait(EMU_HERE); }
  static void barrier_arrive(EMU_WHERE) { emu_cluster_arrive(EMU_HERE); }
  static void barrier_wait(EMU_WHERE) { emu_cluster_wait(EMU_HERE); }
  static unsigned block_rank() { return emu_cluster_rank(); }
  static unsigned num_blocks() { return emu_cluster_size(); }
  static unsigned thread_rank() { return emu_cluster_rank() * thread_block::size() + emu_rank(); }
  static unsigned num_threads() { return emu_cluster_size() * thread_block::size(); }
  template <class T> static T* map_shared_rank(T* p, unsigned rank, EMU_WHERE) { return (T*)emu_cluster_map((const void*)p, rank, EMU_HERE); }
};
inline cluster_group this_cluster() { return {}; }

template <class Group> inline void sync(const Group& g, EMU_WHERE) { g.sync(file, line); }

template <class T> struct plus { T operator()(T a, T b) const { return a + b; } };
template <class T> struct less { T operator()(T a, T b) const { return b < a ? b : a; } };
template <class T> struct greater { T operator()(T a, T b) const { return a < b ? b : a; } };
template <class T> struct bit_and { T operator()(T a, T b) const { return a & b; } };
template <class T> struct bit_or { T operator()(T a, T b) const { return a | b; } };
template <class T> struct bit_xor { T operator()(T a, T b) const { return a ^ b; } };
// A tree, as the hardware's shuffles make it: the order of a sum of floats is that of the lanes' bits.
template <class Group, class T, class Op> inline T reduce(const Group& g, T v, Op op, EMU_WHERE) {
  const unsigned n = g.size();
  if ((n & (n - 1)) == 0) {
    for (unsigned by = n / 2; by; by /= 2) v = (T)op(v, g.shfl_xor(v, by, file, line));
    return v;
  }
  T all = g.shfl(v, 0, file, line);
  for (unsigned i = 1; i < n; ++i) all = (T)op(all, g.shfl(v, i, file, line));
  return all;
}
template <class Group, class T, class Op> inline T inclusive_scan(const Group& g, T v, Op op, EMU_WHERE) {
  for (unsigned by = 1; by < g.size(); by *= 2) {
    const T other = g.shfl_up(v, by, file, line);
    if (g.thread_rank() >= by) v = (T)op(other, v);
  }
  return v;
}
template <class Group, class T> inline T inclusive_scan(const Group& g, T v, EMU_WHERE) { return inclusive_scan(g, v, plus<T>(), file, line); }
template <class Group, class T, class Op> inline T exclusive_scan(const Group& g, T v, Op op, EMU_WHERE) {
  const T before = g.shfl_up(inclusive_scan(g, v, op, file, line), 1, file, line);
  return g.thread_rank() ? before : T();
}
template <class Group, class T> inline T exclusive_scan(const Group& g, T v, EMU_WHERE) { return exclusive_scan(g, v, plus<T>(), file, line); }
template <class Group, class F> inline void invoke_one(const Group& g, F f) {
  if (g.thread_rank() == 0) f();
}
}  // namespace cooperative_groups
