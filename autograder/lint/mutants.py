"""Wrong fills, made by machine from the right one: what a student may write who is nearly right, or hopes to be lucky.

One change each. Of the expression: another operator, comparison, name or number, a term dropped, operands exchanged. Of a guard: a
tolerance in place of equality. Of a value: cut off, rounded, converted, a little added. Of a part of the inputs: a special case for a range
of one name, for an order of two, for arrays of one rank. The last three kinds need RANGES of checks.py, which says what a name may be.
"""

from __future__ import annotations

import ast
import copy
import itertools
import math
from collections.abc import Container, Iterable, Iterator, Mapping

Ranges = Mapping[str, tuple[float, float]]
RESULT = "return"  # the key of RANGES for what the function returns

_WHOLE_STEPS = (1, 2, 3, 4, 5, 6, 7, 8, 64, 1024, 65536)
_REAL_STEPS = (0.0, 1e-12, 1e-3, 1.0, 100.0, 1e6, 1e12)
_POWERS = (8, 16, 32, 64, 128, 256, 1024, 4096, 65536)
_FEW, _MANY = 16, 16  # so many whole values are tried one by one; a short range is cut into so many parts
_TOLERANCES = (1e-15, 1e-12, 1e-9, 1e-6, 1e-3)
_MODULI = (16, 256, 65536)


def wrong_fills(
    fill: str,
    exercise: str,
    name: str,
    equivalent: Container[str] | Iterable[str] = (),
    ranges: Ranges | None = None,
    arrays: Iterable[str] = (),
) -> Iterator[str]:
    """Each wrong fill once, as text; those of `equivalent` and the fill itself left out.

    ranges: of names of the fill, and of RESULT, (least, largest): whole numbers where the ends are integers.  arrays: parameters that may
    be arrays.
    """
    function = next(s for s in ast.parse(exercise).body if isinstance(s, ast.FunctionDef) and s.name == name)
    parameters = [a.arg for a in function.args.posonlyargs + function.args.args + function.args.kwonlyargs]
    names = list(
        dict.fromkeys(
            parameters
            + [
                n.id
                for s in function.body
                for n in ast.walk(s)
                if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
            ]
        )
    )
    seen = {_key(x) for x in (fill, *equivalent)}
    made = _Mutants(fill, names, parameters, dict(ranges or {}), set(arrays))
    for text in itertools.chain(("None", "0", *parameters), made.changed(), made.converted(), made.special()):
        if (key := _key(text)) not in seen:
            seen.add(key)
            yield text


def _key(text: str) -> str:
    return ast.dump(ast.parse(text, mode="eval"))


