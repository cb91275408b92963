"""Figure 2-1: loads of four bytes, in order, at random, and dependent, measured on the H200."""

from __future__ import annotations

from figures import style

LESSON = "lesson02_memory_bound"
DATA = ("lesson02_equal_loads.json", "lesson02_sectors.json")
TITLE = {"zh": "图 2-1 同样的加载，不同的速度", "en": "Figure 2-1: equal loads, unequal speed"}
DESCRIPTION = {
    "zh": "每纳秒完成多少次 4 字节加载：顺序、4 KiB 内打乱、完全随机，以及地址来自上一次加载的指针追逐。",
    "en": "Four-byte loads finished each nanosecond: in order, shuffled within 4 KiB, at random, and pointer chases, whose addresses come from the load before.",
}
ORDER = (
    "gather, in order",
    "gather, shuffled in 4 KiB",
    "gather, at random",
    "chase, 65536 chains",
    "chase, 16384 chains",
    "chase, 4096 chains",
)
WORDS = {
    "zh": {
        "names": (
            "gather，顺序",
            "gather，4 KiB 内打乱",
            "gather，随机",
            "指针追逐，65536 条链",
            "指针追逐，16384 条链",
            "指针追逐，4096 条链",
        ),
        "x": "每纳秒的加载次数（对数）",
        "label": "{rate:.1f}",
        "dram": "{rate:.1f}（每次加载读显存 {dram:.0f} 字节）",
    },
    "en": {
        "names": (
            "gather, in order",
            "gather, shuffled in 4 KiB",
            "gather, at random",
            "pointer chase, 65536 chains",
            "pointer chase, 16384 chains",
            "pointer chase, 4096 chains",
        ),
        "x": "loads a nanosecond (logarithmic)",
        "label": "{rate:.1f}",
        "dram": "{rate:.1f} ({dram:.0f} bytes from device memory a load)",
    },
}


def data(measured: dict, counters: dict) -> dict:
    rate = {p["variant"]: p["loads_per_ns"] for p in measured["points"]}
    dram = {p["variant"]: p["dram_bytes_per_load"] for p in counters["points"]}
    rows = [{"rate": rate[name], "dram": dram.get(name)} for name in ORDER]
    return {"rows": rows, "device": measured["receipt"]["device"], "time": measured["receipt"]["time"]}


def plot(d: dict, lang: str):
    w = WORDS[lang]
    figure, ax = style.plt.subplots(figsize=(9, 3.6), layout="constrained")
    y = range(len(d["rows"]))
    colours = (style.BLUE, style.SKY, style.ORANGE, style.RED, style.PURPLE, style.PURPLE)
    bars = ax.barh(y, [r["rate"] for r in d["rows"]], color=colours, height=0.62)
    style.bar_labels(ax, bars, [w["dram" if r["dram"] is not None else "label"].format(**r) for r in d["rows"]])
    ax.set_yticks(list(y), w["names"])
    ax.invert_yaxis()
    ax.grid(axis="y", visible=False)
    ax.set(xscale="log", xlim=(1, 1e5), xlabel=w["x"])
    style.plain_log_labels(ax.xaxis, (1, 10, 100))
    figure.suptitle(d["device"], x=0.01, ha="left", fontsize=9.5, color=style.GREY)
    return figure
