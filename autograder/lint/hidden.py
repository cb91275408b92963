"""The hidden checks of a lesson, tried: the reference and the solution pass them, and wrong fills do not."""

from __future__ import annotations

import ast
import copy
import inspect
import math
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from autograder.lesson.checks import Checks
from autograder.lesson.model import BLANK, Edition
from autograder.lint.mutants import wrong_fills
from autograder.lint.problem import Problem
from autograder.submission.compare import matches

SEEDS = (0, 1)
_KEYS = {"name", "args", "expect", "rtol", "atol", "untouched", "raises"}


class Probe:
    """Stands in for an argument that must not be used; any use but passing it on is recorded."""

    def __init__(self):
        object.__setattr__(self, "used", False)

    def _use(self, *_: Any, **__: Any):
        object.__setattr__(self, "used", True)
        raise TypeError("this argument must not be used")

    __getattr__ = _use  # what it has of its own, such as its class, is not asked here
    __array_ufunc__ = None


for _name in (
    "add radd sub rsub mul rmul truediv rtruediv floordiv mod pow matmul rmatmul neg pos abs eq ne lt le gt ge bool float int len getitem iter array"
).split():
    setattr(Probe, f"__{_name}__", Probe._use)


def lint_checks(checks: Checks, edition: Edition) -> list[Problem]:
    """Problems of checks.py and of the exercise and solution cells against it. edition: either one, they are the same program."""
    out: list[Problem] = []

    def say(what: str, remedy: str, line: int = 0) -> None:
        out.append(Problem(checks.path, line, what, remedy))

    cases = _cases(checks, say)
    for kind, seed, case in cases:
        if why := failure(checks.reference, case):
            say(
                f"The reference fails the {kind} case {case['name']['en']!r} (seed {seed}): {why}.",
                "Mend the reference or the case.",
            )
    _boundary_inputs(checks, cases, say)
    exercise = next(iter(edition.with_role("exercise")), None)
    solution = next(iter(edition.with_role("solution")), None)
    if out or exercise is None or solution is None:
        return out  # what follows would only repeat it
    out += _signature(checks, edition, exercise.source, exercise.line)
    fill = solution_fill(exercise.source, solution.source, checks.function)
    if fill is None:
        out.append(
            Problem(
                edition.path,
                solution.line,
                "The solution is not the exercise with the blank filled in.",
                "Make the two the same, but for the statement that holds the blank (docstrings and comments may differ).",
            )
        )
        return out
    for kind, seed, case in cases:
        if why := failure(_function(solution.source, checks.function), case):
            out.append(
                Problem(
                    edition.path,
                    solution.line,
                    f"The solution fails the hidden {kind} case {case['name']['en']!r}: {why}.",
                    "Mend the solution or the case.",
                )
            )
    _visible_inputs(checks, exercise.source, solution.source, say)
    if not ranges(checks):
        say(
            "RANGES is missing or empty.",
            "Give for each name of the fill that is a number the least and the largest that is legal: fills that are wrong in a part of it only are then tried too.",
        )
    if not isinstance(listed := checks.reference.__globals__.get("EQUIVALENT_FILLS", {}), dict):
        say("EQUIVALENT_FILLS gives no reasons.", "Make it a dict: the fill, and why it is right.")
        return out
    for text in listed:
        if why := next(
            (why for _, _, case in cases if (why := failure(filled(exercise.source, text, checks.function), case))), ""
        ):
            say(f"The fill `{text}` of EQUIVALENT_FILLS fails a hidden check: {why}.", "Take it out, or mend the case.")
    for wrong, lucky in survivors(checks, fill, exercise.source, cases):
        how = "only fails where the drawn cases happen to catch it" if lucky else "passes every hidden check"
        say(
            f"The wrong fill `{wrong}` {how}.",
            "Add a case that stays the same in every draw, in which it is wrong; if it is right on all legal inputs, list it in EQUIVALENT_FILLS of checks.py with the reason (and see that RANGES says what is legal).",
        )
    return out


