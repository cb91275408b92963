#include "mbarrier.h"

#include <string.h>

#include <algorithm>

#include "convergence.h"
#include "memory.h"
#include "phases.h"
#include "scheduler.h"
#include "trace.h"

namespace emu {

namespace {

constexpr int MAX_BYTES = (1 << 20) - 1;  // of the transaction count, PTX ISA
constexpr unsigned MAX_COUNT = (1 << 20) - 1;

// The 8 bytes: phase 1 bit, pending 20, expected 20, transaction count 23 (signed).
void put(Block* b, unsigned offset, BarrierState s) {
  const uint64_t v =
      (uint64_t)s.phase | (uint64_t)s.pending << 1 | (uint64_t)s.expected << 21 | (uint64_t)(int64_t)s.bytes << 41;
  memcpy(b->shared + offset, &v, 8);
}

// The state after an event, as members of the event's data: the trace holds every change of every barrier.
std::string state_of(const Block* b, const BarrierState& s) {
  return text("\"pending\": %u, \"tx\": %d, \"phase\": %u, \"of\": \"%s\"", s.pending, s.bytes, s.phase, name_of(b).c_str());
}

// Stores the state; completes the phase if nothing is pending.
void settle(Block* b, Barrier* bar, BarrierState s) {
  const bool complete = s.pending == 0 && s.bytes == 0;
  if (complete) {
    s.phase ^= 1;
    s.pending = s.expected;
    ++bar->phases;
    bar->time = machine.now;
    if (machine.options.checks) phase_completes(b, bar);
    remember(text("%s of %s completes phase %u", bar->name.c_str(), name_of(b).c_str(), bar->phases - 1));
    if (tracing())
      trace(event_time(), event_time(), "phase", name_of(b), bar->name, Where{"", 0}, text("\"phase\": %u", bar->phases - 1));
  }
  put(b, bar->offset, s);
  if (!complete) return;
  std::vector<Thread*> woken;
  for (size_t i = 0; i < bar->waiting.size();) {
    Thread* t = bar->waiting[i];
    if ((t->value & 1) != s.phase) {
      t->result = 1;
      woken.push_back(t);
      bar->waiting.erase(bar->waiting.begin() + (long)i);
    } else {
      ++i;
    }
  }
  for (Thread* t : woken) wake(t, bar->time);
}

Barrier* barrier_at(Block* b, const void* p, unsigned* offset, Where where) {
  if ((const char*)p < b->shared || (const char*)p >= b->shared + SHARED_BYTES)
    stop("misuse", "mbarrier",
         text("The mbarrier used by %s is not in the block's shared memory: %s.", name_of(machine.current).c_str(),
              describe_address(p).c_str()),
         where);
  *offset = (unsigned)((const char*)p - b->shared);
  return find_barrier(b, *offset);
}

Barrier* used_barrier(Block* b, const void* p, Where where) {
  unsigned offset;
  Barrier* bar = barrier_at(b, p, &offset, where);
  if (!bar)
    stop("misuse", "mbarrier-not-initialised",
         text("%s uses an mbarrier in %s that nobody has initialised (mbarrier_init).", name_of(machine.current).c_str(),
              describe_shared(b, offset).c_str()),
         where);
  if (machine.options.checks && !machine.current->clock.sees(bar->initialised) &&
      !known_finding("mbarrier-init-not-ordered", place_of(where), place_of(bar->init_where)))
    found("race", "mbarrier-init-not-ordered",
          text("%s uses %s at %s, but nothing orders that after its mbarrier_init at %s. A barrier (__syncthreads, or "
               "cluster_sync for other blocks) must come between.",
               name_of(machine.current).c_str(), bar->name.c_str(), at(where).c_str(), at(bar->init_where).c_str()),
          place_of(where), place_of(bar->init_where));
  return bar;
}

}  // namespace

void copy_issued(Thread* t, Block* b, Barrier* bar, Where where) {
  check_phase_known(t, b, bar, "A copy", where);
  ++bar->in_flight;
}

BarrierState barrier_state(const Block* b, unsigned offset) {
  uint64_t v;
  memcpy(&v, b->shared + offset, 8);
  return {(unsigned)(v & 1), (unsigned)(v >> 1 & 0xFFFFF), (unsigned)(v >> 21 & 0xFFFFF), (int)((int64_t)v >> 41)};
}

Barrier* find_barrier(Block* b, unsigned offset) {
  auto it = b->mbarriers.find(offset);
  return it == b->mbarriers.end() ? nullptr : &it->second;
}

std::string last_arrival(const Barrier* bar) {
  return bar->last_arriver ? name_of(bar->last_arriver) + " at " + at(bar->last_where) : "none";
}

void complete_bytes(Block* b, unsigned offset, unsigned bytes, bool whole, uint32_t clock) {
  Barrier* bar = find_barrier(b, offset);
  BarrierState s = barrier_state(b, offset);
  s.bytes -= (int)bytes;
  if (tracing())
    trace(event_time(), event_time(), "land", name_of(b) + " TMA", bar->name, Where{"", 0},
          text("\"bytes\": %u, ", bytes) + state_of(b, s));
  if (whole && bar->in_flight) --bar->in_flight;
  if (machine.options.checks && whole) {
    async_landed(b, bar->entity, clock);
    bar->releases.add(Epoch{async_entity(b, bar->entity), b->async[(size_t)bar->entity].landed});
  }
  if (s.bytes < -MAX_BYTES)
    stop("misuse", "mbarrier-bytes",
         text("%s: %d more bytes have landed than were expected; the hardware's count ends at %d.", bar->name.c_str(), -s.bytes,
              MAX_BYTES));
  settle(b, bar, s);
}

void check_barrier_published(Block* owner, Barrier* bar, Where where, const char* user) {
  if (!machine.options.checks) return;
  const Thread& who = owner->threads[bar->initialised.who & 0xFFFF];
  auto fence = std::lower_bound(who.init_fences.begin(), who.init_fences.end(), bar->initialised.clock);
  if (fence != who.init_fences.end() && machine.current->clock.sees({bar->initialised.who, *fence})) return;
  if (known_finding("missing-mbarrier-init-fence", place_of(where), place_of(bar->init_where))) return;
  found("race", "missing-mbarrier-init-fence",
        text("%s at %s uses %s, initialised by %s at %s without fence_mbarrier_init() after it. The copy engine and other "
             "blocks may see the "
             "barrier as it was before. Call the fence after the last mbarrier_init and before the barrier that publishes it.",
             user, at(where).c_str(), bar->name.c_str(), name_of(&who).c_str(), at(bar->init_where).c_str()),
        place_of(where), place_of(bar->init_where));
}

}  // namespace emu

