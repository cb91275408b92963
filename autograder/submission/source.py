"""A student's code cell as a syntax tree. Nothing here runs it."""

from __future__ import annotations

import ast
import re
import unicodedata
import warnings
from functools import lru_cache

from autograder.lesson.rubric import Text

MAX_CHARS = 200_000
MAX_REMEMBERED = 5_000  # characters: larger cells are nobody's but one student's
MAX_BRACKETS = 60  # CPython's parser can take exponential time on deep brackets in broken code

_PYTHON_MAGICS = {"time", "timeit", "capture", "prun", "python", "python3", "python3.11"}
_LINE_MAGIC = re.compile(r"^([ \t]*)(?:(\w[\w, ]*)=[ \t]*)?[%!](?!=).*$|^([ \t]*)\??[\w.]+\?{1,2}[ \t]*$", re.M)
# %time f() and its like run the statement behind them. 1: indent, 2: a target, 3: the magic with its options
_TIMED = re.compile(
    r"^([ \t]*)(\w[\w, ]*=[ \t]*)?(%(?:time|timeit|prun|memit)[ \t]+(?:-\w+(?:[ \t]+\d+)?[ \t]+)*)(?=\S)", re.M
)
# Prompts of a pasted session: Python's and IPython's. first: how such a text begins; each: what is taken off its lines
_PROMPTS = (
    (re.compile(r">>>(?: |$)", re.M), re.compile(r"^(?:>>>|\.\.\.)(?: |$)", re.M)),
    (re.compile(r"In \[\d+\]:(?: |$)", re.M), re.compile(r"^(?:In \[\d+\]:(?: |$)|[ \t]*\.{3,}: ?)", re.M)),
)


class NotPython(Exception):
    """The cell cannot be read as Python. line: 1-based, 0 where none is to blame. why: for the student."""

    def __init__(self, why: Text, line: int = 0):
        self.why, self.line = why, line
        super().__init__(why.en)


def parse(source: str) -> ast.Module:
    """The tree of a cell as IPython runs it: its own lines (%magic, !command, name?) taken out, indent and prompts off (see as_run, to
    whose text the positions refer). Raises NotPython. Callers do not change the tree."""
    return _remembered(source) if len(source) <= MAX_REMEMBERED else _read(source)


@lru_cache(maxsize=256)  # most cells of a class are the released ones
def _remembered(source: str) -> ast.Module:
    return _read(source)


def as_run(source: str) -> str:
    """The text of a cell as IPython takes it: "\\n" at line ends, the first line's indent off every line, prompts of a pasted session
    off too. No line is added or removed."""
    text = _unwrapped(source.replace("\r\n", "\n").replace("\r", "\n"))
    if magic := re.match(r"\s*%%.*\n", text):  # what stands below a cell magic is taken like a cell
        text = magic[0] + _unwrapped(text[magic.end() :])
    return text


def _unwrapped(text: str) -> str:
    start = re.match(r"(?:[ \t]*\n)*", text).end()
    head, text = text[:start], text[start:]
    if indent := re.match(r"[ \t]+", text):
        text = re.sub(rf"^{re.escape(indent[0])}", "", text, flags=re.M)
    for first, each in _PROMPTS:
        if first.match(text):
            text = each.sub("", text)
    return head + text


def _read(source: str) -> ast.Module:
    if len(source) > MAX_CHARS:
        raise NotPython(
            Text(zh=f"单元格超过 {MAX_CHARS} 个字符。", en=f"The cell has more than {MAX_CHARS} characters.")
        )
    source = as_run(source)
    if magic := re.match(r"\s*%%([\w.]*)[^\n]*", source):
        if magic[1] not in _PYTHON_MAGICS:
            raise NotPython(
                Text(
                    zh=f"单元格以 %%{magic[1]} 开头，不会当作 Python 运行。",
                    en=f"The cell starts with %%{magic[1]} and does not run as Python.",
                ),
                1,
            )
        source = "\n" * magic[0].count("\n") + source[magic.end() :]  # line numbers stay
    _guard(source)
    try:
        return _parse(source)
    except SyntaxError as e:
        for plain in dict.fromkeys((_without_magics(_TIMED.sub(_untimed, source)), _without_magics(source))):
            if plain != source:
                try:
                    return _parse(plain)
                except SyntaxError:
                    pass
        raise NotPython(_explain(e, source), e.lineno or 0) from None


def _without_magics(source: str) -> str:
    return _LINE_MAGIC.sub(lambda m: (m[1] or m[3] or "") + (f"{m[2]}= ..." if m[2] else "pass"), source)


