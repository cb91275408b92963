"""Lesson 1's pages: one program in two languages, the rubric's words, and figures in code cells that the data give."""

from __future__ import annotations

import ast
import contextlib
import io
import json
import re

import numpy as np
import pytest

from autograder.lesson import load_lesson
from autograder.lesson.model import BLANK, LANGS
from autograder.paths import course_root

LESSON = load_lesson("1")
EDITIONS = pytest.mark.parametrize("lang", LANGS)


def measured(name: str) -> dict:
    data = json.loads((course_root() / "figures" / "data" / f"{name}.json").read_text(encoding="utf-8"))
    return {p["variant"]: p for p in data["points"]}


def code(lang: str) -> list:
    return [c for c in LESSON.edition(lang).cells if c.kind == "code"]


def test_both_editions_are_the_same_program():
    zh, en = code("zh"), code("en")
    assert [c.role for c in zh] == [c.role for c in en]
    for a, b in zip(zh, en, strict=True):
        assert ast.dump(ast.parse(a.source)) == ast.dump(ast.parse(b.source)), (
            f"zh.qmd:{a.line} and en.qmd:{b.line} differ"
        )


@EDITIONS
@pytest.mark.parametrize(
    "fill",
    [
        "min(peak_flops, flops / bytes_moved * bandwidth)",
        "max(peak_flops, flops * bandwidth / (bytes_moved or 1))",
        "peak_flops",
        "flops * bandwidth / bytes_moved if bytes_moved else peak_flops",
        "min(peak_flops, flops / max(bytes_moved, 1) * bandwidth)",
        "flops / (flops / peak_flops + bytes_moved / bandwidth)",
        "min(peak_flops, flops / bytes_moved * bandwidth) if bytes_moved else 0",
    ],
)
def test_the_visible_asserts_catch_common_wrong_fills(lang, fill):
    source = LESSON.edition(lang).with_role("exercise")[0].source.replace(BLANK, fill)
    with pytest.raises((AssertionError, ZeroDivisionError)):
        exec(source, {})


@EDITIONS
def test_questions_and_reference_answers_are_the_rubrics(lang):
    text = LESSON.edition(lang).text
    for name, slot in LESSON.rubric.slots.items():
        if name != "explanation":  # the page puts that question into its own paragraph
            assert slot.question.get(lang) in text, name
        for paragraph in slot.reference.get(lang).split("\n"):
            assert paragraph.strip() in text, name


@EDITIONS
def test_the_demonstration_prints_what_the_text_says(lang, monkeypatch):
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    monkeypatch.setenv("KERNELS_BACKEND", "emulator")
    monkeypatch.setattr(plt, "show", lambda: None)
    out, space = io.StringIO(), {}
    with contextlib.redirect_stdout(out):
        for cell in LESSON.edition(lang).with_role("experiment"):
            exec(cell.source, space)
        space["show"](67.0, 4.8, 100.0, 1.0)
        space["show"](67.0, 4.8, 1.0, 1.0)
    plt.close("all")
    said = out.getvalue()
    for ridge in (
        "H100 datasheet, BF16 dense   ridge  295.2",
        "H200 datasheet, BF16 dense   ridge  206.0",
        "ridge  212.5",
        "ridge   14.7",
    ):
        assert ridge in said
    assert "100 FLOP/byte, compute-bound: at most 67 TFLOP/s" in said
    assert "1 FLOP/byte, memory-bound: at most 4.8 TFLOP/s" in said
    assert re.search(r"each matrix once +2730\.7 FLOP/byte +roof +906\.0, measured/roof 0\.83", said)
    assert re.search(r"two operands each time +0\.5 .* measured/roof 35\d", said)


@EDITIONS
def test_machines_and_rate_in_the_cells_are_the_measured_ones(lang):
    points = measured("lesson01_roofline")
    copy, bf16 = points["device copy"]["tb_per_s"], points["wgmma alone, random"]["flop_per_s"] / 1e12
    fp32 = max(p["flop_per_s"] for p in points.values() if p["unit"] == "fp32") / 1e12
    source = "\n".join(c.source for c in LESSON.edition(lang).with_role("experiment"))
    assert f"({bf16:.0f}e12, {copy:.3f}e12)" in source and f"({fp32:.1f}e12, {copy:.3f}e12)" in source
    assert f"RATE = 128, 192, {points['gemm_pingpong, K = 8192']['flop_per_s'] / 1e12:.0f}" in source


def test_what_the_text_says_of_the_probe_near_the_ridge():
    points = measured("lesson01_roofline")
    peak, copy = points["1024 FMA, resident"]["flop_per_s"], points["device copy"]["tb_per_s"] * 1e12
    share = {
        p["intensity"]: p["flop_per_s"] / min(peak, p["intensity"] * copy)
        for p in points.values()
        if p["unit"] == "fp32" and p["intensity"]
    }
    assert min(share, key=share.get) == 14.0  # the worst point is the one nearest the ridge
    moving, both = points["8 FMA"]["ms"], points["32 FMA"]["ms"]
    arithmetic = 2 * 32 * 2**28 / peak * 1e3
    assert max(moving, arithmetic) < both < moving + arithmetic


def test_what_the_text_says_of_occupancy():
    points = measured("lesson01_occupancy")
    rate = lambda fmas, blocks: points[f"{fmas} FMA, {blocks} blocks an SM"]["flop_per_s"]
    assert [rate(32, b) for b in range(1, 9)] == sorted(
        rate(32, b) for b in range(1, 9)
    )  # helps all the way at the ridge
    assert rate(8, 8) < rate(8, 6) < 1.04 * rate(8, 4)  # not so on the slope
    assert rate(1024, 8) < 1.01 * rate(1024, 2)
    assert points["device write"]["tb_per_s"] > points["device copy"]["tb_per_s"]


def test_the_broken_counts_fail_left_of_the_ridge_only(monkeypatch):
    from kernels import compare

    monkeypatch.setenv("KERNELS_BACKEND", "emulator")
    space = {"np": np}
    exec(LESSON.edition("en").with_role("solution")[0].source, space)
    cell = LESSON.edition("en").with_role("kernel")[2].source
    exec(cell[: cell.index("for wrong in")], space)
    for name in ("every_access_counted", "too_few_counted"):
        rows = compare("roofline_probe", space[name], count=12, seed=7).rows
        assert 0 < sum(not row.passed for row in rows) < len(rows)
        for row in rows:
            m = re.search(r"([\d.]+) FLOP/byte, ridge (\S+)", row.label)
            if not row.passed:
                assert m and float(m[1]) < float(m[2])
