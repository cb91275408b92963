#include "tma.h"

#include <string.h>

#include <algorithm>

#include "convergence.h"
#include "mbarrier.h"
#include "memory.h"
#include "scheduler.h"
#include "trace.h"

namespace emu {
namespace {

// Nominal times of the timed policy, in cycles: for pictures, not a measurement.
constexpr double LATENCY = 600, BYTES_PER_CYCLE = 32;
constexpr unsigned PIECE = 8;  // rows that land together

struct Copy {
  bool load;
  Thread* thread;
  Block* home;
  HostTensorMap map;
  unsigned shared = 0, barrier = 0;
  int x = 0, y = 0;
  std::vector<Block*> targets;   // loads
  std::vector<uint32_t> clocks;  // of each target's barrier entity
  unsigned sequence = 0;         // stores: number among the thread's
  std::vector<char> buffer;      // stores: what has been read from shared memory
  bool reading = true;           // stores: first half
  unsigned row = 0;
  Where where;
  double begin = 0, end = 0;

  unsigned row_bytes() const { return map.box_columns * map.element_bytes; }
  unsigned bytes() const { return row_bytes() * map.box_rows; }
};
std::vector<Copy> copies;

// The part of the box's row r that lies inside the tensor, in elements: [first, last), empty if none.
void inside(const Copy& c, unsigned r, long* first, long* last) {
  const long gy = (long)c.y + r;
  *first = *last = 0;
  if (gy < 0 || gy >= (long)c.map.rows) return;
  *first = std::max(0L, -(long)c.x);
  *last = std::min((long)c.map.box_columns, (long)c.map.columns - c.x);
  if (*last < *first) *last = *first;
}
char* global_row(const Copy& c, unsigned r) {
  return (char*)c.map.base + ((long)c.y + r) * (long)c.map.row_bytes + (long)c.x * c.map.element_bytes;
}

void load_row(const Copy& c, unsigned r) {
  char row[256 * 16] = {};
  long first, last;
  inside(c, r, &first, &last);
  const long size = c.map.element_bytes;
  if (last > first) memcpy(row + first * size, global_row(c, r) + first * size, (size_t)((last - first) * size));
  for (unsigned b = 0; b < c.row_bytes(); b += 16) {
    const uint32_t a = swizzle_address(c.shared + r * c.row_bytes() + b, c.map.swizzle);
    for (Block* target : c.targets) memcpy(target->shared + a, row + b, 16);
  }
}

void read_source_row(Copy& c, unsigned r) {
  for (unsigned b = 0; b < c.row_bytes(); b += 16) {
    const uint32_t a = swizzle_address(c.shared + r * c.row_bytes() + b, c.map.swizzle);
    memcpy(&c.buffer[r * c.row_bytes() + b], c.home->shared + a, 16);
  }
}

void write_row(const Copy& c, unsigned r) {
  long first, last;
  inside(c, r, &first, &last);
  const long size = c.map.element_bytes;
  if (last > first)
    memcpy(global_row(c, r) + first * size, &c.buffer[(size_t)(r * c.row_bytes() + first * size)],
           (size_t)((last - first) * size));
}

// How far this thread's stores have got: all before *read have left shared memory, all before *written are in global memory.
void store_progress(const Thread* t, unsigned* read, unsigned* written) {
  *read = *written = t->stores_issued;
  for (const Copy& c : copies)
    if (!c.load && c.thread == t) {
      *written = std::min(*written, c.sequence);
      if (c.reading) *read = std::min(*read, c.sequence);
    }
}

void wake_if_stores_done(Thread* t) {
  if (t->done || t->wait != Wait::STORES) return;
  unsigned read, written;
  store_progress(t, &read, &written);
  if ((t->object ? read : written) >= t->value) wake(t, machine.now);
}

std::string describe(const Copy& c) {
  return text("%s of box (x=%d, y=%d) %s %s", c.load ? "load" : "store", c.x, c.y, c.load ? "to" : "from",
              describe_shared(c.home, c.shared).c_str());
}

void finished(size_t i) {
  Copy c = std::move(copies[i]);
  copies.erase(copies.begin() + (long)i);
  remember(text("%s has landed", describe(c).c_str()));
  if (tracing())
    trace(c.begin, event_time(), c.load ? "tma_load" : "tma_store", name_of(c.home) + " TMA",
          c.load ? find_barrier(c.home, c.barrier)->name : describe(c), c.where,
          text("\"x\": %d, \"y\": %d, \"bytes\": %u, \"blocks\": %zu", c.x, c.y, c.bytes(), c.load ? c.targets.size() : 1));
  if (!c.load) wake_if_stores_done(c.thread);
}

void land(size_t i, bool whole) {
  Copy& c = copies[i];
  const unsigned end = whole ? c.map.box_rows : std::min(c.row + PIECE, c.map.box_rows);
  const unsigned begin = c.row;
  progress();
  for (; c.row < end; ++c.row) {
    if (c.load) load_row(c, c.row);
    else if (c.reading) read_source_row(c, c.row);
    else write_row(c, c.row);
  }
  const bool done = c.row == c.map.box_rows;
  if (c.load) {
    const std::vector<Block*> targets = c.targets;  // settling a barrier may not touch `copies`, but keep it plain
    const std::vector<uint32_t> clocks = c.clocks;
    const unsigned barrier = c.barrier, bytes = (end - begin) * c.row_bytes();
    if (done) finished(i);
    for (size_t k = 0; k < targets.size(); ++k)
      complete_bytes(targets[k], barrier, bytes, done, clocks.empty() ? 0 : clocks[k]);
  } else if (done && c.reading) {
    c.reading = false;
    c.row = 0;
    Thread* t = c.thread;
    wake_if_stores_done(t);
    if (whole) land(i, true);
  } else if (done) {
    finished(i);
  }
}

HostTensorMap checked_map(const void* p, Where where) {
  HostTensorMap m;
  memcpy(&m, p, sizeof m);
  if (m.magic != TENSOR_MAP_MAGIC)
    stop("misuse", "tensor-map",
         "The TensorMap is not one that this launch was given: pass it as `const __grid_constant__ TensorMap` and use its "
         "address.",
         where);
  return m;
}

Copy new_copy(bool load, const void* map, const void* shared, int x, int y, Where where) {
  Thread* t = machine.current;
  t->where = where;
  Copy c;
  c.load = load;
  c.thread = t;
  c.home = t->home;
  c.map = checked_map(map, where);
  c.shared = emu_smem_address(shared, where);
  c.x = x;
  c.y = y;
  c.where = where;
  c.begin = event_time();
  const char* what = load ? "TMA destination" : "TMA source";
  const unsigned alignment = c.map.swizzle ? c.map.swizzle * 8 : 128;
  if (c.shared % alignment)
    stop("misuse", "tma-alignment",
         text("%s %s is not %u-byte aligned%s.", what, describe_shared(c.home, c.shared).c_str(), alignment,
              c.map.swizzle ? text(", as the %u-byte swizzle needs", c.map.swizzle).c_str() : ""),
         where);
  check_shared_bounds(c.home, c.shared, c.bytes(), what, where);
  if (load && c.home->holds_barrier(c.shared, c.bytes()))
    stop("misuse", "tma-over-mbarrier",
         text("The %s would overwrite an mbarrier: the box needs %u bytes.", describe(c).c_str(), c.bytes()), where);
  spend(20);
  double& engine = c.home->copy_engine_free;
  engine = std::max(engine, machine.now) + c.bytes() / BYTES_PER_CYCLE;
  c.end = engine + LATENCY;
  return c;
}

void shadow_global(const Copy& c, const Actor& actor, bool write) {
  GlobalArray* array = find_global((const void*)c.map.base);
  if (!array || !array->shadow) return;
  const Memory memory{nullptr, array->base, array->name.c_str()};
  for (unsigned r = 0; r < c.map.box_rows; ++r) {
    long first, last;
    inside(c, r, &first, &last);
    if (last <= first) continue;
    const size_t offset = (size_t)(global_row(c, r) - array->base + first * c.map.element_bytes),
                 bytes = (size_t)(last - first) * c.map.element_bytes;
    if (write) array->shadow->write(memory, offset, bytes, actor);
    else array->shadow->read(memory, offset, bytes, actor);
  }
}

}  // namespace

bool copies_in_flight() { return !copies.empty(); }

bool land_copy(bool whole) {
  if (copies.empty()) return false;
  size_t i = 0;
  if (machine.options.pick == Pick::TIMED) {
    for (size_t k = 1; k < copies.size(); ++k)
      if (copies[k].end < copies[i].end) i = k;
  } else if (!whole) {
    i = (size_t)(machine.random() % copies.size());
  }
  land(i, whole);
  return true;
}

double next_copy_time() {
  double t = NEVER;
  for (const Copy& c : copies) t = std::min(t, c.end);
  return t;
}

void check_copies_at_exit(Block* b) {
  for (size_t i = 0; i < copies.size();) {
    Copy& c = copies[i];
    const bool here = c.home == b || std::find(c.targets.begin(), c.targets.end(), b) != c.targets.end();
    if (!here) {
      ++i;
    } else if (c.load) {
      if (!known_finding("exit-before-load", place_of(c.where), 0))
        found("race", "exit-before-load",
              text("%s exits while a TMA %s (%s) is still in flight: it lands in shared memory that is no longer the block's. "
                   "Wait for every load before the last thread exits.",
                   name_of(b).c_str(), describe(c).c_str(), at(c.where).c_str()),
              place_of(c.where));
      copies.erase(copies.begin() + (long)i);
    } else {
      land(i, true);
    }
  }
}

void check_stores_at_exit(Thread* t) {
  if (t->stores_read_waited >= t->stores_issued || known_finding("exit-before-store", place_of(t->where), 0)) return;
  found("race", "exit-before-store",
        text("%s exits, but %u of its TMA stores were not waited for: they may still read shared memory. End with "
             "tma_store_commit and tma_store_wait_read<0>.",
             name_of(t).c_str(), t->stores_issued - t->stores_read_waited),
        place_of(t->where));
}

}  // namespace emu

