"""Tokens of a preprocessed CUDA file, each with the file and line it came from, and text made of them again."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

_TOKEN = re.compile(
    r"""
    (?P<marker>^[ \t]*\#[ \t]*(?:line[ \t]+)?(?P<line>\d+)[ \t]+"(?P<file>[^"\n]*)"[^\n]*(?:\n|\Z))
  | (?P<directive>^[ \t]*\#[^\n]*(?:\n|\Z))
  | (?P<space>[ \t\r\f\v\n]+)
  | (?P<raw>(?:u8|u|U|L)?R"(?P<delimiter>[^()\\\s]{0,16})\(.*?\)(?P=delimiter)")
  | (?P<string>(?:u8|u|U|L)?"(?:[^"\\\n]|\\.)*")
  | (?P<char>(?:u8|u|U|L)?'(?:[^'\\\n]|\\.)+')
  | (?P<number>\.?\d(?:[eEpP][+-]|'[0-9A-Za-z]|[0-9A-Za-z_.])*)
  | (?P<word>[^\W\d]\w*)
  | (?P<mark>::|->|\.\.\.|<<<|.)
    """,
    re.X | re.M | re.S,
)
PAIRS = {"(": ")", "[": "]", "{": "}"}


@dataclass(frozen=True)
class Token:
    """kind: word, number, string, char or mark.  before: the white space in front of it."""

    kind: str
    text: str
    before: str
    file: str
    line: int


def tokens(text: str, file: str) -> list[Token]:
    """The tokens of a preprocessor's output; its line markers become the tokens' places, its pragmas go."""
    found, before, line = [], "", 1
    for m in _TOKEN.finditer(text):
        kind, body = m.lastgroup, m[0]
        if m["marker"] is not None:
            file, line, before = m["file"], int(m["line"]), "\n"
        elif m["directive"] is not None:
            line, before = line + body.count("\n"), before + "\n"
        elif m["space"] is not None:
            before, line = before + body, line + body.count("\n")
        else:
            kind = (
                "string"
                if m["raw"] is not None or m["string"] is not None
                else "char"
                if m["char"] is not None
                else kind
            )
            found.append(Token(kind, body, before, file, line))
            before, line = "", line + body.count("\n")
    return found


def text_of(sequence: Iterable[Token]) -> str:
    """C++ text whose every line is where its tokens come from (#line)."""
    out, file, line = [], "", 0
    for t in sequence:
        if (t.file, t.line) == (file, line):
            out.append(" " if t.before else "")
        elif t.file == file and 0 < t.line - line < 8:
            out.append("\n" * (t.line - line))
        else:
            out.append(f'\n#line {t.line} "{t.file}"\n')
        out.append(t.text)
        file, line = t.file, t.line + t.text.count("\n")
    return "".join(out) + "\n"


def closing(sequence: Sequence[Token], at: int) -> int:
    """Index of the bracket that closes the one at `at`; the last index where none does."""
    opens, closes = sequence[at].text, PAIRS[sequence[at].text]
    depth = 0
    for i in range(at, len(sequence)):
        text = sequence[i].text
        if sequence[i].kind == "mark":
            depth += (text == opens) - (text == closes)
            if depth == 0:
                return i
    return len(sequence) - 1


def angle(sequence: Sequence[Token], at: int) -> int:
    """Index of the > that closes the < at `at`."""
    depth = 0
    i = at
    while i < len(sequence):
        text = sequence[i].text
        if text in PAIRS:
            i = closing(sequence, i)
        elif text == "<":
            depth += 1
        elif text == ">":
            depth -= 1
            if depth == 0:
                return i
        i += 1
    return len(sequence) - 1


def words(like: Token, text: str) -> list[Token]:
    """Tokens of a piece of C++ that stand at the place of another token."""
    made = tokens(text, like.file)
    return [replace(t, line=like.line, before=" " if t.before or not i else "") for i, t in enumerate(made)]


def split(sequence: Sequence[Token], mark: str, angles: bool = False) -> list[list[Token]]:
    """The parts between marks outside brackets (and, if asked, outside template arguments)."""
    parts: list[list[Token]] = [[]]
    i = 0
    while i < len(sequence):
        t = sequence[i]
        end = i
        if t.kind == "mark" and t.text in PAIRS:
            end = closing(sequence, i)
        elif angles and t.text == "<" and i and sequence[i - 1].kind == "word":
            end = angle(sequence, i)
        if t.kind == "mark" and t.text == mark and end == i:
            parts.append([])
        else:
            parts[-1] += sequence[i : end + 1]
        i = end + 1
    return parts
