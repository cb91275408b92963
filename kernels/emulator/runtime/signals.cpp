#include "signals.h"

#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

#include "machine.h"
#include "memory.h"
#include "report.h"

namespace emu {
namespace {

volatile sig_atomic_t alarms;
volatile sig_atomic_t dying;

// One byte into the instruction: the launcher steps a byte back, as it must from a hook's return address.
const void* code_address(void* context) {
  const ucontext_t* c = (const ucontext_t*)context;
#if defined(__x86_64__)
  return (const char*)c->uc_mcontext.gregs[REG_RIP] + 1;
#else
  return (const char*)c->uc_mcontext.pc + 1;
#endif
}

// The first alarm asks the scheduler (or the next watched access) to stop; if a second passes, the kernel computes without
// ever coming back, and only the place can be told.
void on_alarm(int, siginfo_t*, void* context) {
  if (++alarms == 1 || dying) return;
  dying = 1;
  if (!machine.current) stop_timeout();
  stop_at_code("timeout", "endless-loop",
               text("The launch did not end within %g s: %s is in a loop that never waits for anything.",
                    machine.options.timeout, name_of(machine.current).c_str()),
               code_address(context));
}

void on_crash(int signal, siginfo_t* info, void* context) {
  if (dying) _exit(70);
  dying = 1;
  const void* pc = code_address(context);
  const char* address = (const char*)info->si_addr;
  Thread* t = machine.current;
  if (!t)
    stop_at_code(
        "crash", "emulator",
        text("The emulator itself crashed (signal %d at %p). Please report this with the kernel.", signal, info->si_addr), pc);
  if (signal == SIGSEGV && t->stack.guards(address))
    stop_at_code("out_of_bounds", "stack-overflow",
                 text("%s ran over the end of its stack: too deep a recursion, or local arrays of more than 100 KB.",
                      name_of(t).c_str()),
                 pc);
  if (signal == SIGSEGV || signal == SIGBUS)
    stop_at_code("out_of_bounds", "out-of-bounds",
                 text("%s touches memory that is not its own: %s.", name_of(t).c_str(), describe_address(address).c_str()), pc);
  stop_at_code("crash", "signal", text("%s stopped with signal %d (%s).", name_of(t).c_str(), signal, strsignal(signal)), pc);
}

}  // namespace

bool timed_out() { return alarms != 0; }

void start_clock(double seconds) {
  static char stack[64 * 1024];
  stack_t alternate = {};
  alternate.ss_sp = stack;
  alternate.ss_size = sizeof stack;
  sigaltstack(&alternate, nullptr);
  struct sigaction action = {};
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  action.sa_sigaction = on_crash;
  for (int s : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT}) sigaction(s, &action, nullptr);
  action.sa_sigaction = on_alarm;
  action.sa_flags |= SA_RESTART;
  sigaction(SIGALRM, &action, nullptr);
  itimerval timer = {};
  timer.it_value.tv_sec = (time_t)seconds;
  timer.it_value.tv_usec = (suseconds_t)((seconds - (double)(time_t)seconds) * 1e6);
  timer.it_interval.tv_sec = 1;
  setitimer(ITIMER_REAL, &timer, nullptr);
}

}  // namespace emu
