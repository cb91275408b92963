"""The rules layer: a rubric's patterns on an answer's canonical text, with windows and the writer's stance."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from autograder.answers.gate import term_list
from autograder.answers.indexed import compiled
from autograder.answers.normalise import Normal, Span, normalise
from autograder.answers.polarity import Stance, denied
from autograder.answers.segment import Sentence
from autograder.lesson.rubric import Pattern, Rubric

_NEAR = 240  # characters that three neighbouring sentences may take together
_MAX_QUOTE = 420  # characters between the first and the last group: two long sentences
_LONGEST_WORD = 32
# Repeats without an end, a class at a time; an escape or a class without one is passed over, so that no repeat is read inside it.
_ENDLESS = re.compile(r"(\\[wds]|\[(?:\\.|[^\]\\])+\])([*+])|\\.|\[(?:\\.|[^\]\\])+\]")


@dataclass(frozen=True)
class Hit:
    """Where a rule holds: the clauses it needs, from the first to the last."""

    span: Span


@dataclass(frozen=True)
class Reading:
    """What the rules say of one link or misconception.

    hit: the tightest place where it is asserted, or None.  contradicted: somewhere all it needs stands together, but denied or
    refuted.  doubtful: asserted only as a question, a guess or hearsay.  part: the largest share of some rule's groups found
    within one window, 0..1.
    """

    hit: Hit | None = None
    contradicted: bool = False
    doubtful: bool = False
    part: float = 0.0


class _Group:
    """One group's alternatives as a single expression. topic: it begins with ~, so that a denial does not cancel it."""

    def __init__(self, alternatives: list[str], terms: dict[str, list[str]]):
        self.topic = "~" in alternatives
        self.regex = _union([a for a in alternatives if a != "~"], terms)
        self.finditer = self.regex.finditer


class CompiledPattern:
    def __init__(self, pattern: Pattern, terms: dict[str, list[str]]):
        variants = [pattern.zh, pattern.en]
        if pattern.zh and len(pattern.zh) == len(pattern.en):
            variants = [[[*z, *e] for z, e in zip(pattern.zh, pattern.en)]]
        self.variants = [[_Group(group, terms) for group in groups] for groups in variants if groups]
        self.unless = _union(pattern.unless, terms) if pattern.unless else None
        self.window = pattern.window


def _union(alternatives: Iterable[str], terms: dict[str, list[str]]) -> re.Pattern:
    return compiled(_bounded("|".join(f"(?:{_regex(a, terms)})" for a in alternatives)))


def _bounded(expression: str) -> str:
    """`\\w*` no longer than a word: before `[^.;]{0,40}` it would take the square of an answer's length, or its cube, on eight thousand letters without a blank."""
    return _ENDLESS.sub(lambda m: f"{m[1]}{{{int(m[2] == '+')},{_LONGEST_WORD}}}" if m[1] else m[0], expression)


def _regex(alternative: str, terms: dict[str, list[str]]) -> str:
    if alternative.startswith("re:"):
        return re.sub(r"@([a-z0-9_]+)", lambda m: _named(m[1], terms), alternative[3:])
    if alternative.startswith("@"):
        return _named(alternative[1:], terms)
    return phrase(alternative)


def _named(name: str, terms: dict[str, list[str]]) -> str:
    return "(?:" + "|".join(_regex(a, terms) for a in terms[name]) + ")"


def phrase(plain: str) -> str:
    """A plain phrase as a regular expression: blanks and hyphens are free, English words keep their boundaries and may be inflected."""
    parts = re.findall(r"[a-z]+|[0-9.]+|[^\sa-z0-9.]", normalise(plain).text)
    out = ""
    for i, part in enumerate(parts):
        if i:
            out += r"[\s-]*" if not (part[0].isascii() and parts[i - 1][-1].isascii() and part[0].isalnum() and parts[i - 1][-1].isalnum()) else r"[\s_-]+"
        if part.isascii() and part.isalpha():
            out += _inflected(part)
        elif part[0].isdigit():
            out += rf"(?<![\d.]){re.escape(part)}(?![\d]|\.\d)"
        else:
            out += re.escape(part)
    return out


def _inflected(word: str) -> str:
    if len(word) < 4:
        return rf"(?<![a-z]){word}s?(?![a-z])" if len(word) > 1 else rf"(?<![a-z]){word}(?![a-z])"
    if word.endswith("e"):
        return rf"(?<![a-z]){word[:-1]}(?:e|es|ed|ing|er|ers)(?![a-z])"
    if word.endswith("y"):
        return rf"(?<![a-z]){word[:-1]}(?:y|ies|ied|ying|ys)(?![a-z])"
    return rf"(?<![a-z]){word}(?:{word[-1]}?(?:ed|ing)|s|es|er|ers|ly)?(?![a-z])"


