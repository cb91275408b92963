"""The student's own boundary input and his prediction: read as literals, never run; judged by the lesson's reference."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from autograder.lesson.rubric import Text
from autograder.records import CheckOutcome
from autograder.submission import plain
from autograder.submission.compare import matches
from autograder.submission.fill import has_blank
from autograder.submission.literals import MAX_ELEMENTS, NotLiteral, literal
from autograder.submission.source import NotPython, parse

if TYPE_CHECKING:  # a student's install reads the case too, and has no checks
    from autograder.lesson.checks import Checks

NAME = Text(zh="你自己的边界用例", en="your own boundary case")
TOLERANCE = plain.TOLERANCE
MAX_REPEATED = 10**6  # elements of what the reference may make
MAX_CALLS, MAX_DEPTH = 500, 100
_CASE, _PREDICTION = "my_case", "my_prediction"


class NoCase(Exception):
    """There is no case to judge. empty: it is not filled in, or not there. why: for the student."""

    def __init__(self, why: Text, *, empty: bool = False):
        self.why, self.empty = why, empty
        super().__init__(why.en)


def sources_of(code: Iterable[str]) -> list[str]:
    """Of a notebook's code cells those that read_own_case() looks at."""
    return [source for source in code if "my_" in source or "check" in source]


def read_own_case(sources: Iterable[str]) -> tuple[dict, object]:
    """The student's input by parameter, and his prediction. sources: the notebook's code cells (see sources_of), in order; the last value
    given before check("boundary") counts, as it does when they run. Raises NoCase."""
    case, prediction = _last_values(sources)
    if case is None or prediction is None or has_blank(case) or has_blank(prediction):
        raise NoCase(
            Text(zh="没有填写边界用例或预测。", en="The boundary case or its prediction is not filled in."), empty=True
        )
    depth, calls = _measure([case, prediction])
    if depth > MAX_DEPTH:
        raise NoCase(
            Text(zh="边界用例或预测写得太深。", en="The boundary case or its prediction is nested too deeply.")
        )
    if calls > MAX_CALLS:
        raise NoCase(_TOO_LARGE)
    try:
        args, predicted = _arguments(case), literal(prediction)
    except NotLiteral as e:
        zh, en = (
            f"边界用例和预测要写成具体的值，这里读不出来：{e.what}。",
            f"Write the boundary case and the prediction as plain values; this one cannot be read: {e.what}",
        )
        raise NoCase(Text(zh=zh, en=en)) from None
    if not _bounded(args):
        raise NoCase(_TOO_LARGE)
    return args, predicted


def _measure(nodes: list[ast.AST]) -> tuple[int, int]:
    """How deep these trees are, and how many calls they hold."""
    depth = calls = 0
    while nodes:
        depth += 1
        calls += sum(isinstance(n, ast.Call) for n in nodes)
        nodes = [child for n in nodes for child in ast.iter_child_nodes(n)]
    return depth, calls


_TOO_LARGE = Text(zh="边界用例里的数太大。", en="The numbers in the boundary case are too large.")


def agrees(predicted: object, result: object) -> bool:
    """Is the result what was predicted, as exactly as a person works it out: integers exactly, floats to TOLERANCE of the result?"""
    if isinstance(result, (list, tuple)):
        return plain.agrees(predicted, result, agrees)
    whole = isinstance(result, (int, np.ndarray, np.generic)) and np.asarray(result).dtype.kind not in "fc"
    return matches(_like(predicted, result), result, rtol=0.0 if whole else TOLERANCE)


