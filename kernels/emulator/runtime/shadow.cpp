#include "shadow.h"

#include <stdlib.h>
#include <string.h>

#include <algorithm>

#include "machine.h"
#include "memory.h"

namespace emu {
namespace {

enum class Kind { THREAD, WGMMA, COPY };

inline Kind kind_of(Entity e) {
  const unsigned index = e & 0xFFFF, threads = machine.threads_per_block();
  return index < threads ? Kind::THREAD : index < threads + (threads + 127) / 128 ? Kind::WGMMA : Kind::COPY;
}

// Did the writer publish its ordinary write to the async proxy, early enough for the issuer to know?
bool proxy_fenced(Epoch write, const Thread* issuer, bool global) {
  const Block* b = machine.slots[write.who >> 16].block.get();
  const unsigned index = write.who & 0xFFFF;
  if (!b || index >= b->threads.size()) return true;  // the writer's block is gone
  const Thread& writer = b->threads[index];
  const std::vector<uint32_t>& fences = global ? writer.global_proxy_fences : writer.proxy_fences;
  auto fence = std::lower_bound(fences.begin(), fences.end(), write.clock);
  return fence != fences.end() && issuer->clock.sees({write.who, *fence});
}

std::string advice(bool a_writes, Kind a, bool other_wrote, Kind other, bool global, bool same_block) {
  if (other == Kind::COPY && other_wrote && !global)
    return a_writes ? "Wait for that copy, and for whoever reads it, before the buffer is used again."
                    : "Wait on the copy's mbarrier (with the right parity) before reading.";
  if (a == Kind::COPY && a_writes && !global)
    return "The buffer was not yet free: wait for its EMPTY barrier (or the block's) before the copy, and arrive on EMPTY only after the reads "
           "are done (after wgmma_wait).";
  if (other == Kind::COPY && !other_wrote)
    return "Wait with tma_store_wait_read (by the thread that stored), then a barrier, before the source is written again.";
  if (other == Kind::WGMMA) return "wgmma_wait first, then a barrier, before the operands are written again.";
  if (global && !same_block)
    return "Order the blocks with a flag: store_release or atomic_add_release after the write, load_acquire before the read.";
  return "Put a barrier between them: __syncthreads or named_barrier_sync; __syncwarp inside a warp.";
}

}  // namespace

Shadow::Shadow(size_t bytes, bool initialised, size_t max_readers)
    : chunks_((bytes + 15) / 16), max_readers_(max_readers), initialised_(initialised), pages_((chunks_ + 255) / 256) {}

Shadow::~Shadow() {
  for (auto& page : pages_)
    if (page)
      for (size_t i = 0; i < 256; ++i) {
        free(page[i].whole.readers);
        if (page[i].parts)
          for (int k = 0; k < 16 / page[i].unit; ++k) free(page[i].parts[k].readers);
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
      cell.async_write = cell.atomic_write = cell.atomic_readers = false;
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
    finer[k].readers = nullptr;
    finer[k].capacity = 0;
    if (from.count) {
      finer[k].readers = (Reader*)malloc(from.count * sizeof(Reader));
      memcpy((void*)finer[k].readers, (void*)from.readers, from.count * sizeof(Reader));
      finer[k].capacity = from.count;
    }
  }
  if (c->parts)
    for (int k = 0; k < 16 / c->unit; ++k) free(c->parts[k].readers);
  else free(c->whole.readers), c->whole.readers = nullptr, c->whole.capacity = 0;
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

void Shadow::add_reader(Cell& c, const Actor& a) {
  const bool thread = kind_of(a.epoch.who) == Kind::THREAD;
  const Entity who = thread ? a.epoch.who & ~31u : a.epoch.who;
  const uint32_t lane = thread ? 1u << (a.epoch.who & 31) : 1;
  for (unsigned i = c.count; i-- > 0;) {
    Reader& r = c.readers[i];
    if (r.epoch.who == who && r.epoch.clock == a.epoch.clock) {
      r.lanes |= lane;
      return;
    }
  }
  if (c.count == max_readers_) {  // keep the newest
    memmove((void*)c.readers, (void*)(c.readers + 1), (c.count - 1) * sizeof(Reader));
    --c.count;
  }
  if (c.count == c.capacity) {
    c.capacity = (uint16_t)(c.capacity ? c.capacity * 2 : 2);
    c.readers = (Reader*)realloc((void*)c.readers, c.capacity * sizeof(Reader));
  }
  c.readers[c.count++] = {{who, a.epoch.clock}, lane, a.place};
}

void Shadow::read(const Memory& m, size_t offset, size_t bytes, const Actor& a) {
  each_cell(offset, bytes, [&](Cell& c, size_t at_offset) {
    const Epoch w = c.last_write.epoch;
    if (w.who != NOBODY) {
      const bool seen = a.own ? a.issuer->clock.sees(w) : a.issuer->clock.sees_without_own(w);
      if (!seen && !(a.atomic && c.atomic_write)) report("read-after-write", m, at_offset, a, false, c.last_write, true);
      else if (a.async && !c.async_write && !proxy_fenced(w, a.issuer, !m.block))
        report("missing-proxy-fence", m, at_offset, a, false, c.last_write, true);
    } else if (!c.written) {
      report("uninitialized-read", m, at_offset, a, false, Access(), false);
      c.written = true;  // told once
    }
    if (c.count == 0) c.atomic_readers = a.atomic;
    else c.atomic_readers &= a.atomic;
    add_reader(c, a);
  });
}

void Shadow::write(const Memory& m, size_t offset, size_t bytes, const Actor& a) {
  each_cell(offset, bytes, [&](Cell& c, size_t at_offset) {
    const Epoch w = c.last_write.epoch;
    auto sees = [&](Epoch e) { return a.own ? a.issuer->clock.sees(e) : a.issuer->clock.sees_without_own(e); };
    bool told = false;
    if (!(a.atomic && c.atomic_readers))
      for (unsigned i = 0; i < c.count && !told; ++i)
        for (uint32_t lanes = c.readers[i].lanes; lanes && !told; lanes &= lanes - 1) {
          const Epoch read{c.readers[i].epoch.who + (Entity)__builtin_ctz(lanes), c.readers[i].epoch.clock};
          if (sees(read)) continue;
          report("write-after-read", m, at_offset, a, true, Access{read, c.readers[i].place}, false);
          told = true;
        }
    if (w.who != NOBODY && !told) {
      if (!sees(w) && !(a.atomic && c.atomic_write)) report("write-after-write", m, at_offset, a, true, c.last_write, true);
      else if (a.async && !c.async_write && !proxy_fenced(w, a.issuer, !m.block))
        report("missing-proxy-fence", m, at_offset, a, true, c.last_write, true);
    }
    c.last_write = {a.epoch, a.place};
    c.async_write = a.async;
    c.atomic_write = a.atomic;
    c.written = true;
    c.count = 0;
  });
}

void Shadow::report(const char* rule, const Memory& m, size_t offset, const Actor& a, bool a_writes, const Access& other,
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
