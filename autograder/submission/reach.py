"""What a cell surely runs when it is run, and in one wording for what means the same. Nothing here runs it.

`runs` goes through the statements as Python would: into `if __name__ == "__main__":`, into a function that is called, past what only
may run. A condition that an assert holds is told by its meaning: nan in any spelling, arguments by name or by place, `a == b` and
`b == a`, a name and what was just assigned to it are the same.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from autograder.submission.source import key, without_docstring

MAX_DEPTH = 8  # of calls
_STOPS = {"exit", "quit", "sys.exit", "os._exit", "os.abort"}
_QUIET = {
    "errstate",
    "printoptions",
    "catch_warnings",
    "redirect_stdout",
    "redirect_stderr",
    "nullcontext",
}  # contexts that change no outcome
_TESTING = {
    f"{module}.testing.{name}" for module in ("np", "numpy") for name in ("assert_equal", "assert_array_equal")
}  # as exact as ==
_NUMBERS = {"nan": "nan", "inf": "inf", "infty": "inf"}
_MODULES = {"np", "numpy", "math"}

Signatures = dict[str, ast.arguments]


@dataclass(frozen=True)
class Held:
    """A condition that an assert holds. known: its meanings, with names as written and with what was assigned to them put in."""

    test: ast.expr
    known: frozenset[str]


@dataclass
class Runs:
    """In order: held, the conditions that asserts hold; called and calls, the calls that are made and their meanings; maybe, statements
    that may run or not."""

    held: list[Held] = field(default_factory=list)
    called: list[ast.Call] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)
    maybe: list[ast.stmt] = field(default_factory=list)


def runs(body: list[ast.stmt], signatures: Signatures) -> Runs:
    """Of a cell's top-level statements. signatures: parameters of functions whose calls are compared."""
    walk = _Walk(signatures)
    walk.block(body, 0)
    return walk.out


def conditions(test: ast.expr) -> Iterator[ast.expr]:
    """What an assert of `test` holds, one by one: the parts of `a and b`, of `all([a, b])`."""
    match test:
        case ast.BoolOp(op=ast.And(), values=values):
            for value in values:
                yield from conditions(value)
        case ast.Call(func=ast.Name(id="all"), args=[ast.List(elts=items) | ast.Tuple(elts=items)], keywords=[]) if (
            items and not any(isinstance(i, ast.Starred) for i in items)
        ):
            for item in items:
                yield from conditions(item)
        case _:
            yield test


def meaning(node: object, signatures: Signatures, env: dict[str, str] | None = None) -> str:
    """A text equal for expressions that mean the same. env: meanings of names to be put in their places."""
    tell = lambda x: meaning(x, signatures, env)  # noqa: E731
    match node:
        case ast.Name(id=name) if env and name in env:
            return env[name]
        case ast.Attribute(value=ast.Name(id=module), attr=name) if module in _MODULES and name.lower() in _NUMBERS:
            return _NUMBERS[name.lower()]
        case ast.Attribute(value=ast.Name(id="math"), attr=name):
            return tell(ast.Name(name, ast.Load()))
        case ast.Call(func=ast.Name(id="float"), args=[ast.Constant(value=str() as text)], keywords=[]):
            try:
                return repr(float(text))
            except ValueError:
                return key(node)
        case ast.Call(func=ast.Name(id=name)) if name in signatures:
            bound = _bound(node, signatures[name])
            if bound is not None:
                return f"{name}({','.join(map(tell, bound))})"
        case ast.Compare(left=left, ops=[ast.Eq()], comparators=[right]):
            return f"Eq({','.join(sorted((tell(left), tell(right))))})"
        case ast.Constant() | ast.expr_context():
            return key(node)
    if isinstance(node, ast.AST):
        return f"{type(node).__name__}({','.join(tell(getattr(node, f, None)) for f in node._fields)})"
    return f"[{','.join(map(tell, node))}]" if isinstance(node, list) else repr(node)


