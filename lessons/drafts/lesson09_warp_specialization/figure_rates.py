"""Figure 9-2: what a producer and setmaxnreg are worth with one to three consumers, measured on the H200."""

from __future__ import annotations

from figures import style

LESSON = "lesson09_warp_specialization"
DATA = ("lesson09_specialization.json",)
TITLE = {"zh": "图 9-2 三种分工的速度", "en": "Figure 9-2: the rates of three ways to share the roles"}
DESCRIPTION = {
    "zh": "1、2、3 个消费者时三种分工的速度：一个消费者兼做搬运、专设生产者、再搬寄存器。三个消费者不搬寄存器时慢一个数量级。",
    "en": "Rates of three ways to share the roles with 1, 2 and 3 consumers: a consumer copies, a producer copies, and "
    "registers move too. Three consumers without the move are slower by an order of magnitude.",
}
WORDS = {
    "zh": {
        "x": "消费者 warpgroup 数",
        "y": "TFLOP/s",
        "consumer copies": "消费者兼做搬运",
        "producer": "专设生产者",
        "setmaxnreg": "专设生产者，搬寄存器",
        "cublas": "cuBLAS {rate:.0f}",
    },
    "en": {
        "x": "consumer warpgroups",
        "y": "TFLOP/s",
        "consumer copies": "a consumer copies",
        "producer": "a producer copies",
        "setmaxnreg": "a producer copies, registers move",
        "cublas": "cuBLAS {rate:.0f}",
    },
}
ROLES = ("consumer copies", "producer", "setmaxnreg")
K = 4096


def data(measured: dict) -> dict:
    rows = [p for p in measured["points"] if p["k"] == K]
    rate = lambda p, ms: p["tflop_per_s"] * p["ms"] / ms
    bars = {
        role: [
            (p["consumers"], p["tflop_per_s"], rate(p, p["ms_p90"]), rate(p, p["ms_p10"]))
            for p in sorted(rows, key=lambda p: p["consumers"])
            if p["roles"] == role
        ]
        for role in ROLES
    }
    (cublas,) = (p["tflop_per_s"] for p in rows if p["roles"] == "cublas")
    receipt = measured["receipt"]
    return {"bars": bars, "cublas": cublas, "device": receipt["device"], "time": receipt["time"]}


def plot(d: dict, lang: str):
    w = WORDS[lang]
    figure, ax = style.plt.subplots(figsize=(8.5, 4.2), layout="constrained")
    for i, (role, colour) in enumerate(zip(ROLES, (style.GREY, style.ORANGE, style.BLUE))):
        x = [c + 0.27 * (i - 1) for c, *_ in d["bars"][role]]
        y, low, high = ([b[n] for b in d["bars"][role]] for n in (1, 2, 3))
        ax.bar(x, y, 0.25, color=colour, label=w[role])
        spread = [[b - a for a, b in zip(low, y)], [b - a for a, b in zip(y, high)]]
        ax.errorbar(x, y, spread, fmt="none", ecolor="black", elinewidth=1.2)
        for place, value in zip(x, y):
            ax.text(place, value + 12, f"{value:.0f}", ha="center", fontsize=9.5)
    ax.axhline(d["cublas"], color=style.GREEN, linestyle="--", linewidth=1.2, label=w["cublas"].format(rate=d["cublas"]))
    ax.set(xlabel=w["x"], ylabel=w["y"], xticks=(1, 2, 3), ylim=(0, 1.3 * d["cublas"]))
    ax.legend(loc="upper center", ncols=2)
    figure.suptitle(d["device"], x=0.01, ha="left", fontsize=9.5, color=style.GREY)
    return figure
