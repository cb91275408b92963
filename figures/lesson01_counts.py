"""Figure 1-3: one measured GEMM, its bytes counted in three ways: a count of another memory level puts it above the DRAM's roof."""

from __future__ import annotations

from figures import style

LESSON = "lesson01_roofline"
DATA = ("lesson01_roofline.json",)
MNK, TILE = 8192, (128, 192)  # the form of the kernel that this shape gets
TITLE = {"zh": "图 1-3 同一个 kernel，三种数法", "en": "Figure 1-3: one kernel, counted in three ways"}
DESCRIPTION = {
    "zh": "BF16 的 roofline，横纵轴均为对数。同一个实测 GEMM 画了三次，高度相同：按每条乘加的操作数计数，强度 0.5；按 tile 进共享内存的字节计数，强度 76.8；按每个矩阵经过 DRAM 一次计数，强度 2731。前两点远在屋顶之上，只有第三点在屋顶之下。",
    "en": "The BF16 roofline, both axes logarithmic. One measured GEMM is drawn three times at the same height: counted by the operands of each multiply-add, intensity 0.5; by the bytes of tiles into shared memory, 76.8; by each matrix crossing the DRAM once, 2731. The first two lie far above the roof, only the third below it.",
}
WORDS = {
    "zh": {
        "x": "算术强度（FLOP / 字节）",
        "y": "TFLOP/s",
        "roof": "实测屋顶：DRAM 拷贝 + BF16 wgmma",
        "point": "实测 {:.0f} TFLOP/s（M = N = K = 8192）",
        "counts": ("每条乘加\n读两个操作数", "每个 tile\n进一次共享内存", "每个矩阵\n过一次 DRAM"),
    },
    "en": {
        "x": "arithmetic intensity (FLOP / byte)",
        "y": "TFLOP/s",
        "roof": "measured roof: DRAM copy and BF16 wgmma",
        "point": "measured {:.0f} TFLOP/s (M = N = K = 8192)",
        "counts": (
            "two operands read\nfor each multiply-add",
            "each tile once\ninto shared memory",
            "each matrix once\nthrough the DRAM",
        ),
    },
}


def data(measured: dict) -> dict:
    points = {p["variant"]: p for p in measured["points"]}
    gemm = points[f"gemm_pingpong, K = {MNK}"]
    return {
        "copy": points["device copy"]["tb_per_s"],
        "bf16": points["wgmma alone, random"]["flop_per_s"] / 1e12,
        "gemm": gemm["flop_per_s"] / 1e12,
        # 2 FLOP for two operands of 2 bytes; for each k a tile takes rows + columns elements for rows x columns multiply-adds
        "intensities": [2 / 4, 2 * TILE[0] * TILE[1] / (2 * sum(TILE)), gemm["intensity"]],
        "device": measured["receipt"]["device"],
    }


def plot(d: dict, lang: str):
    w = WORDS[lang]
    figure, ax = style.plt.subplots(figsize=(8.5, 4.2), layout="constrained")
    ridge, lowest, highest = d["bf16"] / d["copy"], 0.1, 20000
    ax.plot(
        [lowest, ridge, highest],
        [lowest * d["copy"], d["bf16"], d["bf16"]],
        color=style.BLACK,
        linewidth=1.4,
        label=w["roof"],
    )
    looks = (style.RED, style.RED, style.GREEN)
    for x, colour, text in zip(d["intensities"], looks, w["counts"]):
        roof = min(d["bf16"], d["copy"] * x)
        ax.plot([x, x], [roof, d["gemm"]], color=colour, linestyle=":", linewidth=1.4)
        if (times := d["gemm"] / roof) > 1:
            ax.text(
                x / 1.15,
                (roof * d["gemm"]) ** 0.5,
                f"× {times:.3g}" if times < 100 else f"× {times:.0f}",
                ha="right",
                va="center",
                color=colour,
                fontsize=9.5,
            )
        ax.text(x, d["gemm"] * 1.6, text, ha="center", va="bottom", fontsize=9.5)
    ax.plot(
        d["intensities"],
        [d["gemm"]] * 3,
        linestyle="none",
        marker="o",
        markersize=7,
        color=style.BLUE,
        label=w["point"].format(d["gemm"]),
    )
    ax.set(xscale="log", yscale="log", xlim=(lowest, highest), ylim=(0.7, 6000), xlabel=w["x"], ylabel=w["y"])
    style.plain_log_labels(ax.xaxis, (0.1, 0.5, 2, 10, 76.8, 500, 2731, 10000))
    style.plain_log_labels(ax.yaxis, (1, 10, 100, 1000))
    ax.legend(loc="lower right", fontsize=9.5)
    figure.suptitle(d["device"], x=0.01, ha="left", fontsize=9.5, color=style.GREY)
    return figure
