"""An answer's sentences as they are read for claims: full width, traditional script, invisible characters and marks inside words folded,
as the answers' own reader folds them, each with the text that the student wrote."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

MAX_SENTENCE = 600

_END = re.compile(r"(?<=[。！？!?；;\n])|(?<=\.)(?=\s+[A-Z\"'(])|(?<=[\u4e00-\u9fff]\.)")
_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})[^\n]*\n(.*?)(?:^[ \t]*\1[`~]*[ \t]*$|\Z)", re.S | re.M)
_COMMENT = re.compile(r"^(.*?)(?<![:\w])(?:#|//)(.*)$")
_CODE = re.compile(
    r"[\[\]{}_;@]|\w\(|[^=!<>]=|->|^\s*(?:def|for|if|while|import|from|return|assert|else|try|with|class)\b"
)
_ASKS = re.compile(
    r"^\W*(?:whether|why|how|what|which|who|where|when|does|do|did|is|are|was|were|can|could|would|should|will|has|have|had|am|may|是否|怎么|如何|为什么|为何|难道|请问)(?![a-z'])",
    re.I,
)
_LAST = re.compile(r"[,;:]|(?<=\s)[-—]+(?=\s)|—")
# Asked about or not, this was done: "did you know that I measured ...?"
_HELD = re.compile(r"\b(?:that|when|after|because|since|as)\s+((?:I|we|my|our)\b.*)", re.I | re.S)


@dataclass(frozen=True)
class Sentence:
    """text: folded, in the case in which it was written. quote: what the student wrote. code: it stands in a code block."""

    text: str
    quote: str
    code: bool = False


def sentences(text: str) -> Iterator[Sentence]:
    from autograder.answers.normalise import (
        normalise,
    )  # it loads numpy and tables, which a student's own check does without

    fences = [m.span(2) for m in _FENCE.finditer(text)]
    normal = normalise(_prepared(text, fences))
    folded = "".join(_cased(c, text[i]) for c, i in zip(normal.text, normal.at, strict=True))
    cuts = [0, *(m.start() for m in _END.finditer(folded)), len(folded)]
    for start, end in zip(cuts, cuts[1:]):
        for at in range(start, end, MAX_SENTENCE):
            to = min(end, at + MAX_SENTENCE)
            said = folded[at:to].strip()
            if said:
                place = normal.at[at + len(folded[at:to]) - len(folded[at:to].lstrip())]
                yield Sentence(
                    said, text[place : normal.at[to - 1] + 1].strip(), any(a <= place < b for a, b in fences)
                )


def _prepared(text: str, fences: list[tuple[int, int]]) -> str:
    """Of the same length, so that places stay. In a code block the code is blanked out; a comment, or a line that is no code, is prose."""
    ends = [0, *(x for span in fences for x in span), len(text)]
    parts = [text[a:b] for a, b in zip(ends, ends[1:])]
    text = "".join("\n".join(map(_prose, part.split("\n"))) if n % 2 else part for n, part in enumerate(parts))
    text = re.sub(r"(?<=\d)(\s?)×(?!\s?[\d(a-zA-Z])", r"\1x", text)  # "1.5× as long" is a factor, no product
    return re.sub(r"[µμ](?=s\b)", "u", text)


def _prose(line: str) -> str:
    comment = _COMMENT.match(line)
    code, said = (comment[1], comment[2]) if comment else (line, "")
    if _CODE.search(code):
        code = " " * len(code)
    return code + " " * (len(line) - len(code) - len(said)) + said


def _cased(folded: str, written: str) -> str:
    if folded.isascii() and folded.islower():
        plain = written if written.isascii() else unicodedata.normalize("NFKC", written)
        if plain.isupper() and plain.lower() == folded:
            return folded.upper()
    return folded


def statement(sentence: str) -> str:
    """What a sentence states, "" where it only asks. A question behind a statement ("..., is that not much?") leaves the statement."""
    said = sentence.rstrip(" )\"'")
    if not said.endswith(("?", "？")) and not re.search(r"[吗呢]\W*$", said):
        return sentence
    if held := _HELD.search(said):
        return held[1]
    *before, _ = _LAST.split(said)
    if not before or _ASKS.match(said):
        return ""
    return said[: said.rindex(before[-1]) + len(before[-1])]
