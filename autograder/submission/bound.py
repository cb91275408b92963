"""What a code cell's statements bind at the notebook's top level, each name with its meaning in one wording. Nothing here runs it.

A meaning is told as far as reading tells: an import or a dotted name by its path, a function by what it returns for its parameters
(its own variables' names, annotations, prints and docstring left out), a value by its expression. Two texts that differ need not mean
different things; two that are equal mean the same.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from autograder.submission.fill import _binds as name_of
from autograder.submission.reach import Signatures, dotted, meaning
from autograder.submission.source import MAX_REMEMBERED, NotPython, as_run, key, parse, without_docstring

UNKNOWN = "?"
BY_METHOD = "? by its method"  # of a module or function that is no change
PATH = "path "  # an absolute one: what was imported
NAME = "name "  # a dotted one, whose first name is to be looked up
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
_MUTATORS = frozenset(
    "fill sort put itemset resize partition setflags append extend insert pop clear remove reverse update __setitem__ __iadd__ __imul__".split()
)
_FILLERS = frozenset("put copyto place putmask fill_diagonal shuffle".split())
_ARRAYS = {f"{module}.{name}" for module in ("np", "numpy") for name in ("array", "asarray", "asanyarray")}


@dataclass(frozen=True)
class Bind:
    """at: the top-level statement it is in. sure: it is made whenever the cell is run. blind: a function that looks at none of its
    arguments. defines: a function definition. decorators: of a function, dotted, "?" where one is no name."""

    name: str
    means: str
    line: str
    at: int
    sure: bool = True
    blind: bool = False
    defines: bool = False
    decorators: tuple[str, ...] = ()


@dataclass(frozen=True)
class Cell:
    """binds: in order. reads: of each top-level statement the names it reads. checks: the statements that hold or call asserts.
    chains: dotted names, as np.ceil, that it reads."""

    binds: tuple[Bind, ...] = ()
    reads: tuple[frozenset[str], ...] = ()
    checks: tuple[int, ...] = ()
    chains: frozenset[str] = frozenset()


def cell_of(source: str, function: str, signatures: Signatures, wanted: frozenset[str]) -> Cell | None:
    """None where it is not Python. function: the exercise's, whose inside is the blank's. wanted: names whose values are told; others' only
    where they are a path."""
    frozen = tuple(sorted(signatures.items()))
    return (
        _remembered(source, function, frozen, wanted)
        if len(source) <= MAX_REMEMBERED
        else _read(source, function, frozen, wanted)
    )


@lru_cache(maxsize=512)  # most cells of a class are the released ones
def _remembered(source: str, function: str, signatures: tuple, wanted: frozenset[str]) -> Cell | None:
    return _read(source, function, signatures, wanted)


def _read(source: str, function: str, signatures: tuple, wanted: frozenset[str]) -> Cell | None:
    try:
        return _Reader(source, function, dict(signatures), wanted).cell(parse(source).body)
    except (NotPython, RecursionError):
        return None


class _Reader:
    def __init__(self, source: str, function: str, signatures: Signatures, wanted: frozenset[str]):
        self.lines = as_run(source).split("\n")
        self.function, self.signatures, self.wanted = function, signatures, wanted

    def cell(self, body: list[ast.stmt]) -> Cell:
        testers = {s.name for s in body if isinstance(s, ast.FunctionDef) and _asserts(s)}
        checks = tuple(
            i
            for i, s in enumerate(body)
            if _asserts(s) or testers & {dotted(n.func) for n in ast.walk(s) if isinstance(n, ast.Call)} or _testing(s)
        )
        binds = tuple(b for i, s in enumerate(body) for b in self.statement(s, i, True))
        reads = tuple(
            frozenset(n.id for n in ast.walk(s) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load))
            for s in body
        )
        return Cell(
            binds,
            reads,
            checks,
            frozenset(filter(None, (dotted(n) for s in body for n in ast.walk(s) if isinstance(n, ast.Attribute)))),
        )

    def statement(self, node: ast.stmt, at: int, sure: bool) -> Iterator[Bind]:
        """Binds of a statement and of those inside it that belong to the same scope."""
        bind = lambda name, means=UNKNOWN, **more: Bind(
            name, means, self.lines[node.lineno - 1].strip()[:200], at, sure, **more
        )  # noqa: E731
        match node:
            case ast.Import(names=names):
                yield from (
                    bind(a.asname or a.name.split(".")[0], PATH + (a.name if a.asname else a.name.split(".")[0]))
                    for a in names
                )
            case ast.ImportFrom(module=module, names=names, level=level):
                yield from (bind(a.asname or a.name, f"{PATH}{'.' * level}{module or ''}.{a.name}") for a in names)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                decorators = tuple(
                    dotted(d.func if isinstance(d, ast.Call) else d) or UNKNOWN for d in node.decorator_list
                )
                plain = isinstance(node, ast.FunctionDef)
                yield bind(
                    name,
                    _function(node.args, node.body, self.signatures) if plain and name in self.wanted else UNKNOWN,
                    blind=plain and _blind(node),
                    defines=plain,
                    decorators=decorators,
                )
                if name != self.function and _asserts(node):  # what its asserts mean is told by its own names
                    inner = [n for s in (node.args, *node.body) for n in ast.walk(s)]
                    stored = {n for x in inner if (n := name_of(x)) is not None}
                    told = [b for s in node.body for b in self.statement(s, at, False)]
                    yield from told
                    yield from (bind(n) for n in sorted(stored - {b.name for b in told}))
            case ast.ClassDef(name=name):
                yield bind(name)
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    yield from self.assigned(target, value, bind)
            case ast.AnnAssign(target=target, value=value) if value is not None:
                yield from self.assigned(target, value, bind)
            case ast.AugAssign(target=target) | ast.For(target=target) | ast.AsyncFor(target=target):
                yield from (bind(n) for n in _stored(target))
            case ast.Delete(targets=targets):
                yield from (bind(n) for t in targets for n in _stored(t))
            case ast.With(items=items) | ast.AsyncWith(items=items):
                yield from (bind(n) for i in items if i.optional_vars for n in _stored(i.optional_vars))
            case ast.Match(cases=cases):
                yield from (bind(n) for c in cases for x in ast.walk(c.pattern) if (n := name_of(x)) is not None)
            case ast.Try(handlers=handlers) | ast.TryStar(handlers=handlers):
                yield from (bind(h.name) for h in handlers if h.name)
            case ast.Expr(
                value=ast.Call(func=func, args=args, keywords=keywords)
            ):  # values.fill(0), np.put(values, 0, 1), np.add(a, b, out=values)
                own = [func.value] if isinstance(func, ast.Attribute) and func.attr in _MUTATORS else []
                own += args[:1] if dotted(func).split(".")[-1] in _FILLERS else []
                own += [k.value for k in keywords if k.arg == "out"]
                yield from (bind(n.id, BY_METHOD) for n in own if isinstance(n, ast.Name))
        for walrus in _walruses(node):
            yield from self.assigned(walrus.target, walrus.value, bind)
        if not isinstance(node, _SCOPES):
            whole = sure and isinstance(node, (ast.With, ast.AsyncWith))
            for inner in _blocks(node):
                yield from self.statement(inner, at, whole)

    def assigned(self, target: ast.expr, value: ast.expr, bind) -> Iterator[Bind]:
        match target, value:
            case (ast.Name(id=name), ast.Lambda(args=args, body=body)) if name in self.wanted:
                yield bind(name, _function(args, [ast.Return(body)], self.signatures), blind=_blind(value))
            case (ast.Name(id=name), _):
                path = dotted(value)
                yield bind(
                    name, NAME + path if path else _text(value, self.signatures) if name in self.wanted else UNKNOWN
                )
            case (ast.Tuple(elts=left) | ast.List(elts=left), ast.Tuple(elts=right) | ast.List(elts=right)) if len(
                left
            ) == len(right) and not any(isinstance(x, ast.Starred) for x in (*left, *right)):
                for one, its in zip(left, right):
                    yield from self.assigned(one, its, bind)
            case _:
                yield from (bind(n) for n in _stored(target))


def _stored(target: ast.expr) -> list[str]:
    """Names that a target binds, and the name of what it stores into (values[0] = 1). An attribute is looked at in tamper.py."""
    out = []
    for node in ast.walk(target):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            out.append(node.id)
        elif (
            isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and not isinstance(node.ctx, ast.Load)
        ):
            out.append(node.value.id)
    return out


def _blocks(node: ast.stmt) -> Iterator[ast.stmt]:
    for name in ("body", "orelse", "finalbody"):
        yield from getattr(node, name, None) or []
    for part in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
        yield from part.body


def _walruses(node: ast.stmt) -> Iterator[ast.NamedExpr]:
    """Of the statement's own expressions; one in a comprehension binds outside it."""
    stack = [c for c in ast.iter_child_nodes(node) if not isinstance(c, (ast.stmt, ast.ExceptHandler, ast.match_case))]
    while stack:
        inner = stack.pop()
        if isinstance(inner, ast.NamedExpr):
            yield inner
        stack += [] if isinstance(inner, _SCOPES) else ast.iter_child_nodes(inner)


