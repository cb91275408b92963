"""Figure 7-7: error of D for an early and a late cast to FP16 as the two terms cancel, measured with the kernel on the H200."""

from __future__ import annotations

from figures import style

LESSON = "lesson07_mixed_precision_epilogue"
DATA = ("lesson07_early_late_cast.json",)
TITLE = {"zh": "图 7-7 早转换与晚转换", "en": "Figure 7-7: early and late cast"}
DESCRIPTION = {
    "zh": "横轴：结果相对于 alpha·acc 缩小的倍数。早转换的误差随抵消成比例变大，输出用 FP32 也救不回来；晚转换停在输出格式的一次舍入。",
    "en": "Horizontal: by how much the result is smaller than alpha·acc. The error of the early cast grows in proportion, even with FP32 output; that of the late cast stays at one rounding of the output format.",
}
# The late cast with FP32 output is exact to a few 1e-8, often to the last bit: it has no place on this logarithmic axis.
SERIES = (("early", "fp16", style.RED), ("early", "fp32", style.ORANGE), ("late", "fp16", style.BLUE))
WORDS = {
    "zh": {
        "x": "抵消的倍数：|alpha·acc| / |D|",
        "y": "误差范数 ||D - 精确|| / ||精确||",
        "early": "早转换，{out} 输出",
        "late": "晚转换，{out} 输出",
    },
    "en": {
        "x": "cancellation: |alpha·acc| / |D|",
        "y": "error norm ||D - exact|| / ||exact||",
        "early": "early cast, {out} output",
        "late": "late cast, {out} output",
    },
}


def data(measured: dict) -> dict:
    series = {}
    for cast, out, _ in SERIES:
        rows = sorted(
            (p for p in measured["points"] if p["cast"] == cast and p["out"] == out), key=lambda p: -p["kept"]
        )
        series[f"{cast} {out}"] = {
            "cancellation": [1 / p["kept"] for p in rows],
            "error": [p["norm_error"] for p in rows],
        }
    return {"series": series, "device": measured["receipt"]["device"], "time": measured["receipt"]["time"]}


def plot(d: dict, lang: str):
    w = WORDS[lang]
    figure, ax = style.plt.subplots(figsize=(7.5, 4.2), layout="constrained")
    for (cast, out, colour), marker, dash in zip(SERIES, style.MARKERS, style.DASHES):
        s = d["series"][f"{cast} {out}"]
        ax.loglog(
            s["cancellation"],
            s["error"],
            color=colour,
            marker=marker,
            linestyle=dash,
            label=w[cast].format(out=out.upper()),
        )
    style.plain_log_labels(ax.xaxis, (1, 10, 100, 1000, 10000))
    ax.set(xlabel=w["x"], ylabel=w["y"], title=d["device"])
    ax.legend(loc="upper left", fontsize=9.5)
    return figure
