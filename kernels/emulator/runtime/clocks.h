// clocks.h - vector clocks: who has seen what. Shared, immutable vectors with memoised joins, so that a barrier of many
// threads costs one join and not one a thread.
#pragma once
#include <stdint.h>

#include <memory>
#include <utility>
#include <vector>

namespace emu {

// An actor of the happens-before relation: a CUDA thread, a warpgroup's wgmmas, a queue of asynchronous copies, an mbarrier's
// phases. 16 bits of its block's serial number, 16 bits of index within the block (threads first).
typedef uint32_t Entity;
constexpr Entity NOBODY = ~0u;
inline Entity entity(unsigned serial, unsigned index) { return serial << 16 | index; }

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

struct Row {  // the clocks of one block's entities, as far as any is known
  unsigned references = 0;
  std::vector<uint32_t> clock;
};

struct Vector {  // the rows of the blocks that something is known of, by serial number
  unsigned references = 0;
  std::vector<std::pair<uint32_t, Ref<Row>>> rows;
  const Row* row(uint32_t serial) const {
    size_t low = 0, high = rows.size();
    while (high - low > 4) {
      const size_t middle = (low + high) / 2;
      if (rows[middle].first <= serial) low = middle;
      else high = middle;
    }
    for (; low < high; ++low)
      if (rows[low].first == serial) return rows[low].second.get();
    return nullptr;
  }
  uint32_t at(Entity e) const {
    const Row* r = row(e >> 16);
    return r && (e & 0xFFFF) < r->clock.size() ? r->clock[e & 0xFFFF] : 0;
  }
};
typedef Ref<Vector> VectorRef;

VectorRef join(const VectorRef& a, const VectorRef& b);  // the later of both, entry by entry
VectorRef raise(const VectorRef& a, Epoch e);            // a, having seen e
VectorRef raise_all(const VectorRef& a, const std::vector<Epoch>& epochs);

// What is known to have happened before. Three kinds of order, since they are not the same on the hardware:
struct Known {
  VectorRef memory;     // what is visible: its writes may be read
  VectorRef order;      // what is over, visible or not: its reads may be overwritten; holds all of `memory`
  VectorRef fenced[2];  // ordinary writes that a proxy fence has shown to the async proxy; of shared memory, of global memory

  void join(const Known& o) {
    const bool same = memory.get() == order.get() && o.memory.get() == o.order.get();
    memory = emu::join(memory, o.memory);
    order = same ? memory : emu::join(order, o.order);
    for (int i = 0; i < 2; ++i) fenced[i] = emu::join(fenced[i], o.fenced[i]);
  }
  void raise(Epoch e) {
    const bool same = memory.get() == order.get();
    memory = emu::raise(memory, e);
    order = same ? memory : emu::raise(order, e);
  }
  void raise_order(Epoch e) { order = emu::raise(order, e); }
};

// What one CUDA thread knows, and its own clock on top.
struct Clock {
  Entity self = NOBODY;
  uint32_t first = 1, own = 1;
  uint32_t fenced[2] = {0, 0};  // own at the last proxy fence of each kind
  Known seen;

  Epoch now() const { return {self, own}; }
  bool sees(Epoch e) const {
    if (e.who == self) return e.clock >= first && e.clock <= own;
    return seen.memory && seen.memory->at(e.who) >= e.clock;
  }
  bool sees_without_own(Epoch e) const { return seen.memory && seen.memory->at(e.who) >= e.clock; }
  bool after(Epoch e) const {
    if (e.who == self) return e.clock >= first && e.clock <= own;
    return seen.order && seen.order->at(e.who) >= e.clock;
  }
  bool after_without_own(Epoch e) const { return seen.order && seen.order->at(e.who) >= e.clock; }
  void acquire(const Known& v) { seen.join(v); }
  void fence(bool global) {  // what this thread sees now, its own writes included, the async proxy sees as well
    seen.fenced[global] = join(seen.fenced[global], seen.memory);
    fenced[global] = own++;
  }
  bool has_fenced(Epoch write, bool global) const {
    if (write.who == self) return fenced[global] >= write.clock;
    return seen.fenced[global] && seen.fenced[global]->at(write.who) >= write.clock;
  }
};

// Collects releases until someone acquires them.
struct Accumulator {
  Known joined;
  std::vector<Epoch> extra, extra_order, extra_fenced[2];

  void add(Clock& c) {  // c releases: what it did so far is published, what follows is not
    joined.join(c.seen);
    for (int i = 0; i < 2; ++i)
      if (c.fenced[i]) extra_fenced[i].push_back({c.self, c.fenced[i]});
    extra.push_back(c.now());
    ++c.own;
  }
  void add_order(Clock& c) {  // c says that it is done, and publishes no writes
    add_order(c.seen.order);
    extra_order.push_back(c.now());
    ++c.own;
  }
  void add_order(const VectorRef& order) { joined.order = join(joined.order, order); }
  void add(Epoch e) { extra.push_back(e); }
  const Known& freeze() {
    const bool same = joined.memory.get() == joined.order.get() && extra_order.empty();
    joined.memory = raise_all(joined.memory, extra);
    joined.order = same ? joined.memory : raise_all(raise_all(joined.order, extra), extra_order);
    for (int i = 0; i < 2; ++i) {
      joined.fenced[i] = raise_all(joined.fenced[i], extra_fenced[i]);
      extra_fenced[i].clear();
    }
    extra.clear();
    extra_order.clear();
    return joined;
  }
};

}  // namespace emu
