#include "wgmma.h"

#include <string.h>

#include <algorithm>

#include "convergence.h"
#include "matrix.h"
#include "memory.h"
#include "numbers.h"
#include "scheduler.h"
#include "trace.h"

namespace emu {
namespace {

constexpr uint32_t POISON = 0x7FC0DEAD;       // a NaN: what a register holds while its accumulator is in flight
constexpr uint32_t POISON_FP16 = 0x7EAD7EAD;  // two of them
unsigned in_flight;                           // operations issued by all threads and not yet run

unsigned words(const AccumulatorTile& t) { return (unsigned)(t.fp16 ? t.n / 4 : t.n / 2); }
uint32_t poison(const AccumulatorTile& t) { return t.fp16 ? POISON_FP16 : POISON; }
int row_of(unsigned t, unsigned r) { return (int)(16 * (t / 32) + t % 32 / 4 + 8 * (r / 2 % 2)); }
int column_of(unsigned t, unsigned r) { return (int)(8 * (r / 4) + 2 * (t % 4) + r % 2); }

// Registers of thread t (0..127) to or from the tile's matrix.
void take_values(AccumulatorTile& tile, unsigned t) {
  uint32_t w[128];
  memcpy(w, tile.registers[t], words(tile) * 4);
  for (unsigned r = 0; r < (unsigned)tile.n / 2; ++r) {
    float& v = tile.value[(size_t)(row_of(t, r) * tile.n + column_of(t, r))];
    v = tile.fp16 ? fp16_to_float((uint16_t)(w[r / 2] >> (r % 2 * 16))) : float_of(w[r]);
  }
  for (unsigned i = 0; i < words(tile); ++i) w[i] = poison(tile);
  memcpy(tile.registers[t], w, words(tile) * 4);
}
void give_values(AccumulatorTile& tile, unsigned t) {
  uint32_t w[128] = {};
  for (unsigned r = 0; r < (unsigned)tile.n / 2; ++r) {
    const float v = tile.value[(size_t)(row_of(t, r) * tile.n + column_of(t, r))];
    if (tile.fp16) w[r / 2] |= (uint32_t)float_to_fp16(v) << (r % 2 * 16);
    else w[r] = bits_of(v);
  }
  memcpy(tile.registers[t], w, words(tile) * 4);
}

Warpgroup& group_of(Thread* t) { return *t->home->warpgroups[t->warp / 4]; }

AccumulatorTile* tile_of(Warpgroup& g, unsigned t, const void* d) {
  for (auto& tile : g.tiles)
    if (tile->registers[t] == d) return tile.get();
  return nullptr;
}

void check_operands(Thread* t, const Wgmma& op, Where where) {
  const Block* b = t->home;
  static std::vector<uint32_t> chunks;
  for (int side = op.a_registers ? 1 : 0; side < 2; ++side) {
    operand_chunks(side ? op.b : op.a, side ? op.major_b : op.major_a, op.element, side ? op.n : 64, chunks);
    for (uint32_t c : chunks)
      if (c + 16 > machine.shared_end) check_shared_bounds(b, c, 16, side ? "wgmma operand B" : "wgmma operand A", where);
  }
}

// The operation's reads of shared memory, ordered by what every thread of the warpgroup knows.
void shadow_operands(Thread* last, const WgmmaOperation& op, unsigned number) {
  Block* b = last->home;
  const unsigned group = last->warp / 4;
  std::vector<const Thread*> knowers;  // one for each distinct vector
  for (unsigned i = 0; i < 128; ++i) {
    const Thread* t = &b->threads[group * 128 + i];
    if (std::none_of(knowers.begin(), knowers.end(), [&](const Thread* k) {
          return k->clock.seen.memory.get() == t->clock.seen.memory.get() &&
                 k->clock.seen.fenced[0].get() == t->clock.seen.fenced[0].get();
        }))
      knowers.push_back(t);
  }
  std::vector<uint32_t> chunks;
  const Memory memory{b, b->shared, ""};
  for (int side = op.args.a_registers ? 1 : 0; side < 2; ++side) {
    operand_chunks(side ? op.args.b : op.args.a, side ? op.args.major_b : op.args.major_a, op.args.element,
                   side ? op.args.n : 64, chunks);
    std::sort(chunks.begin(), chunks.end());
    chunks.erase(std::unique(chunks.begin(), chunks.end()), chunks.end());
    const Actor actor{
        {wgmma_entity(b, group), wgmma_clock(b, number)}, knowers[0], false, true, Access::PLAIN, place_of(op.where), &knowers};
    for (uint32_t c : chunks) machine.slots[b->slot].shadow->read(memory, c, 16, actor);
  }
}

void tell_fragment(Thread* t, Place place, Place issued) {
  if (known_finding("fragment-in-flight", place, issued)) return;
  found("race", "fragment-in-flight",
        text("%s at %s writes registers of A that the wgmma issued at %s may still read. Call wgmma_commit and wgmma_wait "
             "first, or take other "
             "registers.",
             name_of(t).c_str(), at(place).c_str(), at(issued).c_str()),
        place, issued);
}

// Registers that an operation is about to use, [p, p + bytes): no ordinary write since the fence.
void check_fenced(Thread* t, const void* registers, unsigned bytes, const char* what, Where where) {
  const char* p = (const char*)registers;
  Place wrote = 0;
  for (const StackWrite& w : t->since_fence)
    if (w.p < p + bytes && w.p + w.bytes > p) wrote = w.place;
  if ((t->wgmma_fenced && !wrote) || known_finding("missing-wgmma-fence", place_of(where), wrote)) return;
  found("race", "missing-wgmma-fence",
        wrote ? text("%s issues a wgmma at %s, and its %s were written at %s after the wgmma_fence(). Fence after the last "
                     "ordinary write.",
                     name_of(t).c_str(), at(where).c_str(), what, at(wrote).c_str())
              : text("%s issues a wgmma at %s without wgmma_fence() since its %s were last ordinary registers.",
                     name_of(t).c_str(), at(where).c_str(), what),
        place_of(where), wrote);
}

// Accumulators that the operation adds to: somebody has written them.
void check_written(Thread* t, const Wgmma& op, Where where) {
  const unsigned count = (unsigned)(op.fp16_accumulators ? op.n / 4 : op.n / 2);
  for (unsigned i = 0; i < count; ++i) {
    uint32_t word;
    memcpy(&word, (const char*)op.d + 4 * i, 4);
    if (word != STACK_POISON || known_finding("uninitialized-accumulator", place_of(where), 0)) continue;
    found("race", "uninitialized-accumulator",
          text("%s issues a wgmma at %s that adds to accumulator register %u, which nobody has written: registers start "
               "undefined. The first "
               "wgmma of a sum takes scale_d = 0.",
               name_of(t).c_str(), at(where).c_str(), i),
          place_of(where));
    return;
  }
}

void check_register_budget(Thread* t, const Warpgroup& g, Where where) {
  unsigned held = 0;
  for (auto& tile : g.tiles)
    if (tile->registers[t->index % 128]) held += words(*tile);
  if ((int)held > g.registers)
    stop("misuse", "register-budget",
         text("The accumulators in flight need %u registers a thread, and the warpgroup holds %d: the compiler would spill "
              "them. Use a smaller tile, or reg_inc first.",
              held, g.registers),
         where);
}

}  // namespace

bool wgmmas_in_flight() { return in_flight != 0; }

double next_wgmma_time() {
  double time = NEVER;
  if (!in_flight) return time;
  for (Slot& s : machine.slots)
    if (s.block)
      for (auto& g : s.block->warpgroups)
        if (!g->queue.empty() && g->queue.front().arrived == 128) time = std::min(time, g->queue.front().end);
  return time;
}

bool run_wgmma() {
  if (!in_flight) return false;
  // Operations of one warpgroup run in order; which warpgroup is next is the policy's choice.
  Block* home = nullptr;
  Warpgroup* chosen = nullptr;
  const bool timed = machine.options.pick == Pick::TIMED;
  const size_t n = machine.slots.size(),
               start = machine.options.mma == When::EARLY || timed ? 0 : (size_t)(machine.random() % n);
  for (size_t i = 0; i < n; ++i) {
    Block* b = machine.slots[(start + i) % n].block.get();
    if (!b) continue;
    for (auto& g : b->warpgroups)
      if (!g->queue.empty() && g->queue.front().arrived == 128 &&
          (!chosen || (timed && g->queue.front().end < chosen->queue.front().end)))
        chosen = g.get(), home = b;
    if (chosen && !timed) break;
  }
  if (!chosen) return false;
  WgmmaOperation& op = chosen->queue.front();
  multiply(op.args, home->shared, op.a_registers.empty() ? nullptr : op.a_registers.data(), op.tile->value.data(),
           machine.options.fp8_reduced);
  if (tracing()) {
    const double begin = op.begin, end = event_time();
    unsigned group = 0;
    while (home->warpgroups[group].get() != chosen) ++group;
    trace(begin, end, "wgmma", name_of(home) + text(" warpgroup %u", group),
          text("m64n%dk%d", op.args.n, k_of(op.args.element)), op.where);
  }
  chosen->queue.pop_front();
  ++chosen->done;
  --in_flight;
  progress();
  std::vector<Thread*> woken;
  for (size_t i = 0; i < chosen->waiting.size();)
    if (chosen->waiting[i]->value <= chosen->done) {
      woken.push_back(chosen->waiting[i]);
      chosen->waiting.erase(chosen->waiting.begin() + (long)i);
    } else {
      ++i;
    }
  for (Thread* t : woken) wake(t, machine.now);
  return true;
}

static void check_registers(Thread* t, const char* p, unsigned bytes, bool write, Place place) {
  for (auto& tile : group_of(t).tiles) {
    const char* d = (const char*)tile->registers[t->index % 128];
    if (!d || p + bytes <= d || p >= d + words(*tile) * 4) continue;
    if (known_finding("accumulator-in-flight", place, place_of(tile->where))) return;
    found("race", "accumulator-in-flight",
          text("%s at %s %s accumulator register %ld while the wgmma issued at %s is in flight. Call wgmma_commit and "
               "wgmma_wait first.",
               name_of(t).c_str(), at(place).c_str(), write ? "writes" : "reads", (long)(p - d) / 4, at(tile->where).c_str()),
          place, place_of(tile->where));
    return;
  }
}

void stack_access(Thread* t, const char* p, unsigned bytes, bool write, Place place) {
  if (write && t->wgmma_fenced && t->since_fence.size() < 4096) t->since_fence.push_back({p, bytes, place});
  if (t->tiles_in_flight) check_registers(t, p, bytes, write, place);
  if (!write) return;
  for (const Fragment& f : t->fragments) {
    if (f.number < t->wgmma_waited || p + bytes <= f.p || p >= f.p + 16) continue;
    tell_fragment(t, place, f.place);
    return;
  }
}

void check_wgmma_at_exit(Thread* t) {
  if (t->wgmma_waited >= t->wgmma_issued || known_finding("exit-before-wgmma-wait", place_of(t->where), 0)) return;
  found("race", "exit-before-wgmma-wait",
        text("%s exits while %u of its wgmmas were not waited for (wgmma_commit, wgmma_wait<0>).", name_of(t).c_str(),
             t->wgmma_issued - t->wgmma_waited),
        place_of(t->where));
}

}  // namespace emu