def survivors(
    checks: Checks, fill: str, exercise: str, cases: list[tuple[str, int, dict]] | None = None
) -> Iterator[tuple[str, bool]]:
    """(wrong fill, do drawn cases catch it?) of those made from `fill` that pass every case which is the same in each draw. Luck must not
    decide: a student's inputs follow the text of his program. exercise: the cell's source, with its blank."""
    cases = cases if cases is not None else _cases(checks, lambda *_: None)
    fixed, drawn = _fixed_and_drawn(cases)
    arrays = {k for _, _, case in cases for k, v in case["args"].items() if isinstance(v, np.ndarray) and v.ndim}
    for wrong in wrong_fills(fill, exercise, checks.function, equivalent_fills(checks), ranges(checks), arrays):
        function = filled(exercise, wrong, checks.function)
        if any(failure(function, case) for case in fixed):
            continue
        yield wrong, any(failure(function, case) for case in drawn)


def fixed_cases(checks: Checks) -> list[dict]:
    """The hidden cases that stay the same in every draw."""
    return _fixed_and_drawn(_cases(checks, lambda *_: None))[0]


def _fixed_and_drawn(cases: list[tuple[str, int, dict]]) -> tuple[list[dict], list[dict]]:
    """The cases that every seed gives, once each, and the others."""
    seeds: dict[str, set[int]] = {}
    for kind, seed, case in cases:
        seeds.setdefault(_identity(kind, case), set()).add(seed)
    fixed, drawn = {}, []
    for kind, _, case in cases:
        if len(seeds[identity := _identity(kind, case)]) == len(SEEDS):
            fixed[identity] = case
        else:
            drawn.append(case)
    return list(fixed.values()), drawn


def _identity(kind: str, case: dict) -> str:
    plain = lambda v: (str(v.dtype), v.shape, v.tobytes()) if isinstance(v, np.ndarray) else (type(v).__name__, repr(v))  # noqa: E731
    return repr((kind, [(k, plain(v)) for k, v in case["args"].items()]))


def _cases(checks: Checks, say: Callable) -> list[tuple[str, int, dict]]:
    found = []
    for kind, make in (("normal", checks.normal_cases), ("boundary", checks.boundary_cases)):
        for seed in SEEDS:
            try:
                cases = make(np.random.default_rng(seed))
            except Exception as e:
                say(f"{kind}_cases does not run: {type(e).__name__}: {e}.", "Mend checks.py.")
                break
            if not cases:
                say(f"{kind}_cases gives no case.", "Give at least one.")
            for n, case in enumerate(cases):
                if why := _malformed(case):
                    say(
                        f"The {kind} case number {n + 1} is malformed: {why}.",
                        "autograder/lesson/checks.py says what a case holds.",
                    )
                else:
                    found.append((kind, seed, case))
    return found


def _malformed(case: Any) -> str:
    if not isinstance(case, dict):
        return "it is no dict"
    if unknown := set(case) - _KEYS:
        return f"unknown keys {sorted(unknown)}"
    if not (isinstance(case.get("name"), dict) and case["name"].get("zh") and case["name"].get("en")):
        return "it has no name in both languages"
    if not isinstance(case.get("args"), dict):
        return "args is no dict"
    if ("expect" in case) == bool(case.get("raises")):
        return "it needs either expect or raises"
    return ""


def failure(function: Callable, case: dict) -> str:
    """Why `function` fails the case, or ""."""
    probes = {k: Probe() for k, v in case["args"].items() if isinstance(v, dict) and "$probe" in v}
    args = {k: probes.get(k, copy.deepcopy(v)) for k, v in case["args"].items()}
    try:
        with np.errstate(all="ignore"):
            got = function(**args)
    except Exception as e:  # a fill may raise anything
        return "" if case.get("raises") else f"it raised {type(e).__name__}: {e}"
    if case.get("raises"):
        return "it should have raised"
    if used := [k for k in case.get("untouched", []) if k in probes and probes[k].used]:
        return f"it used {', '.join(used)}"
    return "" if matches(got, case["expect"], case.get("rtol", 0.0), case.get("atol", 0.0)) else "the result is wrong"


def _boundary_inputs(checks: Checks, cases: list, say: Callable) -> None:
    try:
        counted = [case for kind, _, case in cases if kind == "boundary" and checks.is_boundary(case["args"])]
        normal = [case for kind, _, case in cases if kind == "normal" and checks.is_boundary(case["args"])]
    except Exception as e:
        say(f"is_boundary does not run: {type(e).__name__}: {e}.", "It takes the arguments of any case.")
        return
    if not counted:
        say("is_boundary says no to every boundary case.", "A student's own input must be able to count.")
    for case in normal:
        say(
            f"is_boundary calls the normal case {case['name']['en']!r} a boundary.",
            "Move the case, or mend is_boundary.",
        )


