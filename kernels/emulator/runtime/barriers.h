// barriers.h - barriers of threads (bar.sync, barrier.cluster) and the registers that setmaxnreg moves.
#pragma once
#include "machine.h"

namespace emu {

void barriers_without(Thread* t);  // a thread has exited: barriers of the whole block or cluster no longer expect it

}  // namespace emu