using namespace emu;

void emu_mbarrier_init(void* p, uint32_t count, const char* name, int index, Where where) {
  Thread* t = machine.current;
  Block* b = t->home;
  t->where = where;
  unsigned offset, phases = 0;
  if (Barrier* old = barrier_at(b, p, &offset, where)) {
    if (!old->waiting.empty())
      stop("misuse", "mbarrier",
           text("%s initialises %s again while threads wait on it.", name_of(t).c_str(), old->name.c_str()), where);
    if (!known_finding("mbarrier-init-twice", place_of(where), place_of(old->init_where)))
      found("misuse", "mbarrier-init-twice",
            text("%s at %s initialises %s, which is a barrier since its mbarrier_init at %s. The PTX manual leaves that "
                 "undefined: initialise "
                 "each barrier once. Is an index outside its array?",
                 name_of(t).c_str(), at(where).c_str(), old->name.c_str(), at(old->init_where).c_str()),
            place_of(where), place_of(old->init_where));
    phases = old->phases;
    b->mbarriers.erase(offset);
  }
  if (offset % 8)
    stop("misuse", "mbarrier",
         text("An mbarrier must be 8-byte aligned; this one is at %s.", describe_shared(b, offset).c_str()), where);
  check_shared_bounds(b, offset, 8, "mbarrier_init", where);
  if (count == 0 || count > MAX_COUNT)
    stop("misuse", "mbarrier", text("mbarrier_init with a count of %u: it is 1 to %u.", count, MAX_COUNT), where);
  access(p, 8, true, place_of(where));
  Barrier& bar = b->mbarriers[offset];
  bar.offset = offset;
  bar.name = name ? index >= 0 ? text("%s[%d]", name, index) : std::string(name)
                  : text("mbarrier at %s", describe_shared(b, offset).c_str());
  if (bar.phase_entity < 0) bar.phase_entity = async_index(b, 3ull << 32 | offset);
  bar.begun_at = bar.phases = phases;
  bar.initialised = t->clock.now();
  bar.init_where = where;
  b->barrier_words[offset / 8 / 64] |= 1ull << (offset / 8 % 64);
  put(b, offset, {0, count, count, 0});
  if (tracing())
    trace(event_time(), event_time(), "init", name_of(b) + text(" warp %u", t->warp), bar.name, where,
          text("\"count\": %u, ", count) + state_of(b, {0, count, count, 0}));
}

