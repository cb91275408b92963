"""Every lesson's two pages: one program, one outline, the rubric's words, answers only where they belong, cells that run."""

from __future__ import annotations

import ast
import re

import numpy as np
import pytest

from autograder.lesson.model import BLANK, LANGS
from autograder.lint.hidden import failure
from autograder.paths import lessons_dir
from autograder.release.data import student_lesson
from autograder.release.notebook import notebook_assets, student_notebook
from autograder.student.data import from_json, to_json
from tests.lessons.lessons import EACH_LANGUAGE, EACH_LESSON, lesson, run

squeeze = lambda text: re.sub(r"[\s>`*$\\]|\[(?=[^\[\]]*\]\{\.worked\})|\]\{\.worked\}", "", text)  # noqa: E731


@EACH_LESSON
def test_both_editions_have_the_same_sections_figures_tables_and_sources(slug):
    def outline(lang):
        text = re.sub(r"```.*?```", "", lesson(slug).edition(lang).text, flags=re.S)
        images = [p.replace(f".{lang}.svg", "") for p in re.findall(r"!\[\]\(([^)]+)\)", text)]
        return (
            re.findall(r"^(#+) ", text, re.M),
            images,
            len(re.findall(r"^\| ?---", text, re.M)),
            len(re.findall(r"^- ", text, re.M)),
        )

    assert outline("zh") == outline("en")


@EACH_LESSON
@EACH_LANGUAGE
def test_the_questions_are_the_rubrics(slug, lang):
    text = squeeze(lesson(slug).edition(lang).text)
    for name, slot in lesson(slug).rubric.slots.items():
        if name != "explanation":  # the page puts that question into its own paragraph
            assert squeeze(slot.question.get(lang)) in text, f"{name}: the question of rubric.yml is not in {lang}.qmd"


@EACH_LESSON
@EACH_LANGUAGE
def test_answers_stand_only_in_the_answer_edition(slug, lang):
    """Neither the reference answers nor the solution's line are in what a student gets."""
    own = lesson(slug)
    notebook = squeeze("\n".join(c.source for c in student_notebook(own, lang).cells))
    for slot in own.rubric.slots.values():
        for paragraph in slot.reference.get(lang).split("\n"):
            if len(squeeze(paragraph)) > 20:
                assert squeeze(paragraph) not in notebook
    exercise, solution = (own.edition(lang).with_role(r)[0].source for r in ("exercise", "solution"))
    given = {squeeze(x) for x in exercise.split("\n")}
    for line in solution.split("\n"):
        if squeeze(line) not in given and not line.strip().startswith("#") and len(squeeze(line)) > 12:
            assert squeeze(line) not in notebook, line


@EACH_LESSON
@EACH_LANGUAGE
def test_the_solution_is_the_exercise_filled_and_right(slug, lang):
    own = lesson(slug)
    exercise, solution = (own.edition(lang).with_role(r)[0].source for r in ("exercise", "solution"))
    assert exercise.count(BLANK) == 1
    space: dict = {}
    exec(solution, space)  # its asserts too
    for make in (own.checks.normal_cases, own.checks.boundary_cases):
        for case in make(np.random.default_rng(1)):
            assert failure(space[own.checks.function], case) == "", case["name"]["en"]


@EACH_LESSON
def test_the_visible_asserts_refuse_an_empty_answer(slug):
    exercise = lesson(slug).edition("zh").with_role("exercise")[0].source
    with pytest.raises((AssertionError, TypeError, ValueError)):
        exec(exercise.replace(BLANK, "None"), {})


@EACH_LESSON
@EACH_LANGUAGE
@pytest.mark.slow
def test_the_released_notebook_runs_from_top_to_bottom_on_the_emulator(slug, lang):
    nb, problems = run(slug, lang)
    assert [p.what for p in problems] == []
    by_role = {
        r: [c for c in nb.cells if c.metadata.get("course", {}).get("role") == r] for r in ("experiment", "kernel")
    }
    assert all(any(c.get("outputs") for c in cells) for cells in by_role.values()), (
        "neither experiment nor kernel may be silent"
    )


@EACH_LESSON
@EACH_LANGUAGE
def test_lines_of_code_fit_the_page(slug, lang):
    for cell in lesson(slug).edition(lang).cells:
        if cell.kind == "code" and cell.role != "solution":  # a solution is one expression
            assert [x for x in cell.source.split("\n") if len(x) > 92] == []


@EACH_LESSON
@EACH_LANGUAGE
def test_code_cells_hold_no_bare_path_of_a_machine(slug, lang):
    for cell in lesson(slug).edition(lang).cells:
        if cell.kind == "code":
            strings = [
                n.value
                for n in ast.walk(ast.parse(cell.source))
                if isinstance(n, ast.Constant) and isinstance(n.value, str)
            ]
            assert not [s for s in strings if re.match(r"/(?:work|home|root|tmp|Users)/", s)]


@EACH_LESSON
@EACH_LANGUAGE
def test_what_the_notebook_shows_beside_itself_is_there(slug, lang):
    assert all(p.is_file() for p in notebook_assets(lesson(slug), lang).values())
    assert from_json(to_json(student_lesson(lesson(slug)))) == student_lesson(lesson(slug))


@EACH_LESSON
@EACH_LANGUAGE
def test_text_is_plain_markdown(slug, lang):
    prose = re.sub(r"```.*?```", "", lesson(slug).edition(lang).text, flags=re.S)
    # an asterisk between letters would be read as emphasis
    assert not re.search(r"(?<![\w`*])\w+\*\w[^\n`$]*\w\*\w", re.sub(r"`[^`\n]*`|\$[^$\n]*\$", "", prose))
    assert "?var:" not in prose and "{{<" not in prose


def test_the_glossary_has_the_same_terms_in_both_languages():
    entries = {lang: (lessons_dir() / "glossary" / f"{lang}.qmd").read_text(encoding="utf-8") for lang in LANGS}
    count = {lang: len(re.findall(r"^- \*\*", text, re.M)) for lang, text in entries.items()}
    assert count["zh"] == count["en"] > 25
    english = re.findall(r"^- \*\*([^*]+)\*\*", entries["en"], re.M)
    assert english == sorted(english, key=str.lower), "the English glossary is not in alphabetical order"
    for term in english:
        for word in re.split(r", ", term):
            assert word.lower() in entries["zh"].lower(), f"{word} is missing from the Chinese glossary"


@EACH_LESSON
@EACH_LANGUAGE
def test_no_text_points_at_the_cell_above(slug, lang):
    """In the notebook a check and a hint stand between the exercise and the text below it."""
    text = lesson(slug).edition(lang).text
    assert not re.search(r"(?:cells? above|previous cell|上面的单元格|上一个单元格)", text)
