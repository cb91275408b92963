// Atomics and flags: the values, and the order that acquire, release and __threadfence give.
#include <string.h>

#include <map>

#include "convergence.h"
#include "memory.h"
#include "scheduler.h"

namespace emu {
namespace {

std::map<const void*, Known> published;  // what an acquire of this location sees

template <class T>
T combine(AtomicOp op, T old, T operand, T compare) {
  switch (op) {
    case LOAD: return old;
    case STORE:
    case EXCHANGE: return operand;
    case ADD: return (T)(old + operand);
    case MAX: return old < operand ? operand : old;
    case MIN: return operand < old ? operand : old;
    case COMPARE_EXCHANGE: return old == compare ? operand : old;
    case OR: return (T)((uint64_t)old | (uint64_t)operand);
    case AND: return (T)((uint64_t)old & (uint64_t)operand);
  }
  return old;
}

template <class T>
uint64_t apply(void* p, AtomicOp op, uint64_t operand_bits, uint64_t compare_bits) {
  T old, operand, compare;
  memcpy(&old, p, sizeof(T));
  memcpy(&operand, &operand_bits, sizeof(T));
  memcpy(&compare, &compare_bits, sizeof(T));
  const T now = combine(op, old, operand, compare);
  memcpy(p, &now, sizeof(T));
  uint64_t bits = 0;
  memcpy(&bits, &old, sizeof(T));
  return bits;
}

Known snapshot(Thread* t) {
  Accumulator a;
  a.add(t->clock);
  return a.freeze();
}

void order(Thread* t, const void* p, AtomicOp op, Order how) {
  if (!machine.options.checks) return;
  Known& location = published[p];
  const bool reads = op != STORE, writes = op != LOAD;
  if (reads) {
    if (how == ACQUIRE) t->clock.acquire(location);
    else t->pending_acquire.join(location);  // until a __threadfence
  }
  if (!writes) return;
  const Known release = how == RELEASE ? snapshot(t) : t->fence_release;
  if (!reads) location = Known();  // a read-modify-write continues what others released, a store does not
  location.join(release);
}

}  // namespace

void forget_published(const void* low, size_t bytes) {
  published.erase(published.lower_bound(low), published.lower_bound((const char*)low + bytes));
}

// Volatile accesses are relaxed: never a race among themselves, and no order without a fence.
void volatile_access(const void* p, unsigned bytes, bool write, Place place) {
  Thread* t = machine.current;
  if (!t || t->stack.holds(p)) return;
  special_access(p, bytes, write, place, Access::VOLATILE);
  order(t, p, write ? STORE : LOAD, RELAXED);
  if (write) progress();
  else poll(t->where);
}

}  // namespace emu

using namespace emu;

uint64_t emu_atomic(void* p, AtomicOp op, Number type, Order how, uint64_t operand, uint64_t compare, Where where) {
  Thread* t = machine.current;
  t->where = where;
  const unsigned bytes = type == I64 || type == U64 ? 8 : 4;
  if ((uintptr_t)p % bytes) emu_misaligned(p, bytes, where);
  if (!block_of_shared(p) && !find_global(p))
    stop("out_of_bounds", "out-of-bounds", text("%s: atomic access to %s.", name_of(t).c_str(), describe_address(p).c_str()),
         where);
  if (op == LOAD) {
    poll(where);
  } else {
    spend(40);
    progress();
    if (machine.options.pick != Pick::TIMED) suspend(Wait::YIELD, 0, 0, where);
  }
  special_access(p, bytes, op != LOAD, place_of(where), Access::ATOMIC);
  if (op == LOAD && how == ACQUIRE) polls(t, place_of(where));
  uint64_t old = 0;
  switch (type) {
    case I32: old = apply<int32_t>(p, op, operand, compare); break;
    case U32: old = apply<uint32_t>(p, op, operand, compare); break;
    case I64: old = apply<int64_t>(p, op, operand, compare); break;
    case U64: old = apply<uint64_t>(p, op, operand, compare); break;
    case F32: old = apply<float>(p, op, operand, compare); break;
  }
  order(t, p, op, how);
  return old;
}

void emu_threadfence(Where where) {
  Thread* t = machine.current;
  t->where = where;
  spend(100);
  if (!machine.options.checks) return;
  t->clock.acquire(t->pending_acquire);
  t->fence_release = snapshot(t);
}