def judge_own_case(checks: Checks, sources: Iterable[str]) -> CheckOutcome:
    """sources: as read_own_case takes them."""
    try:
        args, predicted = read_own_case(sources)
        args = _as_taken(args, _kinds(checks))
    except NoCase as e:
        return _failed(e.why.zh, e.why.en)
    try:
        with np.errstate(all="ignore"):
            counts = bool(checks.is_boundary(args))
    except Exception:  # the lesson's function met values of a kind it does not know
        counts = False
    if not counts:
        return _failed(
            "这个输入不在边界上：写错了边界的版本也能通过它。照抄公开检查的输入也不算。",
            "This input is not on the boundary: a version that gets the boundary wrong would pass it too. Nor does one count that is copied from a visible check.",
        )
    try:
        with np.errstate(all="ignore"):
            expected = checks.reference(**args)
    except Exception:
        return _failed("对这个输入，函数没有定义好的结果。", "The function has no defined result for this input.")
    if _is_nan(expected):
        return _failed(
            "这个输入的结果只有 NaN，与它比较什么也看不出来。",
            "The result for this input is NaN and nothing else, and no comparison with it tells anything.",
        )
    if agrees(predicted, expected):
        return CheckOutcome(name=NAME, kind="own_case", passed=True)
    return _failed(
        "输入在边界上，但预测的结果不对。", "The input is on the boundary, but the predicted result is wrong."
    )


# -- of what kinds, and how large ----------------------------------------------------------------------------------------------

_KINDS = {
    "number": ("数", "a number"),
    "array": ("NumPy 数组", "a NumPy array"),
    "sequence": ("元组或列表", "a tuple or list"),
    "none": ("None", "None"),
    "truth": ("真值", "a truth value"),
    "text": ("字符串", "a string"),
    "other": ("字典", "a dict"),
}


def _kind(value: object) -> str:
    if value is None:
        return "none"
    if isinstance(value, (np.ndarray, np.generic)):
        return "array" if value.ndim else "truth" if value.dtype.kind == "b" else "number"
    kinds = ((bool, "truth"), ((int, float), "number"), ((list, tuple), "sequence"), (str, "text"))
    return next((name for kind, name in kinds if isinstance(value, kind)), "other")


@lru_cache(maxsize=64)
def _kinds(checks: Checks) -> dict[str, set[str]]:
    """For each parameter the kinds of value that the hidden checks themselves pass."""
    found: dict[str, set[str]] = {}
    with np.errstate(all="ignore"):
        cases = [c for make in (checks.normal_cases, checks.boundary_cases) for c in make(np.random.default_rng(0))]
    for name, value in (pair for case in cases for pair in case["args"].items()):
        if not (isinstance(value, dict) and "$probe" in value):
            found.setdefault(name, set()).add(_kind(value))
    return found


def _as_taken(args: dict, kinds: dict[str, set[str]]) -> dict:
    """The arguments, a list where the function takes arrays as that array. Raises NoCase where one is of a kind that the function does not
    take, or holds nothing."""
    taken = {}
    for name, value in args.items():
        value = value.item() if isinstance(value, np.ndarray) and not value.ndim else value
        wanted = kinds.get(name, {_kind(value)})
        if _kind(value) == "sequence" and "sequence" not in wanted and "array" in wanted:
            value = _array(value)
        if _kind(value) not in wanted:
            zh, en = (
                "、".join(_KINDS[k][0] for k in sorted(wanted)),
                " or ".join(_KINDS[k][1] for k in sorted(wanted)),
            )
            raise NoCase(
                Text(
                    zh=f"边界用例里 {name} 的种类不对；这里用的是：{zh}。",
                    en=f"{name} in the boundary case is not of the kind that is used there: {en}.",
                )
            )
        if isinstance(value, (list, tuple, str)) and not value or isinstance(value, np.ndarray) and not value.size:
            raise NoCase(
                Text(
                    zh=f"边界用例里 {name} 是空的；空的输入什么错也揭示不了。",
                    en=f"{name} in the boundary case is empty; nothing gives itself away on an empty input.",
                )
            )
        taken[name] = value
    return taken


def _array(value: list | tuple) -> object:
    try:
        made = np.array(value)
    except (ValueError, OverflowError):
        return value
    return made if made.dtype.kind in "biuf" and made.size <= MAX_ELEMENTS else value


