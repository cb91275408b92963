// machine.h - the emulated device during one launch: threads, warps, blocks, clusters on SM slots, and the launch's options.
#pragma once
#include <stdint.h>

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "api.h"
#include "clocks.h"
#include "fibers.h"

namespace emu {

constexpr unsigned SHARED_BYTES = 227 * 1024;  // what a block may have on sm_90
constexpr unsigned REGISTERS_PER_SM = 64 * 1024;
constexpr double NEVER = 1e300;  // on the nominal clock

enum class Pick { ROUND_ROBIN, RANDOM, PCT, TIMED };  // who runs next
enum class When { EARLY, RANDOM, LATE, TIMED };       // when asynchronous work happens

struct Options {
  Dim3 grid{1, 1, 1}, block{1, 1, 1}, cluster{1, 1, 1};
  unsigned shared_bytes = 0, registers = 0, sms = 8;
  uint64_t seed = 0;
  Pick pick = Pick::RANDOM;
  When copies = When::RANDOM, mma = When::RANDOM;
  bool checks = true, trace = false, fp8_reduced = false;
  double timeout = 60;
};

enum class Wait { NONE, YIELD, MBARRIER, TRY, BARRIER, COLLECTIVE, WGMMA, REGISTERS, CLUSTER, STORES };

struct Barrier;
struct Block;

typedef uint64_t Place;  // report.h

struct StackWrite {
  const char* p;
  unsigned bytes;
  Place place;
};
struct Fragment {  // four words of A in a thread's registers, and what they held when the wgmma was issued
  const char* p;
  uint32_t words[4];
  unsigned number;  // of the operation
  Place place;
};

struct ElementCopy {  // a cp.async of one thread that has not landed
  char* to;
  const char* from;
  unsigned bytes, given;  // `given` are read, zeros follow
  unsigned number;        // among the thread's, from 1
  double end;             // nominal clock
};

struct Thread : ThreadContext {
  Block* home = nullptr;
  unsigned index = 0, warp = 0, lane = 0;
  Stack stack;
  void* context = nullptr;
  bool done = false;
  Wait wait = Wait::NONE;
  uint64_t object = 0, value = 0;  // what it waits for: meaning depends on `wait`
  Where where{"", 0};              // the last call into the emulator
  uint64_t result = 0;             // what the wake-up brought (collectives, try_wait)
  double time = 0;                 // nominal clock
  double wait_began = 0;
  Clock clock;
  Known pending_acquire, fence_release;  // relaxed atomics around __threadfence
  std::vector<uint32_t> init_fences;     // own clock at each, ascending
  // convergence.h: what this lane waited for since its warp was last together, and how many .aligned operations it has issued
  uint64_t path = 0;
  Place polled = 0;
  unsigned aligned = 0;
  uint32_t started = 0;  // blocks of the cluster, by rank, that are known to have started
  // wgmma: operations issued, and how many had been issued at each open commit
  unsigned wgmma_issued = 0, wgmma_waited = 0;
  std::vector<unsigned> wgmma_groups;
  bool wgmma_fenced = false;
  std::vector<StackWrite> since_fence;  // ordinary writes to the stack since the last wgmma_fence
  std::vector<Fragment> fragments;      // A operands in registers of wgmmas in flight
  unsigned tiles_in_flight = 0;
  // bulk stores: the same
  unsigned stores_issued = 0, stores_read_waited = 0;
  std::vector<unsigned> store_groups;
  std::vector<Epoch> store_reads, store_writes;  // the epochs of each store's two halves
  // cp.async: copies issued, how many had been issued at each commit, and those that have not landed
  unsigned element_copies_issued = 0, element_copies_waited = 0;
  std::vector<unsigned> element_groups;
  std::vector<ElementCopy> element_copies;
  unsigned multiplied = 0;  // mma.sync operations
  uint64_t cluster_generation = 0;
  std::pair<const Barrier*, unsigned> tried{nullptr, 0};  // the phase on which its last try_wait gave up
  unsigned phases_at_wait = 0;                            // of the mbarrier it waits for, when it began
};

struct AlignedOperation {  // a .sync.aligned instruction that some lanes of a warp have come to
  const char* what;
  Place place;
  uint64_t path;
  uint32_t lanes;
};

struct CollectiveState {
  uint32_t arrived = 0, mask = 0;
  Collective kind = SYNC_WARP;
  int width = 32;
  Where where{"", 0};
  uint64_t value[32];
  int argument[32];
};

struct MatrixOperands {  // of one mma.sync: the registers of its lanes
  uint32_t a[32][4], b[32][2];
};

struct Warp {
  uint32_t ready = 0;  // lanes that can run
  uint64_t priority = 0;
  std::vector<CollectiveState> collectives;  // open ones, told apart by their masks
  std::deque<AlignedOperation> aligned;      // the first has number aligned_done
  unsigned aligned_done = 0;
  std::unique_ptr<MatrixOperands[]> operands;  // of the last two mma.sync: a lane may be one ahead of another
};

struct BarrierLanes {  // those of one warp that have arrived at a named barrier
  uint32_t lanes = 0;
  Place place = 0;
};

struct NamedBarrier {
  unsigned arrived = 0, expected = 0;
  uint64_t generation = 0;
  double time = 0;
  Accumulator releases;
  Known released;
  std::vector<Thread*> waiting;
  std::map<const Warp*, BarrierLanes> warps;  // of this generation
};

struct PhaseWait {  // a wait for a phase, which nobody may overtake
  const Thread* thread;
  unsigned phase;           // phases over once the wait is, of all inits
  Epoch epoch, next_wgmma;  // of the wait; of the first wgmma that the thread issues after it
  Where where;
};

struct Barrier {  // what the emulator knows of an mbarrier besides the 8 bytes in shared memory
  std::string name;
  unsigned offset = 0;
  int entity = -1;         // index of its copies' entity, -1 before the first
  unsigned phases = 0;     // completed, of all inits
  unsigned begun_at = 0;   // phases when it was initialised last
  int phase_entity = -1;   // its clock: phases completed
  unsigned in_flight = 0;  // copies issued on the current phase that have not landed
  Epoch initialised;
  Where init_where{"", 0};
  const Thread* last_arriver = nullptr;
  Where last_where{"", 0};
  double time = 0;
  Accumulator releases, cluster_releases;        // what a wait sees, and what it sees as well if it acquires at cluster scope
  std::deque<std::pair<Known, Known>> released;  // of the last phases
  const Thread* completer =
      nullptr;  // knows by itself that `completed` phases are over: everybody who arrived did so before it
  unsigned completed = 0;
  std::vector<PhaseWait> waits;  // for the last phase that completed, or the next
  std::vector<Thread*> waiting;
};

struct AsyncEntity {  // a queue of copies: how many were issued, and which have landed
  bool load = false, elements = false;  // elements: the cp.async copies of one thread
  Where where{"", 0};                   // of the last
  uint32_t issued = 0, landed = 0;  // all up to `landed` have
  std::vector<uint32_t> landed_beyond;
};

struct Cluster {
  Dim3 first;  // index of its first block
  std::vector<Block*> blocks;
  unsigned live = 0;  // threads
  NamedBarrier barrier;
};

struct Warpgroup;  // wgmma.h
class Shadow;      // shadow.h

struct SharedObject {
  unsigned offset, bytes;
  std::string name;
};

struct Block {
  Dim3 index{0, 0, 0};
  unsigned rank = 0, slot = 0, serial = 0;
  uint32_t clock_floor = 0;  // clocks of earlier blocks of the same serial number (65,536 blocks ago) end here
  Cluster* cluster = nullptr;
  char* shared = nullptr;
  std::vector<Thread> threads;
  std::vector<Warp> warps;
  std::vector<std::unique_ptr<Warpgroup>> warpgroups;
  NamedBarrier barriers[16];
  std::map<unsigned, Barrier> mbarriers;  // by offset
  std::vector<AsyncEntity> async;
  std::map<uint64_t, int> async_of;  // key -> index into async
  unsigned live = 0;
  int free_registers = 0;
  std::vector<uint64_t> barrier_words;  // a bit for each 8 bytes that hold an mbarrier
  std::vector<Thread*> waiting_for_registers;
  double tensor_core_free = 0, copy_engine_free = 0;     // nominal clock
  Known at_exit;                                         // what the threads that have exited knew
  std::map<Entity, std::pair<uint32_t, Place>> touched;  // by threads of other blocks: the last clock and place of each
  Block();
  ~Block();
  bool holds_barrier(unsigned offset, unsigned bytes) const {
    for (unsigned w = offset / 8; w <= (offset + bytes - 1) / 8; ++w)
      if (barrier_words[w / 64] >> (w % 64) & 1) return true;
    return false;
  }
};

struct Slot {  // one SM
  std::unique_ptr<Block> block;
  std::unique_ptr<Shadow> shadow;
  char* shared = nullptr;
};

struct Machine {
  Options options;
  std::string kernel_name;
  const Kernel* kernel = nullptr;
  void** arguments = nullptr;
  bool capped = false;             // the kernel has __launch_bounds__
  const Bounds* bounds = nullptr;  // null: not known
  std::vector<Slot> slots;
  std::vector<Block*> block_of_serial;  // null: it has exited
  std::vector<Dim3> index_of_serial;    // for reports
  std::vector<uint32_t> floor_of_serial;
  std::vector<std::unique_ptr<Cluster>> clusters;  // resident, by slot group
  std::vector<Warp*> warps;                        // of resident blocks, in scheduling order
  std::vector<Block*> warp_block;
  // The layout of shared memory, the same in every block: static arrays get their place when the first thread meets them.
  std::vector<SharedObject> objects;
  std::map<const void*, unsigned> statics;  // key -> offset
  unsigned shared_end = 0;                  // first byte not owned
  Thread* current = nullptr;
  uint64_t steps = 0, switches = 0;
  uint64_t idle = 0, idle_rounds = 0;  // polls, and rounds of failed try_waits, since something last changed
  uint64_t random_state = 0;
  double now = 0;  // nominal clock of what happens now

