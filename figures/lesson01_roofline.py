"""Figure 1-2: the measured roofline of the H200, CUDA cores in fp32 and tensor cores in bf16."""

from __future__ import annotations

from figures import style

LESSON = "lesson01_roofline"
MARKED = (64, 128, 256, 512, 8192)  # K written beside the GEMM's point
DATA = ("lesson01_roofline.json",)
TITLE = {"zh": "图 1-2 实测的 roofline", "en": "Figure 1-2: the measured roofline"}
DESCRIPTION = {
    "zh": "横轴为算术强度，纵轴为 FLOP/s，均为对数。斜线是实测拷贝带宽，两条横线是 FP32 与 BF16 的实测上限；点是探针 kernel 与 GEMM 的实测值：只读的探针略高于拷贝带宽，拐点附近低于屋顶最多。",
    "en": "Horizontal: arithmetic intensity; vertical: FLOP/s; both logarithmic. The slope is the measured copy bandwidth, the two levels the measured ceilings of FP32 and BF16; the probe, which only reads, is a little above the copy, and all fall furthest below the roof near the ridge.",
}
WORDS = {
    "zh": {
        "x": "算术强度（FLOP / 字节）",
        "y": "TFLOP/s",
        "slope": "实测拷贝带宽 {:.2f} TB/s",
        "fp32": "FP32 上限 {:.1f} TFLOP/s，拐点 {:.1f}",
        "bf16": "BF16 wgmma 上限 {:.0f} TFLOP/s，拐点 {:.0f}",
        "probe": "探针 kernel（FP32）",
        "ours": "本课程的 GEMM（M = N = 8192，K = 64 … 8192）",
        "cublas": "cuBLAS，同样的形状",
    },
    "en": {
        "x": "arithmetic intensity (FLOP / byte)",
        "y": "TFLOP/s",
        "slope": "measured copy bandwidth {:.2f} TB/s",
        "fp32": "FP32 ceiling {:.1f} TFLOP/s, ridge {:.1f}",
        "bf16": "BF16 wgmma ceiling {:.0f} TFLOP/s, ridge {:.0f}",
        "probe": "probe kernel (FP32)",
        "ours": "the course's GEMM (M = N = 8192, K = 64 … 8192)",
        "cublas": "cuBLAS, the same shapes",
    },
}


def data(measured: dict) -> dict:
    points = measured["points"]
    tera = lambda unit, start="": [
        (p["intensity"], p["flop_per_s"] / 1e12)
        for p in points
        if p["unit"] == unit and p["intensity"] and p["variant"].startswith(start)
    ]
    top = lambda unit: max(p["flop_per_s"] / 1e12 for p in points if p["unit"] == unit)
    copy = next(p["tb_per_s"] for p in points if p["unit"] == "copy")
    return {
        "copy": copy,
        "fp32": top("fp32"),
        "bf16": max(p["flop_per_s"] / 1e12 for p in points if p["variant"] == "wgmma alone, random"),
        "series": {"probe": tera("fp32"), "ours": tera("bf16", "gemm_pingpong"), "cublas": tera("bf16", "cublas")},
        "k": [int(p["variant"].rpartition(" ")[2]) for p in points if p["variant"].startswith("gemm_pingpong")],
        "device": measured["receipt"]["device"],
        "time": measured["receipt"]["time"],
    }


def plot(d: dict, lang: str):
    w = WORDS[lang]
    figure, ax = style.plt.subplots(figsize=(8.5, 5), layout="constrained")
    lowest, highest = 0.4, 4000
    ax.plot(
        [lowest, d["bf16"] / d["copy"]],
        [lowest * d["copy"], d["bf16"]],
        color=style.BLACK,
        linewidth=1.4,
        label=w["slope"].format(d["copy"]),
    )
    for unit, colour, dash in (("fp32", style.ORANGE, "--"), ("bf16", style.BLUE, "-.")):
        ridge = d[unit] / d["copy"]
        ax.plot(
            [ridge, highest],
            [d[unit]] * 2,
            color=colour,
            linestyle=dash,
            linewidth=1.4,
            label=w[unit].format(d[unit], ridge),
        )
        ax.plot([ridge], [d[unit]], marker="|", markersize=14, color=colour)
    looks = {"probe": (style.RED, "o"), "ours": (style.BLUE, "^"), "cublas": (style.GREY, "x")}
    for name, points in d["series"].items():
        colour, marker = looks[name]
        ax.plot(*zip(*points), linestyle="none", marker=marker, color=colour, label=w[name])
    for (x, y), k in zip(d["series"]["ours"], d["k"]):
        if k in MARKED:
            ax.annotate(f"K = {k}", (x, y), xytext=(6, -12), textcoords="offset points", fontsize=9, color=style.BLUE)
    ax.set(xscale="log", yscale="log", xlim=(lowest, highest), xlabel=w["x"], ylabel=w["y"])
    style.plain_log_labels(ax.xaxis, (0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000))
    style.plain_log_labels(ax.yaxis, (2, 5, 10, 20, 50, 100, 200, 500, 1000))
    ax.legend(loc="lower right", fontsize=9.5)
    figure.suptitle(d["device"], x=0.01, ha="left", fontsize=9.5, color=style.GREY)
    return figure
