"""Figure 2-3: the latency of one load by the size of what is walked, measured on the H200."""

from __future__ import annotations

from figures import style

LESSON = "lesson02_memory_bound"
DATA = ("lesson02_latency.json",)
TITLE = {"zh": "图 2-3 一次加载要等多久", "en": "Figure 2-3: how long one load takes"}
DESCRIPTION = {
    "zh": "单线程指针追逐：横轴为环的大小，纵轴为每次加载的纳秒数。台阶依次是 L1、L2 与显存。",
    "en": "One thread chasing pointers: horizontal the size of the ring, vertical nanoseconds a load. The steps are L1, L2 and device memory.",
}
WORDS = {
    "zh": {"x": "环的大小（每 128 字节一个节点）", "y": "每次加载（ns）"},
    "en": {"x": "size of the ring (one node every 128 bytes)", "y": "one load (ns)"},
}


def data(measured: dict) -> dict:
    return {
        "points": [(p["bytes"], p["ns_per_load"]) for p in measured["points"]],
        "device": measured["receipt"]["device"],
        "time": measured["receipt"]["time"],
    }


def size(value: int) -> str:
    return (
        f"{value >> 10} KiB" if value < 1 << 20 else f"{value >> 20} MiB" if value < 1 << 30 else f"{value >> 30} GiB"
    )


def plot(d: dict, lang: str):
    w = WORDS[lang]
    figure, ax = style.plt.subplots(figsize=(8.5, 3.8), layout="constrained")
    ax.plot(*zip(*d["points"]), marker="o", color=style.BLUE)
    following = [y for _, y in d["points"][1:]] + [0]
    for (x, y), after in zip(d["points"], following):
        rises = after > 1.1 * y  # the line then runs through what stands above the point
        ax.annotate(
            f"{y:.0f}",
            (x, y),
            textcoords="offset points",
            xytext=(-6, 5) if rises else (0, 7),
            ha="right" if rises else "center",
            fontsize=9,
        )
    ax.set(
        xscale="log", xlim=(1.1e4, 1.4e9), ylim=(0, max(y for _, y in d["points"]) * 1.15), xlabel=w["x"], ylabel=w["y"]
    )
    style.plain_log_labels(
        ax.xaxis,
        [x for x, _ in d["points"] if x in (1 << 14, 1 << 17, 1 << 20, 1 << 22, 1 << 24, 1 << 26, 1 << 28, 1 << 30)],
        size,
    )
    figure.suptitle(d["device"], x=0.01, ha="left", fontsize=9.5, color=style.GREY)
    return figure
