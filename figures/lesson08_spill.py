"""Figure 8-2: the rate of each configuration at one large shape, and the one whose accumulators spill, measured on the H200."""

from __future__ import annotations

from figures import style

LESSON = "lesson08_kernel_selection"
DATA = ("lesson08_spill.json",)
TITLE = {"zh": "图 8-2 配置的速度与溢出", "en": "Figure 8-2: the rate of configurations, and a spill"}
DESCRIPTION = {
    "zh": "8192×8192×4096 时各 tile 配置的 TFLOP/s。标注为每线程累加器数与 tile 的算术强度；256x128 只用一个消费者 warpgroup 时累加器溢出，慢约八倍。",
    "en": "TFLOP/s of each tile configuration at 8192 by 8192 by 4096. Labels: accumulators a thread and the tile's intensity; 256x128 by one consumer warpgroup spills and is about eight times slower.",
}
WORDS = {
    "zh": {"name": "{config}（{consumers} 个消费者）", "x": "TFLOP/s", "label": "{rate:.0f}　累加器 {accumulators}，{intensity:.0f} FLOP/字节", "spill": "{rate:.0f}　累加器 {accumulators}，每线程溢出 {spill} 字节"},
    "en": {"name": "{config}, consumers: {consumers}", "x": "TFLOP/s", "label": "{rate:.0f}   {accumulators} accumulators, {intensity:.0f} FLOP/byte", "spill": "{rate:.0f}   {accumulators} accumulators, {spill} bytes a thread spilled"},
}


def data(measured: dict) -> dict:
    rows = [{"config": p["config"].split(",")[0], "consumers": p["consumers"], "rate": p["tflop_per_s"], "accumulators": p["accumulators"], "intensity": p["flop_per_byte"], "spill": p["spill_bytes"]} for p in measured["points"]]
    return {"rows": sorted(rows, key=lambda r: -r["rate"]), "device": measured["receipt"]["device"], "time": measured["receipt"]["time"]}


def plot(d: dict, lang: str):
    w = WORDS[lang]
    figure, ax = style.plt.subplots(figsize=(9, 4.4), layout="constrained")
    y = range(len(d["rows"]))
    bars = ax.barh(y, [r["rate"] for r in d["rows"]], color=[style.RED if r["spill"] else style.BLUE for r in d["rows"]], height=0.66)
    style.bar_labels(ax, bars, [w["spill" if r["spill"] else "label"].format(**r) for r in d["rows"]])
    ax.set_yticks(list(y), [w["name"].format(**r) for r in d["rows"]])
    ax.invert_yaxis()
    ax.grid(axis="y", visible=False)
    ax.set(xlim=(0, max(r["rate"] for r in d["rows"]) * 1.55), xlabel=w["x"])
    figure.suptitle(d["device"], x=0.01, ha="left", fontsize=9.5, color=style.GREY)
    return figure