using namespace emu;

void emu_wgmma(const Wgmma* args, Where where) {
  Thread* t = machine.current;
  Warpgroup& g = group_of(t);
  const unsigned lane = t->index % 128;
  t->where = where;
  spend(4);
  aligned(t, "wgmma", where);
  if ((t->home->threads.size() - t->index + lane) < 128)
    stop("misuse", "wgmma", "wgmma is executed by whole warpgroups of 128 threads; this one is not whole.", where);
  const unsigned number = t->wgmma_issued++;
  while (g.done + g.queue.size() <= number) {
    g.queue.emplace_back();
    g.queue.back().args = *args;
    g.queue.back().where = where;
  }
  WgmmaOperation& op = g.queue[number - g.done];
  if (op.arrived == 0) check_operands(t, *args, where);
  const Wgmma& first = op.args;
  if (first.n != args->n || first.element != args->element || first.a != args->a || first.b != args->b ||
      !first.a_registers != !args->a_registers || !first.scale_d != !args->scale_d ||
      first.fp16_accumulators != args->fp16_accumulators || first.major_a != args->major_a || first.major_b != args->major_b)
    stop("misuse", "wgmma-operands-differ",
         text("%s issues a wgmma whose operands differ from those of the warpgroup's other threads (at %s).",
              name_of(t).c_str(), at(op.where).c_str()),
         where);
  AccumulatorTile* tile = tile_of(g, lane, args->d);
  if (!tile) {
    if (machine.options.checks) {
      check_fenced(t, args->d, (unsigned)(args->fp16_accumulators ? args->n : 2 * args->n), "accumulators", where);
      if (args->scale_d) check_written(t, *args, where);
    }
    if (!op.tile) {
      g.tiles.emplace_back(new AccumulatorTile);
      op.tile = g.tiles.back().get();
      op.tile->n = args->n;
      op.tile->fp16 = args->fp16_accumulators;
      op.tile->value.resize((size_t)(64 * args->n));
      op.tile->where = where;
    }
    tile = op.tile;
    tile->registers[lane] = args->d;
    ++tile->holders;
    ++t->tiles_in_flight;
    take_values(*tile, lane);
    check_register_budget(t, g, where);
  }
  if (!op.tile) op.tile = tile;
  if (op.tile != tile || tile->n != args->n || tile->fp16 != args->fp16_accumulators)
    stop("misuse", "wgmma-accumulators",
         text("%s issues a wgmma on accumulators that are in flight in another shape.", name_of(t).c_str()), where);
  tile->last[lane] = number;
  if (args->a_registers) {
    op.a_registers.resize(512);
    memcpy(&op.a_registers[lane * 4], args->a_registers, 16);
    if (machine.options.checks) {
      check_fenced(t, args->a_registers, 16, "registers of A", where);
      Fragment f{(const char*)args->a_registers, {}, number, place_of(where)};
      memcpy(f.words, args->a_registers, 16);
      t->fragments.push_back(f);
    }
  }
  if (++op.arrived < 128) return;
  ++in_flight;
  if (machine.options.checks) shadow_operands(t, op, number);
  // 2048 multiply-adds of 16-bit operands a cycle and SM: n / 2 cycles for 256 bits of K.
  double& unit = t->home->tensor_core_free;
  op.begin = machine.options.pick == Pick::TIMED ? std::max(unit, machine.now) : event_time();
  op.end = op.begin + args->n / 2;
  unit = op.end;
  if (machine.options.mma == When::EARLY)
    while (run_wgmma()) {}
}

