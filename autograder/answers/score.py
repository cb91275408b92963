"""An answer slot scored: gate, rules, embeddings, and the lane that says whether the points may be released.

    score_slot("q2", rubric, answer, "zh") -> records.SlotScore
    score_many([("q2", answer, "zh"), ...], rubric) -> [SlotScore, ...]

The result is a function of the rubric and the answer alone: the same in every run, process and batch.
"""

from __future__ import annotations

import itertools
import math
from collections import OrderedDict
from dataclasses import dataclass

import numpy as np

from autograder.answers import calibration, embed, remarks, rules
from autograder.answers.aside import Aside, Subject, aside, plain
from autograder.answers.copied import sources
from autograder.answers.gate import Gate, gate
from autograder.answers.normalise import Span, normalise
from autograder.answers.polarity import Stance, stance
from autograder.answers.reasons import say
from autograder.answers.segment import Sentence, sentences
from autograder.answers.turned import Vouched
from autograder.lesson.rubric import Rubric, Slot
from autograder.records import LinkFound, MisconceptionFound, SlotScore

MAX_CHARS = 8_000  # of an answer; beyond it a person reads
_CERTAIN = 0.995
_TOGETHER = 8  # answers encoded in one call
_BESIDE = 0.2  # likelihood of any misconception from which credit beside it waits for a person
_UNREAD = 60  # width of text about the slot that no link explains (30 Chinese characters), from which part of the points may be too few
# A sentence beside the credited ones contradicts them the likelier, the longer it is and the nearer to wrong sentences: weights of its cosine
# to the nearest right and wrong one and of its width / 60, from a logistic fit of labelled wrong sentences against what right answers say.
_SAYS_WRONG, _WRONG = (0.67, 2.37, 1.75), 6.0
_DENIED = 0.49  # of a link whose terms stand together but denied: likeness alone never credits it


@dataclass(frozen=True)
class Evidence:
    """What the layers say of one link or misconception. p: how likely the answer states it."""

    id: str
    seen: calibration.Seen
    p: float
    span: Span | None

    @property
    def hit(self) -> bool:
        return self.seen.reading.hit is not None


@dataclass(frozen=True)
class Assessment:
    """Everything the offline layers found in one answer; score_slot makes the SlotScore of it, and the judge reads it too."""

    slot: str
    gate: Gate
    links: tuple[Evidence, ...]
    misconceptions: tuple[Evidence, ...]
    aside: Aside | None = None
    turned: str = ""
    against: str = ""  # a sentence that no rule reads and that may contradict the credit


@dataclass(frozen=True)
class _Read:
    """An answer after the gate: its sentences, the writer's stance, what the rules read, and the pieces to encode."""

    slot: str
    gate: Gate
    sents: list[Sentence]
    where: Stance
    readings: dict[str, rules.Reading]
    pieces: list[embed.Unit]
    openings: list[Span]

    @property
    def texts(self) -> list[str]:
        text = self.gate.normal.text
        return [u.text for u in self.pieces] + [remarks.bare(text[o.start : o.end]) for o in self.openings]


@dataclass(frozen=True)
class Conclusion:
    """A score, and the codes (reasons.py) for which a person must look."""

    score: SlotScore
    review: frozenset[str]


