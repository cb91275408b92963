"""Figure 7-3: error of a dot product against K for each accumulator, measured on the H200's tensor cores.

The grey dots are no measurement: they are the lesson's CPU model of each accumulator, computed here, so that the two
can be compared. Its parameters were chosen to fit these measurements; the FP8 ones agree with DeepSeek-V3's report.
"""

from __future__ import annotations

import ml_dtypes
import numpy as np

from figures import style

LESSON = "lesson07_mixed_precision_epilogue"
DATA = ("lesson07_accumulation_error.json",)
TITLE = {"zh": "图 7-3 累加误差随 K 的变化", "en": "Figure 7-3: accumulation error against K"}
DESCRIPTION = {
    "zh": "双对数坐标，平均相对误差。FP8 指令自带的累加误差最大，且随 K 迅速变大；FP16 累加器次之，在 K = 65536 溢出；每 128 个 k 提升一次的 FP8 与 K 无关；FP32 累加器最小，随 K 线性增长。",
    "en": "Both axes logarithmic, mean relative error. The FP8 instruction's own accumulator is worst and grows quickly with K; the FP16 accumulator comes next and overflows at K = 65536; FP8 with promotion every 128 does not depend on K; the FP32 accumulators are smallest and grow in proportion to K.",
}
SERIES = (  # (operands, accumulator, colour)
    ("e4m3", "fp8 instruction", style.ORANGE),
    ("fp16", "fp16", style.RED),
    ("e4m3", "promoted", style.GREEN),
    ("fp16", "fp32", style.BLUE),
    ("bf16", "fp32", style.PURPLE),
)
FP8 = dict(group=32, align=14, bits=14, rounding=np.trunc)
FP32 = dict(group=16, align=26, bits=24, rounding=np.trunc)
MODEL = {
    "e4m3 fp8 instruction": dict(dtype=ml_dtypes.float8_e4m3fn, **FP8),
    "fp16 fp16": dict(dtype=np.float16, group=16, align=40, bits=11, rounding=np.rint),
    "e4m3 promoted": dict(dtype=ml_dtypes.float8_e4m3fn, promote=128, **FP8),
    "fp16 fp32": dict(dtype=np.float16, **FP32),
    "bf16 fp32": dict(dtype=ml_dtypes.bfloat16, **FP32),
}
WORDS = {
    "zh": {
        "x": "K（点积长度）",
        "y": "平均相对误差",
        "fp16 fp16": "FP16 输入，FP16 累加",
        "e4m3 fp8 instruction": "FP8 输入，指令自带的累加",
        "e4m3 promoted": "FP8 输入，每 128 个 k 提升",
        "bf16 fp32": "BF16 输入，FP32 累加",
        "fp16 fp32": "FP16 输入，FP32 累加",
        "model": "CPU 模型",
        "overflow": "FP16 溢出",
    },
    "en": {
        "x": "K (length of the dot product)",
        "y": "mean relative error",
        "fp16 fp16": "FP16 in, FP16 accumulator",
        "e4m3 fp8 instruction": "FP8 in, the instruction's own accumulator",
        "e4m3 promoted": "FP8 in, promoted every 128",
        "bf16 fp32": "BF16 in, FP32 accumulator",
        "fp16 fp32": "FP16 in, FP32 accumulator",
        "model": "CPU model",
        "overflow": "FP16 overflows",
    },
}


def model_errors(
    lengths: list[int], dtype, group: int, align: int, bits: int, rounding, promote: int = 0, dots: int = 32
) -> list[float]:
    """Mean relative error of the model at each length; operands as in the measurement, uniform in [0.5, 1.5)."""
    a, b = np.random.default_rng(7).uniform(0.5, 1.5, (2, max(lengths), dots)).astype(dtype).astype(np.float64)
    spacing = lambda x, n: np.ldexp(1.0, np.frexp(x)[1] - n)
    total, wide, exact, errors = np.zeros(dots), np.zeros(dots), np.zeros(dots), {}
    for k in range(0, max(lengths), group):
        addends = a[k : k + group] * b[k : k + group]
        grid = spacing(np.maximum(total, addends.max(axis=0)), align)
        total = (np.trunc(total / grid) + np.trunc(addends / grid).sum(axis=0)) * grid
        step = spacing(total, bits)
        total = rounding(total / step) * step
        exact += addends.sum(axis=0)
        if promote and (k + group) % promote == 0:
            wide, total = wide + total, np.zeros(dots)
        errors[k + group] = float(np.mean(np.abs(wide + total - exact) / exact))
    return [float(f"{errors[k]:.2g}") for k in lengths]


def data(measured: dict) -> dict:
    series, model = {}, {}
    for operands, accumulator, _ in SERIES:
        name = f"{operands} {accumulator}"
        rows = sorted(
            (p for p in measured["points"] if p["operands"] == operands and p["accumulator"] == accumulator),
            key=lambda p: p["k"],
        )
        series[name] = {"k": [p["k"] for p in rows], "error": [p["mean_error"] for p in rows]}
        finite = [p["k"] for p in rows if p["mean_error"] is not None]
        model[name] = {"k": finite, "error": model_errors(finite, **MODEL[name])}
    return {
        "series": series,
        "model": model,
        "device": measured["receipt"]["device"],
        "time": measured["receipt"]["time"],
    }


def plot(d: dict, lang: str):
    w = WORDS[lang]
    figure, ax = style.plt.subplots(figsize=(8, 5), layout="constrained")
    for (operands, accumulator, colour), marker, dash in zip(SERIES, style.MARKERS, style.DASHES):
        name = f"{operands} {accumulator}"
        s = d["series"][name]
        shown = [(k, e) for k, e in zip(s["k"], s["error"]) if e is not None]
        ax.loglog(*zip(*shown), color=colour, marker=marker, linestyle=dash, label=w[name])
        if len(shown) < len(s["k"]):
            ax.annotate(
                w["overflow"],
                shown[-1],
                xytext=(14, 0),
                textcoords="offset points",
                va="center",
                color=colour,
                fontsize=9.5,
            )
    for i, (name, m) in enumerate(d["model"].items()):
        ax.loglog(
            m["k"],
            m["error"],
            color=style.BLACK,
            linestyle="none",
            marker=".",
            markersize=4,
            zorder=5,
            label=w["model"] if i == 0 else None,
        )
    style.plain_log_labels(ax.xaxis, d["series"]["e4m3 fp8 instruction"]["k"])
    ax.set(xlabel=w["x"], ylabel=w["y"], title=d["device"])
    ax.legend(loc="upper left", bbox_to_anchor=(0, -0.14), ncols=2, fontsize=9.5)
    return figure
