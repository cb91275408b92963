"""What the reader says of one answer, as `course review` shows it: the one place that knows the reader's interface.

Where the reader cannot be loaded, what grading stored is shown instead, and one sentence says so.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from autograder.errors import CourseError
from autograder.lesson import Lesson
from autograder.lesson.rubric import Slot
from autograder.records import SlotScore

WRONG = "wrong"  # the item "asserts something false"
TICKED = 0.5  # likelihood from which a link counts as stated
OPEN = 0.15  # from this likelihood, and up to one minus it, an item is in doubt
_MISSING = 0.05  # likelihood of a link that grading stored as missing


@dataclass(frozen=True)
class Mark:
    """One item. kind: link, misconception or wrong.  present, contradicted: likelihoods.  start, end: its sentence in the answer as
    submitted, equal where there is none."""

    id: str
    kind: str
    present: float
    contradicted: float = 0.0
    start: int = 0
    end: int = 0

    @property
    def ticked(self) -> bool:
        return self.present >= TICKED

    @property
    def sure(self) -> float:
        """Likelihood that it is as it is ticked."""
        return max(self.present, 1 - self.present)

    @property
    def doubted(self) -> bool:
        return OPEN <= self.present <= 1 - OPEN or (self.kind == "link" and self.contradicted >= OPEN)


@dataclass(frozen=True)
class Read:
    """One answer read: a mark for each link, each misconception and WRONG, in the rubric's order."""

    marks: tuple[Mark, ...]

    @property
    def links(self) -> frozenset[str]:
        return frozenset(m.id for m in self.marks if m.kind == "link" and m.ticked)

    @property
    def misconceptions(self) -> frozenset[str]:
        return frozenset(m.id for m in self.marks if m.kind == "misconception" and m.ticked)

    @property
    def false(self) -> bool:
        return any(m.kind == WRONG and m.ticked for m in self.marks) or bool(self.misconceptions)

    @property
    def sure(self) -> float:
        """Likelihood that all ticks are right, the items taken as independent."""
        return math.prod(m.sure * (1 - m.contradicted if m.kind == "link" and m.ticked else 1) for m in self.marks)

    @property
    def vector(self) -> tuple[float, ...]:
        return tuple(x for m in self.marks for x in (m.present, m.contradicted))


Assess = Callable[[str, str], object]  # (slot, answer) -> autograder.answers.score.Assessment


class Reader:
    """A lesson's reader. assess: for tests; by default the scorer of the lesson's rubric."""

    def __init__(self, lesson: Lesson, assess: Assess | None = None):
        self.lesson, self._assess, self.problem = lesson, assess, ""

    def read(self, slot_name: str, answer: str, score: SlotScore) -> Read:
        """score: what grading stored, taken where the reader cannot be loaded."""
        slot = self.lesson.rubric.slots[slot_name]
        if not self.problem:
            try:
                return _of_assessment(slot, (self._assess or self._scorer())(slot_name, answer))
            except CourseError as e:
                self.problem = f"The reader cannot be used, so the page shows what grading stored: {e}"
        return of_score(slot, answer, score)

    def _scorer(self) -> Assess:
        from autograder.answers.score import scorer
        from autograder.submission.read import released

        ready = scorer(self.lesson.rubric)
        pages = "\n\n".join(edition.text for edition in released(self.lesson).values())
        self._assess = lambda slot_name, answer: ready.assess(slot_name, answer, pages)
        return self._assess


def _of_assessment(slot: Slot, a) -> Read:
    some = [("link", e) for e in a.links] + [("misconception", e) for e in a.misconceptions] + [(WRONG, a.wrong)]
    return Read(
        tuple(
            Mark(
                WRONG if kind == WRONG else e.id,
                kind,
                float(e.present),
                float(e.contradicted),
                *_place(a.gate.normal, e.span),
            )
            for kind, e in some
        )
    )


def _place(normal, span) -> tuple[int, int]:
    """A span of the canonical text in the original, blanks at its ends left out."""
    if span is None or span.end <= span.start or span.start >= len(normal.at):
        return 0, 0
    start, end = normal.at[span.start], normal.at[min(span.end, len(normal.at)) - 1] + 1
    text = normal.original[start:end]
    return start + len(text) - len(text.lstrip()), start + len(text.rstrip())


def of_score(slot: Slot, answer: str, score: SlotScore) -> Read:
    """What a stored score tells: the links it found, the misconceptions, and no likelihood of what it did not find."""
    found = {x.id: (x.confidence, x.quote) for x in score.links} | {
        m.id: (0.9 if m.sure else 0.6, m.quote) for m in score.misconceptions
    }

    def mark(name: str, kind: str) -> Mark:
        present, quote = found.get(name, (_MISSING, ""))
        at = answer.find(quote) if quote else -1
        return Mark(name, kind, present, 0.0, max(at, 0), max(at, 0) + len(quote) if at >= 0 else 0)

    marks = [mark(x.id, "link") for x in slot.links] + [mark(m.id, "misconception") for m in slot.misconceptions]
    return Read((*marks, Mark(WRONG, WRONG, _MISSING)))
