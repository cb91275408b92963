#include "clocks.h"

#include <string.h>

namespace emu {
namespace {

unsigned slots, entities;

// Joins repeat: the lanes of a warp hold the same vector and acquire the same release. Direct-mapped; holds references, so
// that a pointer in a key cannot come to mean another vector.
struct JoinMemo {
  VectorRef a, b, result;
};
struct RaiseMemo {
  VectorRef a, result;
  Epoch e;
};
JoinMemo join_memo[256];
RaiseMemo raise_memo[256];

size_t slot_of(const void* a, const void* b) { return (((uintptr_t)a >> 4) * 31 ^ ((uintptr_t)b >> 4)) % 256; }

VectorRef empty_vector() {
  VectorRef v(new Vector);
  v->rows.resize(slots);
  return v;
}

Ref<Row> copy_row(const Ref<Row>& row) {
  Ref<Row> r(new Row);
  r->clock.reset(new uint32_t[entities]());
  if (row) memcpy(r->clock.get(), row->clock.get(), entities * sizeof(uint32_t));
  return r;
}

Ref<Row> join_rows(const Ref<Row>& a, const Ref<Row>& b) {
  if (a.get() == b.get() || !b) return a;
  if (!a) return b;
  const uint32_t *p = a->clock.get(), *q = b->clock.get();
  bool a_later = true, b_later = true;
  for (unsigned i = 0; i < entities; ++i) a_later &= p[i] >= q[i], b_later &= p[i] <= q[i];
  if (a_later) return a;  // keeping the pointer keeps later joins cheap
  if (b_later) return b;
  Ref<Row> r = copy_row(a);
  uint32_t* out = r->clock.get();
  for (unsigned i = 0; i < entities; ++i) out[i] = p[i] > q[i] ? p[i] : q[i];
  return r;
}

}  // namespace

void clocks_reset(unsigned slot_count, unsigned entities_per_slot) {
  slots = slot_count;
  entities = entities_per_slot;
}

VectorRef join(const VectorRef& a, const VectorRef& b) {
  if (a.get() == b.get() || !b) return a;
  if (!a) return b;
  JoinMemo& memo = join_memo[slot_of(a.get(), b.get())];
  if (memo.a.get() == a.get() && memo.b.get() == b.get()) return memo.result;
  VectorRef r = empty_vector();
  bool is_a = true, is_b = true;
  for (unsigned s = 0; s < slots; ++s) {
    r->rows[s] = join_rows(a->rows[s], b->rows[s]);
    is_a &= r->rows[s].get() == a->rows[s].get();
    is_b &= r->rows[s].get() == b->rows[s].get();
  }
  if (is_a) r = a;
  else if (is_b) r = b;
  memo = {a, b, r};
  return r;
}

VectorRef raise(const VectorRef& a, Epoch e) {
  if (a && a->at(e.who) >= e.clock) return a;
  RaiseMemo& memo = raise_memo[slot_of(a.get(), (void*)(uintptr_t)((e.who * 131u + e.clock) << 4))];
  if (memo.result && memo.a.get() == a.get() && memo.e.who == e.who && memo.e.clock == e.clock) return memo.result;
  VectorRef r = raise_all(a, {e});
  memo = {a, r, e};
  return r;
}

VectorRef raise_all(const VectorRef& a, const std::vector<Epoch>& epochs) {
  VectorRef r;
  for (const Epoch& e : epochs) {
    if (!r && a && a->at(e.who) >= e.clock) continue;
    if (!r) {
      r = empty_vector();
      if (a) r->rows = a->rows;
    }
    Ref<Row>& row = r->rows[e.who >> 16];
    if (!row || (a && row.get() == a->rows[e.who >> 16].get())) row = copy_row(row);
    uint32_t& c = row->clock[e.who & 0xFFFF];
    if (c < e.clock) c = e.clock;
  }
  return r ? r : a;
}

}  // namespace emu
