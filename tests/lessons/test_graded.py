"""Every lesson from release to verdict: its own reference gets full marks, its labelled answers pass, wrong fills do not."""

from __future__ import annotations

import copy

import nbformat
import numpy as np
import pytest

from autograder.answers import score_slot
from autograder.answers.labelled import read_labelled
from autograder.grading import evidence, grade_notebook
from autograder.grading.sandbox import Sandbox
from autograder.lesson.model import ANSWER_SLOTS, BLANK
from autograder.lint.execute import solved_notebook
from autograder.lint.hidden import equivalent_fills, solution_fill, wrong_fills
from autograder.release.notebook import student_notebook
from tests.lessons.lessons import EACH_LANGUAGE, EACH_LESSON, lesson, run

COPIED = ("copied from the reference answer", "照抄参考答案")
WRONG_FILLS = 4  # graded in full; lint tries all of them on the hidden checks


@pytest.fixture(scope="module")
def sandbox():
    with Sandbox() as made:
        yield made


def handed_in(slug, lang):
    """The solved notebook as it is after a run from top to bottom."""
    nb, problems = run(slug, lang)
    assert not problems, problems
    return copy.deepcopy(nb)


def grade(slug, nb, sandbox):
    return grade_notebook(lesson(slug), nbformat.writes(nb).encode(), "student", sandbox=sandbox)


@EACH_LESSON
@EACH_LANGUAGE
def test_the_reference_gets_full_marks(slug, lang, sandbox):
    """A person looks only because each answer is a copy of the reference answer, which is what it is."""
    result = grade(slug, handed_in(slug, lang), sandbox)
    assert result.points == lesson(slug).rubric.points.model_dump(), result.reasons
    assert result.total == 10 and not result.veto and not result.findings, (result.veto, result.findings)
    assert result.state == "PASS" or (
        result.state == "REVIEW" and all(any(c in r for c in COPIED) for r in result.reasons)
    ), result.reasons


def labelled_in_full(slug, lang, slot) -> list[str]:
    """The lesson's labelled answers that earn full points and that the scorer releases. Those that claim no run come first: a question
    about measurements is answered with the word, which an executed notebook bears out."""
    rubric, top = lesson(slug).rubric, lesson(slug).rubric.slots[slot].points
    rows = [r for r in read_labelled(lesson(slug).folder / "answers.jsonl") if (r.slot, r.lang) == (slot, lang)]
    right = [r.answer for r in rows if (g := r.gold(rubric.slots[slot])).points == top and g.wrong is False]
    for answer in sorted(right, key=evidence_claimed):
        score = score_slot(slot, rubric, answer, lang)
        if score.lane == "auto" and score.points == top:
            return [answer]
    return []


def evidence_claimed(text: str) -> bool:
    return bool(evidence._RUN_WORDS.search(text))


@EACH_LESSON
@EACH_LANGUAGE
def test_a_good_student_passes_and_nobody_need_look(slug, lang, sandbox):
    """Released automatically from end to end: the reference in the blank, and answers in students' words."""
    nb = handed_in(slug, lang)
    for cell in nb.cells:
        if slot := cell.metadata.course.get("slot"):
            answers = labelled_in_full(slug, lang, slot)
            assert answers, f"no full {lang} answer to {slot} is released by the scorer"
            cell.source = answers[0]
    result = grade(slug, nb, sandbox)
    assert (result.state, result.total, result.veto, result.reasons) == ("PASS", 10, [], []), result


@EACH_LESSON
def test_wrong_fills_lose_points(slug, sandbox):
    """Changes of operators, names and numbers of the reference, put into the blank and graded as a submission."""
    own = lesson(slug)
    edition = own.edition("en")
    exercise, solution = (edition.with_role(r)[0].source for r in ("exercise", "solution"))
    fill = solution_fill(exercise, solution, own.checks.function)
    wrong = list(dict.fromkeys(wrong_fills(fill, exercise, own.checks.function, equivalent_fills(own.checks))))
    assert len(wrong) >= WRONG_FILLS, wrong
    for attempt in wrong[:: max(1, len(wrong) // WRONG_FILLS)][:WRONG_FILLS]:
        nb = solved_notebook(own, "en")
        cell = next(c for c in nb.cells if c.id == "exercise")
        cell.source = student_exercise(own).replace(BLANK, attempt)
        result = grade(slug, nb, sandbox)
        assert result.points["normal"] == 0 or result.points["boundary"] == 0, attempt
        assert result.state in ("FAIL", "REVIEW") and result.total < 10, attempt


def student_exercise(own) -> str:
    return next(c.source for c in student_notebook(own, "en").cells if c.id == "exercise")


@EACH_LESSON
def test_the_untouched_notebook_earns_nothing(slug, sandbox):
    result = grade(slug, student_notebook(lesson(slug), "zh"), sandbox)
    assert result.state == "FAIL" and result.total == 0


@EACH_LESSON
def test_hidden_cases_come_from_the_seed(slug):
    """Cases are the same for one seed and not for another, so that they can be repeated and cannot be learnt by heart."""
    checks = lesson(slug).checks
    show = lambda seed: [
        repr(c["args"])
        for make in (checks.normal_cases, checks.boundary_cases)
        for c in make(np.random.default_rng(seed))
    ]  # noqa: E731
    assert show(1) == show(1)
    assert show(1) != show(2)


@EACH_LESSON
def test_the_rubric_has_what_a_pass_asks_for(slug):
    rubric = lesson(slug).rubric
    assert set(rubric.slots) == set(ANSWER_SLOTS)
    kinds = {x.kind for name, s in rubric.slots.items() if name != "explanation" for x in s.links}
    assert {"correctness", "tradeoff"} <= kinds
    assert any(m.veto for s in rubric.slots.values() for m in s.misconceptions)
