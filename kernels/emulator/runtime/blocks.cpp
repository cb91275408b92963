// Blocks come to free SMs, a cluster at a time, and leave them; the entities of their asynchronous copies.
#include <string.h>

#include <algorithm>

#include "barriers.h"
#include "convergence.h"
#include "element_copies.h"
#include "memory.h"
#include "scheduler.h"
#include "tma.h"
#include "trace.h"
#include "wgmma.h"

namespace emu {
namespace {

size_t next_cluster;  // of the grid, in order
size_t cluster_count;

Dim3 position(size_t linear, Dim3 extent) {
  return {(unsigned)(linear % extent.x), (unsigned)(linear / extent.x % extent.y), (unsigned)(linear / extent.x / extent.y)};
}

void rebuild_warp_list() {
  machine.warps.clear();
  machine.warp_block.clear();
  for (Slot& s : machine.slots)
    if (s.block)
      for (Warp& w : s.block->warps) machine.warps.push_back(&w), machine.warp_block.push_back(s.block.get());
}

unsigned next_serial;

void start_block(Slot& slot, unsigned slot_number, Cluster* cluster, unsigned rank) {
  const Options& o = machine.options;
  const unsigned n = machine.threads_per_block();
  slot.block.reset(new Block);
  Block* b = slot.block.get();
  const Dim3 inner = position(rank, o.cluster);
  b->index = {cluster->first.x + inner.x, cluster->first.y + inner.y, cluster->first.z + inner.z};
  b->rank = rank;
  b->slot = slot_number;
  b->serial = next_serial++ & 0xFFFF;
  if (machine.block_of_serial.size() <= b->serial) {
    machine.block_of_serial.resize(b->serial + 1);
    machine.index_of_serial.resize(b->serial + 1);
    machine.floor_of_serial.resize(b->serial + 1);
  }
  machine.block_of_serial[b->serial] = b;
  machine.index_of_serial[b->serial] = b->index;
  b->clock_floor = machine.floor_of_serial[b->serial];
  b->cluster = cluster;
  b->shared = slot.shared;
  memset(b->shared, 0xFF, SHARED_BYTES);  // undefined: NaN in every type
  if (slot.shadow) slot.shadow->forget();
  forget_published(b->shared, SHARED_BYTES);
  b->live = n;
  b->threads.resize(n);
  b->warps.resize((n + 31) / 32);
  for (unsigned g = 0; g < (n + 127) / 128; ++g) {
    b->warpgroups.emplace_back(new Warpgroup);
    b->warpgroups[g]->registers = (int)o.registers;
  }
  const uint32_t first = b->clock_floor + 1;
  for (unsigned i = 0; i < n; ++i) {
    Thread& t = b->threads[i];
    t.thread = position(i, o.block);
    t.block = b->index;
    t.block_dim = o.block;
    t.grid_dim = o.grid;
    t.home = b;
    t.index = i;
    t.warp = i / 32;
    t.lane = i % 32;
    t.time = machine.now;
    t.clock.self = entity(b->serial, i);
    t.clock.first = t.clock.own = first;
    t.stack = take_stack();
    if (o.checks) poison_stack(t.stack);
    t.context = start_on(t.stack, thread_main);
    b->warps[t.warp].ready |= 1u << t.lane;
  }
  for (Warp& w : b->warps) w.priority = (1ull << 32) + (machine.random() >> 32);
  cluster->blocks.push_back(b);
  cluster->live += n;
}

// Whatever still acts on the block's shared memory must be known, by its own threads, to be over when they exit.
void check_order_at_exit(const Block* b) {
  if (!machine.options.checks) return;
  auto over = [&](Epoch e) { return b->at_exit.order && b->at_exit.order->at(e.who) >= e.clock; };
  for (size_t i = 0; i < b->async.size(); ++i) {
    const AsyncEntity& e = b->async[i];
    if (!e.load || over({async_entity(b, (int)i), e.issued}) || known_finding("exit-before-load", place_of(e.where), 0))
      continue;
    found("race", "exit-before-load",
          text("%s may exit while a %s (%s) is still in flight: none of its threads has waited for it. It lands in shared "
               "memory that is no longer the block's. Wait for every %s before the last thread exits.",
               name_of(b).c_str(), e.elements ? "cp.async copy" : "TMA load", at(e.where).c_str(), e.elements ? "copy" : "load"),
          place_of(e.where));
  }
  for (const auto& touch : b->touched) {
    const Place place = touch.second.second;
    if (over({touch.first, touch.second.first}) || known_finding("exit-before-remote-access", place, 0)) continue;
    found("race", "exit-before-remote-access",
          text("%s may exit before %s uses its shared memory or barrier at %s: nothing orders the two. All blocks of the "
               "cluster must stay "
               "until the last remote access (cluster_sync before the end).",
               name_of(b).c_str(), name_of_entity(touch.first).c_str(), at(place).c_str()),
          place);
  }
}

void retire_block(Slot& slot) {
  Block* b = slot.block.get();
  check_order_at_exit(b);
  check_copies_at_exit(b);
  uint32_t& floor = machine.floor_of_serial[b->serial];
  for (Thread& t : b->threads) {
    floor = std::max(floor, t.clock.own);
    give_stack(t.stack);
  }
  for (const AsyncEntity& e : b->async) floor = std::max(floor, e.issued);
  for (auto& entry : b->mbarriers) floor = std::max(floor, b->clock_floor + entry.second.phases);
  for (auto& g : b->warpgroups) floor = std::max(floor, b->clock_floor + g->done);
  machine.block_of_serial[b->serial] = nullptr;
  slot.block.reset();
}

}  // namespace

Block::Block() : barrier_words(SHARED_BYTES / 8 / 64 + 1) {}
Block::~Block() {}

void prepare_slots() {
  const Options& o = machine.options;
  const unsigned size = machine.cluster_size();
  cluster_count = (size_t)o.grid.x * o.grid.y * o.grid.z / size;
  const unsigned groups = (unsigned)std::max<size_t>(1, std::min<size_t>(cluster_count, o.sms / size));
  machine.slots.resize(groups * size);
  machine.clusters.resize(groups);
  machine.shared_end = o.shared_bytes;
  if (o.shared_bytes) machine.objects.push_back({0, o.shared_bytes, "dynamic shared memory"});
  reserve_shared_memory();
  machine.random_state = o.seed * 0x9E3779B97F4A7C15ull + 12345;
}

size_t blocks_not_started() { return (cluster_count - next_cluster) * machine.cluster_size(); }

bool place_clusters() {
  const Options& o = machine.options;
  const unsigned size = machine.cluster_size();
  bool changed = false, resident = false;
  for (size_t g = 0; g < machine.clusters.size(); ++g) {
    std::unique_ptr<Cluster>& c = machine.clusters[g];
    if (c && c->live == 0) {
      for (unsigned r = 0; r < size; ++r) retire_block(machine.slots[g * size + r]);
      c.reset();
      changed = true;
    }
    if (!c && next_cluster < cluster_count) {
      const Dim3 extent = {o.grid.x / o.cluster.x, o.grid.y / o.cluster.y, o.grid.z / o.cluster.z};
      const Dim3 at = position(next_cluster++, extent);
      c.reset(new Cluster);
      c->first = {at.x * o.cluster.x, at.y * o.cluster.y, at.z * o.cluster.z};
      for (unsigned r = 0; r < size; ++r) start_block(machine.slots[g * size + r], (unsigned)g * size + r, c.get(), r);
      changed = true;
    }
    resident |= (bool)c;
  }
  if (changed) rebuild_warp_list();
  return resident;
}

void thread_exits(Thread* t) {
  check_wgmma_at_exit(t);
  check_aligned_at_exit(t);
  check_stores_at_exit(t);
  land_element_copies(t, t->element_copies_issued);
  t->done = true;
  Block* b = t->home;
  if (machine.options.checks) {
    b->at_exit.join(t->clock.seen);
    b->at_exit.raise_order(t->clock.now());
  }
  if (tracing() && t->lane == 0)
    trace(event_time(), event_time(), "exit", name_of(b) + text(" warp %u", t->warp), "", t->where);
  b->warps[t->warp].ready &= ~(1u << t->lane);
  --b->live;
  --b->cluster->live;
  barriers_without(t);
  progress();
}

int async_index(Block* b, uint64_t key) {
  auto it = b->async_of.find(key);
  if (it != b->async_of.end()) return it->second;
  const int i = (int)b->async.size();
  b->async.emplace_back();
  b->async[(size_t)i].issued = b->async[(size_t)i].landed = b->clock_floor;
  return b->async_of[key] = i;
}

void async_landed(Block* b, int index, uint32_t clock) {
  AsyncEntity& e = b->async[(size_t)index];
  e.landed_beyond.push_back(clock);
  for (bool more = true; more;) {
    more = false;
    for (size_t i = 0; i < e.landed_beyond.size(); ++i)
      if (e.landed_beyond[i] == e.landed + 1) {
        ++e.landed;
        e.landed_beyond.erase(e.landed_beyond.begin() + (long)i);
        more = true;
        break;
      }
  }
}

}  // namespace emu