  unsigned threads_per_block() const { return options.block.x * options.block.y * options.block.z; }
  unsigned cluster_size() const { return options.cluster.x * options.cluster.y * options.cluster.z; }
  uint64_t random() {  // splitmix64
    uint64_t z = random_state += 0x9E3779B97F4A7C15ull;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
  }
  bool one_in(unsigned n) { return random() % n == 0; }
};
extern Machine machine;

// The time of events: nominal cycles under the timed policy, otherwise scheduler steps.
inline double event_time() { return machine.options.pick == Pick::TIMED ? machine.now : (double)machine.steps; }

// Entities of a block.
inline Entity wgmma_entity(const Block* b, unsigned group) { return entity(b->serial, (unsigned)b->threads.size() + group); }
inline Entity async_entity(const Block* b, int i) {
  return entity(b->serial, (unsigned)(b->threads.size() + b->warpgroups.size()) + (unsigned)i);
}
// Clock of a warpgroup's n-th operation, from 0.
inline uint32_t wgmma_clock(const Block* b, unsigned n) { return b->clock_floor + n + 1; }
int async_index(Block* b, uint64_t key);                 // the entity for a barrier, its phases, or a storing thread
void async_landed(Block* b, int index, uint32_t clock);  // that copy has landed

// blocks.cpp
void prepare_slots();
bool place_clusters();         // fills free SMs; false when the grid is exhausted and nothing is resident
size_t blocks_not_started();   // they wait for a free SM
void thread_exits(Thread* t);  // a finished cluster leaves its SMs at the next place_clusters

}  // namespace emu
