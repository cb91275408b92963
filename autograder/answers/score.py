"""An answer slot scored: gate, reader, points, and the lane that says whether the points may be released.

    score_slot("q2", rubric, answer, "zh") -> records.SlotScore
    score_many([("q2", answer, "zh"), ...], rubric) -> [SlotScore, ...]

The result is a function of the rubric, the answer and the reader's files alone: the same in every run, process and batch.
"""

from __future__ import annotations

import itertools
import math
from collections import OrderedDict
from dataclasses import dataclass

import numpy as np

from autograder.answers.copied import sources
from autograder.answers.gate import Gate, gate
from autograder.answers.items import WRONG
from autograder.answers.lanes import Lanes, shipped_lanes
from autograder.answers.normalise import Span
from autograder.answers.reasons import say
from autograder.answers.remarks import remark
from autograder.answers.segment import sentences
from autograder.answers.verifier import Asked, Seen, Verifier, shipped
from autograder.lesson.rubric import Misconception, Rubric, Slot
from autograder.records import LinkFound, MisconceptionFound, SlotScore

MAX_CHARS = 8_000  # of an answer; beyond it a person reads
CREDIT = 0.5  # likelihood from which a link is credited
_CERTAIN = 0.995


@dataclass(frozen=True)
class Evidence:
    """What the reader says of one item.  present, contradicted: how likely the answer asserts it, or its opposite.
    mark: how strongly its strongest sentence shows it.  span: that sentence, in the canonical text."""

    id: str
    present: float = 0.0
    contradicted: float = 0.0
    mark: float = 0.0
    span: Span | None = None


@dataclass(frozen=True)
class Assessment:
    """Everything found in one answer; `conclude` makes the SlotScore of it, and the judge and `course review` read it too."""

    slot: str
    gate: Gate
    links: tuple[Evidence, ...]
    misconceptions: tuple[Evidence, ...]
    wrong: Evidence
    remark: Span | None = None  # where the answer seems to speak of itself

    @property
    def signs(self) -> tuple[float, float, float, float]:
        """What speaks for something false in the answer: see lanes.py."""
        denied = max((e.contradicted for e in self.links), default=0.0)
        return self.wrong.present, self.wrong.mark, denied, max((e.present for e in self.misconceptions), default=0.0)


@dataclass(frozen=True)
class Conclusion:
    """A score, and the codes (reasons.py) for which a person must look."""

    score: SlotScore
    review: frozenset[str]


class Scorer:
    """A rubric made ready: its items worked out when a slot is first asked for."""

    def __init__(self, rubric: Rubric, verifier: Verifier | None = None):
        self.rubric = rubric
        self._verifier = verifier
        self._asked: dict[str, Asked] = {}
        self._known: OrderedDict[tuple[str, str, str], Assessment] = OrderedDict()

    @property
    def verifier(self) -> Verifier:
        self._verifier = self._verifier or shipped()
        return self._verifier

    def asked(self, slot_name: str) -> Asked:
        if slot_name not in self._asked:
            self._asked[slot_name] = self.verifier.ask(self.rubric.slots[slot_name])
        return self._asked[slot_name]

    def warm(self) -> None:
        """Prepare every slot now, so that no answer has to wait for it."""
        for slot_name in self.rubric.slots:
            self.asked(slot_name)

    def assess(self, slot_name: str, answer: str, lesson_text: str = "") -> Assessment:
        """Run gate and reader on one answer. The last few thousand are remembered: what a class hands in twice is read once."""
        key = slot_name, answer, lesson_text
        if key not in self._known:
            self._known[key] = self._assess(*key)
            if len(self._known) > _KNOWN:
                self._known.popitem(last=False)
        return self._known[key]

    def _assess(self, slot_name: str, answer: str, lesson_text: str) -> Assessment:
        slot = self.rubric.slots[slot_name]
        question = f"{slot.question.zh}\n{slot.question.en}"
        g = gate(answer[:MAX_CHARS], question, sources(self.rubric, slot_name, lesson_text))
        if {"injection", "terms"} & g.kinds and not self._may_earn(slot_name, g.whole.text):
            g.always -= {"injection", "terms"}  # no false alarm could cost this answer anything
        text = g.normal.text
        seen = {} if g.empty else self.verifier.read(self.asked(slot_name), text)
        spans = [s.span for s in sentences(g.normal)] if seen else []
        find = lambda name: _evidence(name, seen[name], spans) if seen else Evidence(name)
        return Assessment(
            slot_name,
            g,
            tuple(find(x.id) for x in slot.links),
            tuple(find(m.id) for m in slot.misconceptions),
            find(WRONG),
            remark(text),
        )

    def _may_earn(self, slot_name: str, text: str) -> bool:
        """Does the reader find a link in the text as it stood before the gate's cuts? Then a person sees what was cut."""
        links = {x.id for x in self.rubric.slots[slot_name].links}
        return any(
            seen.present >= CREDIT
            for name, seen in self.verifier.read(self.asked(slot_name), text).items()
            if name in links
        )


