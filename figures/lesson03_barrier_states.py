"""Figure 3-1: what every event does to an mbarrier, from the emulator's trace of mbarrier_handshake."""

from __future__ import annotations

from figures import style

LESSON = "lesson03_async_barriers"
DATA = ("lesson03_barrier_states.json",)
TITLE = {"zh": "图 3-1 mbarrier 的状态，逐个事件", "en": "Figure 3-1: the state of an mbarrier, event by event"}
DESCRIPTION = {
    "zh": "FULL[0] 与 FULL[1] 的每个事件之后：尚缺的到达数与尚缺的字节数。两者同时为零时本阶段完成，相位翻转。FULL[1] 有一次字节先于期望到达，计数为负。",
    "en": "After each event of FULL[0] and FULL[1]: arrivals missing and bytes missing. When both are zero the phase completes and the phase bit flips. On FULL[1] bytes land before they are expected: the count is negative.",
}
WORDS = {
    "zh": {"x": "事件（先后次序）", "tx": "尚缺字节", "pending": "尚缺到达", "phase": "阶段完成，相位变为 {}", "arrive": "到达\n期望 {}", "plain": "到达", "land": "落地\n{}", "expect": "期望\n{}"},
    "en": {"x": "events, in order", "tx": "bytes missing", "pending": "arrivals missing", "phase": "phase done, bit now {}", "arrive": "arrives,\nexpects {}", "plain": "arrives", "land": "{}\nland", "expect": "expects\n{}"},
}
SHOWN = ("FULL[0]", "FULL[1]", "EMPTY[0]")


def data(traced: dict) -> dict:
    keep = ("arrivals", "bytes", "pending_before", "tx_before", "pending_after", "tx_after", "phase_after", "completes", "count")
    barriers = {name: [{k: p[k] for k in keep} for p in traced["points"] if p["barrier"] == name] for name in SHOWN}
    r = traced["receipt"]
    return {"barriers": barriers, "schedule": f"seed {r['seed']}, policy {r['policy']}"}


def plot(d: dict, lang: str):
    w = WORDS[lang]
    figure, axes = style.plt.subplots(len(SHOWN), 1, figsize=(8.5, 7), layout="constrained", gridspec_kw={"height_ratios": (3, 3, 2)})
    for ax, (name, events) in zip(axes, d["barriers"].items()):
        x = range(len(events))
        # The state just before completion is (0, 0): that is what completes it; draw it, then say so.
        tx = [0 if e["completes"] else e["tx_after"] for e in events]
        pending = [0 if e["completes"] else e["pending_after"] for e in events]
        if any(tx):
            ax.bar([i - 0.18 for i in x], tx, width=0.34, color=style.BLUE, label=w["tx"])
            ax.set_ylabel(w["tx"])
            ax.set_ylim(-1100, 1500)
            ax.set_yticks((-512, 0, 512, 1024))
            right = ax.twinx()
            right.spines["right"].set_visible(False)
            right.set_ylim(-2.2, 3)
        else:
            right = ax
        right.bar([i + 0.18 for i in x], pending, width=0.34, color=style.ORANGE, hatch="//", edgecolor="white", label=w["pending"])
        right.set_yticks((0, 1, 2))
        right.set_ylabel(w["pending"])
        if right is ax:
            right.set_ylim(0, 3)
        else:
            right.grid(visible=False)
        for i, e in enumerate(events):
            if e["completes"]:
                ax.axvline(i + 0.5, color=style.GREEN, linewidth=1.2, linestyle="--")
                ax.annotate(w["phase"].format(e["phase_after"]), (i + 0.46, 0.97), xycoords=("data", "axes fraction"), ha="right", va="top", fontsize=8.5, color=style.GREEN)
        said = lambda e: w["land"].format(-e["bytes"]) if e["bytes"] < 0 else w["arrive"].format(e["bytes"]) if e["arrivals"] and e["bytes"] else w["plain"] if e["arrivals"] else w["expect"].format(e["bytes"])
        ax.set_xticks(list(x), [said(e) for e in events], fontsize=9)
        ax.axhline(0, color=style.GREY, linewidth=0.8)
        ax.grid(axis="x", visible=False)
        ax.set_title(name)
    axes[-1].set_xlabel(w["x"])
    return figure
