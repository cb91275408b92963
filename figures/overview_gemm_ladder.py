"""The ladder as the overview shows it: ten GEMM kernels at one shape, coloured by the part of the course that teaches them."""

from __future__ import annotations

from matplotlib.patches import Patch

from figures import style

LESSON = "overview"
DATA = ("gemm_ladder.json",)
SHAPE = (8192, 8192, 8192)
TITLE = {"zh": "GEMM 阶梯", "en": "The GEMM ladder"}
DESCRIPTION = {
    "zh": "十个 GEMM kernel 的 TFLOP/s 横条图，M = N = K = 8192。前两个只用 CUDA core；接着两个用第一部分讲的 TMA、wgmma 和流水线；其余六个属于第二部分。每条旁的竖线是轮流测得的 cuBLAS。",
    "en": "Bars of TFLOP/s for ten GEMM kernels at M = N = K = 8192. The first two use CUDA cores only, the next two the TMA, wgmma and pipeline of Part I, the other six belong to Part II. The line by each bar is cuBLAS, measured in turn with it.",
}
WORDS = {
    "zh": {
        "x": "TFLOP/s，M = N = K = 8192",
        "parts": ("起点：CUDA core", "第一部分：第 4–6 课的零件", "第二部分（编写中）"),
        "line": "竖线：轮流测得的 cuBLAS",
        "ideas": {
            "gemm_naive": "一个线程一个元素",
            "gemm_tiled": "共享内存分块",
            "gemm_wgmma": "TMA + wgmma",
            "gemm_ring": "+ 多个 stage",
            "gemm_warp_specialized": "+ 生产者、消费者分工",
            "gemm_cooperative": "两个消费者合算大 tile",
            "gemm_persistent": "+ 常驻 CTA，分组次序",
            "gemm_cluster": "+ cluster 多播",
            "gemm_store": "+ 经 TMA 写出",
            "gemm_pingpong": "两个消费者轮流",
        },
    },
    "en": {
        "x": "TFLOP/s, M = N = K = 8192",
        "parts": ("where we start: CUDA cores", "Part I: the pieces of lessons 4-6", "Part II (being written)"),
        "line": "line: cuBLAS, measured in turn",
        "ideas": {
            "gemm_naive": "a thread an element",
            "gemm_tiled": "tiles in shared memory",
            "gemm_wgmma": "TMA + wgmma",
            "gemm_ring": "+ several stages",
            "gemm_warp_specialized": "+ producer, consumer",
            "gemm_cooperative": "two consumers, large tile",
            "gemm_persistent": "+ persistent, grouped order",
            "gemm_cluster": "+ cluster multicast",
            "gemm_store": "+ store by TMA",
            "gemm_pingpong": "two consumers in turn",
        },
    },
}
PART = {"gemm_naive": 0, "gemm_tiled": 0, "gemm_wgmma": 1, "gemm_ring": 1}  # the others: Part II
COLOURS = (style.GREY, style.BLUE, style.ORANGE)


def data(measured: dict) -> dict:
    rows = sorted(
        (p for p in measured["points"] if p["mode"] == "bursts" and (p["m"], p["n"], p["k"]) == SHAPE),
        key=lambda p: p["step"],
    )
    return {
        "rungs": [{key: p[key] for key in ("rung", "tflops", "cublas_tflops")} for p in rows],
        "device": measured["receipt"]["device"],
    }


def plot(d: dict, lang: str):
    w = WORDS[lang]
    figure, ax = style.plt.subplots(figsize=(7.6, 4.7), layout="constrained")
    for y, r in enumerate(d["rungs"]):
        part = PART.get(r["rung"], 2)
        ax.barh(
            y, r["tflops"], 0.72, color=COLOURS[part], hatch="//" if part == 2 else None, edgecolor="white", linewidth=0
        )
        ax.vlines(r["cublas_tflops"], y - 0.36, y + 0.36, color=style.BLACK, linewidth=1.6)
        text = f"{r['tflops']:.0f}" if r["tflops"] >= 10 else f"{r['tflops']:.1f}"
        if r["tflops"] > 100:  # inside the bar, so that it cannot be read as cuBLAS's
            ax.text(
                14,
                y,
                text,
                va="center",
                fontsize=9.5,
                color="white" if part < 2 else style.BLACK,
                bbox={"facecolor": COLOURS[part], "edgecolor": "none", "pad": 1.5},
            )
        else:
            ax.text(r["tflops"] + 12, y, text, va="center", fontsize=9.5)
    ax.set_yticks(range(len(d["rungs"])), [w["ideas"][r["rung"]] for r in d["rungs"]])
    ax.invert_yaxis()
    ax.set(xlabel=f"{w['x']} · {d['device']} · {w['line']}", xlim=(0, 800))
    ax.grid(axis="y", visible=False)
    figure.legend(
        handles=[
            Patch(facecolor=c, edgecolor="white", hatch="//" if i == 2 else None, label=t)
            for i, (c, t) in enumerate(zip(COLOURS, w["parts"]))
        ],
        loc="outside upper left",
        ncols=3,
        fontsize=9,
        columnspacing=1.2,
        handlelength=1.4,
    )
    return figure
