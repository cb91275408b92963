#include "barriers.h"

#include "convergence.h"

#include "report.h"
#include "scheduler.h"
#include "trace.h"
#include "wgmma.h"

namespace emu {
namespace {

// Whole warps come to a barrier, and those of a warp at the same place.
void check_whole_warps(const NamedBarrier& bar) {
  for (const auto& w : bar.warps) {
    uint32_t alive = 0;
    const Block* b = machine.current->home;
    const size_t first = (size_t)(w.first - b->warps.data()) * 32;
    for (size_t i = first; i < first + 32 && i < b->threads.size(); ++i) alive |= (uint32_t)!b->threads[i].done << (i - first);
    if ((w.second.lanes & alive) == alive || known_finding("divergent-barrier", w.second.place, 0)) continue;
    found(
        "misuse", "divergent-barrier",
        text("Some lanes of %s warp %zu came to the barrier at %s, and others did not (arrived 0x%08x): it counts whole warps.",
             name_of(b).c_str(), first / 32, at(w.second.place).c_str(), w.second.lanes),
        w.second.place);
  }
}

void complete(NamedBarrier& bar) {
  bar.arrived = 0;
  bar.expected = 0;
  ++bar.generation;
  bar.time = machine.now;
  if (machine.options.checks) {
    if (!bar.warps.empty()) check_whole_warps(bar);
    // Each waiting thread learns what was released until now, not what the next ones release before it runs.
    bar.released = bar.releases.freeze();
    for (Thread* t : bar.waiting) t->clock.acquire(bar.released);
    bar.releases = Accumulator();
    for (const auto& w : bar.warps) {
      Thread* lanes = &machine.current->home->threads[(size_t)(w.first - machine.current->home->warps.data()) * 32];
      together(lanes, w.second.lanes);
    }
    bar.warps.clear();
  }
  std::vector<Thread*> woken;
  woken.swap(bar.waiting);
  for (Thread* t : woken) wake(t, bar.time);
}

// The running thread arrives; true if that completed the barrier.
bool arrive(NamedBarrier& bar, unsigned needed) {
  if (machine.options.checks) bar.releases.add(machine.current->clock);
  ++bar.arrived;
  if (bar.arrived < needed) return false;
  complete(bar);
  return true;
}

Warpgroup& group_of(Thread* t) { return *t->home->warpgroups[t->warp / 4]; }

bool take_registers(Thread* t) {  // for the whole warpgroup, once
  Warpgroup& g = group_of(t);
  if (g.registers >= (int)t->value) return true;
  const int needed = ((int)t->value - g.registers) * 128;
  if (t->home->free_registers < needed) return false;
  t->home->free_registers -= needed;
  g.registers = (int)t->value;
  return true;
}

}  // namespace

void barriers_without(Thread* t) {
  Block* b = t->home;
  NamedBarrier& block = b->barriers[0];
  if (b->live && block.arrived && block.expected == 0 && block.arrived >= b->live) complete(block);
  NamedBarrier& cluster = b->cluster->barrier;
  if (b->cluster->live && cluster.arrived && cluster.arrived >= b->cluster->live) complete(cluster);
}

}  // namespace emu

using namespace emu;

void emu_named_barrier(int id, int threads, bool waits, Where where) {
  Thread* t = machine.current;
  Block* b = t->home;
  t->where = where;
  spend(10);
  if (id < 0 || id > 15) stop("misuse", "named-barrier", text("Barrier %d: a block has barriers 0 to 15.", id), where);
  if (threads < 0 || threads % 32 || (unsigned)threads > (b->threads.size() + 31) / 32 * 32)
    stop("misuse", "named-barrier",
         text("Barrier %d for %d threads: the count is a multiple of 32 and at most the block's %zu threads.", id, threads,
              b->threads.size()),
         where);
  NamedBarrier& bar = b->barriers[id];
  if (bar.arrived && bar.expected != (unsigned)threads)
    stop("misuse", "named-barrier",
         text("Barrier %d: %s expects %d threads, but those that have arrived expect %u.", id, name_of(t).c_str(), threads,
              bar.expected),
         where);
  bar.expected = (unsigned)threads;
  const uint64_t generation = bar.generation;
  if (tracing() && t->lane == 0)
    trace(event_time(), event_time(), "barrier", name_of(b) + text(" warp %u", t->warp),
          text("%s %d", waits ? "sync" : "arrive", id), where);
  remember(text("%s %s barrier %d (%s)", name_of(t).c_str(), waits ? "waits at" : "arrives at", id, at(where).c_str()));
  if (machine.options.checks) {
    BarrierLanes& here = bar.warps[&b->warps[t->warp]];
    if (here.lanes && here.place != place_of(where) && !known_finding("divergent-barrier", place_of(where), here.place))
      found("misuse", "divergent-barrier",
            text("%s comes to barrier %d at %s, and other lanes of its warp at %s: a warp comes to a barrier as a whole, at "
                 "one place.",
                 name_of(t).c_str(), id, at(where).c_str(), at(here.place).c_str()),
            place_of(where), here.place);
    here.place = place_of(where);
    here.lanes |= 1u << t->lane;
  }
  const bool last = arrive(bar, threads ? (unsigned)threads : b->live);
  if (!waits) return;
  if (last) {
    if (machine.options.checks) t->clock.acquire(bar.released);
    return;
  }
  bar.waiting.push_back(t);
  suspend(Wait::BARRIER, (uint64_t)id, generation, where);
}

