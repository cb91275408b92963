"""Figure 4-3: the transpose with and without swizzle: time and bank conflicts, measured on the H200."""

from __future__ import annotations

from figures import style

LESSON = "lesson04_bulk_copy"
DATA = ("lesson04_transpose.json", "lesson04_bank_conflicts.json")
TITLE = {"zh": "图 4-3 bank 冲突什么时候花时间", "en": "Figure 4-3: when bank conflicts cost time"}
DESCRIPTION = {
    "zh": "转置的带宽相对同尺寸设备拷贝：显存受限的大矩阵与驻留 L2 的小矩阵，四种读法；标注为 Nsight Compute 实测的每 tile wavefront 数。",
    "en": "Bandwidth of the transpose relative to a device copy of the same size: a matrix bound by device memory and one within the L2, four ways to read; labels give measured wavefronts a tile.",
}
VARIANTS = ((0, 4), (128, 4), (0, 16), (128, 16))
WORDS = {
    "zh": {
        "name": "{}，每次读 {} 字节",
        "with": "swizzle",
        "without": "无 swizzle",
        "label": "{:.1f} %（每 tile {:.0f} 次 wavefront）",
        "x": "相对设备拷贝的带宽（%）",
        "side": "{0} × {0} FP32（{1}）",
        "large": "1 GiB，受显存带宽限制",
        "small": "16 MiB，在 L2 内",
    },
    "en": {
        "name": "{}, {}-byte reads",
        "with": "swizzle",
        "without": "no swizzle",
        "label": "{:.1f} % ({:.0f} wavefronts a tile)",
        "x": "bandwidth, % of the device copy",
        "side": "{0} × {0} FP32 ({1})",
        "large": "1 GiB, bound by device memory",
        "small": "16 MiB, within the L2",
    },
}


def data(measured: dict, counters: dict) -> dict:
    waves = {(p["swizzle"], p["read"]): p["wavefronts_per_tile"] for p in counters["points"]}
    groups = {}
    for side in sorted({p["side"] for p in measured["points"]}, reverse=True):
        rows = {
            (p["swizzle"], p["read"]): 100 * p["of_copy"] for p in measured["points"] if p["side"] == side and p["read"]
        }
        groups[str(side)] = [
            {"swizzle": s, "read": r, "percent": rows[s, r], "wavefronts": waves[s, r]} for s, r in VARIANTS
        ]
    return {"groups": groups, "device": measured["receipt"]["device"], "time": measured["receipt"]["time"]}


def plot(d: dict, lang: str):
    w = WORDS[lang]
    figure, axes = style.plt.subplots(2, 1, figsize=(8.5, 4.8), sharex=True, layout="constrained")
    for ax, (side, rows), what in zip(axes, d["groups"].items(), ("large", "small")):
        y = range(len(rows))
        bars = ax.barh(
            y,
            [r["percent"] for r in rows],
            color=[style.BLUE if r["swizzle"] else style.RED for r in rows],
            height=0.62,
        )
        style.bar_labels(ax, bars, [w["label"].format(r["percent"], r["wavefronts"]) for r in rows])
        ax.set_yticks(list(y), [w["name"].format(w["with" if r["swizzle"] else "without"], r["read"]) for r in rows])
        ax.invert_yaxis()
        ax.grid(axis="y", visible=False)
        ax.set_title(w["side"].format(side, w[what]))
    axes[0].set_xlim(0, 158)
    axes[1].set_xticks(range(0, 101, 20))
    axes[1].set_xlabel(w["x"])
    figure.suptitle(d["device"], x=0.01, ha="left", fontsize=9.5, color=style.GREY)
    return figure
