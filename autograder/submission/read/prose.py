"""Prose in code cells: an answer written as comments, as strings, or as a call that only shows a text."""

from __future__ import annotations

import ast
import io
import re
import tokenize

from autograder.submission.read.released import Released, plain, statements, words
from autograder.submission.source import as_run

SOME = 8  # words (or pairs of Chinese characters): fewer are no answer, and no text that could be one
_SHOWS = {
    "print",
    "display",
    "pprint",
    "Markdown",
    "HTML",
    "Latex",
    "Pretty",
    "display_markdown",
    "display_html",
    "display_latex",
    "display_pretty",
}
_TRIMS = {"dedent", "cleandoc", "strip", "lstrip", "rstrip"}
_ECHO = re.compile(r"^[ \t]*!\s*(?:echo|printf)\b(.*)$", re.M)
_QUOTED = re.compile(r"\"[^\"\n]*\"|'[^'\n]*'")  # in code that is not Python
_MAGIC = re.compile(r"\s*%%[^\n]*\n")


def amount(text: str) -> int:
    return words(text).total()


def prose_of(source: str) -> str | None:
    """The text of a code cell that holds nothing else: comments, strings, calls that show a text, words that are not Python. None of any
    other, such as one that only prints a few words beside an answer."""
    if not source.strip():
        return ""
    body = statements(source)
    if all(
        isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant) and isinstance(s.value.value, str) for s in body
    ):
        lines = [x for x in source.split("\n") if x.strip()]
        said = (
            body
            or all(x.lstrip().startswith("#") for x in lines)
            or len(re.findall(r"[\u3400-\u9fff]|[A-Za-z]{2} [A-Za-z]{2}", source)) >= 3
        )
        return unquoted(source) if said else None
    shown = _shown(source, body)
    return shown if shown is not None and amount(shown) >= SOME else None


def unquoted(source: str) -> str:
    """A cell's lines without the signs of comments and strings."""
    text = source[m.end() :] if (m := _MAGIC.match(source)) else source
    return "\n".join(re.sub(r"^\s*#+ ?|^\s*[\"']{1,3}|[\"']{1,3}\s*$", "", line) for line in text.split("\n"))


def prose_beside(book: Released, source: str) -> int:
    """How many words of prose a cell of code holds in its strings, comments and what it shows, the lesson's own lines left out."""
    body = statements(source)
    strings = [
        n.value for s in body for n in ast.walk(s) if isinstance(n, ast.Constant) and isinstance(n.value, str)
    ] or _QUOTED.findall(source)
    texts = [*strings, "\n".join(text for _, text in _comments(source)), *_ECHO.findall(source)]
    found = [amount("\n".join(x for x in text.split("\n") if plain(x) not in book.lines)) for text in texts]
    shown = _shown(source, body)
    return max(sum(n for n in found if n >= SOME), amount(shown) if shown else 0)


def _shown(source: str, body: list[ast.stmt]) -> str | None:
    """What a cell shows that does nothing but show constant texts, its longer comments with it; None of any other."""
    said: list[tuple[int, str]] = []
    names: dict[str, str] = {}
    try:
        for statement in body:
            match statement:
                case ast.Import() | ast.ImportFrom() | ast.Pass():
                    continue
                case ast.Assign(targets=[ast.Name(id=name)], value=value) if (text := _text(value, names)) is not None:
                    names[name] = text
                case ast.Expr(value=value) if (text := _text(value, names)) is not None:
                    said.append((statement.lineno, text))
                case _:
                    return None
    except RecursionError:
        return None
    if not said:
        return None
    said += [(line, text) for line, text in _comments(source) if amount(text) >= SOME]
    return "\n".join(text for _, text in sorted(said, key=lambda x: x[0]))


def _text(node: ast.expr, names: dict[str, str]) -> str | None:
    """The constant text that an expression is or shows."""
    match node:
        case ast.Constant(value=str() as text):
            return text
        case ast.Name(id=name):
            return names.pop(name, None)  # once: what is shown is no longer than the cell
        case ast.JoinedStr(values=values):
            parts = [v.value if isinstance(v, ast.Constant) else None for v in values]
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            parts = [_text(left, names), _text(right, names)]
        case ast.BinOp(left=left, op=ast.Mult(), right=ast.Constant(value=int())):  # "-" * 40
            return _text(left, names)
        case ast.Call(func=ast.Attribute(value=value, attr=name), args=[], keywords=[]) if name in _TRIMS:
            return _text(value, names)
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=args, keywords=keywords) if (
            name in _SHOWS | _TRIMS
        ):
            if not all(k.arg and isinstance(k.value, ast.Constant) for k in keywords):
                return None
            by = next((k.value.value for k in keywords if k.arg == "sep"), " ")
            parts = [_text(a, names) for a in args]
            return None if None in parts else (by if isinstance(by, str) else " ").join(parts)
        case _:
            return None
    return None if None in parts else "".join(parts)


def _comments(source: str) -> list[tuple[int, str]]:
    """Comments with their lines, those of following lines as one."""
    found: list[tuple[int, str]] = []
    last = 0
    try:
        for token in tokenize.generate_tokens(io.StringIO(as_run(source)).readline):
            if token.type == tokenize.COMMENT:
                text, line = token.string.lstrip("#! "), token.start[0]
                if found and line == last + 1:
                    found[-1] = (found[-1][0], f"{found[-1][1]}\n{text}")
                else:
                    found.append((line, text))
                last = line
    except (tokenize.TokenError, SyntaxError):
        pass
    return found