void emu_cluster_arrive(Where where) {
  Thread* t = machine.current;
  t->where = where;
  spend(20);
  aligned(t, "cluster_arrive", where);
  Cluster* c = t->home->cluster;
  t->cluster_generation = c->barrier.generation;
  arrive(c->barrier, c->live);
}

void emu_cluster_wait(Where where) {
  Thread* t = machine.current;
  Cluster* c = t->home->cluster;
  aligned(t, "cluster_wait", where);
  const uint64_t generation = t->cluster_generation;
  if (c->barrier.generation == generation) {
    c->barrier.waiting.push_back(t);
    suspend(Wait::CLUSTER, 0, generation, where);
  }
  if (machine.options.checks) t->clock.acquire(c->barrier.released);
}

uint32_t emu_cluster_rank() { return machine.current->home->rank; }
uint32_t emu_cluster_size() { return machine.cluster_size(); }

void emu_setmaxnreg(int registers, bool increase, Where where) {
  Thread* t = machine.current;
  Block* b = t->home;
  Warpgroup& g = group_of(t);
  t->where = where;
  const char* name = increase ? "reg_inc" : "reg_dec";
  if (!machine.capped)
    stop("misuse", "setmaxnreg-without-cap",
         text("%s<%d> has no effect: the kernel has no register cap at launch, so the compiler ignores setmaxnreg. Give the "
              "kernel __launch_bounds__(threads, 1).",
              name, registers),
         where);
  if (registers % 8 || registers < 24 || registers > 256)
    stop("misuse", "setmaxnreg", text("%s<%d>: the count is a multiple of 8 from 24 to 256.", name, registers), where);
  if (b->threads.size() % 128)
    stop("misuse", "setmaxnreg", text("%s<%d>: the block's threads are not whole warpgroups of 128.", name, registers), where);
  if (g.setting && (g.setting_to != registers || g.setting_increase != increase))
    stop("misuse", "setmaxnreg",
         text("%s<%d>, while other warps of the warpgroup have not yet executed the setmaxnreg to %d: all warps ask for the "
              "same, and synchronise before they ask again.",
              name, registers, g.setting_to),
         where);
  if (increase ? registers < g.registers : registers > g.registers)
    stop("misuse", "setmaxnreg", text("%s<%d>, but the warpgroup holds %d registers a thread.", name, registers, g.registers),
         where);
  aligned(t, name, where);
  g.setting_to = registers;
  g.setting_increase = increase;
  if (tracing() && t->index % 128 == 0)
    trace(event_time(), event_time(), "registers", name_of(b) + text(" warp %u", t->warp), text("%s %d", name, registers),
          where);
  g.setting = (g.setting + 1) % 128;
  if (!increase) {
    if (g.setting == 0) {
      b->free_registers += (g.registers - registers) * 128;
      g.registers = registers;
      std::vector<Thread*> still;
      std::vector<Thread*> waiting;
      waiting.swap(b->waiting_for_registers);
      for (Thread* w : waiting)
        // A warpgroup of which only some warps asked gets nothing: the last warp to ask takes for all.
        if (group_of(w).setting == 0 && take_registers(w)) wake(w, machine.now);
        else still.push_back(w);
      b->waiting_for_registers.swap(still);
    }
    return;
  }
  t->value = (uint64_t)registers;
  if (g.setting == 0 && take_registers(t)) {  // the whole warpgroup is here
    std::vector<Thread*> still;
    for (Thread* w : b->waiting_for_registers)
      if (w->warp / 4 == t->warp / 4) wake(w, machine.now);
      else still.push_back(w);
    b->waiting_for_registers.swap(still);
    return;
  }
  b->waiting_for_registers.push_back(t);
  suspend(Wait::REGISTERS, 0, (uint64_t)registers, where);
}
