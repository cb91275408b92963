"""Figure 5-3: cycles of one wgmma by N, A from shared memory or registers, measured on the H200."""

from __future__ import annotations

from figures import style

LESSON = "lesson05_wgmma"
DATA = ("lesson05_rate.json",)
TITLE = {"zh": "图 5-3 一条 wgmma 要多少周期", "en": "Figure 5-3: cycles of one wgmma"}
DESCRIPTION = {
    "zh": "m64nNk16（BF16）每条指令的 SM 周期数。A 在共享内存时，N 小于 64 受共享内存读取限制（16 + N/4）；A 在寄存器时只剩约 13.5 周期的下限；N 为 64 及以上两者都是 N/2。",
    "en": "SM cycles an m64nNk16 instruction (BF16) takes. With A in shared memory and N below 64 the reads of shared memory are the limit (16 + N/4); with A in registers only a floor of about 13.5 cycles remains; from N = 64 on both take N/2.",
}
WORDS = {
    "zh": {
        "x": "N",
        "y": "每条指令的周期数",
        "shared": "A 在共享内存（SS），实测",
        "registers": "A 在寄存器（RS），实测",
        "math": "算术：N / 2",
        "read": "共享内存读取：16 + N / 4",
    },
    "en": {
        "x": "N",
        "y": "cycles an instruction",
        "shared": "A in shared memory (SS), measured",
        "registers": "A in registers (RS), measured",
        "math": "arithmetic: N / 2",
        "read": "reads of shared memory: 16 + N / 4",
    },
}


def data(measured: dict) -> dict:
    series = {
        a: [(p["n"], p["cycles_per_wgmma"]) for p in measured["points"] if p["a_from"] == a]
        for a in ("shared", "registers")
    }
    return {"series": series, "device": measured["receipt"]["device"], "time": measured["receipt"]["time"]}


def plot(d: dict, lang: str):
    w = WORDS[lang]
    figure, ax = style.plt.subplots(figsize=(8.5, 4.4), layout="constrained")
    ns = [n for n, _ in d["series"]["shared"]]
    ax.plot(ns, [n / 2 for n in ns], color=style.BLACK, linewidth=1, linestyle="-", label=w["math"])
    ax.plot(
        [n for n in ns if n <= 96],
        [16 + n / 4 for n in ns if n <= 96],
        color=style.RED,
        linewidth=1,
        linestyle="--",
        label=w["read"],
    )
    for name, colour, marker, size, face in (
        ("shared", style.RED, "o", 8, "none"),
        ("registers", style.BLUE, "^", 5, style.BLUE),
    ):
        ax.plot(
            *zip(*d["series"][name]),
            linestyle="none",
            marker=marker,
            markersize=size,
            color=colour,
            markerfacecolor=face,
            label=w[name],
        )
    ax.set(xscale="log", yscale="log", xlabel=w["x"], ylabel=w["y"])
    style.plain_log_labels(ax.xaxis, (8, 16, 24, 32, 48, 64, 96, 128, 192, 256))
    style.plain_log_labels(ax.yaxis, (4, 8, 16, 32, 64, 128))
    ax.legend(loc="upper left")
    figure.suptitle(d["device"], x=0.01, ha="left", fontsize=9.5, color=style.GREY)
    return figure