def _is_nan(value: object) -> bool:
    values = np.asarray(value)
    return values.dtype.kind in "fc" and values.size > 0 and bool(np.isnan(values).all())


def _bounded(args: dict) -> bool:
    """Arrays make one as large as what they broadcast to, or as their product; and a sequence times a large integer is repeated."""
    longest = max((_length(v) for v in args.values()), default=0)
    largest = max((abs(v) for v in args.values() if isinstance(v, int)), default=0)
    shapes = [v.shape for v in args.values() if isinstance(v, np.ndarray)]
    try:
        together = math.prod(np.broadcast_shapes(*shapes))
    except ValueError:
        together = math.prod(math.prod(s) for s in shapes)
    return longest * largest <= MAX_REPEATED and together <= MAX_REPEATED


def _length(value: object) -> int:
    if isinstance(value, (list, tuple, dict)):
        return len(value) + max(map(_length, value.values() if isinstance(value, dict) else value), default=0)
    return len(value) if isinstance(value, str) else 0


def _failed(zh: str, en: str) -> CheckOutcome:
    return CheckOutcome(name=NAME, kind="own_case", passed=False, message=Text(zh=zh, en=en))


# -- reading it ------------------------------------------------------------------------------------------------------------------


def _last_values(sources: Iterable[str]) -> tuple[ast.expr | None, ast.expr | None]:
    """As they stand when check("boundary") runs (the last one that finds both written), at the end where it does not."""
    values: dict[str, ast.expr] = {}
    checked: dict[str, ast.expr] = {}
    for source in sources:
        try:
            tree = parse(source)
        except NotPython:
            continue
        for statement in tree.body:
            if _checks(statement) and len(values) == 2 and not any(map(has_blank, values.values())):
                checked = dict(values)
            match statement:
                case (
                    ast.Assign(targets=[ast.Name(id=name)], value=value)
                    | ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value)
                ):
                    if name in (_CASE, _PREDICTION) and not (has_blank(value) and name in values):
                        values[name] = value
                case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=parts)) if len(targets) == len(
                    parts
                ):
                    values |= {
                        t.id: v
                        for t, v in zip(targets, parts, strict=True)
                        if isinstance(t, ast.Name) and t.id in (_CASE, _PREDICTION)
                    }
    values = checked or values
    return values.get(_CASE), values.get(_PREDICTION)


def _checks(statement: ast.stmt) -> bool:
    match statement:
        case ast.Expr(value=call) | ast.Assign(value=call):
            return (
                isinstance(call, ast.Call)
                and isinstance(call.func, ast.Name)
                and call.func.id == "check"
                and [getattr(a, "value", None) for a in call.args] == ["boundary"]
            )
    return False


def _arguments(node: ast.expr) -> dict:
    match node:
        case ast.Call(func=ast.Name(id="dict"), args=[], keywords=keywords) if all(k.arg for k in keywords):
            return {k.arg: literal(k.value) for k in keywords}
        case ast.Dict():
            value = literal(node)
            if all(isinstance(k, str) for k in value):
                return value
    raise NotLiteral(node)


def _like(predicted: object, expected: object) -> object:
    """A prediction written as a list for an array result, or as one number for a whole array of it."""
    if not (isinstance(expected, np.ndarray) and expected.ndim):
        return predicted
    try:
        value = np.array(predicted)
    except (ValueError, TypeError, OverflowError):
        return predicted
    kind, wanted = value.dtype.kind, expected.dtype.kind
    if kind not in "biuf" or (kind == "b") != (wanted == "b"):
        return predicted
    if wanted == "f":
        value = value.astype(np.float64)
    elif kind == "f" and wanted in "iu":  # 2.0 is the integer 2, 2.5 is none
        if not (np.isfinite(value).all() and (value == np.trunc(value)).all() and (np.abs(value) < 2**62).all()):
            return predicted
        value = value.astype(np.int64)
    return np.broadcast_to(value, expected.shape) if value.ndim == 0 else value