class Scorer:
    """A rubric made ready: rules compiled, exemplars encoded once. Slots are prepared when first asked for."""

    def __init__(self, rubric: Rubric):
        self.rubric = rubric
        self.rules = rules.compile_rules(rubric)
        self.subject = Subject(rubric, {g.regex for patterns in self.rules.values() for p in patterns for groups in p.variants for g in groups})
        self._vectors: dict[str, embed.SlotVectors] = {}
        self._vouched: dict[str, Vouched] = {}

    def vectors(self, slot_name: str) -> embed.SlotVectors:
        if slot_name not in self._vectors:
            self._vectors[slot_name] = embed.SlotVectors(self.rubric.slots[slot_name])
        return self._vectors[slot_name]

    def vouched(self, slot_name: str) -> Vouched:
        if slot_name not in self._vouched:
            self._vouched[slot_name] = Vouched(self.rubric.slots[slot_name])
        return self._vouched[slot_name]

    def warm(self) -> None:
        """Prepare every slot now, and load the encoder, so that no answer has to wait for it."""
        for slot_name in self.rubric.slots:
            self.vectors(slot_name)
            self.vouched(slot_name)
        embed.encode(["warm"])

    def assess(self, slot_name: str, answer: str, lang: str, lesson_text: str = "") -> Assessment:
        """Run gate, rules and embeddings on one answer."""
        return self.assess_all([(slot_name, answer)], lesson_text)[0]

    def assess_all(self, items: list[tuple[str, str]], lesson_text: str = "") -> list[Assessment]:
        """Several (slot_name, answer) pairs: as `assess` does each, but the encoder is called once, which is faster."""
        read = [self._read(slot_name, answer, lesson_text) for slot_name, answer in items]
        texts = [r.texts for r in read]
        vectors = embed.encode([t for some in texts for t in some])
        out, start = [], 0
        for r, some in zip(read, texts):
            out.append(self._weigh(r, vectors[start : start + len(some)]))
            start += len(some)
        return out

    def _read(self, slot_name: str, answer: str, lesson_text: str) -> _Read:
        slot = self.rubric.slots[slot_name]
        question = f"{slot.question.zh}\n{slot.question.en}"
        g = gate(answer[:MAX_CHARS], question, sources(self.rubric, slot_name, lesson_text))
        if "injection" in g.always and not self._may_state_a_link(slot, answer[:MAX_CHARS]):
            g.always.remove("injection")
        sents = [] if g.empty else sentences(g.normal)
        where = stance(g.normal.text, sents)
        written = rules.Written(g.normal, sents, where)
        readings = {h.id: rules.read(self.rules[h.id], written) if sents else rules.Reading() for h in (*slot.links, *slot.misconceptions)}
        credited = [readings[x.id].hit.span for x in slot.links if readings[x.id].hit]
        openings = remarks.openings(g.normal.text, sents, credited) if any(x.hit for x in readings.values()) else []
        return _Read(slot_name, g, sents, where, readings, embed.units(g.normal, sents, where), openings)

    def _may_state_a_link(self, slot: Slot, answer: str) -> bool:
        """Holds an answer half of what some link asks for, were none of it discarded? Else it is worth nothing, and no false alarm costs it anything."""
        whole = normalise(answer)
        sents = sentences(whole)
        written = rules.Written(whole, sents, stance(whole.text, sents))
        return any(rules.read(self.rules[x.id], written).part >= 0.5 for x in slot.links)

    def _weigh(self, r: _Read, vectors: np.ndarray) -> Assessment:
        slot = self.rubric.slots[r.slot]
        likeness = self.vectors(r.slot).compare(r.pieces, vectors[: len(r.pieces)])
        holders, readings = (*slot.links, *slot.misconceptions), r.readings
        explained = [x.hit.span for x in readings.values() if x.hit] + list(r.where.refuted)
        open_text = likeness.open_text(explained)
        weights = calibration.load()
        found = []
        for n, holder in enumerate(holders):
            kind = "link" if n < len(slot.links) else "misconception"
            reading = readings[holder.id]
            seen = calibration.Seen(reading, likeness.likeness(holder.id), open_text, likeness.unexplained(holder.id, explained))
            p = weights.probability(kind, seen) if r.sents else 0.0
            if reading.contradicted and not reading.hit:
                p = min(p, _DENIED)
            found.append(Evidence(holder.id, seen, p, reading.hit.span if reading.hit else seen.likeness.span))
        stated = any(e.hit for e in found)  # only what a rule found is ever released or sure
        beside, against = None, ""
        if stated:
            unread = likeness.beside([readings[x.id].hit.span for x in slot.links if readings[x.id].hit])
            beside = aside(r.gate.normal, r.sents, self.subject) or _remark(r, unread, remarks.values(vectors), self.vectors(r.slot).nearest(vectors[len(r.pieces) :]))
            against = _against(r, unread)
        turned = self.vouched(r.slot).turned(r.gate.normal, r.sents) if stated else ""
        return Assessment(r.slot, r.gate, tuple(found[: len(slot.links)]), tuple(found[len(slot.links) :]), beside, turned, against)


