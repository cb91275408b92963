// phases.h - what threads know of an mbarrier's phases by the order that the program guarantees, and what follows when they do
// not know enough.
//
// A parity stands for the first phase of that parity whose end the thread does not know of, or for the last that it does: only
// what happened before that one's end is ordered before what follows the wait, whatever has happened by then.
#pragma once
#include "machine.h"

namespace emu {

struct Expected {
  unsigned ordered = 0, phase = 0;  // phases known to be over by order, and over once the wait is (of this init)
};

// Phases of this init that the thread knows to be over by what is ordered before it; own: also by having completed them itself.
unsigned known_phases(const Thread* t, const Block* b, const Barrier* bar, bool own);
Expected expect_phase(const Thread* t, const Block* b, const Barrier* bar, uint32_t parity);
void remember_wait(Thread* t, const Block* b, Barrier* bar, Expected e, Where where);  // the wait begins
void phase_is_over(Thread* t, Barrier* bar, Expected e, bool cluster, Where where);    // and ends: the thread learns
void phase_completes(const Block* b, Barrier* bar);                                    // bar->phases counts it already
void learn_own_phase(Thread* t, Barrier* bar, unsigned before);                        // after an arrival of its own
void check_phase_known(Thread* t, const Block* b, Barrier* bar, const char* what, Where where);  // an arrival or a copy

}  // namespace emu
