"""Figure 3-3: the transaction count of FULL[0] where its producer expects too few bytes, the right number, too many."""

from __future__ import annotations

from figures import style

LESSON = "lesson03_async_barriers"
DATA = ("lesson03_expectations.json",)
TITLE = {
    "zh": "图 3-3 声明的字节数不对，计数怎么走",
    "en": "Figure 3-3: where the count goes when the wrong bytes are expected",
}
DESCRIPTION = {
    "zh": "四联图：实际落地 512 + 512 字节，声明 512、768、1024、1536 字节时，FULL[0] 的字节计数在每个事件之后的值。512 提早归零；768 越过零；1024 两次正常完成；1536 停在 512。",
    "en": "Four panels: 512 + 512 bytes land; the byte count of FULL[0] after each event when 512, 768, 1024 and 1536 bytes are expected. 512 reaches zero too early, 768 steps over zero, 1024 completes twice, 1536 stops at 512.",
}
WORDS = {
    "zh": {
        "title": {
            512: "声明 512：过早读取，再死锁",
            768: "声明 768：越过 0，死锁",
            1024: "声明 1024：正确",
            1536: "声明 1536：停在 512，死锁",
        },
        "y": "字节计数 tx",
        "both": "到达\n+{}",
        "land": "落地\n−{}",
        "done": "完成",
        "early": "完成（第二份\n还没落地）",
    },
    "en": {
        "title": {
            512: "512 expected: early read, then a hang",
            768: "768 expected: steps over 0, a hang",
            1024: "1024 expected: right",
            1536: "1536 expected: stops at 512, a hang",
        },
        "y": "byte count tx",
        "both": "arrives\n+{}",
        "land": "land\n−{}",
        "done": "done",
        "early": "done (second\ncopy in flight)",
    },
}


def data(traced: dict) -> dict:
    shown: dict[str, list] = {}
    for p in traced["points"]:
        shown.setdefault(str(p["expected"]), []).append(
            [p["arrivals"], p["bytes"], p["pending"], p["tx"], p["completes"]]
        )
    return {"shown": shown, "ends": {str(p["expected"]): p["end"] for p in traced["points"]}}


def plot(d: dict, lang: str):
    w = WORDS[lang]
    figure, axes = style.plt.subplots(2, 2, figsize=(9, 6), layout="constrained", sharey=True)
    for ax, (expected, events) in zip(axes.flat, d["shown"].items()):
        right = d["ends"][expected] == "clean"
        x, tx = list(range(len(events))), [e[3] for e in events]
        ax.axhline(0, color=style.GREY, linewidth=1)
        ax.plot(
            x, tx, drawstyle="steps-post", color=style.BLUE if right else style.RED, linestyle="-" if right else "--"
        )
        ax.plot(x, tx, "o", color=style.BLUE if right else style.RED)
        for i, (arrivals, nbytes, pending, value, completes) in enumerate(events):
            ax.annotate(str(value), (i, value), xytext=(7, 6), textcoords="offset points", fontsize=9.6)
            if completes:
                ax.plot(i, 0, "o", markersize=11, markerfacecolor="none", color=style.GREEN, markeredgewidth=1.8)
                text = w["done"] if right else w["early"]
                ax.annotate(text, (i, 0), xytext=(2, 24), textcoords="offset points", fontsize=9.6, color=style.GREEN)
        ax.set_xticks(x, [w["land"].format(-b) if b < 0 else w["both"].format(b) for _, b, *_ in events], fontsize=9.6)
        ax.set_xlim(-0.4, 5.9)
        ax.set_ylim(-1300, 1900)
        ax.set_yticks((-1024, -512, 0, 512, 1024, 1536))
        ax.grid(axis="x", visible=False)
        ax.set_title(w["title"][int(expected)])
    for ax in axes[:, 0]:
        ax.set_ylabel(w["y"])
    return figure
