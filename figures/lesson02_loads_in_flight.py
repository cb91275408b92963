"""Figure 2-4: a copy's bandwidth against the bytes each SM has in flight, measured on the H200."""

from __future__ import annotations

from figures import style

LESSON = "lesson02_memory_bound"
DATA = ("lesson02_stream.json", "lesson02_latency.json")
TITLE = {"zh": "图 2-4 带宽由在途字节数决定", "en": "Figure 2-4: bytes in flight make the bandwidth"}
DESCRIPTION = {
    "zh": "横轴为每个 SM 的在途字节数，纵轴为相对设备拷贝的带宽。不同字宽、每线程加载数与 warp 数的点落在同一条曲线附近，约 32 KB 处饱和；按空载延迟算出的 Little 定律是它们的上界。",
    "en": "Horizontal: bytes in flight per SM; vertical: bandwidth relative to the device copy. Word widths, loads a thread and warps an SM fall near one curve, which saturates at about 32 KB; Little's law with the unloaded latency bounds them from above.",
}
WORDS = {
    "zh": {
        "x": "每个 SM 的在途字节数（常驻 warp × 32 × 字宽 × 每线程加载数）",
        "y": "相对设备拷贝的带宽（%）",
        "width": "每次加载 {} 字节",
        "law": "Little 定律，空载延迟 {:.0f} ns",
    },
    "en": {
        "x": "bytes in flight per SM (resident warps × 32 × width × loads a thread)",
        "y": "bandwidth, % of the device copy",
        "width": "{} bytes a load",
        "law": "Little's law, unloaded latency {:.0f} ns",
    },
}


def data(measured: dict, chase: dict) -> dict:
    points = [p for p in measured["points"] if p["width"]]
    copy = next(p["tb_per_s"] for p in measured["points"] if not p["width"])
    series = {
        str(w): [(p["bytes_in_flight"], 100 * p["of_copy"]) for p in points if p["width"] == w] for w in (4, 8, 16)
    }
    latency = max(chase["points"], key=lambda p: p["bytes"])[
        "ns_per_load"
    ]  # measured apart from the copies: one thread, one load at a time
    return {
        "copy": copy,
        "sms": measured["receipt"]["sms"],
        "latency_ns": latency,
        "series": series,
        "device": measured["receipt"]["device"],
        "time": measured["receipt"]["time"],
    }


def plot(d: dict, lang: str):
    w = WORDS[lang]
    figure, ax = style.plt.subplots(figsize=(8.5, 4.6), layout="constrained")
    line = [2.0 ** (7 + e / 8) for e in range(81)]
    reads = d["copy"] / 2  # half of a copy's traffic
    law = [min(100, 100 * b * d["sms"] / d["latency_ns"] / 1e3 / reads) for b in line]
    ax.plot(line, law, color=style.BLACK, linewidth=1.2, linestyle=":", label=w["law"].format(d["latency_ns"]))
    for (width, points), colour, marker in zip(
        d["series"].items(), (style.ORANGE, style.GREEN, style.BLUE), style.MARKERS
    ):
        ax.plot(
            *zip(*points), linestyle="none", marker=marker, color=colour, alpha=0.85, label=w["width"].format(width)
        )
    ax.set(xscale="log", ylim=(0, 105), xlabel=w["x"], ylabel=w["y"])
    style.plain_log_labels(ax.xaxis, [2**e for e in range(7, 18)], lambda v: f"{v:g}" if v < 1024 else f"{v // 1024} K")
    ax.legend(loc="lower right")
    figure.suptitle(d["device"], x=0.01, ha="left", fontsize=9.5, color=style.GREY)
    return figure
