"""Lesson 4's pages: the rubric's words, facts of the text that are not in the claims ledger, and figures that are up to date."""

from __future__ import annotations

import json

import pytest

from autograder.lesson import load_lesson
from autograder.lesson.model import LANGS
from autograder.paths import course_root
from kernels.specs.bulk_copy import wavefronts

LESSON = load_lesson("4")


def points(name: str) -> list[dict]:
    return json.loads((course_root() / "figures" / "data" / f"lesson04_{name}.json").read_text(encoding="utf-8"))[
        "points"
    ]


@pytest.mark.parametrize("lang", LANGS)
def test_questions_and_reference_answers_are_the_rubrics(lang):
    text = LESSON.edition(lang).text
    for name, slot in LESSON.rubric.slots.items():
        assert slot.question.get(lang) in text, name
        for paragraph in slot.reference.get(lang).split("\n"):
            assert paragraph.strip() in text, f"{name}: {paragraph[:60]}"


@pytest.mark.parametrize("lang", LANGS)
def test_the_exercise_and_the_kernel_line_are_not_given_away_before_the_answers(lang):
    text = LESSON.edition(lang).text
    before = text[: text.index('when-profile="answer"')]
    assert "row % 8" not in before and "^ row" not in before


@pytest.mark.parametrize("lang", LANGS)
def test_the_counted_wavefronts_are_those_of_the_table(lang):
    text = LESSON.edition(lang).text
    for swizzle, read in ((0, 4), (128, 4), (0, 16), (128, 16)):
        count = wavefronts(swizzle, read)["wavefronts"]
        assert f"| {count} | {{{{< var lesson04.waves_{swizzle}_{read} >}}}} |" in text or f"| {count} |" in text, (
            swizzle,
            read,
        )


def test_with_the_fence_every_launch_was_right_and_took_the_same_time():
    for p in points("proxy_fence"):
        assert (p["wrong_launches"] == 0) == (p["variant"] == "fence"), p
        if p["side"] == 16384:
            assert abs(p["over_fenced"] - 1) < 0.01
    large, small = (
        {p["side"]: p["wrong_launches"] / p["launches"] for p in points("proxy_fence") if p["variant"] == "no fence"}[s]
        for s in (16384, 2048)
    )
    assert small < large / 10  # small tests hardly meet it


def test_misaligned_rows_cost_where_they_are_written():
    """Half the rows start in the middle of a sector: 4.5 sectors a piece of 128 bytes, which does not explain the time; the writes do."""
    (counted,) = [p["counted"] for p in points("row_traffic") if p["row_alignment"] == 16]
    assert counted == pytest.approx(4.5 / 4, rel=1e-3) and all(
        p["counted"] == 1 for p in points("row_traffic") if p["row_alignment"] > 16
    )
    time = {
        (p["read_alignment"], p["write_alignment"]): p["over_aligned"]
        for p in points("row_sides")
        if p["side"] == 16384
    }
    assert time[16, 128] < 1.05 and time[128, 16] > 1.3 and time[16, 16] > 1.3
    (small,) = [
        p["over_aligned"]
        for p in points("row_sides")
        if (p["side"], p["read_alignment"], p["write_alignment"]) == (2048, 128, 16)
    ]
    assert 1.1 < small < 1.25


def test_the_worked_cycles_of_the_large_transpose():
    """993 tiles an SM, 2.03 million cycles: more than the measured copy even at 2 GHz."""
    tiles = (16384 // 64) * (16384 // 32) / 132
    assert round(tiles) == 993 and 2.02e6 < tiles * 2048 < 2.04e6
    (copy,) = [p["ms"] for p in points("transpose") if p["side"] == 16384 and not p["read"]]
    assert tiles * 2048 / 2e9 > 1e-3 > copy / 1000
    assert tiles * 512 / 2e9 < copy / 1000


def test_the_figures_are_up_to_date():
    from figures import build

    mine = [f for f in build.find_figures() if f.name.startswith("lesson04_")]
    assert len(mine) == 4 and [problem for f in mine for problem in build.stale(f)] == []
