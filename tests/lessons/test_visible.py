"""What the released exercise cell asserts, held to the hidden checks: who fails an assert that he can see fails a hidden check, in every
draw; and an input that an assert shows, at first hand or through a helper of the cell, does not count as a student's own boundary case."""

from __future__ import annotations

import ast
import copy
import functools
import inspect
from collections.abc import Callable

import numpy as np
import pytest

from autograder.lesson.model import BLANK
from autograder.lint.hidden import failure
from autograder.release.notebook import student_notebook
from tests.lessons.lessons import EACH_LANGUAGE, EACH_LESSON, lesson

SEEDS = range(4)


@functools.cache
def cell(slug: str, lang: str) -> str:
    return next(c.source for c in student_notebook(lesson(slug), lang).cells if c.id == "exercise")


def run(slug: str, lang: str, function: Callable) -> bool:
    """Does the cell come through its asserts with this function in place of its own?"""
    tree = ast.parse(cell(slug, lang).replace(BLANK, "None"))
    name = lesson(slug).checks.function
    at = next(i for i, s in enumerate(tree.body) if isinstance(s, ast.FunctionDef) and s.name == name)
    tree.body[at : at + 1] = ast.parse(f"{name} = _given").body
    try:
        with np.errstate(all="ignore"):
            exec(compile(tree, "<exercise>", "exec"), {"_given": function})
    except Exception:
        return False
    return True


@functools.cache
def shown(slug: str, lang: str) -> list[dict]:
    """The inputs that the asserts hand to the function, each once."""
    reference, found = lesson(slug).checks.reference, []

    def recorded(*args, **kwargs):
        bound = inspect.signature(reference).bind(*args, **kwargs)
        bound.apply_defaults()
        if not any(same(bound.arguments, known) for known in found):
            found.append(copy.deepcopy(dict(bound.arguments)))
        return reference(*args, **kwargs)

    assert run(slug, lang, recorded), "the reference fails an assert of the exercise"
    return found


def same(a: dict, b: dict) -> bool:
    return all(_equal(a[k], b[k]) for k in b)


def _equal(a, b) -> bool:
    if any(x is None or isinstance(x, dict) for x in (a, b)):  # a dict is a probe
        return a is b
    a, b = np.asarray(a), np.asarray(b)
    return np.array_equal(a, b, equal_nan=a.dtype.kind == b.dtype.kind == "f")


def nearly(value, how: Callable):
    """The value, how() applied to its first number."""
    if isinstance(value, (tuple, list)):
        return type(value)([how(value[0]), *value[1:]])
    if isinstance(value, np.ndarray):
        out = value.copy()
        out.flat[0] = how(value.flat[0])
        return out
    return how(value)


WRONG = {
    "nothing": lambda v: None,
    "one more": lambda v: nearly(v, lambda x: x + 1),
    "twice": lambda v: nearly(v, lambda x: 2 * x),
    "a millionth more": lambda v: nearly(v, lambda x: x * (1 + 1e-6)),
    "the next float": lambda v: nearly(v, lambda x: float(np.nextafter(x, np.inf))),
}


@EACH_LESSON
@EACH_LANGUAGE
def test_each_visible_input_is_a_hidden_case_of_every_draw(slug, lang):
    checks = lesson(slug).checks
    assert len(shown(slug, lang)) >= 3
    for args in shown(slug, lang):
        for seed in SEEDS:
            found = [
                c
                for make in (checks.normal_cases, checks.boundary_cases)
                for c in make(np.random.default_rng(seed))
                if same(args, c["args"])
            ]
            assert found, (seed, args)


@EACH_LESSON
@EACH_LANGUAGE
@pytest.mark.parametrize("how", WRONG)
def test_who_fails_a_visible_assert_fails_a_hidden_check(slug, lang, how):
    """With a function that is right everywhere but on one visible input. To the grader a list is as good as a tuple: no such function is here."""
    checks = lesson(slug).checks
    names = list(inspect.signature(checks.reference).parameters)
    for wrong_on in shown(slug, lang):

        def function(*args, wrong_on=wrong_on, **kwargs):
            given = dict(zip(names, args)) | kwargs
            right = checks.reference(*args, **kwargs)
            return WRONG[how](right) if same(given, {k: v for k, v in wrong_on.items() if k in given}) else right

        if not run(slug, lang, function):
            for seed in SEEDS:
                cases = [
                    c
                    for make in (checks.normal_cases, checks.boundary_cases)
                    for c in make(np.random.default_rng(seed))
                ]
                assert any(failure(function, c) for c in cases), (seed, wrong_on)


@EACH_LESSON
@EACH_LANGUAGE
def test_no_visible_input_counts_as_a_students_own(slug, lang):
    for args in shown(slug, lang):
        assert not lesson(slug).checks.is_boundary(args), args
