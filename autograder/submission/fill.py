"""The blank: where it stands in the released exercise cell, and what a student wrote there.

Only what stands in the blank is taken: an expression, or statements in place of the one that holds it, with the student's own statements
that stand above it in the same block. It is put into the released cell; whatever else the student changed stays behind and is listed.
"""

from __future__ import annotations

import ast
import copy
from dataclasses import dataclass, field
from functools import cached_property

from autograder.errors import CourseError
from autograder.lesson.model import BLANK
from autograder.lesson.rubric import Text
from autograder.submission.source import NotPython, key, parse, segment, without_docstring

_SIMPLE = (ast.Return, ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr, ast.Assert, ast.Raise, ast.Delete, ast.Pass)


@dataclass(frozen=True)
class Exercise:
    """The released exercise cell. path: how to walk from the module to the statement with the blank: (field, index) pairs."""

    source: str
    tree: ast.Module
    function: str
    path: tuple[tuple[str, int], ...]

    @cached_property
    def parameters(self) -> list[str]:
        """Parameter names of every function around the blank."""
        names, node = [], self.tree
        for field_name, index in self.path:
            node = getattr(node, field_name)[index]
            if isinstance(node, ast.FunctionDef):
                names += [a.arg for a in ast.walk(node.args) if isinstance(a, ast.arg)]
        return names

    @cached_property
    def module_names(self) -> set[str]:
        """Names that the released cell itself defines at its top level."""
        return bound_names(self.tree.body)

    @cached_property
    def asserts(self) -> list[ast.Assert]:
        return [s for s in self.tree.body if isinstance(s, ast.Assert)]


def read_exercise(source: str, function: str) -> Exercise:
    """Analyse the released cell. Raises CourseError where it has not exactly one blank inside `function`."""
    try:
        tree = parse(source)
    except NotPython as e:
        raise CourseError(
            f"The exercise cell is not Python: {e.why.en}", remedy="Mend the page and run `course lint`."
        ) from None
    paths = list(_paths_to_blank(tree, ()))
    around = tree.body[paths[0][0][1]] if paths else None
    if len(paths) != 1 or not isinstance(around, ast.FunctionDef) or around.name != function:
        raise CourseError(
            f"The exercise cell has {len(paths)} blanks; it needs exactly one, inside {function}().",
            remedy="Mend the page and run `course lint`.",
        )
    return Exercise(source, tree, function, paths[0])


def _paths_to_blank(node: ast.AST, path: tuple):
    """Paths of statements that hold the blank and whose sub-statements do not."""
    inner = False
    for name in ("body", "orelse", "finalbody"):
        for i, child in enumerate(getattr(node, name, None) or []):
            if isinstance(child, ast.stmt) and has_blank(child):
                inner = True
                yield from _paths_to_blank(child, (*path, (name, i)))
    if not inner and path:
        yield path


def has_blank(node: ast.AST) -> bool:
    return any(isinstance(n, ast.Name) and n.id == BLANK for n in ast.walk(node))


def bound_names(body: list[ast.stmt]) -> set[str]:
    """Names that these statements bind, in whatever scope."""
    return {name for s in body for n in ast.walk(s) if (name := _binds(n)) is not None}


def _binds(node: ast.AST) -> str | None:
    """The name that this node itself binds."""
    match node:
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
            return name
        case ast.arg(arg=name) | ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return name
        case (
            ast.ExceptHandler(name=name)
            | ast.MatchAs(name=name)
            | ast.MatchStar(name=name)
            | ast.MatchMapping(rest=name)
        ):
            return name
        case ast.alias(name=name, asname=asname):
            return asname or name.split(".")[0]
    return None


@dataclass
class Fill:
    """What a student wrote in the blank. problem: why nothing could be taken ("" when something was): unfilled, deleted,
    no_function, not_python. statements: what stands in place of the statement with the blank. lead: how many released statements right
    before that one they take the place of too, because the student's own stand among those. changed: first lines of released
    statements around the blank that were changed or removed; the released ones are graded. left_out: first lines of his own statements
    that are not graded. repeated: the cell defines the function again with
    something else in it; the last one, which counts when the cell runs, was taken.
    """

    problem: str = ""
    text: str = ""
    statements: list[ast.stmt] = field(default_factory=list)
    lead: int = 0
    left_out: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    repeated: bool = False
    why: Text | None = None

    @property
    def key(self) -> str:
        """Equal for fills that mean the same."""
        return self.problem or "\n".join(key(s) for s in self.statements)


