// mbarrier.h - the barrier object in its 8 bytes of shared memory: phase, pending and expected arrivals, transaction bytes.
#pragma once
#include "machine.h"

namespace emu {

struct BarrierState {          // what the 8 bytes hold
  unsigned phase;              // one bit, flips when a phase completes
  unsigned pending, expected;  // arrivals
  int bytes;                   // transaction count: expected minus landed
};
BarrierState barrier_state(const Block* b, unsigned offset);
Barrier* find_barrier(Block* b, unsigned offset);  // null: not initialised
std::string last_arrival(const Barrier* bar);
// Bytes of a copy have landed; whole: it was the copy's last piece (its clock is `clock` in the barrier's entity).
void complete_bytes(Block* b, unsigned offset, unsigned bytes, bool whole, uint32_t clock);
// A copy that will complete bytes on the barrier is issued by the running thread.
void copy_issued(Thread* t, Block* b, Barrier* bar, Where where);
// An asynchronous or remote operation uses the barrier: was it published with a fence?
void check_barrier_published(Block* owner, Barrier* barrier, Where where, const char* user);

}  // namespace emu
