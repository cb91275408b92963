// Matrix operations of one warp: mma.sync on registers, and the tiles of nvcuda::wmma in memory.
#include <string.h>

#include "convergence.h"
#include "foreign.h"
#include "memory.h"
#include "numbers.h"
#include "scheduler.h"

using namespace emu;

namespace {

float element(const uint32_t* words, Element e, int sub) {
  const char* p = (const char*)words;
  uint16_t h;
  switch (e) {
    case BF16: memcpy(&h, p + 2 * sub, 2); return bf16_to_float(h);
    case FP16: memcpy(&h, p + 2 * sub, 2); return fp16_to_float(h);
    case E4M3: return e4m3_to_float((uint8_t)p[sub]);
    case TF32: return float_of(*words & 0xFFFFE000u);  // the unit reads the upper 19 bits
  }
  return 0;
}

}  // namespace

// Fragments: four lanes hold a row of A (a column of B), a word of it each, and then the next four words.
void emu_mma(const Mma* op, Where where) {
  Thread* t = machine.current;
  Warp& w = t->home->warps[t->warp];
  const int per_word = op->element == TF32 ? 1 : op->element == E4M3 ? 4 : 2, groups = op->k / (4 * per_word);
  aligned(t, "mma.sync", where);
  if (!w.operands) w.operands.reset(new MatrixOperands[2]);
  MatrixOperands& o = w.operands[t->multiplied++ % 2];
  memcpy(o.a[t->lane], op->a, (size_t)(2 * groups) * 4);
  memcpy(o.b[t->lane], op->b, (size_t)groups * 4);
  emu_collective(MATRIX, ~0u, 0, 0, 32, where);
  float out[4];
  for (int i = 0; i < 4; ++i) {
    const int half = i / 2, row = (int)t->lane / 4, column = 2 * ((int)t->lane % 4) + i % 2;
    uint16_t h;
    if (op->half_c) memcpy(&h, (const char*)op->c + 2 * i, 2);
    float sum = 0;
    for (int k = 0; k < op->k; ++k) {
      const int group = k / (4 * per_word), lane = k / per_word % 4, sub = k % per_word;
      sum += element(&o.a[row * 4 + lane][2 * group + half], op->element, sub) *
             element(&o.b[column * 4 + lane][group], op->element, sub);
    }
    out[i] = sum + (op->half_c ? fp16_to_float(h) : ((const float*)op->c)[i]);
  }
  for (int i = 0; i < 4; ++i) {
    const uint16_t h = float_to_fp16(out[i]);
    if (op->half_d) memcpy((char*)op->d + 2 * i, &h, 2);
    else memcpy((char*)op->d + 4 * i, &out[i], 4);
  }
}

// Which lane touches which bytes is not specified: all lanes must know what a load reads; of a store each lane writes some lines.
void emu_tile(bool store, const Tile* tile, Where where) {
  Thread* t = machine.current;
  t->where = where;
  char* base = (char*)tile->memory;
  if ((uintptr_t)base % 32) emu_misaligned(base, 32, where);
  if (tile->pitch % 16)
    stop("misuse", "matrix-pitch",
         text("wmma: the leading dimension is %u bytes; it must be a multiple of 16.", tile->pitch), where);
  aligned(t, store ? "store_matrix_sync" : "load_matrix_sync", where);
  emu_collective(MATRIX, ~0u, 0, 0, 32, where);
  static std::vector<const Thread*> lanes;
  lanes.clear();
  for (size_t i = t->warp * 32; i < t->home->threads.size() && i < t->warp * 32 + 32; ++i) lanes.push_back(&t->home->threads[i]);
  Actor actor{t->clock.now(), t, true, false, Access::PLAIN, place_of(where)};
  if (!store) actor.all = &lanes;
  const unsigned chunks = tile->line_bytes / 16;
  for (unsigned i = t->lane; i < tile->lines * chunks; i += 32)
    access_as(actor, base + i / chunks * tile->pitch + i % chunks * 16, 16, store);
  for (int i = 0; i < tile->n; ++i) {
    char *memory = base + tile->offsets[i], *registers = (char*)tile->registers + i * tile->size;
    if (store) memcpy(memory, registers, (size_t)tile->size);
    else memcpy(registers, memory, (size_t)tile->size);
  }
}
