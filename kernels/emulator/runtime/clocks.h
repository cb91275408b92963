// clocks.h - vector clocks: who has seen what. Shared, immutable vectors with memoised joins, so that a barrier of many
// threads costs one join and not one a thread.
#pragma once
#include <stdint.h>

#include <memory>
#include <vector>

namespace emu {

// An actor of the happens-before relation: a CUDA thread, a warpgroup's wgmmas, or a queue of asynchronous copies.
// 16 bits of SM slot, 16 bits of index within the slot (threads first).
typedef uint32_t Entity;
constexpr Entity NOBODY = ~0u;
inline Entity entity(unsigned slot, unsigned index) { return slot << 16 | index; }

// The clock-th action of an entity.
struct Epoch {
  Entity who = NOBODY;
  uint32_t clock = 0;
};

// A counted pointer. The runner has one OS thread: no atomic counts.
template <class T>
class Ref {
 public:
  Ref() {}
  explicit Ref(T* p) : p_(p) {
    if (p_) ++p_->references;
  }
  Ref(const Ref& o) : Ref(o.p_) {}
  Ref& operator=(Ref o) {
    T* p = p_;
    p_ = o.p_;
    o.p_ = p;
    return *this;
  }
  ~Ref() {
    if (p_ && --p_->references == 0) delete p_;
  }
  T* operator->() const { return p_; }
  T* get() const { return p_; }
  explicit operator bool() const { return p_ != nullptr; }

 private:
  T* p_ = nullptr;
};

struct Row {  // the clocks of one slot's entities
  unsigned references = 0;
  std::unique_ptr<uint32_t[]> clock;
};

struct Vector {  // one row a slot; a missing row is all zeros
  unsigned references = 0;
  std::vector<Ref<Row>> rows;
  uint32_t at(Entity e) const {
    const Row* row = rows[e >> 16].get();
    return row ? row->clock[e & 0xFFFF] : 0;
  }
};
typedef Ref<Vector> VectorRef;

void clocks_reset(unsigned slots, unsigned entities_per_slot);
VectorRef join(const VectorRef& a, const VectorRef& b);  // the later of both, entry by entry
VectorRef raise(const VectorRef& a, Epoch e);            // a, having seen e
VectorRef raise_all(const VectorRef& a, const std::vector<Epoch>& epochs);

// What one CUDA thread has seen: a shared vector, and its own clock on top.
struct Clock {
  Entity self = NOBODY;
  uint32_t first = 1, own = 1;
  VectorRef seen;

  Epoch now() const { return {self, own}; }
  bool sees(Epoch e) const {
    if (e.who == self) return e.clock >= first && e.clock <= own;
    return seen && seen->at(e.who) >= e.clock;
  }
  bool sees_without_own(Epoch e) const { return seen && seen->at(e.who) >= e.clock; }
  void acquire(const VectorRef& v) { seen = join(seen, v); }
};

// Collects releases until someone acquires them.
struct Accumulator {
  VectorRef joined;
  std::vector<Epoch> extra;

  void add(Clock& c) {  // c releases: what it did so far is published, what follows is not
    joined = join(joined, c.seen);
    extra.push_back(c.now());
    ++c.own;
  }
  void add(Epoch e) { extra.push_back(e); }
  VectorRef freeze() {
    joined = raise_all(joined, extra);
    extra.clear();
    return joined;
  }
};

}  // namespace emu