def _asserts(node: ast.stmt) -> bool:
    return any(isinstance(n, ast.Assert) for n in ast.walk(node))


def _testing(node: ast.stmt) -> bool:
    return any(isinstance(n, ast.Call) and dotted(n.func).split(".")[-1].startswith("assert_") for n in ast.walk(node))


def _blind(node: ast.FunctionDef | ast.Lambda) -> bool:
    """Has it parameters, and reads none?"""
    a = node.args
    names = {x.arg for x in (*a.posonlyargs, *a.args, *a.kwonlyargs, a.vararg, a.kwarg) if x is not None}
    body = node.body if isinstance(node.body, list) else [node.body]
    return bool(names) and not any(
        isinstance(n, ast.Name) and n.id in (*names, "locals", "vars") and isinstance(n.ctx, ast.Load)
        for s in body
        for n in ast.walk(s)
    )


# -- one wording -----------------------------------------------------------------------------------------------------------------


class _Plain(ast.NodeTransformer):
    """`b >= a` as `a <= b`, sums of numbers as the number, arrays of a tuple as arrays of a list."""

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        self.generic_visit(node)
        turned = {ast.Gt: ast.Lt, ast.GtE: ast.LtE}
        if len(node.ops) == 1 and type(node.ops[0]) in turned:
            return ast.Compare(node.comparators[0], [turned[type(node.ops[0])]()], [node.left])
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        match node:
            case ast.BinOp(
                left=ast.Constant(value=int() | float() as a),
                right=ast.Constant(value=int() | float() as b),
                op=ast.Add() | ast.Sub() | ast.Mult() | ast.Div() | ast.FloorDiv() as op,
            ):
                try:
                    return ast.Constant(
                        {
                            ast.Add: lambda: a + b,
                            ast.Sub: lambda: a - b,
                            ast.Mult: lambda: a * b,
                            ast.Div: lambda: a / b,
                            ast.FloorDiv: lambda: a // b,
                        }[type(op)]()
                    )
                except (ArithmeticError, ValueError):
                    return node
            case ast.BinOp(left=ast.Constant(value=int() as a), op=ast.Pow(), right=ast.Constant(value=int() as b)) if (
                abs(a) <= 2 and 0 <= b <= 64
            ):
                return ast.Constant(a**b)
        return node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        if dotted(node.func) in _ARRAYS and len(node.args) == 1:
            first = ast.List(node.args[0].elts, ast.Load()) if isinstance(node.args[0], ast.Tuple) else node.args[0]
            kept = [
                k
                for k in node.keywords
                if not (k.arg == "dtype" and dotted(k.value) in ("float", "np.float64", "numpy.float64"))
            ]
            return ast.Call(ast.Name("array", ast.Load()), [first], kept)
        return node


def _text(value: ast.expr, signatures: Signatures, env: dict[str, str] | None = None) -> str:
    return meaning(_Plain().visit(copy.deepcopy(value)), signatures, env)


def _function(args: ast.arguments, body: list[ast.stmt], signatures: Signatures) -> str:
    """What it returns for its parameters where it is assignments and a return; else its statements with its own names numbered."""
    body = [
        s
        for s in without_docstring(body)
        if not isinstance(s, ast.Pass)
        and not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Call) and dotted(s.value.func) == "print")
    ]
    head = f"def({key(args)})"
    env: dict[str, str] = {}
    for statement in body:
        match statement:
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=value)
                | ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value)
            ):
                env[name] = _text(value, signatures, env)
            case ast.Return(value=ast.expr() as value):
                return f"{head}{_text(value, signatures, env)}"
            case _:
                break
    parameters = {a.arg for a in ast.walk(args) if isinstance(a, ast.arg)}
    own: dict[str, str] = {}
    for node in (n for s in body for n in ast.walk(s)):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id not in parameters:
            own.setdefault(node.id, f"own{len(own)}")
    return f"{head}{meaning([_Plain().visit(copy.deepcopy(s)) for s in body], signatures, own)}"
