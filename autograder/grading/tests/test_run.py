"""The hidden checks of one fill: what a large result costs, and what is said of an argument that was written into."""

from __future__ import annotations

import ast
import time

import numpy as np
import pytest

from autograder.grading import grade_notebook, run
from autograder.lesson import list_lessons, load_lesson
from autograder.lesson.checks import Checks
from autograder.submission.fill import extract, program
from autograder.submission.read import released
from tests.hostile.build import dump, honest

LARGE = [
    "[[[[[[[]]]]]]] * 1000",
    "[[0]] * 1000",
    "[0] * 10**6",
    "[np.zeros(1)] * 1000",
    "[np.float32(1)] * 90000",
    "list(range(99000))",
    "'x' * (8 << 20)",
    "np.zeros(10**6)",
    "[10**1200] * 9000",
]


@pytest.mark.parametrize("number", ["1", "5", "7"])
def test_a_large_result_is_of_the_wrong_kind_and_costs_next_to_nothing(sandbox, number):
    """It took 7 to 23 s, and the grader's own time over it let the fill look starved: not graded at one time, failed at the next."""
    checks = load_lesson(number).checks
    for value in LARGE:
        tree = ast.parse(f"def {checks.function}(*a, **k):\n    return {value}")
        began = time.process_time()
        found = run.run_checks(checks, tree, sandbox, [1, 2])
        assert time.process_time() - began < 1.0, value
        assert {o.message.en for o in found.outcomes} == {
            "The result has the wrong kind or shape."
        } and not found.doubtful, value


def test_a_deep_result_is_of_the_wrong_kind(lesson, sandbox):
    tree = ast.parse(
        "def linear_epilogue(*a, **k):\n    t = ()\n    for _ in range(10**4):\n        t = (t,)\n    return t"
    )
    found = run.run_checks(lesson.checks, tree, sandbox, [1, 2])
    assert {o.message.en for o in found.outcomes} == {"The result has the wrong kind or shape."}


def changed(lesson, sandbox, body):
    exercise = released(lesson)["en"].exercise
    fill = extract(exercise, exercise.source.replace("return ______", body.replace("\n", "\n    ")))
    return run.run_checks(lesson.checks, program(exercise, fill), sandbox, [1, 2])


@pytest.mark.parametrize(
    ("body", "names"),
    [
        ("acc *= alpha\nreturn acc if beta == 0 else acc + beta * c", ("acc",)),
        (
            "return np.multiply(acc, alpha, out=acc) + (0 if beta == 0 else beta * c) if isinstance(acc, np.ndarray) else alpha * acc + (0 if beta == 0 else beta * c)",
            ("acc",),
        ),
        ("if beta == 0:\n    return alpha * acc\nc *= beta\nreturn alpha * acc + c", ("c",)),
        ("acc = acc * alpha\nreturn acc if beta == 0 else acc + beta * c", ()),
        ("return alpha * acc if beta == 0 else alpha * acc + beta * c", ()),
    ],
)
def test_damage_to_the_callers_array_is_said_once_and_costs_nothing(lesson, sandbox, body, names):
    found = changed(lesson, sandbox, body)
    assert found.changed == names and found.passed("normal") and found.passed("boundary")
    for lang in ("zh", "en"):
        result = grade_notebook(lesson, dump(honest(lesson, lang, fill=body)), "s", sandbox=sandbox)
        told = [f for f in result.findings if f.code == "argument_changed"]
        assert len(told) == len(names) and all(f.severity == "info" and names[0] in f.message.get(lang) for f in told)
        assert result.points["normal"] == 2.0


def test_a_function_that_is_meant_to_write_is_not_accused(sandbox):
    """Nor one whose argument the lesson's own function writes into: a caller of it expects that."""

    def cases(rng):
        return [
            {
                "name": {"zh": "一", "en": "one"},
                "args": {"x": np.zeros(3), "y": np.ones(3)},
                "expect": None,
                "rtol": 0.0,
                "atol": 0.0,
            }
        ]

    def reference(x, y):
        x += 1

    checks = Checks(None, "f", cases, cases, reference, bool)
    both = run.run_checks(checks, ast.parse("def f(x, y):\n    x += 1\n    y += 1"), sandbox, [1])
    assert both.changed == ("y",) and both.passed("normal")
    assert run.run_checks(checks, ast.parse("def f(x, y):\n    x[:] = 1"), sandbox, [1]).changed == ()


@pytest.mark.parametrize("folder", list_lessons(), ids=lambda p: p.name)
def test_no_lessons_own_solution_is_accused(folder, sandbox):
    lesson = load_lesson(folder)
    found = run.run_checks(
        lesson.checks, ast.parse(lesson.edition("en").with_role("solution")[0].source), sandbox, [1, 2]
    )
    assert found.changed == () and found.passed("normal") and found.passed("boundary")


def test_a_check_that_has_failed_is_not_called_again(lesson, sandbox):
    """One call of each name is enough to fail it; a slow wrong fill then fails by what it returns, not by the clock."""
    slow = "def linear_epilogue(*a, **k):\n    sum(range(10**6))\n    return 'wrong'"
    found = run.run_checks(lesson.checks, ast.parse(slow), sandbox, [1, 2])
    assert {o.message.en for o in found.outcomes} == {"The result has the wrong kind or shape."}
