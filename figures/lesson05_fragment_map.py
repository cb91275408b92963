"""Figure 5-2: who holds which accumulator of a 64 x 16 tile, read off the H200's own registers."""

from __future__ import annotations

from figures import style

LESSON = "lesson05_wgmma"
DATA = ("lesson05_fragment_map.json",)
TITLE = {"zh": "图 5-2 累加器的 fragment 分布", "en": "Figure 5-2: the fragment map of the accumulators"}
DESCRIPTION = {
    "zh": "64×16 累加器 tile 的前 16 行（warp 0）：每格写明线程（t）与寄存器（r），颜色表示四线程组里的位置，黑框是线程 5 的 8 个寄存器；其余三个 warp 各占其后的 16 行。",
    "en": "The first 16 rows (warp 0) of the 64 by 16 accumulator tile: each cell names thread (t) and register (r), colours show the place within a group of four threads, frames mark the 8 registers of thread 5; the other three warps hold the next 16 rows each in the same way.",
}
ROWS, COLUMNS = 16, 16
FRAMED = 5  # a thread
WORDS = {
    "zh": {
        "x": "列",
        "y": "行",
        "cell": "t{} r{}",
        "note": "warp 0（线程 0–31）；warp w 持有第 16w 到 16w+15 行。黑框：线程 5 的 8 个寄存器",
    },
    "en": {
        "x": "column",
        "y": "row",
        "cell": "t{} r{}",
        "note": "warp 0 (threads 0 to 31); warp w holds rows 16w to 16w + 15. Framed: the 8 registers of thread 5",
    },
}


def data(measured: dict) -> dict:
    cells = [[None] * COLUMNS for _ in range(ROWS)]
    for p in measured["points"]:
        if p["row"] < ROWS:
            cells[p["row"]][p["column"]] = [p["thread"], p["register"]]
    return {"cells": cells, "device": measured["receipt"]["device"], "time": measured["receipt"]["time"]}


def plot(d: dict, lang: str):
    w = WORDS[lang]
    colours = (style.SKY, style.ORANGE, style.GREEN, style.PURPLE)
    figure, ax = style.plt.subplots(figsize=(9, 5.4), layout="constrained")
    for row, line in enumerate(d["cells"]):
        for column, (thread, register) in enumerate(line):
            ax.add_patch(
                style.plt.Rectangle(
                    (column, row),
                    1,
                    1,
                    facecolor=colours[thread % 4],
                    alpha=0.55 if thread // 4 % 2 else 0.28,
                    edgecolor="white",
                    linewidth=0.8,
                )
            )
            if thread == FRAMED and register % 2 == 0:
                ax.add_patch(
                    style.plt.Rectangle((column, row), 2, 1, fill=False, edgecolor=style.BLACK, linewidth=1.8, zorder=3)
                )
            ax.text(column + 0.5, row + 0.5, w["cell"].format(thread, register), ha="center", va="center", fontsize=7.5)
    ax.set(xlim=(0, COLUMNS), ylim=(ROWS, 0), xlabel=w["x"], ylabel=w["y"])
    ax.set_xticks([i + 0.5 for i in range(COLUMNS)], [str(i) for i in range(COLUMNS)])
    ax.set_yticks([i + 0.5 for i in range(ROWS)], [str(i) for i in range(ROWS)])
    ax.grid(visible=False)
    ax.tick_params(length=0)
    ax.set_title(w["note"])
    figure.suptitle(d["device"], x=0.01, ha="left", fontsize=9.5, color=style.GREY)
    return figure
