// cuda_wmma.h - <mma.h>: nvcuda::wmma for half, bfloat16 and TF32, on mma.sync. A fragment holds each element once, where mma.sync
// m16n8 has it; a GPU's fragments of A and B may hold elements twice.
#pragma once
#include "cuda_small_floats.h"

namespace nvcuda {
namespace wmma {
enum layout_t { mem_row_major, mem_col_major };
struct matrix_a {};
struct matrix_b {};
struct accumulator {};
struct row_major {};
struct col_major {};
namespace precision {
struct tf32 {};
}

template <class T> struct emu_element { static constexpr bool known = false; typedef T type; static constexpr emu::Element code = emu::FP16; };
template <> struct emu_element<__half> { static constexpr bool known = true; typedef __half type; static constexpr emu::Element code = emu::FP16; };
template <> struct emu_element<__nv_bfloat16> { static constexpr bool known = true; typedef __nv_bfloat16 type; static constexpr emu::Element code = emu::BF16; };
template <> struct emu_element<precision::tf32> { static constexpr bool known = true; typedef float type; static constexpr emu::Element code = emu::TF32; };

template <class Use, int M, int N, int K, class T, class Layout = void> struct fragment {
  static constexpr bool sums = std::is_same_v<Use, accumulator>, tf32 = std::is_same_v<T, precision::tf32>;
  static_assert(M == 16 && N == 16 && (sums ? K == 16 || K == 8 : K == (tf32 ? 8 : 16)), "the emulator has wmma fragments of 16 x 16 x 16, and 16 x 16 x 8 for tf32");
  static_assert(sums ? std::is_same_v<T, float> || std::is_same_v<T, __half> : emu_element<T>::known,
                "the emulator has wmma for half, __nv_bfloat16 and precision::tf32, with sums in float or half");
  typedef typename emu_element<T>::type element_type;
  typedef element_type storage_element_type;
  static constexpr int num_storage_elements = sums ? 8 : 16 * K / 32, num_elements = num_storage_elements;
  alignas(16) element_type x[num_elements];
  // Where this lane's element i lies: (row, column) of the tile.
  static void place(int i, unsigned lane, int* row, int* column) {
    const int g = (int)lane / 4, t = (int)lane % 4, per = sums ? 2 : 4 / (int)sizeof(element_type), word = i / per, sub = i % per;
    if (sums) *row = g + 8 * (word % 2), *column = 8 * (word / 2) + 2 * t + sub;
    else if (std::is_same_v<Use, matrix_a>) *row = g + 8 * (word % 2), *column = per * (4 * (word / 2) + t) + sub;
    else *row = per * (4 * (word % 2) + t) + sub, *column = 8 * (word / 2) + g;
  }
};
#define EMU_WMMA template <class Use, int M, int N, int K, class T, class Layout> __attribute__((no_sanitize("thread"))) inline void
EMU_WMMA fill_fragment(fragment<Use, M, N, K, T, Layout>& f, float v) {
  for (int i = 0; i < f.num_elements; ++i) f.x[i] = v;
}
EMU_WMMA emu_move(bool store, fragment<Use, M, N, K, T, Layout>& f, void* memory, unsigned pitch, bool rows, emu::Where where) {
  typedef fragment<Use, M, N, K, T, Layout> F;
  constexpr unsigned size = sizeof(typename F::element_type), height = std::is_same_v<Use, matrix_b> ? K : 16, width = std::is_same_v<Use, matrix_a> ? K : 16;
  if (pitch > 1u << 20) emu_refuse("wmma: a leading dimension of more than 1,048,576 elements is not modelled.", where);
  unsigned offsets[F::num_elements];
  for (int i = 0; i < F::num_elements; ++i) {
    int row, column;
    F::place(i, emu_lane(), &row, &column);
    offsets[i] = rows ? row * pitch * size + column * size : column * pitch * size + row * size;
  }
  const emu::Tile tile = {memory, rows ? height : width, (rows ? width : height) * size, pitch * size, f.x, offsets, F::num_elements, (int)size};
  emu_tile(store, &tile, where);
}
EMU_WMMA load_matrix_sync(fragment<Use, M, N, K, T, Layout>& f, const void* p, unsigned pitch, EMU_WHERE) {
  static_assert(!std::is_same_v<Layout, void>, "load_matrix_sync of an accumulator takes its layout: mem_row_major or mem_col_major");
  emu_move(false, f, (void*)p, pitch, std::is_same_v<Layout, row_major>, EMU_HERE);
}
EMU_WMMA load_matrix_sync(fragment<Use, M, N, K, T, Layout>& f, const void* p, unsigned pitch, layout_t layout, EMU_WHERE) {
  emu_move(false, f, (void*)p, pitch, layout == mem_row_major, EMU_HERE);
}
EMU_WMMA store_matrix_sync(void* p, const fragment<Use, M, N, K, T, Layout>& f, unsigned pitch, layout_t layout, EMU_WHERE) {
  emu_move(true, (fragment<Use, M, N, K, T, Layout>&)f, p, pitch, layout == mem_row_major, EMU_HERE);
}
// D = A * B + C: two mma.sync of 8 columns.
template <int M, int N, int K, class T, class TA, class TB, class TC, class LA, class LB>
inline void mma_sync(fragment<accumulator, M, N, K, T>& d, const fragment<matrix_a, M, N, K, TA, LA>& a, const fragment<matrix_b, M, N, K, TB, LB>& b,
                     const fragment<accumulator, M, N, K, TC>& c, EMU_WHERE) {
  static_assert(std::is_same_v<TA, TB>, "wmma: A and B have one element type");
  for (int tile = 0; tile < 2; ++tile) {
    const emu::Mma op = {K, emu_element<TA>::code, (const uint32_t*)a.x, (const uint32_t*)b.x + 2 * tile, c.x + 4 * tile, d.x + 4 * tile, sizeof(TC) == 2, sizeof(T) == 2};
    emu_mma(&op, EMU_HERE);
  }
}
inline float __float_to_tf32(float v) {
  const uint32_t u = emu_bits<uint32_t>(v);
  return (u & 0x7F800000) == 0x7F800000 ? v : emu_bits<float>((u + 0x1000) & 0xFFFFE000u);  // to nearest, ties away
}
}  // namespace wmma
}  // namespace nvcuda
