"""Figure 2-5: random loads by the memory they reach over and by the L2's fetch granularity, measured on the H200."""

from __future__ import annotations

from figures import style

LESSON = "lesson02_memory_bound"
DATA = ("lesson02_reach.json", "lesson02_sectors.json")
TITLE = {"zh": "图 2-5 随机加载：范围与取数粒度", "en": "Figure 2-5: random loads by reach and by fetch granularity"}
DESCRIPTION = {
    "zh": "左：随机加载的速率随数据大小下降，三种 L2 取数粒度的曲线几乎重合。右：每次加载从显存读的字节数翻两番，速率只在字节占满显存时才下降。",
    "en": "Left: the rate of random loads falls with the size of the data, and the curves of three L2 fetch granularities nearly coincide. "
    "Right: the bytes read from device memory a load double twice, and the rate falls only where they fill the memory.",
}
GRANULARITIES = (32, 64, 128)
VARIANTS = ("gather, at random, L2 fetches 32 B", "gather, at random", "gather, at random, L2 fetches 128 B")
SIZE = 1 << 30
WORDS = {
    "zh": {
        "x": "数据大小（随机加载的范围）",
        "y": "每纳秒的加载次数",
        "hint": "L2 每次取 {} 字节",
        "x2": "L2 的取数粒度（字节）",
        "y2": "每次加载从显存读的字节",
        "label": "{dram:.0f} 字节\n{rate:.1f} 次/ns\n忙 {busy:.0f} %",
        "title2": "1 GiB 内随机",
    },
    "en": {
        "x": "size of the data loaded from at random",
        "y": "loads a nanosecond",
        "hint": "L2 fetches {} bytes",
        "x2": "fetch granularity of the L2, bytes",
        "y2": "bytes of device memory a load",
        "label": "{dram:.0f} bytes\n{rate:.1f} loads/ns\n{busy:.0f} % busy",
        "title2": "at random over 1 GiB",
    },
}


def data(measured: dict, counters: dict) -> dict:
    curves = {
        str(g): [(p["bytes"], p["loads_per_ns"]) for p in measured["points"] if p["hint"] == g] for g in GRANULARITIES
    }
    counted = {p["variant"]: p for p in counters["points"]}
    bars = [
        {
            "granularity": g,
            "dram": counted[v]["dram_bytes_per_load"],
            "busy": counted[v]["dram_percent_of_peak"],
            "rate": dict(curves[str(g)])[SIZE],
        }
        for g, v in zip(GRANULARITIES, VARIANTS)
    ]
    return {
        "curves": curves,
        "bars": bars,
        "device": measured["receipt"]["device"],
        "time": measured["receipt"]["time"],
    }


def size(value: int) -> str:
    return f"{value >> 20} MiB" if value < 1 << 30 else f"{value >> 30} GiB"


def plot(d: dict, lang: str):
    w = WORDS[lang]
    colours = (style.GREEN, style.BLUE, style.ORANGE)
    figure, (left, right) = style.plt.subplots(1, 2, figsize=(9.6, 4.0), width_ratios=(1.35, 1), layout="constrained")
    for (granularity, points), colour, marker in zip(d["curves"].items(), colours, style.MARKERS):
        left.plot(*zip(*points), marker=marker, color=colour, label=w["hint"].format(granularity))
    left.set(xscale="log", ylim=(0, 145), xlabel=w["x"], ylabel=w["y"])
    style.plain_log_labels(left.xaxis, [x for x, _ in d["curves"]["64"] if x != 1 << 25], size)
    left.legend(loc="upper right")
    bars = right.bar(range(3), [b["dram"] for b in d["bars"]], color=colours, width=0.62)
    for bar, b in zip(bars, d["bars"]):
        right.annotate(
            w["label"].format(**b),
            (bar.get_x() + bar.get_width() / 2, b["dram"]),
            textcoords="offset points",
            xytext=(0, 4),
            ha="center",
            va="bottom",
            fontsize=10.2,
        )
    right.set_xticks(range(3), [str(b["granularity"]) for b in d["bars"]])
    right.grid(axis="x", visible=False)
    right.set(ylim=(0, 172), xlabel=w["x2"], ylabel=w["y2"], title=w["title2"])
    figure.suptitle(d["device"], x=0.01, ha="left", fontsize=9.5, color=style.GREY)
    return figure
