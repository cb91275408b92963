"""Causes: a sentence that explains a figure has a line in claims.yml that says what decides it.

    causes:
    - zh: 拷贝与乘法轮流进行
      en: loading and multiplying take turns
      by: experiment          # experiment, source, arithmetic or unknown
      how: nominal_1 to nominal_7; with take-turns scheduling the sum is predicted to 1 %

zh and en are words of the sentence. Looked at is every sentence with a causal word in which, or beside which in its paragraph, a claim is
stated by reference. Where a cause is unknown the sentence says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from autograder.claims.schema import FILE, read_causes
from autograder.lesson.model import Edition
from autograder.lesson.references import REFERENCE, SHORTCODE, prose_lines
from autograder.lint.problem import Problem

_CAUSAL = {
    "en": re.compile(
        r"\b(?:because|therefore|hence|thus|so(?! (?:that|many|much|far|long|few|on)\b)|due to|owing to|thanks to|caused? by"
        r"|the (?:cause|reason)s?|explains?|that is why)\b",
        re.I,
    ),
    "zh": re.compile(r"因为|所以|因此|由于|于是|原因|归因|从而|是因|之故|造成|导致"),
}
_UNKNOWN = {
    "en": re.compile(
        r"\b(?:unknown|not known|do not know|don't know|suspect|guess|not (?:been )?measured|may be)\b", re.I
    ),
    "zh": re.compile(r"未知|不知道|不明|不清楚|怀疑|猜测|没有测|尚无|还没有查"),
}
_END = {"en": re.compile(r"(?<=[.!?])[*_)\"]*\s+(?=[*_(\"\[]*[A-Z{$`])"), "zh": re.compile(r"(?<=[。！？])[*_）”]*")}
_BLANKS = re.compile(r"[\s*_`]+")


def lint_causes(edition: Edition, written: Edition, folder: Path) -> list[Problem]:
    """Causal sentences beside a figure that no line of claims.yml decides, and lines whose sentence is gone.

    written: the page with its references as they stand.
    """
    path = folder / FILE
    causes, problems = read_causes(path) if path.is_file() else ([], [])
    out = [Problem(path, 0, e.what, e.remedy) for e in problems]
    lang = edition.lang
    used: set[int] = set()
    for line, sentence in causal_sentences(written.text, lang):
        bare = _bare(sentence)
        hits = [i for i, c in enumerate(causes) if _bare(getattr(c, lang)) in bare]
        used |= set(hits)
        if not hits:
            out.append(
                Problem(
                    edition.path,
                    line,
                    f"Nothing says what decides this cause: {_short(sentence)!r}",
                    f"Add a line to `causes:` in {FILE} (experiment, source, arithmetic, or unknown), or drop the cause.",
                )
            )
        elif all(causes[i].by == "unknown" for i in hits) and not _UNKNOWN[lang].search(sentence):
            out.append(
                Problem(
                    edition.path,
                    line,
                    f"The cause is unknown by {FILE}, and the sentence does not say so: {_short(sentence)!r}",
                    "Say that it is not known, or name what decides it.",
                )
            )
    whole = _bare(written.text)
    for cause in (c for i, c in enumerate(causes) if i not in used and _bare(getattr(c, lang)) not in whole):
        out.append(
            Problem(
                path,
                0,
                f"No sentence of {edition.path.name} holds {getattr(cause, lang)!r}.",
                "Give words of the sentence that it decides, or remove the line.",
            )
        )
    return out


def causal_sentences(text: str, lang: str) -> Iterator[tuple[int, str]]:
    """(line, sentence): those with a causal word that state a figure by reference, or whose neighbour in the paragraph does."""
    paragraph: list[tuple[int, str]] = []
    for n, line, code in [*prose_lines(text), (0, "", False)]:
        # A table's row, a list's item and a heading stand for themselves.
        alone = line.lstrip().startswith(("|", "- ", "* ", "#", ":::", "![", "1.", "2.", "3.", "4.", "5."))
        if code or not line.strip() or alone:
            yield from _of_paragraph(paragraph, lang)
            paragraph = []
        if not code and line.strip() and not line.lstrip().startswith(("#", ":::", "![")):
            paragraph.append((n, line.strip()))
            if line.lstrip().startswith("|"):
                yield from _of_paragraph(paragraph, lang)
                paragraph = []


def _of_paragraph(paragraph: list[tuple[int, str]], lang: str) -> Iterator[tuple[int, str]]:
    sentences = [(n, s) for n, line in paragraph for s in _END[lang].split(line) if s.strip()]
    stated = [bool(REFERENCE.search(s)) for _, s in sentences]
    for i, (n, sentence) in enumerate(sentences):
        if any(stated[max(0, i - 1) : i + 2]) and _CAUSAL[lang].search(SHORTCODE.sub("", sentence)):
            yield n, sentence


def _bare(text: str) -> str:
    return _BLANKS.sub("", text)


def _short(sentence: str) -> str:
    return sentence if len(sentence) <= 90 else f"{sentence[:87]}..."
