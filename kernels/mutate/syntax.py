"""As much of C++ as a mutant needs: the text of a kernel without comments, and the statements of its blocks."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from kernels.sources import CUDA_DIR

VOCABULARY = re.compile(r"hopper.*\.cuh|bugs\.cuh")  # the words themselves: not what is broken here
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+"([^"]+)"[^\n]*\n', re.M)
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/|^[ \t]*#(?:[^\n\\]|\\.|\\\n)*", re.S | re.M)
_INACTIVE = re.compile(
    r"^[ \t]*#[ \t]*ifdef (?P<name>\w+)[^\n]*\n(?P<body>.*?)(?=^[ \t]*#[ \t]*(?:else|endif))", re.S | re.M
)
_DEFECT = re.compile(r"\bif \((?P<not>!)?BUGGY\(\w+\)\)")
_HEAD = re.compile(r"(if|for|while)\b\s*(?:constexpr\s*)?\(")


@dataclass(frozen=True)
class Statement:
    """[start, end) of a statement in the text, its last `;` or `}` included. depth: of the block that holds it."""

    start: int
    end: int
    compound: bool


def code_of(text: str) -> str:
    """The text with comments, preprocessor lines, and the branches of named defects and of options not given blanked, character by character, so that places stay."""
    code = _INACTIVE.sub(
        lambda m: (
            m[0]
            if f"#define {m['name']}" in text
            else re.sub(r"[^\n]", " ", m[0][: m.end("body") - m.start()]) + m[0][m.end("body") - m.start() :]
        ),
        text,
    )
    code = _COMMENT.sub(_blank, code)
    for m in reversed(list(_DEFECT.finditer(code))):
        start, end = m.start(), m.end()
        if not m["not"]:  # never taken in a build without the defect; what follows `else` always is
            end = _statement(code, _skip(code, end))
            after = re.compile(r"\s*else\b").match(code, end)
            end = after.end() if after else end
        code = code[:start] + re.sub(r"[^\n]", " ", code[start:end]) + code[end:]
    return code


def _blank(m: re.Match) -> str:
    return re.sub(r"[^\n]", " ", m[0])


def flatten(file: Path, replaced: dict[str, str] | None = None, seen: set[str] | None = None) -> str:
    """A source with its own headers written out in place, each line still known by its file and number. replaced: texts by file name."""
    seen = set() if seen is None else seen
    seen.add(file.name)
    text = (replaced or {}).get(file.name) or file.read_text(encoding="utf-8")

    def put(m: re.Match) -> str:
        if VOCABULARY.fullmatch(m[1]):
            return m[0]
        line = text.count("\n", 0, m.end()) + 1
        body = "" if m[1] in seen else flatten(CUDA_DIR / m[1], replaced, seen).replace("#pragma once", "")
        return f'#line 1 "{m[1]}"\n{body}\n#line {line} "{file.name}"\n'

    return _INCLUDE.sub(put, text)


def closing(code: str, at: int) -> int:
    """The place after the bracket that closes the one at `at`."""
    pairs, depth = {"(": ")", "{": "}", "[": "]"}, 0
    opens, closes = code[at], pairs[code[at]]
    for i in range(at, len(code)):
        depth += (code[i] == opens) - (code[i] == closes)
        if depth == 0:
            return i + 1
    raise ValueError(f"no {closes} for the {opens} at {at}")


def _skip(code: str, at: int) -> int:
    while at < len(code) and code[at].isspace():
        at += 1
    return at


def _statement(code: str, at: int) -> int:
    """The end of the statement that begins at `at`."""
    if code[at] == "{":
        return closing(code, at)
    if head := _HEAD.match(code, at):
        end = _statement(code, _skip(code, closing(code, head.end() - 1)))
        after = _skip(code, end)
        if head[1] == "if" and re.match(r"else\b", code[after:]):
            end = _statement(code, _skip(code, after + 4))
        return end
    while code[at] != ";":
        at = closing(code, at) if code[at] in "({[" else at + 1
    return at + 1


def _inner(code: str, start: int, end: int) -> list[int]:
    """The places of the `{` of blocks within a statement, outermost first: of compound statements and of lambdas."""
    found, at = [], start
    while (at := code.find("{", at, end)) >= 0:
        before = code[:at].rstrip()
        if before.endswith((")", "else")) or at == start:
            found.append(at)
        at += 1
    return found


def blocks(code: str) -> list[list[Statement]]:
    """The blocks of every function's body, each a list of its statements; and the lone statement under each if, for and while."""
    found = []
    for m in re.finditer(r"\)\s*(?:const\s*)?\{", code):
        at = m.end() - 1
        if code[:at].count("{") != code[:at].count("}"):  # within another function: seen from there
            outer = code.rfind("\n", 0, m.start()) + 1
            if not re.match(r"\s*HOPPER_FN|.*__global__", code[outer : m.end()]):
                continue
        todo = [at]
        while todo:
            opened = todo.pop()
            end, at, block = closing(code, opened) - 1, opened + 1, []
            while (at := _skip(code, at)) < end:
                stop = _statement(code, at)
                block.append(Statement(at, stop, bool(_HEAD.match(code, at)) or code[at] == "{"))
                todo += [i for i in _inner(code, at, stop) if i not in todo]
                for head in _HEAD.finditer(code, at, stop):
                    body = _skip(code, closing(code, head.end() - 1))
                    if code[body] != "{":
                        found.append([Statement(body, _statement(code, body), bool(_HEAD.match(code, body)))])
                at = stop
            found.append(block)
    unique, seen = [], set()
    for block in found:
        fresh = [s for s in block if (s.start, s.end) not in seen]
        seen.update((s.start, s.end) for s in block)
        if fresh:
            unique.append(block if len(fresh) == len(block) else fresh)
    return unique
