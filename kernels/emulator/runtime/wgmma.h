// wgmma.h - asynchronous matrix instructions of a warpgroup: issue, groups, and accumulators in flight.
#pragma once
#include <deque>

#include "machine.h"
#include "report.h"

namespace emu {

// Accumulators that are in flight. The registers themselves hold NaN until a wait gives the values back.
struct AccumulatorTile {
  void* registers[128] = {};  // of each thread; null once given back
  int n = 0;
  bool fp16 = false;
  std::vector<float> value;  // 64 x n, row-major
  unsigned last[128] = {};   // the last operation on it that each thread issued
  unsigned holders = 0;      // threads not yet given back
  Where where{"", 0};
};

struct WgmmaOperation {
  Wgmma args;
  unsigned arrived = 0;  // threads that issued it
  AccumulatorTile* tile = nullptr;
  std::vector<uint32_t> a_registers;  // 128 x 4, or empty
  Where where{"", 0};
  double begin = 0, end = 0;  // nominal clock
};

struct Warpgroup {
  std::deque<WgmmaOperation> queue;  // front is number `done`
  unsigned done = 0;
  int registers = 0;     // a thread
  unsigned setting = 0;  // threads that have called the current setmaxnreg
  int setting_to = 0;
  bool setting_increase = false;
  std::vector<std::unique_ptr<AccumulatorTile>> tiles;
  std::vector<Thread*> waiting;
};

bool wgmmas_in_flight();
bool run_wgmma();          // one that is ready; false if there is none
double next_wgmma_time();  // timed policy
// An ordinary access to a thread's stack: does it touch accumulators or registers of A in flight?
void stack_access(Thread* t, const char* p, unsigned bytes, bool write, Place place);
inline bool watches_stack(const Thread* t) { return t->tiles_in_flight || t->wgmma_fenced || !t->fragments.empty(); }
void check_wgmma_at_exit(Thread* t);

}  // namespace emu
