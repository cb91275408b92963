// foreign.h - calls of the compat headers only: what CUDA has and the course's own vocabulary does not. As api.h: C names, plain data.
#pragma once
#include "api.h"

extern "C" {
void* emu_smem_pointer(uint32_t address, emu::Where);             // of emu_smem_address, or of emu_smem_map
uint32_t emu_smem_map(uint32_t address, uint32_t rank, emu::Where);  // mapa.shared::cluster.u32
bool emu_is_shared(const void* p);
uint32_t emu_activemask(emu::Where);
int emu_barrier_reduce(bool predicate, int how, emu::Where);  // __syncthreads_: 0 count, 1 and, 2 or
uint32_t emu_barrier_phase(const void* mbarrier);             // parity of the phase that is not complete
void emu_assert_failed(const char* text, emu::Where);
void emu_refuse(const char* sentence, emu::Where);  // the launch uses what is not modelled
uint32_t emu_sm();                                  // %smid
}
