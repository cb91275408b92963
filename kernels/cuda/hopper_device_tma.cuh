// hopper_device_tma.cuh - the device half of the vocabulary: the copy engine (TMA). Included by hopper.cuh only.
#pragma once

// Fetches the descriptor before its first use, so that the first load does not wait for it. One thread.
HOPPER_FN void tma_prefetch(const TensorMap* map) { asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory"); }

// How long L2 should keep what a load brings: last = keep (reused by other blocks), first = drop (read once).
HOPPER_FN uint64_t l2_evict_last() { uint64_t p; asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(p)); return p; }
HOPPER_FN uint64_t l2_evict_first() { uint64_t p; asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(p)); return p; }

// One thread: copies the map's box at element (x, y) (x along the contiguous dimension) to dst, asynchronously, and takes the
// box's bytes off the barrier's transaction count as they land. Outside the tensor the box is zero and still counts in full.
// dst is 128-byte aligned (swizzled: 8 * swizzle bytes), and nobody still reads or writes it.
HOPPER_FN void tma_load_2d(void* dst, const TensorMap* map, int x, int y, mbarrier* bar) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::
                   "r"(smem_address(dst)), "l"(map), "r"(x), "r"(y), "r"(smem_address(bar)) : "memory");
}
HOPPER_FN void tma_load_2d_hint(void* dst, const TensorMap* map, int x, int y, mbarrier* bar, uint64_t l2_policy) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.L2::cache_hint"
               " [%0], [%1, {%2, %3}], [%4], %5;" ::
                   "r"(smem_address(dst)), "l"(map), "r"(x), "r"(y), "r"(smem_address(bar)), "l"(l2_policy) : "memory");
}
// The same box to the same offset in every block of the cluster whose bit is set in `blocks`; each block's own barrier at the
// same offset counts the full box. Every receiving block expects the bytes itself, and its buffer must be free.
HOPPER_FN void tma_load_2d_multicast(void* dst, const TensorMap* map, int x, int y, mbarrier* bar, uint16_t blocks) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster"
               " [%0], [%1, {%2, %3}], [%4], %5;" ::
                   "r"(smem_address(dst)), "l"(map), "r"(x), "r"(y), "r"(smem_address(bar)), "h"(blocks) : "memory");
}
HOPPER_FN void tma_load_2d_multicast_hint(void* dst, const TensorMap* map, int x, int y, mbarrier* bar, uint16_t blocks,
                                          uint64_t l2_policy) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster.L2::cache_hint"
               " [%0], [%1, {%2, %3}], [%4], %5, %6;" ::
                   "r"(smem_address(dst)), "l"(map), "r"(x), "r"(y), "r"(smem_address(bar)), "h"(blocks), "l"(l2_policy) : "memory");
}

// One thread: copies shared memory to the map's box at (x, y), asynchronously; what lies outside the tensor is not written.
// The stores that filled src were followed by fence_proxy_async and a barrier.
HOPPER_FN void tma_store_2d(const TensorMap* map, const void* src, int x, int y) {
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%2, %3}], [%1];" ::"l"(map), "r"(smem_address(src)),
               "r"(x), "r"(y) : "memory");
}
// Closes a group of this thread's stores so far.
HOPPER_FN void tma_store_commit() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
// Waits until at most N of this thread's groups may still read shared memory: then the sources of the others can be reused.
template <int N> HOPPER_FN void tma_store_wait_read() { asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(N) : "memory"); }
// Waits until at most N of this thread's groups are unfinished: then the others' writes are done.
template <int N> HOPPER_FN void tma_store_wait() { asm volatile("cp.async.bulk.wait_group %0;" ::"n"(N) : "memory"); }
