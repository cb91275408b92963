"""The student's own boundary input and his prediction: read as literals, never run; judged by the lesson's reference."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import numpy as np

from autograder.grading.compare import matches
from autograder.grading.fill import has_blank
from autograder.grading.source import NotPython, parse
from autograder.lesson.rubric import Text
from autograder.records import CheckOutcome

if TYPE_CHECKING:  # a student's install reads the case too, and has no checks
    from autograder.lesson.checks import Checks

NAME = Text(zh="你自己的边界用例", en="your own boundary case")
TOLERANCE = 1e-6  # a prediction is worked out by hand
MAX_ELEMENTS = 10_000
MAX_NUMBER = 1e300
MAX_REPEATED = 10**6
_CASE, _PREDICTION = "my_case", "my_prediction"


class NotLiteral(Exception):
    """Not a value that can be read without running it. what: the student's own text, shortened."""

    def __init__(self, node: ast.AST):
        try:
            self.what = ast.unparse(node)[:60]
        except (ValueError, RecursionError):
            self.what = "?"
        super().__init__(self.what)


class NoCase(Exception):
    """There is no case to judge. empty: it is not filled in, or not there. why: for the student."""

    def __init__(self, why: Text, *, empty: bool = False):
        self.why, self.empty = why, empty
        super().__init__(why.en)


def read_own_case(sources: Iterable[str]) -> tuple[dict, object]:
    """The student's input by parameter, and his prediction. sources: code cells that may hold them, in order; the last value given
    counts, as it does when they run. Raises NoCase."""
    case, prediction = _last_values(sources)
    if case is None or prediction is None or has_blank(case) or has_blank(prediction):
        raise NoCase(Text(zh="没有填写边界用例或预测。", en="The boundary case or its prediction is not filled in."), empty=True)
    try:
        args, predicted = _arguments(case), literal(prediction)
    except RecursionError:
        raise NoCase(Text(zh="边界用例或预测写得太深。", en="The boundary case or its prediction is nested too deeply.")) from None
    except NotLiteral as e:
        zh, en = f"边界用例和预测要写成具体的值，这里读不出来：{e.what}。", f"Write the boundary case and the prediction as plain values; this one cannot be read: {e.what}"
        raise NoCase(Text(zh=zh, en=en)) from None
    if not _bounded(args):
        raise NoCase(Text(zh="边界用例里的数太大。", en="The numbers in the boundary case are too large."))
    return args, predicted


def agrees(predicted: object, result: object) -> bool:
    """Is the result what was predicted, as exactly as a person works it out?"""
    return matches(_like(predicted, result), result, rtol=TOLERANCE, atol=TOLERANCE)


def judge_own_case(checks: Checks, sources: Iterable[str]) -> CheckOutcome:
    """sources: as read_own_case takes them."""
    try:
        args, predicted = read_own_case(sources)
    except NoCase as e:
        return _failed(e.why.zh, e.why.en)
    try:
        with np.errstate(all="ignore"):
            counts = bool(checks.is_boundary(args))
    except Exception:  # the lesson's function met values of a kind it does not know
        counts = False
    if not counts:
        return _failed("这个输入不在边界上：写错了边界的版本也能通过它。", "This input is not on the boundary: a version that gets the boundary wrong would pass it too.")
    try:
        with np.errstate(all="ignore"):
            expected = checks.reference(**args)
    except Exception:
        return _failed("对这个输入，函数没有定义好的结果。", "The function has no defined result for this input.")
    if agrees(predicted, expected):
        return CheckOutcome(name=NAME, kind="own_case", passed=True)
    return _failed("输入在边界上，但预测的结果不对。", "The input is on the boundary, but the predicted result is wrong.")


def _bounded(args: dict) -> bool:
    """A sequence times a large integer would be repeated, not multiplied: keep that small."""
    longest = max((_length(v) for v in args.values()), default=0)
    largest = max((abs(v) for v in args.values() if isinstance(v, int)), default=0)
    return longest * largest <= MAX_REPEATED


def _length(value: object) -> int:
    if isinstance(value, (list, tuple, dict)):
        return len(value) + max(map(_length, value.values() if isinstance(value, dict) else value), default=0)
    return len(value) if isinstance(value, str) else 0


def _failed(zh: str, en: str) -> CheckOutcome:
    return CheckOutcome(name=NAME, kind="own_case", passed=False, message=Text(zh=zh, en=en))


def _last_values(sources: Iterable[str]) -> tuple[ast.expr | None, ast.expr | None]:
    values: dict[str, ast.expr] = {}
    for source in sources:
        try:
            tree = parse(source)
        except NotPython:
            continue
        for statement in tree.body:
            match statement:
                case ast.Assign(targets=[ast.Name(id=name)], value=value) | ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                    if name in (_CASE, _PREDICTION) and not (has_blank(value) and name in values):
                        values[name] = value
                case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=parts)) if len(targets) == len(parts):
                    values |= {t.id: v for t, v in zip(targets, parts, strict=True) if isinstance(t, ast.Name) and t.id in (_CASE, _PREDICTION)}
    return values.get(_CASE), values.get(_PREDICTION)


def _arguments(node: ast.expr) -> dict:
    match node:
        case ast.Call(func=ast.Name(id="dict"), args=[], keywords=keywords) if all(k.arg for k in keywords):
            return {k.arg: literal(k.value) for k in keywords}
        case ast.Dict():
            value = literal(node)
            if all(isinstance(k, str) for k in value):
                return value
    raise NotLiteral(node)