void emu_mbarrier_arrive(void* p, uint32_t arrivals, uint32_t bytes, int rank, bool publishes, Where where) {
  Thread* t = machine.current;
  Block* b = t->home;
  t->where = where;
  spend(10);
  if (rank >= 0) {
    if ((unsigned)rank >= b->cluster->blocks.size())
      stop("misuse", "mbarrier-remote",
           text("Remote arrival at block %d of a cluster of %zu.", rank, b->cluster->blocks.size()), where);
    Block* home = b;
    b = b->cluster->blocks[(size_t)rank];
    p = b->shared + ((char*)p - home->shared);
    if (!b->live)
      stop("misuse", "mbarrier-remote",
           text("%s arrives at a barrier of %s, which has exited: all blocks of the cluster must stay (cluster_sync) until the "
                "last remote arrival.",
                name_of(t).c_str(), name_of(b).c_str()),
           where);
  }
  Barrier* bar = used_barrier(b, p, where);
  if (b != t->home) {
    check_barrier_published(b, bar, where, "A remote arrival");
    remote_access(t, b, where);
  }
  check_phase_known(t, b, bar, "An arrival", where);
  BarrierState s = barrier_state(b, bar->offset);
  if (arrivals && s.pending == 0)
    stop("misuse", "mbarrier-overflow",
         text("%s gets more arrivals in one phase than its count of %u (the phase still waits for %d bytes). Arriving: %s; "
              "before it: %s. Wait for the phase to complete before arriving for the next: is a wait missing, or the init "
              "count wrong?",
              bar->name.c_str(), s.expected, s.bytes, name_of(t).c_str(), last_arrival(bar).c_str()),
         where);
  if (s.bytes + (int)bytes > MAX_BYTES)
    stop("misuse", "mbarrier-bytes",
         text("%s expects %d bytes; the hardware's count ends at %d.", bar->name.c_str(), s.bytes + (int)bytes, MAX_BYTES),
         where);
  s.bytes += (int)bytes;
  s.pending -= arrivals;
  if (arrivals) {
    if (machine.options.checks) {
      if (b == t->home) {
        bar->releases.add(t->clock);
      } else {  // seen by who acquires at cluster scope, if it was released at cluster scope; else only known to be over
        bar->releases.add_order(t->clock.seen.order);
        bar->releases.extra_order.push_back(t->clock.now());
        if (publishes) bar->cluster_releases.add(t->clock);
        else ++t->clock.own;
      }
    }
    bar->last_arriver = t;
    bar->last_where = where;
  } else if (machine.options.checks) {
    bar->releases.add_order(t->clock);  // publishes nothing, but may be what completes the phase
  }
  const unsigned phases = bar->phases;
  const std::string how = bytes ? text("%s, expects %u bytes", arrivals ? "arrives" : "no arrival", bytes) : "arrives";
  remember(text("%s: %s %s (%s)", name_of(t).c_str(), bar->name.c_str(), how.c_str(), at(where).c_str()));
  if (tracing())
    trace(event_time(), event_time(), "arrive", name_of(t->home) + text(" warp %u", t->warp), bar->name, where,
          text("\"arrivals\": %u, \"bytes\": %u, ", arrivals, bytes) + state_of(b, s));
  settle(b, bar, s);
  learn_own_phase(t, bar, phases);
  progress();
  if (machine.options.pick != Pick::TIMED) suspend(Wait::YIELD, 0, 0, where);  // others may react before this thread goes on
}

