// bugs.cuh - the named defects that `course races KERNEL --bug NAME` builds into a kernel, one at a time.
//
// A kernel asks `BUGGY(name)` at the line that the defect would change; the answer is a compile-time constant, so a build
// without -DBUG=name holds no trace of it.
#pragma once

namespace bug {
enum Name {
  none,
  no_empty_wait,            // the producer overwrites a stage without waiting until it was read
  no_phase_bit,             // the parity never flips, so the second lap's waits pass on the first lap's completion
  empty_before_wgmma_wait,  // a stage is released while the matrix unit still reads it
  wrong_expect_tx,          // fewer bytes are expected than are copied: the phase completes early
  no_full_wait,             // the matrix unit reads a stage before it landed
  no_proxy_fence,           // ordinary stores to shared memory are not made visible to the copy engine
  no_mbarrier_init_fence,   // barriers are used by the copy engine before it can see that they were initialised
  no_register_cap,          // setmaxnreg without the launch bound that gives it a pool to take registers from
  no_mainloop_order,        // both ping-pong groups run their mainloop at once
  too_much_expect_tx,       // more bytes are expected than are copied: the phase never completes
  expect_inside_only,       // at the tensor's edge only the bytes inside are expected, but the whole box is counted
  no_swizzle,               // a swizzled tile is read as if it were not
  read_before_wgmma_wait,   // accumulators are read while the matrix unit still adds to them
};
}

#ifndef BUG
#define BUG none
#endif
#define BUGGY(name) (bug::BUG == bug::name)

// The launch bound that gives setmaxnreg its pool: registers are capped at what `blocks` blocks an SM leave each of `threads`.
#define BUG_UNCAPPED_no_register_cap 1
#define BUG_UNCAPPED_OF(name) BUG_UNCAPPED_##name
#define BUG_UNCAPPED(name) BUG_UNCAPPED_OF(name)
#if BUG_UNCAPPED(BUG)
#define REGISTER_CAP(threads, blocks)
#else
#define REGISTER_CAP(threads, blocks) __launch_bounds__(threads, blocks)
#endif