def _remark(r: _Read, unread: list[embed.Beside], values: np.ndarray, nearest: np.ndarray) -> Aside | None:
    """The first sentence beside the credited ones, or opening of a sentence, that speaks of the answer itself or of nothing the rubric knows.
    values: of all pieces and openings; nearest: of the openings."""
    text = r.gate.normal.text
    for b in unread:
        if (values[b.number] > remarks.REMARK or b.nearest < remarks.FOREIGN) and not plain(text[b.span.start : b.span.end]):
            return Aside(r.gate.normal.quote(b.span.start, b.span.end), False)
    for span, value, near in zip(r.openings, values[len(r.pieces) :], nearest):
        if value > remarks.OPENING + 2.5 * max(0.0, near - remarks.NEAR):
            return Aside(r.gate.normal.quote(span.start, span.end), False)
    return None


def _against(r: _Read, unread: list[embed.Beside]) -> str:
    """The sentence beside the credited ones that is likeliest to say something wrong of the subject, "" where none is likely to."""
    z = [(_SAYS_WRONG[0] * b.right + _SAYS_WRONG[1] * b.wrong + _SAYS_WRONG[2] * min(b.width, 150) / 60, b.span) for b in unread]
    worst, span = max(z, key=lambda x: x[0], default=(0.0, None))
    return r.gate.normal.quote(span.start, span.end) if span and worst >= _WRONG else ""


_ready: OrderedDict[int, Scorer] = OrderedDict()  # by id of the rubric, which the scorer keeps alive; least recently used first
_READY = 32  # rubrics kept: more than a course has lessons


def scorer(rubric: Rubric) -> Scorer:
    """The prepared form of a rubric, made once per process."""
    ready = _ready.get(id(rubric)) or Scorer(rubric)
    _ready[id(rubric)] = ready
    _ready.move_to_end(id(rubric))
    while len(_ready) > _READY:
        _ready.popitem(last=False)
    return ready


def score_slot(slot_name: str, rubric: Rubric, answer_text: str, lang: str, *, lesson_text: str = "", reasons_lang: str | None = None) -> SlotScore:
    """Score one answer offline.

    slot_name: explanation, q1, q2 or q3.  answer_text: as submitted.  lang: the notebook's language, in which reasons are given
    unless reasons_lang says otherwise; the answer itself may be in either.  lesson_text: the lesson page, to find copied text.
    Every quote in the result is a substring of answer_text. Never raises for any answer.
    """
    return conclude(scorer(rubric).assess(slot_name, answer_text, lang, lesson_text), rubric, answer_text, reasons_lang or lang).score


def score_many(items: list[tuple[str, str, str]], rubric: Rubric, *, lesson_text: str = "", reasons_lang: str | None = None) -> list[SlotScore]:
    """Score (slot_name, answer_text, lang) triples; equal ones are scored once. Same results as score_slot, in the same order."""
    ready, known = scorer(rubric), {}
    new = list(dict.fromkeys(items))
    for start in range(0, len(new), _TOGETHER):
        some = new[start : start + _TOGETHER]
        for item, found in zip(some, ready.assess_all([(slot_name, answer) for slot_name, answer, _ in some], lesson_text)):
            known[item] = conclude(found, rubric, item[1], reasons_lang or item[2]).score
    return [known[item].model_copy(deep=True) for item in items]


def points_for(slot: Slot, found: set[str]) -> int:
    """Points of a set of links: full with `full` links and every required one, half (rounded down) with `some`, else none."""
    if len(found) >= slot.full and set(slot.required_for_full) <= found:
        return slot.points
    return slot.points // 2 if len(found) >= slot.some else 0


def confidence(slot: Slot, evidence: tuple[Evidence, ...], points: int) -> float:
    """Probability of exactly these points, the links being judged one by one. Links that are certain are not varied."""
    fixed = {e.id for e in evidence if e.p > _CERTAIN}
    open_ = [e for e in evidence if 1 - _CERTAIN <= e.p <= _CERTAIN]
    open_ = sorted(open_, key=lambda e: abs(e.p - 0.5))[:12]
    total = 0.0
    for choice in itertools.product((False, True), repeat=len(open_)):
        if points_for(slot, fixed | {e.id for e, c in zip(open_, choice) if c}) == points:
            total += math.prod(e.p if c else 1 - e.p for e, c in zip(open_, choice))
    return total


