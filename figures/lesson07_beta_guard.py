"""Figure 7-4: what reading C although beta is 0 costs a memory-bound epilogue, measured on the H200."""

from __future__ import annotations

from figures import style

LESSON = "lesson07_mixed_precision_epilogue"
DATA = ("lesson07_beta_guard.json",)
TITLE = {"zh": "图 7-4 beta 守卫的价值", "en": "Figure 7-4: what the beta guard is worth"}
DESCRIPTION = {
    "zh": "beta = 0 时有守卫与无守卫的 epilogue 用时，FP32 与 BF16 输出各一组；竖线是按字节数算出的理想时间。",
    "en": "Time of the epilogue with beta = 0, with and without the guard, for FP32 and BF16 output; the tick is the ideal time by bytes.",
}
VARIANTS = ("guarded, beta = 0", "unguarded, beta = 0", "beta = 0.5")
WORDS = {
    "zh": {
        "guarded, beta = 0": "有守卫，beta = 0：不读 C",
        "unguarded, beta = 0": "无守卫，beta = 0：白读 C",
        "beta = 0.5": "beta = 0.5：C 该读",
        "x": "时间（ms，中位数；细线为第 10–90 百分位）",
        "title": "{out} 输出：每元素 {lean} 字节，读 C 则 {full} 字节",
        "label": "{ms:.2f} ms = {ratio:.2f}×（按字节 {ideal:.2f}×）",
        "base": "{ms:.2f} ms",
    },
    "en": {
        "guarded, beta = 0": "guard, beta = 0: C not read",
        "unguarded, beta = 0": "no guard, beta = 0: C read in vain",
        "beta = 0.5": "beta = 0.5: C is needed",
        "x": "time (ms, median; thin line: 10th to 90th percentile)",
        "title": "{out} output: {lean} bytes an element, {full} with C",
        "label": "{ms:.2f} ms = {ratio:.2f}× (bytes: {ideal:.2f}×)",
        "base": "{ms:.2f} ms",
    },
}


def data(measured: dict) -> dict:
    groups = {}
    for out in ("fp32", "bf16"):
        rows = {p["variant"]: p for p in measured["points"] if p["out"] == out}
        base = rows[VARIANTS[0]]
        groups[out] = [
            {
                "variant": v,
                "ratio": rows[v]["ms"] / base["ms"],
                "ideal": rows[v]["bytes"] / base["bytes"],
                **{x: rows[v][x] for x in ("ms", "ms_p10", "ms_p90", "bytes")},
            }
            for v in VARIANTS
        ]
    return {"groups": groups, "device": measured["receipt"]["device"], "time": measured["receipt"]["time"]}


def plot(d: dict, lang: str):
    w = WORDS[lang]
    figure, axes = style.plt.subplots(2, 1, figsize=(8.5, 4.2), sharex=True, layout="constrained")
    for ax, (out, rows) in zip(axes, d["groups"].items()):
        y = range(len(rows))
        colours = (style.BLUE, style.RED, style.GREY)
        bars = ax.barh(y, [r["ms"] for r in rows], color=colours, height=0.62)
        ax.errorbar(
            [r["ms"] for r in rows],
            y,
            xerr=[[r["ms"] - r["ms_p10"] for r in rows], [r["ms_p90"] - r["ms"] for r in rows]],
            fmt="none",
            ecolor=style.BLACK,
            elinewidth=1,
        )
        texts = [w["base" if i == 0 else "label"].format(**r) for i, r in enumerate(rows)]
        style.bar_labels(ax, bars, texts, pad=6)
        ax.set_yticks(list(y), [w[r["variant"]] for r in rows])
        ax.invert_yaxis()
        ax.grid(axis="y", visible=False)
        each = {"fp32": (8, 12), "bf16": (6, 8)}[out]
        ax.set_title(w["title"].format(out=out.upper(), lean=each[0], full=each[1]))
    axes[1].set_xlabel(w["x"])
    axes[0].set_xlim(0, max(r["ms"] for rows in d["groups"].values() for r in rows) * 1.65)
    figure.suptitle(d["device"], x=0.01, ha="left", fontsize=9.5, color=style.GREY)
    return figure