def _evidence(name: str, seen: Seen, spans: list[Span]) -> Evidence:
    marks = [float(np.mean(seen.marks[s.start : s.end])) for s in spans]
    best = int(np.argmax(marks)) if marks else -1
    return Evidence(
        name, seen.present, seen.contradicted, marks[best] if marks else 0.0, spans[best] if marks else None
    )


_ready: OrderedDict[int, Scorer] = (
    OrderedDict()
)  # by id of the rubric, which the scorer keeps alive; least recently used first
_READY = 32  # rubrics kept: more than a course has lessons
_KNOWN = 4_000  # answers kept a rubric


def scorer(rubric: Rubric) -> Scorer:
    """The prepared form of a rubric, made once per process."""
    ready = _ready.get(id(rubric)) or Scorer(rubric)
    _ready[id(rubric)] = ready
    _ready.move_to_end(id(rubric))
    while len(_ready) > _READY:
        _ready.popitem(last=False)
    return ready


def score_slot(
    slot_name: str,
    rubric: Rubric,
    answer_text: str,
    lang: str,
    *,
    lesson_text: str = "",
    reasons_lang: str | None = None,
) -> SlotScore:
    """Score one answer offline.

    slot_name: explanation, q1, q2 or q3.  answer_text: as submitted.  lang: the notebook's language, in which reasons are given
    unless reasons_lang says otherwise; the answer itself may be in either.  lesson_text: the lesson page, to find copied text.
    Every quote in the result is a substring of answer_text. Raises CourseError only where the reader itself cannot be loaded.
    """
    return conclude(
        scorer(rubric).assess(slot_name, answer_text, lesson_text), rubric, answer_text, reasons_lang or lang
    ).score


def score_many(
    items: list[tuple[str, str, str]], rubric: Rubric, *, lesson_text: str = "", reasons_lang: str | None = None
) -> list[SlotScore]:
    """Score (slot_name, answer_text, lang) triples; equal ones are scored once. Same results as score_slot, in the same order."""
    known = {
        i: score_slot(i[0], rubric, i[1], i[2], lesson_text=lesson_text, reasons_lang=reasons_lang)
        for i in dict.fromkeys(items)
    }
    return [known[item].model_copy(deep=True) for item in items]


def confidence(slot: Slot, evidence: tuple[Evidence, ...], points: int) -> float:
    """Probability of exactly these points, the links being judged one by one. Links that are certain are not varied."""
    fixed = {e.id for e in evidence if e.present > _CERTAIN}
    open_ = [e for e in evidence if 1 - _CERTAIN <= e.present <= _CERTAIN]
    open_ = sorted(open_, key=lambda e: abs(e.present - 0.5))[:12]
    total = 0.0
    for choice in itertools.product((False, True), repeat=len(open_)):
        if slot.points_for(fixed | {e.id for e, c in zip(open_, choice) if c}) == points:
            total += math.prod(e.present if c else 1 - e.present for e, c in zip(open_, choice))
    return total


