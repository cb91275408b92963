// foreign.h - calls of the compat headers only: what CUDA has and the course's own vocabulary does not. As api.h: C names, plain data.
#pragma once
#include "api.h"

namespace emu {
// One lane's part of mma.sync.m16n8: D[16, 8] = A[16, k] * B[k, 8] + C, in the fragments of the PTX manual.
struct Mma {
  int k;
  Element element;
  const uint32_t *a, *b;
  const void* c;
  void* d;
  bool half_c, half_d;  // two words of two fp16, otherwise four floats
};
// One lane's part of a tile that its warp loads or stores: n elements of `size` bytes at `offsets` of the tile.
struct Tile {
  void* memory;
  unsigned lines, line_bytes, pitch;  // the tile: bytes, a multiple of 16
  void* registers;
  const unsigned* offsets;
  int n, size;
};
}  // namespace emu

extern "C" {
void* emu_smem_pointer(uint32_t address, emu::Where);             // of emu_smem_address, or of emu_smem_map
uint32_t emu_smem_map(uint32_t address, uint32_t rank, emu::Where);  // mapa.shared::cluster.u32
bool emu_is_shared(const void* p);
uint32_t emu_activemask(emu::Where);
int emu_barrier_reduce(bool predicate, int how, emu::Where);  // __syncthreads_: 0 count, 1 and, 2 or
uint32_t emu_barrier_phase(const void* mbarrier);             // parity of the phase that is not complete
void emu_assert_failed(const char* text, emu::Where);
void emu_refuse(const char* sentence, emu::Where);  // the launch uses what is not modelled
// cp.async: the first `given` of the bytes are copied, zeros follow. alignment: what the instruction asks for, 1: anything.
void emu_async_copy(void* to, const void* from, unsigned bytes, unsigned given, unsigned alignment, emu::Where);
void emu_async_commit(emu::Where);
void emu_async_wait(int groups, emu::Where);  // all but the last `groups` committed ones; -1: all copies, committed or not
void emu_async_arrive(void* mbarrier, bool counted, emu::Where);  // when this thread's copies are over; counted: takes an arrival off
void emu_mma(const emu::Mma*, emu::Where);
void emu_tile(bool store, const emu::Tile*, emu::Where);
void emu_matrix_transposed(bool store, const void* row, uint32_t* registers, int matrices, emu::Where);  // .trans
uint32_t emu_sm();                                  // %smid
}
