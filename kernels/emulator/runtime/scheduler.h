// scheduler.h - who runs next. One OS thread runs all fibers; a seed and a policy give the same run again.
#pragma once
#include "machine.h"

namespace emu {

// The running thread stops here until woken (YIELD: until picked again).
void suspend(Wait kind, uint64_t object, uint64_t value, Where where);
// A thread that waits can go on, not before `time` on the nominal clock.
void wake(Thread* t, double time);
// Nothing the running thread polls for has changed since: many of these in a row, from everybody, are a deadlock.
void poll(Where where);
// Something happened that a polling thread may have waited for.
inline void progress() { machine.idle = machine.idle_rounds = 0; }
// The running thread spent nominal cycles.
inline void spend(double cycles) { machine.now = (machine.current->time += cycles); }

void run_launch();
void thread_main();  // the first frame of every fiber

}  // namespace emu