def conclude(a: Assessment, rubric: Rubric, answer: str, lang: str, lanes: Lanes | None = None) -> Conclusion:
    """Points, lane and reasons from an assessment."""
    slot = rubric.slots[a.slot]
    lanes = lanes or shipped_lanes()
    quote = lambda e: a.gate.normal.quote(e.span.start, e.span.end) if e.span else ""
    credited = [e for e in a.links if e.present >= CREDIT]
    found = {e.id for e in credited}
    points = slot.points_for(found)
    wrong = [
        _held(m, e, quote(e), points, a, lanes)
        for m, e in zip(slot.misconceptions, a.misconceptions)
        if e.present >= CREDIT
    ]
    review: list[tuple[str, dict]] = [(code, {}) for code in a.gate.review if points or wrong or code in a.gate.always]
    if len(answer) > MAX_CHARS:
        review.append(("too_long", {}))
    if confidence(slot, a.links, points) < lanes.sure:
        near = min(a.links, key=lambda e: abs(e.present - CREDIT))
        review.append(("unsure", {"quote": _short(quote(near))}))
    decides = (
        points or a.slot == "explanation"
    )  # a question without a causal link fails as it is, whatever is wrong in it
    if decides and not any(m.veto and m.sure for m in wrong) and lanes.doubt(a.signs) > lanes.most_doubt:
        review.append(("maybe_wrong", {"quote": _short(quote(a.wrong))}))
    if points and a.remark:
        review.append(("remark", {"quote": _short(a.gate.normal.quote(a.remark.start, a.remark.end))}))
    if not points and not a.gate.empty and lanes.doubt(a.signs) < lanes.least_doubt:
        review.append(("maybe_more", {}))
    vetoes = [
        e
        for m, e in zip(slot.misconceptions, a.misconceptions)
        if m.veto and e.present >= lanes.veto_open and not found & set(m.against)
    ]
    sure = {m.id for m in wrong if m.sure}
    review += [("misconception_unsure", {"quote": _short(quote(e))}) for e in vetoes if e.id not in sure]
    told = review + [(f"discarded_{kind}", {}) for kind in sorted(a.gate.kinds)]
    if a.gate.empty and not a.gate.discarded:
        told.append(("empty", {}))
    to_instructor = [
        ("unsure_link", {**v, "link": _named(slot, near.id)}) if code == "unsure" else (code, v) for code, v in told
    ]
    score = SlotScore(
        slot=a.slot,
        points=points,
        max_points=slot.points,
        lane="review" if review else "auto",
        links=[LinkFound(id=e.id, quote=quote(e), layer="verifier", confidence=round(e.present, 3)) for e in credited],
        missing=[e.id for e in a.links if e.id not in found],
        misconceptions=wrong,
        discarded=[q for _, q in a.gate.discarded],
        reasons=list(dict.fromkeys(say(code, lang, **values) for code, values in told)),
        reasons_en=list(dict.fromkeys(say(code, "en", **values) for code, values in to_instructor)),
    )
    return Conclusion(score, frozenset(code for code, _ in review))


def _held(m: Misconception, e: Evidence, quote: str, points: int, a: Assessment, lanes: Lanes) -> MisconceptionFound:
    """A misconception that is there. Sure, and so a veto, only where all signs agree and the slot earns nothing: beside credit a person decides."""
    sure = not points and e.present >= lanes.veto_sure and lanes.doubt(a.signs) >= lanes.veto_doubt
    return MisconceptionFound(id=e.id, quote=quote, veto=m.veto, sure=sure)


def _named(slot: Slot, link: str) -> str:
    """A link for the instructor, in short: students are told none, since a link is the answer."""
    x = next(x for x in slot.links if x.id == link)
    return _short(f"{x.cause.en} → {x.effect.en}")


def _short(text: str, most: int = 120) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
