"""The hidden checks of a lesson, tried: the reference and the solution pass them, and wrong fills do not."""

from __future__ import annotations

import ast
import copy
import inspect
import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from autograder.grading.compare import matches
from autograder.lesson.checks import Checks
from autograder.lesson.model import BLANK, Edition
from autograder.lint.problem import Problem

SEEDS = (0, 1)
_KEYS = {"name", "args", "expect", "rtol", "atol", "untouched", "raises"}


class Probe:
    """Stands in for an argument that must not be used; any use but passing it on is recorded."""

    def __init__(self):
        object.__setattr__(self, "used", False)

    def _use(self, *_: Any, **__: Any):
        object.__setattr__(self, "used", True)
        raise TypeError("this argument must not be used")

    __array_ufunc__ = None


for _name in ("add radd sub rsub mul rmul truediv rtruediv floordiv mod pow matmul rmatmul neg pos abs eq ne lt le gt ge bool float int len getitem iter array").split():
    setattr(Probe, f"__{_name}__", Probe._use)


def lint_checks(checks: Checks, edition: Edition) -> list[Problem]:
    """Problems of checks.py and of the exercise and solution cells against it. edition: either one, they are the same program."""
    out: list[Problem] = []

    def say(what: str, remedy: str, line: int = 0) -> None:
        out.append(Problem(checks.path, line, what, remedy))

    cases = _cases(checks, say)
    for kind, seed, case in cases:
        if why := failure(checks.reference, case):
            say(f"The reference fails the {kind} case {case['name']['en']!r} (seed {seed}): {why}.", "Mend the reference or the case.")
    _boundary_inputs(checks, cases, say)
    exercise = next(iter(edition.with_role("exercise")), None)
    solution = next(iter(edition.with_role("solution")), None)
    if out or exercise is None or solution is None:
        return out  # what follows would only repeat it
    out += _signature(checks, edition, exercise.source, exercise.line)
    fill = solution_fill(exercise.source, solution.source, checks.function)
    if fill is None:
        out.append(Problem(edition.path, solution.line, "The solution is not the exercise with the blank filled in.", "Make the two the same, but for the statement that holds the blank (docstrings and comments may differ)."))
        return out
    for kind, seed, case in cases:
        if why := failure(_function(solution.source, checks.function), case):
            out.append(Problem(edition.path, solution.line, f"The solution fails the hidden {kind} case {case['name']['en']!r}: {why}.", "Mend the solution or the case."))
    for wrong in wrong_fills(fill, exercise.source, checks.function, equivalent_fills(checks)):
        source = exercise.source.replace(BLANK, wrong)
        function = _function(source, checks.function)
        if all(not failure(function, case) for _, _, case in cases):
            say(f"The wrong fill `{wrong}` passes every hidden check.", "Add a case in which it is wrong; if it is right after all, list it in EQUIVALENT_FILLS in checks.py.")
    return out


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
                    say(f"The {kind} case number {n + 1} is malformed: {why}.", "autograder/lesson/checks.py says what a case holds.")
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
        say(f"is_boundary calls the normal case {case['name']['en']!r} a boundary.", "Move the case, or mend is_boundary.")


def _signature(checks: Checks, edition: Edition, source: str, line: int) -> list[Problem]:
    function = next((s for s in ast.parse(source).body if isinstance(s, ast.FunctionDef) and s.name == checks.function), None)
    if function is None:
        return [Problem(edition.path, line, f"The exercise does not define {checks.function}, which checks.py names.", "Make FUNCTION and the exercise agree.")]
    names = [a.arg for a in function.args.posonlyargs + function.args.args + function.args.kwonlyargs]
    wanted = list(inspect.signature(checks.reference).parameters)
    if names != wanted:
        return [Problem(edition.path, line, f"The exercise's parameters are {', '.join(names)}, the reference's are {', '.join(wanted)}.", "Make the two the same.")]
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
            return type(a) is type(b) and all(match(getattr(a, f, None), getattr(b, f, None)) for f in a._fields if f != "kind")
        if isinstance(a, list):
            a, b = _undocumented(a), _undocumented(b)
            return len(a) == len(b) and all(match(x, y) for x, y in zip(a, b))
        return a == b

    defs = lambda tree: [s for s in tree.body if isinstance(s, ast.FunctionDef) and s.name == name]
    if len(defs(blanked)) != 1 or len(defs(solved)) != 1 or not match(defs(blanked)[0], defs(solved)[0]) or len(fill) != 1:
        return None
    return fill[0]


