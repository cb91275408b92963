// api.h - what a kernel compiled for the host calls. The boundary between a kernel's library and the emulator's runner:
// C names, plain data, no standard library, so that a kernel compiles fast and with any compiler.
#pragma once
#include <stdint.h>

namespace emu {

struct Where {
  const char* file;
  int line;
};  // a place in the .cu file
struct Dim3 {
  unsigned x, y, z;
};
struct ThreadContext {
  Dim3 thread, block, block_dim, grid_dim;
};

enum Element : int { BF16, FP16, E4M3, TF32 };

// One thread's part of a wgmma: D[64, n] = A * B + (scale_d ? D : 0).
struct Wgmma {
  void* d;  // this thread's accumulators: n / 2 floats, or n / 4 words of two fp16
  int n;
  Element element;
  bool fp16_accumulators;
  const uint32_t* a_registers;  // four words, or null: A is the descriptor a
  uint64_t a, b;                // shared-memory descriptors
  int major_a, major_b;         // 0 K-major, 1 MN-major
  int scale_d;
};

enum Collective : int { SYNC_WARP, SHUFFLE, SHUFFLE_XOR, SHUFFLE_DOWN, SHUFFLE_UP, BALLOT, ELECT, MATRIX };
enum AtomicOp : int { LOAD, STORE, ADD, MAX, MIN, EXCHANGE, COMPARE_EXCHANGE, OR, AND };
enum Number : int { I32, U32, I64, U64, F32 };
enum Order : int { RELAXED, ACQUIRE, RELEASE };

// One parameter of a kernel, as the launcher checks it against the arguments.
struct Parameter {
  char kind;
  unsigned bytes;
};  // kind: p pointer, c pointer to const, m TensorMap, f float, i integer, o other
// What a kernel's library exports for each entry: emu_kernel_<name>.
struct Kernel {
  void (*call)(void** arguments);
  const void* function;
  const Parameter* parameters;
  unsigned count;
  const void *capped_begin, *capped_end;  // functions with __launch_bounds__ lie here
};

// What stands before an entry's name: __launch_bounds__ and __cluster_dims__, zeros where there is none. emu_bounds_<name>.
struct Bounds {
  unsigned threads, blocks;
  Dim3 cluster;
};

}  // namespace emu

extern "C" {
extern emu::ThreadContext* emu_thread;  // the running CUDA thread

void* emu_shared_static(const void* key, unsigned bytes, unsigned alignment, const char* name, emu::Where);
void* emu_shared_dynamic(unsigned bytes, emu::Where);
uint32_t emu_smem_address(const void* p, emu::Where);

void emu_mbarrier_init(void* b, uint32_t count, const char* name, int index, emu::Where);
// rank -1: this block. publishes: a remote arrival releases at cluster scope what the thread wrote.
void emu_mbarrier_arrive(void* b, uint32_t arrivals, uint32_t expect_bytes, int rank, bool publishes, emu::Where);
void emu_mbarrier_complete_tx(void* b, uint32_t bytes, emu::Where);    // takes bytes off the transaction count, as a copy would
bool emu_mbarrier_try_wait(void* b, uint32_t parity, emu::Where);      // answers at once (test_wait)
bool emu_mbarrier_wait_a_while(void* b, uint32_t parity, emu::Where);  // may give up (try_wait)
void emu_mbarrier_wait(void* b, uint32_t parity, bool cluster, emu::Where);  // cluster: acquires at cluster scope

void emu_fence_mbarrier_init(emu::Where);
void emu_fence_proxy_async(bool global, emu::Where);
void emu_threadfence(emu::Where);

void emu_tma_load(void* dst, const void* map, int x, int y, void* bar, int blocks, emu::Where);  // blocks 0: this block
void emu_tma_store(const void* map, const void* src, int x, int y, emu::Where);
void emu_tma_store_commit(emu::Where);
void emu_tma_store_wait(int groups, bool read_only, emu::Where);

void emu_wgmma(const emu::Wgmma* op, emu::Where);
void emu_wgmma_fence(emu::Where);
void emu_wgmma_commit(emu::Where);
void emu_wgmma_wait(int groups, emu::Where);
void emu_wgmma_keep(const void* registers, unsigned bytes,
                    emu::Where);  // they are read and written here, as far as the compiler knows

void emu_setmaxnreg(int registers, bool increase, emu::Where);
void emu_named_barrier(int id, int threads, bool wait, emu::Where);  // threads 0: the whole block
uint32_t emu_cluster_rank();
uint32_t emu_cluster_size();
void emu_cluster_arrive(emu::Where);
void emu_cluster_wait(emu::Where);
void* emu_cluster_map(const void* p, uint32_t rank, emu::Where);

uint64_t emu_collective(emu::Collective kind, uint32_t mask, uint64_t value, int argument, int width, emu::Where);
void emu_matrix(bool store, const void* row, uint32_t* registers, int matrices, emu::Where);
uint64_t emu_atomic(void* p, emu::AtomicOp op, emu::Number type, emu::Order order, uint64_t operand, uint64_t compare,
                    emu::Where);

void emu_access(const void* p, unsigned bytes, bool write, emu::Where);  // instrumented builds: 128-bit accesses
void emu_misaligned(const void* p, unsigned alignment, emu::Where);
void emu_yield(emu::Where);
void emu_trap(emu::Where);
long long emu_clock();
}
