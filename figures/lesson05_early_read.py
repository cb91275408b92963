"""Figure 5-4: cycles of one wgmma when accumulators are read before the wait, with one and two warpgroups on an SM."""

from __future__ import annotations

from figures import style

LESSON = "lesson05_wgmma"
DATA = ("lesson05_early_read.json",)
TITLE = {"zh": "图 5-4 提前读累加器的代价", "en": "Figure 5-4: what an early read costs"}
DESCRIPTION = {
    "zh": "一条 m64nNk16（BF16，SS）的周期数与 N/2 之比，N 为 64、128、256。左：每个 SM 一个 warpgroup，排空流水线和提前读都明显变慢，N 越小越慢。右：两个 warpgroup，三种写法都是 1。",
    "en": "Cycles of one m64nNk16 (BF16, SS) over N/2 for N = 64, 128, 256. Left, one warpgroup an SM: draining the pipeline and reading early are both slower, the more so the smaller N. Right, two warpgroups: all three are at 1.",
}
VARIANTS = ("one group in flight", "waits for each group", "reads early")
WORDS = {
    "zh": {
        "one group in flight": "留一组在途：wait<1>",
        "waits for each group": "每组都等完：wait<0>",
        "reads early": "wait<1> 之前读一个累加器",
        "groups": ("每个 SM 一个 warpgroup", "每个 SM 两个 warpgroup"),
        "y": "每条指令的周期 ÷ (N/2)",
        "x": "N",
    },
    "en": {
        "one group in flight": "one group in flight: wait<1>",
        "waits for each group": "each group waited for: wait<0>",
        "reads early": "an accumulator read before wait<1>",
        "groups": ("one warpgroup an SM", "two warpgroups an SM"),
        "y": "cycles an instruction over N/2",
        "x": "N",
    },
}


def data(measured: dict) -> dict:
    points = [p for p in measured["points"] if p["kernel"] == "wgmma_rate"]
    rows = {f"{p['variant']}|{p['warpgroups']}|{p['n']}": p["of_ideal"] for p in points}
    return {
        "rows": rows,
        "ns": sorted({p["n"] for p in points}),
        "device": measured["receipt"]["device"],
        "time": measured["receipt"]["time"],
    }


def plot(d: dict, lang: str):
    w = WORDS[lang]
    figure, panels = style.plt.subplots(1, 2, figsize=(9, 4), sharey=True, layout="constrained")
    for ax, groups, title in zip(panels, (1, 2), w["groups"]):
        for i, (variant, colour, hatch) in enumerate(
            zip(VARIANTS, (style.GREEN, style.SKY, style.RED), ("", "//", ".."))
        ):
            heights = [d["rows"][f"{variant}|{groups}|{n}"] for n in d["ns"]]
            at = [k + 0.27 * (i - 1) for k in range(len(heights))]
            bars = ax.bar(at, heights, 0.25, color=colour, hatch=hatch, edgecolor="white", label=w[variant])
            style.bar_labels(ax, bars, [f"{h:.2f}" for h in heights])
        ax.axhline(1, color=style.BLACK, linewidth=0.8)
        ax.set(title=title, xlabel=w["x"], ylim=(0, 1.95))
        ax.set_xticks(range(len(d["ns"])), [str(n) for n in d["ns"]])
        ax.grid(visible=False, axis="x")
    panels[0].set_ylabel(w["y"])
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3)
    figure.suptitle(d["device"], x=0.01, ha="left", fontsize=9.5, color=style.GREY)
    return figure
