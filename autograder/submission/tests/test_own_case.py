"""The student's own boundary case is read, not run."""

from __future__ import annotations

import ast
import math

import numpy as np
import pytest

from autograder.lesson import load_lesson
from autograder.submission.literals import NotLiteral, literal
from autograder.submission.own_case import agrees, judge_own_case, sources_of


@pytest.fixture(scope="module")
def checks():
    return load_lesson("7").checks


def judge(checks, case, prediction):
    return judge_own_case(
        checks, [f"my_case = {case}\nmy_prediction = {prediction}\nassert linear_epilogue(**my_case) == my_prediction"]
    )


@pytest.mark.parametrize(
    ("case", "prediction"),
    [
        ("dict(acc=4.0, alpha=1.5, beta=0.0, c=None)", "6.0"), ("dict(acc=2, alpha=3, beta=0, c=float('nan'))", "6"), ("{'acc': 3., 'alpha': 2., 'beta': -0., 'c': math.inf}", "2 * 3.0"),
        ("dict(acc=np.float32(2), alpha=3, beta=0, c=np.nan)", "6.0"), ("dict(acc=np.array([1., 2.]), alpha=2, beta=0, c=np.full(2, np.inf))", "[2., 4.]"), ("dict(acc=np.ones((2, 3)), alpha=2., beta=0, c=None)", "2.0"),
        ("dict(acc=4.0, alpha=1.5, beta=0.0)", "6.0"), ("dict(acc=np.array(4.0), alpha=1.5, beta=np.array(0), c=None)", "6.0"), ("dict(acc=-np.ones(2, np.float32), alpha=2**1, beta=0 // 3, c=[float('nan')] )", "[-2, -2.0]"), ("dict(acc=1/3, alpha=3, beta=0, c=None)", "1.0"), ("dict(acc=np.array([1, 2], dtype=np.float32), alpha=2, beta=0, c=None)", "np.array([2, 4])"),
    ],
)  # fmt: skip
def test_right_boundary_cases(checks, case, prediction):
    outcome = judge(checks, case, prediction)
    assert outcome.passed, outcome.message


@pytest.mark.parametrize(
    ("case", "prediction", "said"),
    [
        ("dict(acc=______, alpha=______, beta=______, c=______)", "______", "not filled in"), ("dict(acc=4.0, alpha=1.5, beta=0.0, c=None)", "______", "not filled in"), ("dict(acc=3., alpha=2., beta=0.5, c=1.)", "6.5", "not on the boundary"),
        ("dict(acc=3., alpha=2., beta=0., c=1.)", "6.0", "not on the boundary"), ("dict(acc=3.0, alpha=2.0, beta=0.0, c=None)", "6.0", "visible check"), ("dict(acc=3, alpha=2, beta=0, c=float('nan'))", "6", "visible check"), ("dict(acc=4., alpha=1.5, beta=0., c=None)", "7.0", "wrong"), ("dict(acc=4., alpha=1.5, beta=0., c=None)", "True", "wrong"),
        ("dict(acc=4., alpha=1.5, beta=0., c=None)", "linear_epilogue(**my_case)", "plain values"), ("dict(acc=open('x'), alpha=2., beta=0., c=None)", "6.", "plain values"), ("dict(alpha=2., beta=0., c=None)", "6.", "no defined result"),
        ("dict(acc='a', alpha=10**9, beta=0, c=None)", "'a'", "too large"), ("dict(acc='a', alpha=1000000000, beta=0, c=None)", "'a'", "too large"), ("dict(acc=[1.0] * 3, alpha=2, beta=0, c=None)", "6.", "plain values"),
        ("dict(acc=np.zeros((10**5, 10**5)), alpha=1, beta=0, c=None)", "0", "plain values"), ("dict(**{'acc': 1})", "1", "plain values"), ("3", "3", "plain values"), ("dict(acc=1, alpha=1, beta=0, c=None, d=5)", "1", "no defined result"),
        ("dict(acc=" + "1+" * 900 + "1, alpha=1, beta=0, c=None)", "1", "deeply"),
        ("dict(acc='ab', alpha=2, beta=0, c=None)", "'abab'", "not of the kind"), ("dict(acc=[1., 2.], alpha=2, beta=0, c=None)", "[1., 2., 1., 2.]", "wrong"), ("dict(acc=1., alpha=[2.], beta=0, c=None)", "[2.]", "not of the kind"),
        ("dict(acc=True, alpha=2, beta=0, c=None)", "2", "not of the kind"), ("dict(acc=np.zeros(0), alpha=2., beta=0, c=np.array([np.nan]))", "[]", "empty"), ("dict(acc=1., alpha=2., beta=0, c=np.ones(0))", "2.", "empty"),
        ("dict(acc=float('nan'), alpha=1., beta=0, c=float('nan'))", "float('nan')", "NaN and nothing else"), ("dict(acc=np.full(2, np.nan), alpha=1., beta=0, c=None)", "np.nan", "NaN and nothing else"),
        ("dict(acc=1e-8, alpha=3., beta=0, c=None)", "0.0", "wrong"), ("dict(acc=1e-8, alpha=3., beta=0, c=None)", "-9e-7", "wrong"), ("dict(acc=np.array([3, 4]), alpha=2, beta=0, c=None)", "[6.5, 8]", "wrong"),
        ("dict(acc=np.ones((9999, 1)), alpha=2., beta=0, c=np.full((1, 9999), np.nan))", "2.0", "too large"), ("dict(acc=[" + "np.ones(9999), " * 501 + "], alpha=2., beta=0, c=None)", "2.0", "too large"),
    ],
)  # fmt: skip
def test_wrong_ones_say_why(checks, case, prediction, said):
    outcome = judge(checks, case, prediction)
    assert not outcome.passed and said in outcome.message.en and outcome.message.zh


