#include "matrix.h"

#include <string.h>

#include "numbers.h"
#include "tma.h"

namespace emu {
namespace {

struct Descriptor {
  uint32_t start, leading, stride, span;  // bytes; span 0: no swizzle
  explicit Descriptor(uint64_t d)
      : start((uint32_t)(d & 0x3FFF) << 4),
        leading((uint32_t)(d >> 16 & 0x3FFF) << 4),
        stride((uint32_t)(d >> 32 & 0x3FFF) << 4) {
    const unsigned layout = d >> 62 & 3;
    span = layout == 1 ? 128 : layout == 2 ? 64 : layout == 3 ? 32 : 0;
  }
};

float decode(Element e, const char* p) {
  uint16_t h;
  uint32_t w;
  switch (e) {
    case BF16: memcpy(&h, p, 2); return bf16_to_float(h);
    case FP16: memcpy(&h, p, 2); return fp16_to_float(h);
    case E4M3: return e4m3_to_float((uint8_t)*p);
    case TF32: memcpy(&w, p, 4); return float_of(w & 0xFFFFE000u);  // the unit reads the upper 19 bits
  }
  return 0;
}

// One output of an FP8 instruction as the hardware adds it: the products and the accumulator are aligned to the largest
// exponent among them and cut KEPT_BITS below its leading bit; so is the sum. Fitted to the errors measured on an H200
// (figures/data/lesson07_accumulation_error.json): the mean relative errors agree within 3 % from K = 512 to 65536.
constexpr int KEPT_BITS = 13;
float reduced_sum(const float* products, int k, float acc) {
  int top = (int)(bits_of(acc) >> 23 & 255);
  for (int i = 0; i < k; ++i) {
    const int e = (int)(bits_of(products[i]) >> 23 & 255);
    if (e > top) top = e;
  }
  if (top == 255 || top <= KEPT_BITS) {  // infinities and NaN; nothing but zeros
    for (int i = 0; i < k; ++i) acc += products[i];
    return acc;
  }
  const float unit = float_of((uint32_t)(top - KEPT_BITS) << 23);
  const float inverse = 1.0f / unit;
  int sum = (int)(acc * inverse);  // conversion cuts towards zero
  for (int i = 0; i < k; ++i) sum += (int)(products[i] * inverse);
  const uint32_t magnitude = (uint32_t)(sum < 0 ? -sum : sum);
  const int extra = magnitude ? 31 - __builtin_clz(magnitude) - KEPT_BITS : 0;
  const uint32_t cut = extra > 0 ? magnitude >> extra << extra : magnitude;
  return (sum < 0 ? -(float)cut : (float)cut) * unit;
}

void read_operand(uint64_t descriptor, int major, Element e, int extent, const char* shared, float* out, bool transposed) {
  const int k = k_of(e), size = bytes_of(e);
  for (int i = 0; i < extent; ++i)
    for (int j = 0; j < k; ++j) {
      const int within = major == 0 ? j * size % 16 : i * size % 16;
      const float v = decode(e, shared + operand_chunk(descriptor, major, e, i, j) + within);
      out[transposed ? j * extent + i : i * k + j] = v;
    }
}

// K-major rows are 32 contiguous bytes in two chunks: the common case, read chunk by chunk.
void read_k_major(uint64_t descriptor, Element e, int extent, const char* shared, float* out, bool transposed) {
  const int k = k_of(e), size = bytes_of(e), per_chunk = 16 / size;
  for (int i = 0; i < extent; ++i)
    for (int half = 0; half < 2; ++half) {
      const char* p = shared + operand_chunk(descriptor, 0, e, i, half * per_chunk);
      for (int j = 0; j < per_chunk; ++j) {
        const int kk = half * per_chunk + j;
        out[transposed ? kk * extent + i : i * k + kk] = decode(e, p + j * size);
      }
    }
}

}  // namespace

int bytes_of(Element e) { return e == E4M3 ? 1 : e == TF32 ? 4 : 2; }
int k_of(Element e) { return 32 / bytes_of(e); }

uint32_t operand_chunk(uint64_t descriptor, int major, Element e, int mn, int k) {
  const Descriptor d(descriptor);
  const uint32_t size = (uint32_t)bytes_of(e), row = (uint32_t)mn, column = (uint32_t)k;
  uint32_t a;
  if (major == 0) {
    const uint32_t byte = column * size;
    if (!d.span) a = d.start + row / 8 * d.stride + row % 8 * 16 + byte / 16 * d.leading;
    else a = d.start + row / 8 * d.stride + row % 8 * d.span + byte;
  } else {
    const uint32_t byte = row * size;
    if (!d.span) a = d.start + byte / 16 * d.stride + column / 8 * d.leading + column % 8 * 16;
    else a = d.start + byte / d.span * d.leading + column / 8 * d.stride + column % 8 * d.span + byte % d.span;
  }
  return swizzle_address(a & ~15u, d.span);
}

void operand_chunks(uint64_t descriptor, int major, Element e, int extent, std::vector<uint32_t>& out) {
  const int k = k_of(e), per_chunk = 16 / bytes_of(e);
  out.clear();
  if (major == 0)
    for (int i = 0; i < extent; ++i)
      for (int j = 0; j < k; j += per_chunk) out.push_back(operand_chunk(descriptor, major, e, i, j));
  else
    for (int j = 0; j < k; ++j)
      for (int i = 0; i < extent; i += per_chunk) out.push_back(operand_chunk(descriptor, major, e, i, j));
}

void multiply(const Wgmma& op, const char* shared, const uint32_t* a_registers, float* acc, bool fp8_reduced) {
  static float a[64 * 32], b[32 * 256];  // A row-major, B with n innermost
  const Element e = op.element;
  const int k = k_of(e), n = op.n, size = bytes_of(e);
  if (a_registers) {
    for (int t = 0; t < 128; ++t)
      for (int r = 0; r < 4; ++r)
        for (int byte = 0; byte < 4; byte += size) {
          const int row = 16 * (t / 32) + t % 32 / 4 + 8 * (r % 2), column = (4 * (t % 4) + 16 * (r / 2) + byte) / size;
          a[row * k + column] = decode(e, (const char*)&a_registers[t * 4 + r] + byte);
        }
  } else if (op.major_a == 0) {
    read_k_major(op.a, e, 64, shared, a, false);
  } else {
    read_operand(op.a, 1, e, 64, shared, a, false);
  }
  if (op.major_b == 0) read_k_major(op.b, e, n, shared, b, true);
  else read_operand(op.b, 1, e, n, shared, b, true);

  if (e == E4M3 && fp8_reduced) {
    float products[32];
    for (int i = 0; i < 64; ++i)
      for (int j = 0; j < n; ++j) {
        for (int kk = 0; kk < k; ++kk) products[kk] = a[i * k + kk] * b[kk * n + j];
        acc[i * n + j] = reduced_sum(products, k, op.scale_d ? acc[i * n + j] : 0.0f);
      }
    return;
  }
  for (int i = 0; i < 64; ++i) {
    float sum[256] = {};
    for (int kk = 0; kk < k; ++kk) {
      const float x = a[i * k + kk];
      const float* row = b + kk * n;
      for (int j = 0; j < n; ++j) sum[j] += x * row[j];
    }
    float* out = acc + i * n;
    if (op.scale_d)
      for (int j = 0; j < n; ++j) out[j] += sum[j];
    else
      for (int j = 0; j < n; ++j) out[j] = sum[j];
    if (op.fp16_accumulators)
      for (int j = 0; j < n; ++j) out[j] = fp16_to_float(float_to_fp16(out[j]));
  }
}

}  // namespace emu
