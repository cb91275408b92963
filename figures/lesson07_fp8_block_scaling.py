"""Figure 7-1: FP8 (E4M3) with one scale for each 1x128 block of A and each 128x128 block of B.

Everything is computed here: random normal activations whose rows and channel blocks differ in size, quantised with
ml_dtypes' float8_e4m3fn. The third panel adds one outlier and compares a scale per tensor with a scale per block.
"""

from __future__ import annotations

import ml_dtypes
import numpy as np
from matplotlib.patches import Rectangle

from figures import style

LESSON = "lesson07_mixed_precision_epilogue"
DATA = ()
TITLE = {"zh": "图 7-1 FP8 分块缩放", "en": "Figure 7-1: FP8 block scaling"}
DESCRIPTION = {
    "zh": "左上：A 的每行每 128 个元素一个缩放因子；右上：B 的每个 128×128 块一个缩放因子；下：出现一个离群值时，整张量一个缩放因子与分块缩放的量化误差。",
    "en": "Top left: one scale for every 128 elements of a row of A. Top right: one scale for every 128 by 128 block of B. Below: quantisation error with one outlier, for a scale per tensor and per block.",
}

E4M3_MAX = 448.0  # largest finite value of E4M3
BLOCK = 128
WORDS = {
    "zh": {
        "a": "A：每行每 128 个 k 一个因子",
        "b": "B：每 128×128 块一个因子",
        "c": "一个离群值的代价",
        "k": "k",
        "row": "行 m",
        "col": "列 n",
        "x": "离群值（以其余元素的标准差为单位）",
        "y": "其余元素的相对均方根误差",
        "tensor": "整张量一个因子",
        "block": "每 1×128 块一个因子",
        "scale": "格中数字：缩放因子 = amax / 448",
    },
    "en": {
        "a": "A: one scale per row and 128 of k",
        "b": "B: one scale per 128×128 block",
        "c": "the price of one outlier",
        "k": "k",
        "row": "row m",
        "col": "column n",
        "x": "outlier, in standard deviations of the rest",
        "y": "relative RMS error of the rest",
        "tensor": "one scale per tensor",
        "block": "one scale per 1×128 block",
        "scale": "numbers in the cells: scale = amax / 448",
    },
}


def quantise(x: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """x after a round trip through E4M3 with the given scale (broadcast)."""
    return (x / scale).astype(ml_dtypes.float8_e4m3fn).astype(np.float64) * scale


def scales_1x128(x: np.ndarray) -> np.ndarray:
    return np.abs(x).reshape(x.shape[0], -1, BLOCK).max(axis=2) / E4M3_MAX


def data() -> dict:
    rng = np.random.default_rng(71)
    a = rng.standard_normal((4, 4 * BLOCK)) * np.exp2(rng.uniform(-3, 3, (4, 4))).repeat(BLOCK, axis=1)
    b = rng.standard_normal((2 * BLOCK, 4 * BLOCK)) * np.exp2(rng.uniform(-2, 2, (2, 4))).repeat(BLOCK, 0).repeat(
        BLOCK, 1
    )
    blocks = np.abs(b).reshape(2, BLOCK, 4, BLOCK).max(axis=(1, 3)) / E4M3_MAX
    base = rng.standard_normal((64, 8 * BLOCK))
    outliers = [float(v) for v in np.logspace(1, 7, 25)]
    errors: dict[str, list[float]] = {"tensor": [], "block": []}
    for v in outliers:
        x = base.copy()
        x[17, 300] = v
        rest = np.ones(x.shape, bool)
        rest[17, 300] = False
        for name, scale in (("tensor", np.abs(x).max() / E4M3_MAX), ("block", scales_1x128(x).repeat(BLOCK, axis=1))):
            wrong = (quantise(x, scale) - x)[rest]
            errors[name].append(float(f"{np.sqrt(np.mean(wrong**2) / np.mean(x[rest] ** 2)):.4g}"))
    return {
        "scales_a": [[float(f"{v:.2g}") for v in row] for row in scales_1x128(a)],
        "scales_b": [[float(f"{v:.2g}") for v in row] for row in blocks],
        "outliers": [float(f"{v:.4g}") for v in outliers],
        "errors": errors,
    }


def _cells(ax, scales, lang, title, ylabel, height):
    values = np.log2(np.array(scales))
    ax.imshow(
        values,
        cmap="Blues",
        aspect="auto",
        extent=(0, values.shape[1] * BLOCK, values.shape[0] * height, 0),
        vmin=values.min() - 1,
        vmax=values.max() + 2,
    )
    for i, row in enumerate(scales):
        for j, s in enumerate(row):
            ax.add_patch(
                Rectangle((j * BLOCK, i * height), BLOCK, height, fill=False, edgecolor=style.BLUE, linewidth=1.2)
            )
            ax.text((j + 0.5) * BLOCK, (i + 0.5) * height, f"{s:.2g}", ha="center", va="center", fontsize=9)
    ax.set_title(title)
    ax.set_xlabel(WORDS[lang]["k"])
    ax.set_ylabel(ylabel)
    ax.set_xticks(range(0, values.shape[1] * BLOCK + 1, BLOCK))
    ax.grid(False)


def plot(d: dict, lang: str):
    w = WORDS[lang]
    figure, axes = style.plt.subplot_mosaic(
        [["a", "b"], ["c", "c"]], figsize=(8.5, 6.2), height_ratios=(1, 1.15), layout="constrained"
    )
    left, middle, right = axes["a"], axes["b"], axes["c"]
    _cells(left, d["scales_a"], lang, w["a"], w["row"], 1)
    left.set_yticks([0.5, 1.5, 2.5, 3.5], ["0", "1", "2", "3"])
    _cells(middle, d["scales_b"], lang, w["b"], w["col"], BLOCK)
    middle.set_yticks([0, BLOCK, 2 * BLOCK])
    right.loglog(d["outliers"], d["errors"]["tensor"], color=style.RED, marker="s", label=w["tensor"])
    right.loglog(d["outliers"], d["errors"]["block"], color=style.BLUE, marker="o", linestyle="--", label=w["block"])
    right.set(title=w["c"], xlabel=w["x"], ylabel=w["y"])
    right.legend(loc="upper left")
    left.text(0, -0.3, w["scale"], transform=left.transAxes, fontsize=9.5, color=style.GREY)
    return figure
