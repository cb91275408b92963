"""Arithmetic over claims: numbers, ids, + - * / **, parentheses, min, max, round, abs. Nothing else is evaluated."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable

_BINARY = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}
_UNARY = {ast.USub: operator.neg, ast.UAdd: operator.pos}
_CALLS: dict[str, Callable] = {"min": min, "max": max, "round": round, "abs": abs}
LONGEST = 400
LARGEST_EXPONENT = 64


def names_in(text: str) -> set[str]:
    """The claims an expression speaks of: `id`, or `lesson01.id`."""
    return set(_names(_parse(text)))


def evaluate(text: str, value_of: Callable[[str], float]) -> float:
    """The expression's value. Raises ValueError with a sentence where it is no arithmetic or cannot be worked out."""
    try:
        return float(_value(_parse(text), value_of))
    except ZeroDivisionError:
        raise ValueError("it divides by zero") from None
    except (OverflowError, TypeError) as e:
        raise ValueError(f"it cannot be worked out ({e})") from None


def _parse(text: str) -> ast.expr:
    if len(text) > LONGEST:
        raise ValueError("it is too long")
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, RecursionError, MemoryError):
        raise ValueError("it is no arithmetic") from None


def _dotted(node: ast.expr) -> str | None:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return f"{node.value.id}.{node.attr}"
    return None


def _names(node: ast.expr) -> list[str]:
    if name := _dotted(node):
        return [name]
    skip = node.func if isinstance(node, ast.Call) else None
    return [
        n
        for child in ast.iter_child_nodes(node)
        if child is not skip and isinstance(child, ast.expr)
        for n in _names(child)
    ]


def _value(node: ast.expr, value_of: Callable[[str], float]) -> float:
    if name := _dotted(node):
        return value_of(name)
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        return node.value
    if isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
        left, right = _value(node.left, value_of), _value(node.right, value_of)
        if isinstance(node.op, ast.Pow) and abs(right) > LARGEST_EXPONENT:
            raise ValueError(f"its exponent is above {LARGEST_EXPONENT}")
        result = _BINARY[type(node.op)](left, right)
        if isinstance(result, complex):
            raise ValueError("it is no real number")
        return result
    if isinstance(node, ast.UnaryOp) and type(node.op) in _UNARY:
        return _UNARY[type(node.op)](_value(node.operand, value_of))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _CALLS and not node.keywords:
        args = [_value(a, value_of) for a in node.args]
        if node.func.id == "round" and len(args) == 2:
            args[1] = int(args[1])
        return _CALLS[node.func.id](*args)
    raise ValueError(
        f"`{ast.unparse(node)[:40]}` is not allowed: only numbers, claims, + - * / **, parentheses, min, max, round, abs"
    )
