// matrix.h - what one wgmma computes: operands through descriptors, products, and the precision of the sum.
#pragma once
#include <stdint.h>

#include <vector>

#include "api.h"

namespace emu {

int k_of(Element e);  // 256 bits: 16, 8 or 32 elements
int bytes_of(Element e);
// Shared-memory address of the 16-byte chunk that holds element (mn, k).
uint32_t operand_chunk(uint64_t descriptor, int major, Element e, int mn, int k);
// All chunk addresses of an operand of `extent` rows (M or N).
void operand_chunks(uint64_t descriptor, int major, Element e, int extent, std::vector<uint32_t>& out);
// acc[64][n] = A * B + (scale_d ? acc : 0). shared: the block's memory; a_registers: 128 x 4 words or null.
void multiply(const Wgmma& op, const char* shared, const uint32_t* a_registers, float* acc, bool fp8_reduced);

}  // namespace emu
