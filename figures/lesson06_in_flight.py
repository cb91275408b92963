"""Figure 6-4: ring_pipeline with one group of wgmmas in flight and with none, measured on the H200."""

from __future__ import annotations

from figures import style

LESSON = "lesson06_smem_pipeline"
DATA = ("lesson06_in_flight.json",)
TITLE = {"zh": "图 6-4 留一组 wgmma 在途与不留", "en": "Figure 6-4: one group of wgmmas in flight, and none"}
DESCRIPTION = {
    "zh": "4096 立方，2 到 7 个 stage：两个 stage 时不留在途的组更快，四个起两者相同。",
    "en": "4096 cubed, 2 to 7 stages: with two stages it is faster to leave no group in flight; from four on the two are alike.",
}
WORDS = {
    "zh": {"x": "stage 数", "y": "TFLOP/s", 1: "留一组在途，归还晚一块", 0: "不留，做完就归还"},
    "en": {
        "x": "stages",
        "y": "TFLOP/s",
        1: "one group in flight, released a block late",
        0: "none in flight, released when done",
    },
}


def data(measured: dict) -> dict:
    rate = lambda p, ms: p["tflop_per_s"] * p["ms"] / ms
    rows = lambda g: [
        (p["stages"], p["tflop_per_s"], rate(p, p["ms_p90"]), rate(p, p["ms_p10"]))
        for p in measured["points"]
        if p["in_flight"] == g
    ]
    return {
        "one": rows(1),
        "none": rows(0),
        "device": measured["receipt"]["device"],
        "time": measured["receipt"]["time"],
    }


def plot(d: dict, lang: str):
    w = WORDS[lang]
    figure, ax = style.plt.subplots(figsize=(8.5, 3.6), layout="constrained")
    for points, name, colour, marker, dash, shift in (
        (d["one"], w[1], style.BLUE, "o", "-", -0.04),
        (d["none"], w[0], style.ORANGE, "s", "--", 0.04),
    ):
        x, y, low, high = map(list, zip(*points))
        x = [v + shift for v in x]
        ax.plot(x, y, color=colour, marker=marker, linestyle=dash, label=name)
        ax.errorbar(
            x,
            y,
            [[b - a for a, b in zip(low, y)], [b - a for a, b in zip(y, high)]],
            fmt="none",
            ecolor=colour,
            elinewidth=1.2,
        )
    ax.set(xlabel=w["x"], ylabel=w["y"], ylim=(0, None), xticks=range(2, 8))
    ax.legend(loc="lower right")
    figure.suptitle(d["device"], x=0.01, ha="left", fontsize=9.5, color=style.GREY)
    return figure
