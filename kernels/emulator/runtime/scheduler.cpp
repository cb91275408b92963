#include "scheduler.h"

#include "element_copies.h"
#include "memory.h"
#include "report.h"
#include "tma.h"
#include "trace.h"
#include "wgmma.h"

extern "C" {
emu::ThreadContext* emu_thread;
}

namespace emu {

Machine machine;

namespace {

void* scheduler_context;
size_t turn;                   // round robin: where to look next
uint64_t lowest = 1ull << 30;  // PCT: priorities handed out by demotion

void resume(Thread* t) {
  machine.current = t;
  emu_thread = t;
  machine.now = t->time;
  ++machine.switches;
  emu_switch(&scheduler_context, t->context);
  machine.current = nullptr;
}

// The next warp to run, or null if none can.
Warp* pick_warp(size_t* position) {
  const size_t n = machine.warps.size();
  const Pick how = machine.options.pick;
  if (how == Pick::PCT || how == Pick::TIMED) {
    Warp* best = nullptr;
    double best_time = 0;
    for (size_t i = 0; i < n; ++i) {
      Warp* w = machine.warps[i];
      if (!w->ready) continue;
      if (how == Pick::TIMED) {
        Block* b = machine.warp_block[i];
        double time = b->threads[(size_t)(w - b->warps.data()) * 32 + (unsigned)__builtin_ctz(w->ready)].time;
        if (!best || time < best_time) best = w, best_time = time, *position = i;
      } else if (!best || w->priority > best->priority) {
        best = w, *position = i;
      }
    }
    if (best && how == Pick::PCT && machine.one_in(64)) best->priority = --lowest;  // a change point
    return best;
  }
  const size_t start = how == Pick::ROUND_ROBIN ? turn : (size_t)(machine.random() % n);
  for (size_t i = 0; i < n; ++i) {
    const size_t k = (start + i) % n;
    if (machine.warps[k]->ready) {
      turn = (k + 1) % n;
      *position = k;
      return machine.warps[k];
    }
  }
  return nullptr;
}

void make_ready(Thread* t) { t->home->warps[t->warp].ready |= 1u << t->lane; }

// Asynchronous work between two turns, as the policy has it. True if something happened that must come before any thread.
void advance_asynchronous_work() {
  const Options& o = machine.options;
  if (o.copies == When::EARLY)
    while (land_copy(true)) {}
  else if (o.copies == When::RANDOM && copies_in_flight() && machine.one_in(4)) land_copy(false);
  if (o.copies == When::RANDOM && element_copies_in_flight() && machine.one_in(4)) land_element_copy();
  if (o.mma == When::EARLY)
    while (run_wgmma()) {}
  else if (o.mma == When::RANDOM && wgmmas_in_flight() && machine.one_in(4)) run_wgmma();
}

bool force_asynchronous_work() {
  if (machine.options.pick == Pick::TIMED) return false;  // timed work has been done before
  const bool mma_first = machine.options.mma == When::LATE      ? false
                         : machine.options.copies == When::LATE ? true
                                                                : machine.one_in(2);
  if (mma_first && run_wgmma()) return true;
  if (land_copy(machine.options.copies == When::EARLY)) return true;
  return run_wgmma();
}

// Timed policy: the earliest asynchronous event, unless a thread runs before it (limit; negative: none does).
bool run_timed_work(double limit) {
  const double copy = next_copy_time(), mma = next_wgmma_time();
  const double time = copy < mma ? copy : mma;
  if (time == NEVER || (limit >= 0 && time > limit)) return false;
  machine.now = time;
  if (copy <= mma) land_copy(true);
  else run_wgmma();
  return true;
}

// try_wait may give up after a while; when all else is blocked, it does.
bool release_pollers() {
  bool any = false;
  for (Slot& s : machine.slots)
    if (s.block)
      for (Thread& t : s.block->threads)
        if (!t.done && t.wait == Wait::TRY) {
          t.result = 0;
          t.wait = Wait::NONE;
          make_ready(&t);
          any = true;
        }
  if (any && ++machine.idle_rounds > 1000) stop_deadlock("Threads poll with mbarrier_try_wait and nothing changes any more.");
  return any;
}

void check_for_livelock() {
  if (machine.idle < 20000 + 64 * machine.warps.size() * 32) return;
  if (copies_in_flight() || wgmmas_in_flight()) return;
  if (element_copies_in_flight()) return land_all_element_copies();
  stop_deadlock("Threads poll and nothing changes any more.");
}

}  // namespace

void suspend(Wait kind, uint64_t object, uint64_t value, Where where) {
  Thread* t = machine.current;
  t->wait = kind;
  t->object = object;
  t->value = value;
  t->where = where;
  t->wait_began = event_time();
  if (kind != Wait::YIELD) t->home->warps[t->warp].ready &= ~(1u << t->lane);
  emu_switch(&t->context, scheduler_context);
}

void wake(Thread* t, double time) {
  if (t->time < time) t->time = time;
  if (machine.options.trace) trace_wait(t);
  t->wait = Wait::NONE;
  make_ready(t);
  progress();
}

void poll(Where where) {
  Thread* t = machine.current;
  ++machine.idle;
  spend(20);
  if (machine.options.pick == Pick::PCT)
    t->home->warps[t->warp].priority = --lowest;  // or it would starve the one it polls for
  suspend(Wait::YIELD, 0, 0, where);
}

void thread_main() {
  Thread* t = machine.current;
  machine.kernel->call(machine.arguments);
  t = machine.current;
  thread_exits(t);
  emu_switch(&t->context, scheduler_context);
  __builtin_trap();  // a thread that is done is never resumed
}

void run_launch() {
  prepare_slots();
  while (place_clusters()) {
    ++machine.steps;
    if (timed_out()) stop_timeout();
    if (machine.options.pick == Pick::TIMED) {
      size_t position;
      Warp* next = pick_warp(&position);
      double limit = -1;  // asynchronous work due before the next thread runs
      if (next) {
        Block* b = machine.warp_block[position];
        limit = b->threads[(size_t)(next - b->warps.data()) * 32 + (unsigned)__builtin_ctz(next->ready)].time;
      }
      if (run_timed_work(limit)) continue;
    } else {
      advance_asynchronous_work();
    }
    size_t position;
    Warp* w = pick_warp(&position);
    if (!w) {
      if (force_asynchronous_work() || release_pollers()) continue;
      stop_deadlock("No thread can run, and no copy and no wgmma is in flight.");
    }
    Block* b = machine.warp_block[position];
    Thread* lanes = &b->threads[(size_t)(w - b->warps.data()) * 32];
    for (uint32_t m = w->ready; m; m &= m - 1) resume(lanes + __builtin_ctz(m));
    check_for_livelock();
  }
}

}  // namespace emu
