"""Figure 7-5: the epilogue fused into the GEMM against separate kernels, as multiples of the GEMM alone, on the H200."""

from __future__ import annotations

from figures import style

LESSON = "lesson07_mixed_precision_epilogue"
DATA = ("lesson07_fused_vs_separate.json",)
TITLE = {"zh": "图 7-5 融合与独立 kernel", "en": "Figure 7-5: fused and separate kernels"}
DESCRIPTION = {
    "zh": "纵轴：用时与单独 GEMM 用时之比。独立 kernel 的比值在 K 小时很高，随 K 增大而下降；融合始终接近 1。",
    "en": "Vertical: time over the time of the GEMM alone. Separate kernels cost a large multiple at small K and less at large K; the fused epilogue stays near 1.",
}
PANELS = (  # (panel, family, its series)
    ("silu", "course", ("bias, silu fused", "bias, silu in 1 kernel", "bias, silu in 2 kernels")),
    (
        "residual",
        "course",
        ("bias, residual, silu fused", "bias, residual, silu in 1 kernel", "bias, residual, silu in 3 kernels"),
    ),
    ("torch", "torch", ("bias, gelu fused (cuBLASLt)", "bias, gelu in 2 kernels", "bias, residual, silu in 3 kernels")),
)
WORDS = {
    "zh": {
        "silu": ("本课：偏置 + SiLU", ("融合", "GEMM + 1 个 kernel", "GEMM + 2 个 kernel")),
        "residual": ("本课：偏置 + 残差 C + SiLU", ("融合", "GEMM + 1 个 kernel", "GEMM + 3 个 kernel")),
        "torch": ("torch（cuBLAS）", ("偏置 + GELU 融合", "偏置、GELU：2 个 kernel", "偏置、残差、SiLU：3 个 kernel")),
        "x": "K（M = N = 8192）",
        "y": "用时 / 同一家单独 GEMM 的用时",
    },
    "en": {
        "silu": ("this course: bias + SiLU", ("fused", "GEMM + 1 kernel", "GEMM + 2 kernels")),
        "residual": ("this course: bias + residual C + SiLU", ("fused", "GEMM + 1 kernel", "GEMM + 3 kernels")),
        "torch": ("torch (cuBLAS)", ("bias + GELU fused", "bias, GELU: 2 kernels", "bias, residual, SiLU: 3 kernels")),
        "x": "K (M = N = 8192)",
        "y": "time / time of that family's GEMM alone",
    },
}


def data(measured: dict) -> dict:
    panels = {}
    for panel, family, variants in PANELS:
        series = []
        for v in variants:
            rows = sorted(
                (p for p in measured["points"] if p["family"] == family and p["variant"] == v), key=lambda p: p["k"]
            )
            of_gemm = [p["of_gemm"] for p in rows]
            spread = [[p["of_gemm"] * abs(p[q] / p["ms"] - 1) for p in rows] for q in ("ms_p10", "ms_p90")]
            series.append({"variant": v, "k": [p["k"] for p in rows], "of_gemm": of_gemm, "spread": spread})
        panels[panel] = series
    return {"panels": panels, "device": measured["receipt"]["device"], "time": measured["receipt"]["time"]}


def plot(d: dict, lang: str):
    w = WORDS[lang]
    figure, axes = style.plt.subplots(1, 3, figsize=(10.5, 4.6), sharey=True, layout="constrained")
    for ax, (panel, series) in zip(axes, d["panels"].items()):
        title, names = w[panel]
        for s, name, colour, marker, dash in zip(
            series, names, (style.BLUE, style.ORANGE, style.RED), style.MARKERS, style.DASHES
        ):
            ax.errorbar(
                s["k"],
                s["of_gemm"],
                yerr=s["spread"],
                elinewidth=0.9,
                capsize=2,
                color=colour,
                marker=marker,
                markersize=4,
                linestyle=dash,
                label=name,
            )
        ax.set_xscale("log")
        style.plain_log_labels(ax.xaxis, series[0]["k"])
        ax.axhline(1, color=style.GREY, linewidth=0.8)
        ax.set(title=title, xlabel=w["x"])
        ax.legend(loc="upper right")
    axes[0].set_ylabel(w["y"])
    axes[0].set_ylim(0, 5)
    figure.suptitle(d["device"], x=0.01, ha="left", fontsize=9.5, color=style.GREY)
    return figure
