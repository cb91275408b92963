"""The student's own boundary case is read, not run."""

from __future__ import annotations

import ast
import math

import numpy as np
import pytest

from autograder.grading.own_case import NotLiteral, judge_own_case, literal
from autograder.lesson import load_lesson


@pytest.fixture(scope="module")
def checks():
    return load_lesson("7").checks


def judge(checks, case, prediction):
    return judge_own_case(checks, [f"my_case = {case}\nmy_prediction = {prediction}\nassert linear_epilogue(**my_case) == my_prediction"])


@pytest.mark.parametrize(
    ("case", "prediction"),
    [
        ("dict(acc=3.0, alpha=2.0, beta=0.0, c=None)", "6.0"), ("dict(acc=3, alpha=2, beta=0, c=float('nan'))", "6"), ("{'acc': 3., 'alpha': 2., 'beta': -0., 'c': math.inf}", "2 * 3.0"),
        ("dict(acc=np.float32(3), alpha=2, beta=0, c=np.nan)", "6.0"), ("dict(acc=np.array([1., 2.]), alpha=2, beta=0, c=np.full(2, np.inf))", "[2., 4.]"), ("dict(acc=np.ones((2, 3)), alpha=2., beta=0, c=None)", "2.0"),
        ("dict(acc=float('nan'), alpha=2., beta=0, c=None)", "float('nan')"), ("dict(acc=3.0, alpha=2.0, beta=0.0)", "6.0"), ("dict(acc=1/3, alpha=3, beta=0, c=None)", "1.0"), ("dict(acc=np.array([1, 2], dtype=np.float32), alpha=2, beta=0, c=None)", "np.array([2, 4])"),
    ],
)  # fmt: skip
def test_right_boundary_cases(checks, case, prediction):
    outcome = judge(checks, case, prediction)
    assert outcome.passed, outcome.message


@pytest.mark.parametrize(
    ("case", "prediction", "said"),
    [
        ("dict(acc=______, alpha=______, beta=______, c=______)", "______", "not filled in"), ("dict(acc=3.0, alpha=2.0, beta=0.0, c=None)", "______", "not filled in"), ("dict(acc=3., alpha=2., beta=0.5, c=1.)", "6.5", "not on the boundary"),
        ("dict(acc=3., alpha=2., beta=0., c=1.)", "6.0", "not on the boundary"), ("dict(acc=3., alpha=2., beta=0., c=None)", "7.0", "wrong"), ("dict(acc=3., alpha=2., beta=0., c=None)", "True", "wrong"),
        ("dict(acc=3., alpha=2., beta=0., c=None)", "linear_epilogue(**my_case)", "plain values"), ("dict(acc=open('x'), alpha=2., beta=0., c=None)", "6.", "plain values"), ("dict(alpha=2., beta=0., c=None)", "6.", "no defined result"),
        ("dict(acc='a', alpha=10**9, beta=0, c=None)", "'a'", "plain values"), ("dict(acc='a', alpha=1000000000, beta=0, c=None)", "'a'", "too large"), ("dict(acc=[1.0] * 3, alpha=2, beta=0, c=None)", "6.", "plain values"),
        ("dict(acc=np.zeros((10**5, 10**5)), alpha=1, beta=0, c=None)", "0", "plain values"), ("dict(**{'acc': 1})", "1", "plain values"), ("3", "3", "plain values"), ("dict(acc=1, alpha=1, beta=0, c=None, d=5)", "1", "no defined result"),
        ("dict(acc=" + "1+" * 900 + "1, alpha=1, beta=0, c=None)", "1", "deeply"),
    ],
)  # fmt: skip
def test_wrong_ones_say_why(checks, case, prediction, said):
    outcome = judge(checks, case, prediction)
    assert not outcome.passed and said in outcome.message.en and outcome.message.zh


def test_the_last_value_counts_and_a_template_does_not(checks):
    right = "my_case = dict(acc=3.0, alpha=2.0, beta=0.0, c=None)\nmy_prediction = 6.0"
    assert judge_own_case(checks, ["my_case = 1", right]).passed
    assert judge_own_case(checks, [right, "my_case = dict(acc=______)\nmy_prediction = ______"]).passed
    assert not judge_own_case(checks, [right, "my_prediction = 7.0"]).passed
    assert judge_own_case(checks, ["my_case, my_prediction = dict(acc=3.0, alpha=2.0, beta=0.0, c=None), 6.0"]).passed
    assert judge_own_case(checks, ["my_case: dict = dict(acc=3.0, alpha=2.0, beta=0.0, c=None)", "my_prediction = 6.0"]).passed
    assert not judge_own_case(checks, []).passed and not judge_own_case(checks, ["def ("]).passed


@pytest.mark.parametrize("text", ["1", "-2.5", "None", "True", "[1, (2, 3)]", "{'a': 1}", "'x'", "1e308 * 10", "int(3.7)"])
def test_literals_are_what_python_says(text):
    assert literal(ast.parse(text, mode="eval").body) == eval(text)


def test_literals_of_numpy():
    value = literal(ast.parse("np.array([[1, 2], [3, 4]], dtype='float32')", mode="eval").body)
    assert value.dtype == np.float32 and value.shape == (2, 2)
    assert math.isnan(literal(ast.parse("float('nan')", mode="eval").body))


@pytest.mark.parametrize("text", ["f(1)", "x", "x.y", "1 if 2 else 3", "lambda: 1", "9**9", "[x for x in y]", "1 << 3", "not 1", "np.load('x')", "np.array(x)", "np.array(['a'])", "float('x')", "int(float('inf'))", "1/0", "1e999 * 0 + x", "np.ones(-1)", "np.full((2,), None)", "1j", "f'{1}'", "{**a}", "np.array([1], order='C')"])
def test_everything_else_is_not_read(text):
    with pytest.raises(NotLiteral):
        literal(ast.parse(text, mode="eval").body)