class _Mutants:
    def __init__(self, fill: str, names: list[str], parameters: list[str], ranges: Ranges, arrays: set[str]):
        self.tree = ast.parse(fill, mode="eval")
        self.names, self.parameters, self.ranges, self.arrays = names, parameters, ranges, arrays

    def changed(self) -> Iterator[str]:
        """One node changed."""
        for i, node in enumerate(ast.walk(self.tree)):
            for new in (*_changes(node, self.names), *self._guards(node)):
                yield self._with(i, new)

    def converted(self) -> Iterator[str]:
        """One value cut off, rounded or shifted: where a name is read, and the result."""
        root = self.tree.body
        in_test = {
            id(n) for c in ast.walk(root) if isinstance(c, ast.Compare) for n in (c.left, *c.comparators)
        }  # these have their tolerances
        operations = [n for n in ast.walk(root) if isinstance(n, ast.BinOp)]
        in_remainder = {id(n) for m in operations if isinstance(m.op, ast.Mod) for n in _divided(m.left)}
        in_division = in_remainder | {
            id(n) for m in operations if isinstance(m.op, ast.FloorDiv) for n in _divided(m.left)
        }
        for i, node in enumerate(ast.walk(self.tree)):
            if isinstance(node, ast.Name) and node.id in self.ranges and id(node) not in in_test:
                for text in _conversions(
                    node.id,
                    self.ranges[node.id],
                    remainder=id(node) not in in_remainder,
                    least=id(node) not in in_division,
                ):
                    yield self._with(i, _parsed(text))
        if RESULT in self.ranges:
            for text in _conversions(f"({ast.unparse(root)})", self.ranges[RESULT], remainder=True, least=True):
                yield text

    def special(self) -> Iterator[str]:
        """The fill, but for some inputs nothing (the opposite, of a condition), or what it is with a part left out."""
        root, fill = self.tree.body, ast.unparse(self.tree)
        wrong = (
            f"not ({fill})"
            if isinstance(root, (ast.Compare, ast.BoolOp))
            or isinstance(root, ast.UnaryOp)
            and isinstance(root.op, ast.Not)
            else "None"
        )
        partial = [ast.unparse(n) for n in _parts(root)]
        branches = [root.body, root.orelse] if isinstance(root, ast.IfExp) else []
        tested = _names_in(root.test) if branches else set()
        for used, condition, wide in self._conditions():
            yield f"{wrong} if {condition} else ({fill})"
            for part in partial if wide and (branches or len(used) == 1) else ():
                if (
                    used & tested
                    and part == ast.unparse(root.orelse)
                    or isinstance(root, ast.BoolOp)
                    and used & _names_in(_parsed(part))
                ):
                    continue  # likely the fill itself, as the condition speaks of what is tested or kept
                yield f"({part}) if {condition} else ({fill})"
            for branch in branches if not used & tested else ():
                guarded = _parsed(f"None if {condition} else ({ast.unparse(branch)})")
                yield ast.unparse(
                    ast.fix_missing_locations(ast.IfExp(root.test, *(guarded if b is branch else b for b in branches)))
                )

    def _conditions(self) -> Iterator[tuple[set[str], str, bool]]:
        """(names, a condition on them, does it hold for more than one value?)"""
        ranges = {n: r for n, r in self.ranges.items() if n in self.names}
        for n, (low, high) in ranges.items():
            scalar = f"np.ndim({n}) == 0 and " if n in self.arrays else ""
            for text, wide in _pieces(n, low, high):
                yield {n}, scalar + text, wide
        for a, b in itertools.permutations(ranges, 2):
            if (
                not {a, b} & self.arrays
                and (a in self.parameters) == (b in self.parameters)
                and _is_whole(ranges[a]) == _is_whole(ranges[b])
                and ranges[a][1] > ranges[b][0]
            ):
                yield {a, b}, f"{a} > {b}", True
        for n in self.names:
            for rank in range(4) if n in self.arrays else ():
                yield {n}, f"np.ndim({n}) == {rank}", False

    def _guards(self, node: ast.AST) -> Iterator[ast.expr]:
        """A tolerance, or a remainder, where two values are compared for equality."""
        if not (isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], (ast.Eq, ast.NotEq))):
            return
        left, right = ast.unparse(node.left), ast.unparse(node.comparators[0])
        used = [self.ranges.get(n) for n in _names_in(node)]
        if not used or None in used:
            return
        difference = f"({left})" if right in ("0", "0.0") else f"({left} - ({right}))"
        negated = "not " if isinstance(node.ops[0], ast.NotEq) else ""
        if all(map(_is_whole, used)):
            tests = (
                [f"abs({difference}) < {t}" for t in (2, 16)]
                + [f"{difference} // 16 == 0"]
                + [f"{difference} % {m} == 0" for m in _MODULI if m < max(r[1] for r in used)]
            )
        else:
            tests = [f"abs({difference}) < {t}" for t in _TOLERANCES] + [
                f"round({difference}, 9) == 0",
                f"int({difference}) == 0",
                f"np.isclose({left}, {right})",
            ]
        for test in tests:
            yield _parsed(f"{negated}({test})")

    def _with(self, index: int, new: ast.expr) -> str:
        """The fill with the node of this number (in the order of ast.walk) replaced."""
        copied = copy.deepcopy(self.tree)
        target = next(itertools.islice(ast.walk(copied), index, None))

        class Swap(ast.NodeTransformer):
            def visit(self, node):
                return new if node is target else self.generic_visit(node)

        return ast.unparse(ast.fix_missing_locations(Swap().visit(copied)))


def _parsed(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def _names_in(node: ast.AST) -> set[str]:
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}


def _is_whole(ends: tuple[float, float]) -> bool:
    return isinstance(ends[0], int) and isinstance(ends[1], int)


def _divided(node: ast.expr) -> Iterator[ast.expr]:
    """What a remainder is taken of, through divisions: a remainder of it would change nothing."""
    yield node
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.FloorDiv, ast.Mod)):
        yield from _divided(node.left)


def _parts(root: ast.expr) -> list[ast.expr]:
    """The expression with one of its terms left out."""
    match root:
        case ast.IfExp(body=body, orelse=orelse):
            return [body, orelse]
        case ast.BinOp(left=left, right=right):
            return [left, right]
        case ast.BoolOp(values=values):
            return list(values)
        case ast.Tuple(elts=elements):
            return [
                ast.Tuple([*elements[:i], part, *elements[i + 1 :]], ast.Load())
                for i, e in enumerate(elements)
                for part in _parts(e)
            ]
        case _:
            return []


_OTHER_OPERATOR: dict[type, tuple[type, ...]] = {
    ast.Add: (ast.Sub, ast.Mult), ast.Sub: (ast.Add,), ast.Mult: (ast.Add, ast.FloorDiv), ast.Div: (ast.Mult, ast.FloorDiv), ast.FloorDiv: (ast.Mod, ast.Mult), ast.Mod: (ast.FloorDiv, ast.Mult),
    ast.BitXor: (ast.BitOr, ast.BitAnd, ast.Add), ast.BitOr: (ast.BitAnd, ast.BitXor), ast.BitAnd: (ast.BitOr, ast.BitXor), ast.LShift: (ast.RShift,), ast.RShift: (ast.LShift,),
}  # fmt: skip
_COMPARISONS = (ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE)