def compile_rules(rubric: Rubric) -> dict[str, list[CompiledPattern]]:
    """Every link's and misconception's patterns by id."""
    return {
        holder.id: [CompiledPattern(p, rubric.terms) for p in holder.rules]
        for slot in rubric.slots.values()
        for holder in (*slot.links, *slot.misconceptions)
    }


@dataclass
class Written:
    """An answer as the rules read it: its text, its sentences, and what of it the writer himself refutes or doubts."""

    normal: Normal
    sents: list[Sentence]
    where: Stance

    @cached_property
    def windows(self) -> dict[str, list[list[Span]]]:
        """Runs of clauses within which a rule's groups must stand, by the name that a rule gives its window."""
        sents = self.sents
        singles = [list(s.clauses) for s in sents]
        doubles = [[*a.clauses, *b.clauses] for a, b in zip(sents, sents[1:])]
        triples = [[*a.clauses, *b.clauses, *c.clauses] for a, b, c in zip(sents, sents[1:], sents[2:]) if c.end - a.start <= _NEAR]
        return {"clause": [[c] for s in sents for c in s.clauses], "sentence": singles, "near": singles + doubles + triples}


def read(patterns: list[CompiledPattern], written: Written) -> Reading:
    """Look for one link or misconception. Of several places the shortest is taken."""
    normal, sents, where = written.normal, written.sents, written.where
    best: Hit | None = None
    contradicted = refuted = doubtful = False
    part = 0.0
    for pattern in patterns:
        for groups in pattern.variants:
            found = [[Span(*m.span()) for m in g.finditer(normal.text) if m.end() > m.start()] for g in groups]
            if not any(found):
                continue
            for window in written.windows[pattern.window]:
                start, end = window[0].start, window[-1].end + 1
                here = [[m for m in spans if start <= m.start and m.end <= end] for spans in found]
                part = max(part, sum(1 for h in here if h) / len(here))
                if not all(here):
                    continue
                said = [
                    [m for m in spans if not (where.refutes(m) if group.topic else _taken_back(normal.text, m, window, where))]
                    for spans, group in zip(here, groups)
                ]
                if not all(said):
                    if where.refutes(Span(window[0].start, window[-1].end)):
                        refuted = True  # what he refutes may itself be a denial
                    else:
                        contradicted = True
                    continue
                hit = _tightest(said, window)
                if hit is None or all(term_list(normal.text[s.start : s.end], 3) for s in sents if s.span.overlaps(hit)):
                    continue
                if pattern.unless and any(
                    not denied(normal.text, _clause_of(Span(*m.span()), window) or hit, Span(*m.span()))
                    for m in pattern.unless.finditer(normal.text, hit.start, hit.end)
                ):
                    contradicted = True
                    continue
                if where.doubts(hit):
                    doubtful = True
                    continue
                if best is None or hit.end - hit.start < best.span.end - best.span.start:
                    best = Hit(hit)
    return Reading(best, contradicted or (refuted and best is None), doubtful and best is None, 1.0 if best else part)


def _clause_of(m: Span, window: list[Span]) -> Span | None:
    """The clause a match begins in. A match may run on into the next clause of the same window."""
    if m.start < window[0].start or m.end > window[-1].end + 1:
        return None
    return next((c for c in reversed(window) if c.start <= m.start), None)


def _taken_back(text: str, m: Span, window: list[Span], where: Stance) -> bool:
    clause = _clause_of(m, window)
    return where.refutes(m) or denied(text, Span(clause.start, max(clause.end, m.end)), m)


def _tightest(said: list[list[Span]], window: list[Span]) -> Span | None:
    """The shortest stretch that holds one match of every group, widened to whole clauses."""
    events = sorted((m.start, m.end, g) for g, spans in enumerate(said) for m in spans)
    best = None
    for i, (start, _, _) in enumerate(events):
        ends: dict[int, int] = {}
        for s, e, g in events[i:]:
            if g not in ends or e < ends[g]:
                ends[g] = e if g not in ends else min(ends[g], e)
        if len(ends) == len(said):
            end = max(ends.values())
            if best is None or end - start < best.end - best.start:
                best = Span(start, end)
    if best is None or best.end - best.start > _MAX_QUOTE:
        return None
    first = _clause_of(Span(best.start, best.start), window) or window[0]
    last = next((c for c in window if c.end >= best.end), window[-1])
    return Span(min(first.start, best.start), max(last.end, best.end))
