"""The visible checks: the exercise cell's own asserts and the student's boundary case, run on the student's function."""

from __future__ import annotations

import ast
import builtins
import dis
import inspect
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from autograder.grading.compare import matches
from autograder.student.show import Item, error_text, short
from autograder.student.words import say

BLANK = "______"
OFFERED = {
    "np": np,
    "numpy": np,
    "math": math,
}  # the grader has these in the exercise whether or not they were imported


def asserts_of(exercise: str) -> list[ast.Assert]:
    """The asserts at the top level of the released exercise cell."""
    return [s for s in ast.parse(exercise).body if isinstance(s, ast.Assert)]


def check_function(function: Any, name: str, exercise: str, lang: str) -> list[Item]:
    """Run every assert of the released exercise cell on `function`; what each one gave."""
    if function is None:
        return [Item("todo", say(lang, "no_function", function=name), "blank")]
    if not callable(function):
        return [Item("bad", say(lang, "not_function", function=name), "blank")]
    if uses_blank(function):
        return [Item("todo", say(lang, "blank_empty", function=name), "blank")]
    space = _prelude(exercise, name)
    space[name] = function
    items = [_one(check, space, lang) for check in asserts_of(exercise)] or [
        Item("note", say(lang, "no_visible"), "visible")
    ]
    if elsewhere := outside_names(function, space):
        items.append(Item("bad", say(lang, "outside_names", function=name, names=", ".join(elsewhere)), "outside"))
    return items


def uses_blank(function: Callable) -> bool:
    """Does the function still read the name ______?"""
    code = getattr(function, "__code__", None)
    return code is not None and BLANK in (*code.co_names, *code.co_varnames, *code.co_freevars)


def outside_names(function: Callable, space: dict) -> list[str]:
    """Globals that the function reads and the exercise cell alone does not have: the grader runs that cell alone."""
    code = getattr(function, "__code__", None)
    if code is None:
        return []
    codes, used = [code], []
    while codes:
        code = codes.pop()
        codes += [c for c in code.co_consts if inspect.iscode(c)]
        used += [i.argval for i in dis.get_instructions(code) if i.opname in ("LOAD_GLOBAL", "LOAD_NAME")]
    known = {*space, *vars(builtins), *OFFERED}
    return [n for n in dict.fromkeys(used) if n not in known]


def _prelude(exercise: str, name: str) -> dict:
    """The cell's imports, constants and helpers, without the exercise's function and the asserts."""
    tree = ast.parse(exercise)
    tree.body = [
        s
        for s in tree.body
        if not isinstance(s, ast.Assert) and not (isinstance(s, ast.FunctionDef) and s.name == name)
    ]
    space: dict = {"__name__": "exercise"}
    exec(compile(tree, "<exercise>", "exec"), space)
    return space


def _one(check: ast.Assert, space: dict, lang: str) -> Item:
    text = ast.unparse(check.test)
    try:
        left = _value(check.test.left, space) if isinstance(check.test, ast.Compare) else None
        passed = bool(np.all(_value(check.test, space)))
    except Exception as e:  # whatever the student's function raises is a result to show
        return Item("bad", say(lang, "check_raised", check=text, error=error_text(e)), "visible")
    if passed:
        return Item("ok", say(lang, "check_passed", check=text), "visible")
    if isinstance(check.test, ast.Compare):
        return Item("bad", say(lang, "check_failed", check=text, got=short(left)), "visible")
    return Item("bad", say(lang, "check_false", check=text), "visible")


def _value(node: ast.expr, space: dict) -> Any:
    return eval(compile(ast.Expression(node), "<check>", "eval"), space)


def check_own_case(
    case: Any, prediction: Any, function: Any, name: str, exercise: str, lang: str, *, written: bool
) -> list[Item]:
    """The student's own boundary case: does his function give what he predicts? written: both names are set."""
    if not written:
        return [Item("todo", say(lang, "case_empty"), "own_case")]
    if not isinstance(case, dict):
        return [Item("bad", say(lang, "case_not_dict"), "own_case")]
    if not callable(function) or uses_blank(function):
        return [Item("todo", say(lang, "case_waits", function=name), "own_case")]
    try:
        got = function(**case)
    except Exception as e:
        return [Item("bad", say(lang, "case_raised", function=name, error=error_text(e)), "own_case")]
    from autograder.grading.own_case import agrees  # not at the start of every notebook: it brings the grader's reading

    if not agrees(prediction, got):
        return [Item("bad", say(lang, "case_wrong", prediction=short(prediction), got=short(got)), "own_case")]
    items = [Item("ok", say(lang, "case_right", got=short(got)), "own_case")]
    if any(matches(case, seen) for seen in _visible_inputs(exercise, function, name)):
        items.append(Item("note", say(lang, "case_same"), "own_case"))
    return items


def _visible_inputs(exercise: str, function: Callable, name: str) -> list[dict]:
    """Arguments of the calls in the visible checks, by parameter name with defaults filled in."""
    space, found = _prelude(exercise, name), []
    for check in asserts_of(exercise):
        for node in ast.walk(check):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name:
                try:
                    args = [_value(a, space) for a in node.args]
                    bound = inspect.signature(function).bind(
                        *args, **{k.arg: _value(k.value, space) for k in node.keywords if k.arg}
                    )
                except Exception:  # a call that cannot be evaluated here is no input to compare with
                    continue
                bound.apply_defaults()
                found.append(dict(bound.arguments))
    return found
