"""Which line of CUDA C++ a student wrote in the challenge cell, and may it be compiled?

Read from the notebook's code cells without running them: constant strings, followed through assignments from cell to cell. What cannot be
followed is told to the student, not passed over. What a line may hold is the grammar of kernels.line, which the notebook's own challenge()
asks too.
"""

from __future__ import annotations

import ast
import textwrap
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

from autograder.lesson.model import BLANK
from autograder.lesson.rubric import Text
from autograder.submission.source import NotPython, parse

MAX_TEXT = 4000  # characters of a string that is put together
MAX_LINE = 1000  # characters of a line that are kept: the grammar refuses longer ones
MAX_ITEMS = 20  # of a list that a loop goes over
MAX_NODES = 50_000  # of syntax trees, visited in one notebook
_METHODS = frozenset("strip lstrip rstrip replace removeprefix removesuffix join".split())
_UNKNOWN = object()


@dataclass(frozen=True)
class Handed:
    """line: the student's, "" where there is none. unread: why a line that he handed to challenge() could not be read, else None."""

    line: str = ""
    unread: Text | None = None


def challenge_of(released_source: str) -> str | None:
    """The kernel that a released challenge cell names: challenge("NAME", my_line); None where the cell makes no such call."""
    try:
        body = parse(released_source).body
    except NotPython:
        return None
    calls = (n for s in body for n in ast.walk(s) if _is_challenge(n) and n.args)
    first = next(calls, None)
    return (
        first.args[0].value
        if first is not None and isinstance(first.args[0], ast.Constant) and isinstance(first.args[0].value, str)
        else None
    )


def read_line(sources: Iterable[str], kernel: str) -> str:
    """The student's line in these code cells; "" where there is none, it is still blank, or it cannot be read."""
    return read_challenge(sources, kernel).line


def read_challenge(sources: Iterable[str], kernel: str) -> Handed:
    """What the last call of challenge(kernel, ...) that holds a line hands to it. sources: the notebook's code cells in order. Never raises."""
    sources = list(sources)
    if not any("challenge" in source for source in sources):
        return Handed()
    reader = _Cells(kernel)
    for source in sources:
        try:
            reader.cell(source)
        except NotPython:
            if "challenge" in source:
                reader.cannot("这个单元格不是合法的 Python", "its cell is not valid Python")
        except (_Enough, RecursionError):
            reader.cannot("代码太长", "there is too much code")
            break
    return Handed(reader.line, None if reader.line else reader.unread)


def refusal(kernel: str, line: str) -> Text | None:
    """Why the line may not be compiled, for the student; None when it may."""
    from kernels.compare import challenge_statement  # a class without challenges loads no kernels
    from kernels.line import LineRefused

    try:
        challenge_statement(kernel, line)
    except LineRefused as e:
        return Text(zh=e.zh, en=e.en)
    return None


def tokens(line: str) -> str:
    """An admitted line's tokens, one blank between them: equal for lines that differ only in layout, comments or the spelling of operators."""
    from kernels import line as grammar

    return " ".join(t.text for t in grammar.tokens(grammar.bare(line)))


def _is_challenge(node: ast.AST) -> bool:
    """challenge(...) or kernels.challenge(...)."""
    match node:
        case ast.Call(func=ast.Name(id="challenge")) | ast.Call(func=ast.Attribute(value=ast.Name(), attr="challenge")):
            return True
    return False


class _Enough(Exception):
    """The notebook is longer than anybody's challenge."""


