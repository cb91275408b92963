"""Figure 6-2: one block of ring_pipeline with 1, 2 and 4 stages on the emulator's nominal clock."""

from __future__ import annotations

from figures import style

LESSON = "lesson06_smem_pipeline"
DATA = ("lesson06_timeline.json",)
TITLE = {"zh": "图 6-2 环形缓冲的时间线", "en": "Figure 6-2: the ring on a timeline"}
DESCRIPTION = {
    "zh": "模拟器标称时钟下的一个CTA：1、2、4 个 stage 时，拷贝与乘法在时间上的分布。一个 stage 时两者交替；stage 越多，拷贝越早发起。",
    "en": "One block on the emulator's nominal clock: copies and multiplications with 1, 2 and 4 stages. With one stage they alternate; with more, copies run ahead.",
}
SHOWN, ROWS = (1, 2, 4), ("copy", "multiply 1", "multiply 2")
WORDS = {
    "zh": {
        "copy": "拷贝",
        "multiply 1": "消费者 1",
        "multiply 2": "消费者 2",
        "x": "标称周期（不是测量）",
        "title": "stage 数 = {}：{:.0f} 周期",
    },
    "en": {
        "copy": "copies",
        "multiply 1": "consumer 1",
        "multiply 2": "consumer 2",
        "x": "nominal cycles (not a measurement)",
        "title": "stages = {}: {:.0f} cycles",
    },
}


def data(traced: dict) -> dict:
    shown = {
        str(s): [
            [p["row"], p["k"], p["stage"], p["begin"], p["end"]]
            for p in traced["points"]
            if p["stages"] == s and p["row"] in ROWS
        ]
        for s in SHOWN
    }
    return {"shown": shown}


def plot(d: dict, lang: str):
    w = WORDS[lang]
    colours = (style.BLUE, style.ORANGE, style.GREEN, style.PURPLE, style.SKY, style.YELLOW, style.RED)
    heights = {"height_ratios": [1, 1.1, 1.5]}
    figure, axes = style.plt.subplots(
        len(SHOWN), 1, figsize=(9, 7.2), sharex=True, layout="constrained", gridspec_kw=heights
    )
    for ax, (stages, bars) in zip(axes, d["shown"].items()):
        for row, k, stage, begin, end in bars:
            y = ROWS.index(row)
            # Copies in flight at the same time are drawn one above the other, a lane for each stage.
            lanes = int(stages) if row == "copy" else 1
            height = 0.9 / lanes
            bottom = y - 0.45 + (stage * height if row == "copy" else 0)
            colour = colours[stage % len(colours)]
            ink = style.BLACK if colour in (style.ORANGE, style.SKY, style.YELLOW) else "white"
            ax.broken_barh(
                [(begin, end - begin)], (bottom, height), facecolors=colour, edgecolor="white", linewidth=0.6
            )
            ax.text(
                (begin + end) / 2,
                bottom + height / 2,
                str(k),
                ha="center",
                va="center",
                color=ink,
                fontsize=9.6,
            )
        ax.set_yticks(range(len(ROWS)), [w[r] for r in ROWS])
        ax.invert_yaxis()
        ax.grid(axis="y", visible=False)
        ax.set_title(w["title"].format(stages, max(b[4] for b in bars)))
    axes[-1].set_xlabel(w["x"])
    return figure
