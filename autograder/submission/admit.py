"""May this fill run? A syntax allow-list: arithmetic, conditions, loops, calls of known functions. The sandbox is the second wall."""

from __future__ import annotations

import ast
import builtins

from autograder.lesson.rubric import Text
from autograder.submission import names
from autograder.submission.fill import Exercise, bound_names

MAX_NODES = 1500
MAX_DEPTH = 40
MAX_TEXT = 2000
MAX_INT_BITS = 4096
MAX_COMPREHENSIONS = 4

_ALLOWED = (
    ast.Return, ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr, ast.Pass, ast.If, ast.For, ast.While, ast.Break, ast.Continue, ast.Assert,
    ast.Raise, ast.Try, ast.ExceptHandler, ast.With, ast.withitem, ast.FunctionDef, ast.Lambda, ast.arguments, ast.arg, ast.keyword,
    ast.Import, ast.ImportFrom, ast.alias, ast.Delete, ast.Match, ast.match_case, ast.MatchValue, ast.MatchSingleton, ast.MatchSequence, ast.MatchAs,
    ast.MatchOr, ast.MatchStar, ast.MatchClass, ast.BoolOp, ast.NamedExpr, ast.BinOp, ast.UnaryOp, ast.IfExp, ast.Dict, ast.Set, ast.List, ast.Tuple,
    ast.Compare, ast.Call, ast.Constant, ast.Attribute, ast.Subscript, ast.Slice, ast.Starred, ast.Name, ast.JoinedStr, ast.FormattedValue,
    ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.comprehension, ast.expr_context, ast.boolop, ast.operator, ast.unaryop, ast.cmpop,
)  # fmt: skip

_REFUSED = {
    ast.Global: ("global 语句", "a global statement"),
    ast.Nonlocal: ("nonlocal 语句", "a nonlocal statement"),
    ast.ClassDef: ("class 定义", "a class definition"),
    ast.Yield: ("yield", "yield"),
    ast.YieldFrom: ("yield from", "yield from"),
    ast.Await: ("await", "await"),
    ast.MatchMapping: ("带字典的 case", "a case with a mapping"),
}


def refusal(exercise: Exercise, statements: list[ast.stmt]) -> Text | None:
    """The reason why the fill may not run, for the student; None when it may."""
    nodes, depth = _flatten(statements)
    if len(nodes) > MAX_NODES or depth > MAX_DEPTH:
        return Text(
            zh="填空太长或嵌套太深；这里大约只需要一行。",
            en="The blank is too long or nested too deeply; about one line is asked for.",
        )
    if sum(isinstance(n, ast.comprehension) for n in nodes) > MAX_COMPREHENSIONS:
        return Text(zh="填空里的推导式太多。", en="The blank holds too many comprehensions.")
    bound = bound_names(statements)
    if bad := next((n for n in sorted(bound) if _reserved(n)), None):
        return Text(zh=f"填空里不允许使用名字 {bad}。", en=f"The blank may not use the name {bad}.")
    known = _known(exercise, statements)
    for node in nodes:
        found = _look_at(node, known)
        if found is not None:
            zh, en = found
            line = getattr(node, "lineno", None)
            return Text(
                zh=f"填空里不允许使用{zh}。", en=f"The blank may not use {en}." + (f" (line {line})" if line else "")
            )
    return None


def reaches_out(statements: list[ast.stmt]) -> bool:
    """Does a refused fill go for Python itself (names with two underscores, eval, open, getattr)? Else its author may just not have known
    what the blank offers, and what he wrote may be right."""
    for node in _flatten(statements)[0]:
        name = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
        if name.startswith("_") and name.strip("_") or name in _REACHING:
            return True
    return False


_REACHING = frozenset(
    "breakpoint compile delattr eval exec exit getattr globals input locals open quit setattr vars".split()
)


def outside_names(exercise: Exercise, statements: list[ast.stmt]) -> list[str]:
    """Names the fill uses that neither the released cell nor the fill itself defines: they stand elsewhere in the student's notebook."""
    known = _known(exercise, statements)
    used = (n.id for s in statements for n in ast.walk(s) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load))
    return list(dict.fromkeys(n for n in used if n not in known and not hasattr(builtins, n)))


