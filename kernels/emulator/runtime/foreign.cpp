// What foreign CUDA code uses and the course's kernels do not: addresses of shared memory as numbers, __activemask, barriers with a vote,
// assert.
#include "foreign.h"

#include <string.h>

#include <map>

#include "memory.h"
#include "scheduler.h"

namespace emu {
namespace {

constexpr unsigned RANK_SHIFT = 24;  // an address in a block's window has fewer bits

// Lanes that have come to __activemask and wait until no other lane of their warp can come as well.
struct ActiveMask {
  Where where{"", 0};
  uint32_t arrived = 0, answered = 0, answer = 0;
};
std::map<const Warp*, std::map<std::pair<const char*, int>, ActiveMask>> active;

struct Votes {
  uint64_t generation = ~0ull;
  unsigned serial = 0, count = 0, voters = 0;
};
std::map<const Block*, Votes[2]> votes;

}  // namespace
}  // namespace emu

using namespace emu;

void* emu_smem_pointer(uint32_t address, Where where) {
  Thread* t = machine.current;
  const unsigned rank = address >> RANK_SHIFT;
  const uint32_t offset = address & ((1u << RANK_SHIFT) - 1);
  if (offset >= SHARED_BYTES || rank > t->home->cluster->blocks.size())
    stop("out_of_bounds", "shared-memory", text("%s: 0x%x is not an address in shared memory.", name_of(t).c_str(), address), where);
  return (rank ? t->home->cluster->blocks[rank - 1]->shared : t->home->shared) + offset;
}

uint32_t emu_smem_map(uint32_t address, uint32_t rank, Where where) {
  const size_t blocks = machine.current->home->cluster->blocks.size();
  if (rank >= blocks) stop("misuse", "cluster-rank", text("mapa to block %u of a cluster of %zu.", rank, blocks), where);
  return (address & ((1u << RANK_SHIFT) - 1)) | (rank + 1) << RANK_SHIFT;
}

bool emu_is_shared(const void* p) { return block_of_shared(p) != nullptr; }

uint32_t emu_activemask(Where where) {
  Thread* t = machine.current;
  Warp& w = t->home->warps[t->warp];
  const uint32_t bit = 1u << t->lane;
  ActiveMask& open = active[&w][{where.file, where.line}];
  while (open.answer && !(open.answer & bit)) suspend(Wait::YIELD, 0, 0, where);  // those before are still leaving
  if (!open.arrived) open = ActiveMask();
  open.arrived |= bit;
  // On a GPU the compiler decides which lanes are together. Here all that can still come do.
  while (!open.answer) {
    bool all = true;
    for (size_t i = t->warp * 32; i < t->home->threads.size() && i < t->warp * 32 + 32; ++i) {
      const Thread& other = t->home->threads[i];
      const bool here = open.arrived >> other.lane & 1;
      if (!here && !other.done && (other.wait == Wait::NONE || other.wait == Wait::YIELD)) all = false;
    }
    if (all) open.answer = open.arrived;
    else suspend(Wait::YIELD, 0, 0, where);
  }
  const uint32_t mask = open.answer;
  open.answered |= bit;
  if (open.answered == mask) open = ActiveMask();
  progress();
  return mask;
}

int emu_barrier_reduce(bool predicate, int how, Where where) {
  Block* b = machine.current->home;
  const uint64_t generation = b->barriers[0].generation;
  Votes& v = votes[b][generation & 1];
  if (v.generation != generation || v.serial != b->serial) v = Votes{generation, b->serial, 0, 0};
  v.count += predicate;
  ++v.voters;
  emu_named_barrier(0, 0, true, where);
  return how == 0 ? (int)v.count : how == 1 ? v.count == v.voters : v.count != 0;
}

uint32_t emu_barrier_phase(const void* mbarrier) { return (uint32_t)(*(const uint64_t*)mbarrier & 1); }

void emu_assert_failed(const char* condition, Where where) {
  stop("misuse", "assert", text("%s: the assertion `%s` does not hold.", name_of(machine.current).c_str(), condition), where);
}

void emu_refuse(const char* sentence, Where where) { stop("misuse", "not-modelled", sentence, where); }

uint32_t emu_sm() { return machine.current->home->slot; }
