"""Figure 8-6: what rules of dispatch lose against the best configuration, on the grid and at unseen shapes, measured on the H200."""

from __future__ import annotations

from figures import style

LESSON = "lesson08_kernel_selection"
DATA = ("lesson08_unseen.json",)
TITLE = {"zh": "图 8-6 派发规则的损失", "en": "Figure 8-6: what rules of dispatch lose"}
DESCRIPTION = {
    "zh": "六种派发规则相对最快配置平均多用的时间（几何平均），分别在 28 个网格形状和 60 个随机形状上。查表在网格上没有损失，在没见过的形状上比不用测量的模型更差。",
    "en": "Extra time over the fastest configuration (geometric mean) of six rules of dispatch, on the 28 shapes of the grid and on 60 random ones. A table loses nothing on the grid and more than the model without measurements on shapes it has not seen.",
}
RULES = ("fixed", "table", "rates", "model", "ring_rates", "ring")
WORDS = {
    "zh": {
        "x": "比最快配置平均多用的时间（%）",
        "fixed": "总用 128x256",
        "table": "查网格中最近的形状",
        "rates": "模型，换成实测速率",
        "model": "模型 choose()",
        "ring_rates": "模型，数 stage，实测速率",
        "ring": "模型，数真正在途的 stage",
        "grid": "网格（28 个形状）",
        "random": "没见过的（60 个随机形状）",
    },
    "en": {
        "x": "time over the fastest configuration's, mean, %",
        "fixed": "always 128x256",
        "table": "the nearest shape of the grid",
        "rates": "model, with measured rates",
        "model": "model, choose()",
        "ring_rates": "model, counts stages, measured rates",
        "ring": "model, counts stages in flight",
        "grid": "grid (28 shapes)",
        "random": "unseen (60 random shapes)",
    },
}


def data(measured: dict) -> dict:
    rows = {(p["shapes"], p["rule"]): 100 * (p["mean_loss"] - 1) for p in measured["points"] if p["kind"] == "rule"}
    return {
        "rows": [{"rule": r, "grid": rows["grid", r], "random": rows["random", r]} for r in RULES],
        "device": measured["receipt"]["device"],
        "time": measured["receipt"]["time"],
    }


def plot(d: dict, lang: str):
    w = WORDS[lang]
    figure, ax = style.plt.subplots(figsize=(8.6, 4.2), layout="constrained")
    for offset, which, colour, hatch in ((-0.19, "grid", style.SKY, ""), (0.19, "random", style.ORANGE, "///")):
        bars = ax.barh(
            [i + offset for i in range(len(d["rows"]))],
            [min(r[which], 12) for r in d["rows"]],
            height=0.36,
            color=colour,
            hatch=hatch,
            edgecolor="white",
            label=w[which],
        )
        style.bar_labels(ax, bars, [f"{r[which]:.1f}" + (" →" if r[which] > 12 else "") for r in d["rows"]])
    ax.set_yticks(range(len(d["rows"])), [w[r["rule"]] for r in d["rows"]])
    ax.invert_yaxis()
    ax.grid(axis="y", visible=False)
    ax.set(xlim=(0, 14), xlabel=w["x"])
    ax.legend(loc="lower right")
    figure.suptitle(d["device"], x=0.01, ha="left", fontsize=9.5, color=style.GREY)
    return figure
