"""Figure 3-5: what every event does to an mbarrier, from the emulator's trace of mbarrier_handshake."""

from __future__ import annotations

from figures import style

LESSON = "lesson03_async_barriers"
DATA = ("lesson03_barrier_states.json",)
TITLE = {"zh": "图 3-5 mbarrier 的状态，逐个事件", "en": "Figure 3-5: the state of an mbarrier, event by event"}
DESCRIPTION = {
    "zh": "FULL[0]、FULL[1]、EMPTY[0] 的每个事件之后：待到达数与字节计数，底色是相位。两者同时为零时本阶段完成，相位翻转。有两次字节先于声明落地，计数为负。",
    "en": "After each event of FULL[0], FULL[1] and EMPTY[0]: arrivals missing and bytes missing, the phase as background. When both are zero the phase completes and the phase bit flips. Twice bytes land before they are expected: the count is negative.",
}
WORDS = {
    "zh": {
        "x": "事件，按先后次序（同一个 CTA 的所有屏障）",
        "tx": "字节计数 tx",
        "pending": "待到达数 pending",
        "phase": "相位 {}",
        "both": "到达\n+{}",
        "plain": "到达",
        "land": "落地\n−{}",
        "done": "完成",
    },
    "en": {
        "x": "events in their order (all barriers of one block)",
        "tx": "bytes, tx",
        "pending": "arrivals, pending",
        "phase": "phase {}",
        "both": "arrives\n+{}",
        "plain": "arrives",
        "land": "land\n−{}",
        "done": "done",
    },
}
SHOWN = ("FULL[0]", "FULL[1]", "EMPTY[0]")
SCALE = 512  # one arrival is drawn as tall as 512 bytes
WIDTH = 0.34


def data(traced: dict) -> dict:
    keep = ("arrivals", "bytes", "pending_after", "tx_after", "phase_after", "completes")
    barriers = {
        name: [[n, *(p[k] for k in keep)] for n, p in enumerate(traced["points"]) if p["barrier"] == name]
        for name in SHOWN
    }
    r = traced["receipt"]
    return {
        "barriers": barriers,
        "events": len(traced["points"]),
        "schedule": f"seed {r['seed']}, policy {r['policy']}",
    }


def said(w: dict, arrivals: int, nbytes: int) -> str:
    if nbytes < 0:
        return w["land"].format(-nbytes)
    return w["both"].format(nbytes) if nbytes else w["plain"]


def plot(d: dict, lang: str):
    w = WORDS[lang]
    figure, axes = style.plt.subplots(len(SHOWN), 1, figsize=(9, 6.6), layout="constrained", sharex=True)
    for ax, (name, events) in zip(axes, d["barriers"].items()):
        begin, phase = -0.6, 0
        for n, arrivals, nbytes, pending, tx, after, completes in events:
            # What completes a phase is the state (0, 0); the next one begins at once with all arrivals missing.
            pending, tx = (0, 0) if completes else (pending, tx)
            for x, value, height, colour, hatch in (
                (n - 0.19, tx, tx, style.BLUE, ""),
                (n + 0.19, pending, pending * SCALE, style.ORANGE, "//"),
            ):
                ax.bar(
                    x,
                    height,
                    WIDTH,
                    color=colour,
                    hatch=hatch,
                    edgecolor="white" if height else colour,
                    linewidth=0.6 if height else 1.5,
                    zorder=3,
                )
                ax.text(
                    x,
                    height + (60 if height >= 0 else -60),
                    str(value),
                    ha="center",
                    va="bottom" if height >= 0 else "top",
                    fontsize=9.6,
                    zorder=4,
                )
            if completes:
                band(ax, begin, n + 0.5, phase, w)
                ax.axvline(n + 0.5, color=style.GREEN, linewidth=1.6, zorder=4)
                ax.text(n + 0.44, 1830, w["done"], ha="right", va="top", fontsize=9.5, color=style.GREEN, zorder=4)
                begin, phase = n + 0.5, after
        band(ax, begin, d["events"] + 0.6, phase, w)
        ax.axhline(0, color=style.GREY, linewidth=0.9, zorder=2)
        ax.set_ylim(-1000, 1900)
        ax.set_xlim(-0.6, d["events"] + 0.6)
        ax.set_yticks([])
        ax.grid(visible=False)
        ax.tick_params(labelbottom=True)
        ax.set_xticks([])
        for n, arrivals, nbytes, *_ in events:
            ax.annotate(
                said(w, arrivals, nbytes),
                (n, 0),
                xycoords=("data", "axes fraction"),
                xytext=(0, -5),
                textcoords="offset points",
                ha="center",
                va="top",
                fontsize=9.6,
            )
        ax.set_title(name)
    handles = [
        style.plt.Rectangle((0, 0), 1, 1, facecolor=c, hatch=h, edgecolor="white")
        for c, h in ((style.BLUE, ""), (style.ORANGE, "//"))
    ]
    axes[0].legend(handles, [w["tx"], w["pending"]], loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=2)
    axes[-1].set_xlabel(w["x"], labelpad=30)
    for ax in axes[:-1]:
        ax.set_xlabel("\n", labelpad=10)
    return figure


def band(ax, begin: float, end: float, phase: int, w: dict) -> None:
    ax.axvspan(begin, end, color="#eef4fb" if phase == 0 else "#fdf3e0", zorder=0, linewidth=0)
    ax.text(begin + 0.08, -960, w["phase"].format(phase), fontsize=9.6, color=style.GREY, va="bottom")
