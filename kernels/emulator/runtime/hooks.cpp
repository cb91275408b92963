// The calls that -fsanitize=thread puts before every memory access of an instrumented kernel. No sanitizer is linked: these
// are ours, and they watch bounds and order.
#include <string.h>

#include "memory.h"
#include "scheduler.h"
#include "wgmma.h"

namespace emu {
void volatile_access(const void* p, unsigned bytes, bool write, Place place);  // atomics.cpp

namespace {

void watched(const void* p, unsigned bytes, bool write, const void* pc) {
  Thread* t = machine.current;
  if (!t) return;
  if (t->stack.holds(p) && !watches_stack(t)) return;
  if (timed_out()) stop_timeout();
  access(p, bytes, write, place_of_code(pc));
  // Under random schedules another warp may run between any two accesses.
  const Pick pick = machine.options.pick;
  if ((pick == Pick::RANDOM || pick == Pick::PCT) && !t->stack.holds(p) && machine.one_in(64)) {
    progress();  // it computes: whoever polls for its result must wait
    suspend(Wait::YIELD, 0, 0, t->where);
  }
}

// The compiler counts on the alignment (it has other calls for accesses that may lack it).
inline void watched_aligned(const void* p, unsigned bytes, bool write, const void* pc) {
  if ((uintptr_t)p % bytes && machine.current)
    stop_at_code("misuse", "misaligned",
                 text("%s accesses %s, which is not a multiple of %u bytes.", name_of(machine.current).c_str(),
                      describe_address(p).c_str(), bytes),
                 pc);
  watched(p, bytes, write, pc);
}

}  // namespace
}  // namespace emu

#define PC __builtin_return_address(0)
#define WATCH(n)                                                                                                 \
  void __tsan_read##n(void* p) { emu::watched_aligned(p, n, false, PC); }                                        \
  void __tsan_write##n(void* p) { emu::watched_aligned(p, n, true, PC); }                                        \
  void __tsan_unaligned_read##n(void* p) { emu::watched(p, n, false, PC); }                                      \
  void __tsan_unaligned_write##n(void* p) { emu::watched(p, n, true, PC); }                                      \
  void __tsan_read_write##n(void* p) { emu::watched(p, n, false, PC), emu::watched(p, n, true, PC); }            \
  void __tsan_unaligned_read_write##n(void* p) { emu::watched(p, n, false, PC), emu::watched(p, n, true, PC); }  \
  void __tsan_volatile_read##n(void* p) { emu::volatile_access(p, n, false, emu::place_of_code(PC)); }           \
  void __tsan_volatile_write##n(void* p) { emu::volatile_access(p, n, true, emu::place_of_code(PC)); }           \
  void __tsan_unaligned_volatile_read##n(void* p) { emu::volatile_access(p, n, false, emu::place_of_code(PC)); } \
  void __tsan_unaligned_volatile_write##n(void* p) { emu::volatile_access(p, n, true, emu::place_of_code(PC)); }

extern "C" {
WATCH(1)
WATCH(2)
WATCH(4)
WATCH(8)
WATCH(16)
// What -fsanitize=alignment calls where a pointer is not a multiple of its type's alignment, with the place in the source.
struct UbsanTypeMismatch {
  emu::Where where;  // and a column, in what is padding here
  const void* type;
  unsigned char log_alignment, kind;
};
void __ubsan_handle_type_mismatch_v1(UbsanTypeMismatch* data, const void* p) {
  if (emu::machine.current) emu_misaligned(p, 1u << data->log_alignment, data->where);
}
void __ubsan_handle_type_mismatch_v1_abort(UbsanTypeMismatch* data, const void* p) { __ubsan_handle_type_mismatch_v1(data, p); }
// What -fsanitize=bounds calls where an index is outside its array, a thread's own as well as a shared one.
struct UbsanType {
  unsigned short kind, info;
  char name[1];
};
struct UbsanOutOfBounds {
  emu::Where where;
  const UbsanType *array, *index;
};
void __ubsan_handle_out_of_bounds(UbsanOutOfBounds* data, void* index) {
  if (!emu::machine.current) return;
  emu::stop("out_of_bounds", "array-index",
            emu::text("%s takes element %ld of an array of type %s.", emu::name_of(emu::machine.current).c_str(),
                      (long)(int)(intptr_t)index, data->array->name),
            data->where);
}
void __ubsan_handle_out_of_bounds_abort(UbsanOutOfBounds* data, void* index) { __ubsan_handle_out_of_bounds(data, index); }
void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_read_range(void* p, size_t n) { emu::watched(p, (unsigned)n, false, PC); }
void __tsan_write_range(void* p, size_t n) { emu::watched(p, (unsigned)n, true, PC); }

// Copies of whole structs: clang calls the first three, g++ the C functions (linked with --wrap).
void* __tsan_memcpy(void* d, const void* s, size_t n) {
  if (n) emu::watched(s, (unsigned)n, false, PC), emu::watched(d, (unsigned)n, true, PC);
  return memcpy(d, s, n);
}
void* __tsan_memmove(void* d, const void* s, size_t n) {
  if (n) emu::watched(s, (unsigned)n, false, PC), emu::watched(d, (unsigned)n, true, PC);
  return memmove(d, s, n);
}
void* __tsan_memset(void* d, int c, size_t n) {
  if (n) emu::watched(d, (unsigned)n, true, PC);
  return memset(d, c, n);
}
void* __wrap_memcpy(void* d, const void* s, size_t n) {
  if (n) emu::watched(s, (unsigned)n, false, PC), emu::watched(d, (unsigned)n, true, PC);
  return memcpy(d, s, n);
}
void* __wrap_memmove(void* d, const void* s, size_t n) {
  if (n) emu::watched(s, (unsigned)n, false, PC), emu::watched(d, (unsigned)n, true, PC);
  return memmove(d, s, n);
}
void* __wrap_memset(void* d, int c, size_t n) {
  if (n) emu::watched(d, (unsigned)n, true, PC);
  return memset(d, c, n);
}
}
