"""Figure 8-3: the rate of three tiles as D grows wider, measured on the H200."""

from __future__ import annotations

from figures import style

LESSON = "lesson08_kernel_selection"
DATA = ("lesson08_waves.json",)
TITLE = {"zh": "图 8-3 tile 数与 SM 数", "en": "Figure 8-3: the number of tiles and the number of SMs"}
DESCRIPTION = {
    "zh": "M = 1024，K = 4096，N 从 256 到 8448：三种 tile 与 cuBLAS 的 TFLOP/s。tile 数刚超过 132 的倍数时，大 tile 的速度骤降。",
    "en": "M = 1024, K = 4096, N from 256 to 8448: TFLOP/s of three tiles and of cuBLAS. A large tile's rate drops where the number of tiles has just passed a multiple of 132.",
}
WORDS = {
    "zh": {"x": "N（M = {m}，K = {k}）", "y": "TFLOP/s", "cublas": "cuBLAS", "one": "{n} 个 tile"},
    "en": {"x": "N (M = {m}, K = {k})", "y": "TFLOP/s", "cublas": "cuBLAS", "one": "{n} tiles"},
}
MARKED = (4096, 4352)


def data(measured: dict) -> dict:
    series = {}
    for p in measured["points"]:
        series.setdefault(p["config"], []).append((p["n"], p["tflop_per_s"], p["tiles"]))
    first = measured["points"][0]
    return {
        "series": series,
        "m": first["m"],
        "k": first["k"],
        "device": measured["receipt"]["device"],
        "time": measured["receipt"]["time"],
    }


def plot(d: dict, lang: str):
    w = WORDS[lang]
    figure, ax = style.plt.subplots(figsize=(8.6, 4.4), layout="constrained")
    look = {
        "cublas": (style.GREY, "", "-"),
        "128x256": (style.RED, "o", "-"),
        "64x256": (style.BLUE, "s", "--"),
        "64x64": (style.GREEN, "^", ":"),
    }
    for name, (colour, marker, dash) in look.items():
        points = d["series"][name]
        ax.plot(
            [p[0] for p in points],
            [p[1] for p in points],
            color=colour,
            marker=marker,
            linestyle=dash,
            markersize=4,
            label=w.get(name, name),
        )
    for n, rate, tiles in d["series"]["128x256"]:
        if n in MARKED:
            ax.annotate(
                w["one"].format(n=tiles),
                (n, rate),
                (7, -3) if n == MARKED[0] else (2, -15),
                textcoords="offset points",
                fontsize=9.5,
                color=style.RED,
            )
    ax.set(xlabel=w["x"].format(**d), ylabel=w["y"], xlim=(0, 8700), ylim=(0, 820))
    ax.set_xticks(range(0, 8449, 1024))
    ax.legend(loc="lower right", ncols=2)
    figure.suptitle(d["device"], x=0.01, ha="left", fontsize=9.5, color=style.GREY)
    return figure