_NAMED = {"nan": math.nan, "inf": math.inf, "pi": math.pi, "e": math.e, "NAN": math.nan, "Inf": math.inf, "NaN": math.nan, "infty": math.inf}
_UNARY: dict[type, Callable] = {ast.USub: lambda x: -x, ast.UAdd: lambda x: +x}
_BINARY: dict[type, Callable] = {ast.Add: lambda a, b: a + b, ast.Sub: lambda a, b: a - b, ast.Mult: lambda a, b: a * b, ast.Div: lambda a, b: a / b}
_FILLED = {"zeros": 0.0, "ones": 1.0}
_DTYPES = {n: np.dtype(n) for n in ("float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "bool")}


def literal(node: ast.expr) -> object:
    """The value of a literal: numbers (with + - * /), strings, None, bool, nan and inf in any usual spelling, lists, tuples, dicts, and
    np.array / np.full / np.zeros / np.ones of those, also times or plus a number. Raises NotLiteral."""
    match node:
        case ast.Constant(value=None | bool() | float() | str() as value):
            return value
        case ast.Constant(value=int() as value) if abs(value) < MAX_NUMBER:
            return value
        case ast.UnaryOp(op=op, operand=operand) if type(op) in _UNARY:
            return _UNARY[type(op)](_number(operand))
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
            try:
                value = _BINARY[type(op)](*_operands(left, right))
            except (ZeroDivisionError, OverflowError):
                raise NotLiteral(node) from None
            if isinstance(value, int) and abs(value) >= MAX_NUMBER:
                raise NotLiteral(node)
            return value
        case ast.List(elts=items):
            return [literal(x) for x in items]
        case ast.Tuple(elts=items):
            return tuple(literal(x) for x in items)
        case ast.Dict(keys=keys, values=values) if None not in keys:
            return {literal(k): literal(v) for k, v in zip(keys, values, strict=True) if isinstance(k, ast.Constant)}
        case ast.Attribute(value=ast.Name(id="np" | "numpy" | "math"), attr=name) if name in _NAMED:
            return _NAMED[name]
        case ast.Name(id="nan" | "inf" as name):
            return _NAMED[name]
        case ast.Call(func=ast.Name(id="float"), args=[value], keywords=[]):
            return _float(value)
        case ast.Call(func=ast.Name(id="int"), args=[value], keywords=[]):
            number = _number(value)
            if isinstance(number, float) and not math.isfinite(number):
                raise NotLiteral(node)
            return int(number)
        case ast.Call(func=ast.Attribute(value=ast.Name(id="np" | "numpy"), attr=name)):
            return _numpy(node, name)
    raise NotLiteral(node)


def _number(node: ast.expr) -> int | float:
    value = literal(node)
    if not _is_number(value):
        raise NotLiteral(node)
    return value


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _operands(left: ast.expr, right: ast.expr) -> list:
    """Two numbers, or an array and a number."""
    values = [literal(left), literal(right)]
    for value, node, other in ((values[0], left, values[1]), (values[1], right, values[0])):
        if not _is_number(value) and not (isinstance(value, np.ndarray) and _is_number(other)):
            raise NotLiteral(node)
    return values


def _float(node: ast.expr) -> float:
    value = literal(node)
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise NotLiteral(node)
    try:
        return float(value)
    except (ValueError, OverflowError):
        raise NotLiteral(node) from None


def _numpy(node: ast.Call, name: str) -> object:
    """np.float32(x), np.array(x), np.full(shape, x), np.zeros(shape), np.ones(shape), each with an optional dtype."""
    dtype = None
    for keyword in node.keywords:
        if keyword.arg != "dtype":
            raise NotLiteral(node)
        dtype = _dtype(keyword.value)
    values = [literal(a) for a in node.args]
    try:
        if name in _DTYPES and len(values) == 1 and isinstance(values[0], (int, float, str)):
            return _DTYPES[name].type(values[0]).item()
        if name in ("array", "asarray") and values and _count(values[0]) <= MAX_ELEMENTS:
            return _plain(np.array(values[0], dtype=dtype), node)
        if name in _FILLED and values:
            return np.full(_shape(values[0], node), _FILLED[name], dtype=dtype)
        if name == "full" and len(values) == 2:
            return _plain(np.full(_shape(values[0], node), values[1], dtype=dtype), node)
    except (ValueError, TypeError, OverflowError):
        raise NotLiteral(node) from None
    raise NotLiteral(node)


def _dtype(node: ast.expr) -> np.dtype:
    match node:
        case ast.Attribute(value=ast.Name(id="np" | "numpy"), attr=name) | ast.Constant(value=str() as name) | ast.Name(id=name) if name in _DTYPES:
            return _DTYPES[name]
        case ast.Name(id="float"):
            return _DTYPES["float64"]
        case ast.Name(id="int"):
            return _DTYPES["int64"]
    raise NotLiteral(node)


def _plain(array: np.ndarray, node: ast.AST) -> np.ndarray:
    if array.dtype.kind not in "biuf":
        raise NotLiteral(node)
    return array


def _count(value: object) -> int:
    return sum(_count(v) for v in value) if isinstance(value, (list, tuple)) else 1


def _shape(value: object, node: ast.AST) -> tuple[int, ...]:
    shape = value if isinstance(value, (list, tuple)) else (value,)
    if not all(type(n) is int and n >= 0 for n in shape) or math.prod(shape) > MAX_ELEMENTS or len(shape) > 8:
        raise NotLiteral(node)
    return tuple(shape)


def _like(predicted: object, expected: object) -> object:
    """A prediction written as a list for an array result, or as one number for a whole array of it."""
    if isinstance(expected, np.ndarray) and expected.ndim:
        try:
            value = np.array(predicted, dtype=expected.dtype)
        except (ValueError, TypeError, OverflowError):
            return predicted
        return np.broadcast_to(value, expected.shape) if value.ndim == 0 else value
    return predicted