def missing_names(exercise: Exercise, statements: list[ast.stmt]) -> list[str]:
    """Names that the released line with the blank gave a value, that the lines after it read, and that the fill does not give any."""
    block: ast.AST = exercise.tree
    for field_name, index in exercise.path[:-1]:
        block = getattr(block, field_name)[index]
    field_name, index = exercise.path[-1]
    lines = getattr(block, field_name)
    read = {
        n.id for s in lines[index + 1 :] for n in ast.walk(s) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)
    }
    returns = any(isinstance(s, (ast.Return, ast.Raise)) for s in statements)  # then the lines after it are not reached
    return [] if returns else sorted((bound_names([lines[index]]) & read) - bound_names(statements))


def _known(exercise: Exercise, statements: list[ast.stmt]) -> set[str]:
    return bound_names(statements) | set(exercise.parameters) | exercise.module_names | names.OFFERED | names.BUILTINS


def _flatten(statements: list[ast.stmt]) -> tuple[list[ast.AST], int]:
    """All nodes, and the depth of the deepest, without recursion."""
    nodes, deepest = [], 0
    stack: list[tuple[ast.AST, int]] = [(s, 1) for s in statements]
    while stack:
        node, depth = stack.pop()
        nodes.append(node)
        deepest = max(deepest, depth)
        if len(nodes) > MAX_NODES:
            break
        stack += [(child, depth + 1) for child in ast.iter_child_nodes(node)]
    return nodes, deepest


def _look_at(node: ast.AST, known: set[str]) -> tuple[str, str] | None:
    """(zh, en) of what is refused about this node."""
    if not isinstance(node, _ALLOWED):
        return _REFUSED.get(type(node), (type(node).__name__, type(node).__name__))
    match node:
        case ast.Name(id=name) if _reserved(name):
            return f"名字 {name}", f"the name {name}"
        case ast.Name(id=name, ctx=ast.Load()) if name not in known and hasattr(builtins, name):
            return f"{name}()", f"{name}()"
        case ast.Delete(targets=targets) if not all(isinstance(t, ast.Name) for t in targets):
            return "这样的 del 语句", "such a del statement"
        case ast.MatchClass(kwd_attrs=[_, *_]):
            return "查看属性的 case", "a case that looks at attributes"
        case ast.FunctionDef(decorator_list=[_, *_]):
            return "装饰器", "a decorator"
        case ast.Attribute(attr=name, ctx=ast.Load()) if name not in names.ATTRIBUTES:
            return f"属性 .{name}", f"the attribute .{name}"
        case ast.Attribute(attr=name):
            return (
                (f"对属性 .{name} 赋值", f"an assignment to the attribute .{name}")
                if not isinstance(node.ctx, ast.Load)
                else None
            )
        case ast.Import(names=aliases):
            return next(
                (
                    (f"import {a.name}", f"import {a.name}")
                    for a in aliases
                    if a.name not in names.MODULES or _reserved(a.asname or "")
                ),
                None,
            )
        case ast.ImportFrom(module=module, names=aliases, level=level):
            good = (
                not level
                and module in names.MODULES
                and all(a.name in names.ATTRIBUTES and not _reserved(a.asname or "") for a in aliases)
            )
            return None if good else (f"from {module} import", f"from {module} import")
        case ast.Constant(value=str() | bytes() as text) if len(text) > MAX_TEXT:
            return "这么长的字符串", "so long a string"
        case ast.Constant(value=int() as number) if number.bit_length() > MAX_INT_BITS:
            return "这么大的整数", "so large an integer"
        case ast.FormattedValue(format_spec=spec) if spec is not None and not _short(spec):
            return "这样的格式说明", "such a format"
    return None


def _reserved(name: str) -> bool:
    """Python's own names, such as __import__; `for __ in ...` is nobody's."""
    return name.startswith("__") and bool(name.strip("_"))


def _short(spec: ast.AST) -> bool:
    return isinstance(spec, ast.JoinedStr) and all(
        isinstance(v, ast.Constant) and len(str(v.value)) <= 8 for v in spec.values
    )