def test_the_last_value_counts_and_a_template_does_not(checks):
    right = "my_case = dict(acc=4.0, alpha=1.5, beta=0.0, c=None)\nmy_prediction = 6.0"
    assert judge_own_case(checks, ["my_case = 1", right]).passed
    assert judge_own_case(checks, [right, "my_case = dict(acc=______)\nmy_prediction = ______"]).passed
    assert not judge_own_case(checks, [right, "my_prediction = 7.0"]).passed
    assert judge_own_case(checks, ["my_case, my_prediction = dict(acc=4.0, alpha=1.5, beta=0.0, c=None), 6.0"]).passed
    assert judge_own_case(
        checks, ["my_case: dict = dict(acc=4.0, alpha=1.5, beta=0.0, c=None)", "my_prediction = 6.0"]
    ).passed
    assert not judge_own_case(checks, []).passed and not judge_own_case(checks, ["def ("]).passed


def test_the_values_that_stood_before_the_check_count(checks):
    """What an experiment below it makes of the same names is no boundary case, and what was written after an empty check is one."""
    right, other, check = (
        "my_case = dict(acc=4.0, alpha=1.5, beta=0.0, c=None)\nmy_prediction = 6.0",
        "my_case = dict(acc=1.0, alpha=1.0, beta=0.5, c=2.0)\nmy_prediction = 2.0",
        'check("boundary")',
    )
    template = "my_case = dict(acc=______, alpha=______, beta=______, c=______)\nmy_prediction = ______"
    assert (
        judge_own_case(checks, [right, check, other]).passed
        and judge_own_case(checks, [f"{right}\n{check}\n{other}"]).passed
    )
    assert judge_own_case(checks, [right, f"answer = {check}", "my_case = 3"]).passed
    assert not judge_own_case(checks, [other, check, right]).passed
    assert (
        judge_own_case(checks, [other, check, right, check]).passed
        and judge_own_case(checks, [template, check, right]).passed
    )
    assert (
        judge_own_case(checks, [check, right]).passed
        and judge_own_case(checks, [right, 'check("normal")', check]).passed
    )
    assert sources_of([right, "x = 1", check]) == [right, check]


@pytest.mark.parametrize(
    ("predicted", "result", "same"),
    [
        (6.0000001, 6.0, True),
        (6.0001, 6.0, False),
        (0.0, 1e-9, False),
        (9e-7, 0.0, False),
        (-0.0, 0.0, True),
        (256.0, 256, True),
        (256.0001, 256, False),
        (128000000001, 128000000000, False),
        ((1, 1e-7), (1, 0), False),
        ([1, 0.0], (1, 0), True),
        ([2], np.array([2.0]), True),
        ([2.5], np.array([2]), False),
        ([True], np.array([1.0]), False),
        (2, np.array([2, 2]), True),
        (10**30, np.array([2, 2]), False),
        (np.nan, np.array([2, 2]), False),
        ("6", 6, False),
        (6, "6", False),
        ([6], 6, False),
    ],
)
def test_a_prediction_is_as_exact_as_its_result(predicted, result, same):
    assert agrees(predicted, result) is same


@pytest.mark.parametrize(
    "text",
    [
        "2 * 8192**3",
        "2**20",
        "112 // 2",
        "1 << 9",
        "-7 % 3",
        "1152 + (3 ^ 1) * 16 + 8",
        "~5 & 3 | 8 >> 1",
        "2**-1",
        "2.5**2",
        "-+1",
        "1",
        "-2.5",
        "None",
        "True",
        "[1, (2, 3)]",
        "{'a': 1}",
        "'x'",
        "1e308 * 10",
        "int(3.7)",
    ],
)
def test_literals_are_what_python_says(text):
    assert literal(ast.parse(text, mode="eval").body) == eval(text)


def test_literals_of_numpy():
    value = literal(ast.parse("np.array([[1, 2], [3, 4]], dtype='float32')", mode="eval").body)
    assert value.dtype == np.float32 and value.shape == (2, 2)
    assert math.isnan(literal(ast.parse("float('nan')", mode="eval").body))
    for text in (
        "np.ones((2, 3), np.float32)",
        "np.array([1, 2], 'int8')",
        "-np.ones(2)",
        "np.full(2, 3.0, np.float16)",
        "1 - np.zeros(2, int) / 2",
    ):
        value, wanted = literal(ast.parse(text, mode="eval").body), eval(text)
        assert value.dtype == wanted.dtype and np.array_equal(value, wanted)


@pytest.mark.parametrize(
    "text",
    [
        "f(1)",
        "x",
        "x.y",
        "1 if 2 else 3",
        "lambda: 1",
        "9**9**9",
        "2**10**6",
        "(-2)**0.5",
        "1 << 10**9",
        "1 << -1",
        "10**200 * 10**200",
        "1.0 << 2",
        "~1.5",
        "~np.ones(2)",
        "-'a'",
        "2**np.ones(2)",
        "np.ones(2) + np.ones(2)",
        "[1] * 2",
        "np.array([" + "np.ones(9999), " * 3 + "])",
        "1 % 0",
        "[x for x in y]",
        "not 1",
        "np.load('x')",
        "np.array(x)",
        "np.array(['a'])",
        "float('x')",
        "int(float('inf'))",
        "1/0",
        "1e999 * 0 + x",
        "np.ones(-1)",
        "np.full((2,), None)",
        "1j",
        "f'{1}'",
        "{**a}",
        "np.array([1], order='C')",
    ],
)
def test_everything_else_is_not_read(text):
    with pytest.raises(NotLiteral):
        literal(ast.parse(text, mode="eval").body)
