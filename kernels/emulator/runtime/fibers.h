// fibers.h - one stack a CUDA thread, with a guard page below it, and the switch between them.
#pragma once
#include <stddef.h>
#include <stdint.h>

extern "C" void emu_switch(void** save, void* resume);  // saves this context in *save and continues `resume`

namespace emu {

constexpr uint32_t STACK_POISON = 0xFFC0BAD5;  // a NaN that no arithmetic makes

struct Stack {
  char* low = nullptr;  // lowest usable byte; the page below it is the guard
  char* high = nullptr;
  bool holds(const void* p) const { return (const char*)p >= low && (const char*)p < high; }
  bool guards(const void* p) const { return (const char*)p < low && (const char*)p >= low - 65536; }
};

Stack take_stack();              // from the pool, or new; contents undefined
void poison_stack(Stack stack);  // its upper end, where a kernel's own variables lie: reads of what nobody wrote are seen
void give_stack(Stack stack);    // back to the pool
void* start_on(Stack stack, void (*entry)());  // a context that begins in entry

}  // namespace emu