def _untimed(m: re.Match) -> str:
    """What stands before the timed statement, as long as before, so that columns stay."""
    return m[1] + (m[2] + " " * len(m[3]) if m[2] else "pass;".ljust(len(m[3])))


def _parse(source: str) -> ast.Module:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # "invalid escape sequence" and the like
            try:
                return ast.parse(source)
            except (
                SystemError
            ):  # seen in CPython 3.11.7: "AST constructor recursion depth mismatch"; a second try is clean
                return ast.parse(source)
    except (RecursionError, MemoryError):
        raise NotPython(Text(zh="代码嵌套太深，无法读取。", en="The code is nested too deeply to be read.")) from None
    except SyntaxError:
        raise
    except ValueError:  # null bytes, integers of many thousand digits
        raise NotPython(
            Text(zh="代码中有无法读取的字符或数字。", en="The code holds a character or number that cannot be read.")
        ) from None


def _guard(source: str) -> None:
    """Refuse what only an attack on the parser looks like."""
    depth = deepest = 0
    for bracket in re.findall(r"[()\[\]{}]", source):
        depth = depth + 1 if bracket in "([{" else max(0, depth - 1)
        deepest = max(deepest, depth)
    if deepest > MAX_BRACKETS:
        raise NotPython(Text(zh="代码嵌套太深，无法读取。", en="The code is nested too deeply to be read."))


def _explain(error: SyntaxError, source: str) -> Text:
    """What is wrong, in plain words; characters that look like ASCII and are not come up often with a Chinese keyboard."""
    lines = source.split("\n")
    line = lines[error.lineno - 1] if error.lineno and error.lineno <= len(lines) else ""
    code = re.sub(r"#.*|\"[^\"]*\"|'[^']*'", "", line)
    odd = next((c for c in code if ord(c) > 127 and not c.isalpha()), None)
    where_zh, where_en = (f"第 {error.lineno} 行", f"line {error.lineno}") if error.lineno else ("", "the cell")
    if odd is not None:
        name = unicodedata.name(odd, f"U+{ord(odd):04X}")
        return Text(
            zh=f"{where_zh}有字符 {odd!r}（{name}），Python 不认识它；请换成半角字符。",
            en=f"{where_en} holds the character {odd!r} ({name}), which is not Python; type it as plain ASCII.",
        )
    said = (error.msg or "invalid syntax").split("\n")[0][:120]
    return Text(zh=f"{where_zh}不是合法的 Python：{said}。", en=f"{where_en} is not valid Python: {said}.")


def key(node: ast.AST) -> str:
    """A text equal for nodes that mean the same: positions, annotations, docstrings and an assert's message left out, 6 equal to 6.0."""
    try:
        return _key(node)
    except RecursionError:
        return f"too deep:{type(node).__name__}"


def _key(node: object) -> str:
    match node:
        case ast.Constant(value=int() as value) if type(value) is int and abs(value) < 2**53:
            return repr(float(value))
        case ast.Constant(value=value):
            return repr(value)
        case ast.Assert(test=test):
            return f"Assert({_key(test)})"
        case ast.arg(arg=name):
            return name
        case ast.AnnAssign(target=target, value=value):
            return f"Assign([{_key(target)}],{_key(value)},None)" if value is not None else "Pass()"
        case ast.FunctionDef():
            return f"def {node.name}({_key(node.args)}){_key(node.decorator_list)}{_key(without_docstring(node.body))}"
        case ast.Load() | ast.Store() | ast.Del():
            return ""
        case ast.AST():
            return f"{type(node).__name__}({','.join(_key(getattr(node, f, None)) for f in node._fields)})"
        case list():
            return f"[{','.join(map(_key, node))}]"
    return repr(node)


def without_docstring(body: list[ast.stmt]) -> list[ast.stmt]:
    is_text = (
        body
        and isinstance(body[0], ast.Expr)
        and isinstance(body[0].value, ast.Constant)
        and isinstance(body[0].value.value, str)
    )
    return body[1:] if is_text else body


def segment(source: str, nodes: list[ast.AST]) -> str:
    """The student's own text from the first to the last of these nodes of the cell's tree."""
    if not nodes:
        return ""
    first, last = nodes[0], nodes[-1]
    lines = as_run(source).split("\n")
    picked = lines[first.lineno - 1 : last.end_lineno]
    if not picked:
        return ""
    encoded = picked[-1].encode("utf-8", "surrogatepass")[: last.end_col_offset]
    picked[-1] = encoded.decode("utf-8", "replace")
    picked[0] = picked[0].encode("utf-8", "surrogatepass")[first.col_offset :].decode("utf-8", "replace")
    return "\n".join(picked)