def extract(exercise: Exercise, source: str) -> Fill:
    """What stands in the blank in this student's cell."""
    try:
        tree = parse(source)
    except NotPython as e:
        return Fill(problem="not_python", text=source[:2000], why=e.why)
    fill = Fill()
    theirs, ours = list(tree.body), list(exercise.tree.body)
    for depth, (name, index) in enumerate(exercise.path):
        target = ours[index]
        if depth == len(exercise.path) - 1:
            return _take(exercise, source, ours, index, theirs, fill)
        found = _counterpart(target, theirs)
        if found is None:
            fill.problem = "no_function" if isinstance(target, ast.FunctionDef) else "deleted"
            return fill
        if depth and found in theirs:  # the module's own statements are looked at by integrity.py
            _compare_rest(ours, index, theirs, theirs.index(found), exercise.source, source, fill)
        if isinstance(target, ast.FunctionDef) and any(
            isinstance(s, ast.FunctionDef) and s.name == found.name and key(s) != key(found) for s in theirs
        ):
            fill.repeated = True
        if _header(found) != _header(target):
            fill.changed.append(_first_line(exercise.source, target))
        next_name = exercise.path[depth + 1][0]
        ours, theirs = list(getattr(target, next_name)), list(getattr(found, next_name))
    raise AssertionError("the path ends at a statement")


def _counterpart(target: ast.stmt, theirs: list[ast.stmt]) -> ast.stmt | None:
    """The student's version of a compound statement: the last function of that name (it is the one that counts), else the same header or kind."""
    if isinstance(target, ast.FunctionDef):
        inside = (n for s in reversed(theirs) for n in ast.walk(s))  # one put under `if True:` is still the function
        return next(
            (n for n in (*reversed(theirs), *inside) if isinstance(n, ast.FunctionDef) and n.name == target.name), None
        )
    same = [s for s in theirs if type(s) is type(target)]
    return next((s for s in same if _header(s) == _header(target)), same[0] if len(same) == 1 else None)


def _header(node: ast.stmt) -> str:
    """A compound statement without what is inside it."""
    bare = copy.copy(node)
    for name in ("body", "orelse", "finalbody", "handlers"):
        if hasattr(bare, name):
            setattr(bare, name, [])
    return key(bare)


def _take(
    exercise: Exercise, source: str, ours: list[ast.stmt], index: int, theirs: list[ast.stmt], fill: Fill
) -> Fill:
    """In the block that holds the blank: what is left once the released statements before and after it are taken away."""
    blank = ours[index]
    before, rest = without_docstring(ours[:index]), without_docstring(theirs)
    start, lead = _lead_in(exercise, source, before, rest, fill)
    tail = _match_from_end(ours[index + 1 :], rest[start:], exercise.source, source, fill)
    middle = rest[start : len(rest) - tail]
    if len(lead + middle) > 1 and middle and key(middle[-1]) == key(blank) and _always_leaves((lead + middle)[:-1]):
        middle = middle[:-1]  # the released line left standing below a complete answer: it is never reached
    own = [s for s in lead if s not in before]
    fill.text = (
        "\n".join(segment(source, [s]) for s in own) + ("\n" if own and middle else "") + segment(source, middle)
    )
    if not middle and not own:
        fill.problem = "deleted"
    elif any(has_blank(s) for s in middle):
        fill.problem = "unfilled"
    elif not isinstance(blank, _SIMPLE) and not (len(middle) == 1 and type(middle[0]) is type(blank)):
        fill.problem = "deleted"
    elif not isinstance(blank, _SIMPLE):
        _into_header(exercise, source, blank, middle[0], fill)
    else:
        hole = _expression_at_blank(blank, middle[0]) if len(middle) == 1 and not own else None
        fill.text = segment(source, [hole]) if hole is not None else fill.text
        fill.statements = middle
    if not fill.problem:
        fill.statements, fill.lead = _unannotated(lead + fill.statements), len(lead) - len(own)
    return fill