def _visible_inputs(checks: Checks, exercise: str, solution: str, say: Callable) -> None:
    """A student's own input is his own: copied from an assert that he can see, it does not count."""
    space = _space(solution)
    for check in (s for s in ast.parse(exercise).body if isinstance(s, ast.Assert)):
        for call in (
            n
            for n in ast.walk(check)
            if isinstance(n, ast.Call) and isinstance(n.func, ast.Name) and n.func.id == checks.function
        ):
            value = lambda node: eval(compile(ast.Expression(node), "<assert>", "eval"), space)  # noqa: E731
            bound = inspect.signature(checks.reference).bind(
                *map(value, call.args), **{k.arg: value(k.value) for k in call.keywords if k.arg}
            )
            if checks.is_boundary(dict(bound.arguments)):
                say(
                    f"is_boundary accepts the input of the visible `{ast.unparse(call)}`.",
                    "Let it say no: a student would only copy it.",
                )


def _signature(checks: Checks, edition: Edition, source: str, line: int) -> list[Problem]:
    function = next(
        (s for s in ast.parse(source).body if isinstance(s, ast.FunctionDef) and s.name == checks.function), None
    )
    if function is None:
        return [
            Problem(
                edition.path,
                line,
                f"The exercise does not define {checks.function}, which checks.py names.",
                "Make FUNCTION and the exercise agree.",
            )
        ]
    names = [a.arg for a in function.args.posonlyargs + function.args.args + function.args.kwonlyargs]
    wanted = list(inspect.signature(checks.reference).parameters)
    if names != wanted:
        return [
            Problem(
                edition.path,
                line,
                f"The exercise's parameters are {', '.join(names)}, the reference's are {', '.join(wanted)}.",
                "Make the two the same.",
            )
        ]
    return []


def solution_fill(exercise: str, solution: str, name: str) -> str | None:
    """What stands in the solution where the exercise has its blank; None where the two differ elsewhere."""
    blanked, solved = ast.parse(exercise), ast.parse(solution)
    fill: list[str] = []

    def match(a: Any, b: Any) -> bool:
        if isinstance(a, ast.Name) and a.id == BLANK:
            fill.append(ast.unparse(b))
            return isinstance(b, ast.expr)
        if isinstance(a, ast.AST):
            return type(a) is type(b) and all(
                match(getattr(a, f, None), getattr(b, f, None)) for f in a._fields if f != "kind"
            )
        if isinstance(a, list):
            a, b = _undocumented(a), _undocumented(b)
            return len(a) == len(b) and all(match(x, y) for x, y in zip(a, b))
        return a == b

    defs = lambda tree: [s for s in tree.body if isinstance(s, ast.FunctionDef) and s.name == name]
    if (
        len(defs(blanked)) != 1
        or len(defs(solved)) != 1
        or not match(defs(blanked)[0], defs(solved)[0])
        or len(fill) != 1
    ):
        return None
    return fill[0]


def _undocumented(body: list) -> list:
    return (
        [
            s
            for s in body
            if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant) and isinstance(s.value.value, str))
        ]
        if isinstance(body, list)
        else body
    )


def filled(exercise: str, fill: str, name: str) -> Callable:
    """The function `name` of the exercise cell with this expression in its blank."""
    return _function(exercise.replace(BLANK, f"({fill})"), name)


def _function(source: str, name: str) -> Callable:
    """The function that a cell defines, its asserts left out."""
    return _space(source)[name]


def _space(source: str) -> dict:
    """What a cell defines, its asserts left out; the grader offers np and math whether or not they are imported."""
    tree = ast.parse(source)
    tree.body = [s for s in tree.body if not isinstance(s, ast.Assert)]
    space: dict = {"np": np, "math": math}
    with warnings.catch_warnings(action="ignore"):  # a wrong fill may compare a number by identity
        exec(compile(tree, "<cell>", "exec"), space)
    return space


def equivalent_fills(checks: Checks) -> dict[str, str]:
    """EQUIVALENT_FILLS of checks.py: fills that look like mistakes and are right, each with the reason."""
    return dict(checks.reference.__globals__.get("EQUIVALENT_FILLS", {}))


def ranges(checks: Checks) -> dict[str, tuple[float, float]]:
    """RANGES of checks.py: name of the fill -> (least, largest)."""
    return dict(checks.reference.__globals__.get("RANGES", {}))
