#include "clocks.h"

#include <string.h>

namespace emu {
namespace {

// Joins repeat: the lanes of a warp hold the same vector and acquire the same release. Direct-mapped; holds references, so
// that a pointer in a key cannot come to mean another vector.
struct JoinMemo {
  VectorRef a, b, result;
};
struct RaiseMemo {
  VectorRef a, result;
  Epoch e;
};
constexpr unsigned MEMOS = 4096;
JoinMemo join_memo[MEMOS];
RaiseMemo raise_memo[MEMOS];

size_t slot_of(const void* a, const void* b) {
  return (size_t)((((uint64_t)(uintptr_t)a >> 4) * 0x9E3779B97F4A7C15ull ^
                   ((uint64_t)(uintptr_t)b >> 4) * 0xC2B2AE3D27D4EB4Full) >>
                  40) %
         MEMOS;
}

Ref<Row> copy_row(const Ref<Row>& row) {
  Ref<Row> r(new Row);
  if (row) r->clock = row->clock;
  return r;
}

Ref<Row> join_rows(const Ref<Row>& a, const Ref<Row>& b) {
  if (a.get() == b.get()) return a;
  const size_t na = a->clock.size(), nb = b->clock.size(), n = na < nb ? na : nb;
  const uint32_t *p = a->clock.data(), *q = b->clock.data();
  bool a_later = na >= nb, b_later = nb >= na;
  for (size_t i = 0; i < n; ++i) a_later &= p[i] >= q[i], b_later &= p[i] <= q[i];
  if (a_later) return a;  // keeping the pointer keeps later joins cheap
  if (b_later) return b;
  Ref<Row> r = copy_row(na >= nb ? a : b);
  uint32_t* out = r->clock.data();
  for (size_t i = 0; i < n; ++i) out[i] = p[i] > q[i] ? p[i] : q[i];
  return r;
}

}  // namespace

VectorRef join(const VectorRef& a, const VectorRef& b) {
  if (a.get() == b.get() || !b) return a;
  if (!a) return b;
  JoinMemo& memo = join_memo[slot_of(a.get(), b.get())];
  if (memo.a.get() == a.get() && memo.b.get() == b.get()) return memo.result;
  VectorRef r(new Vector);
  r->rows.reserve(a->rows.size() + b->rows.size());
  bool is_a = true, is_b = true;
  for (size_t i = 0, j = 0; i < a->rows.size() || j < b->rows.size();) {
    const bool from_a = i < a->rows.size() && (j == b->rows.size() || a->rows[i].first <= b->rows[j].first),
               from_b = j < b->rows.size() && (i == a->rows.size() || b->rows[j].first <= a->rows[i].first);
    if (from_a && from_b) {
      r->rows.emplace_back(a->rows[i].first, join_rows(a->rows[i].second, b->rows[j].second));
      is_a &= r->rows.back().second.get() == a->rows[i].second.get();
      is_b &= r->rows.back().second.get() == b->rows[j].second.get();
      ++i, ++j;
    } else if (from_a) {
      r->rows.push_back(a->rows[i++]);
      is_b = false;
    } else {
      r->rows.push_back(b->rows[j++]);
      is_a = false;
    }
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
      r = VectorRef(new Vector);
      if (a) r->rows = a->rows;
    }
    const uint32_t serial = e.who >> 16, index = e.who & 0xFFFF;
    size_t i = 0;
    while (i < r->rows.size() && r->rows[i].first < serial) ++i;
    if (i == r->rows.size() || r->rows[i].first != serial)
      r->rows.insert(r->rows.begin() + (long)i, {serial, Ref<Row>(new Row)});
    else if (r->rows[i].second->references > 1) r->rows[i].second = copy_row(r->rows[i].second);
    std::vector<uint32_t>& clock = r->rows[i].second->clock;
    if (clock.size() <= index) clock.resize(index + 1);
    if (clock[index] < e.clock) clock[index] = e.clock;
  }
  return r ? r : a;
}

}  // namespace emu
