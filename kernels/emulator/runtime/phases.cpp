#include "phases.h"

#include <algorithm>

#include "convergence.h"
#include "mbarrier.h"
#include "report.h"

namespace emu {
namespace {

constexpr size_t PHASES_KEPT = 64;

Epoch phase_epoch(const Block* b, const Barrier* bar, unsigned phases) {
  return {async_entity(b, bar->phase_entity), b->clock_floor + phases};
}

// The phase has completed: who waited for the one before must be known to have done so, or it may misread the parity.
void check_overtaken(const Block* b, Barrier* bar) {
  const VectorRef& order = bar->releases.joined.order;
  size_t kept = 0;
  for (size_t i = 0; i < bar->waits.size(); ++i) {
    const PhaseWait w = bar->waits[i];
    if (w.phase >= bar->phases) {
      bar->waits[kept++] = w;
      continue;
    }
    const bool seen = order && (order->at(w.epoch.who) >= w.epoch.clock || order->at(w.next_wgmma.who) >= w.next_wgmma.clock);
    if (seen || known_finding("phase-overtaken", place_of(w.where), place_of(bar->last_where))) continue;
    found("race", "phase-overtaken",
          text("%s waits for the end of phase %d of %s at %s, and nothing orders that before the next phase completes (last "
               "arrival: %s). If the "
               "wait comes late, its parity means another phase (ABA), and it waits for ever or not at all. Whoever waits must "
               "arrive, here or at the barrier that the others wait for, before the next phase can complete.",
               name_of(w.thread).c_str(), (int)(bar->phases - bar->begun_at) - 2, bar->name.c_str(), at(w.where).c_str(),
               last_arrival(bar).c_str()),
          place_of(w.where), place_of(bar->last_where));
  }
  bar->waits.resize(kept);
  if (bar->in_flight && !known_finding("phase-before-its-copies", place_of(bar->last_where), 0))
    found("race", "phase-before-its-copies",
          text("%s of %s completes phase %u while %u copies issued on it are still in flight: fewer bytes were expected than "
               "they bring. "
               "Expect the whole boxes of all copies of a phase.",
               bar->name.c_str(), name_of(b).c_str(), bar->phases - bar->begun_at - 1, bar->in_flight),
          place_of(bar->last_where));
  bar->in_flight = 0;
}

}  // namespace

// An arrival or a copy counts for the phase that is current: the thread must know which that is.
void check_phase_known(Thread* t, const Block* b, Barrier* bar, const char* what, Where where) {
  if (!machine.options.checks) return;
  const unsigned known = known_phases(t, b, bar, true), now = bar->phases - bar->begun_at;
  if (known >= now || known_finding("phase-not-known", place_of(where), 0)) return;
  found("race", "phase-not-known",
        text("%s by %s at %s counts for phase %u of %s, but nothing orders it after the end of phase %u: under another "
             "schedule it counts for "
             "an earlier phase. Wait for that phase, or for something that comes after it, before.",
             what, name_of(t).c_str(), at(where).c_str(), now, bar->name.c_str(), now - 1),
        place_of(where));
}

void phase_completes(const Block* b, Barrier* bar) {
  bar->releases.freeze();
  check_overtaken(b, bar);
  bar->releases.add(phase_epoch(b, bar, bar->phases));
  bar->released.emplace_back(bar->releases.freeze(), bar->cluster_releases.freeze());
  if (bar->released.size() > PHASES_KEPT) bar->released.pop_front();
}

// Phases of this init that the thread knows to be over by what is ordered before it; own: also by having completed them itself.
unsigned known_phases(const Thread* t, const Block* b, const Barrier* bar, bool own) {
  unsigned n = 0;
  if (t->clock.seen.order) {
    const uint32_t at = t->clock.seen.order->at(phase_epoch(b, bar, 0).who);
    n = at > b->clock_floor + bar->begun_at ? at - b->clock_floor - bar->begun_at : 0;
  }
  if (own && bar->completer == t && bar->completed > bar->begun_at) n = std::max(n, bar->completed - bar->begun_at);
  return n;
}

// The thread's own arrival has completed a phase, and all others of that phase are known to be before it.
void learn_own_phase(Thread* t, Barrier* bar, unsigned before) {
  if (!machine.options.checks || bar->phases == before || bar->released.empty()) return;
  const VectorRef& order = bar->released.back().first.order;
  const Epoch mine = t->clock.now(), phase = phase_epoch(t->home, bar, bar->phases);
  for (const auto& row : order->rows)
    for (size_t i = 0; i < row.second->clock.size(); ++i) {
      const Epoch e{entity(row.first, (unsigned)i), row.second->clock[i]};
      if (e.clock && e.who != mine.who && e.who != phase.who && !t->clock.after(e)) return;
    }
  bar->completer = t;
  bar->completed = bar->phases;
}

Expected expect_phase(const Thread* t, const Block* b, const Barrier* bar, uint32_t parity) {
  const unsigned known = known_phases(t, b, bar, true);
  return {known_phases(t, b, bar, false), known + ((known & 1) == (parity & 1))};
}

namespace {

void check_not_late(const Thread* t, const Barrier* bar, unsigned phase, Where where) {
  const unsigned now = bar->phases - bar->begun_at;
  if (now <= phase || known_finding("phase-overtaken", place_of(where), place_of(bar->last_where))) return;
  found("race", "phase-overtaken",
        text("%s at %s waits for the end of phase %d of %s, but phase %u has ended as well: nothing kept it from overtaking "
             "the wait, and the "
             "parity now means another phase (ABA). Last arrival: %s.",
             name_of(t).c_str(), at(where).c_str(), (int)phase - 1, bar->name.c_str(), now - 1, last_arrival(bar).c_str()),
        place_of(where), place_of(bar->last_where));
}

}  // namespace

void remember_wait(Thread* t, const Block* b, Barrier* bar, Expected e, Where where) {
  check_not_late(t, bar, e.phase, where);
  const Epoch next{wgmma_entity(b, t->warp / 4), wgmma_clock(b, t->wgmma_issued)};
  if (bar->begun_at + e.phase >= bar->phases) bar->waits.push_back({t, bar->begun_at + e.phase, t->clock.now(), next, where});
}

void phase_is_over(Thread* t, Barrier* bar, Expected e, bool cluster, Where where) {
  check_not_late(t, bar, e.phase, where);
  if (e.phase > e.ordered) {
    waits_alone(t, place_of(where));
    const unsigned last = bar->phases - bar->begun_at, back = last > e.phase ? last - e.phase : 0;
    const size_t i = bar->released.size() > back ? bar->released.size() - 1 - back : 0;
    if (!bar->released.empty()) {
      t->clock.acquire(bar->released[i].first);
      if (cluster) t->clock.acquire(bar->released[i].second);
    }
  }
}

}  // namespace emu