def _undocumented(body: list) -> list:
    return [s for s in body if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant) and isinstance(s.value.value, str))] if isinstance(body, list) else body


def _function(source: str, name: str) -> Callable:
    """The function that a cell defines, its asserts left out."""
    tree = ast.parse(source)
    tree.body = [s for s in tree.body if not isinstance(s, ast.Assert)]
    space: dict = {}
    exec(compile(tree, "<cell>", "exec"), space)
    return space[name]


def equivalent_fills(checks: Checks) -> list[str]:
    """EQUIVALENT_FILLS of checks.py: fills that look like mistakes and are right."""
    return list(checks.reference.__globals__.get("EQUIVALENT_FILLS", []))


def wrong_fills(fill: str, exercise: str, name: str, equivalent: Iterable[str] = ()) -> Iterator[str]:
    """Plausible mistakes: nothing, one argument, and one small change each to the solution's expression."""
    function = next(s for s in ast.parse(exercise).body if isinstance(s, ast.FunctionDef) and s.name == name)
    parameters = [a.arg for a in function.args.posonlyargs + function.args.args + function.args.kwonlyargs]
    seen = {ast.dump(ast.parse(x, mode="eval")) for x in (fill, *equivalent)}
    for text in ("None", "0", *parameters, *_mutants(fill, parameters)):
        key = ast.dump(ast.parse(text, mode="eval"))
        if key not in seen:
            seen.add(key)
            yield text


_OTHER_OPERATOR = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.Mult, ast.FloorDiv: ast.Mod, ast.Mod: ast.FloorDiv, ast.BitXor: ast.BitOr, ast.BitOr: ast.BitAnd, ast.BitAnd: ast.BitOr, ast.LShift: ast.RShift, ast.RShift: ast.LShift}
_OTHER_COMPARISON = {ast.Eq: (ast.NotEq, ast.LtE), ast.NotEq: (ast.Eq, ast.Gt), ast.Lt: (ast.LtE, ast.GtE), ast.LtE: (ast.Lt, ast.Gt), ast.Gt: (ast.GtE, ast.LtE), ast.GtE: (ast.Gt, ast.Lt)}


def _mutants(fill: str, parameters: list[str]) -> Iterator[str]:
    tree = ast.parse(fill, mode="eval")
    nodes = list(ast.walk(tree))
    for i, node in enumerate(nodes):
        for change in _changes(node, parameters):
            copied = copy.deepcopy(tree)
            target = list(ast.walk(copied))[i]
            new = change(target)
            yield ast.unparse(ast.fix_missing_locations(_put(copied, target, new)))


def _put(tree: ast.Expression, target: ast.AST, new: ast.AST) -> ast.AST:
    class Swap(ast.NodeTransformer):
        def visit(self, node):
            return new if node is target else self.generic_visit(node)

    return Swap().visit(tree)


def _changes(node: ast.AST, parameters: list[str]) -> Iterator[Callable[[Any], ast.AST]]:
    if isinstance(node, ast.IfExp):
        yield lambda n: n.body
        yield lambda n: n.orelse
        yield lambda n: ast.IfExp(n.test, n.orelse, n.body)
    elif isinstance(node, ast.BinOp):
        if other := _OTHER_OPERATOR.get(type(node.op)):
            yield lambda n, other=other: ast.BinOp(n.left, other(), n.right)
        if not isinstance(node.op, (ast.Add, ast.Mult, ast.BitXor, ast.BitOr, ast.BitAnd)):
            yield lambda n: ast.BinOp(n.right, n.op, n.left)
        yield lambda n: n.left
        yield lambda n: n.right
    elif isinstance(node, ast.Compare) and len(node.ops) == 1:
        for other in _OTHER_COMPARISON.get(type(node.ops[0]), ()):
            yield lambda n, other=other: ast.Compare(n.left, [other()], n.comparators)
    elif isinstance(node, ast.BoolOp):
        yield lambda n: ast.BoolOp(ast.Or() if isinstance(n.op, ast.And) else ast.And(), n.values)
        yield lambda n: n.values[0]
        yield lambda n: n.values[-1]
    elif isinstance(node, ast.UnaryOp):
        yield lambda n: n.operand
    elif isinstance(node, ast.Constant) and isinstance(node.value, (int, float)) and not isinstance(node.value, bool) and math.isfinite(node.value):
        yield lambda n: ast.Constant(n.value + 1)
    elif isinstance(node, ast.Name) and node.id in parameters:
        for other in parameters:
            if other != node.id:
                yield lambda n, other=other: ast.Name(other, ast.Load())
