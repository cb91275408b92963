"""Writes hopper_device_wgmma.cuh: the wgmma instructions, whose operand lists are too long to write by hand.

Run `python kernels/cuda/generate_wgmma.py` after a change here; kernels/tests/test_vocabulary.py checks that the file is current.
"""

from pathlib import Path

WIDTHS = (8, 16, 24, 32, 48, 64, 80, 96, 112, 128, 160, 192, 224, 256)  # N; the hardware takes every multiple of 8
TYPES = {"bf16": ("bf16", 16), "fp16": ("f16", 16), "tf32": ("tf32", 8), "e4m3": ("e4m3", 32)}  # ours: (PTX's, K)

HEAD = """\
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

"""


def lists() -> str:
    """Macros: the first n registers as a string, and as operands for n = 2, 4, 6, ... (cumulative, so short)."""
    text = ["// Register lists: HOPPER_R<n> names the first n, HOPPER_F<n>(d) and HOPPER_U<n>(d) bind them.\n"]
    counts = sorted({n // 2 for n in WIDTHS} | {n // 4 for n in WIDTHS})
    before = 0
    for n in counts:
        new = range(before, n)
        join = f'HOPPER_R{before} ", " ' if before else ""
        text.append(f'#define HOPPER_R{n} {join}"{", ".join(f"%{i}" for i in new)}"\n')
        for letter, constraint in (("F", "+f"), ("U", "+r")):
            join = f"HOPPER_{letter}{before}(d), " if before else ""
            text.append(
                f"#define HOPPER_{letter}{n}(d) {join}" + ", ".join(f'"{constraint}"(d[{i}])' for i in new) + "\n"
            )
        before = n
    return "".join(text) + "\n"


def instruction(n: int, ours: str) -> str:
    ptx, k = TYPES[ours]
    regs = n // 2
    majors = ours in ("bf16", "fp16")  # only these may be MN-major
    shape = f"wgmma.mma_async.sync.aligned.m64n{n}k{k}.f32.{ptx}.{ptx}"
    ss_tail = f", %{regs + 3}, %{regs + 4}" if majors else ""
    rs_tail = f", %{regs + 6}" if majors else ""
    ss_args = "template <int MajorA, int MajorB>" if majors else "template <>"
    ss_name = f"WgmmaSS<{n}, {ours}, MajorA, MajorB>" if majors else f"WgmmaSS<{n}, {ours}>"
    rs_args = "template <int MajorB>" if majors else "template <>"
    rs_name = f"WgmmaRS<{n}, {ours}, MajorB>" if majors else f"WgmmaRS<{n}, {ours}>"
    ss_majors = ', "n"(MajorA), "n"(MajorB)' if majors else ""
    rs_majors = ', "n"(MajorB)' if majors else ""
    return f"""\
{ss_args} struct {ss_name} {{
  static HOPPER_FN void run(float (&d)[{regs}], uint64_t a, uint64_t b, int scale_d) {{
    asm volatile("{{\\n.reg .pred p;\\nsetp.ne.b32 p, %{regs + 2}, 0;\\n{shape} {{" HOPPER_R{regs}
                 "}}, %{regs}, %{regs + 1}, p, 1, 1{ss_tail};\\n}}" : HOPPER_F{regs}(d) : "l"(a), "l"(b), "r"(scale_d){ss_majors});
  }}
}};
{rs_args} struct {rs_name} {{
  static HOPPER_FN void run(float (&d)[{regs}], const uint32_t (&a)[4], uint64_t b, int scale_d) {{
    asm volatile("{{\\n.reg .pred p;\\nsetp.ne.b32 p, %{regs + 5}, 0;\\n{shape} {{" HOPPER_R{regs}
                 "}}, {{%{regs}, %{regs + 1}, %{regs + 2}, %{regs + 3}}}, %{regs + 4}, p, 1, 1{rs_tail};\\n}}"
                 : HOPPER_F{regs}(d) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(scale_d){rs_majors});
  }}
}};
"""


def fp16_accumulate(n: int) -> str:
    regs = n // 4
    return f"""\
template <> HOPPER_FN void wgmma_ss_fp16_accumulate<{n}>(uint32_t (&d)[{regs}], uint64_t a, uint64_t b, int scale_d) {{
  asm volatile("{{\\n.reg .pred p;\\nsetp.ne.b32 p, %{regs + 2}, 0;\\nwgmma.mma_async.sync.aligned.m64n{n}k16.f16.f16.f16 {{" HOPPER_R{regs}
               "}}, %{regs}, %{regs + 1}, p, 1, 1, 0, 0;\\n}}" : HOPPER_U{regs}(d) : "l"(a), "l"(b), "r"(scale_d));
}}
"""


def generate() -> str:
    """The whole header, as text."""
    body = [instruction(n, ours) for ours in TYPES for n in WIDTHS]
    return HEAD + lists() + "".join(body) + "".join(fp16_accumulate(n) for n in WIDTHS)


if __name__ == "__main__":
    Path(__file__).with_name("hopper_device_wgmma.cuh").write_text(generate())