def _changes(node: ast.AST, names: list[str]) -> Iterator[ast.expr]:
    """What may stand in the node's place by mistake."""
    match node:
        case ast.IfExp(test=test, body=body, orelse=orelse):
            yield from (body, orelse, ast.IfExp(test, orelse, body))
        case ast.BinOp(left=left, op=op, right=right):
            yield from (ast.BinOp(left, other(), right) for other in _OTHER_OPERATOR.get(type(op), ()))
            if not isinstance(op, (ast.Add, ast.Mult, ast.BitXor, ast.BitOr, ast.BitAnd)):
                yield ast.BinOp(right, op, left)
            yield from (left, right)
        case ast.Compare(left=left, ops=[op], comparators=comparators):
            yield from (
                ast.Compare(left, [other()], comparators) for other in _COMPARISONS if not isinstance(op, other)
            )
        case ast.BoolOp(op=op, values=values):
            yield ast.BoolOp(ast.Or() if isinstance(op, ast.And) else ast.And(), values)
            for dropped in range(len(values)):
                rest = values[:dropped] + values[dropped + 1 :]
                yield rest[0] if len(rest) == 1 else ast.BoolOp(op, rest)
        case ast.UnaryOp(operand=operand):
            yield operand
        case ast.Call(func=ast.Name(id=("min" | "max") as called), args=args, keywords=keywords):
            yield ast.Call(ast.Name("max" if called == "min" else "min", ast.Load()), args, keywords)
            yield from args
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool) and math.isfinite(value):
            yield from (
                ast.Constant(v) if v >= 0 else ast.UnaryOp(ast.USub(), ast.Constant(-v))
                for v in dict.fromkeys((value + 1, value - 1, 2 * value, value // 2, 0))
                if v != value
            )
        case ast.Name(id=name, ctx=ast.Load()) if name in names:
            yield from (ast.Name(other, ast.Load()) for other in names if other != name)
            yield from (ast.Constant(0), ast.Constant(1))


def _conversions(x: str, ends: tuple[float, float], *, remainder: bool, least: bool) -> Iterator[str]:
    """x, a value within these ends, turned into nearly the same. remainder, least: taking a remainder, or one more than the least, shows."""
    low, high = ends
    if _is_whole(ends):
        yield from (f"({x} + 1)", f"({x} - 1)", f"(2 * {x})")
        if low < 0:
            yield from (f"abs({x})", f"max({x}, 0)")
        yield from (f"min({x}, {cut})" for cut in (low, 255, *_POWERS) if low <= cut < high)
        if least and low + 1 < high:
            yield f"max({x}, {low + 1})"
        yield from (f"({x} % {m})" for m in _POWERS if remainder and m <= high)
        return
    yield from (f"({x} + {d})" for d in (1e-15, 1e-9, 1) if low <= d)  # to larger values it adds next to nothing
    yield from (f"np.{f}({x})" for f in ("float16", "float32", "rint"))
    if low < 1e-9:
        yield f"np.round({x}, 9)"
    if low < 0:
        yield f"np.abs({x})"
    if not (math.isfinite(low) and math.isfinite(high)):
        yield f"np.nan_to_num({x})"
    yield from (f"np.minimum({x}, {c})" for c in (1.0, 255.0, 65504.0, 1e9) if low <= c < high)
    yield from (
        f"np.maximum({x}, {c})" for c in (1e-12, 1e-6, 1.0, -255.0, -65504.0) if low < c < high and (c > 0 or low < 0)
    )


def _pieces(n: str, low: float, high: float) -> Iterator[tuple[str, bool]]:
    """(a condition that holds in one part of n's range, for more than one value?); the parts together are the range, but for a high end
    that only begins one."""
    if _is_whole((low, high)) and high - low < _FEW:
        yield from ((f"{n} == {v}", False) for v in range(low, high + 1))
        return
    if _is_whole((low, high)) and high - low < _FEW * _MANY:
        width = -(-(high - low + 1) // _MANY)
        yield from ((f"{a} <= {n} < {a + width}", True) for a in range(low, high + 1, width))
        yield from ((f"{n} == {v}", False) for v in (low, high))
        return
    if low <= 0 <= high:
        yield f"{n} == 0", False
    steps = _WHOLE_STEPS if _is_whole((low, high)) else _REAL_STEPS
    for a, b in zip(steps, (*steps[1:], math.inf)):
        one, upper = _is_whole((low, high)) and b - a == 1, f" < {b}" if b < math.inf else ""
        for sign, least, most in (("", low, high), ("-", -high, -low)):
            if a < most and b > least:
                yield (
                    (f"{n} == {sign}{a}", False) if one else (f"{a} {'<' if a == 0.0 else '<='} {sign}{n}{upper}", True)
                )
    if _is_whole((low, high)):  # a limit of the machine's, which is why it is a whole number
        yield f"{n} > {high - high // 16}", True
        if low < 0:
            yield f"{n} < {low - low // 16}", True
