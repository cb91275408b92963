"""The look of every figure: one palette, one card, text that stays text.

Colours are Okabe and Ito's set, which stays apart under the common colour-vision deficiencies; a curve never differs by
colour alone, markers and line styles differ too. The background is a white card, so that a figure reads the same on a
dark page. Text is written as SVG text in a generic font stack: no CJK font is needed to build a figure.
"""

from __future__ import annotations

import math
import re
from contextlib import contextmanager

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt  # noqa: E402  (after the backend is chosen)

BLACK, ORANGE, SKY, GREEN, YELLOW, BLUE, RED, PURPLE = (
    "#222222",
    "#e69f00",
    "#56b4e9",
    "#009e73",
    "#f0e442",
    "#0072b2",
    "#d55e00",
    "#cc79a7",
)
GREY, LIGHT = "#6b7280", "#e5e7eb"
MARKERS = ("o", "s", "^", "D", "v", "P")
DASHES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)))
FONTS = "system-ui, 'Noto Sans', 'Noto Sans CJK SC', 'PingFang SC', 'Microsoft YaHei', sans-serif"

_RC = {
    "svg.fonttype": "none",
    "svg.hashsalt": "hopper-course",  # element ids are the same in every run
    "font.family": "DejaVu Sans",  # comes with matplotlib: layout does not depend on the machine
    "font.size": 10.5,
    "axes.titlesize": 11,
    "axes.titlelocation": "left",
    "axes.edgecolor": GREY,
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.unicode_minus": False,
    "grid.color": LIGHT,
    "grid.linewidth": 0.8,
    "text.color": BLACK,
    "axes.labelcolor": BLACK,
    "xtick.color": BLACK,
    "ytick.color": BLACK,
    "legend.frameon": False,
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
    "lines.linewidth": 1.8,
    "lines.markersize": 5,
}


@contextmanager
def styled():
    """Draw inside this context."""
    with plt.rc_context(_RC):
        yield
    plt.close("all")


def plain_log_labels(axis, values, text=None) -> None:
    """Ticks at `values` on a logarithmic axis, written as plain numbers (or by `text(value)`)."""
    axis.set_major_locator(matplotlib.ticker.FixedLocator(list(values)))
    axis.set_major_formatter(matplotlib.ticker.FixedFormatter([text(v) if text else f"{v:g}" for v in values]))
    axis.set_minor_locator(matplotlib.ticker.NullLocator())


def whole_powers(figure) -> None:
    """Powers of ten with Unicode's superscripts: matplotlib's own exponents are drawn at 70 % of the size, too small on a phone."""
    raised = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")

    def power(value, _):
        exponent = round(math.log10(value)) if value > 0 else 0
        return f"10{str(exponent).translate(raised)}" if value > 0 and math.isclose(value, 10.0**exponent) else ""

    for ax in figure.axes:
        for axis in (ax.xaxis, ax.yaxis):
            if isinstance(axis.get_major_formatter(), matplotlib.ticker.LogFormatter):
                axis.set_major_formatter(matplotlib.ticker.FuncFormatter(power))


def bar_labels(ax, bars, texts, pad: float = 3) -> None:
    """Values at the ends of bars."""
    ax.bar_label(bars, labels=texts, padding=pad, fontsize=9.5)


def finish_svg(svg: str, title: str, description: str) -> str:
    """Generic fonts, a scalable card, and a title and description for screen readers."""
    svg = re.sub(r"font: ((?:[\w.]+ )*[\d.]+px) [^;\"]+", rf"font: \1 {FONTS}", svg)
    svg = re.sub(r"font-family: [^;\"]+", f"font-family: {FONTS}", svg)
    head = re.search(r"<svg [^>]*>", svg)
    tag = re.sub(r' (?:width|height)="[^"]*"', "", head[0])  # the page gives the width; viewBox keeps the shape
    tag = tag[:-1] + ' role="img" style="max-width:100%;height:auto;background:#fff;border-radius:8px">'
    words = f"<title>{_escape(title)}</title><desc>{_escape(description)}</desc>"
    return svg.replace(head[0], tag + words, 1)


def _escape(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
