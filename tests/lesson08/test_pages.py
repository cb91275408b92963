"""Lesson 8's two pages and what stands behind them: the same program, the rubric's words, cells that print what the text says."""

from __future__ import annotations

import ast
import contextlib
import io
import json
import re

import pytest

from autograder.lesson import load_lesson
from autograder.lesson.model import BLANK, LANGS
from autograder.paths import course_root
from figures import dispatch_table as table_script
from kernels import nvrtc
from kernels.dispatch_table import mean_loss, measured, receipt
from kernels.errors import KernelError
from kernels.specs.gemm_dispatch import CONFIGS, OTHER_REGISTERS, Config, choose

LESSON = load_lesson("8")
EDITIONS = pytest.mark.parametrize("lang", LANGS)
FILL = "tile_m * tile_n // (WARPGROUP * consumer_warpgroups)"


def points(name: str) -> list[dict]:
    return json.loads((course_root() / "figures" / "data" / f"lesson08_{name}.json").read_text(encoding="utf-8"))[
        "points"
    ]


def code(lang: str) -> list:
    return [c for c in LESSON.edition(lang).cells if c.kind == "code"]


def test_both_editions_are_the_same_program():
    zh, en = code("zh"), code("en")
    assert [c.role for c in zh] == [c.role for c in en]
    for a, b in zip(zh, en, strict=True):
        assert ast.dump(ast.parse(a.source)) == ast.dump(ast.parse(b.source)), (
            f"zh.qmd:{a.line} and en.qmd:{b.line} differ"
        )


def test_both_editions_have_the_same_outline_figures_and_claims():
    def outline(lang):
        text = re.sub(r"```.*?```", "", LESSON.edition(lang).text, flags=re.S)
        levels = re.findall(r"^(#+) ", text, re.M)
        images = [p.replace(f".{lang}.svg", "") for p in re.findall(r"!\[\]\(([^)]+)\)", text)]
        return levels, images, re.findall(r"\{\{< var (\S+) >\}\}", text), len(re.findall(r"^- ", text, re.M))

    zh, en = outline("zh"), outline("en")
    assert zh[:2] == en[:2] and zh[3] == en[3] and sorted(zh[2]) == sorted(en[2])


@EDITIONS
def test_the_exercise_has_one_blank_and_the_solution_fills_it(lang):
    exercise, solution = (LESSON.edition(lang).with_role(r)[0] for r in ("exercise", "solution"))
    assert exercise.source.count(BLANK) == 1
    assert ast.dump(ast.parse(exercise.source.replace(BLANK, FILL))) == ast.dump(ast.parse(solution.source))


@pytest.mark.parametrize(
    "fill",
    [
        "tile_m * tile_n // WARPGROUP",
        "tile_m * tile_n // (32 * consumer_warpgroups)",
        "tile_n // 2",
        "(tile_m + tile_n) // consumer_warpgroups",
        "128",
        "None",
    ],
)
def test_the_visible_asserts_catch_common_wrong_fills(fill):
    source = LESSON.edition("zh").with_role("exercise")[0].source.replace(BLANK, fill)
    with pytest.raises((AssertionError, TypeError)):
        exec(source, {})


@EDITIONS
def test_questions_and_reference_answers_are_the_rubrics(lang):
    text = LESSON.edition(lang).text
    start = text.index('{.content-visible when-profile="answer"}')
    for name, slot in LESSON.rubric.slots.items():
        if name != "explanation":  # the page puts that question into its own paragraph
            assert slot.question.get(lang) in text[:start], f"{name}: the question of rubric.yml is not in {lang}.qmd"
        for paragraph in filter(None, map(str.strip, slot.reference.get(lang).split("\n"))):
            assert paragraph in text[start:] and paragraph not in text[:start], name


def run_cells(lang: str, monkeypatch, roles=("experiment", "exercise")) -> str:
    import ipywidgets
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    monkeypatch.setattr(plt, "show", lambda: None)
    # as interact calls it first, and at the ends of its sliders
    monkeypatch.setattr(ipywidgets, "interact", lambda show, m, n: [show(), show(m[0], n[0]), show(m[1], n[1])])
    space: dict = {}
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        for cell in code(lang):
            if cell.role in roles or "load_source" in cell.source and cell.role == "kernel":
                if cell.role == "kernel":
                    exec("from kernels.sources import load_source", space)
                    continue
                exec(cell.source.replace(BLANK, FILL), space)
    plt.close("all")
    return out.getvalue()


