"""Figure 6-3: throughput of ring_pipeline against its stages, measured on the H200."""

from __future__ import annotations

from figures import style

LESSON = "lesson06_smem_pipeline"
DATA = ("lesson06_stages.json",)
TITLE = {"zh": "图 6-3 吞吐与 stage 数", "en": "Figure 6-3: throughput against stages"}
DESCRIPTION = {
    "zh": "ring_pipeline 用 1 到 7 个 stage 时相对同一轮 cuBLAS 的速度，三种形状。前四个 stage 收益很大；K = 512 时从三个起几乎持平。",
    "en": "Speed of ring_pipeline with 1 to 7 stages relative to cuBLAS of the same run, three shapes. The first four stages gain much; at K = 512 the curve is almost flat from three on.",
}
WORDS = {
    "zh": {"x": "stage 数", "y": "相对 cuBLAS 的速度（%）", "name": "{m} × {n} × {k}（cuBLAS {cublas:.0f} TFLOP/s）"},
    "en": {"x": "stages", "y": "speed, % of cuBLAS", "name": "{m} × {n} × {k} (cuBLAS {cublas:.0f} TFLOP/s)"},
}


def data(measured: dict) -> dict:
    series = []
    for m, n, k in dict.fromkeys((p["m"], p["n"], p["k"]) for p in measured["points"]):
        rows = [p for p in measured["points"] if (p["m"], p["n"], p["k"]) == (m, n, k)]
        (cublas,) = (p for p in rows if not p["stages"])
        percent = lambda ms: 100 * cublas["ms"] / ms
        points = [
            (p["stages"], percent(p["ms"]), percent(p["ms_p90"]), percent(p["ms_p10"])) for p in rows if p["stages"]
        ]
        series.append({"m": m, "n": n, "k": k, "cublas": cublas["tflop_per_s"], "points": points})
    return {"series": series, "device": measured["receipt"]["device"], "time": measured["receipt"]["time"]}


def plot(d: dict, lang: str):
    w = WORDS[lang]
    figure, ax = style.plt.subplots(figsize=(8.5, 4.2), layout="constrained")
    for i, (s, colour, marker, dash) in enumerate(
        zip(d["series"], (style.BLUE, style.ORANGE, style.GREEN), style.MARKERS, style.DASHES)
    ):
        x, y, low, high = map(list, zip(*s["points"]))
        x = [v + 0.05 * (i - 1) for v in x]  # so that the bars of two curves do not cover each other
        ax.plot(x, y, color=colour, marker=marker, linestyle=dash, label=w["name"].format(**s))
        ax.errorbar(
            x,
            y,
            [[b - a for a, b in zip(low, y)], [b - a for a, b in zip(y, high)]],
            fmt="none",
            ecolor=colour,
            elinewidth=1.2,
        )
    ax.set(xlabel=w["x"], ylabel=w["y"], ylim=(0, 105))
    ax.axhline(100, color=style.GREY, linewidth=0.8)
    ax.legend(loc="lower right")
    figure.suptitle(d["device"], x=0.01, ha="left", fontsize=9.5, color=style.GREY)
    return figure
