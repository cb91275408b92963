#include "fibers.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <vector>

#include "report.h"

// The callee-saved registers go on the old stack, its pointer to *save; the new stack is popped the same way.
#if defined(__x86_64__)
asm(R"(
.text
.globl emu_switch
.type emu_switch,@function
emu_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp,(%rdi)
  movq %rsi,%rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
)");
#elif defined(__aarch64__)
asm(R"(
.text
.globl emu_switch
.type emu_switch,@function
emu_switch:
  sub sp, sp, #160
  stp x19, x20, [sp]
  stp x21, x22, [sp, #16]
  stp x23, x24, [sp, #32]
  stp x25, x26, [sp, #48]
  stp x27, x28, [sp, #64]
  stp x29, x30, [sp, #80]
  stp d8, d9, [sp, #96]
  stp d10, d11, [sp, #112]
  stp d12, d13, [sp, #128]
  stp d14, d15, [sp, #144]
  mov x2, sp
  str x2, [x0]
  mov sp, x1
  ldp x19, x20, [sp]
  ldp x21, x22, [sp, #16]
  ldp x23, x24, [sp, #32]
  ldp x25, x26, [sp, #48]
  ldp x27, x28, [sp, #64]
  ldp x29, x30, [sp, #80]
  ldp d8, d9, [sp, #96]
  ldp d10, d11, [sp, #112]
  ldp d12, d13, [sp, #128]
  ldp d14, d15, [sp, #144]
  add sp, sp, #160
  ret
)");
#else
#error "the emulator knows how to switch stacks on x86-64 and aarch64"
#endif

namespace emu {
namespace {

constexpr size_t STACK_BYTES = 128 * 1024;  // touched pages only cost memory
std::vector<Stack> pool;

}  // namespace

Stack take_stack() {
  if (!pool.empty()) {
    Stack s = pool.back();
    pool.pop_back();
    return s;
  }
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  char* p =
      (char*)mmap(nullptr, STACK_BYTES + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED || mprotect(p, page, PROT_NONE))
    stop("misuse", "too-many-threads",
         "The system gives no more stacks for the emulator's threads. Use fewer SMs (sms=...) or smaller blocks.");
  return {p + page, p + page + STACK_BYTES};
}

void poison_stack(Stack stack) {
  constexpr size_t bytes = 4096;
  uint32_t* p = (uint32_t*)(stack.high - bytes);
  for (size_t i = 0; i < bytes / 4; ++i) p[i] = STACK_POISON;
}

void give_stack(Stack stack) { pool.push_back(stack); }

void* start_on(Stack stack, void (*entry)()) {
  void** sp = (void**)stack.high;
#if defined(__x86_64__)
  *--sp = nullptr;  // entry never returns; keeps the stack aligned as after a call
  *--sp = (void*)entry;
  for (int i = 0; i < 6; ++i) *--sp = nullptr;
#else
  sp -= 20;
  memset(sp, 0, 160);
  sp[11] = (void*)entry;  // x30
#endif
  return sp;
}

}  // namespace emu
