"""Which line of CUDA C++ a student wrote in the challenge cell, and may it be compiled?

A line is admitted by its tokens: names that the kernel's own source uses, a few words of C++, numbers and operators. It can name no
function of the system, no assembly and no file. The jail it then runs in is the second wall.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from functools import lru_cache

from autograder.grading.source import NotPython, parse
from autograder.lesson.model import BLANK
from autograder.lesson.rubric import Text

MAX_LINE = 400
_WORDS = frozenset(
    "const constexpr auto bool int unsigned float double uint8_t uint16_t uint32_t uint64_t int32_t int64_t size_t true false nullptr if else static_cast min max fminf fmaxf".split()
)
_TOKEN = re.compile(r"\s+|(?P<name>[A-Za-z_]\w*)|(?P<number>(?:0[xX][0-9a-fA-F]+|\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+)[uUlLfF]{0,3}(?![\w.]))|(?P<sign>[-+*/%&|^~!<>=?:;,.(){}\[\]]+)")
_NEVER = re.compile(r"asm|builtin|attribute|^__", re.I)


def challenge_of(released_source: str) -> str | None:
    """The kernel that a released challenge cell names: challenge("NAME", my_line); None where the cell makes no such call."""
    call = next(iter(_calls(released_source)), None)
    return call.args[0].value if call is not None and isinstance(call.args[0], ast.Constant) and isinstance(call.args[0].value, str) else None


def read_line(sources: Iterable[str], kernel: str) -> str:
    """The student's line in these code cells: what the last one that calls challenge(kernel, ...) hands to it; "" where there is none or it is still blank."""
    line = ""
    for source in sources:
        for call in _calls(source):
            if len(call.args) < 2 or not isinstance(call.args[0], ast.Constant) or call.args[0].value != kernel:
                continue
            value = call.args[1]
            if isinstance(value, ast.Name):
                value = _last_text(source, value.id) or value
            if isinstance(value, ast.Constant) and isinstance(value.value, str) and value.value.strip() and BLANK not in value.value:
                line = value.value.strip()
    return line


def _calls(source: str) -> list[ast.Call]:
    try:
        body = parse(source).body
    except NotPython:
        return []
    return [n for s in body for n in ast.walk(s) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name) and n.func.id == "challenge" and n.args]


def _last_text(source: str, name: str) -> ast.expr | None:
    found = [s.value for s in parse(source).body if isinstance(s, ast.Assign) and any(isinstance(t, ast.Name) and t.id == name for t in s.targets)]
    return found[-1] if found else None


def refusal(kernel: str, line: str) -> Text | None:
    """Why the line may not be compiled, for the student; None when it may."""
    if len(line) > MAX_LINE or "\n" in line.strip():
        return Text(zh=f"挑战只要一行，不超过 {MAX_LINE} 个字符。", en=f"The challenge takes one line of at most {MAX_LINE} characters.")
    line = bare(line)
    known = _names_in(kernel) | _WORDS
    at, depth = 0, 0
    while at < len(line):
        m = _TOKEN.match(line, at)
        if m is None:
            return Text(zh=f"这一行里不允许出现 {line[at]!r}。", en=f"The line may not hold {line[at]!r}.")
        name, sign = m["name"], m["sign"] or ""
        if name and (name not in known or _NEVER.search(name)):
            return Text(zh=f"这一行用到了 kernel 里没有的名字 {name}。", en=f"The line uses {name}, a name that the kernel does not have.")
        for bad in ("/*", "*/", "%:", "<%", "%>", "<:", ":>"):
            if bad in sign:
                return Text(zh=f"这一行里不允许出现 {bad}。", en=f"The line may not hold {bad}.")
        for c in sign:
            depth += (c in "({[") - (c in ")}]")
            if depth < 0:
                return Text(zh="这一行的括号多闭合了一个。", en="The line closes a bracket that it did not open.")
        at = m.end()
    if depth:
        return Text(zh="这一行的括号没有闭合。", en="The line leaves a bracket open.")
    return None


def bare(line: str) -> str:
    """The line without its trailing comment."""
    return re.sub(r"//.*$", "", line)


def tokens(line: str) -> str:
    """An admitted line's tokens, one blank between them: equal for lines that differ only in layout or comment."""
    return " ".join(m.group() for m in _TOKEN.finditer(bare(line)) if not m.group().isspace())


@lru_cache
def _names_in(kernel: str) -> frozenset[str]:
    """Names that the kernel's own code uses, its comments, strings and includes left out."""
    text = re.sub(r"//[^\n]*|/\*.*?\*/|\"[^\"\n]*\"|^\s*#\s*include[^\n]*", " ", _source(kernel), flags=re.S | re.M)
    return frozenset(re.findall(r"[A-Za-z_]\w*", text)) - {"extern", "include", "pragma", "volatile", "goto", "while", "for", "do", "return"}


def _source(kernel: str) -> str:
    from kernels.sources import load_source  # a class without challenges loads no kernels
    from kernels.spec import get_spec

    return load_source(get_spec(kernel).source).text
