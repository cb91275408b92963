"""Lesson 7's two pages: the same program, the rubric's words, and cells that do what the text says."""

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
from autograder.paths import course_root, lessons_dir

LESSON = load_lesson("7")
EDITIONS = pytest.mark.parametrize("lang", LANGS)


def code(lang: str) -> list:
    return [c for c in LESSON.edition(lang).cells if c.kind == "code"]


def test_both_editions_are_the_same_program():
    zh, en = code("zh"), code("en")
    assert [c.role for c in zh] == [c.role for c in en]
    for a, b in zip(zh, en, strict=True):
        assert ast.dump(ast.parse(a.source)) == ast.dump(ast.parse(b.source)), f"zh.qmd:{a.line} and en.qmd:{b.line} differ"


def test_both_editions_have_the_same_sections_figures_and_sources():
    def outline(lang):
        text = re.sub(r"```.*?```", "", LESSON.edition(lang).text, flags=re.S)
        levels = re.findall(r"^(#+) ", text, re.M)
        images = [p.replace(f".{lang}.svg", "") for p in re.findall(r"!\[\]\(([^)]+)\)", text)]
        return levels, images, text.count("|---") + text.count("| ---"), len(re.findall(r"^- ", text, re.M))

    assert outline("zh") == outline("en")


@EDITIONS
def test_the_exercise_has_one_blank_and_the_solution_fills_it(lang):
    exercise, solution = (LESSON.edition(lang).with_role(r)[0] for r in ("exercise", "solution"))
    assert exercise.source.count(BLANK) == 1
    fill = ast.unparse(ast.parse(solution.source).body[0].body[-1].value)
    assert ast.dump(ast.parse(exercise.source.replace(BLANK, fill))) == ast.dump(ast.parse(solution.source))
    space: dict = {}
    exec(solution.source, space)
    rng = np.random.default_rng(1)
    for case in LESSON.checks.boundary_cases(rng):
        args = {k: None if isinstance(v, dict) else v for k, v in case["args"].items()}
        np.testing.assert_allclose(space["linear_epilogue"](**args), case["expect"], rtol=case["rtol"] or 1e-12, atol=case["atol"])


@pytest.mark.parametrize("fill", ["alpha * acc + beta * c", "alpha * acc if c is None else alpha * acc + beta * c", "beta * acc if beta == 0 else alpha * acc + beta * c", "acc", "None"])
def test_the_visible_asserts_catch_common_wrong_fills(fill):
    source = LESSON.edition("zh").with_role("exercise")[0].source.replace(BLANK, fill)
    with pytest.raises((AssertionError, TypeError)):
        exec(source, {})


@EDITIONS
def test_questions_and_reference_answers_are_the_rubrics(lang):
    text = LESSON.edition(lang).text
    for name, slot in LESSON.rubric.slots.items():
        if name != "explanation":  # the page puts that question into its own paragraph
            assert slot.question.get(lang) in text, f"{name}: the question of rubric.yml is not in {lang}.qmd"
        for paragraph in slot.reference.get(lang).split("\n"):
            assert paragraph.strip() in text, f"{name}: the reference answer of rubric.yml is not in {lang}.qmd"


@EDITIONS
def test_the_reference_answers_stand_only_in_the_answer_edition(lang):
    text = LESSON.edition(lang).text
    start = text.index('{.content-visible when-profile="answer"}')
    end = text.index("\n::::\n", start)
    outside = text[:start] + text[end:]
    for slot in LESSON.rubric.slots.values():
        assert slot.reference.get(lang).split("\n")[0] not in outside
    assert "if beta == 0 else" not in outside


@EDITIONS
def test_experiments_run_and_print_what_the_text_says(lang, monkeypatch):
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    monkeypatch.setattr(plt, "show", lambda: None)
    space: dict = {}
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        for cell in LESSON.edition(lang).with_role("experiment"):
            exec(cell.source, space)
    plt.close("all")
    said = out.getvalue()
    assert "beta*c = +2  D in float16:  late 8  early 8" in said  # the case that shows nothing
    assert "beta*c = -6  D in float16:  late 0.001953125  early 0" in said
    # the CPU model against the H200's mean errors; the text says 10 % for FP8 and FP32
    said_of = {m[1].strip(): dict(re.findall(r"K=(\d+): (\S+)", m[2])) for m in re.finditer(r"^(.{26})  (K=512.*)$", said, re.M)}
    points = json.loads((course_root() / "figures" / "data" / "lesson07_accumulation_error.json").read_text(encoding="utf-8"))["points"]
    for name, operands, accumulator, within in (
        ("FP8 instruction", "e4m3", "fp8 instruction", 0.1),
        ("FP8, promoted every 128", "e4m3", "promoted", 0.1),
        ("FP32 accumulator", "fp16", "fp32", 0.1),
        ("FP16 accumulator", "fp16", "fp16", 0.3),
    ):
        for k in (512, 2048, 4096):
            (mean,) = (p["mean_error"] for p in points if (p["operands"], p["accumulator"], p["k"]) == (operands, accumulator, k))
            assert float(said_of[name][str(k)]) == pytest.approx(mean, rel=within), (name, k)


@EDITIONS
def test_text_is_plain_quarto(lang):
    text = LESSON.edition(lang).text
    assert "{{<" not in text
    prose = re.sub(r"```.*?```", "", text, flags=re.S)
    for m in re.finditer(r"^(?P<before>[^\n]+)\n(?=[-*] |\d+\. )", prose, re.M):
        before = m["before"]
        assert re.match(r"\s*([-*] |\d+\. )", before), f"a list needs a blank line before it: {before!r}"
    for m in re.finditer(r"^:::+ \{\.callout[^\n]*\n(?P<first>[^\n]*)", prose, re.M):
        assert not m["first"].startswith("#"), "a callout must not start with a heading"
    # an asterisk between letters would be read as emphasis
    assert not re.search(r"(?<![\w`*])\w+\*\w[^\n`$]*\w\*\w", re.sub(r"`[^`\n]*`|\$[^$\n]*\$", "", prose))


def test_the_glossary_has_the_same_terms_in_both_languages():
    entries = {lang: (lessons_dir() / "glossary" / f"{lang}.qmd").read_text(encoding="utf-8") for lang in LANGS}
    count = {lang: len(re.findall(r"^- \*\*", text, re.M)) for lang, text in entries.items()}
    assert count["zh"] == count["en"] > 25
    english = re.findall(r"^- \*\*([^*]+)\*\*", entries["en"], re.M)
    assert english == sorted(english, key=str.lower), "the English glossary is not in alphabetical order"
    for term in english:
        for word in re.split(r", ", term):
            assert word.lower() in entries["zh"].lower(), f"{word} is missing from the Chinese glossary"
