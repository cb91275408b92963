"""Plain values out of a student's text: read, never run, and never large."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable

import numpy as np

MAX_ELEMENTS = 10_000
MAX_BITS = 1_000  # of an integer on the way


class NotLiteral(Exception):
    """Not a value that can be read without running it. what: the student's own text, shortened."""

    def __init__(self, node: ast.AST):
        try:
            self.what = ast.unparse(node)[:60]
        except (ValueError, RecursionError):
            self.what = "?"
        super().__init__(self.what)


_NAMED = {
    "nan": math.nan,
    "inf": math.inf,
    "pi": math.pi,
    "e": math.e,
    "NAN": math.nan,
    "Inf": math.inf,
    "NaN": math.nan,
    "infty": math.inf,
}
_UNARY: dict[type, Callable] = {ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Invert: operator.invert}
_BINARY: dict[type, Callable] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv, ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod,
    ast.Pow: operator.pow, ast.LShift: operator.lshift, ast.RShift: operator.rshift, ast.BitAnd: operator.and_, ast.BitOr: operator.or_, ast.BitXor: operator.xor,
}  # fmt: skip
_OF_ARRAYS = (ast.Add, ast.Sub, ast.Mult, ast.Div)
_FILLED = {"zeros": 0.0, "ones": 1.0}
_DTYPES = {
    n: np.dtype(n) for n in ("float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "bool")
}
_BEFORE_DTYPE = {
    "array": 1,
    "asarray": 1,
    "zeros": 1,
    "ones": 1,
    "full": 2,
}  # arguments of the function that stand before its dtype


def literal(node: ast.expr) -> object:
    """The value of a literal: numbers and arithmetic on them (what ** and << may make is bounded), strings, None, bool, nan and inf in any
    usual spelling, lists, tuples, dicts, and np.array / np.full / np.zeros / np.ones of those, also negated, times or plus a number.
    Raises NotLiteral."""
    match node:
        case ast.Constant(value=None | bool() | float() | str() as value):
            return value
        case ast.Constant(value=int() as value) if value.bit_length() <= MAX_BITS:
            return value
        case ast.UnaryOp(op=op, operand=operand) if type(op) in _UNARY:
            return _unary(node, _UNARY[type(op)], literal(operand))
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
            return _binary(node, op, literal(left), literal(right))
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
            number = literal(value)
            if not _is_number(number) or not math.isfinite(number):
                raise NotLiteral(node)
            return int(number)
        case ast.Call(func=ast.Attribute(value=ast.Name(id="np" | "numpy"), attr=name)):
            return _numpy(node, name)
    raise NotLiteral(node)


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _unary(node: ast.expr, operate: Callable, value: object) -> object:
    if not _is_number(value) and not (isinstance(value, np.ndarray) and operate is not operator.invert):
        raise NotLiteral(node)
    try:
        return operate(value)
    except TypeError:  # ~ of a float, - of truth values
        raise NotLiteral(node) from None


def _binary(node: ast.BinOp, op: ast.operator, a: object, b: object) -> object:
    """Of two numbers, or of an array and a number."""
    arrays = [x for x in (a, b) if isinstance(x, np.ndarray)]
    numbers = [x for x in (a, b) if _is_number(x)]
    if (
        len(arrays) + len(numbers) != 2
        or len(arrays) == 2
        or (arrays and not isinstance(op, _OF_ARRAYS))
        or not _affordable(op, a, b)
    ):
        raise NotLiteral(node)
    try:
        with np.errstate(all="ignore"):
            value = _BINARY[type(op)](a, b)
    except (ArithmeticError, TypeError, ValueError):
        raise NotLiteral(node) from None
    if isinstance(value, np.ndarray):
        return _plain(value, node)
    if not _is_number(value) or (isinstance(value, int) and value.bit_length() > MAX_BITS):
        raise NotLiteral(node)
    return value


def _affordable(op: ast.operator, a: object, b: object) -> bool:
    """Powers and shifts of integers are the only ways to a large number in one step."""
    if not (isinstance(a, int) and isinstance(b, int)):
        return True
    if isinstance(op, ast.Pow):
        return a.bit_length() * max(b, -b) <= MAX_BITS
    return not isinstance(op, ast.LShift) or a.bit_length() + b <= MAX_BITS


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
    dtype, args = None, list(node.args)
    if len(args) == _BEFORE_DTYPE.get(name, -2) + 1:
        dtype = _dtype(args.pop())
    for keyword in node.keywords:
        if keyword.arg != "dtype":
            raise NotLiteral(node)
        dtype = _dtype(keyword.value)
    values = [literal(a) for a in args]
    try:
        if name in _DTYPES and len(values) == 1 and isinstance(values[0], (int, float, str)):
            return _DTYPES[name].type(values[0]).item()
        if len(values) != _BEFORE_DTYPE.get(name):
            raise NotLiteral(node)
        if name in ("array", "asarray") and _count(values[0]) <= MAX_ELEMENTS:
            return _plain(np.array(values[0], dtype=dtype), node)
        if name in _FILLED:
            return np.full(_shape(values[0], node), _FILLED[name], dtype=dtype)
        if name == "full":
            return _plain(np.full(_shape(values[0], node), values[1], dtype=dtype), node)
    except (ValueError, TypeError, OverflowError):
        raise NotLiteral(node) from None
    raise NotLiteral(node)


def _dtype(node: ast.expr) -> np.dtype:
    match node:
        case (
            ast.Attribute(value=ast.Name(id="np" | "numpy"), attr=name)
            | ast.Constant(value=str() as name)
            | ast.Name(id=name)
        ) if name in _DTYPES:
            return _DTYPES[name]
        case ast.Name(id="float"):
            return _DTYPES["float64"]
        case ast.Name(id="int"):
            return _DTYPES["int64"]
    raise NotLiteral(node)


def _plain(array: np.ndarray, node: ast.AST) -> np.ndarray:
    if array.dtype.kind not in "biuf" or array.size > MAX_ELEMENTS:
        raise NotLiteral(node)
    return array


def _count(value: object) -> int:
    if isinstance(value, np.ndarray):
        return value.size
    return sum(_count(v) for v in value) if isinstance(value, (list, tuple)) else 1


def _shape(value: object, node: ast.AST) -> tuple[int, ...]:
    shape = value if isinstance(value, (list, tuple)) else (value,)
    if not all(type(n) is int and n >= 0 for n in shape) or math.prod(shape) > MAX_ELEMENTS or len(shape) > 8:
        raise NotLiteral(node)
    return tuple(shape)
