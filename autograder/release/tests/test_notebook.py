"""The released notebook: whole, valid, without answers, and the same bytes every time."""

import nbformat
import pytest

from autograder.lesson import load_lesson
from autograder.lesson.model import LANGS
from autograder.release.data import student_lesson
from autograder.release.notebook import notebook_assets, student_notebook
from autograder.release.tests.fixture_lesson import SOLUTION


def by_id(nb):
    return {c.id: c for c in nb.cells}


@pytest.mark.parametrize("lang", LANGS)
def test_it_is_valid_nbformat_and_deterministic(lesson, lesson_folder, lang):
    nb = student_notebook(lesson, lang)
    nbformat.validate(nb)
    assert (nb.nbformat, nb.nbformat_minor) == (4, 5)
    assert nb.metadata.course == {
        "lesson": lesson.slug,
        "lang": lang,
        "format": 1,
        "release": student_lesson(lesson).release(lang),
    }
    assert nbformat.writes(nb) == nbformat.writes(student_notebook(load_lesson(lesson_folder), lang))
    ids = [c.id for c in nb.cells]
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize("lang", LANGS)
def test_every_part_a_student_needs_is_there_in_order(lesson, lang):
    nb = student_notebook(lesson, lang)
    ids = [c.id for c in nb.cells if not c.id.startswith("text-")]
    assert ids == [
        "title",
        "setup",
        "experiment-1",
        "experiment-2",
        "exercise",
        "normal",
        "hint",
        "boundary-case",
        "boundary",
        "answer-explanation",
        "kernel-1",
        "challenge-1",
        "answer-q1",
        "answer-q2",
        "answer-q3",
    ]
    assert by_id(nb)["exercise"].source.count("______") == 1


@pytest.mark.parametrize("lang", LANGS)
def test_no_solution_no_reference_answer_no_hidden_case(lesson, lang):
    text = nbformat.writes(student_notebook(lesson, lang))
    for secret in (SOLUTION, "秘密", "secret", "参考答案", "Reference answer", "31337", "作者备注", "author's note"):
        assert secret not in text


@pytest.mark.parametrize("lang", LANGS)
def test_nothing_of_quarto_is_left(lesson, lang):
    text = "\n".join(c.source for c in student_notebook(lesson, lang).cells)
    for ism in (":::", "{mermaid}", "%%|", "#|", ".qmd", "{#", "[^1]", "{target", "width="):
        assert ism not in text, ism


@pytest.mark.parametrize("lang", LANGS)
def test_nbgraders_own_validator_takes_it(lesson, lang):
    from nbgrader.nbgraderformat import MetadataValidator

    nb = student_notebook(lesson, lang)
    MetadataValidator().validate_nb(nb)
    graded = {
        c.metadata.nbgrader.grade_id: c.metadata.nbgrader.points
        for c in nb.cells
        if c.metadata.get("nbgrader", {}).get("grade")
    }
    assert graded == {"normal": 2, "boundary": 1, "explanation": 1, "q1": 2, "q2": 2, "q3": 2}


def test_locked_cells_cannot_be_edited_and_answers_cannot_be_deleted(lesson):
    cells = by_id(student_notebook(lesson, "en"))
    for name in ("setup", "normal", "boundary"):
        assert cells[name].metadata.editable is False and cells[name].metadata.deletable is False
    for name in ("exercise", "boundary-case", "answer-q1"):
        assert cells[name].metadata.deletable is False and "editable" not in cells[name].metadata


def test_assets_are_those_of_the_edition(lesson):
    assert {k: v.name for k, v in notebook_assets(lesson, "zh").items()} == {"assets/ring.zh.svg": "ring.zh.svg"}
    assert all(p.is_file() for p in notebook_assets(lesson, "en").values())
