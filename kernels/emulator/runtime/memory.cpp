#include "memory.h"

#include <string.h>
#include <sys/mman.h>

#include <algorithm>

#include "scheduler.h"
#include "wgmma.h"

namespace emu {
namespace {

constexpr size_t WINDOW = 256 * 1024;  // of addresses, an SM's shared memory
char* windows;
std::vector<GlobalArray> arrays;
std::vector<std::pair<const char*, const char*>> readable;

// The later of two accesses through memory at large, by the running thread.
Actor actor_of(Thread* t, Place place, Access how) { return Actor{t->clock.now(), t, true, false, how, place}; }

[[noreturn]] void out_of_bounds(const char* p, unsigned bytes, bool write, Place place) {
  const std::string message = text("%s %s %u bytes at %s", name_of(machine.current).c_str(), write ? "writes" : "reads", bytes,
                                   describe_address(p).c_str());
  found("out_of_bounds", "out-of-bounds", message + ", at " + at(place) + ".", place);
  finish();
}

void remote_place(Thread* t, Block* b, Place place) {
  if (!machine.options.checks) return;
  b->touched[t->clock.self] = {t->clock.own, place};
  if (t->started >> b->rank & 1) return;
  if (t->clock.seen.order)
    if (const Row* row = t->clock.seen.order->row(b->serial))
      for (size_t i = 0; i < row->clock.size() && i < b->threads.size(); ++i)
        if (row->clock[i] > b->clock_floor) {
          t->started |= 1u << b->rank;
          return;
        }
  if (known_finding("block-not-started", place, 0)) return;
  found("race", "block-not-started",
        text("%s at %s uses shared memory of %s, and nothing orders that after the start of that block: what it finds there "
             "may still be another "
             "block's. cluster_sync before the first remote access.",
             name_of(t).c_str(), at(place).c_str(), name_of(b).c_str()),
        place);
}

void touch(const void* address, unsigned bytes, bool write, Place place, const Actor& actor) {
  Thread* t = machine.current;
  const char* p = (const char*)address;
  if (t->stack.holds(p)) {
    if (machine.options.checks) stack_access(t, p, bytes, write, place);
    return;
  }
  const char* context = (const char*)static_cast<ThreadContext*>(t);
  if (p >= context && p < context + sizeof(ThreadContext)) return;
  t->time += 2;
  if (p >= windows && p < windows + machine.slots.size() * WINDOW) {
    const size_t slot = (size_t)(p - windows) / WINDOW;
    Block* b = machine.slots[slot].block.get();
    const unsigned offset = (unsigned)((size_t)(p - windows) % WINDOW);
    if (!b || b->cluster != t->home->cluster || offset + bytes > machine.shared_end) out_of_bounds(p, bytes, write, place);
    if (b != t->home) remote_place(t, b, place);
    if (b != t->home && !b->live && !known_finding("block-has-exited", place, 0))
      found("race", "block-has-exited",
            text("%s at %s uses shared memory of %s, which has exited. All blocks of the cluster must stay until the last "
                 "access (cluster_sync).",
                 name_of(t).c_str(), at(place).c_str(), name_of(b).c_str()),
            place);
    const SharedObject* object = nullptr;
    for (const SharedObject& o : machine.objects)
      if (offset >= o.offset && offset + bytes <= o.offset + o.bytes) object = &o;
    if (!object) out_of_bounds(p, bytes, write, place);
    if (!machine.options.checks) return;
    if (write && b->holds_barrier(offset, bytes) && find_barrier_text(b, offset).size() &&
        !known_finding("write-over-mbarrier", place, 0))
      found("misuse", "write-over-mbarrier",
            text("%s at %s writes over %s with an ordinary store.", name_of(t).c_str(), at(place).c_str(),
                 find_barrier_text(b, offset).c_str()),
            place);
    const Memory memory{b, b->shared, ""};
    if (write) machine.slots[slot].shadow->write(memory, offset, bytes, actor);
    else machine.slots[slot].shadow->read(memory, offset, bytes, actor);
    return;
  }
  if (GlobalArray* a = find_global(p)) {
    const size_t offset = (size_t)(p - a->base);
    if (offset + bytes > a->bytes) out_of_bounds(p, bytes, write, place);
    if (!a->shadow) return;
    const Memory memory{nullptr, a->base, a->name.c_str()};
    if (write) a->shadow->write(memory, offset, bytes, actor);
    else a->shadow->read(memory, offset, bytes, actor);
    return;
  }
  for (auto& r : readable)
    if (p >= r.first && p + bytes <= r.second) return;
  out_of_bounds(p, bytes, write, place);
}

}  // namespace

void reserve_shared_memory() {
  const size_t n = machine.slots.size();
  windows = (char*)mmap(nullptr, n * WINDOW, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (windows == MAP_FAILED) stop("misuse", "memory", "The system gives no memory for the blocks' shared memory.");
  for (size_t i = 0; i < n; ++i) {
    machine.slots[i].shared = windows + i * WINDOW;
    mprotect(machine.slots[i].shared, SHARED_BYTES, PROT_READ | PROT_WRITE);
    if (machine.options.checks) machine.slots[i].shadow.reset(new Shadow(SHARED_BYTES, false));
  }
}

void add_global_array(char* base, size_t bytes, const std::string& name) {
  arrays.push_back({base, bytes, name, nullptr});
  if (machine.options.checks) arrays.back().shadow.reset(new Shadow(bytes, true));
  std::sort(arrays.begin(), arrays.end(), [](const GlobalArray& a, const GlobalArray& b) { return a.base < b.base; });
}

void add_readable(const void* low, const void* high) { readable.push_back({(const char*)low, (const char*)high}); }

GlobalArray* find_global(const void* p) {
  static size_t last;  // accesses repeat
  if (last < arrays.size() && (const char*)p >= arrays[last].base && (const char*)p < arrays[last].base + arrays[last].bytes)
    return &arrays[last];
  for (GlobalArray& a : arrays)
    if ((const char*)p >= a.base && (const char*)p < a.base + a.bytes) {
      last = (size_t)(&a - arrays.data());
      return &a;
    }
  return nullptr;
}

Block* block_of_shared(const void* p) {
  if ((const char*)p < windows || (const char*)p >= windows + machine.slots.size() * WINDOW) return nullptr;
  return machine.slots[(size_t)((const char*)p - windows) / WINDOW].block.get();
}

void remote_access(Thread* t, Block* b, Where where) { remote_place(t, b, place_of(where)); }

void access(const void* p, unsigned bytes, bool write, Place place) { special_access(p, bytes, write, place, Access::PLAIN); }
void special_access(const void* p, unsigned bytes, bool write, Place place, Access how) {
  if (Thread* t = machine.current) touch(p, bytes, write, place, actor_of(t, place, how));
}
void access_as(const Actor& actor, const void* p, unsigned bytes, bool write) { touch(p, bytes, write, actor.place, actor); }

void check_shared_bounds(const Block* b, unsigned offset, unsigned bytes, const char* what, Where where) {
  for (const SharedObject& o : machine.objects)
    if (offset >= o.offset && offset + bytes <= o.offset + o.bytes) return;
  stop("out_of_bounds", "shared-memory",
       text("%s: %u bytes at %s reach outside it (the block's shared memory is 0x%x bytes).", what, bytes,
            describe_shared(b, offset).c_str(), machine.shared_end),
       where);
}

std::string find_barrier_text(const Block* b, unsigned offset) {
  for (auto& entry : b->mbarriers)
    if (offset < entry.first + 8 && offset + 8 > entry.first) return entry.second.name;
  return "";
}

std::string describe_shared(const Block* b, unsigned offset) {
  for (const SharedObject& o : machine.objects)
    if (offset >= o.offset && offset < o.offset + o.bytes) return text("%s + 0x%x", o.name.c_str(), offset - o.offset);
  return text("shared memory + 0x%x", offset);
}

std::string describe_address(const void* address) {
  const char* p = (const char*)address;
  if (Block* b = block_of_shared(p)) {
    const unsigned offset = (unsigned)((size_t)(p - windows) % WINDOW);
    const SharedObject* before = nullptr;
    for (const SharedObject& o : machine.objects)
      if (offset >= o.offset && (!before || o.offset > before->offset)) before = &o;
    const std::string whose = machine.current && b != machine.current->home ? " of " + name_of(b) : "";
    if (before && offset >= before->offset + before->bytes)
      return text("%u bytes past the end of %s (%u bytes)", offset - before->offset - before->bytes, before->name.c_str(),
                  before->bytes) +
             whose;
    return describe_shared(b, offset) + whose;
  }
  const GlobalArray* near = nullptr;
  long distance = 1 << 20;
  for (const GlobalArray& a : arrays) {
    const long d = p < a.base ? a.base - p : p >= a.base + a.bytes ? p - (a.base + a.bytes) : 0;
    if (d < distance) near = &a, distance = d;
  }
  if (near && p < near->base) return text("%ld bytes before the start of %s", (long)(near->base - p), near->name.c_str());
  if (near && p >= near->base + near->bytes)
    return text("%ld bytes past the end of %s (%zu bytes)", (long)(p - near->base - (long)near->bytes), near->name.c_str(),
                near->bytes);
  if (near) return text("byte %ld of %s", (long)(p - near->base), near->name.c_str());
  if ((uintptr_t)p < 65536) return text("address 0x%lx, a null pointer", (unsigned long)(uintptr_t)p);
  return text("address %p, in no array of the launch", p);
}

}  // namespace emu

using namespace emu;

uint32_t emu_smem_address(const void* p, Where where) {
  Thread* t = machine.current;
  if (block_of_shared(p) != t->home)
    stop("misuse", "not-shared",
         text("%s takes the shared-memory address of a pointer that is not in its block's shared memory: %s.",
              name_of(t).c_str(), describe_address(p).c_str()),
         where);
  return (uint32_t)((const char*)p - t->home->shared);
}

void* emu_shared_dynamic(unsigned bytes, Where where) {
  Block* b = machine.current->home;
  if (bytes > machine.options.shared_bytes)
    stop("misuse", "shared-memory-budget",
         text("The kernel's dynamic shared memory is %u bytes, the launch gave %u.", bytes, machine.options.shared_bytes),
         where);
  return b->shared;
}

void* emu_shared_static(const void* key, unsigned bytes, unsigned alignment, const char* name, Where where) {
  const Block* b = machine.current->home;
  auto it = machine.statics.find(key);
  if (it != machine.statics.end()) return b->shared + it->second;
  const unsigned gap = machine.objects.empty() ? 0 : 16;  // so that running over one array's end does not hit the next
  const unsigned offset = (machine.shared_end + gap + alignment - 1) / alignment * alignment;
  if (offset + bytes > SHARED_BYTES)
    stop(
        "misuse", "shared-memory-budget",
        text("The block's shared memory would be %u bytes with `%s`; a block may have %u.", offset + bytes, name, SHARED_BYTES),
        where);
  machine.shared_end = offset + bytes;
  machine.objects.push_back({offset, bytes, text("`%s`", name)});
  machine.statics[key] = offset;
  return b->shared + offset;
}

void* emu_cluster_map(const void* p, uint32_t rank, Where where) {
  Thread* t = machine.current;
  Cluster* c = t->home->cluster;
  const uint32_t offset = emu_smem_address(p, where);
  if (rank >= c->blocks.size())
    stop("misuse", "cluster-rank", text("cluster_map to block %u of a cluster of %zu.", rank, c->blocks.size()), where);
  return c->blocks[rank]->shared + offset;
}

void emu_access(const void* p, unsigned bytes, bool write, Where where) {
  if (machine.current) machine.current->where = where;
  access(p, bytes, write, place_of(where));
}

void emu_misaligned(const void* p, unsigned alignment, Where where) {
  stop("misuse", "misaligned",
       text("%s accesses %s, which is not a multiple of %u bytes.", name_of(machine.current).c_str(),
            describe_address(p).c_str(), alignment),
       where);
}

void emu_yield(Where where) { poll(where); }
void emu_trap(Where where) { stop("misuse", "trap", text("%s executed __trap().", name_of(machine.current).c_str()), where); }
long long emu_clock() {
  spend(10);
  if (machine.options.pick != Pick::TIMED)
    suspend(Wait::YIELD, 0, 0, machine.current->where);  // time passes for who waits for it
  return (long long)event_time();
}
