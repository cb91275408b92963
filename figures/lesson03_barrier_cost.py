"""Figure 3-4: what it costs a block to meet, by its size; and what becomes of work that needs nobody."""

from __future__ import annotations

from figures import style

LESSON = "lesson03_async_barriers"
DATA = ("lesson03_barrier_cost.json",)
TITLE = {"zh": "图 3-4 碰一次头要多少周期", "en": "Figure 3-4: what it costs to meet once"}
DESCRIPTION = {
    "zh": "左：每轮周期数随 CTA 大小的变化，三种会合方式。右：256 个线程，有一个 warp 迟到、又有与别人无关的工作时，每轮的周期数。",
    "en": "Left: cycles a round against the size of the block, for three ways to meet. Right: 256 threads, cycles a round with one late warp and with work that needs nobody.",
}
WAYS = ("__syncthreads", "mbarrier, every thread", "mbarrier, each warp")
COLOURS = (style.BLACK, style.ORANGE, style.BLUE)
WORDS = {
    "zh": {
        "ways": ("用 __syncthreads", "mbarrier，每个线程到达", "mbarrier，每个 warp 到达一次"),
        "left": "什么别的也不做",
        "right": "256 个线程",
        "threads": "CTA 的线程数",
        "cycles": "每轮周期数",
        "loads": ("都没有", "一个 warp 迟到", "各有工作", "迟到 + 工作"),
    },
    "en": {
        "ways": ("by __syncthreads", "mbarrier, every thread arrives", "mbarrier, each warp arrives once"),
        "left": "nothing else to do",
        "right": "256 threads",
        "threads": "threads of the block",
        "cycles": "cycles a round",
        "loads": ("neither", "one warp\nlate", "work of\none's own", "late\n+ work"),
    },
}


def data(measured: dict) -> dict:
    points = measured["points"]
    idle = {
        way: [[p["threads"], p["cycles"]] for p in points if p["meeting"] == way and not p["slow"] and not p["work"]]
        for way in WAYS
    }
    loads = {
        way: [
            p["cycles"]
            for s, k in ((0, 0), (1, 0), (0, 1), (1, 1))
            for p in points
            if p["meeting"] == way and p["threads"] == 256 and bool(p["slow"]) == s and bool(p["work"]) == k
        ]
        for way in WAYS
    }
    return {"idle": idle, "loads": loads}


def plot(d: dict, lang: str):
    w = WORDS[lang]
    figure, (left, right) = style.plt.subplots(1, 2, figsize=(9, 4.6), layout="constrained", width_ratios=(1, 1.75))
    for i, way in enumerate(WAYS):
        threads, cycles = zip(*d["idle"][way])
        left.plot(
            threads, cycles, marker=style.MARKERS[i], linestyle=style.DASHES[i], color=COLOURS[i], label=w["ways"][i]
        )
        bars = right.bar(
            [x + (i - 1) * 0.27 for x in range(4)],
            d["loads"][way],
            0.25,
            color=COLOURS[i],
            hatch=("", "//", "..")[i],
            edgecolor="white",
            linewidth=0.5,
        )
        right.bar_label(bars, labels=[f"{v:.0f}" for v in d["loads"][way]], padding=2, fontsize=9.5)
    left.set_xscale("log", base=2)
    style.plain_log_labels(left.xaxis, [t for t, _ in d["idle"][WAYS[0]]])
    left.set_ylim(0)
    left.set_xlabel(w["threads"])
    left.set_ylabel(w["cycles"])
    left.set_title(w["left"])
    left.legend(loc="upper left")
    right.set_xticks(range(4), w["loads"])
    right.set_ylabel(w["cycles"])
    right.grid(axis="x", visible=False)
    right.set_title(w["right"])
    return figure
