"""The report's figures as SVG. Text stays text, colours come from the page, so both colour schemes work."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from datetime import datetime

import matplotlib

matplotlib.use("svg")
import matplotlib.dates as mdates  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402
from matplotlib.ticker import MaxNLocator  # noqa: E402

# stand-ins that the page's CSS replaces by its own colours
INK, SOFT, ACCENT, OK, NO, WARN = "#010101", "#020202", "#030303", "#040404", "#050505", "#060606"
_NAMES = {INK: "ink", SOFT: "soft", ACCENT: "accent", OK: "ok", NO: "no", WARN: "warn"}
STATE_COLOURS = {"PASS": OK, "REVIEW": WARN, "FAIL": NO, "UNGRADED": SOFT}
YEARS = range(1990, 2200)
_STYLE = {
    "svg.fonttype": "none",
    "svg.hashsalt": "report",
    "font.family": "sans-serif",
    "font.size": 10,
    "text.color": INK,
    "axes.edgecolor": SOFT,
    "axes.labelcolor": SOFT,
    "xtick.color": SOFT,
    "ytick.color": SOFT,
    "axes.spines.top": False,
    "axes.spines.right": False,
}


def _svg(width: float, height: float, draw: Callable) -> str:
    """Draw with draw(axes) and return inline SVG of this size in inches."""
    with matplotlib.rc_context(_STYLE):
        figure = Figure(figsize=(width, height), layout="constrained")
        figure.patch.set_alpha(0)
        axes = figure.add_subplot()
        axes.patch.set_alpha(0)
        draw(axes)
        out = io.StringIO()
        figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None})
    text = out.getvalue()
    text = re.sub(r"<\?xml.*?\?>|<!DOCTYPE.*?>|<metadata>.*?</metadata>|<style[^>]*>.*?</style>", "", text, flags=re.S)
    text = re.sub(r'style="([^"]*)"', lambda m: _attributes(m[1]), text)
    for stand_in, name in _NAMES.items():
        text = text.replace(f'fill="{stand_in}"', f'class="f-{name}"').replace(
            f'stroke="{stand_in}"', f'class="s-{name}"'
        )
    return re.sub(r'(class="[^"]*") (?=[^<>]*class=")', "", text).strip()


def _attributes(style: str) -> str:
    """A style attribute as presentation attributes: the page's policy admits no inline style."""
    pairs = (p.split(":", 1) for p in style.split(";") if ":" in p)
    return " ".join(f'{k.strip()}="{v.strip()}"' for k, v in pairs if k.strip() != "font")


def score_histogram(totals: list[float], maximum: float, pass_mark: float) -> str:
    def draw(axes):
        edges = [x - 0.25 for x in _halves(maximum)]
        axes.hist([t for t in totals if t < pass_mark], bins=edges, color=NO, rwidth=0.85)
        axes.hist([t for t in totals if t >= pass_mark], bins=edges, color=OK, rwidth=0.85)
        axes.axvline(pass_mark - 0.25, color=SOFT, linestyle="--", linewidth=1)
        axes.set_xlabel("points")
        axes.set_ylabel("submissions")
        axes.set_xlim(-0.5, maximum + 0.5)
        axes.yaxis.set_major_locator(MaxNLocator(integer=True))

    return _svg(6.2, 2.6, draw)


def _halves(maximum: float) -> list[float]:
    return [n / 2 for n in range(int(maximum * 2) + 2)]


def state_bars(states: dict[str, int]) -> str:
    def draw(axes):
        names = list(states)[::-1]
        bars = axes.barh(names, [states[n] for n in names], color=[STATE_COLOURS[n] for n in names], height=0.6)
        axes.bar_label(bars, padding=4, color=INK)
        axes.xaxis.set_visible(False)
        axes.spines["bottom"].set_visible(False)
        axes.margins(x=0.12)

    return _svg(6.2, 1.8, draw)


def share_bars(items: list[tuple[str, float]], label: str) -> str:
    """Horizontal bars of shares from 0 to 1, first item on top."""

    def draw(axes):
        names = [n if len(n) <= 44 else n[:43] + "…" for n, _ in items][::-1]
        bars = axes.barh(range(len(names)), [100 * s for _, s in items][::-1], color=ACCENT, height=0.6)
        axes.set_yticks(range(len(names)), names)
        axes.bar_label(bars, fmt="%.0f %%", padding=4, color=INK)
        axes.set_xlim(0, 112)
        axes.set_xlabel(label)

    return _svg(6.2, 0.9 + 0.32 * len(items), draw)


def submission_times(times: list[datetime], due: datetime | None) -> str:
    """When they handed in; a time that no clock gives (of a timestamp made by hand) is left out, as no axis can show it beside the others."""
    times = [t for t in times if t.year in YEARS]
    due = due if due is not None and due.year in YEARS else None

    def draw(axes):
        axes.plot(times, range(1, len(times) + 1), drawstyle="steps-post", color=ACCENT, linewidth=2)
        if due is not None:
            axes.axvline(due, color=NO, linestyle="--", linewidth=1)
            axes.annotate(
                "due", (due, len(times)), color=NO, xytext=(-4, -4), textcoords="offset points", va="top", ha="right"
            )
        axes.set_ylabel("handed in")
        axes.yaxis.set_major_locator(MaxNLocator(integer=True))
        locator = mdates.AutoDateLocator()
        axes.xaxis.set_major_locator(locator)
        axes.xaxis.set_major_formatter(mdates.ConciseDateFormatter(locator))

    return _svg(6.2, 2.4, draw)
