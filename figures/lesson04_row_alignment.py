"""Figure 4-4: what the alignment of rows in device memory costs a TMA copy, measured on the H200."""

from __future__ import annotations

from figures import style

LESSON = "lesson04_bulk_copy"
DATA = ("lesson04_tile_copy.json",)
TITLE = {"zh": "图 4-4 行对齐与 TMA 拷贝的带宽", "en": "Figure 4-4: row alignment and the bandwidth of a TMA copy"}
DESCRIPTION = {
    "zh": "tma_tile_copy 相对设备拷贝的带宽：行首地址为 128、64、32、16 字节的倍数，以及没有越界 box 的整块情形。只有 16 字节对齐明显变慢。",
    "en": "Bandwidth of tma_tile_copy relative to a device copy, for rows that start at multiples of 128, 64, 32 and 16 bytes and for whole tiles. Only 16-byte rows are clearly slower.",
}
WORDS = {
    "zh": {
        "row": "行首在 {} 字节的倍数",
        "whole": "{} 字节，且没有越界的 box",
        "label": "{:.1f} %（一段 128 字节碰到 {} 个 sector）",
        "x": "相对设备拷贝的带宽（%）",
        "or": " 或 ",
    },
    "en": {
        "row": "rows at multiples of {} B",
        "whole": "{} B, and no box over the edge",
        "label": "{:.1f} % (128 bytes touch {} sectors)",
        "x": "bandwidth, % of the device copy",
        "or": " or ",
    },
}
SECTOR, PIECE = 32, 128


def sectors(alignment: int) -> list[int]:
    """How many sectors 128-byte pieces touch that start at multiples of `alignment`: every number that occurs, fewest first."""
    return sorted({(start + PIECE - 1) // SECTOR - start // SECTOR + 1 for start in range(0, PIECE, alignment)})


def data(measured: dict) -> dict:
    rows = [p for p in measured["points"] if p["variant"] == "tma_tile_copy"]
    bars = [
        {
            "alignment": p["row_alignment"],
            "whole": p["m"] % 64 == 0,
            "percent": 100 * p["of_copy"],
            "sectors": sectors(p["row_alignment"]),
        }
        for p in rows
    ]
    return {"bars": bars, "device": measured["receipt"]["device"]}


def plot(d: dict, lang: str):
    w = WORDS[lang]
    figure, ax = style.plt.subplots(figsize=(8.5, 2.9), layout="constrained")
    y = range(len(d["bars"]))
    bars = ax.barh(
        y,
        [b["percent"] for b in d["bars"]],
        color=[style.RED if b["sectors"][-1] > 4 else style.BLUE for b in d["bars"]],
        height=0.62,
    )
    style.bar_labels(
        ax, bars, [w["label"].format(b["percent"], w["or"].join(map(str, b["sectors"]))) for b in d["bars"]]
    )
    ax.set_yticks(list(y), [w["whole" if b["whole"] else "row"].format(b["alignment"]) for b in d["bars"]])
    ax.invert_yaxis()
    ax.set(xlim=(0, 172), xlabel=w["x"])
    ax.set_xticks([0, 25, 50, 75, 100])
    ax.grid(axis="y", visible=False)
    figure.suptitle(d["device"], x=0.01, ha="left", fontsize=9.5, color=style.GREY)
    return figure
