"""Figure 8-4: a block alone on its SM, with more and fewer stages, measured on the H200."""

from __future__ import annotations

from figures import style

LESSON = "lesson08_kernel_selection"
DATA = ("lesson08_alone.json",)
TITLE = {"zh": "图 8-4 独占一个 SM 的 CTA 与 stage 数", "en": "Figure 8-4: a CTA alone on its SM, and its stages"}
DESCRIPTION = {
    "zh": "左：M = 2048、N = 1024，128 个 tile，每个 SM 至多一个 CTA；右：M = 8192、N = 4096。横轴为 stage 数，纵轴为用时。同样的 stage 数下，两种 tile 用时几乎相同；空心点是每 SM 两个 CTA 的 128x128。",
    "en": "Left: M = 2048, N = 1024, 128 tiles, at most one CTA an SM; right: M = 8192, N = 4096. Stages against time. With equal stages the two tiles take nearly the same time; the hollow marker is 128x128 made for two CTAs an SM.",
}
WORDS = {
    "zh": {
        "x": "一个 CTA 的 stage 数",
        "y": "用时（微秒）",
        "title": "{m} × {n}：{tiles} 个 tile",
        "two": "128x128，为每 SM 两个 CTA 而配",
        "one": "{config}，每 SM 一个 CTA",
    },
    "en": {
        "x": "stages of a CTA",
        "y": "time, microseconds",
        "title": "{m} × {n}: {tiles} tiles",
        "two": "128x128, made for two CTAs an SM",
        "one": "{config}, one CTA an SM",
    },
}
SHAPES = ((2048, 1024), (8192, 4096))


def data(measured: dict) -> dict:
    panels = []
    for m, n in SHAPES:
        rows = [p for p in measured["points"] if (p["m"], p["n"]) == (m, n) and p["consumers"] == 1]
        of = lambda config, blocks: sorted(
            (p["stages"], 1e3 * p["ms"]) for p in rows if (p["config"], p["blocks"]) == (config, blocks)
        )
        panels.append(
            {
                "m": m,
                "n": n,
                "tiles": rows[0]["tiles"],
                "128x128": of("128x128", 1),
                "64x256": of("64x256", 1),
                "two": of("128x128", 2),
            }
        )
    return {"panels": panels, "device": measured["receipt"]["device"], "time": measured["receipt"]["time"]}


def plot(d: dict, lang: str):
    w = WORDS[lang]
    figure, axes = style.plt.subplots(1, 2, figsize=(8.6, 3.9), layout="constrained")
    for ax, p in zip(axes, d["panels"]):
        for config, colour, marker, dash in (("128x128", style.RED, "o", "-"), ("64x256", style.BLUE, "s", "--")):
            ax.plot(*zip(*p[config]), color=colour, marker=marker, linestyle=dash, label=w["one"].format(config=config))
        ax.plot(
            *zip(*p["two"]),
            "o",
            color=style.RED,
            fillstyle="none",
            markersize=11,
            markeredgewidth=1.6,
            linestyle="none",
            label=w["two"],
        )
        ax.set(
            xlabel=w["x"],
            title=w["title"].format(**p),
            xlim=(1.6, 6.4),
            ylim=(0, 1.25 * max(t for _, t in p["64x256"])),
        )
        ax.set_xticks(range(2, 7))
    axes[0].set_ylabel(w["y"])
    axes[0].legend(loc="lower left", fontsize=9)
    figure.suptitle(d["device"], x=0.01, ha="left", fontsize=9.5, color=style.GREY)
    return figure
