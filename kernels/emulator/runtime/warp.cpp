// Warp-wide operations: __syncwarp, shuffles, ballots, elect_one, stmatrix and ldmatrix.
#include <string.h>

#include <algorithm>

#include "convergence.h"
#include "foreign.h"
#include "memory.h"
#include "scheduler.h"

namespace emu {
namespace {

const char* name_of(Collective kind) {
  static const char* const names[] = {"__syncwarp",     "__shfl_sync", "__shfl_xor_sync", "__shfl_down_sync",
                                      "__shfl_up_sync", "a ballot",    "elect_one",   "a matrix operation"};
  return names[kind];
}

// The lane whose value lane l receives.
int source_lane(const CollectiveState& c, int l) {
  const int width = c.width, base = l / width * width, a = c.argument[l];
  switch (c.kind) {
    case SHUFFLE: return base + (a & (width - 1));
    case SHUFFLE_XOR: return (l ^ a) < base + width ? l ^ a : l;
    case SHUFFLE_DOWN: return l + a < base + width ? l + a : l;
    case SHUFFLE_UP: return l - a >= base ? l - a : l;
    default: return l;
  }
}

void complete(Thread* lanes, const CollectiveState& c) {
  if (c.kind == SYNC_WARP && machine.options.checks) {  // the only one that orders memory
    Accumulator all;
    for (uint32_t m = c.mask; m; m &= m - 1) all.add(lanes[__builtin_ctz(m)].clock);
    const Known& released = all.freeze();
    for (uint32_t m = c.mask; m; m &= m - 1) lanes[__builtin_ctz(m)].clock.acquire(released);
  }
  together(lanes, c.mask);
  uint64_t ballot = 0;
  for (uint32_t m = c.mask; m; m &= m - 1)
    if (c.value[__builtin_ctz(m)]) ballot |= 1ull << __builtin_ctz(m);
  for (uint32_t m = c.mask; m; m &= m - 1) {
    const int l = __builtin_ctz(m);
    Thread& t = lanes[l];
    t.result = c.kind == BALLOT ? ballot : c.kind == ELECT ? l == __builtin_ctz(c.mask) : c.value[source_lane(c, l)];
  }
}

// Lane l holds two neighbours of row l / 4, or of column l / 4 where transposed; row r of matrix i has its address from lane 8 i + r.
void matrix_words(bool store, bool transposed, const void* row, uint32_t* registers, int matrices, Where where) {
  Thread* t = machine.current;
  if ((uintptr_t)row % 16) emu_misaligned(row, 16, where);
  aligned(t, store ? "stmatrix" : "ldmatrix", where);
  const int high = (int)t->lane / 4, low = (int)t->lane % 4, parts = transposed ? 2 : 1;
  for (int i = 0; i < matrices; ++i)
    for (int part = 0; part < parts; ++part) {
      const int r = transposed ? 2 * low + part : high, byte = transposed ? 2 * high : 4 * low;
      char* p = (char*)emu_collective(SHUFFLE, ~0u, (uint64_t)(uintptr_t)row, 8 * i + r, 32, where) + byte;
      if (!block_of_shared(p))
        stop("misuse", "matrix-address",
             text("%s gives a row of %s that is not in shared memory: %s.", name_of(t).c_str(), store ? "stmatrix" : "ldmatrix",
                  describe_address(p).c_str()),
             where);
      const unsigned bytes = 4u / (unsigned)parts;
      char* word = (char*)&registers[i] + part * 2;
      access(p, bytes, store, place_of(where));
      if (store) memcpy(p, word, bytes);
      else memcpy(word, p, bytes);
    }
}

}  // namespace
}  // namespace emu

using namespace emu;

uint64_t emu_collective(Collective kind, uint32_t mask, uint64_t value, int argument, int width, Where where) {
  Thread* t = machine.current;
  Block* b = t->home;
  Warp& w = b->warps[t->warp];
  t->where = where;
  spend(4);
  const size_t present = b->threads.size() - t->warp * 32;
  if (present < 32) mask &= (1u << present) - 1;  // a block's last warp may be narrow
  const uint32_t bit = 1u << t->lane;
  if (!(mask & bit))
    stop("misuse", "collective-mask",
         text("%s calls %s with the mask 0x%08x, which leaves itself out.", name_of(t).c_str(), name_of(kind), mask), where);
  if (width < 1 || width > 32 || (width & (width - 1)))
    stop("misuse", "collective-width", text("A shuffle's width is 1, 2, 4, 8, 16 or 32, not %d.", width), where);
  CollectiveState* c = nullptr;
  for (CollectiveState& open : w.collectives) {
    if (open.mask == mask && open.kind == kind) c = &open;
    else if (open.mask & mask)
      stop("misuse", "divergent-collective",
           text("Lanes of one warp meet in different operations: %s calls %s with mask 0x%08x, while lanes 0x%08x wait in %s "
                "at %s with mask 0x%08x.",
                name_of(t).c_str(), name_of(kind), mask, open.arrived, name_of(open.kind), at(open.where).c_str(), open.mask),
           where);
  }
  if (!c) {
    w.collectives.emplace_back();
    c = &w.collectives.back();
    c->kind = kind;
    c->mask = mask;
    c->where = where;
    c->width = width;
  }
  c->arrived |= bit;
  c->value[t->lane] = value;
  c->argument[t->lane] = argument;
  if (c->arrived != mask) {
    suspend(Wait::COLLECTIVE, mask, 0, where);
    return t->result;
  }
  const CollectiveState done = *c;
  w.collectives.erase(w.collectives.begin() + (c - w.collectives.data()));
  Thread* lanes = &b->threads[t->warp * 32];
  complete(lanes, done);
  for (uint32_t m = mask & ~bit; m; m &= m - 1) wake(lanes + __builtin_ctz(m), machine.now);
  return t->result;
}

void emu_matrix(bool store, const void* row, uint32_t* registers, int matrices, Where where) {
  matrix_words(store, false, row, registers, matrices, where);
}

void emu_matrix_transposed(bool store, const void* row, uint32_t* registers, int matrices, Where where) {
  matrix_words(store, true, row, registers, matrices, where);
}
