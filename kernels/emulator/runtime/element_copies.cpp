#include "element_copies.h"

#include <string.h>

#include <algorithm>

#include "convergence.h"
#include "foreign.h"
#include "mbarrier.h"
#include "memory.h"
#include "phases.h"
#include "scheduler.h"

namespace emu {
namespace {

constexpr double LATENCY = 600;  // nominal cycles, as a TMA copy's
size_t in_flight;

void land(Thread* t, size_t i) {
  const ElementCopy c = t->element_copies[i];
  t->element_copies.erase(t->element_copies.begin() + (long)i);
  --in_flight;
  memcpy(c.to, c.from, c.given);
  memset(c.to + c.given, 0, c.bytes - c.given);
  progress();
}

AsyncEntity& queue_of(Thread* t, Entity* who) {
  const int i = async_index(t->home, 4ull << 32 | t->index);
  *who = async_entity(t->home, i);
  return t->home->async[(size_t)i];
}

// What the thread knows once its copies up to `number` are over.
Epoch epoch_of(Thread* t, unsigned number) {
  Entity who;
  queue_of(t, &who);
  return {who, t->home->clock_floor + number};
}

}  // namespace

size_t element_copies_in_flight() { return in_flight; }

void land_element_copies(Thread* t, unsigned numbers) {
  for (size_t i = 0; i < t->element_copies.size();)
    if (t->element_copies[i].number <= numbers) land(t, i);
    else ++i;
}

void land_element_copy() {
  Slot& s = machine.slots[machine.random() % machine.slots.size()];
  if (!s.block) return;
  Thread& t = s.block->threads[machine.random() % s.block->threads.size()];
  if (!t.element_copies.empty()) land(&t, machine.random() % t.element_copies.size());
}

void land_all_element_copies() {
  for (Slot& s : machine.slots)
    if (s.block)
      for (Thread& t : s.block->threads) land_element_copies(&t, t.element_copies_issued);
}

}  // namespace emu

using namespace emu;

void emu_async_copy(void* to, const void* from, unsigned bytes, unsigned given, unsigned alignment, Where where) {
  Thread* t = machine.current;
  t->where = where;
  if (alignment > 1) {  // the instruction itself
    if (bytes != 4 && bytes != 8 && bytes != 16)
      stop("misuse", "async-copy-size", text("cp.async copies 4, 8 or 16 bytes, not %u.", bytes), where);
    if (given > bytes)
      stop("misuse", "async-copy-size", text("cp.async of %u bytes is to read %u: not more than it writes.", bytes, given), where);
    if ((uintptr_t)to % alignment) emu_misaligned(to, alignment, where);
    if ((uintptr_t)from % alignment) emu_misaligned(from, alignment, where);
    if (block_of_shared(to) != t->home)
      stop("misuse", "async-copy-target",
           text("%s copies by cp.async to %s: the target lies in its block's shared memory.", name_of(t).c_str(),
                describe_address(to).c_str()),
           where);
    if (given && (block_of_shared(from) || t->stack.holds((const char*)from)))
      stop("misuse", "async-copy-source",
           text("%s copies by cp.async from %s: the source lies in global memory.", name_of(t).c_str(),
                block_of_shared(from) ? describe_address(from).c_str() : "a variable of its own"),
           where);
  }
  const unsigned number = ++t->element_copies_issued;
  Actor actor{t->clock.now(), t, true, false, Access::PLAIN, place_of(where)};
  if (machine.options.checks) {
    AsyncEntity& queue = queue_of(t, &actor.epoch.who);
    queue.load = queue.elements = true;
    queue.where = where;
    queue.issued = actor.epoch.clock = t->home->clock_floor + number;
  }
  if (given) access_as(actor, from, given, false);
  access_as(actor, to, bytes, true);
  spend(4);
  t->element_copies.push_back({(char*)to, (const char*)from, bytes, given, number, t->time + LATENCY});
  ++in_flight;
  if (machine.options.copies == When::EARLY) land(t, t->element_copies.size() - 1);
}

void emu_async_commit(Where where) {
  Thread* t = machine.current;
  t->where = where;
  t->element_groups.push_back(t->element_copies_issued);
}

void emu_async_wait(int groups, Where where) {
  Thread* t = machine.current;
  t->where = where;
  const size_t n = t->element_groups.size();
  const unsigned needed = groups < 0 ? t->element_copies_issued
                          : n > (size_t)groups ? t->element_groups[n - 1 - (size_t)groups]
                                               : 0;
  if (needed <= t->element_copies_waited) return;
  waits_alone(t, place_of(where));
  for (const ElementCopy& c : t->element_copies)
    if (c.number <= needed) t->time = std::max(t->time, c.end);
  land_element_copies(t, needed);
  if (machine.options.pick != Pick::TIMED) suspend(Wait::YIELD, 0, 0, where);
  t->element_copies_waited = needed;
  if (machine.options.checks) t->clock.seen.raise(epoch_of(t, needed));
}

void emu_async_arrive(void* mbarrier, bool counted, Where where) {
  Thread* t = machine.current;
  Block* b = t->home;
  t->where = where;
  const uint32_t offset = emu_smem_address(mbarrier, where);
  Barrier* bar = find_barrier(b, offset);
  if (!bar)
    stop("misuse", "mbarrier-not-initialised",
         text("cp.async.mbarrier.arrive: nobody has initialised an mbarrier at %s.", describe_shared(b, offset).c_str()), where);
  land_element_copies(t, t->element_copies_issued);
  if (machine.options.checks && t->element_copies_issued) {
    check_phase_known(t, b, bar, "An arrival of copies", where);
    bar->releases.add(epoch_of(t, t->element_copies_issued));
  }
  if (counted) emu_mbarrier_arrive(mbarrier, 1, 0, -1, true, where);
}
