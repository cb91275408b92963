#include "mbarrier.h"

#include <string.h>

#include <algorithm>

#include "memory.h"
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
    if (machine.options.checks) bar->released = bar->releases.freeze();
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
  unsigned offset;
  if (Barrier* old = barrier_at(b, p, &offset, where)) {
    if (!old->waiting.empty())
      stop("misuse", "mbarrier",
           text("%s initialises %s again while threads wait on it.", name_of(t).c_str(), old->name.c_str()), where);
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
  bar.initialised = t->clock.now();
  bar.init_where = where;
  b->barrier_words[offset / 8 / 64] |= 1ull << (offset / 8 % 64);
  put(b, offset, {0, count, count, 0});
  if (tracing())
    trace(event_time(), event_time(), "init", name_of(b) + text(" warp %u", t->warp), bar.name, where,
          text("\"count\": %u, ", count) + state_of(b, {0, count, count, 0}));
}

void emu_mbarrier_arrive(void* p, uint32_t arrivals, uint32_t bytes, int rank, Where where) {
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
  if (b != t->home) check_barrier_published(b, bar, where, "A remote arrival");
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
    if (machine.options.checks) bar->releases.add(t->clock);
    bar->last_arriver = t;
    bar->last_where = where;
  }
  const std::string how = bytes ? text("%s, expects %u bytes", arrivals ? "arrives" : "no arrival", bytes) : "arrives";
  remember(text("%s: %s %s (%s)", name_of(t).c_str(), bar->name.c_str(), how.c_str(), at(where).c_str()));
  if (tracing())
    trace(event_time(), event_time(), "arrive", name_of(t->home) + text(" warp %u", t->warp), bar->name, where,
          text("\"arrivals\": %u, \"bytes\": %u, ", arrivals, bytes) + state_of(b, s));
  settle(b, bar, s);
  progress();
  if (machine.options.pick != Pick::TIMED) suspend(Wait::YIELD, 0, 0, where);  // others may react before this thread goes on
}

void emu_mbarrier_complete_tx(void* p, uint32_t bytes, Where where) {
  Thread* t = machine.current;
  t->where = where;
  spend(10);
  Barrier* bar = used_barrier(t->home, p, where);
  remember(text("%s: %u bytes of %s completed by hand (%s)", name_of(t).c_str(), bytes, bar->name.c_str(), at(where).c_str()));
  complete_bytes(t->home, bar->offset, bytes, false, 0);
  progress();
  if (machine.options.pick != Pick::TIMED) suspend(Wait::YIELD, 0, 0, where);
}

static bool wait_for_phase(void* p, uint32_t parity, Wait kind, Where where) {
  Thread* t = machine.current;
  Block* b = t->home;
  t->where = where;
  spend(10);
  Barrier* bar = used_barrier(b, p, where);
  auto complete = [&] { return barrier_state(b, bar->offset).phase != (parity & 1); };
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
    return false;  // try_wait gave up
  }
  if (machine.options.checks) t->clock.acquire(bar->released);
  return true;
}

bool emu_mbarrier_try_wait(void* p, uint32_t parity, Where where) { return wait_for_phase(p, parity, Wait::TRY, where); }
void emu_mbarrier_wait(void* p, uint32_t parity, Where where) { wait_for_phase(p, parity, Wait::MBARRIER, where); }

void emu_fence_mbarrier_init(Where where) {
  Thread* t = machine.current;
  t->where = where;
  t->init_fences.push_back(t->clock.own++);
}

void emu_fence_proxy_async(bool global, Where where) {
  Thread* t = machine.current;
  t->where = where;
  spend(10);
  std::vector<uint32_t>& fences = global ? t->global_proxy_fences : t->proxy_fences;
  fences.push_back(t->clock.own++);
}
