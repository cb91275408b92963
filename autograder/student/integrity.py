"""What is missing from a student's notebook, and what was changed outside the blanks. Compared as syntax trees with the released cells."""

from __future__ import annotations

import ast

from autograder.student.data import StudentLesson
from autograder.student.reading import ANSWERS, Found
from autograder.student.show import Item
from autograder.student.visible import BLANK
from autograder.student.words import say


def missing_items(found: Found, lang: str) -> list[Item]:
    """Parts whose cell is gone or stands there twice."""
    items = []
    for part, cells in found.cells.items():
        name = say(lang, f"name_{part}")
        if not cells:
            items.append(Item("bad", say(lang, "part_missing", part=name), "missing"))
        elif len(cells) > 1:
            items.append(Item("bad", say(lang, "part_doubled", part=name, n=len(cells)), "doubled"))
    return items


def integrity_items(lesson: StudentLesson, found: Found, lang: str) -> list[Item]:
    """What was changed outside the blanks, by comparison of syntax trees with the released cells."""
    items = []
    for part, cells in found.cells.items():
        released = lesson.part(part, found.lang)
        if not cells or part in ANSWERS:
            continue
        source = cells[0].source
        if released.locked:
            if source.strip() != released.source.strip():
                items.append(Item("bad", say(lang, "edited_locked", part=say(lang, f"name_{part}")), "edited"))
        elif part == "exercise":
            items += _exercise_items(source, released.source, lang)
        elif part == "boundary_case" and not _same_frame(source, released.source):
            items.append(Item("bad", say(lang, "boundary_edited"), "edited"))
        elif part == "boundary_case" and not _literals_only(source):
            items.append(Item("bad", say(lang, "case_not_literal"), "own_case"))
    return items or [Item("ok", say(lang, "intact"), "intact")]


def _exercise_items(source: str, released: str, lang: str) -> list[Item]:
    try:
        mine = ast.parse(source)
    except SyntaxError:
        return []  # running the cell says so
    items = []
    kept = [ast.dump(s) for s in mine.body]
    for check in (s for s in ast.parse(released).body if isinstance(s, ast.Assert)):
        if ast.dump(check) not in kept:
            items.append(Item("bad", say(lang, "assert_removed", check=ast.unparse(check.test)), "assert"))
    if lines := _changed_lines(mine, ast.parse(released)):
        items.append(Item("bad", say(lang, "edited_outside", lines=", ".join(map(str, lines))), "edited"))
    return items


def _changed_lines(mine: ast.Module, released: ast.Module) -> list[int]:
    """Lines of top-level and function-level statements that are neither released ones nor in the place of the blank."""
    lines = _extra(mine.body, released.body)
    functions = {s.name: s for s in mine.body if isinstance(s, ast.FunctionDef)}
    for function in (s for s in released.body if isinstance(s, ast.FunctionDef)):
        if function.name in functions and _has_blank(function):
            given = functions[function.name]
            if ast.dump(given.args) != ast.dump(function.args) or [ast.dump(d) for d in given.decorator_list] != [ast.dump(d) for d in function.decorator_list]:
                lines.append(given.lineno)
            # Statements before and after the one with the blank must still be there; what stands between is the fill.
            at = next(i for i, s in enumerate(function.body) if _has_blank(s))
            head, tail = function.body[:at], function.body[at + 1 :]
            body = given.body
            if [_dump(s) for s in body[: len(head)]] != [_dump(s) for s in head]:
                lines.append(body[0].lineno)
            if tail and [_dump(s) for s in body[-len(tail) :]] != [_dump(s) for s in tail]:
                lines.append(body[-1].lineno)
    return sorted(set(lines))


def _extra(mine: list[ast.stmt], released: list[ast.stmt]) -> list[int]:
    known = [_dump(s) for s in released]
    names = {s.name for s in released if isinstance(s, ast.FunctionDef) and _has_blank(s)}
    # A changed assert is reported by itself, so only other statements count here.
    return [s.lineno for s in mine if _dump(s) not in known and not (isinstance(s, ast.FunctionDef) and s.name in names) and not isinstance(s, ast.Assert)]


def _dump(node: ast.stmt) -> str:
    """A docstring may be reworded: it is no part of the program."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
        return "docstring"
    return ast.dump(node)


def _has_blank(node: ast.AST) -> bool:
    return any(isinstance(n, ast.Name) and n.id == BLANK for n in ast.walk(node))


def _same_frame(source: str, released: str) -> bool:
    """Are the boundary cell's statements still there, whatever stands in the blanks?"""
    try:
        mine = [s for s in ast.parse(source).body]
    except SyntaxError:
        return False
    targets = {t.id for s in mine if isinstance(s, ast.Assign) for t in s.targets if isinstance(t, ast.Name)}
    wanted = {t.id for s in ast.parse(released).body if isinstance(s, ast.Assign) for t in s.targets if isinstance(t, ast.Name)}
    rest = [ast.dump(s) for s in ast.parse(released).body if not isinstance(s, ast.Assign)]
    return wanted <= targets and all(r in [ast.dump(s) for s in mine] for r in rest)


def _literals_only(source: str) -> bool:
    """Are my_case and my_prediction written with plain values? The grader reads them and runs nothing of that cell."""
    values = [s.value for s in ast.parse(source).body if isinstance(s, ast.Assign) and any(isinstance(t, ast.Name) and t.id in ("my_case", "my_prediction") for t in s.targets)]
    return all(_is_literal(v) for v in values)


def _is_literal(node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        root = node.func
        while isinstance(root, ast.Attribute):
            root = root.value
        known = isinstance(root, ast.Name) and (root.id in ("np", "numpy") if isinstance(node.func, ast.Attribute) else root.id in ("dict", "float", "int"))
        return known and all(map(_is_literal, node.args)) and all(_is_literal(k.value) for k in node.keywords)
    if isinstance(node, ast.Attribute):
        return isinstance(node.value, ast.Name) and node.value.id in ("np", "numpy", "math")
    if isinstance(node, ast.Name):
        return node.id in ("nan", "inf", BLANK)  # an empty blank is reported elsewhere
    allowed = (ast.Constant, ast.UnaryOp, ast.BinOp, ast.List, ast.Tuple, ast.Dict, ast.operator, ast.unaryop, ast.expr_context)
    return isinstance(node, allowed) and all(map(_is_literal, ast.iter_child_nodes(node)))