def _lead_in(
    exercise: Exercise, source: str, released: list[ast.stmt], theirs: list[ast.stmt], fill: Fill
) -> tuple[int, list[ast.stmt]]:
    """Where the released statements before the blank end; and the student's own among them with all released ones that follow. His are
    graded where they stand, unless they give another meaning to a name that the released ones use."""
    changed = len(fill.changed)
    found = _match_in_order(released, theirs, exercise.source, fill)
    start = found[-1] + 1 if found else 0
    if len(fill.changed) > changed:
        return start, []
    taken = set(exercise.parameters) | {n.id for s in released for n in ast.walk(s) if isinstance(n, ast.Name)}
    lead: list[ast.stmt] = []
    for i, statement in enumerate(theirs[:start]):
        if i in found:
            lead += [released[found.index(i)]] if lead else []
        elif _rebinds(statement) & taken:
            fill.left_out.append(_first_line(source, statement))
        else:
            lead.append(statement)
    return start, lead


def _unannotated(block: list[ast.stmt]) -> list[ast.stmt]:
    """These statements without their annotations, which mean nothing to the result and are neither run nor judged."""
    try:
        return [_bare(s) for s in block]
    except RecursionError:  # deeper than what may run
        return block


def _bare(statement: ast.stmt) -> ast.stmt:
    if isinstance(statement, ast.AnnAssign):
        made = ast.Assign([statement.target], statement.value) if statement.value is not None else ast.Pass()
        return ast.copy_location(made, statement)
    new = copy.copy(statement)
    for name in ("body", "orelse", "finalbody", "handlers", "cases"):
        if isinstance(inner := getattr(new, name, None), list):
            setattr(new, name, [_bare(s) for s in inner])
    if isinstance(new, (ast.FunctionDef, ast.AsyncFunctionDef)):
        a = new.args = copy.copy(new.args)
        new.returns = new.type_comment = None
        for name in ("posonlyargs", "args", "kwonlyargs"):
            setattr(a, name, [_bare_arg(x) for x in getattr(a, name)])
        a.vararg, a.kwarg = (x and _bare_arg(x) for x in (a.vararg, a.kwarg))
    return new


def _bare_arg(arg: ast.arg) -> ast.arg:
    return ast.copy_location(ast.arg(arg.arg), arg)


_SCOPES = (
    ast.FunctionDef,
    ast.AsyncFunctionDef,
    ast.ClassDef,
    ast.Lambda,
    ast.ListComp,
    ast.SetComp,
    ast.DictComp,
    ast.GeneratorExp,
)


def _rebinds(statement: ast.stmt) -> set[str]:
    """Names that it binds in the scope where it stands, and names of what it stores into."""
    names = {n.target.id for n in ast.walk(statement) if isinstance(n, ast.NamedExpr)}
    stack: list[ast.AST] = [statement]
    while stack:
        node = stack.pop()
        names |= {_binds(node)} - {None}
        if isinstance(node, (ast.Subscript, ast.Attribute)) and not isinstance(node.ctx, ast.Load):
            names |= {n.id for n in ast.walk(node.value) if isinstance(n, ast.Name)}
        stack += [] if isinstance(node, _SCOPES) else ast.iter_child_nodes(node)
    return names


def _always_leaves(block: list[ast.stmt]) -> bool:
    """Does every way through these statements end in a return or raise?"""
    return any(map(_leaves, block))


def _leaves(statement: ast.stmt) -> bool:
    match statement:
        case ast.Return() | ast.Raise():
            return True
        case ast.If(body=body, orelse=orelse):
            return _always_leaves(body) and _always_leaves(orelse)
        case ast.With(body=body):
            return _always_leaves(body)
        case ast.Try(body=body, handlers=handlers, orelse=orelse, finalbody=final):
            return _always_leaves(final) or (
                _always_leaves([*body, *orelse]) and all(_always_leaves(h.body) for h in handlers)
            )
        case ast.While(test=ast.Constant(value=value), body=body):
            return bool(value) and not any(isinstance(n, ast.Break) for s in body for n in ast.walk(s))
        case ast.Match(cases=cases):
            whole = any(
                isinstance(c.pattern, ast.MatchAs) and c.pattern.pattern is None and c.guard is None for c in cases
            )
            return whole and all(_always_leaves(c.body) for c in cases)
    return False