class _Cells:
    """Goes through a notebook's statements in order, as they run, with the constant values of its names."""

    def __init__(self, kernel: str):
        self.kernel = kernel
        self.values: dict[str, object] = {}
        self.line = ""
        self.unread: Text | None = None
        self.visited = 0
        self.may_call = True  # may the cell at hand call challenge() or assign within an expression?

    def cell(self, source: str) -> None:
        """Raises NotPython, and _Enough. Most cells of a notebook only bind names: their expressions need not be searched for calls."""
        self.may_call = ":=" in source or "challenge" in (
            source if source.isascii() else unicodedata.normalize("NFKC", source)
        )
        self.block(parse(source).body)

    def cannot(self, zh: str, en: str) -> None:
        if self.unread is None:
            self.unread = Text(
                zh=f'挑战的那一行读不出来，没有评判：{zh}。请在一个单元格里写成 my_line = "……"，再写 challenge(…, my_line)。',
                en=f'The challenge line could not be read and was not judged: {en}. Write my_line = "..." in a cell, then challenge(..., my_line).',
            )

    def block(self, body: list[ast.stmt]) -> None:
        for statement in body:
            self.statement(statement)

    def statement(self, node: ast.stmt) -> None:
        match node:
            case ast.Assign(targets=targets, value=value):
                self.calls(value)
                known = self.value(value)
                for target in targets:
                    self.bind(target, known)
            case ast.AnnAssign(target=target, value=value) if value is not None:
                self.calls(value)
                self.bind(target, self.value(value))
            case ast.AugAssign(target=ast.Name(id=name), op=ast.Add(), value=value):
                self.calls(value)
                self.values[name] = _joined(self.values.get(name, _UNKNOWN), self.value(value))
            case ast.If(test=test, body=body, orelse=orelse):
                self.calls(test)
                known = self.value(test)
                if known is _UNKNOWN or known:
                    self.block(body)
                if known is _UNKNOWN or not known:
                    self.block(orelse)
            case ast.For(target=target, iter=over, body=body, orelse=orelse):
                self.calls(over)
                items = self.value(over)
                for item in items[:MAX_ITEMS] if isinstance(items, list) else [_UNKNOWN]:
                    self.bind(target, item)
                    self.block(body)
                self.block(orelse)
            case ast.While(test=test, body=body):
                known = self.value(test)
                if known is _UNKNOWN or known:
                    self.block(body)
            case ast.With(items=items, body=body):
                for item in items:
                    self.calls(item.context_expr)
                    if item.optional_vars is not None:
                        self.bind(item.optional_vars, _UNKNOWN)
                self.block(body)
            case ast.Try(body=body, orelse=orelse, finalbody=finalbody):
                self.block([*body, *orelse, *finalbody])
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                self.values[name] = _UNKNOWN
                if self.may_call and any(_is_challenge(n) for n in self.walk(node)):
                    self.cannot("challenge() 写在函数里", "challenge() stands in a function")
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                self.values.update(dict.fromkeys((a.asname or a.name for a in names), _UNKNOWN))
            case _:
                self.calls(node)

    def walk(self, node: ast.AST) -> Iterable[ast.AST]:
        for found in ast.walk(node):
            self.visited += 1
            if self.visited > MAX_NODES:
                raise _Enough
            yield found

    def calls(self, node: ast.AST) -> None:
        """Take up the calls of challenge() in an expression."""
        for found in list(self.walk(node)) if self.may_call else ():
            if isinstance(found, ast.NamedExpr):
                self.bind(found.target, self.value(found.value))
            if _is_challenge(found):
                self.call(found)

    def call(self, node: ast.Call) -> None:
        named = {k.arg: k.value for k in node.keywords}
        kernel, line = (
            node.args[i] if i < len(node.args) else next((named[n] for n in names if n in named), None)
            for i, names in enumerate((("kernel", "name"), ("line",)))
        )
        if kernel is None or line is None:
            return
        which, text = self.value(kernel), self.value(line)
        if which is not _UNKNOWN and which != self.kernel:
            return
        if which is _UNKNOWN or not isinstance(text, str):
            if self.unread is None:
                what = _shown(kernel if which is _UNKNOWN else line)
                self.cannot(
                    f"{what} 不是不运行代码就看得出的文本", f"{what} is no text that can be seen without running code"
                )
        elif any(c not in "\t\n\r" and (ord(c) < 32 or ord(c) == 127 or 0xD800 <= ord(c) < 0xE000) for c in text):
            self.cannot("它含有控制字符", "it holds control characters")
        elif text.strip() and BLANK not in text:
            self.line = text.strip()[: MAX_LINE + 1]

    def bind(self, target: ast.expr, value: object) -> None:
        match target:
            case ast.Name(id=name):
                self.values[name] = value
            case ast.Tuple(elts=targets) | ast.List(elts=targets):
                values = value if isinstance(value, list) and len(value) == len(targets) else [_UNKNOWN] * len(targets)
                for t, v in zip(targets, values, strict=True):
                    self.bind(t, v)

    def value(self, node: ast.expr, depth: int = 0) -> object:
        """The constant value of an expression: text, number, truth value, None, or a list of such; _UNKNOWN for any other."""
        self.visited += 1
        if depth > 100 or self.visited > MAX_NODES:
            return _UNKNOWN
        of = lambda n: self.value(n, depth + 1)  # noqa: E731
        match node:
            case ast.Constant(value=value):
                return value
            case ast.Name(id=name):
                return self.values.get(name, _UNKNOWN)
            case ast.NamedExpr(value=value):
                return of(value)
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                return _joined(of(left), of(right))
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                known = of(operand)
                return _UNKNOWN if known is _UNKNOWN else not known
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() as number)):
                return -number
            case ast.IfExp(test=test, body=body, orelse=orelse):
                known = of(test)
                return _UNKNOWN if known is _UNKNOWN else of(body if known else orelse)
            case ast.List(elts=items) | ast.Tuple(elts=items) if len(items) <= MAX_ITEMS:
                return [of(i) for i in items]
            case ast.Subscript(value=value, slice=index):
                items, i = of(value), of(index)
                return (
                    items[i]
                    if isinstance(items, (list, str)) and type(i) is int and -len(items) <= i < len(items)
                    else _UNKNOWN
                )
            case ast.JoinedStr(values=parts):
                return _joined("", *(of(p) for p in parts))
            case ast.FormattedValue(value=value, conversion=-1, format_spec=None):
                known = of(value)
                return str(known) if isinstance(known, (str, int)) else _UNKNOWN
            case ast.Call(func=ast.Attribute(value=value, attr=method), args=args, keywords=[]) if method in _METHODS:
                return _method(of(value), method, [of(a) for a in args])
            case ast.Call(
                func=ast.Name(id="dedent") | ast.Attribute(value=ast.Name(id="textwrap"), attr="dedent"),
                args=[value],
                keywords=[],
            ):
                known = of(value)
                return textwrap.dedent(known) if isinstance(known, str) else _UNKNOWN
            case ast.Call(func=ast.Name(id="str"), args=[value], keywords=[]):
                known = of(value)
                return known if isinstance(known, str) else _UNKNOWN
        return _UNKNOWN


def _shown(node: ast.AST) -> str:
    """The student's own text, shortened."""
    try:
        return "".join(c if c.isprintable() else "?" for c in ast.unparse(node)[:60])
    except (ValueError, RecursionError):  # an f-string that cannot be written back
        return "?"


def _joined(*parts: object) -> object:
    if not all(isinstance(p, str) for p in parts) or sum(map(len, parts)) > MAX_TEXT:
        return _UNKNOWN
    return "".join(parts)


def _method(text: object, name: str, args: list) -> object:
    if name == "join" and len(args) == 1 and isinstance(args[0], list) and isinstance(text, str):
        return _joined(*(x for i, a in enumerate(args[0]) for x in ((text, a) if i else (a,))))
    if name == "join" or not isinstance(text, str) or not all(isinstance(a, str) for a in args):
        return _UNKNOWN
    if name == "replace" and (len(args) != 2 or text.count(args[0]) * len(args[1]) > MAX_TEXT):
        return _UNKNOWN
    try:
        return getattr(text, name)(*args)
    except TypeError:
        return _UNKNOWN