using namespace emu;

void emu_tma_load(void* dst, const void* map, int x, int y, void* bar, int blocks, Where where) {
  Thread* t = machine.current;
  Copy c = new_copy(true, map, dst, x, y, where);
  c.barrier = emu_smem_address(bar, where);
  const size_t size = c.home->cluster->blocks.size();
  if (blocks >> size)
    stop("misuse", "multicast", text("The multicast mask 0x%x names blocks beyond the cluster's %zu.", blocks, size), where);
  for (Block* b : c.home->cluster->blocks)
    if (blocks ? blocks >> b->rank & 1 : b == c.home) c.targets.push_back(b);
  for (Block* b : c.targets) {
    Barrier* barrier = find_barrier(b, c.barrier);
    if (!barrier)
      stop("misuse", "mbarrier-not-initialised",
           text("TMA load: %s has no initialised mbarrier at %s.", name_of(b).c_str(), describe_shared(b, c.barrier).c_str()),
           where);
    if (!b->live) stop("misuse", "multicast", text("TMA multicast to %s, which has exited.", name_of(b).c_str()), where);
    check_barrier_published(b, barrier, where, "A TMA load");
    if (barrier->entity < 0) barrier->entity = async_index(b, c.barrier);
    if (!machine.options.checks) continue;
    copy_issued(t, b, barrier, where);
    if (b != c.home) {
      remote_access(t, b, where);
      barrier->releases.add_order(t->clock.seen.order);  // the copy comes after all that its issuer waited for
    }
    AsyncEntity& queue = b->async[(size_t)barrier->entity];
    queue.load = true;
    queue.where = where;
    const uint32_t clock = ++queue.issued;
    c.clocks.push_back(clock);
    const Actor actor{{async_entity(b, barrier->entity), clock}, t, true, true, Access::PLAIN, place_of(where)};
    machine.slots[b->slot].shadow->write(Memory{b, b->shared, ""}, c.shared, c.bytes(), actor);
    if (b == c.targets[0]) shadow_global(c, actor, false);
  }
  remember(text("%s issues TMA %s on %s (%s)", name_of(t).c_str(), describe(c).c_str(),
                find_barrier(c.home, c.barrier) ? find_barrier(c.home, c.barrier)->name.c_str() : "?", at(where).c_str()));
  copies.push_back(std::move(c));
  if (machine.options.pick != Pick::TIMED) suspend(Wait::YIELD, 0, 0, where);
}

