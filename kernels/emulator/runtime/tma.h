// tma.h - the copy engine: boxes of 2-D tensors to and from shared memory, landing piece by piece.
#pragma once
#include "machine.h"

namespace emu {

// The host's TensorMap: the launcher fills in the same 128 bytes (process.py).
struct HostTensorMap {
  uint64_t magic, base;
  uint64_t columns, rows, row_bytes;  // elements, elements, bytes
  uint32_t box_columns, box_rows, element_bytes, swizzle;
  uint64_t unused[9];
};
static_assert(sizeof(HostTensorMap) == 128, "as CUtensorMap");
constexpr uint64_t TENSOR_MAP_MAGIC = 0x70616D726F736E74ull;

inline uint32_t swizzle_address(uint32_t a, uint32_t span) {
  if (span == 128) return a ^ ((a >> 7 & 7) << 4);
  if (span == 64) return a ^ ((a >> 7 & 3) << 4);
  if (span == 32) return a ^ ((a >> 7 & 1) << 4);
  return a;
}

bool copies_in_flight();
bool land_copy(bool whole);  // some copy, a piece of it or all that is left; false if there is none
double next_copy_time();     // timed policy
void check_copies_at_exit(Block* b);
void check_stores_at_exit(Thread* t);

}  // namespace emu