def _bound(call: ast.Call, arguments: ast.arguments) -> list[ast.expr] | None:
    """The arguments in the order of the parameters, defaults put in; None where they are not told by looking."""
    if (
        arguments.vararg
        or arguments.kwarg
        or arguments.kwonlyargs
        or any(isinstance(a, ast.Starred) for a in call.args)
        or any(k.arg is None for k in call.keywords)
    ):
        return None
    names = [a.arg for a in (*arguments.posonlyargs, *arguments.args)]
    given = dict(zip(names[len(names) - len(arguments.defaults) :], arguments.defaults, strict=True))
    given |= dict(zip(names, call.args))
    named = {k.arg: k.value for k in call.keywords}
    if (
        len(call.args) > len(names)
        or len(named) != len(call.keywords)
        or named.keys() & set(names[: len(call.args)])
        or not named.keys() <= set(names)
    ):
        return None
    given |= named
    return [given[n] for n in names] if len(given) == len(names) else None


def sure_calls(node: object) -> Iterator[ast.Call]:
    """Calls made whenever this expression or simple statement is evaluated."""
    match node:
        case ast.Lambda() | ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            return
        case ast.BoolOp(values=[first, *_]) | ast.IfExp(test=first) | ast.Assert(test=first):
            yield from sure_calls(first)
        case ast.Compare(left=left, comparators=[second, *_]):
            yield from sure_calls(left)
            yield from sure_calls(second)
        case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            yield from sure_calls(node.generators[0].iter)
        case ast.AST():
            for child in ast.iter_child_nodes(node):
                yield from sure_calls(child)
            if isinstance(node, ast.Call):
                yield node