void emu_tma_store(const void* map, const void* src, int x, int y, Where where) {
  Thread* t = machine.current;
  Copy c = new_copy(false, map, src, x, y, where);
  c.sequence = t->stores_issued++;
  c.buffer.resize(c.bytes());
  if (machine.options.checks) {
    Block* b = c.home;
    const int reads = async_index(b, 1ull << 32 | t->index), writes = async_index(b, 2ull << 32 | t->index);
    const Epoch read{async_entity(b, reads), ++b->async[(size_t)reads].issued},
        write{async_entity(b, writes), ++b->async[(size_t)writes].issued};
    t->store_reads.push_back(read);
    t->store_writes.push_back(write);
    machine.slots[b->slot].shadow->read(Memory{b, b->shared, ""}, c.shared, c.bytes(),
                                        Actor{read, t, true, true, Access::PLAIN, place_of(where)});
    shadow_global(c, Actor{write, t, true, true, Access::PLAIN, place_of(where)}, true);
  }
  remember(text("%s issues TMA %s (%s)", name_of(t).c_str(), describe(c).c_str(), at(where).c_str()));
  copies.push_back(std::move(c));
  if (machine.options.pick != Pick::TIMED) suspend(Wait::YIELD, 0, 0, where);
}

void emu_tma_store_commit(Where where) {
  Thread* t = machine.current;
  t->where = where;
  t->store_groups.push_back(t->stores_issued);
}

void emu_tma_store_wait(int groups, bool read_only, Where where) {
  Thread* t = machine.current;
  t->where = where;
  const size_t n = t->store_groups.size();
  const unsigned needed = n > (size_t)groups ? t->store_groups[n - 1 - (size_t)groups] : 0;
  unsigned read, written;
  store_progress(t, &read, &written);
  if (needed > t->stores_read_waited) waits_alone(t, place_of(where));
  if ((read_only ? read : written) < needed) suspend(Wait::STORES, read_only, needed, where);
  t->stores_read_waited = std::max(t->stores_read_waited, needed);
  if (!machine.options.checks || !needed) return;
  t->clock.seen.raise(t->store_reads[needed - 1]);
  if (!read_only) t->clock.seen.raise(t->store_writes[needed - 1]);
}
