// hopper_device_wgmma.cuh - the device half of the vocabulary: wgmma. Written by generate_wgmma.py; change that.
#pragma once

// By all 128 threads of a warpgroup, before the first wgmma and after ordinary accesses to accumulators or A registers.
HOPPER_FN void wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
// Closes a group of the warpgroup's wgmmas so far.
HOPPER_FN void wgmma_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
// Waits until at most N groups are unfinished. Before that, neither accumulators nor operands may be touched.
template <int N> HOPPER_FN void wgmma_wait() { asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory"); }
// Keeps the compiler from moving accesses to d across this point. No instruction.
template <int R> HOPPER_FN void wgmma_keep(float (&d)[R]) {
#pragma unroll
  for (int i = 0; i < R; ++i) asm volatile("" : "+f"(d[i])::"memory");
}

// D[64, N] = A[64, K] * B[K, N] + (scale_d ? D : 0), asynchronously, by all 128 threads of a warpgroup. K is 256 bits: 16 for
// bf16 and fp16, 8 for tf32, 32 for e4m3. A and B are descriptors of shared memory; tf32 and e4m3 must be K-major.
template <int N, class T, int MajorA = K_MAJOR, int MajorB = K_MAJOR> struct WgmmaSS;
// The same with A in registers: r[i] of lane l holds 4 bytes at row l / 4 (+8 for odd i), byte 4 * (l % 4) (+16 for i >= 2).
template <int N, class T, int MajorB = K_MAJOR> struct WgmmaRS;

template <int N, class T, int MajorA = 0, int MajorB = 0>
HOPPER_FN void wgmma_ss(float (&d)[N / 2], uint64_t a, uint64_t b, int scale_d = 1) {
  WgmmaSS<N, T, MajorA, MajorB>::run(d, a, b, scale_d);
}
template <int N, class T, int MajorB = 0>
HOPPER_FN void wgmma_rs(float (&d)[N / 2], const uint32_t (&a)[4], uint64_t b, int scale_d = 1) {
  WgmmaRS<N, T, MajorB>::run(d, a, b, scale_d);
}
// fp16 operands AND fp16 accumulators, two a register: register i holds columns 8 * (i / 2) + 2 * (t % 4), +1. For the lesson
// on accumulation error; products keep full precision, each instruction's sum is rounded to fp16.
template <int N> HOPPER_FN void wgmma_ss_fp16_accumulate(uint32_t (&d)[N / 4], uint64_t a, uint64_t b, int scale_d = 1);

// Register lists: HOPPER_R<n> names the first n, HOPPER_F<n>(d) and HOPPER_U<n>(d) bind them.
#define HOPPER_R2 "%0, %1"
#define HOPPER_F2(d) "+f"(d[0]), "+f"(d[1])
#define HOPPER_U2(d) "+r"(d[0]), "+r"(d[1])
#define HOPPER_R4 HOPPER_R2 ", " "%2, %3"
#define HOPPER_F4(d) HOPPER_F2(d), "+f"(d[2]), "+f"(d[3])
#define HOPPER_U4(d) HOPPER_U2(d), "+r"(d[2]), "+r"(d[3])
#define HOPPER_R6 HOPPER_R4 ", " "%4, %5"
#define HOPPER_F6(d) HOPPER_F4(d), "+f"(d[4]), "+f"(d[5])
#define HOPPER_U6(d) HOPPER_U4(d), "+r"(d[4]), "+r"(d[5])
#define HOPPER_R8 HOPPER_R6 ", " "%6, %7"
#define HOPPER_F8(d) HOPPER_F6(d), "+f"(d[6]), "+f"(d[7])
#define HOPPER_U8(d) HOPPER_U6(d), "+r"(d[6]), "+r"(d[7])
#define HOPPER_R12 HOPPER_R8 ", " "%8, %9, %10, %11"
#define HOPPER_F12(d) HOPPER_F8(d), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11])
#define HOPPER_U12(d) HOPPER_U8(d), "+r"(d[8]), "+r"(d[9]), "+r"(d[10]), "+r"(d[11])
#define HOPPER_R16 HOPPER_R12 ", " "%12, %13, %14, %15"
#define HOPPER_F16(d) HOPPER_F12(d), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15])
#define HOPPER_U16(d) HOPPER_U12(d), "+r"(d[12]), "+r"(d[13]), "+r"(d[14]), "+r"(d[15])
#define HOPPER_R20 HOPPER_R16 ", " "%16, %17, %18, %19"
#define HOPPER_F20(d) HOPPER_F16(d), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19])
#define HOPPER_U20(d) HOPPER_U16(d), "+r"(d[16]), "+r"(d[17]), "+r"(d[18]), "+r"(d[19])
#define HOPPER_R24 HOPPER_R20 ", " "%20, %21, %22, %23"
#define HOPPER_F24(d) HOPPER_F20(d), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23])
#define HOPPER_U24(d) HOPPER_U20(d), "+r"(d[20]), "+r"(d[21]), "+r"(d[22]), "+r"(d[23])
#define HOPPER_R28 HOPPER_R24 ", " "%24, %25, %26, %27"
#define HOPPER_F28(d) HOPPER_F24(d), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27])
#define HOPPER_U28(d) HOPPER_U24(d), "+r"(d[24]), "+r"(d[25]), "+r"(d[26]), "+r"(d[27])
#define HOPPER_R32 HOPPER_R28 ", " "%28, %29, %30, %31"
#define HOPPER_F32(d) HOPPER_F28(d), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
#define HOPPER_U32(d) HOPPER_U28(d), "+r"(d[28]), "+r"(d[29]), "+r"(d[30]), "+r"(d[31])
#define HOPPER_R40 HOPPER_R32 ", " "%32, %33, %34, %35, %36, %37, %38, %39"
#define HOPPER_F40(d) HOPPER_F32(d), "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39])
#define HOPPER_U40(d) HOPPER_U32(d), "+r"(d[32]), "+r"(d[33]), "+r"(d[34]), "+r"(d[35]), "+r"(d[36]), "+r"(d[37]), "+r"(d[38]), "+r"(d[39])
#define HOPPER_R48 HOPPER_R40 ", " "%40, %41, %42, %43, %44, %45, %46, %47"
#define HOPPER_F48(d) HOPPER_F40(d), "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47])
#define HOPPER_U48(d) HOPPER_U40(d), "+r"(d[40]), "+r"(d[41]), "+r"(d[42]), "+r"(d[43]), "+r"(d[44]), "+r"(d[45]), "+r"(d[46]), "+r"(d[47])
#define HOPPER_R56 HOPPER_R48 ", " "%48, %49, %50, %51, %52, %53, %54, %55"
#define HOPPER_F56(d) HOPPER_F48(d), "+f"(d[48]), "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55])
#define HOPPER_U56(d) HOPPER_U48(d), "+r"(d[48]), "+r"(d[49]), "+r"(d[50]), "+r"(d[51]), "+r"(d[52]), "+r"(d[53]), "+r"(d[54]), "+r"(d[55])
#define HOPPER_R64 HOPPER_R56 ", " "%56, %57, %58, %59, %60, %61, %62, %63"
#define HOPPER_F64(d) HOPPER_F56(d), "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63])
#define HOPPER_U64(d) HOPPER_U56(d), "+r"(d[56]), "+r"(d[57]), "+r"(d[58]), "+r"(d[59]), "+r"(d[60]), "+r"(d[61]), "+r"(d[62]), "+r"(d[63])
#define HOPPER_R80 HOPPER_R64 ", " "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79"
#define HOPPER_F80(d) HOPPER_F64(d), "+f"(d[64]), "+f"(d[65]), "+f"(d[66]), "+f"(d[67]), "+f"(d[68]), "+f"(d[69]), "+f"(d[70]), "+f"(d[71]), "+f"(d[72]), "+f"(d[73]), "+f"(d[74]), "+f"(d[75]), "+f"(d[76]), "+f"(d[77]), "+f"(d[78]), "+f"(d[79])
#define HOPPER_U80(d) HOPPER_U64(d), "+r"(d[64]), "+r"(d[65]), "+r"(d[66]), "+r"(d[67]), "+r"(d[68]), "+r"(d[69]), "+r"(d[70]), "+r"(d[71]), "+r"(d[72]), "+r"(d[73]), "+r"(d[74]), "+r"(d[75]), "+r"(d[76]), "+r"(d[77]), "+r"(d[78]), "+r"(d[79])
#define HOPPER_R96 HOPPER_R80 ", " "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95"
#define HOPPER_F96(d) HOPPER_F80(d), "+f"(d[80]), "+f"(d[81]), "+f"(d[82]), "+f"(d[83]), "+f"(d[84]), "+f"(d[85]), "+f"(d[86]), "+f"(d[87]), "+f"(d[88]), "+f"(d[89]), "+f"(d[90]), "+f"(d[91]), "+f"(d[92]), "+f"(d[93]), "+f"(d[94]), "+f"(d[95])
#define HOPPER_U96(d) HOPPER_U80(d), "+r"(d[80]), "+r"(d[81]), "+r"(d[82]), "+r"(d[83]), "+r"(d[84]), "+r"(d[85]), "+r"(d[86]), "+r"(d[87]), "+r"(d[88]), "+r"(d[89]), "+r"(d[90]), "+r"(d[91]), "+r"(d[92]), "+r"(d[93]), "+r"(d[94]), "+r"(d[95])
#define HOPPER_R112 HOPPER_R96 ", " "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111"
#define HOPPER_F112(d) HOPPER_F96(d), "+f"(d[96]), "+f"(d[97]), "+f"(d[98]), "+f"(d[99]), "+f"(d[100]), "+f"(d[101]), "+f"(d[102]), "+f"(d[103]), "+f"(d[104]), "+f"(d[105]), "+f"(d[106]), "+f"(d[107]), "+f"(d[108]), "+f"(d[109]), "+f"(d[110]), "+f"(d[111])
#define HOPPER_U112(d) HOPPER_U96(d), "+r"(d[96]), "+r"(d[97]), "+r"(d[98]), "+r"(d[99]), "+r"(d[100]), "+r"(d[101]), "+r"(d[102]), "+r"(d[103]), "+r"(d[104]), "+r"(d[105]), "+r"(d[106]), "+r"(d[107]), "+r"(d[108]), "+r"(d[109]), "+r"(d[110]), "+r"(d[111])
#define HOPPER_R128 HOPPER_R112 ", " "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"
#define HOPPER_F128(d) HOPPER_F112(d), "+f"(d[112]), "+f"(d[113]), "+f"(d[114]), "+f"(d[115]), "+f"(d[116]), "+f"(d[117]), "+f"(d[118]), "+f"(d[119]), "+f"(d[120]), "+f"(d[121]), "+f"(d[122]), "+f"(d[123]), "+f"(d[124]), "+f"(d[125]), "+f"(d[126]), "+f"(d[127])
#define HOPPER_U128(d) HOPPER_U112(d), "+r"(d[112]), "+r"(d[113]), "+r"(d[114]), "+r"(d[115]), "+r"(d[116]), "+r"(d[117]), "+r"(d[118]), "+r"(d[119]), "+r"(d[120]), "+r"(d[121]), "+r"(d[122]), "+r"(d[123]), "+r"(d[124]), "+r"(d[125]), "+r"(d[126]), "+r"(d[127])

template <int MajorA, int MajorB> struct WgmmaSS<8, bf16, MajorA, MajorB> {
  static HOPPER_FN void run(float (&d)[4], uint64_t a, uint64_t b, int scale_d) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %6, 0;\nwgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {" HOPPER_R4
                 "}, %4, %5, p, 1, 1, %7, %8;\n}" : HOPPER_F4(d) : "l"(a), "l"(b), "r"(scale_d), "n"(MajorA), "n"(MajorB));
  }
};
template <int MajorB> struct WgmmaRS<8, bf16, MajorB> {
  static HOPPER_FN void run(float (&d)[4], const uint32_t (&a)[4], uint64_t b, int scale_d) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %9, 0;\nwgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {" HOPPER_R4
                 "}, {%4, %5, %6, %7}, %8, p, 1, 1, %10;\n}"
                 : HOPPER_F4(d) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(scale_d), "n"(MajorB));
  }
};
template <int MajorA, int MajorB> struct WgmmaSS<16, bf16, MajorA, MajorB> {
  static HOPPER_FN void run(float (&d)[8], uint64_t a, uint64_t b, int scale_d) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %10, 0;\nwgmma.mma_async.sync.aligned.m64n16k16.f32.bf16.bf16 {" HOPPER_R8
                 "}, %8, %9, p, 1, 1, %11, %12;\n}" : HOPPER_F8(d) : "l"(a), "l"(b), "r"(scale_d), "n"(MajorA), "n"(MajorB));
  }
};
template <int MajorB> struct WgmmaRS<16, bf16, MajorB> {
  static HOPPER_FN void run(float (&d)[8], const uint32_t (&a)[4], uint64_t b, int scale_d) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %13, 0;\nwgmma.mma_async.sync.aligned.m64n16k16.f32.bf16.bf16 {" HOPPER_R8
                 "}, {%8, %9, %10, %11}, %12, p, 1, 1, %14;\n}"
                 : HOPPER_F8(d) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(scale_d), "n"(MajorB));
  }
};
template <int MajorA, int MajorB> struct WgmmaSS<24, bf16, MajorA, MajorB> {
  static HOPPER_FN void run(float (&d)[12], uint64_t a, uint64_t b, int scale_d) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %14, 0;\nwgmma.mma_async.sync.aligned.m64n24k16.f32.bf16.bf16 {" HOPPER_R12
                 "}, %12, %13, p, 1, 1, %15, %16;\n}" : HOPPER_F12(d) : "l"(a), "l"(b), "r"(scale_d), "n"(MajorA), "n"(MajorB));
  }
};
template <int MajorB> struct WgmmaRS<24, bf16, MajorB> {
  static HOPPER_FN void run(float (&d)[12], const uint32_t (&a)[4], uint64_t b, int scale_d) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %17, 0;\nwgmma.mma_async.sync.aligned.m64n24k16.f32.bf16.bf16 {" HOPPER_R12
                 "}, {%12, %13, %14, %15}, %16, p, 1, 1, %18;\n}"
                 : HOPPER_F12(d) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(scale_d), "n"(MajorB));
  }
};
template <int MajorA, int MajorB> struct WgmmaSS<32, bf16, MajorA, MajorB> {
  static HOPPER_FN void run(float (&d)[16], uint64_t a, uint64_t b, int scale_d) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %18, 0;\nwgmma.mma_async.sync.aligned.m64n32k16.f32.bf16.bf16 {" HOPPER_R16
                 "}, %16, %17, p, 1, 1, %19, %20;\n}" : HOPPER_F16(d) : "l"(a), "l"(b), "r"(scale_d), "n"(MajorA), "n"(MajorB));
  }
};
template <int MajorB> struct WgmmaRS<32, bf16, MajorB> {
  static HOPPER_FN void run(float (&d)[16], const uint32_t (&a)[4], uint64_t b, int scale_d) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %21, 0;\nwgmma.mma_async.sync.aligned.m64n32k16.f32.bf16.bf16 {" HOPPER_R16
                 "}, {%16, %17, %18, %19}, %20, p, 1, 1, %22;\n}"
                 : HOPPER_F16(d) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(scale_d), "n"(MajorB));
  }
};
template <int MajorA, int MajorB> struct WgmmaSS<48, bf16, MajorA, MajorB> {
  static HOPPER_FN void run(float (&d)[24], uint64_t a, uint64_t b, int scale_d) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %26, 0;\nwgmma.mma_async.sync.aligned.m64n48k16.f32.bf16.bf16 {" HOPPER_R24
                 "}, %24, %25, p, 1, 1, %27, %28;\n}" : HOPPER_F24(d) : "l"(a), "l"(b), "r"(scale_d), "n"(MajorA), "n"(MajorB));
  }
};
template <int MajorB> struct WgmmaRS<48, bf16, MajorB> {
  static HOPPER_FN void run(float (&d)[24], const uint32_t (&a)[4], uint64_t b, int scale_d) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %29, 0;\nwgmma.mma_async.sync.aligned.m64n48k16.f32.bf16.bf16 {" HOPPER_R24
                 "}, {%24, %25, %26, %27}, %28, p, 1, 1, %30;\n}"
                 : HOPPER_F24(d) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(scale_d), "n"(MajorB));
  }
};
template <int MajorA, int MajorB> struct WgmmaSS<64, bf16, MajorA, MajorB> {
  static HOPPER_FN void run(float (&d)[32], uint64_t a, uint64_t b, int scale_d) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %34, 0;\nwgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {" HOPPER_R32
                 "}, %32, %33, p, 1, 1, %35, %36;\n}" : HOPPER_F32(d) : "l"(a), "l"(b), "r"(scale_d), "n"(MajorA), "n"(MajorB));
  }
};
template <int MajorB> struct WgmmaRS<64, bf16, MajorB> {
  static HOPPER_FN void run(float (&d)[32], const uint32_t (&a)[4], uint64_t b, int scale_d) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %37, 0;\nwgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {" HOPPER_R32
                 "}, {%32, %33, %34, %35}, %36, p, 1, 1, %38;\n}"
                 : HOPPER_F32(d) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(scale_d), "n"(MajorB));
  }
};
template <int MajorA, int MajorB> struct WgmmaSS<80, bf16, MajorA, MajorB> {
  static HOPPER_FN void run(float (&d)[40], uint64_t a, uint64_t b, int scale_d) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %42, 0;\nwgmma.mma_async.sync.aligned.m64n80k16.f32.bf16.bf16 {" HOPPER_R40
                 "}, %40, %41, p, 1, 1, %43, %44;\n}" : HOPPER_F40(d) : "l"(a), "l"(b), "r"(scale_d), "n"(MajorA), "n"(MajorB));
  }
};
template <int MajorB> struct WgmmaRS<80, bf16, MajorB> {
  static HOPPER_FN void run(float (&d)[40], const uint32_t (&a)[4], uint64_t b, int scale_d) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %45, 0;\nwgmma.mma_async.sync.aligned.m64n80k16.f32.bf16.bf16 {" HOPPER_R40
                 "}, {%40, %41, %42, %43}, %44, p, 1, 1, %46;\n}"
                 : HOPPER_F40(d) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(scale_d), "n"(MajorB));
  }
};
template <int MajorA, int MajorB> struct WgmmaSS<96, bf16, MajorA, MajorB> {
  static HOPPER_FN void run(float (&d)[48], uint64_t a, uint64_t b, int scale_d) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %50, 0;\nwgmma.mma_async.sync.aligned.m64n96k16.f32.bf16.bf16 {" HOPPER_R48
                 "}, %48, %49, p, 1, 1, %51, %52;\n}" : HOPPER_F48(d) : "l"(a), "l"(b), "r"(scale_d), "n"(MajorA), "n"(MajorB));
  }
};
template <int MajorB> struct WgmmaRS<96, bf16, MajorB> {
  static HOPPER_FN void run(float (&d)[48], const uint32_t (&a)[4], uint64_t b, int scale_d) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %53, 0;\nwgmma.mma_async.sync.aligned.m64n96k16.f32.bf16.bf16 {" HOPPER_R48
                 "}, {%48, %49, %50, %51}, %52, p, 1, 1, %54;\n}"
                 : HOPPER_F48(d) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(scale_d), "n"(MajorB));
  }
};
template <int MajorA, int MajorB> struct WgmmaSS<112, bf16, MajorA, MajorB> {
  static HOPPER_FN void run(float (&d)[56], uint64_t a, uint64_t b, int scale_d) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %58, 0;\nwgmma.mma_async.sync.aligned.m64n112k16.f32.bf16.bf16 {" HOPPER_R56
                 "}, %56, %57, p, 1, 1, %59, %60;\n}" : HOPPER_F56(d) : "l"(a), "l"(b), "r"(scale_d), "n"(MajorA), "n"(MajorB));
  }
};
template <int MajorB> struct WgmmaRS<112, bf16, MajorB> {
  static HOPPER_FN void run(float (&d)[56], const uint32_t (&a)[4], uint64_t b, int scale_d) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %61, 0;\nwgmma.mma_async.sync.aligned.m64n112k16.f32.bf16.bf16 {" HOPPER_R56
                 "}, {%56, %57, %58, %59}, %60, p, 1, 1, %62;\n}"
                 : HOPPER_F56(d) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(scale_d), "n"(MajorB));
  }
};
template <int MajorA, int MajorB> struct WgmmaSS<128, bf16, MajorA, MajorB> {
  static HOPPER_FN void run(float (&d)[64], uint64_t a, uint64_t b, int scale_d) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %66, 0;\nwgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {" HOPPER_R64
                 "}, %64, %65, p, 1, 1, %67, %68;\n}" : HOPPER_F64(d) : "l"(a), "l"(b), "r"(scale_d), "n"(MajorA), "n"(MajorB));
  }
};
template <int MajorB> struct WgmmaRS<128, bf16, MajorB> {
  static HOPPER_FN void run(float (&d)[64], const uint32_t (&a)[4], uint64_t b, int scale_d) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %69, 0;\nwgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {" HOPPER_R64
                 "}, {%64, %65, %66, %67}, %68, p, 1, 1, %70;\n}"
                 : HOPPER_F64(d) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(scale_d), "n"(MajorB));
  }
};
template <int MajorA, int MajorB> struct WgmmaSS<160, bf16, MajorA, MajorB> {
  static HOPPER_FN void run(float (&d)[80], uint64_t a, uint64_t b, int scale_d) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %82, 0;\nwgmma.mma_async.sync.aligned.m64n160k16.f32.bf16.bf16 {" HOPPER_R80
                 "}, %80, %81, p, 1, 1, %83, %84;\n}" : HOPPER_F80(d) : "l"(a), "l"(b), "r"(scale_d), "n"(MajorA), "n"(MajorB));
  }
};
template <int MajorB> struct WgmmaRS<160, bf16, MajorB> {
  static HOPPER_FN void run(float (&d)[80], const uint32_t (&a)[4], uint64_t b, int scale_d) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %85, 0;\nwgmma.mma_async.sync.aligned.m64n160k16.f32.bf16.bf16 {" HOPPER_R80
                 "}, {%80, %81, %82, %83}, %84, p, 1, 1, %86;\n}"
                 : HOPPER_F80(d) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(scale_d), "n"(MajorB));
  }
};
template <int MajorA, int MajorB> struct WgmmaSS<192, bf16, MajorA, MajorB> {
  static HOPPER_FN void run(float (&d)[96], uint64_t a, uint64_t b, int scale_d) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %98, 0;\nwgmma.mma_async.sync.aligned.m64n192k16.f32.bf16.bf16 {" HOPPER_R96
                 "}, %96, %97, p, 1, 1, %99, %100;\n}" : HOPPER_F96(d) : "l"(a), "l"(b), "r"(scale_d), "n"(MajorA), "n"(MajorB));
  }
};
template <int MajorB> struct WgmmaRS<192, bf16, MajorB> {
  static HOPPER_FN void run(float (&d)[96], const uint32_t (&a)[4], uint64_t b, int scale_d) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %101, 0;\nwgmma.mma_async.sync.aligned.m64n192k16.f32.bf16.bf16 {" HOPPER_R96
                 "}, {%96, %97, %98, %99}, %100, p, 1, 1, %102;\n}"
                 : HOPPER_F96(d) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(scale_d), "n"(MajorB));
  }
};
template <int MajorA, int MajorB> struct WgmmaSS<224, bf16, MajorA, MajorB> {
  static HOPPER_FN void run(float (&d)[112], uint64_t a, uint64_t b, int scale_d) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %114, 0;\nwgmma.mma_async.sync.aligned.m64n224k16.f32.bf16.bf16 {" HOPPER_R112
                 "}, %112, %113, p, 1, 1, %115, %116;\n}" : HOPPER_F112(d) : "l"(a), "l"(b), "r"(scale_d), "n"(MajorA), "n"(MajorB));
  }
};
template <int MajorB> struct WgmmaRS<224, bf16, MajorB> {
  static HOPPER_FN void run(float (&d)[112], const uint32_t (&a)[4], uint64_t b, int scale_d) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %117, 0;\nwgmma.mma_async.sync.aligned.m64n224k16.f32.bf16.bf16 {" HOPPER_R112
                 "}, {%112, %113, %114, %115}, %116, p, 1, 1, %118;\n}"
                 : HOPPER_F112(d) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(scale_d), "n"(MajorB));
  }
};
template <int MajorA, int MajorB> struct WgmmaSS<256, bf16, MajorA, MajorB> {
  static HOPPER_FN void run(float (&d)[128], uint64_t a, uint64_t b, int scale_d) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %130, 0;\nwgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 {" HOPPER_R128
                 "}, %128, %129, p, 1, 1, %131, %132;\n}" : HOPPER_F128(d) : "l"(a), "l"(b), "r"(scale_d), "n"(MajorA), "n"(MajorB));
  }
};
template <int MajorB> struct WgmmaRS<256, bf16, MajorB> {
  static HOPPER_FN void run(float (&d)[128], const uint32_t (&a)[4], uint64_t b, int scale_d) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %133, 0;\nwgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 {" HOPPER_R128
                 "}, {%128, %129, %130, %131}, %132, p, 1, 1, %134;\n}"
                 : HOPPER_F128(d) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(scale_d), "n"(MajorB));
  }
};
template <int MajorA, int MajorB> struct WgmmaSS<8, fp16, MajorA, MajorB> {
  static HOPPER_FN void run(float (&d)[4], uint64_t a, uint64_t b, int scale_d) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %6, 0;\nwgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {" HOPPER_R4
                 "}, %4, %5, p, 1, 1, %7, %8;\n}" : HOPPER_F4(d) : "l"(a), "l"(b), "r"(scale_d), "n"(MajorA), "n"(MajorB));
  }
};
template <int MajorB> struct WgmmaRS<8, fp16, MajorB> {
  static HOPPER_FN void run(float (&d)[4], const uint32_t (&a)[4], uint64_t b, int scale_d) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %9, 0;\nwgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {" HOPPER_R4
                 "}, {%4, %5, %6, %7}, %8, p, 1, 1, %10;\n}"
                 : HOPPER_F4(d) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(scale_d), "n"(MajorB));
  }
};
template <int MajorA, int MajorB> struct WgmmaSS<16, fp16, MajorA, MajorB> {
  static HOPPER_FN void run(float (&d)[8], uint64_t a, uint64_t b, int scale_d) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %10, 0;\nwgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 {" HOPPER_R8
                 "}, %8, %9, p, 1, 1, %11, %12;\n}" : HOPPER_F8(d) : "l"(a), "l"(b), "r"(scale_d), "n"(MajorA), "n"(MajorB));
  }
};
template <int MajorB> struct WgmmaRS<16, fp16, MajorB> {
  static HOPPER_FN void run(float (&d)[8], const uint32_t (&a)[4], uint64_t b, int scale_d) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %13, 0;\nwgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 {" HOPPER_R8
                 "}, {%8, %9, %10, %11}, %12, p, 1, 1, %14;\n}"
                 : HOPPER_F8(d) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(scale_d), "n"(MajorB));
  }
};
template <int MajorA, int MajorB> struct WgmmaSS<24, fp16, MajorA, MajorB> {
  static HOPPER_FN void run(float (&d)[12], uint64_t a, uint64_t b, int scale_d) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %14, 0;\nwgmma.mma_async.sync.aligned.m64n24k16.f32.f16.f16 {" HOPPER_R12
                 "}, %12, %13, p, 1, 1, %15, %16;\n}" : HOPPER_F12(d) : "l"(a), "l"(b), "r"(scale_d), "n"(MajorA), "n"(MajorB));
  }
};
template <int MajorB> struct WgmmaRS<24, fp16, MajorB> {
  static HOPPER_FN void run(float (&d)[12], const uint32_t (&a)[4], uint64_t b, int scale_d) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %17, 0;\nwgmma.mma_async.sync.aligned.m64n24k16.f32.f16.f16 {" HOPPER_R12
                 "}, {%12, %13, %14, %15}, %16, p, 1, 1, %18;\n}"
                 : HOPPER_F12(d) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(scale_d), "n"(MajorB));
  }
};
template <int MajorA, int MajorB> struct WgmmaSS<32, fp16, MajorA, MajorB> {
  static HOPPER_FN void run(float (&d)[16], uint64_t a, uint64_t b, int scale_d) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %18, 0;\nwgmma.mma_async.sync.aligned.m64n32k16.f32.f16.f16 {" HOPPER_R16
                 "}, %16, %17, p, 1, 1, %19, %20;\n}" : HOPPER_F16(d) : "l"(a), "l"(b), "r"(scale_d), "n"(MajorA), "n"(MajorB));
  }
};
template <int MajorB> struct WgmmaRS<32, fp16, MajorB> {
  static HOPPER_FN void run(float (&d)[16], const uint32_t (&a)[4], uint64_t b, int scale_d) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %21, 0;\nwgmma.mma_async.sync.aligned.m64n32k16.f32.f16.f16 {" HOPPER_R16
                 "}, {%16, %17, %18, %19}, %20, p, 1, 1, %22;\n}"
                 : HOPPER_F16(d) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(scale_d), "n"(MajorB));
  }
};
template <int MajorA, int MajorB> struct WgmmaSS<48, fp16, MajorA, MajorB> {
  static HOPPER_FN void run(float (&d)[24], uint64_t a, uint64_t b, int scale_d) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %26, 0;\nwgmma.mma_async.sync.aligned.m64n48k16.f32.f16.f16 {" HOPPER_R24
                 "}, %24, %25, p, 1, 1, %27, %28;\n}" : HOPPER_F24(d) : "l"(a), "l"(b), "r"(scale_d), "n"(MajorA), "n"(MajorB));
  }
};
template <int MajorB> struct WgmmaRS<48, fp16, MajorB> {
  static HOPPER_FN void run(float (&d)[24], const uint32_t (&a)[4], uint64_t b, int scale_d) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %29, 0;\nwgmma.mma_async.sync.aligned.m64n48k16.f32.f16.f16 {" HOPPER_R24
                 "}, {%24, %25, %26, %27}, %28, p, 1, 1, %30;\n}"
                 : HOPPER_F24(d) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(scale_d), "n"(MajorB));
  }
};
template <int MajorA, int MajorB> struct WgmmaSS<64, fp16, MajorA, MajorB> {
  static HOPPER_FN void run(float (&d)[32], uint64_t a, uint64_t b, int scale_d) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %34, 0;\nwgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {" HOPPER_R32
                 "}, %32, %33, p, 1, 1, %35, %36;\n}" : HOPPER_F32(d) : "l"(a), "l"(b), "r"(scale_d), "n"(MajorA), "n"(MajorB));
  }
};
template <int MajorB> struct WgmmaRS<64, fp16, MajorB> {
  static HOPPER_FN void run(float (&d)[32], const uint32_t (&a)[4], uint64_t b, int scale_d) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %37, 0;\nwgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {" HOPPER_R32
                 "}, {%32, %33, %34, %35}, %36, p, 1, 1, %38;\n}"
                 : HOPPER_F32(d) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(scale_d), "n"(MajorB));
  }
};
template <int MajorA, int MajorB> struct WgmmaSS<80, fp16, MajorA, MajorB> {
  static HOPPER_FN void run(float (&d)[40], uint64_t a, uint64_t b, int scale_d) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %42, 0;\nwgmma.mma_async.sync.aligned.m64n80k16.f32.f16.f16 {" HOPPER_R40
                 "}, %40, %41, p, 1, 1, %43, %44;\n}" : HOPPER_F40(d) : "l"(a), "l"(b), "r"(scale_d), "n"(MajorA), "n"(MajorB));
  }
};
template <int MajorB> struct WgmmaRS<80, fp16, MajorB> {
  static HOPPER_FN void run(float (&d)[40], const uint32_t (&a)[4], uint64_t b, int scale_d) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %45, 0;\nwgmma.mma_async.sync.aligned.m64n80k16.f32.f16.f16 {" HOPPER_R40
                 "}, {%40, %41, %42, %43}, %44, p, 1, 1, %46;\n}"
                 : HOPPER_F40(d) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(scale_d), "n"(MajorB));
  }
};
template <int MajorA, int MajorB> struct WgmmaSS<96, fp16, MajorA, MajorB> {
  static HOPPER_FN void run(float (&d)[48], uint64_t a, uint64_t b, int scale_d) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %50, 0;\nwgmma.mma_async.sync.aligned.m64n96k16.f32.f16.f16 {" HOPPER_R48
                 "}, %48, %49, p, 1, 1, %51, %52;\n}" : HOPPER_F48(d) : "l"(a), "l"(b), "r"(scale_d), "n"(MajorA), "n"(MajorB));
  }
};
template <int MajorB> struct WgmmaRS<96, fp16, MajorB> {
  static HOPPER_FN void run(float (&d)[48], const uint32_t (&a)[4], uint64_t b, int scale_d) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %53, 0;\nwgmma.mma_async.sync.aligned.m64n96k16.f32.f16.f16 {" HOPPER_R48
                 "}, {%48, %49, %50, %51}, %52, p, 1, 1, %54;\n}"
                 : HOPPER_F48(d) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(scale_d), "n"(MajorB));
  }
};
template <int MajorA, int MajorB> struct WgmmaSS<112, fp16, MajorA, MajorB> {
  static HOPPER_FN void run(float (&d)[56], uint64_t a, uint64_t b, int scale_d) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %58, 0;\nwgmma.mma_async.sync.aligned.m64n112k16.f32.f16.f16 {" HOPPER_R56
                 "}, %56, %57, p, 1, 1, %59, %60;\n}" : HOPPER_F56(d) : "l"(a), "l"(b), "r"(scale_d), "n"(MajorA), "n"(MajorB));
  }
};
template <int MajorB> struct WgmmaRS<112, fp16, MajorB> {
  static HOPPER_FN void run(float (&d)[56], const uint32_t (&a)[4], uint64_t b, int scale_d) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %61, 0;\nwgmma.mma_async.sync.aligned.m64n112k16.f32.f16.f16 {" HOPPER_R56
                 "}, {%56, %57, %58, %59}, %60, p, 1, 1, %62;\n}"
                 : HOPPER_F56(d) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(scale_d), "n"(MajorB));
  }
};
template <int MajorA, int MajorB> struct WgmmaSS<128, fp16, MajorA, MajorB> {
  static HOPPER_FN void run(float (&d)[64], uint64_t a, uint64_t b, int scale_d) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %66, 0;\nwgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {" HOPPER_R64
                 "}, %64, %65, p, 1, 1, %67, %68;\n}" : HOPPER_F64(d) : "l"(a), "l"(b), "r"(scale_d), "n"(MajorA), "n"(MajorB));
  }
};
template <int MajorB> struct WgmmaRS<128, fp16, MajorB> {
  static HOPPER_FN void run(float (&d)[64], const uint32_t (&a)[4], uint64_t b, int scale_d) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %69, 0;\nwgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {" HOPPER_R64
                 "}, {%64, %65, %66, %67}, %68, p, 1, 1, %70;\n}"
                 : HOPPER_F64(d) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(scale_d), "n"(MajorB));
  }
};
template <int MajorA, int MajorB> struct WgmmaSS<160, fp16, MajorA, MajorB> {
  static HOPPER_FN void run(float (&d)[80], uint64_t a, uint64_t b, int scale_d) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %82, 0;\nwgmma.mma_async.sync.aligned.m64n160k16.f32.f16.f16 {" HOPPER_R80
                 "}, %80, %81, p, 1, 1, %83, %84;\n}" : HOPPER_F80(d) : "l"(a), "l"(b), "r"(scale_d), "n"(MajorA), "n"(MajorB));
  }
};
template <int MajorB> struct WgmmaRS<160, fp16, MajorB> {
  static HOPPER_FN void run(float (&d)[80], const uint32_t (&a)[4], uint64_t b, int scale_d) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %85, 0;\nwgmma.mma_async.sync.aligned.m64n160k16.f32.f16.f16 {" HOPPER_R80
                 "}, {%80, %81, %82, %83}, %84, p, 1, 1, %86;\n}"
                 : HOPPER_F80(d) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(scale_d), "n"(MajorB));
  }
};
template <int MajorA, int MajorB> struct WgmmaSS<192, fp16, MajorA, MajorB> {
  static HOPPER_FN void run(float (&d)[96], uint64_t a, uint64_t b, int scale_d) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %98, 0;\nwgmma.mma_async.sync.aligned.m64n192k16.f32.f16.f16 {" HOPPER_R96
                 "}, %96, %97, p, 1, 1, %99, %100;\n}" : HOPPER_F96(d) : "l"(a), "l"(b), "r"(scale_d), "n"(MajorA), "n"(MajorB));
  }
};
template <int MajorB> struct WgmmaRS<192, fp16, MajorB> {
  static HOPPER_FN void run(float (&d)[96], const uint32_t (&a)[4], uint64_t b, int scale_d) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %101, 0;\nwgmma.mma_async.sync.aligned.m64n192k16.f32.f16.f16 {" HOPPER_R96
                 "}, {%96, %97, %98, %99}, %100, p, 1, 1, %102;\n}"
                 : HOPPER_F96(d) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(scale_d), "n"(MajorB));
  }
};
template <int MajorA, int MajorB> struct WgmmaSS<224, fp16, MajorA, MajorB> {
  static HOPPER_FN void run(float (&d)[112], uint64_t a, uint64_t b, int scale_d) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %114, 0;\nwgmma.mma_async.sync.aligned.m64n224k16.f32.f16.f16 {" HOPPER_R112
                 "}, %112, %113, p, 1, 1, %115, %116;\n}" : HOPPER_F112(d) : "l"(a), "l"(b), "r"(scale_d), "n"(MajorA), "n"(MajorB));
  }
};
template <int MajorB> struct WgmmaRS<224, fp16, MajorB> {
  static HOPPER_FN void run(float (&d)[112], const uint32_t (&a)[4], uint64_t b, int scale_d) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %117, 0;\nwgmma.mma_async.sync.aligned.m64n224k16.f32.f16.f16 {" HOPPER_R112
                 "}, {%112, %113, %114, %115}, %116, p, 1, 1, %118;\n}"
                 : HOPPER_F112(d) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(scale_d), "n"(MajorB));
  }
};
template <int MajorA, int MajorB> struct WgmmaSS<256, fp16, MajorA, MajorB> {
  static HOPPER_FN void run(float (&d)[128], uint64_t a, uint64_t b, int scale_d) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %130, 0;\nwgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16 {" HOPPER_R128
                 "}, %128, %129, p, 1, 1, %131, %132;\n}" : HOPPER_F128(d) : "l"(a), "l"(b), "r"(scale_d), "n"(MajorA), "n"(MajorB));
  }
};
template <int MajorB> struct WgmmaRS<256, fp16, MajorB> {
  static HOPPER_FN void run(float (&d)[128], const uint32_t (&a)[4], uint64_t b, int scale_d) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %133, 0;\nwgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16 {" HOPPER_R128
                 "}, {%128, %129, %130, %131}, %132, p, 1, 1, %134;\n}"
                 : HOPPER_F128(d) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(scale_d), "n"(MajorB));
  }
};
template <> struct WgmmaSS<8, tf32> {
  static HOPPER_FN void run(float (&d)[4], uint64_t a, uint64_t b, int scale_d) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %6, 0;\nwgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 {" HOPPER_R4
                 "}, %4, %5, p, 1, 1;\n}" : HOPPER_F4(d) : "l"(a), "l"(b), "r"(scale_d));
  }
};
template <> struct WgmmaRS<8, tf32> {
  static HOPPER_FN void run(float (&d)[4], const uint32_t (&a)[4], uint64_t b, int scale_d) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %9, 0;\nwgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 {" HOPPER_R4
                 "}, {%4, %5, %6, %7}, %8, p, 1, 1;\n}"
                 : HOPPER_F4(d) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(scale_d));
  }
};
template <> struct WgmmaSS<16, tf32> {
  static HOPPER_FN void run(float (&d)[8], uint64_t a, uint64_t b, int scale_d) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %10, 0;\nwgmma.mma_async.sync.aligned.m64n16k8.f32.tf32.tf32 {" HOPPER_R8
                 "}, %8, %9, p, 1, 1;\n}" : HOPPER_F8(d) : "l"(a), "l"(b), "r"(scale_d));
  }
};
template <> struct WgmmaRS<16, tf32> {
  static HOPPER_FN void run(float (&d)[8], const uint32_t (&a)[4], uint64_t b, int scale_d) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %13, 0;\nwgmma.mma_async.sync.aligned.m64n16k8.f32.tf32.tf32 {" HOPPER_R8
                 "}, {%8, %9, %10, %11}, %12, p, 1, 1;\n}"
                 : HOPPER_F8(d) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(scale_d));
  }
};
template <> struct WgmmaSS<24, tf32> {
  static HOPPER_FN void run(float (&d)[12], uint64_t a, uint64_t b, int scale_d) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %14, 0;\nwgmma.mma_async.sync.aligned.m64n24k8.f32.tf32.tf32 {" HOPPER_R12
                 "}, %12, %13, p, 1, 1;\n}" : HOPPER_F12(d) : "l"(a), "l"(b), "r"(scale_d));
  }
};
template <> struct WgmmaRS<24, tf32> {
  static HOPPER_FN void run(float (&d)[12], const uint32_t (&a)[4], uint64_t b, int scale_d) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %17, 0;\nwgmma.mma_async.sync.aligned.m64n24k8.f32.tf32.tf32 {" HOPPER_R12
                 "}, {%12, %13, %14, %15}, %16, p, 1, 1;\n}"
                 : HOPPER_F12(d) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(scale_d));
  }
};
template <> struct WgmmaSS<32, tf32> {
  static HOPPER_FN void run(float (&d)[16], uint64_t a, uint64_t b, int scale_d) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %18, 0;\nwgmma.mma_async.sync.aligned.m64n32k8.f32.tf32.tf32 {" HOPPER_R16
                 "}, %16, %17, p, 1, 1;\n}" : HOPPER_F16(d) : "l"(a), "l"(b), "r"(scale_d));
  }
};
template <> struct WgmmaRS<32, tf32> {
  static HOPPER_FN void run(float (&d)[16], const uint32_t (&a)[4], uint64_t b, int scale_d) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %21, 0;\nwgmma.mma_async.sync.aligned.m64n32k8.f32.tf32.tf32 {" HOPPER_R16
                 "}, {%16, %17, %18, %19}, %20, p, 1, 1;\n}"
                 : HOPPER_F16(d) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(scale_d));
  }
};
template <> struct WgmmaSS<48, tf32> {
  static HOPPER_FN void run(float (&d)[24], uint64_t a, uint64_t b, int scale_d) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %26, 0;\nwgmma.mma_async.sync.aligned.m64n48k8.f32.tf32.tf32 {" HOPPER_R24
                 "}, %24, %25, p, 1, 1;\n}" : HOPPER_F24(d) : "l"(a), "l"(b), "r"(scale_d));
  }
};
template <> struct WgmmaRS<48, tf32> {
  static HOPPER_FN void run(float (&d)[24], const uint32_t (&a)[4], uint64_t b, int scale_d) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %29, 0;\nwgmma.mma_async.sync.aligned.m64n48k8.f32.tf32.tf32 {" HOPPER_R24
                 "}, {%24, %25, %26, %27}, %28, p, 1, 1;\n}"
                 : HOPPER_F24(d) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(scale_d));
  }
};
template <> struct WgmmaSS<64, tf32> {
  static HOPPER_FN void run(float (&d)[32], uint64_t a, uint64_t b, int scale_d) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %34, 0;\nwgmma.mma_async.sync.aligned.m64n64k8.f32.tf32.tf32 {" HOPPER_R32
                 "}, %32, %33, p, 1, 1;\n}" : HOPPER_F32(d) : "l"(a), "l"(b), "r"(scale_d));
  }
};
template <> struct WgmmaRS<64, tf32> {
  static HOPPER_FN void run(float (&d)[32], const uint32_t (&a)[4], uint64_t b, int scale_d) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %37, 0;\nwgmma.mma_async.sync.aligned.m64n64k8.f32.tf32.tf32 {" HOPPER_R32
                 "}, {%32, %33, %34, %35}, %36, p, 1, 1;\n}"
                 : HOPPER_F32(d) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(scale_d));
  }
};
template <> struct WgmmaSS<80, tf32> {
  static HOPPER_FN void run(float (&d)[40], uint64_t a, uint64_t b, int scale_d) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %42, 0;\nwgmma.mma_async.sync.aligned.m64n80k8.f32.tf32.tf32 {" HOPPER_R40
                 "}, %40, %41, p, 1, 1;\n}" : HOPPER_F40(d) : "l"(a), "l"(b), "r"(scale_d));
  }
};
template <> struct WgmmaRS<80, tf32> {
  static HOPPER_FN void run(float (&d)[40], const uint32_t (&a)[4], uint64_t b, int scale_d) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %45, 0;\nwgmma.mma_async.sync.aligned.m64n80k8.f32.tf32.tf32 {" HOPPER_R40
                 "}, {%40, %41, %42, %43}, %44, p, 1, 1;\n}"
                 : HOPPER_F40(d) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(scale_d));
  }
};
template <> struct WgmmaSS<96, tf32> {
  static HOPPER_FN void run(float (&d)[48], uint64_t a, uint64_t b, int scale_d) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %50, 0;\nwgmma.mma_async.sync.aligned.m64n96k8.f32.tf32.tf32 {" HOPPER_R48
                 "}, %48, %49, p, 1, 1;\n}" : HOPPER_F48(d) : "l"(a), "l"(b), "r"(scale_d));
  }
};
template <> struct WgmmaRS<96, tf32> {
  static HOPPER_FN void run(float (&d)[48], const uint32_t (&a)[4], uint64_t b, int scale_d) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %53, 0;\nwgmma.mma_async.sync.aligned.m64n96k8.f32.tf32.tf32 {" HOPPER_R48
                 "}, {%48, %49, %50, %51}, %52, p, 1, 1;\n}"
                 : HOPPER_F48(d) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(scale_d));
  }
};
template <> struct WgmmaSS<112, tf32> {
  static HOPPER_FN void run(float (&d)[56], uint64_t a, uint64_t b, int scale_d) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %58, 0;\nwgmma.mma_async.sync.aligned.m64n112k8.f32.tf32.tf32 {" HOPPER_R56
                 "}, %56, %57, p, 1, 1;\n}" : HOPPER_F56(d) : "l"(a), "l"(b), "r"(scale_d));
  }
};
template <> struct WgmmaRS<112, tf32> {
  static HOPPER_FN void run(float (&d)[56], const uint32_t (&a)[4], uint64_t b, int scale_d) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %61, 0;\nwgmma.mma_async.sync.aligned.m64n112k8.f32.tf32.tf32 {" HOPPER_R56
                 "}, {%56, %57, %58, %59}, %60, p, 1, 1;\n}"
                 : HOPPER_F56(d) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(scale_d));
  }
};
template <> struct WgmmaSS<128, tf32> {
  static HOPPER_FN void run(float (&d)[64], uint64_t a, uint64_t b, int scale_d) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %66, 0;\nwgmma.mma_async.sync.aligned.m64n128k8.f32.tf32.tf32 {" HOPPER_R64
                 "}, %64, %65, p, 1, 1;\n}" : HOPPER_F64(d) : "l"(a), "l"(b), "r"(scale_d));
  }
};
template <> struct WgmmaRS<128, tf32> {
  static HOPPER_FN void run(float (&d)[64], const uint32_t (&a)[4], uint64_t b, int scale_d) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %69, 0;\nwgmma.mma_async.sync.aligned.m64n128k8.f32.tf32.tf32 {" HOPPER_R64
                 "}, {%64, %65, %66, %67}, %68, p, 1, 1;\n}"
                 : HOPPER_F64(d) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(scale_d));
  }
};
template <> struct WgmmaSS<160, tf32> {
  static HOPPER_FN void run(float (&d)[80], uint64_t a, uint64_t b, int scale_d) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %82, 0;\nwgmma.mma_async.sync.aligned.m64n160k8.f32.tf32.tf32 {" HOPPER_R80
                 "}, %80, %81, p, 1, 1;\n}" : HOPPER_F80(d) : "l"(a), "l"(b), "r"(scale_d));
  }
};
template <> struct WgmmaRS<160, tf32> {
  static HOPPER_FN void run(float (&d)[80], const uint32_t (&a)[4], uint64_t b, int scale_d) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %85, 0;\nwgmma.mma_async.sync.aligned.m64n160k8.f32.tf32.tf32 {" HOPPER_R80
                 "}, {%80, %81, %82, %83}, %84, p, 1, 1;\n}"
                 : HOPPER_F80(d) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(scale_d));
  }
};
template <> struct WgmmaSS<192, tf32> {
  static HOPPER_FN void run(float (&d)[96], uint64_t a, uint64_t b, int scale_d) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %98, 0;\nwgmma.mma_async.sync.aligned.m64n192k8.f32.tf32.tf32 {" HOPPER_R96
                 "}, %96, %97, p, 1, 1;\n}" : HOPPER_F96(d) : "l"(a), "l"(b), "r"(scale_d));
  }
};
template <> struct WgmmaRS<192, tf32> {
  static HOPPER_FN void run(float (&d)[96], const uint32_t (&a)[4], uint64_t b, int scale_d) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %101, 0;\nwgmma.mma_async.sync.aligned.m64n192k8.f32.tf32.tf32 {" HOPPER_R96
                 "}, {%96, %97, %98, %99}, %100, p, 1, 1;\n}"
                 : HOPPER_F96(d) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(scale_d));
  }
};
template <> struct WgmmaSS<224, tf32> {
  static HOPPER_FN void run(float (&d)[112], uint64_t a, uint64_t b, int scale_d) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %114, 0;\nwgmma.mma_async.sync.aligned.m64n224k8.f32.tf32.tf32 {" HOPPER_R112
                 "}, %112, %113, p, 1, 1;\n}" : HOPPER_F112(d) : "l"(a), "l"(b), "r"(scale_d));
  }
};
template <> struct WgmmaRS<224, tf32> {
  static HOPPER_FN void run(float (&d)[112], const uint32_t (&a)[4], uint64_t b, int scale_d) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %117, 0;\nwgmma.mma_async.sync.aligned.m64n224k8.f32.tf32.tf32 {" HOPPER_R112
                 "}, {%112, %113, %114, %115}, %116, p, 1, 1;\n}"
                 : HOPPER_F112(d) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(scale_d));
  }
};
template <> struct WgmmaSS<256, tf32> {
  static HOPPER_FN void run(float (&d)[128], uint64_t a, uint64_t b, int scale_d) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %130, 0;\nwgmma.mma_async.sync.aligned.m64n256k8.f32.tf32.tf32 {" HOPPER_R128
                 "}, %128, %129, p, 1, 1;\n}" : HOPPER_F128(d) : "l"(a), "l"(b), "r"(scale_d));
  }
};
template <> struct WgmmaRS<256, tf32> {
  static HOPPER_FN void run(float (&d)[128], const uint32_t (&a)[4], uint64_t b, int scale_d) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %133, 0;\nwgmma.mma_async.sync.aligned.m64n256k8.f32.tf32.tf32 {" HOPPER_R128
                 "}, {%128, %129, %130, %131}, %132, p, 1, 1;\n}"
                 : HOPPER_F128(d) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(scale_d));
  }
};
template <> struct WgmmaSS<8, e4m3> {
  static HOPPER_FN void run(float (&d)[4], uint64_t a, uint64_t b, int scale_d) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %6, 0;\nwgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e4m3 {" HOPPER_R4
                 "}, %4, %5, p, 1, 1;\n}" : HOPPER_F4(d) : "l"(a), "l"(b), "r"(scale_d));
  }
};
template <> struct WgmmaRS<8, e4m3> {
  static HOPPER_FN void run(float (&d)[4], const uint32_t (&a)[4], uint64_t b, int scale_d) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %9, 0;\nwgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e4m3 {" HOPPER_R4
                 "}, {%4, %5, %6, %7}, %8, p, 1, 1;\n}"
                 : HOPPER_F4(d) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(scale_d));
  }
};
template <> struct WgmmaSS<16, e4m3> {
  static HOPPER_FN void run(float (&d)[8], uint64_t a, uint64_t b, int scale_d) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %10, 0;\nwgmma.mma_async.sync.aligned.m64n16k32.f32.e4m3.e4m3 {" HOPPER_R8
                 "}, %8, %9, p, 1, 1;\n}" : HOPPER_F8(d) : "l"(a), "l"(b), "r"(scale_d));
  }
};
template <> struct WgmmaRS<16, e4m3> {
  static HOPPER_FN void run(float (&d)[8], const uint32_t (&a)[4], uint64_t b, int scale_d) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %13, 0;\nwgmma.mma_async.sync.aligned.m64n16k32.f32.e4m3.e4m3 {" HOPPER_R8
                 "}, {%8, %9, %10, %11}, %12, p, 1, 1;\n}"
                 : HOPPER_F8(d) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(scale_d));
  }
};
template <> struct WgmmaSS<24, e4m3> {
  static HOPPER_FN void run(float (&d)[12], uint64_t a, uint64_t b, int scale_d) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %14, 0;\nwgmma.mma_async.sync.aligned.m64n24k32.f32.e4m3.e4m3 {" HOPPER_R12
                 "}, %12, %13, p, 1, 1;\n}" : HOPPER_F12(d) : "l"(a), "l"(b), "r"(scale_d));
  }
};
template <> struct WgmmaRS<24, e4m3> {
  static HOPPER_FN void run(float (&d)[12], const uint32_t (&a)[4], uint64_t b, int scale_d) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %17, 0;\nwgmma.mma_async.sync.aligned.m64n24k32.f32.e4m3.e4m3 {" HOPPER_R12
                 "}, {%12, %13, %14, %15}, %16, p, 1, 1;\n}"
                 : HOPPER_F12(d) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(scale_d));
  }
};
template <> struct WgmmaSS<32, e4m3> {
  static HOPPER_FN void run(float (&d)[16], uint64_t a, uint64_t b, int scale_d) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %18, 0;\nwgmma.mma_async.sync.aligned.m64n32k32.f32.e4m3.e4m3 {" HOPPER_R16
                 "}, %16, %17, p, 1, 1;\n}" : HOPPER_F16(d) : "l"(a), "l"(b), "r"(scale_d));
  }
};
template <> struct WgmmaRS<32, e4m3> {
  static HOPPER_FN void run(float (&d)[16], const uint32_t (&a)[4], uint64_t b, int scale_d) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %21, 0;\nwgmma.mma_async.sync.aligned.m64n32k32.f32.e4m3.e4m3 {" HOPPER_R16
                 "}, {%16, %17, %18, %19}, %20, p, 1, 1;\n}"
                 : HOPPER_F16(d) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(scale_d));
  }
};
template <> struct WgmmaSS<48, e4m3> {
  static HOPPER_FN void run(float (&d)[24], uint64_t a, uint64_t b, int scale_d) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %26, 0;\nwgmma.mma_async.sync.aligned.m64n48k32.f32.e4m3.e4m3 {" HOPPER_R24
                 "}, %24, %25, p, 1, 1;\n}" : HOPPER_F24(d) : "l"(a), "l"(b), "r"(scale_d));
  }
};
template <> struct WgmmaRS<48, e4m3> {
  static HOPPER_FN void run(float (&d)[24], const uint32_t (&a)[4], uint64_t b, int scale_d) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %29, 0;\nwgmma.mma_async.sync.aligned.m64n48k32.f32.e4m3.e4m3 {" HOPPER_R24
                 "}, {%24, %25, %26, %27}, %28, p, 1, 1;\n}"
                 : HOPPER_F24(d) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(scale_d));
  }
};
template <> struct WgmmaSS<64, e4m3> {
  static HOPPER_FN void run(float (&d)[32], uint64_t a, uint64_t b, int scale_d) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %34, 0;\nwgmma.mma_async.sync.aligned.m64n64k32.f32.e4m3.e4m3 {" HOPPER_R32
                 "}, %32, %33, p, 1, 1;\n}" : HOPPER_F32(d) : "l"(a), "l"(b), "r"(scale_d));
  }
};
template <> struct WgmmaRS<64, e4m3> {
  static HOPPER_FN void run(float (&d)[32], const uint32_t (&a)[4], uint64_t b, int scale_d) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %37, 0;\nwgmma.mma_async.sync.aligned.m64n64k32.f32.e4m3.e4m3 {" HOPPER_R32
                 "}, {%32, %33, %34, %35}, %36, p, 1, 1;\n}"
                 : HOPPER_F32(d) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(scale_d));
  }
};
template <> struct WgmmaSS<80, e4m3> {
  static HOPPER_FN void run(float (&d)[40], uint64_t a, uint64_t b, int scale_d) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %42, 0;\nwgmma.mma_async.sync.aligned.m64n80k32.f32.e4m3.e4m3 {" HOPPER_R40
                 "}, %40, %41, p, 1, 1;\n}" : HOPPER_F40(d) : "l"(a), "l"(b), "r"(scale_d));
  }
};
template <> struct WgmmaRS<80, e4m3> {
  static HOPPER_FN void run(float (&d)[40], const uint32_t (&a)[4], uint64_t b, int scale_d) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %45, 0;\nwgmma.mma_async.sync.aligned.m64n80k32.f32.e4m3.e4m3 {" HOPPER_R40
                 "}, {%40, %41, %42, %43}, %44, p, 1, 1;\n}"
                 : HOPPER_F40(d) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(scale_d));
  }
};
template <> struct WgmmaSS<96, e4m3> {
  static HOPPER_FN void run(float (&d)[48], uint64_t a, uint64_t b, int scale_d) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %50, 0;\nwgmma.mma_async.sync.aligned.m64n96k32.f32.e4m3.e4m3 {" HOPPER_R48
                 "}, %48, %49, p, 1, 1;\n}" : HOPPER_F48(d) : "l"(a), "l"(b), "r"(scale_d));
  }
};
template <> struct WgmmaRS<96, e4m3> {
  static HOPPER_FN void run(float (&d)[48], const uint32_t (&a)[4], uint64_t b, int scale_d) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %53, 0;\nwgmma.mma_async.sync.aligned.m64n96k32.f32.e4m3.e4m3 {" HOPPER_R48
                 "}, {%48, %49, %50, %51}, %52, p, 1, 1;\n}"
                 : HOPPER_F48(d) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(scale_d));
  }
};
template <> struct WgmmaSS<112, e4m3> {
  static HOPPER_FN void run(float (&d)[56], uint64_t a, uint64_t b, int scale_d) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %58, 0;\nwgmma.mma_async.sync.aligned.m64n112k32.f32.e4m3.e4m3 {" HOPPER_R56
                 "}, %56, %57, p, 1, 1;\n}" : HOPPER_F56(d) : "l"(a), "l"(b), "r"(scale_d));
  }
};
template <> struct WgmmaRS<112, e4m3> {
  static HOPPER_FN void run(float (&d)[56], const uint32_t (&a)[4], uint64_t b, int scale_d) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %61, 0;\nwgmma.mma_async.sync.aligned.m64n112k32.f32.e4m3.e4m3 {" HOPPER_R56
                 "}, {%56, %57, %58, %59}, %60, p, 1, 1;\n}"
                 : HOPPER_F56(d) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(scale_d));
  }
};
template <> struct WgmmaSS<128, e4m3> {
  static HOPPER_FN void run(float (&d)[64], uint64_t a, uint64_t b, int scale_d) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %66, 0;\nwgmma.mma_async.sync.aligned.m64n128k32.f32.e4m3.e4m3 {" HOPPER_R64
                 "}, %64, %65, p, 1, 1;\n}" : HOPPER_F64(d) : "l"(a), "l"(b), "r"(scale_d));
  }
};
template <> struct WgmmaRS<128, e4m3> {
  static HOPPER_FN void run(float (&d)[64], const uint32_t (&a)[4], uint64_t b, int scale_d) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %69, 0;\nwgmma.mma_async.sync.aligned.m64n128k32.f32.e4m3.e4m3 {" HOPPER_R64
                 "}, {%64, %65, %66, %67}, %68, p, 1, 1;\n}"
                 : HOPPER_F64(d) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(scale_d));
  }
};
template <> struct WgmmaSS<160, e4m3> {
  static HOPPER_FN void run(float (&d)[80], uint64_t a, uint64_t b, int scale_d) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %82, 0;\nwgmma.mma_async.sync.aligned.m64n160k32.f32.e4m3.e4m3 {" HOPPER_R80
                 "}, %80, %81, p, 1, 1;\n}" : HOPPER_F80(d) : "l"(a), "l"(b), "r"(scale_d));
  }
};
template <> struct WgmmaRS<160, e4m3> {
  static HOPPER_FN void run(float (&d)[80], const uint32_t (&a)[4], uint64_t b, int scale_d) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %85, 0;\nwgmma.mma_async.sync.aligned.m64n160k32.f32.e4m3.e4m3 {" HOPPER_R80
                 "}, {%80, %81, %82, %83}, %84, p, 1, 1;\n}"
                 : HOPPER_F80(d) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(scale_d));
  }
};
template <> struct WgmmaSS<192, e4m3> {
  static HOPPER_FN void run(float (&d)[96], uint64_t a, uint64_t b, int scale_d) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %98, 0;\nwgmma.mma_async.sync.aligned.m64n192k32.f32.e4m3.e4m3 {" HOPPER_R96
                 "}, %96, %97, p, 1, 1;\n}" : HOPPER_F96(d) : "l"(a), "l"(b), "r"(scale_d));
  }
};
template <> struct WgmmaRS<192, e4m3> {
  static HOPPER_FN void run(float (&d)[96], const uint32_t (&a)[4], uint64_t b, int scale_d) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %101, 0;\nwgmma.mma_async.sync.aligned.m64n192k32.f32.e4m3.e4m3 {" HOPPER_R96
                 "}, {%96, %97, %98, %99}, %100, p, 1, 1;\n}"
                 : HOPPER_F96(d) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(scale_d));
  }
};
template <> struct WgmmaSS<224, e4m3> {
  static HOPPER_FN void run(float (&d)[112], uint64_t a, uint64_t b, int scale_d) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %114, 0;\nwgmma.mma_async.sync.aligned.m64n224k32.f32.e4m3.e4m3 {" HOPPER_R112
                 "}, %112, %113, p, 1, 1;\n}" : HOPPER_F112(d) : "l"(a), "l"(b), "r"(scale_d));
  }
};
template <> struct WgmmaRS<224, e4m3> {
  static HOPPER_FN void run(float (&d)[112], const uint32_t (&a)[4], uint64_t b, int scale_d) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %117, 0;\nwgmma.mma_async.sync.aligned.m64n224k32.f32.e4m3.e4m3 {" HOPPER_R112
                 "}, {%112, %113, %114, %115}, %116, p, 1, 1;\n}"
                 : HOPPER_F112(d) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(scale_d));
  }
};
template <> struct WgmmaSS<256, e4m3> {
  static HOPPER_FN void run(float (&d)[128], uint64_t a, uint64_t b, int scale_d) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %130, 0;\nwgmma.mma_async.sync.aligned.m64n256k32.f32.e4m3.e4m3 {" HOPPER_R128
                 "}, %128, %129, p, 1, 1;\n}" : HOPPER_F128(d) : "l"(a), "l"(b), "r"(scale_d));
  }
};
template <> struct WgmmaRS<256, e4m3> {
  static HOPPER_FN void run(float (&d)[128], const uint32_t (&a)[4], uint64_t b, int scale_d) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %133, 0;\nwgmma.mma_async.sync.aligned.m64n256k32.f32.e4m3.e4m3 {" HOPPER_R128
                 "}, {%128, %129, %130, %131}, %132, p, 1, 1;\n}"
                 : HOPPER_F128(d) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(scale_d));
  }
};
template <> HOPPER_FN void wgmma_ss_fp16_accumulate<8>(uint32_t (&d)[2], uint64_t a, uint64_t b, int scale_d) {
  asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %4, 0;\nwgmma.mma_async.sync.aligned.m64n8k16.f16.f16.f16 {" HOPPER_R2
               "}, %2, %3, p, 1, 1, 0, 0;\n}" : HOPPER_U2(d) : "l"(a), "l"(b), "r"(scale_d));
}
template <> HOPPER_FN void wgmma_ss_fp16_accumulate<16>(uint32_t (&d)[4], uint64_t a, uint64_t b, int scale_d) {
  asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %6, 0;\nwgmma.mma_async.sync.aligned.m64n16k16.f16.f16.f16 {" HOPPER_R4
               "}, %4, %5, p, 1, 1, 0, 0;\n}" : HOPPER_U4(d) : "l"(a), "l"(b), "r"(scale_d));
}
template <> HOPPER_FN void wgmma_ss_fp16_accumulate<24>(uint32_t (&d)[6], uint64_t a, uint64_t b, int scale_d) {
  asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %8, 0;\nwgmma.mma_async.sync.aligned.m64n24k16.f16.f16.f16 {" HOPPER_R6
               "}, %6, %7, p, 1, 1, 0, 0;\n}" : HOPPER_U6(d) : "l"(a), "l"(b), "r"(scale_d));
}
template <> HOPPER_FN void wgmma_ss_fp16_accumulate<32>(uint32_t (&d)[8], uint64_t a, uint64_t b, int scale_d) {
  asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %10, 0;\nwgmma.mma_async.sync.aligned.m64n32k16.f16.f16.f16 {" HOPPER_R8
               "}, %8, %9, p, 1, 1, 0, 0;\n}" : HOPPER_U8(d) : "l"(a), "l"(b), "r"(scale_d));
}
template <> HOPPER_FN void wgmma_ss_fp16_accumulate<48>(uint32_t (&d)[12], uint64_t a, uint64_t b, int scale_d) {
  asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %14, 0;\nwgmma.mma_async.sync.aligned.m64n48k16.f16.f16.f16 {" HOPPER_R12
               "}, %12, %13, p, 1, 1, 0, 0;\n}" : HOPPER_U12(d) : "l"(a), "l"(b), "r"(scale_d));
}
template <> HOPPER_FN void wgmma_ss_fp16_accumulate<64>(uint32_t (&d)[16], uint64_t a, uint64_t b, int scale_d) {
  asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %18, 0;\nwgmma.mma_async.sync.aligned.m64n64k16.f16.f16.f16 {" HOPPER_R16
               "}, %16, %17, p, 1, 1, 0, 0;\n}" : HOPPER_U16(d) : "l"(a), "l"(b), "r"(scale_d));
}
template <> HOPPER_FN void wgmma_ss_fp16_accumulate<80>(uint32_t (&d)[20], uint64_t a, uint64_t b, int scale_d) {
  asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %22, 0;\nwgmma.mma_async.sync.aligned.m64n80k16.f16.f16.f16 {" HOPPER_R20
               "}, %20, %21, p, 1, 1, 0, 0;\n}" : HOPPER_U20(d) : "l"(a), "l"(b), "r"(scale_d));
}
template <> HOPPER_FN void wgmma_ss_fp16_accumulate<96>(uint32_t (&d)[24], uint64_t a, uint64_t b, int scale_d) {
  asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %26, 0;\nwgmma.mma_async.sync.aligned.m64n96k16.f16.f16.f16 {" HOPPER_R24
               "}, %24, %25, p, 1, 1, 0, 0;\n}" : HOPPER_U24(d) : "l"(a), "l"(b), "r"(scale_d));
}
template <> HOPPER_FN void wgmma_ss_fp16_accumulate<112>(uint32_t (&d)[28], uint64_t a, uint64_t b, int scale_d) {
  asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %30, 0;\nwgmma.mma_async.sync.aligned.m64n112k16.f16.f16.f16 {" HOPPER_R28
               "}, %28, %29, p, 1, 1, 0, 0;\n}" : HOPPER_U28(d) : "l"(a), "l"(b), "r"(scale_d));
}
template <> HOPPER_FN void wgmma_ss_fp16_accumulate<128>(uint32_t (&d)[32], uint64_t a, uint64_t b, int scale_d) {
  asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %34, 0;\nwgmma.mma_async.sync.aligned.m64n128k16.f16.f16.f16 {" HOPPER_R32
               "}, %32, %33, p, 1, 1, 0, 0;\n}" : HOPPER_U32(d) : "l"(a), "l"(b), "r"(scale_d));
}
template <> HOPPER_FN void wgmma_ss_fp16_accumulate<160>(uint32_t (&d)[40], uint64_t a, uint64_t b, int scale_d) {
  asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %42, 0;\nwgmma.mma_async.sync.aligned.m64n160k16.f16.f16.f16 {" HOPPER_R40
               "}, %40, %41, p, 1, 1, 0, 0;\n}" : HOPPER_U40(d) : "l"(a), "l"(b), "r"(scale_d));
}
template <> HOPPER_FN void wgmma_ss_fp16_accumulate<192>(uint32_t (&d)[48], uint64_t a, uint64_t b, int scale_d) {
  asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %50, 0;\nwgmma.mma_async.sync.aligned.m64n192k16.f16.f16.f16 {" HOPPER_R48
               "}, %48, %49, p, 1, 1, 0, 0;\n}" : HOPPER_U48(d) : "l"(a), "l"(b), "r"(scale_d));
}
template <> HOPPER_FN void wgmma_ss_fp16_accumulate<224>(uint32_t (&d)[56], uint64_t a, uint64_t b, int scale_d) {
  asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %58, 0;\nwgmma.mma_async.sync.aligned.m64n224k16.f16.f16.f16 {" HOPPER_R56
               "}, %56, %57, p, 1, 1, 0, 0;\n}" : HOPPER_U56(d) : "l"(a), "l"(b), "r"(scale_d));
}
template <> HOPPER_FN void wgmma_ss_fp16_accumulate<256>(uint32_t (&d)[64], uint64_t a, uint64_t b, int scale_d) {
  asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %66, 0;\nwgmma.mma_async.sync.aligned.m64n256k16.f16.f16.f16 {" HOPPER_R64
               "}, %64, %65, p, 1, 1, 0, 0;\n}" : HOPPER_U64(d) : "l"(a), "l"(b), "r"(scale_d));
}
