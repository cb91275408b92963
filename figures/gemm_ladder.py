"""The GEMM ladder: each rung's TFLOP/s on the H200 with cuBLAS measured in turn with it, long K and short K."""

from __future__ import annotations

from figures import style

FOLDER = "figures/drawn"
DATA = ("gemm_ladder.json",)
TITLE = {"zh": "GEMM 阶梯", "en": "The GEMM ladder"}
DESCRIPTION = {
    "zh": "十级 kernel 的 TFLOP/s 横条图，每条旁的竖线是同一次运行里轮流测得的 cuBLAS。前两级只用 CUDA core；最后一级在四种形状上都超过 cuBLAS，K 小时超出最多。",
    "en": "Bars of TFLOP/s for ten kernels; the line by each bar is cuBLAS, measured in turn with it. The first two use CUDA cores only; the last is ahead of cuBLAS at all four shapes, most at small K.",
}
PANELS = (((4096, 4096, 4096), (8192, 8192, 8192)), ((8192, 8192, 512), (8192, 8192, 1024)))
WORDS = {
    "zh": {
        "x": "TFLOP/s（BF16 输入与输出，FP32 累加）",
        "long": "K 大",
        "short": "K 小",
        "line": "黑线：与该级轮流测得的 cuBLAS；百分数：与它之比",
    },
    "en": {
        "x": "TFLOP/s (BF16 in and out, FP32 sums)",
        "long": "long K",
        "short": "short K",
        "line": "black line: cuBLAS, measured in turn with the rung; percentages: of that",
    },
}


def data(measured: dict) -> dict:
    """Rungs in order; by shape their TFLOP/s and cuBLAS's, readings of launches back to back."""
    rows = [p for p in measured["points"] if p["mode"] == "bursts"]
    rungs = sorted({(p["step"], p["rung"]) for p in rows})
    shapes = {}
    for shape in (s for panel in PANELS for s in panel):
        here = {p["rung"]: p for p in rows if (p["m"], p["n"], p["k"]) == shape}
        shapes["x".join(map(str, shape))] = {
            key: [here[name][key] for _, name in rungs] for key in ("tflops", "cublas_tflops", "of_cublas")
        }
    return {
        "rungs": [name for _, name in rungs],
        "shapes": shapes,
        "device": measured["receipt"]["device"],
        "time": measured["receipt"]["time"],
    }


def plot(d: dict, lang: str):
    w = WORDS[lang]
    places = range(len(d["rungs"]))
    figure, axes = style.plt.subplots(1, 2, figsize=(10.6, 5.6), sharey=True, sharex=True, layout="constrained")
    height = 0.38
    for ax, panel, title in zip(axes, PANELS, ("long", "short")):
        for i, (shape, colour) in enumerate(zip(panel, (style.BLUE, style.ORANGE))):
            s = d["shapes"]["x".join(map(str, shape))]
            y = [p + (i - 0.5) * height for p in places]
            label = f"M = N = K = {shape[0]}" if len(set(shape)) == 1 else f"M = N = {shape[0]}, K = {shape[2]}"
            ax.barh(y, s["tflops"], height * 0.92, color=colour, label=label, edgecolor="white", linewidth=0)
            ax.vlines(
                s["cublas_tflops"],
                [v - height * 0.46 for v in y],
                [v + height * 0.46 for v in y],
                color=style.BLACK,
                linewidth=1.6,
            )
            ends = [max(pair) for pair in zip(s["tflops"], s["cublas_tflops"])]
            for v, end, value, ratio in zip(y, ends, s["tflops"], s["of_cublas"]):
                ax.text(
                    end + 12,
                    v,
                    f"{value:.0f} · {100 * ratio:.0f} %" if value >= 10 else f"{value:.1f}",
                    va="center",
                    fontsize=8.5,
                )
        ax.set(title=w[title], xlabel=w["x"], xlim=(0, 1000))
        ax.legend(
            loc="lower left",
            bbox_to_anchor=(-0.02, 1.06),
            ncols=2,
            fontsize=9,
            columnspacing=1.4,
            handlelength=1.6,
            borderpad=0,
        )
        ax.grid(axis="y", visible=False)
    axes[0].set_yticks(list(places), [name.removeprefix("gemm_") for name in d["rungs"]])
    axes[0].invert_yaxis()
    figure.suptitle(f"{d['device']} · {w['line']}", x=0.01, ha="left", fontsize=9.5, color=style.GREY)
    return figure
