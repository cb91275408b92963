"""The two editions of a lesson are the same lesson: the same program, slots and figures in two languages."""

from __future__ import annotations

import ast
import re
from itertools import zip_longest

from autograder.lesson.model import Cell, Edition
from autograder.lint.page import asset_paths
from autograder.lint.problem import Problem

_PROGRAM_WORD = re.compile(r"^[!-~]*$")  # ASCII without blanks: a name, a format, a path; anything else is prose


def lint_pair(zh: Edition, en: Edition) -> list[Problem]:
    out = []
    ours, theirs = [[c for c in e.cells if c.kind != "markdown"] for e in (zh, en)]
    for a, b in zip_longest(ours, theirs):
        if a is None or b is None or _label(a) != _label(b):
            have = f"{zh.path.name}: {_label(a) if a else 'nothing'}; {en.path.name}: {_label(b) if b else 'nothing'}"
            out.append(
                Problem(
                    (b and not a and en or zh).path,
                    (a or b).line,
                    f"The two editions' cells are not in step ({have}).",
                    "Give both editions the same cells in the same order.",
                )
            )
            break
        if a.kind == "code" and (difference := _difference(a, b)):
            out.append(
                Problem(
                    zh.path,
                    a.line,
                    f"The {a.role} cell is another program than in {en.path.name}:{b.line}: {difference}.",
                    "Only comments and words that are shown may differ: make the code the same.",
                )
            )
    out += _figures(zh, en)
    return out


def _label(cell: Cell) -> str:
    return f"{cell.role or 'code'} cell" if cell.kind == "code" else f"answer slot {cell.slot}"


def _difference(a: Cell, b: Cell) -> str:
    try:
        return _compare(ast.parse(a.source), ast.parse(b.source))
    except SyntaxError:  # lint_page says so
        return ""


def _compare(a, b) -> str:
    """What first differs between two syntax trees, or ""."""
    if (
        isinstance(a, ast.Constant)
        and isinstance(b, ast.Constant)
        and isinstance(a.value, str)
        and isinstance(b.value, str)
    ):
        same = a.value == b.value or not (_PROGRAM_WORD.match(a.value) and _PROGRAM_WORD.match(b.value))
        return "" if same else f"{a.value!r} and {b.value!r}"
    if isinstance(a, ast.JoinedStr) and isinstance(b, ast.JoinedStr):
        # Word order differs between languages: the values shown must be the same, in any order.
        shown = lambda node: sorted(
            ast.unparse(v.value) + (ast.dump(v.format_spec) if v.format_spec else "")
            for v in node.values
            if isinstance(v, ast.FormattedValue)
        )
        return "" if shown(a) == shown(b) else f"{ast.unparse(a)} and {ast.unparse(b)} show different values"
    if {type(a), type(b)} == {ast.JoinedStr, ast.Constant}:
        return (
            ""
            if not any(
                isinstance(v, ast.FormattedValue) for n in (a, b) if isinstance(n, ast.JoinedStr) for v in n.values
            )
            else f"{ast.unparse(a)} and {ast.unparse(b)}"
        )
    if type(a) is not type(b):
        return f"{_show(a)} and {_show(b)}"
    if isinstance(a, ast.AST):
        for field in a._fields:
            if field in ("kind", "type_comment"):
                continue
            if d := _compare(getattr(a, field, None), getattr(b, field, None)):
                return d
        return ""
    if isinstance(a, list):
        if len(a) != len(b):
            extra = (a if len(a) > len(b) else b)[min(len(a), len(b))]
            return f"only one has {_show(extra)}"
        return next((d for x, y in zip(a, b) if (d := _compare(x, y))), "")
    return "" if a == b else f"{a!r} and {b!r}"


def _show(node) -> str:
    text = ast.unparse(node).split("\n")[0] if isinstance(node, ast.AST) else repr(node)
    return f"`{text[:60]}`"


def _figures(zh: Edition, en: Edition) -> list[Problem]:
    """x.zh.svg on one page asks for x.en.svg on the other, in the same order."""
    stem = lambda p: re.sub(r"\.(zh|en)(?=\.\w+$)", "", p)
    ours, theirs = ([stem(p) for p in asset_paths(e)] for e in (zh, en))
    out = [
        Problem(
            e.path,
            0,
            f"The figure {p} is on the other edition's page only.",
            "Show it in both, each with its own words.",
        )
        for e, has, other in ((zh, ours, theirs), (en, theirs, ours))
        for p in other
        if p not in has
    ]
    for e in (zh, en):
        wrong = "en" if e.lang == "zh" else "zh"
        out += [
            Problem(
                e.path, 0, f"The figure {p} is the other language's.", f"Use {p.replace(f'.{wrong}.', f'.{e.lang}.')}."
            )
            for p in asset_paths(e)
            if re.search(rf"\.{wrong}\.\w+$", p)
        ]
    return out or (
        []
        if ours == theirs
        else [
            Problem(
                zh.path, 0, "The two editions show their figures in different orders.", "Bring them in the same order."
            )
        ]
    )
