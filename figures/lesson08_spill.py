"""Figure 8-2: the rate of ever more accumulators a thread, and where they spill, measured on the H200."""

from __future__ import annotations

from figures import style

LESSON = "lesson08_kernel_selection"
DATA = ("lesson08_cliff.json",)
TITLE = {"zh": "图 8-2 每线程累加器数与溢出", "en": "Figure 8-2: accumulators a thread, and the spill"}
DESCRIPTION = {
    "zh": "横轴为每线程累加器数，纵轴为 8192×8192×4096 时的 TFLOP/s。累加器加 26 个寄存器超过线程的配额（一个消费者 warpgroup 255，两个 240）就溢出，速度跌到八分之一以下。",
    "en": "Accumulators a thread against TFLOP/s at 8192 by 8192 by 4096. Once accumulators and 26 more registers pass a thread's budget (255 with one consumer warpgroup, 240 with two) they spill, and the rate falls to an eighth or less.",
}
OTHERS, BUDGET = 26, {1: 255, 2: 240}
WORDS = {
    "zh": {
        "x": "每线程累加器数",
        "y": "TFLOP/s（8192 × 8192 × 4096）",
        "group": "{n} 个消费者 warpgroup",
        "limit": "{budget} − {others}",
        "spills": "溢出",
        "spill": "{config}/{consumers}: {bytes} B",
    },
    "en": {
        "x": "accumulators a thread",
        "y": "TFLOP/s (8192 × 8192 × 4096)",
        "group": "consumer warpgroups: {n}",
        "limit": "{budget} − {others}",
        "spills": "spilled",
        "spill": "{config}/{consumers}: {bytes} B",
    },
}
NAMED = {
    ("128x224", 1): (14, -3, "left"),
    ("256x192", 2): (-8, 3, "right"),
    ("128x256", 2): (0, 9, "center"),
    ("256x112", 1): (14, -3, "left"),
    ("256x64", 1): (7, -4, "left"),
}
SPILLED = {
    ("256x224", 2): (-9, -4, "right"),
    ("192x160", 1): (8, 8, "right"),
    ("256x128", 1): (9, 4, "left"),
    ("128x256", 1): (9, -3, "left"),
    ("256x256", 2): (9, -14, "left"),
}


def data(measured: dict) -> dict:
    keys = ("config", "consumers", "accumulators", "spill_bytes", "tflop_per_s")
    return {
        "points": [{k: p[k] for k in keys} for p in measured["points"]],
        "device": measured["receipt"]["device"],
        "time": measured["receipt"]["time"],
    }


def plot(d: dict, lang: str):
    w = WORDS[lang]
    figure, ax = style.plt.subplots(figsize=(8.6, 4.6), layout="constrained")
    for n, colour, marker, dash in ((1, style.BLUE, "o", "--"), (2, style.GREEN, "s", ":")):
        points = [p for p in d["points"] if p["consumers"] == n]
        whole, spilled = [p for p in points if not p["spill_bytes"]], [p for p in points if p["spill_bytes"]]
        xy = lambda ps: ([p["accumulators"] for p in ps], [p["tflop_per_s"] for p in ps])
        ax.plot(*xy(whole), marker, color=colour, markersize=7, label=w["group"].format(n=n))
        ax.plot(
            *xy(spilled),
            marker,
            color=style.RED,
            markersize=7,
            fillstyle="none",
            markeredgewidth=1.8,
            label=w["group"].format(n=n) + (f"，{w['spills']}" if lang == "zh" else f", {w['spills']}"),
        )
        limit = BUDGET[n] - OTHERS
        ax.axvline(limit, color=colour, linestyle=dash, linewidth=1.3)
        ax.text(
            limit + (1.5 if n == 1 else -1.5),
            450 if n == 1 else 380,
            w["limit"].format(budget=BUDGET[n], others=OTHERS),
            color=colour,
            fontsize=10,
            ha="left" if n == 1 else "right",
        )
    for p in d["points"]:
        key = (p["config"], p["consumers"])
        if key in NAMED:
            x, y, side = NAMED[key]
            ax.annotate(
                f"{p['config']}/{p['consumers']}",
                (p["accumulators"], p["tflop_per_s"]),
                (x, y),
                textcoords="offset points",
                fontsize=9.5,
                ha=side,
            )
        elif p["spill_bytes"]:
            x, y, side = SPILLED[key]
            text = w["spill"].format(config=p["config"], consumers=p["consumers"], bytes=f"{p['spill_bytes']:,}")
            ax.annotate(
                text,
                (p["accumulators"], p["tflop_per_s"]),
                (x, y),
                textcoords="offset points",
                fontsize=9.5,
                ha=side,
                color=style.RED,
                bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.8},
            )
    ax.set(xlabel=w["x"], ylabel=w["y"], xlim=(52, 305), ylim=(0, 790))
    ax.set_xticks([64, 96, 128, 160, 192, 224, 256])
    ax.legend(loc="upper left", fontsize=9.5, ncols=1, bbox_to_anchor=(0.0, 0.36))
    figure.suptitle(d["device"], x=0.01, ha="left", fontsize=9.5, color=style.GREY)
    return figure
