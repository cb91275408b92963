"""Figure 1-4: what more warps buy below, at and above the ridge."""

from __future__ import annotations

from figures import style

LESSON = "lesson01_roofline"
DATA = ("lesson01_occupancy.json", "lesson01_roofline.json")
TITLE = {"zh": "图 1-4 占用率何时有用", "en": "Figure 1-4: when occupancy helps"}
DESCRIPTION = {
    "zh": "横轴为每个 SM 驻留的 warp 数，8 到 64；纵轴为实测 FLOP/s 与屋顶之比。访存受限的曲线到 32 个 warp 就平了，计算受限的曲线从 16 个 warp 起就平了，拐点上的曲线一直升到 64 个 warp，仍只到屋顶的七成。",
    "en": "Horizontal: warps resident on an SM, 8 to 64; vertical: measured FLOP/s over the roof. The memory-bound curve is flat from 32 warps, the compute-bound one from 16; at the ridge the curve climbs up to 64 warps and still ends at seven tenths of the roof.",
}
WORDS = {
    "zh": {
        "x": "每个 SM 驻留的 warp 数（最多 64）",
        "y": "实测 FLOP/s ÷ 屋顶",
        "roof": "屋顶",
        8: "强度 4：访存受限",
        32: "强度 16：拐点附近",
        1024: "强度 512：计算受限",
    },
    "en": {
        "x": "warps resident on an SM (64 at most)",
        "y": "measured FLOP/s over the roof",
        "roof": "the roof",
        8: "intensity 4: memory-bound",
        32: "intensity 16: near the ridge",
        1024: "intensity 512: compute-bound",
    },
}


def data(occupancy: dict, roofline: dict) -> dict:
    copy = next(p["tb_per_s"] for p in occupancy["points"] if p["unit"] == "copy")
    peak = max(p["flop_per_s"] for p in roofline["points"] if p["unit"] == "fp32")
    probe = [p for p in occupancy["points"] if p["unit"] == "fp32" and p["intensity"]]
    roof = lambda p: min(peak, p["intensity"] * copy * 1e12)
    series = {
        str(f): sorted((p["warps"], p["flop_per_s"] / roof(p)) for p in probe if p["fmas"] == f) for f in (8, 32, 1024)
    }
    return {"series": series, "device": occupancy["receipt"]["device"], "time": occupancy["receipt"]["time"]}


def plot(d: dict, lang: str):
    w = WORDS[lang]
    figure, ax = style.plt.subplots(figsize=(8, 4), layout="constrained")
    ax.axhline(1, color=style.BLACK, linewidth=1.4)
    ax.text(8, 1.02, w["roof"], fontsize=9.5)
    looks = {8: (style.RED, "o", "-"), 32: (style.GREEN, "s", "--"), 1024: (style.BLUE, "^", "-.")}
    for fmas, (colour, marker, dash) in looks.items():
        ax.plot(*zip(*d["series"][str(fmas)]), color=colour, marker=marker, linestyle=dash, label=w[fmas])
    ax.set(xlabel=w["x"], ylabel=w["y"], xlim=(5, 67), ylim=(0, 1.1), xticks=range(8, 65, 8))
    ax.legend(loc="lower right")
    figure.suptitle(d["device"], x=0.01, ha="left", fontsize=9.5, color=style.GREY)
    return figure
