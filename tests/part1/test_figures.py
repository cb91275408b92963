"""Figures whose lesson is not written yet: they draw from the committed data, and nothing is written into lessons/."""

import io
import subprocess
import sys

import pytest

from autograder.paths import course_root
from figures import build, style

AWAITED = [f for f in build.all_figures() if f.name.startswith(tuple(f"lesson0{n}_" for n in (1, 2, 3, 4, 5, 6, 8)))]


@pytest.mark.parametrize("figure", AWAITED, ids=lambda f: f.name)
def test_draws_in_both_languages(figure):
    """Both are plotted; the English one, whose glyphs the layout's font has, is written too."""
    data = figure.data()
    with style.styled():
        figure.module.plot(data, "zh")
        out = io.StringIO()
        figure.module.plot(data, "en").savefig(out, format="svg")
    assert out.getvalue().count("<text") > 5 and len(out.getvalue()) < 150_000
    for lang in build.LANGS:
        assert figure.module.TITLE[lang] and figure.module.DESCRIPTION[lang]
    assert set(figure.module.WORDS["zh"]) == set(figure.module.WORDS["en"])


def test_a_figure_waits_for_its_lesson(tmp_path, monkeypatch):
    monkeypatch.setattr(build, "ROOT", tmp_path)
    figure = AWAITED[0]
    assert figure.awaited and figure.name not in {f.name for f in build.find_figures()}
    (tmp_path / "lessons" / figure.module.LESSON).mkdir(parents=True)
    assert not figure.awaited and figure.name in {f.name for f in build.find_figures()}
    assert [p.name for p in build.draw(figure)] == [
        f"{figure.name.split('_', 1)[1].replace('_', '-')}.{lang}.svg" for lang in build.LANGS
    ]


def test_the_command_says_what_a_figure_waits_for():
    waiting = [f for f in AWAITED if f.awaited]
    if not waiting:
        pytest.skip("all lessons are there")
    run = subprocess.run(
        [sys.executable, "-m", "figures", waiting[0].name], capture_output=True, text=True, cwd=course_root()
    )
    assert run.returncode == 2 and f"drawn once lessons/{waiting[0].module.LESSON} is there" in run.stderr