void emu_mbarrier_complete_tx(void* p, uint32_t bytes, Where where) {
  Thread* t = machine.current;
  t->where = where;
  spend(10);
  Barrier* bar = used_barrier(t->home, p, where);
  remember(text("%s: %u bytes of %s completed by hand (%s)", name_of(t).c_str(), bytes, bar->name.c_str(), at(where).c_str()));
  const unsigned phases = bar->phases;
  if (machine.options.checks) bar->releases.add_order(t->clock);
  complete_bytes(t->home, bar->offset, bytes, false, 0);
  learn_own_phase(t, bar, phases);
  progress();
  if (machine.options.pick != Pick::TIMED) suspend(Wait::YIELD, 0, 0, where);
}

namespace {

bool wait_for_phase(void* p, uint32_t parity, Wait kind, bool cluster, Where where) {
  Thread* t = machine.current;
  Block* b = t->home;
  t->where = where;
  spend(10);
  Barrier* bar = used_barrier(b, p, where);
  auto complete = [&] { return barrier_state(b, bar->offset).phase != (parity & 1); };
  const bool checks = machine.options.checks;
  const Expected expected = checks ? expect_phase(t, b, bar, parity) : Expected();
  if (checks) remember_wait(t, b, bar, expected, where);
  if (complete() && machine.options.pick != Pick::TIMED) suspend(Wait::YIELD, 0, 0, where);
  // A woken thread looks again: if it was so late that the next phase has completed too, it misreads the parity, as hardware
  // does.
  while (!complete()) {
    bar->waiting.push_back(t);
    t->phases_at_wait = bar->phases;
    t->result = 1;
    suspend(kind, bar->offset, parity, where);
    if (t->result) continue;
    bar->waiting.erase(std::find(bar->waiting.begin(), bar->waiting.end(), t));
    for (size_t i = bar->waits.size(); i-- > 0;)
      if (bar->waits[i].thread == t) {
        bar->waits.erase(bar->waits.begin() + (long)i);
        break;
      }
    return false;  // try_wait gave up
  }
  if (checks) phase_is_over(t, bar, expected, cluster, where);
  return true;
}

}  // namespace

// May give up before the phase is over, as on hardware: here it does so once for every phase that it had to wait for, so that a
// kernel that does not look at the answer is found out under every schedule.
bool emu_mbarrier_wait_a_while(void* p, uint32_t parity, Where where) {
  Thread* t = machine.current;
  Barrier* bar = used_barrier(t->home, p, where);
  if (machine.options.checks && t->tried != std::make_pair((const Barrier*)bar, bar->phases) &&
      known_phases(t, t->home, bar, true) < expect_phase(t, t->home, bar, parity).phase) {
    t->tried = {bar, bar->phases};
    poll(where);
    return false;
  }
  return wait_for_phase(p, parity, Wait::TRY, false, where);
}

bool emu_mbarrier_try_wait(void* p, uint32_t parity, Where where) {
  Thread* t = machine.current;
  t->where = where;
  Barrier* bar = used_barrier(t->home, p, where);
  poll(where);
  if (barrier_state(t->home, bar->offset).phase == (parity & 1)) return false;
  if (machine.options.checks) {
    const Expected expected = expect_phase(t, t->home, bar, parity);
    remember_wait(t, t->home, bar, expected, where);
    phase_is_over(t, bar, expected, false, where);
  }
  return true;
}

void emu_mbarrier_wait(void* p, uint32_t parity, bool cluster, Where where) {
  wait_for_phase(p, parity, Wait::MBARRIER, cluster, where);
}

void emu_fence_mbarrier_init(Where where) {
  Thread* t = machine.current;
  t->where = where;
  t->init_fences.push_back(t->clock.own++);
}

void emu_fence_proxy_async(bool global, Where where) {
  Thread* t = machine.current;
  t->where = where;
  spend(10);
  if (machine.options.checks) t->clock.fence(global);
}