@EDITIONS
def test_experiments_print_what_the_text_says(lang, monkeypatch):
    said = run_cells(lang, monkeypatch)
    assert "grid: 4.7% over the best on average; worst 41% at 2048x1024" in said
    assert "2048x1024: chosen 128x128. Measured at 2048x1024: chosen 128x128 38.5 us, best 64x256 27.4 us" in said
    assert "192x160/1: 240 + 26 of 255, spills" in said and "256x224/2: 224 + 26 of 240, spills" in said
    if nvrtc.available()[0]:
        for line in re.findall(r"^\d+x\d+/\d: .*$", said, re.M):
            assert ("spills" in line) == (not line.endswith(" 0 bytes spilled")), line


@EDITIONS
def test_text_is_plain_quarto(lang):
    text = re.sub(r"```.*?```", "", LESSON.edition(lang).text, flags=re.S)
    for m in re.finditer(r"^(?P<before>[^\n]+)\n(?=[-*] |\d+\. )", text, re.M):
        assert re.match(r"\s*([-*] |\d+\. )", m["before"]), f"a list needs a blank line before it: {m['before']!r}"


# ---------------------------------------------------------------------------------------------- what the text states of the measurements
def test_accumulators_and_26_decide_every_spill():
    """Figure 8-2: "accumulators + 26 above the budget" is right about all 23 configurations."""
    assert len(points("cliff")) == 23
    for p in points("cliff"):
        m, n = map(int, p["config"].split("x"))
        c = Config(m, n, p["stages"], p["consumers"], 1)
        assert c.for_consumers == {1: 255, 2: 240}[p["consumers"]]
        assert bool(p["spill_bytes"]) == (p["accumulators"] + OTHER_REGISTERS > c.for_consumers) == bool(c.fits())
        if p["consumers"] == 1 and not p["spill_bytes"]:
            assert p["registers"] == p["accumulators"] + OTHER_REGISTERS


def test_spilled_results_are_right():
    spilled = [p for p in points("results") if p["spill_bytes"]]
    assert len(spilled) == 5 and all(p["error"] <= p["bound"] for p in points("results"))


def test_equal_stages_take_equal_time_where_a_block_is_alone():
    at = {
        (p["config"], p["stages"], p["blocks"]): p["ms"]
        for p in points("alone")
        if p["m"] == 2048 and p["n"] == 1024 and p["consumers"] == 1
    }
    for stages in (3, 4, 5):
        assert at["128x128", stages, 1] == pytest.approx(at["64x256", stages, 1], rel=0.05)
    assert (
        at["128x128", 3, 2] == pytest.approx(at["128x128", 3, 1], rel=0.02)
        and at["128x128", 3, 1] > 1.3 * at["128x128", 5, 1]
    )


def test_the_rules_of_dispatch_do_as_the_text_says():
    of = {(p["shapes"], p["rule"]): p["mean_loss"] for p in points("unseen") if p["kind"] == "rule"}
    assert (
        of["grid", "table"] == 1
        and of["random", "ring"] < of["random", "model"] < of["random", "rates"] < of["random", "table"]
    )
    assert not any(p["best"] and p["config"] == "128x192" for p in points("configurations"))


# ---------------------------------------------------------------------------------------------- the packed table
def test_the_packed_table_is_the_measured_one():
    assert table_script.TARGET.read_text(encoding="utf-8") == table_script.text(), (
        "run python -m figures.dispatch_table"
    )
    assert receipt("grid")["device"] == receipt("unseen")["device"] == "NVIDIA H200"
    assert len(measured("grid")) == 28 and len(measured("unseen")) == 60
    for shape in (*measured("grid"), *measured("unseen")):
        assert set(shape.times) == {*CONFIGS, "cublas"} and shape.loss(shape.best) == 1


def test_mean_loss_is_the_benchs():
    model, _ = mean_loss(lambda m, n: choose(m, n, 132).name, "unseen")
    (stored,) = (p["mean_loss"] for p in points("unseen") if p.get("shapes") == "random" and p.get("rule") == "model")
    assert model == pytest.approx(stored, rel=1e-4)
    with pytest.raises(KernelError, match="no table named"):
        measured("nonsense")
