"""A class for tests, made of the labelled answers of lessons/*/answers.jsonl, and a reader of known quality in place of the network.

The reader knows the labels and is wrong about a stated share of them, always the same ones: what a person sees of it is what a real one shows.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from types import SimpleNamespace

from autograder.answers.normalise import Span, normalise
from autograder.gradebook.course import CourseFolder
from autograder.gradebook.run import grade_submissions
from autograder.gradebook.tests.fake import FakeGrader, hand_in, notebook, result
from autograder.lesson import Lesson
from autograder.records import LinkFound, Result, SlotScore
from autograder.review.decisions import answer_key


@dataclass(frozen=True)
class Answer:
    """A labelled answer: links that it states and does not deny, misconceptions held, and is anything false asserted."""

    id: str
    slot: str
    lang: str
    split: str
    writer: str
    text: str
    sentences: tuple[tuple[str, frozenset[str], frozenset[str], bool], ...]
    links: frozenset[str]
    held: frozenset[str]
    wrong: bool
    points: int


def read_answers(lesson: Lesson) -> list[Answer]:
    out = []
    for line in (lesson.folder / "answers.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        slot = lesson.rubric.slots[row["slot"]]
        has = {x for s in row["segments"] for x in s["has"]}
        denied = {x for s in row["segments"] for x in s["denies"]}
        links = frozenset({x.id for x in slot.links} & has - denied)
        held = frozenset({m.id for m in slot.misconceptions} & has)
        text = ("" if row["lang"] == "zh" else " ").join(s["text"] for s in row["segments"])
        wrong = bool(held) or any(s["wrong"] for s in row["segments"])
        sentences = tuple(
            (s["text"], frozenset(s["has"]), frozenset(s["denies"]), bool(s["wrong"])) for s in row["segments"]
        )
        out.append(
            Answer(
                row["id"],
                row["slot"],
                row["lang"],
                row["split"],
                row["writer"],
                text,
                sentences,
                links,
                held,
                wrong,
                slot.points_for(links),
            )
        )
    return out


def share(*parts: object) -> float:
    """A number in [0, 1) that depends on the parts alone."""
    return int(hashlib.sha256(repr(parts).encode("utf-8", "surrogatepass")).hexdigest()[:12], 16) / 16**12


def simulated(lesson: Lesson, answers: Iterable[Answer], right: float = 0.9) -> Callable[[str, str], SimpleNamespace]:
    """An `assess` that is right about this share of all items; where it errs it is less sure, as readers are."""
    known = {(a.slot, a.text): a for a in answers}

    def assess(slot_name: str, text: str) -> SimpleNamespace:
        a, slot, normal = known[slot_name, text], lesson.rubric.slots[slot_name], normalise(text)

        def place(sentence: str) -> Span | None:
            at = text.find(sentence)
            start, end = normal.find(at), normal.find(at + len(sentence))
            return Span(start, end) if at >= 0 and end > start else None

        def evidence(name: str, true: bool, where: Callable) -> SimpleNamespace:
            errs = share("errs", a.id, name) >= right
            far = 0.5 * share("far", a.id, name) ** (1.5 if errs else 0.3)
            stands = next((s[0] for s in a.sentences if where(s)), a.sentences[0][0])
            denied = any(name in s[2] for s in a.sentences)
            return SimpleNamespace(
                id=name,
                present=0.5 + far if true != errs else 0.5 - far,
                contradicted=0.7 if denied and not errs else 0.02,
                span=place(stands),
            )

        links = tuple(evidence(x.id, x.id in a.links, lambda s, x=x: x.id in s[1] or x.id in s[2]) for x in slot.links)
        held = tuple(evidence(m.id, m.id in a.held, lambda s, m=m: m.id in s[1]) for m in slot.misconceptions)
        return SimpleNamespace(
            slot=slot_name,
            gate=SimpleNamespace(normal=normal),
            links=links,
            misconceptions=held,
            wrong=evidence("wrong", a.wrong, lambda s: s[3]),
        )

    return assess


def stored_score(lesson: Lesson, assess: Callable, slot_name: str, text: str, lane: str) -> SlotScore:
    """What grading would store of this reading."""
    slot, found = lesson.rubric.slots[slot_name], assess(slot_name, text)
    ticked = [e for e in found.links if e.present >= 0.5]
    quote = lambda e: found.gate.normal.quote(e.span.start, e.span.end) if e.span else text
    return SlotScore(
        slot=slot_name, points=slot.points_for({e.id for e in ticked}), max_points=slot.points, lane=lane,
        links=[LinkFound(id=e.id, quote=quote(e), layer="verifier", confidence=round(e.present, 3)) for e in ticked],
        missing=[e.id for e in found.links if e.present < 0.5], answer_key=answer_key(text),
        reasons=["需要人工确认。"] if lane == "review" else [], reasons_en=["A person should confirm."] if lane == "review" else [],
    )  # fmt: skip


def make_class(
    lesson: Lesson,
    course: CourseFolder,
    inbox,
    chosen: dict[str, dict[str, Answer]],
    assess: Callable,
    *,
    auto: Iterable[tuple[str, str]] = (),
    grader=None,
) -> FakeGrader:
    """Hand in and grade: student -> slot -> answer; every answer waits but those named in auto as (student, slot)."""
    auto = set(auto)
    for student, answers in chosen.items():
        hand_in(inbox, lesson, student, notebook(lesson, **{slot: a.text for slot, a in answers.items()}))

    def say(student: str, _fill: str) -> Result:
        slots = {
            name: stored_score(lesson, assess, name, a.text, "auto" if (student, name) in auto else "review")
            for name, a in chosen[student].items()
        }
        return result(lesson, student, state="REVIEW", slots=slots)

    grader = grader or FakeGrader(lesson, say)
    grade_submissions(lesson, inbox, course, grader=grader)
    return grader


def a_class(
    answers: list[Answer], students: int, *, slots: Iterable[str] = ("explanation", "q1", "q2", "q3"), alike: int = 0
) -> dict[str, dict[str, Answer]]:
    """A different answer for each student as far as they go, chosen by hash. alike n: every n-th student has those of the one before."""
    by_slot = {
        s: sorted((a for a in answers if a.slot == s and a.text.strip()), key=lambda a: share("class", a.id))
        for s in slots
    }
    number = lambda n: n - (alike > 0 and n % alike == alike - 1)
    return {f"s{n:03d}": {s: some[number(n) % len(some)] for s, some in by_slot.items()} for n in range(students)}
