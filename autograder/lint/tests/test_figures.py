"""Which quantities lint takes for typed by hand, and which it leaves alone."""

import pytest

from autograder.lint.figures import lint_figures, typed_figures

CAUGHT = [
    ("The copy takes 1.5 ms.", ["1.5 ms"]),
    ("It takes 3 s", ["3 s"]),
    ("about 20 µs and 7us", ["20 µs", "7us"]),
    ("需要 3 秒，或者 40 毫秒", ["3 秒", "40 毫秒"]),
    ("4.8 TB/s of 3.35 TB/s", ["4.8 TB/s", "3.35 TB/s"]),
    ("989 TFLOP/s", ["989 TFLOP/s"]),
    ("800 TFLOPS", ["800 TFLOPS"]),
    ("206 FLOP/byte", ["206 FLOP/byte"]),
    ("每周期 128 字节/周期", ["128 字节/周期"]),
    ("1.83 GHz at 700 W", ["1.83 GHz", "700 W"]),
    ("228 KB of shared memory, 50 MiB of L2", ["228 KB", "50 MiB"]),
    ("30 to 50 % of it", ["50 %"]),
    ("损失 30%–50%", ["30%", "50%"]),
    ("提升了 3 个百分点", ["3 个百分点"]),
    ("80 percent, 80 per cent", ["80 percent", "80 per cent"]),
    ("是有守卫的 1.5 倍", ["1.5 倍"]),
    ("1.02–1.11 倍", ["1.11 倍"]),
    ("快 2 倍多", ["2 倍"]),
    ("2x faster", ["2x"]),
    ("a 1.9× speed-up", ["1.9×"]),
    ("1.47 times as long", ["1.47 times"]),
    ("4 times faster than", ["4 times"]),
    ("about 600 cycles", ["600 cycles"]),
    ("约 600 个周期", ["600 个周期"]),
    ("an error of 2.8e-4", ["2.8e-4"]),
    ("an error of 2.8×10⁻⁴ or 3 × 10^-5", ["2.8×10⁻⁴", "3 × 10^"]),
    ("| naive | 7.5 TFLOP/s | 0.9 % |", ["7.5 TFLOP/s", "0.9 %"]),
    ('![](a.svg){fig-alt="a bar of 12 ms"}', ["12 ms"]),
    ('::: {.callout-note title="Only 5 % more"}', ["5 %"]),
    ("### Why 12 ms is too long", ["12 ms"]),
    ("-3 % and ±5 %", ["-3 %", "±5 %"]),
    ("1,024 GB/s", ["1,024 GB/s"]),
    ("见 [12 ms](../x/zh.qmd)", ["12 ms"]),
]
FREE = [
    "Measured on 2026-11-29, driver 580.159.04 (CUDA 13.0).",
    "K=512, $K=4096$ 时，2^10 个",
    "FP8, BF16, E4M3, sm_90a, H100 SXM, PTX ISA 9.2",
    "总分不低于 8/10；各 2 分",
    "pages 12-14, section 3.3.2, arXiv:2412.19437",
    "a chunk of 16 bytes, 16 字节, 128 位, 128B swizzle, 64-bit",
    "a tile of 128×128, 64 x 256, 3 × 4, 16384×32768 and 2 × $K$",
    "an x of 3, the 2 xs",
    "132 SMs, 255 registers, 256 threads, 4 warpgroups",
    "`12 ms` in code, $12$ ms after math, $t = 12\\,\\mathrm{ms}$",
    "arithmetic: [2 × 4 / 3.35 = 2.4 ms]{.worked}, [1.5 倍]{.worked}, [a [b] 5 %]{.worked}",
    "{{< var lesson07.promoted >}} and {{< var lesson07.unguarded_fp32 >}} 倍, {{< var a.b >}} TB/s",
    "the 1990s and 2020s",
    "Q1 s, lesson 7 shows 3 hints, 4 steps, 8 stages, 5 modes",
    "[link](https://example.org/100%20ms/5%)",
    '![](assets/fig-12ms.zh.svg){width=80% fig-alt="bars"}',
    "<!-- 12 ms -->",
    "runs 3 times, at 4 times in a row",
    "level 1 hint, 2 warps, 16 wavefronts, 32 sectors",
    "2024 年第 3 季度，第 5 秒杀",
    "step 5x5, mma m64n256k16",
    "0.9",
    "the 10th and the 90th percentile",
]


@pytest.mark.parametrize(("line", "figures"), CAUGHT, ids=lambda x: x if isinstance(x, str) else "")
def test_a_typed_figure_is_found(line, figures):
    assert typed_figures(line) == figures


@pytest.mark.parametrize("line", FREE)
def test_what_is_no_measured_figure_is_left_alone(line):
    assert typed_figures(line) == []


def test_display_math_over_several_lines_is_free_and_the_text_around_it_is_not():
    said = []
    lines = ["before 1 ms $$", "t = 5 ms", "$$ after 2 ms", "then 3 ms"]
    lint_figures(
        [(n, x, False) for n, x in enumerate(lines, 1)], lambda n, what, remedy: said.append((n, what.split("'")[1]))
    )
    assert said == [(1, "1 ms"), (3, "2 ms"), (4, "3 ms")]
