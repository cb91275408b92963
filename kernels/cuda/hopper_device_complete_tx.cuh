// hopper_device_complete_tx.cuh - one mbarrier operation that only a test of the barrier itself needs. Both halves. After hopper.cuh.
#pragma once

#if defined(__CUDACC__)
// Takes `bytes` off the transaction count, as a copy of that size does when it lands, without copying anything.
HOPPER_FN void mbarrier_complete_tx(mbarrier* b, uint32_t bytes) {
  asm volatile("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(smem_address(b)), "r"(bytes) : "memory");
}
#else
inline void mbarrier_complete_tx(mbarrier* b, uint32_t bytes, HOPPER_WHERE) { emu_mbarrier_complete_tx(b, bytes, HOPPER_HERE); }
#endif
