"""Figure 4-5: one warp reads down a column: which banks, in how many wavefronts. Computed; the demonstration draws one of the four."""

from __future__ import annotations

from figures import style
from kernels.specs.bulk_copy import ROW_BYTES, swizzled_offset

LESSON = "lesson04_bulk_copy"
DATA = ()
TITLE = {
    "zh": "图 4-5 一个 warp 沿一列读：bank 与 wavefront",
    "en": "Figure 4-5: a warp reads down a column: banks and wavefronts",
}
DESCRIPTION = {
    "zh": "四幅 32 行乘 32 个 bank 的格图，涂色的是一个 warp 读到的字，同色者在同一个 wavefront 里送出。4 字节读：不 swizzle 需要 32 个 wavefront，swizzle 后 4 个；16 字节读：32 个对 4 个，但读到四倍的数据。",
    "en": "Four grids of 32 rows by 32 banks. Coloured: the words a warp reads; same colour, same wavefront. 4-byte reads: 32 wavefronts without swizzle, 4 with it. 16-byte reads: 32 against 4, for four times the data.",
}
ROWS, COLUMN = 32, 8
VARIANTS = ((0, 4), (128, 4), (0, 16), (128, 16))
WORDS = {
    "zh": {
        "title": "{}，每次读 {} 字节\n{} 个 wavefront（最少 {}）",
        "with": "swizzle",
        "without": "不 swizzle",
        "x": "bank",
        "y": "行（lane）",
    },
    "en": {
        "title": "{}, {}-byte reads\n{} wavefronts (fewest: {})",
        "with": "swizzle",
        "without": "no swizzle",
        "x": "bank",
        "y": "row (lane)",
    },
}


def served(swizzle: int, read: int) -> tuple[list[list[int]], int, int]:
    """([row, bank, wavefront] of every word read, wavefronts, the fewest that so many bytes take)."""
    lanes = 32 if read == 4 else 8
    words, before = [], 0
    for first in range(0, ROWS, lanes):
        waiting = [0] * 32  # words already asked of each bank
        for row in range(first, first + lanes):
            at = swizzled_offset(row, 4 * COLUMN) if swizzle else row * ROW_BYTES + 4 * COLUMN
            for word in range(at // 4, (at + read) // 4):
                words.append([row, word % 32, before + waiting[word % 32]])
                waiting[word % 32] += 1
        before += max(waiting)
    return words, before, ROWS * read // ROW_BYTES


def data() -> dict:
    panels = []
    for swizzle, read in VARIANTS:
        words, wavefronts, least = served(swizzle, read)
        panels.append({"swizzle": swizzle, "read": read, "words": words, "wavefronts": wavefronts, "least": least})
    return {"panels": panels}


def plot(d: dict, lang: str):
    w = WORDS[lang]
    figure, axes = style.plt.subplots(2, 2, figsize=(8.5, 9.2), sharex=True, sharey=True, layout="constrained")
    colours = style.plt.get_cmap("viridis")
    for ax, p in zip(axes.flat, d["panels"]):
        for row, bank, wave in p["words"]:
            ax.add_patch(
                style.plt.Rectangle(
                    (bank, row),
                    1,
                    1,
                    facecolor=colours(0.95 * wave / max(1, p["wavefronts"] - 1)),
                    edgecolor="white",
                    linewidth=0.3,
                )
            )
        ax.set(
            xlim=(0, 32),
            ylim=(32, 0),
            aspect="equal",
            title=w["title"].format(w["with" if p["swizzle"] else "without"], p["read"], p["wavefronts"], p["least"]),
        )
        ax.set_xticks([0.5 + i for i in range(0, 32, 8)] + [31.5], [str(i) for i in range(0, 32, 8)] + ["31"])
        ax.set_yticks([0.5 + i for i in range(0, 32, 8)] + [31.5], [str(i) for i in range(0, 32, 8)] + ["31"])
        ax.grid(visible=False)
        for i in range(0, 33, 4):
            ax.axvline(i, color=style.LIGHT, linewidth=0.6, zorder=0)
        for i in range(0, 33, 8):
            ax.axhline(i, color=style.LIGHT, linewidth=0.6, zorder=0)
    for ax in axes[1]:
        ax.set_xlabel(w["x"])
    for ax in axes[:, 0]:
        ax.set_ylabel(w["y"])
    return figure
