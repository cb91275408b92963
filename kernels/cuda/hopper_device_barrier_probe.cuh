// hopper_device_barrier_probe.cuh - mbarrier operations that only a test of the barrier itself needs. Both halves. After hopper.cuh.
#pragma once

#if defined(__CUDACC__)
// Takes `bytes` off the transaction count, as a copy of that size does when it lands, without copying anything.
HOPPER_FN void mbarrier_complete_tx(mbarrier* b, uint32_t bytes) {
  asm volatile("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(smem_address(b)), "r"(bytes) : "memory");
}
// As mbarrier_try_wait, but answers at once.
HOPPER_FN bool mbarrier_test_wait(mbarrier* b, uint32_t parity) {
  uint32_t done;
  asm volatile("{\n.reg .pred p;\nmbarrier.test_wait.parity.shared::cta.b64 p, [%1], %2;\nselp.u32 %0, 1, 0, p;\n}"
               : "=r"(done) : "r"(smem_address(b)), "r"(parity) : "memory");
  return done;
}
#else
inline void mbarrier_complete_tx(mbarrier* b, uint32_t bytes, HOPPER_WHERE) { emu_mbarrier_complete_tx(b, bytes, HOPPER_HERE); }
inline bool mbarrier_test_wait(mbarrier* b, uint32_t parity, HOPPER_WHERE) { return emu_mbarrier_try_wait(b, parity, HOPPER_HERE); }
#endif