def dotted(node: ast.expr) -> str:
    """ "np.testing.assert_equal" of such an expression, "" of any other."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=value, attr=name) if inner := dotted(value):
            return f"{inner}.{name}"
    return ""


class _Walk:
    def __init__(self, signatures: Signatures):
        self.signatures, self.out = signatures, Runs()
        self.functions: dict[str, ast.FunctionDef] = {}
        self.env: dict[str, str] = {}

    def block(self, body: list[ast.stmt], depth: int) -> str:
        """Go through a block; "" where it runs to its end, "return" or "stop" where nothing after that statement runs."""
        for statement in body:
            ended = self._statement(statement, depth)
            if ended:
                return ended
        return ""

    def _statement(self, statement: ast.stmt, depth: int) -> str:
        match statement:
            case ast.FunctionDef(name=name):
                self.functions[name] = statement
                self.env.pop(name, None)
            case ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                self.functions.pop(name, None)
                self.env.pop(name, None)
            case ast.If(test=test, body=body, orelse=orelse):
                truth = _truth(test)
                if truth is not None:
                    return self.block(body if truth else orelse, depth)
                self._maybe(statement)
            case ast.With(items=items, body=body) if all(
                isinstance(i.context_expr, ast.Call) and dotted(i.context_expr.func).split(".")[-1] in _QUIET
                for i in items
            ):
                return self.block(body, depth)
            case ast.Try(body=body, handlers=handlers, orelse=orelse, finalbody=final) if all(
                isinstance(h.body[-1], ast.Raise) for h in handlers
            ) and not _leaves(final):
                return self.block([*body, *orelse, *final], depth)
            case ast.While(test=test, orelse=orelse) if _truth(test) is False:
                return self.block(orelse, depth)
            case ast.For(iter=items, orelse=orelse) if _truth(items) is False:
                return self.block(orelse, depth)
            case ast.Return(value=value):
                self._simple(statement, value, depth)
                return "return"
            case (
                ast.With()
                | ast.Try()
                | ast.TryStar()
                | ast.For()
                | ast.While()
                | ast.Match()
                | ast.AsyncFor()
                | ast.AsyncWith()
            ):
                self._maybe(statement)
            case ast.Assert(test=test):
                return self._simple(statement, test, depth) or self._assert(test)
            case _:
                return self._simple(statement, statement, depth) or ("stop" if _stops(statement) else "")
        return ""

    def _maybe(self, statement: ast.stmt) -> None:
        self.out.maybe.append(statement)
        for name in _changed_names(statement):
            self.env.pop(name, None)

    def _assert(self, test: ast.expr) -> str:
        for condition in conditions(test):
            self._holds(condition)
        return "stop" if isinstance(test, ast.Constant) and not test.value else ""

    def _holds(self, condition: ast.expr) -> None:
        self.out.held.append(
            Held(
                condition,
                frozenset((meaning(condition, self.signatures), meaning(condition, self.signatures, self.env))),
            )
        )

    def _simple(self, statement: ast.stmt, evaluated: object, depth: int) -> str:
        for call in sure_calls(evaluated):
            self.out.called.append(call)
            self.out.calls.append(meaning(call, self.signatures))
            name = dotted(call.func)
            if name in _TESTING and len(call.args) == 2:
                self._holds(ast.Compare(call.args[0], [ast.Eq()], [call.args[1]]))
            function = self.functions.get(name)
            if (
                function is not None
                and depth < MAX_DEPTH
                and _is_plain(function)
                and not call.args
                and not call.keywords
                and self._called(function, depth) == "stop"
            ):
                return "stop"
        for name in _changed_names(statement):
            self.env.pop(name, None)
        match statement:
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=value)
                | ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value)
            ):
                self.env[name] = meaning(value, self.signatures, self.env)
        return ""

    def _called(self, function: ast.FunctionDef, depth: int) -> str:
        outside = self.env, self.functions
        parameters = {n.arg for n in ast.walk(function.args) if isinstance(n, ast.arg)}
        self.env, self.functions = {n: m for n, m in self.env.items() if n not in parameters}, dict(self.functions)
        ended = self.block(without_docstring(function.body), depth + 1)
        self.env, self.functions = outside
        return ended


def _changed_names(statement: ast.stmt) -> Iterator[str]:
    """Names that hold something else after this statement, as far as it shows."""
    for node in ast.walk(statement):
        match node:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                yield name
            case ast.alias(name=name, asname=asname):
                yield asname or name.split(".")[0]
            case (
                ast.Attribute(ctx=ast.Store() | ast.Del())
                | ast.Subscript(ctx=ast.Store() | ast.Del())
                | ast.Call(func=ast.Attribute())
            ):
                base = node.func if isinstance(node, ast.Call) else node
                while isinstance(base, (ast.Attribute, ast.Subscript)):
                    base = base.value
                if isinstance(base, ast.Name):
                    yield base.id


def _leaves(final: list[ast.stmt]) -> bool:
    """Does a `finally` swallow what was raised?"""
    return any(isinstance(n, (ast.Return, ast.Break, ast.Continue)) for s in final for n in ast.walk(s))


def _is_plain(function: ast.FunctionDef) -> bool:
    """Does calling it with no argument run its body then and there?"""
    a = function.args
    needs = len(a.posonlyargs) + len(a.args) - len(a.defaults) + sum(d is None for d in a.kw_defaults)
    return (
        not function.decorator_list
        and not needs
        and not any(isinstance(n, (ast.Yield, ast.YieldFrom, ast.Global)) for n in ast.walk(function))
    )


def _truth(test: ast.expr) -> bool | None:
    """Is this true or false wherever the cell runs? None where it depends."""
    match test:
        case ast.Constant(value=value):
            return bool(value)
        case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items) | ast.Dict(keys=items):
            return bool(items)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            truth = _truth(operand)
            return None if truth is None else not truth
        case ast.BoolOp(op=op, values=values):
            truths, decides = [_truth(v) for v in values], isinstance(op, ast.Or)
            return decides if decides in truths else None if None in truths else not decides
        case ast.Compare(left=ast.Constant(value=a), ops=[ast.Eq() | ast.Is()], comparators=[ast.Constant(value=b)]):
            return a == b
        case ast.Compare(left=a, ops=[ast.Eq()], comparators=[b]) if {dotted(a), dotted(b)} == {"__name__", ""}:
            return True if any(isinstance(x, ast.Constant) and x.value == "__main__" for x in (a, b)) else None
    return None


def _stops(statement: ast.stmt) -> bool:
    """Does nothing after this statement run?"""
    match statement:
        case ast.Raise():
            return True
        case ast.Expr(value=ast.Call(func=func)):
            return dotted(func) in _STOPS
    return False


def constants(nodes: Iterable[ast.AST]) -> frozenset[str]:
    """Meanings of the literals below these nodes; nan in any spelling is one."""
    found = set()
    for node in (n for top in nodes for n in ast.walk(top)):
        if (
            isinstance(node, ast.Constant)
            or isinstance(node, (ast.Attribute, ast.Call))
            and meaning(node, {}) in ("nan", "inf")
        ):
            found.add(meaning(node, {}))
    return frozenset(found)
