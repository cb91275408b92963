"""Figure 8-5: the best tile configuration over a grid of shapes, against one fixed configuration and cuBLAS, measured on the H200."""

from __future__ import annotations

from figures import style

LESSON = "lesson08_kernel_selection"
DATA = ("lesson08_configurations.json",)
TITLE = {"zh": "图 8-5 每个形状的最佳 tile", "en": "Figure 8-5: the best tile of each shape"}
DESCRIPTION = {
    "zh": "行为 M，列为 N，K = 4096。每格：最快的 tile 配置、它比固定用 128x256 快多少倍、达到 cuBLAS 的百分之几。颜色深浅为前者。",
    "en": "Rows M, columns N, K = 4096. Each cell: the fastest tile, how many times faster it is than always taking 128x256, and what per cent of cuBLAS it reaches. Shade by the former.",
}
WORDS = {
    "zh": {
        "x": "N",
        "y": "M",
        "cell": "{best}\n{of_fixed:.2f}× / {of_cublas:.0f} %",
        "bar": "比固定 128x256 快的倍数",
        "title": "最快的 tile；相对固定 128x256；相对 cuBLAS（K = {k}）",
    },
    "en": {
        "x": "N",
        "y": "M",
        "cell": "{best}\n{of_fixed:.2f}× / {of_cublas:.0f} %",
        "bar": "times faster than always 128x256",
        "title": "fastest tile; over a fixed 128x256; of cuBLAS (K = {k})",
    },
}


def data(measured: dict) -> dict:
    best = [p for p in measured["points"] if p["best"]]
    cells = [
        {"m": p["m"], "n": p["n"], "best": p["config"], "of_fixed": p["of_fixed"], "of_cublas": 100 * p["of_cublas"]}
        for p in best
    ]
    return {
        "k": best[0]["k"],
        "cells": cells,
        "device": measured["receipt"]["device"],
        "time": measured["receipt"]["time"],
    }


def plot(d: dict, lang: str):
    w = WORDS[lang]
    ms, ns = sorted({c["m"] for c in d["cells"]}), sorted({c["n"] for c in d["cells"]})
    grid = [[next(c for c in d["cells"] if (c["m"], c["n"]) == (m, n)) for n in ns] for m in ms]
    figure, ax = style.plt.subplots(figsize=(8.5, 5.6), layout="constrained")
    shown = ax.imshow([[c["of_fixed"] for c in row] for row in grid], cmap="YlGnBu", vmin=0.8, vmax=4, aspect="auto")
    for y, row in enumerate(grid):
        for x, c in enumerate(row):
            ax.text(x, y, w["cell"].format(**c), ha="center", va="center", fontsize=9.5)
    ax.set_xticks(range(len(ns)), [str(n) for n in ns])
    ax.set_yticks(range(len(ms)), [str(m) for m in ms])
    ax.set(xlabel=w["x"], ylabel=w["y"], title=w["title"].format(k=d["k"]))
    ax.grid(visible=False)
    bar = figure.colorbar(shown, ax=ax, shrink=0.8)
    bar.set_label(w["bar"])
    bar.ax.set_ylim(1, 2.6)
    figure.suptitle(d["device"], x=0.01, ha="left", fontsize=9.5, color=style.GREY)
    return figure