def conclude(a: Assessment, rubric: Rubric, answer: str, lang: str) -> Conclusion:
    """Points, lane and reasons from an offline assessment."""
    slot = rubric.slots[a.slot]
    normal = a.gate.normal
    credited = [e for e in a.links if e.p >= 0.5]
    found = {e.id for e in credited}
    points = points_for(slot, found)
    wrong, open_ = _misconceptions(a, slot, found, points)
    review: list[tuple[str, dict]] = [(code, {}) for code in a.gate.review if points or wrong or code in a.gate.always]
    if len(answer) > MAX_CHARS:
        review.append(("too_long", {}))
    ruled = points_for(slot, {e.id for e in credited if e.hit})  # what is released rests on both layers, never on likeness alone
    if ruled != points or confidence(slot, a.links, points) < calibration.load().auto:
        review.append(("unsure", {}))
    if any(e.seen.reading.doubtful for e in a.links):
        review.append(("doubtful", {}))
    if any(e.hit and e.seen.reading.contradicted for e in credited):
        review.append(("contradicted", {}))
    if points and a.aside:
        review.append(("aside", {"quote": _short(a.aside.text)}))
    if 0 < points < slot.points and a.links[0].seen.open_text > _UNREAD:
        review.append(("unread", {}))
    if points == slot.points and a.against:
        review.append(("against", {"quote": _short(a.against)}))
    if points and a.turned:
        review.append(("turned", {"quote": _short(a.turned)}))
    review += [("misconception_unsure", {"quote": _short(normal.quote(e.span.start, e.span.end))}) for e in open_ if e.span]
    told = review + [(f"discarded_{kind}", {}) for kind in sorted(a.gate.kinds)]
    if a.gate.empty and not a.gate.discarded:
        told.append(("empty", {}))
    score = SlotScore(
        slot=a.slot,
        points=points,
        max_points=slot.points,
        lane="review" if review else "auto",
        links=[
            LinkFound(id=e.id, quote=normal.quote(e.span.start, e.span.end), layer="rules" if e.hit else "embedding", confidence=round(e.p, 3))
            for e in credited
        ],
        missing=[e.id for e in a.links if e.id not in found],
        misconceptions=wrong,
        discarded=[q for _, q in a.gate.discarded],
        reasons=list(dict.fromkeys(say(code, lang, **values) for code, values in told)),
        reasons_en=list(dict.fromkeys(say(code, "en", **values) for code, values in told)),
    )
    return Conclusion(score, frozenset(code for code, _ in review))


def _misconceptions(a: Assessment, slot: Slot, found: set[str], points: int) -> tuple[list[MisconceptionFound], list[Evidence]]:
    """Misconceptions that a rule finds, each sure or not; and those that a person must judge: the vetoes that are neither found nor
    excluded, then, beside any credit, the others that may be there, since such an answer says both.

    A sure one is found by a rule, likely by all layers, contradicted by no link of the same answer, and nothing in it says that it is
    not what he thinks ("Myth: ..."). Mere likeness counts for nothing where the answer states a link that contradicts it: who explains
    the reduction speaks of softmax too.
    """
    weights = calibration.load()
    stated = {x.id for x in a.links if x.hit} & found
    wrong, vetoes, beside = [], [], []
    for e, m in zip(a.misconceptions, slot.misconceptions):
        against = stated & set(m.against)
        sure = e.hit and e.p >= weights.misconception_high and not against and not (a.aside and a.aside.stance)
        if e.hit:
            wrong.append(MisconceptionFound(id=e.id, quote=a.gate.normal.quote(e.span.start, e.span.end), veto=m.veto, sure=sure))
        if m.veto and not sure and (e.hit or (e.p > weights.misconception_low and not against)):
            vetoes.append(e)
        elif points and (e.hit or (e.p > _BESIDE and not found & set(m.against))):
            beside.append(e)
    return wrong, [] if any(m.veto and m.sure for m in wrong) else vetoes + beside


def _short(text: str, most: int = 120) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
