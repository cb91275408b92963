"""Lesson 2's pages: the measured table in the demonstration, and cells that print what the text says of them."""

from __future__ import annotations

import contextlib
import io
import json
import re

import numpy as np
import pytest

from autograder.lesson import load_lesson
from autograder.lesson.model import BLANK, LANGS
from autograder.paths import course_root

LESSON = load_lesson("2")
EDITIONS = pytest.mark.parametrize("lang", LANGS)


def measured(name: str) -> dict:
    return json.loads((course_root() / "figures" / "data" / f"lesson02_{name}.json").read_text(encoding="utf-8"))


@pytest.fixture(params=LANGS)
def ran(request, monkeypatch):
    """(names, what was printed) of the experiments with the exercise solved."""
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    monkeypatch.setattr(plt, "show", lambda: None)
    space, out = {}, io.StringIO()
    edition = LESSON.edition(request.param)
    with contextlib.redirect_stdout(out):
        for cell in (c for c in edition.cells if c.kind == "code" and c.role in ("experiment", "exercise")):
            exec(cell.source.replace(BLANK, "bandwidth * latency"), space)
    plt.close("all")
    return space, out.getvalue()


def test_the_demonstrations_table_is_the_measurement(ran):
    space, _ = ran
    points = {(p["width"], p["loads"], p["warps"]): p for p in measured("stream")["points"] if p["width"]}
    assert len(points) == len(space["GRID"]) == 96
    for place, flight, percent in zip(space["GRID"], space["FLIGHT"], space["PERCENT"].ravel(), strict=True):
        assert flight == points[place]["bytes_in_flight"] and percent == pytest.approx(
            100 * points[place]["of_copy"], abs=0.051
        ), place
    copy = next(p for p in measured("stream")["points"] if not p["width"])
    assert (
        space["COPY"] / 1e12 == pytest.approx(copy["tb_per_s"], abs=0.005)
        and space["SMS"] == measured("stream")["receipt"]["sms"]
    )


def test_the_count_of_sectors_is_the_hardwares_and_bytes_do_not_explain_the_time(ran):
    _, said = ran
    rows = {
        m[1].strip(): [float(x) for x in re.findall(r"\d+\.\d+", m[2])]
        for m in re.finditer(r"^(in order|shuffled in 4 KiB|at random)(.*)$", said, re.M)
    }
    counted = {
        p["variant"].split(", ")[1]: p["sectors_per_request_of_x"]
        for p in measured("sectors")["points"]
        if p["variant"].count(",") == 1
    }
    for name, (sectors, by_32, by_64) in rows.items():
        assert sectors == pytest.approx(counted[name], abs=0.3), name
    assert rows["at random"][1:] == [3.3, 6.0]
    rate = {p["variant"]: p["loads_per_ns"] for p in measured("equal_loads")["points"]}
    assert rate["gather, in order"] / rate["gather, at random"] > 1.5 * 6.0


def test_the_thresholds_say_that_latency_rises_with_the_load(ran):
    _, said = ran
    slowest = [int(x) for x in re.findall(r"slowest (\d+) %", said)]
    assert len(slowest) == 3 and slowest[0] < 60 < 80 < slowest[1] <= slowest[2]


def test_littles_law_with_the_unloaded_latency_bounds_every_point():
    alone = max(measured("latency")["points"], key=lambda p: p["bytes"])["ns_per_load"]
    for p in measured("stream")["points"]:
        if p["width"]:
            took = p["bytes_in_flight"] * 132 / (p["tb_per_s"] / 2) / 1e3  # ns
            assert took > alone, p["variant"]


@EDITIONS
@pytest.mark.parametrize(
    "fill",
    [
        "bandwidth / latency",
        "bandwidth + latency",
        "bandwidth * latency * 1e9",
        "0.0 if latency == 0 else bandwidth * latency",
        "bandwidth * latency / 132",
        "None",
    ],
)
def test_the_visible_asserts_catch_common_wrong_fills(lang, fill):
    source = LESSON.edition(lang).with_role("exercise")[0].source.replace(BLANK, fill)
    with np.errstate(all="ignore"), pytest.raises((AssertionError, ValueError, TypeError, ZeroDivisionError)):
        exec(source, {})
