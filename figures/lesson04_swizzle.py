"""Figure 4-2: the 128-byte swizzle as a grid of banks, computed."""

from __future__ import annotations

from figures import style
from kernels.specs.bulk_copy import ROW_BYTES, swizzled_offset

LESSON = "lesson04_bulk_copy"
DATA = ()
TITLE = {"zh": "图 4-2 128 字节 swizzle 与 bank", "en": "Figure 4-2: the 128-byte swizzle and the banks"}
DESCRIPTION = {
    "zh": "八行、每行八个 16 字节块在共享内存中的位置。不 swizzle 时逻辑块 2 全在同一组 bank；swizzle 后分散到八组。",
    "en": "Eight rows of eight 16-byte chunks as they lie in shared memory. Without swizzle logical chunk 2 of all rows lies in the same four banks; with it in eight different groups.",
}
MARKED, ROWS = 2, 8
WORDS = {
    "zh": {
        "plain": "不 swizzle",
        "swizzled": "128 字节 swizzle",
        "x": "物理位置：bank 组（每组 4 个 bank，16 字节）",
        "y": "行",
    },
    "en": {
        "plain": "no swizzle",
        "swizzled": "128-byte swizzle",
        "x": "physical place: banks in groups of four (16 bytes)",
        "y": "row",
    },
}


def data() -> dict:
    """grids[layout][row][place] = the logical chunk that lies there."""
    grids = {}
    for layout, offset in (("plain", lambda r, b: r * ROW_BYTES + b), ("swizzled", swizzled_offset)):
        grid = [[0] * 8 for _ in range(ROWS)]
        for row in range(ROWS):
            for chunk in range(8):
                grid[row][offset(row, 16 * chunk) % ROW_BYTES // 16] = chunk
        grids[layout] = grid
    return {"grids": grids, "marked": MARKED}


def plot(d: dict, lang: str):
    w = WORDS[lang]
    figure, axes = style.plt.subplots(1, 2, figsize=(8.5, 4.2), sharey=True, layout="constrained")
    for ax, (layout, grid) in zip(axes, d["grids"].items()):
        for row, line in enumerate(grid):
            for place, chunk in enumerate(line):
                hit = chunk == d["marked"]
                ax.add_patch(
                    style.plt.Rectangle(
                        (place, row),
                        1,
                        1,
                        facecolor=style.ORANGE if hit else "white",
                        edgecolor=style.GREY,
                        linewidth=0.8,
                    )
                )
                ax.text(
                    place + 0.5, row + 0.5, str(chunk), ha="center", va="center", fontweight="bold" if hit else "normal"
                )
        ax.set(xlim=(0, 8), ylim=(8, 0), title=w[layout], xlabel=w["x"], aspect="equal")
        ax.set_xticks([i + 0.5 for i in range(8)], [f"{4 * i}–{4 * i + 3}" for i in range(8)], fontsize=9.1)
        ax.set_yticks([i + 0.5 for i in range(8)], [str(i) for i in range(8)])
        ax.grid(visible=False)
        ax.tick_params(length=0)
    axes[0].set_ylabel(w["y"])
    return figure
