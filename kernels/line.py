"""A student's challenge line: the few forms of CUDA C++ that it may have (kernels.line_grammar), and the statement it becomes.

A line is declarations, assignments to what it declares, if statements and expressions over values: names of the kernel's own source, names
that it declares, numbers, casts to arithmetic types, and a few functions of numbers. It has no way to an address: no pointer, reference,
array, subscript (but in sizeof), lambda, loop, string or directive, and it can write to nothing but its own variables. So an admitted line
computes values, and what it computes wrong the emulator and the float64 reference find. Whatever is not in this grammar is refused with a
sentence; what is in it and wrong is the compiler's to say.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from kernels.line_grammar import KEYWORDS, QUALIFIERS, SPELLED, LineRefused, Reader, Scope, Token

MAX_CODE, MAX_LINE = 400, 1000  # characters: without and with comments

_COMMENT = re.compile(r"/\*.*?\*/|//.*")
_DECIMAL, _HEX = r"\d+(?:'\d+)*", r"[0-9a-fA-F]+(?:'[0-9a-fA-F]+)*"
_TOKEN = re.compile(
    r"(?P<name>[A-Za-z_]\w*)"
    rf"|(?P<number>(?:0[xX]{_HEX}|0[bB]{_DECIMAL}|(?:{_DECIMAL}\.?(?:{_DECIMAL})?|\.{_DECIMAL})(?:[eE][+-]?\d+)?)[uUlLfF]{{0,3}})(?![\w.'])"
    r"|(?P<sign><<=|>>=|<=>|\.\.\.|->|::|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|<:|:>|<%|%>|%:|[-+*/%&|^~!<>=?:;,.(){}\[\]])",
    re.ASCII,
)


def bare(line: str) -> str:
    """The line without its comments. Raises LineRefused for a comment without an end and for what could hide in one."""
    line = line.strip()
    if "\n" in line or "\r" in line or not line:
        raise LineRefused("挑战只要一行 CUDA C++ 代码。", "The challenge takes exactly one line of CUDA C++.")
    odd = next(
        (
            c
            for c in line
            if c != "\t" and (ord(c) < 32 or 127 <= ord(c) < 160 or c in "\u2028\u2029" or 0xD800 <= ord(c) < 0xE000)
        ),
        None,
    )
    if odd is not None:  # some compilers end a comment at such a character
        raise LineRefused(
            f"这一行含有控制字符 {odd!r}，请删掉它。", f"The line holds the control character {odd!r}: delete it."
        )
    text = _COMMENT.sub(" ", line).strip()
    if "/*" in text:
        raise LineRefused("注释 /* 没有结束，请补上 */。", "The comment /* does not end: add */.")
    if not text:
        raise LineRefused("这一行除了注释什么也没有。", "The line holds nothing but a comment.")
    if len(text) > MAX_CODE or len(line) > MAX_LINE:
        raise LineRefused(
            f"这一行太长：代码最多 {MAX_CODE} 个字符，连注释最多 {MAX_LINE} 个。",
            f"The line is too long: at most {MAX_CODE} characters of code, {MAX_LINE} with its comments.",
        )
    return text


def tokens(text: str) -> list[Token]:
    """The tokens of a line without comments. Raises LineRefused for a character that no form has."""
    found, at = [], 0
    while at < len(text):
        if text[at] in " \t":
            at += 1
            continue
        m = _TOKEN.match(text, at)
        if m is None:
            _refuse_character(text, at)
        found.append(
            Token(SPELLED.get(m.group(), m.group()), m.lastgroup if m.group() not in SPELLED else "sign", at, m.end())
        )
        at = m.end()
    return found


def _refuse_character(text: str, at: int) -> None:
    word = re.match(r"[\w.']+", text[at:])
    said = word.group() if word and word.group()[0].isascii() else text[at]
    if text[at].isascii() and text[at].isdigit():
        raise LineRefused(f"数字 {said!r} 读不懂。", f"The number {said!r} cannot be read.")
    hint = (
        ("（只用半角空格）", " (a blank is a plain space)")
        if text[at].isspace()
        else ("（注释以外只用半角字符）", " (outside comments plain ASCII)")
        if not text[at].isascii()
        else ("", "")
    )
    raise LineRefused(
        f"这一行里不能有 {said!r}{hint[0]}：没有字符串、没有预处理指令、没有反斜杠。",
        f"The line may not hold {said!r}{hint[1]}: it has no strings, no directives and no backslash.",
    )


def statement(line: str, scope: Scope) -> str:
    """The line as it goes into the kernel: no comments, the declaration around a bare expression, a forgotten semicolon.
    Raises LineRefused where it is none of the forms above."""
    text = _completed(bare(line), scope)
    Reader(tokens(text), scope).read()
    return text


def _completed(text: str, scope: Scope) -> str:
    found = tokens(text)
    parts: list[list[Token]] = [[]]
    depth = 0
    for token in found:
        depth += (token.text in ("(", "[", "{")) - (token.text in (")", "]", "}"))
        if token.text == ";" and depth == 0:
            parts.append([])
        else:
            parts[-1].append(token)
    parts = [p for p in parts if p]
    if not scope.left or not parts or any(_declares(p, scope) for p in parts):
        return text if text.endswith(";") else f"{text};"
    last = parts[-1]
    if _is_statement(last, scope):
        return text if text.endswith(";") else f"{text};"
    before, value = text[: last[0].start], text[last[0].start : last[-1].end]
    if len(last) > 2 and (last[0].text, last[1].text) == (scope.target, "="):
        value = text[last[2].start : last[-1].end]
    return f"{before}{scope.left} = {value};"


def _is_statement(part: list[Token], scope: Scope) -> bool:
    """Not the value of the kernel's own declaration: it begins like a declaration or an if, and not like int(x) or Place{...}."""
    begins = part[0].text in scope.types | QUALIFIERS | {"if", "else", "enum"}
    return begins and not (len(part) > 1 and part[1].text in ("(", "{") and part[0].text in scope.types)


def _declares(part: list[Token], scope: Scope) -> bool:
    return part[0].text in scope.types | QUALIFIERS | {"enum"} and any(t.text == scope.target for t in part)


def source_names(text: str) -> frozenset[str]:
    """Names that a kernel's own code uses and a line may: comments, strings, directives, types and keywords left out; numbers' macros in."""
    code = re.sub(r"//[^\n]*|/\*.*?\*/|\"[^\"\n]*\"", " ", text, flags=re.S)
    numbers = re.findall(r"^[ \t]*#[ \t]*define[ \t]+(\w+)[ \t]+\d+[ \t]*$", code, re.M)
    code = re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", " ", code, flags=re.M)
    return frozenset([*re.findall(r"\b[A-Za-z_]\w*", code), *numbers]) - KEYWORDS


def defined_names(text: str) -> Iterator[str]:
    """Names of types and macros that a source defines: a line neither uses them as values nor declares them anew."""
    code = re.sub(r"//[^\n]*|/\*.*?\*/", " ", text, flags=re.S)
    yield from re.findall(r"\b(?:struct|class|union|typename|enum)\s+(?:alignas\([^)]*\)\s*)?([A-Za-z_]\w*)", code)
    yield from re.findall(r"\busing\s+([A-Za-z_]\w*)\s*=", code)
    yield from re.findall(r"^[ \t]*#[ \t]*define[ \t]+(\w+)(?![ \t]+\d+[ \t]*$)", code, re.M)
