"""The committed figures are those that the data and the scripts give, and their text is text."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from types import SimpleNamespace

import pytest

from autograder.paths import course_root, lessons_dir
from autograder.site.authoring import diagrams
from figures import build, controls

FIGURES = build.find_figures()
SVG = pytest.mark.parametrize(
    ("figure", "lang"), [(f, lang) for f in FIGURES for lang in build.LANGS], ids=lambda x: getattr(x, "name", x)
)


@pytest.mark.parametrize("figure", FIGURES, ids=lambda f: f.name)
def test_committed_drawings_match_their_data_and_script(figure):
    assert build.stale(figure) == []


@SVG
def test_svg_is_self_contained_and_its_text_is_text(figure, lang):
    svg = figure.target(lang).read_text(encoding="utf-8")
    root = ET.fromstring(svg)
    words = ["".join(e.itertext()) for e in root.iter("{http://www.w3.org/2000/svg}text")]
    assert len(words) > 5
    assert any(re.search(r"[\u4e00-\u9fff]", w) for w in words) == (lang == "zh")
    assert not re.search(r"(?:href|src|url)\s*[=(]\s*[\"']?(?:https?:)?//", svg), "a figure must not fetch anything"
    assert root.find("{http://www.w3.org/2000/svg}title").text == figure.module.TITLE[lang]
    assert len(svg) < 200_000


@pytest.mark.parametrize(
    ("figure", "lang"),
    [(f, lang) for f in FIGURES if hasattr(f.module, "LESSON") for lang in build.LANGS],
    ids=lambda x: getattr(x, "name", x),
)
def test_every_figure_stands_in_its_page(figure, lang):
    page = figure.target(lang).parent.parent / f"{lang}.qmd"
    assert f"](assets/{figure.target(lang).name})" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize("folder", sorted(lessons_dir().glob("*/assets")), ids=lambda p: p.parent.name)
def test_every_picture_is_drawn_by_a_script_from_data(folder):
    drawn = {figure.target(lang).resolve() for figure in FIGURES for lang in build.LANGS}
    drawn |= {p.resolve() for p in diagrams.wanted()} | {controls.target(name).resolve() for name in controls.CONTROLS}
    assert [p.name for p in sorted(folder.rglob("*")) if p.is_file() and p.resolve() not in drawn] == []


@pytest.mark.parametrize("figure", [f for f in FIGURES if f.module.DATA], ids=lambda f: f.name)
def test_the_data_of_a_figure_carry_a_receipt(figure):
    for path in figure.files():
        receipt = json.loads(path.read_text(encoding="utf-8"))["receipt"]
        assert all(receipt.get(k) for k in ("device", "time", "command")), path.name


def test_a_changed_datum_makes_the_drawing_stale():
    figure = next(f for f in FIGURES if f.name == "lesson07_fp8_block_scaling")
    changed = SimpleNamespace(
        DATA=(), LESSON=figure.module.LESSON, __file__=str(figure.script), data=lambda: {"other": 1}
    )
    problems = build.stale(build.Figure(changed))
    assert len(problems) == len(build.LANGS)
    assert all("other data" in p for p in problems)


def test_missing_data_are_said_with_the_remedy():
    module = SimpleNamespace(
        DATA=("not_measured.json",), LESSON="x", __file__=str(FIGURES[0].script), data=lambda *a: {}
    )
    (problem,) = build.stale(build.Figure(module))
    assert "not_measured.json" in problem and "course bench" in problem


def test_drawing_twice_gives_the_same_bytes(tmp_path, monkeypatch):
    figure = next(f for f in FIGURES if f.name == "lesson07_fp8_block_scaling")
    monkeypatch.setattr(build, "ROOT", tmp_path)
    first = [p.read_bytes() for p in build.draw(figure)]
    assert first == [p.read_bytes() for p in build.draw(figure)]


def test_the_command_names_the_figures_it_knows():
    run = subprocess.run(
        [sys.executable, "-m", "figures", "nonsense"], capture_output=True, text=True, cwd=course_root()
    )
    assert run.returncode == 2
    assert FIGURES[0].name in run.stderr
