#include "shadow.h"

#include <stdlib.h>
#include <string.h>

#include <algorithm>

#include "machine.h"
#include "memory.h"

namespace emu {
namespace {

enum class Kind { THREAD, WGMMA, COPY, ELEMENTS };

inline Kind kind_of(Entity e) {
  const unsigned index = e & 0xFFFF, threads = machine.threads_per_block();
  const unsigned copies = threads + (threads + 127) / 128;
  if (index < copies) return index < threads ? Kind::THREAD : Kind::WGMMA;
  const Block* b = machine.block_of_serial[e >> 16];
  return b && b->async[index - copies].elements ? Kind::ELEMENTS : Kind::COPY;
}

std::string advice(bool a_writes, Kind a, bool other_wrote, Kind other, bool global, bool same_block) {
  if (other == Kind::ELEMENTS && other_wrote)
    return "The thread that issued the copy commits it and waits for its group (cp.async.wait_group, __pipeline_wait_prior, "
           "consumer_wait); then a barrier (__syncthreads) lets the other threads use it.";
  if (a == Kind::ELEMENTS && a_writes && !global)
    return "The buffer was not yet free: put a barrier (__syncthreads) between its last use and the copy into it.";
  if (other == Kind::COPY && other_wrote && !global)
    return a_writes ? "Wait for that copy, and for whoever reads it, before the buffer is used again."
                    : "Wait on the copy's mbarrier (with the right parity) before reading.";
  if (a == Kind::COPY && a_writes && !global)
    return "The buffer was not yet free: wait for its EMPTY barrier (or the block's) before the copy, and arrive on EMPTY only "
           "after the reads "
           "are done (after wgmma_wait).";
  if (other == Kind::COPY && !other_wrote)
    return "Wait with tma_store_wait_read (by the thread that stored), then a barrier, before the source is written again.";
  if (other == Kind::WGMMA) return "wgmma_wait first, then a barrier, before the operands are written again.";
  if (global && !same_block)
    return "Order the blocks with a flag: store_release or atomic_add_release after the write, load_acquire before the read.";
  return "Put a barrier between them: __syncthreads or named_barrier_sync; __syncwarp inside a warp.";
}

}  // namespace

Shadow::Shadow(size_t bytes, bool initialised)
    : chunks_((bytes + 15) / 16), initialised_(initialised), pages_((chunks_ + 255) / 256) {}

Shadow::~Shadow() {
  for (auto& page : pages_)
    if (page)
      for (size_t i = 0; i < 256; ++i) {
        free(page[i].whole.since);
        if (page[i].parts)
          for (int k = 0; k < 16 / page[i].unit; ++k) free(page[i].parts[k].since);
      }
}

void Shadow::forget() { ++generation_; }

Shadow::Chunk* Shadow::chunk(size_t i) {
  auto& page = pages_[i / 256];
  if (!page) page.reset(new Chunk[256]);
  Chunk* c = &page[i % 256];
  if (c->generation != generation_) {
    c->generation = generation_;
    const int n = c->parts ? 16 / c->unit : 1;
    for (int k = 0; k < n; ++k) {
      Cell& cell = c->parts ? c->parts[k] : c->whole;
      cell.last_write.epoch = Epoch();
      cell.count = 0;
      cell.async_write = cell.special_writes = false;
      cell.written = initialised_;
    }
  }
  return c;
}

void Shadow::split(Chunk* c, uint8_t unit) {
  std::unique_ptr<Cell[]> finer(new Cell[16 / unit]);
  for (int k = 0; k < 16 / unit; ++k) {
    const Cell& from = c->parts ? c->parts[k * unit / c->unit] : c->whole;
    finer[k] = from;
    finer[k].since = nullptr;
    finer[k].capacity = 0;
    if (from.count) {
      finer[k].since = (Since*)malloc(from.count * sizeof(Since));
      memcpy((void*)finer[k].since, (void*)from.since, from.count * sizeof(Since));
      finer[k].capacity = from.count;
    }
  }
  if (c->parts)
    for (int k = 0; k < 16 / c->unit; ++k) free(c->parts[k].since);
  else free(c->whole.since), c->whole.since = nullptr, c->whole.capacity = 0;
  c->parts = std::move(finer);
  c->unit = unit;
}

// f(cell, offset of the cell), for the cells of [offset, offset + bytes), split so that none reaches outside it.
template <class F>
void Shadow::each_cell(size_t offset, size_t bytes, F f) {
  const size_t end = offset + bytes;
  while (offset < end) {
    Chunk* c = chunk(offset / 16);
    const size_t first = offset % 16, last = std::min(end - (offset - first), (size_t)16);
    const uint8_t unit = first == 0 && last == 16 ? 16 : first % 4 == 0 && last % 4 == 0 ? 4 : 1;
    if (unit < c->unit) split(c, unit);
    if (!c->parts) f(c->whole, offset);
    else
      for (size_t k = first / c->unit; k * c->unit < last; ++k) f(c->parts[k], offset - first + k * c->unit);
    offset += last - first;
  }
}

void Shadow::add(Cell& c, const Actor& a, bool write) {
  const bool thread = kind_of(a.epoch.who) == Kind::THREAD;
  const Entity who = thread ? a.epoch.who & ~31u : a.epoch.who;
  const uint32_t lane = thread ? 1u << (a.epoch.who & 31) : 1;
  for (unsigned i = c.count; i-- > 0;) {
    Since& r = c.since[i];
    if (r.epoch.who == who && r.epoch.clock == a.epoch.clock && r.write == write && r.how == a.how) {
      r.lanes |= lane;
      return;
    }
  }
  if (c.count == c.capacity && c.count >= 16 && thread && !a.async) {
    // What this thread sees, whoever is ordered after this thread sees as well: keep the others.
    unsigned kept = 0;
    for (unsigned i = 0; i < c.count; ++i) {
      bool seen = !c.since[i].write || write;
      for (uint32_t lanes = c.since[i].lanes; lanes && seen; lanes &= lanes - 1)
        seen = a.issuer->clock.sees({c.since[i].epoch.who + (Entity)__builtin_ctz(lanes), c.since[i].epoch.clock});
      if (!seen) c.since[kept++] = c.since[i];
    }
    c.count = kept;
  }
  if (c.count == c.capacity) {
    c.capacity = c.capacity ? c.capacity * 2 : 2;
    c.since = (Since*)realloc((void*)c.since, c.capacity * sizeof(Since));
  }
  c.since[c.count++] = {{who, a.epoch.clock}, lane, a.how, write, a.place};
}

// Reports the first access since the last plain write that nothing orders before this one.
bool Shadow::conflicts(const Memory& m, const Cell& c, size_t offset, const Actor& a, bool write) {
  for (unsigned i = 0; i < c.count; ++i) {
    const Since& s = c.since[i];
    if (!write && !s.write) continue;
    const bool special = s.how != Access::PLAIN && a.how != Access::PLAIN;
    if (special && (s.how == Access::ATOMIC || a.how == Access::ATOMIC || s.epoch.who != (a.epoch.who & ~31u))) continue;
    for (uint32_t lanes = s.lanes; lanes; lanes &= lanes - 1) {
      const Epoch e{s.epoch.who + (Entity)__builtin_ctz(lanes), s.epoch.clock};
      // A read need only be over before it is overwritten; a write must be visible.
      const bool over = s.write ? a.own ? a.issuer->clock.sees(e) : a.issuer->clock.sees_without_own(e)
                        : a.own ? a.issuer->clock.after(e)
                                : a.issuer->clock.after_without_own(e);
      if (over) continue;
      report(write ? s.write ? "write-after-write" : "write-after-read" : "read-after-write", m, offset, a, write,
             Write{e, s.place}, s.write);
      return true;
    }
  }
  return false;
}

// Is that write visible to who acts, and through the async proxy?
void Shadow::ask(const Actor& a, Epoch w, bool global) const {
  if (a.asked.who == w.who && a.asked.clock == w.clock) return;
  a.asked = w;
  a.answer_seen = a.answer_fenced = true;
  const size_t n = a.all ? a.all->size() : 1;
  for (size_t i = 0; i < n; ++i) {
    const Clock& clock = a.all ? (*a.all)[i]->clock : a.issuer->clock;
    a.answer_seen &= a.own ? clock.sees(w) : clock.sees_without_own(w);
    if (a.async) a.answer_fenced &= clock.has_fenced(w, global);
  }
}

void Shadow::read(const Memory& m, size_t offset, size_t bytes, const Actor& a) {
  each_cell(offset, bytes, [&](Cell& c, size_t at_offset) {
    const Epoch w = c.last_write.epoch;
    if (w.who != NOBODY) {
      ask(a, w, !m.block);
      if (!a.answer_seen) report("read-after-write", m, at_offset, a, false, c.last_write, true);
      else if (a.async && !c.async_write && !a.answer_fenced)
        report("missing-proxy-fence", m, at_offset, a, false, c.last_write, true);
    } else if (!c.written) {
      report("uninitialized-read", m, at_offset, a, false, Write(), false);
      c.written = true;  // told once
    }
    if (c.special_writes) conflicts(m, c, at_offset, a, false);
    add(c, a, false);
  });
}

void Shadow::write(const Memory& m, size_t offset, size_t bytes, const Actor& a) {
  each_cell(offset, bytes, [&](Cell& c, size_t at_offset) {
    const Epoch w = c.last_write.epoch;
    const bool told = c.count && conflicts(m, c, at_offset, a, true);
    if (w.who != NOBODY && !told) {
      const bool seen = a.async && c.async_write ? a.issuer->clock.after(w)  // a copy over a copy's: it need only be over
                        : a.own                  ? a.issuer->clock.sees(w)
                                                 : a.issuer->clock.sees_without_own(w);
      if (!seen) report("write-after-write", m, at_offset, a, true, c.last_write, true);
      else if (a.async && !c.async_write && !a.issuer->clock.has_fenced(w, !m.block))
        report("missing-proxy-fence", m, at_offset, a, true, c.last_write, true);
    }
    c.written = true;
    if (a.how != Access::PLAIN) {  // does not take the plain write's place
      add(c, a, true);
      c.special_writes = true;
      return;
    }
    c.last_write = {a.epoch, a.place};
    c.async_write = a.async;
    c.special_writes = false;
    c.count = 0;
  });
}

void Shadow::report(const char* rule, const Memory& m, size_t offset, const Actor& a, bool a_writes, const Write& other,
                    bool other_wrote) {
  if (known_finding(rule, a.place, other.place)) return;
  const std::string what = m.block ? describe_shared(m.block, (unsigned)offset) : text("%s, byte %zu", m.name, offset);
  const std::string who = name_of_entity(a.epoch.who), here = at(a.place);
  std::string message;
  if (!strcmp(rule, "uninitialized-read")) {
    message = text("%s at %s reads %s, which nobody has written in this block. Shared memory starts undefined.", who.c_str(),
                   here.c_str(), what.c_str());
  } else if (!strcmp(rule, "missing-proxy-fence")) {
    message = text(
        "%s at %s %s %s, written by ordinary stores of %s at %s. The copy engine and wgmma may not see those: each writing "
        "thread calls %s "
        "after its stores and before the barrier.",
        who.c_str(), here.c_str(), a_writes ? "overwrites" : "reads", what.c_str(), name_of_entity(other.epoch.who).c_str(),
        at(other.place).c_str(), m.block ? "fence_proxy_async()" : "fence_proxy_async_global()");
  } else {
    message = text("%s at %s %s %s; nothing orders that after the %s by %s at %s. %s", who.c_str(), here.c_str(),
                   a_writes ? "writes" : "reads", what.c_str(), other_wrote ? "write" : "read",
                   name_of_entity(other.epoch.who).c_str(), at(other.place).c_str(),
                   advice(a_writes, kind_of(a.epoch.who), other_wrote, kind_of(other.epoch.who), !m.block,
                          a.epoch.who >> 16 == other.epoch.who >> 16)
                       .c_str());
  }
  found("race", rule, message, a.place, other.place);
}

}  // namespace emu
