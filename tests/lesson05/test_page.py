"""What lesson 5's pages tell, held against the data, the kernel's sources and the compiler."""

from __future__ import annotations

import json
import re

import pytest

from autograder.lesson import load_lesson
from autograder.lesson.model import BLANK, LANGS
from autograder.paths import course_root
from kernels import nvrtc
from kernels.sources import load_source
from kernels.specs.wgmma import WIDTHS, coordinates

LESSON = load_lesson("5")
EARLY = json.loads((course_root() / "figures" / "data" / "lesson05_early_read.json").read_text(encoding="utf-8"))
RATE = json.loads((course_root() / "figures" / "data" / "lesson05_rate.json").read_text(encoding="utf-8"))
COST = {
    (p["variant"], p["warpgroups"], p["n"]): p["cycles_per_wgmma"]
    for p in EARLY["points"]
    if p["kernel"] == "wgmma_rate"
}
NS = (64, 128, 256)


def a_places(thread: int, size: int) -> list[tuple[int, int]]:
    """(row, k) of what a thread's four A registers hold, elements of `size` bytes, as load_a_fragment of wgmma_operands.cuh reads them."""
    warp, lane = thread // 32, thread % 32
    places = []
    for i in range(4):
        row, byte = 16 * warp + lane // 4 + i % 2 * 8, lane % 4 * 4 + i // 2 * 16
        places += [(row, (byte + b) // size) for b in range(0, 4, size)]
    return places


@pytest.mark.parametrize(("size", "same"), [(2, True), (1, False), (4, False)])
def test_accumulators_are_the_next_a_for_16_bit_types_only(size, same):
    k = 32 // size
    assert all(a_places(t, size) == [coordinates(t, r) for r in range(k // 2)] for t in range(128)) is same


def test_a_row_is_in_the_hands_of_four_adjacent_lanes():
    for row in range(64):
        holders = {t for t in range(128) for r in range(4) if coordinates(t, r)[0] == row}
        first = min(holders)
        assert holders == set(range(first, first + 4)) and first % 4 == 0


def test_numbers_came_out_right_because_the_compiler_put_the_wait_in():
    points = [p for p in EARLY["points"] if p["kernel"] == "wgmma_tile"]
    assert len(points) == 6 and all(
        p["error"] < 1e-6 and "C7517" in p["remark"] and "injected" in p["remark"] for p in points
    )
    assert all(
        bool(p["remark"]) == (p["variant"] == "reads early") for p in EARLY["points"] if p["kernel"] == "wgmma_rate"
    )


def test_draining_costs_the_same_at_every_width_with_one_warpgroup_and_nothing_with_two():
    extra = [4 * (COST["waits for each group", 1, n] - COST["one group in flight", 1, n]) for n in NS]
    assert max(extra) - min(extra) < 0.05 * max(extra)
    assert all(
        abs(COST["reads early", 1, n] - COST["waits for each group", 1, n]) < 0.03 * COST["reads early", 1, n]
        for n in NS
    )
    assert all(
        abs(COST[v, 2, n] / (n / 2) - 1) < 0.005
        for v in ("one group in flight", "waits for each group", "reads early")
        for n in NS
    )
    assert all(abs(COST["one group in flight", 1, n] / (n / 2) - 1) < 0.005 for n in NS)


@pytest.mark.nvrtc
def test_the_compiler_of_today_still_says_c7517_of_the_defect_and_nothing_of_the_kernel():
    source = load_source("wgmma_tile.cu")
    assert any(
        "C7517" in r for r in nvrtc.compile_source(source, {"TILE_N": 64, "BUG": "read_before_wgmma_wait"}).remarks
    )
    assert not nvrtc.compile_source(source, {"TILE_N": 64}).remarks


@pytest.mark.parametrize("fill", ["(lane // 4, register)", "(16 * warp + lane // 4, 2 * (lane % 4) + register % 2)", "(thread // 2, register)", "(0, 0)",
                                  "(16 * warp + lane // 4 + 8 * (register // 2 % 2), 8 * (register // 4) + 2 * lane % 4 + register % 2)"])  # fmt: skip
def test_the_visible_asserts_catch_common_wrong_fills(fill):
    source = LESSON.edition("zh").with_role("exercise")[0].source.replace(BLANK, fill)
    with pytest.raises(AssertionError):
        exec(source, {})


@pytest.mark.parametrize("lang", LANGS)
def test_what_the_text_says_of_the_widths_and_the_worked_example(lang):
    text = LESSON.edition(lang).text
    assert len(WIDTHS) == 14 and re.search(r"14 种 N|all 14 widths", text)
    assert coordinates(37, 6) == (25, 10) and "16+1+8=25" in text and "8+2=10" in text
    assert round(989e12 / (132 * 2 * 2048) / 1e9, 2) == 1.83 and r"\approx1.83\times10^9" in text
    made = {(p["n"], p["a_from"]) for p in EARLY["points"] if p["kernel"] == "wgmma_tile"}
    assert made == {(n, where) for n in (16, 64, 256) for where in ("shared", "registers")} and re.search(
        r"16、64、256|N = 16, 64, 256", text
    )


def test_the_clock_and_not_the_unit_is_what_the_measured_rate_lacks():
    wide = [p for p in RATE["points"] if p["n"] >= 64]
    assert all(abs(p["cycles_per_wgmma"] / (p["n"] / 2) - 1) < 0.005 for p in wide)
    assert all(
        abs(p["tflop_per_s"] * 1e12 / (132 * 2 * 2048 * p["clock_ghz"] * 1e9) - 1) < 0.02 and p["clock_ghz"] < 1.83
        for p in wide
    )