def _into_header(exercise: Exercise, source: str, blank: ast.stmt, theirs: ast.stmt, fill: Fill) -> Fill:
    """The blank is in a compound statement's header (`if ______:`): the expression is taken, the block below stays the released one."""
    hole = _expression_at_blank(blank, theirs)
    if hole is None:
        fill.problem = "deleted"
        return fill
    statement = copy.deepcopy(blank)
    _Put(hole).visit(statement)
    if key(statement) != key(theirs):
        fill.changed.append(_first_line(exercise.source, blank))
    fill.text, fill.statements = segment(source, [hole]), [statement]
    return fill


class _Put(ast.NodeTransformer):
    def __init__(self, hole: ast.expr):
        self.hole = hole

    def visit_Name(self, node: ast.Name):
        return self.hole if node.id == BLANK else node


def _expression_at_blank(ours: ast.AST, theirs: ast.AST) -> ast.expr | None:
    """Walk both trees at once to where ours has the blank; None where they part before it. Blocks below a header do not matter."""
    if isinstance(ours, ast.Name) and ours.id == BLANK:
        return theirs if isinstance(theirs, ast.expr) else None
    if type(ours) is not type(theirs):
        return None
    for name, mine in ast.iter_fields(ours):
        yours = getattr(theirs, name, None)
        if isinstance(mine, ast.AST) and has_blank(mine):
            return _expression_at_blank(mine, yours) if isinstance(yours, ast.AST) else None
        if isinstance(mine, list):
            for i, item in enumerate(mine):
                if isinstance(item, ast.AST) and not isinstance(item, ast.stmt) and has_blank(item):
                    same = isinstance(yours, list) and len(yours) == len(mine)
                    return _expression_at_blank(item, yours[i]) if same else None
    return None


def _match_in_order(released: list[ast.stmt], theirs: list[ast.stmt], released_source: str, fill: Fill) -> list[int]:
    """Find the released statements in order. Returns where they are in theirs."""
    found: list[int] = []
    for statement in released:
        wanted = key(statement)
        at = next((i for i in range(found[-1] + 1 if found else 0, len(theirs)) if key(theirs[i]) == wanted), None)
        if at is None:
            fill.changed.append(_first_line(released_source, statement))
        else:
            found.append(at)
    return found


def _match_from_end(
    released: list[ast.stmt], theirs: list[ast.stmt], released_source: str, source: str, fill: Fill
) -> int:
    """The same from the end. Returns how many of theirs they take up with what was added among them, which is left out."""
    changed = len(fill.changed)
    turned = _match_in_order(released[::-1], theirs[::-1], released_source, fill)
    taken = turned[-1] + 1 if turned else 0
    if len(fill.changed) == changed:
        fill.left_out += [_first_line(source, s) for i, s in enumerate(theirs[::-1][:taken]) if i not in turned]
    return taken


def _compare_rest(
    ours: list[ast.stmt], index: int, theirs: list[ast.stmt], found: int, released_source: str, source: str, fill: Fill
) -> None:
    """Around a compound statement with the blank deeper inside: the released neighbours must still be there."""
    for released, added in (
        (without_docstring(ours[:index]), without_docstring(theirs[:found])),
        (ours[index + 1 :], theirs[found + 1 :]),
    ):
        changed = len(fill.changed)
        same = _match_in_order(released, added, released_source, fill)
        if len(fill.changed) == changed:
            fill.left_out += [_first_line(source, s) for i, s in enumerate(added) if i not in same]


def _first_line(source: str, node: ast.stmt) -> str:
    return segment(source, [node]).split("\n")[0].strip()[:200]


def program(exercise: Exercise, fill: Fill) -> ast.Module:
    """The released cell with the fill in it, its asserts left out: what runs in the sandbox."""
    tree = _with(exercise.tree, exercise.path, fill.statements, fill.lead)
    tree.body = [s for s in tree.body if not isinstance(s, ast.Assert)]
    return tree


def _with(node: ast.AST, path: tuple[tuple[str, int], ...], statements: list[ast.stmt], lead: int) -> ast.AST:
    """The tree with the statement at `path`, and the `lead` ones before it, replaced; the released tree itself stays as it is."""
    (name, index), *rest = path
    block = list(getattr(node, name))
    first = index if rest else index - lead
    block[first : index + 1] = [_with(block[index], tuple(rest), statements, lead)] if rest else statements
    new = copy.copy(node)
    setattr(new, name, block)
    return new
