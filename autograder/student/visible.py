"""The visible checks: the exercise cell's own asserts and the student's boundary case, run on the student's function."""

from __future__ import annotations

import ast
import builtins
import dis
import functools
import inspect
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from autograder.student import portable
from autograder.student.portable import BLANK
from autograder.student.show import Item
from autograder.student.words import say
from autograder.submission.compare import matches

OFFERED = {
    "np": np,
    "numpy": np,
    "math": math,
}  # the grader has these in the exercise whether or not they were imported


def check_function(function: Any, name: str, exercise: str, lang: str) -> list[Item]:
    """Run every assert of the released exercise cell on `function`; what each one gave."""
    if function is None:
        return [Item("todo", say(lang, "no_function", function=name), "blank")]
    if not callable(function):
        return [Item("bad", say(lang, "not_function", function=name), "blank")]
    if uses_blank(function):
        return [Item("todo", say(lang, "blank_empty", function=name), "blank")]
    plan = plan_of(exercise, name)
    space = _names(plan)
    items = [Item(*i) for i in portable.try_checks(function, plan, space, functools.partial(say, lang), np.all)]
    if elsewhere := outside_names(function, {**space, name: function}):
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


@functools.lru_cache(maxsize=64)
def plan_of(exercise: str, name: str) -> dict:
    """The released cell's visible checks as plain data: see portable."""
    tree = ast.parse(exercise)
    checks = [s for s in tree.body if isinstance(s, ast.Assert)]
    rest = [s for s in tree.body if not isinstance(s, ast.Assert)]
    is_it = lambda s: isinstance(s, ast.FunctionDef) and s.name == name  # noqa: E731
    source = lambda body: ast.unparse(ast.Module(body, []))  # noqa: E731
    space: dict = {"__name__": "exercise"}
    exec(source(rest), space)  # the blank is a name in a function that nobody calls
    signature = inspect.signature(space[name])
    return {
        "function": name,
        "prelude": source([s for s in rest if not is_it(s)]),
        "checks": [
            {
                "text": ast.unparse(c.test),
                "left": ast.unparse(c.test.left) if isinstance(c.test, ast.Compare) else None,
            }
            for c in checks
        ],
        "shown": list(dict.fromkeys(shown for c in checks for shown in _shown(c, name, signature))),
    }


def _shown(check: ast.Assert, name: str, signature: inspect.Signature) -> Iterator[str]:
    """Of each call of the exercise's function: its arguments by parameter, defaults filled in, as the source of a dict."""
    for node in ast.walk(check):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name):
            continue
        try:
            bound = signature.bind(*node.args, **{k.arg: k.value for k in node.keywords if k.arg})
        except TypeError:  # a call that shows an error on purpose
            continue
        given = {n: ast.unparse(value) for n, value in bound.arguments.items()}
        bound.apply_defaults()
        yield "dict(" + ", ".join(f"{n}={given.get(n, repr(value))}" for n, value in bound.arguments.items()) + ")"


def _names(plan: dict) -> dict:
    """The names of the plan's prelude."""
    space: dict = {"__name__": "exercise"}
    exec(plan["prelude"], space)
    return space


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
    from autograder.submission.own_case import (
        agrees,  # not at the start of every notebook: it brings the grader's reading
    )

    plan, told = plan_of(exercise, name), functools.partial(say, lang)
    return [Item(*i) for i in portable.try_case(case, prediction, function, plan, _names(plan), told, agrees, matches)]