void emu_wgmma_fence(Where where) {
  Thread* t = machine.current;
  t->where = where;
  aligned(t, "wgmma_fence", where);
  t->wgmma_fenced = true;
  t->since_fence.clear();
}

void emu_wgmma_keep(const void* registers, unsigned bytes, Where where) {
  Thread* t = machine.current;
  t->where = where;
  if (machine.options.checks && t->tiles_in_flight) stack_access(t, (const char*)registers, bytes, false, place_of(where));
}

void emu_wgmma_commit(Where where) {
  Thread* t = machine.current;
  t->where = where;
  aligned(t, "wgmma_commit", where);
  t->wgmma_groups.push_back(t->wgmma_issued);
}

void emu_wgmma_wait(int groups, Where where) {
  Thread* t = machine.current;
  Warpgroup& g = group_of(t);
  t->where = where;
  spend(4);
  aligned(t, "wgmma_wait", where);
  const size_t n = t->wgmma_groups.size();
  const unsigned needed = n > (size_t)groups ? t->wgmma_groups[n - 1 - (size_t)groups] : 0;
  if (g.done < needed) {
    g.waiting.push_back(t);
    suspend(Wait::WGMMA, 0, needed, where);
  }
  if (needed <= t->wgmma_waited) return;
  t->wgmma_waited = needed;
  if (machine.options.checks) t->clock.seen.raise({wgmma_entity(t->home, t->warp / 4), wgmma_clock(t->home, needed - 1)});
  for (size_t i = 0; i < t->fragments.size();) {  // writes that no hook has seen
    const Fragment f = t->fragments[i];
    if (f.number >= needed) {
      ++i;
      continue;
    }
    if (f.p >= (const char*)__builtin_frame_address(0) && memcmp(f.p, f.words, 16)) tell_fragment(t, place_of(where), f.place);
    t->fragments.erase(t->fragments.begin() + (long)i);
  }
  const unsigned lane = t->index % 128;
  for (size_t i = 0; i < g.tiles.size();) {
    AccumulatorTile& tile = *g.tiles[i];
    if (!tile.registers[lane] || tile.last[lane] >= needed) {
      ++i;
      continue;
    }
    const char* here = (const char*)__builtin_frame_address(0);
    if ((const char*)tile.registers[lane] < here)
      stop("misuse", "accumulator-out-of-scope",
           text("The accumulators of the wgmma at %s are a local array of a function that has returned.",
                at(tile.where).c_str()),
           where);
    uint32_t w[128];
    memcpy(w, tile.registers[lane], words(tile) * 4);
    for (unsigned k = 0; k < words(tile); ++k)
      if (w[k] != poison(tile) && machine.options.checks &&
          !known_finding("accumulator-in-flight", place_of(tile.where), place_of(where))) {
        found("race", "accumulator-in-flight",
              text("%s wrote accumulator register %u between the wgmma at %s and the wgmma_wait at %s: it was in flight.",
                   name_of(t).c_str(), k, at(tile.where).c_str(), at(where).c_str()),
              place_of(tile.where), place_of(where));
        break;
      }
    give_values(tile, lane);
    tile.registers[lane] = nullptr;
    --t->tiles_in_flight;
    t->wgmma_fenced = false;
    if (--tile.holders == 0) g.tiles.erase(g.tiles.begin() + (long)i);
    else ++i;
  }
}
