// convergence.h - have the lanes of a warp come together? A `.sync.aligned` instruction (wgmma and its fence, commit and wait,
// stmatrix, ldmatrix, setmaxnreg, the cluster barrier) is executed by the whole warp at once. Lanes are apart when one of them
// has waited for something in a branch (an mbarrier's phase, its TMA stores, a flag) that the others did not wait for: the
// others need not wait for it before they go on. They are together again after __syncwarp, a warp-wide shuffle or vote, or a
// block's barrier. A branch in which nobody waits does not keep lanes apart: the compiler joins them behind it.
#pragma once
#include "machine.h"
#include "report.h"

namespace emu {

void waits_alone(Thread* t, Place place);                // the lane waits, perhaps long, at this place
void polls(Thread* t, Place place);                      // the same in a loop: counted once
void together(Thread* lanes, uint32_t mask);             // these lanes of the warp have met
void aligned(Thread* t, const char* what, Where where);  // the lane executes a .sync.aligned instruction
void check_aligned_at_exit(Thread* t);

}  // namespace emu
