"""Labelled answers: lessons/*/answers.jsonl, sentence by sentence where a writer labelled them so.

One object a line: id, slot, lang (zh, en or mix), writer, split, segments; kind (injected, stuffed, terms_only, negated, off_topic) where
the answer is no honest attempt. A segment has text, has (ids of links and misconceptions that it asserts), denies (ids whose opposite it
asserts), wrong (does it assert anything false? null: nobody said). Splits: `train` is learnt from; `calibration` is one writer whom the
reader never learnt from, on whom the lanes are fitted; `independent` is other writers again, for figures.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from autograder.errors import CourseError
from autograder.lesson.rubric import Rubric, Slot

SPLITS = ("train", "calibration", "independent")
KINDS = ("injected", "stuffed", "terms_only", "negated", "off_topic")


class Segment(BaseModel):
    model_config = ConfigDict(extra="forbid")
    text: str
    has: list[str] = []
    denies: list[str] = []
    wrong: bool | None = None


class Labelled(BaseModel):
    """One labelled answer."""

    model_config = ConfigDict(extra="forbid")
    id: str
    slot: str
    lang: str
    writer: str
    split: str
    kind: str = ""
    segments: list[Segment]

    @property
    def answer(self) -> str:
        return ("" if self.lang == "zh" else " ").join(s.text for s in self.segments)

    def gold(self, slot: Slot) -> Gold:
        has = set().union(*(s.has for s in self.segments))
        denied = set().union(*(s.denies for s in self.segments))
        links = {x.id for x in slot.links} & has - denied
        flags = [s.wrong for s in self.segments]
        held = {m.id for m in slot.misconceptions} & has
        veto = any(m.veto for m in slot.misconceptions if m.id in held)
        return Gold(
            slot.points_for(links),
            frozenset(links),
            True if held or any(flags) else None if None in flags else False,
            veto,
        )


@dataclass(frozen=True)
class Gold:
    """What the labels give: points, links stated, is anything false asserted (None: not labelled), is a veto held."""

    points: int
    links: frozenset[str]
    wrong: bool | None
    veto: bool


def read_labelled(path: Path, rubric: Rubric | None = None) -> list[Labelled]:
    """Every line. Raises CourseError with the line that cannot be used; with a rubric, ids are checked against it."""
    if not path.is_file():
        raise CourseError(
            "The lesson has no labelled answers.",
            where=str(path),
            remedy="Add answers.jsonl; its form is told in autograder/answers/labelled.py.",
        )
    out = []
    for n, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip():
            continue
        try:
            row = Labelled.model_validate_json(line)
        except ValidationError as e:
            raise CourseError(
                f"The labelled answer cannot be read: {misfit(e)}.",
                where=f"{path}:{n}",
                remedy="Mend the line; its form is told in autograder/answers/labelled.py.",
            ) from None
        if why := problem(row, rubric):
            raise CourseError(why, where=f"{path}:{n}", remedy="Mend the label, or the rubric.")
        out.append(row)
    return out


def misfit(e: ValidationError) -> str:
    """What a line lacks of the form, in a clause."""
    first = e.errors()[0]
    return f"{'.'.join(map(str, first['loc'])) or 'the line'}: {first['msg']}"


def problem(row: Labelled, rubric: Rubric | None) -> str:
    """What is wrong with a line's values, "" for nothing."""
    if row.split not in SPLITS or row.lang not in ("zh", "en", "mix") or row.kind not in ("", *KINDS):
        return f"split, lang or kind is none of those known: {row.split}, {row.lang}, {row.kind}."
    if not row.segments:
        return "The answer has no segment."
    if rubric and row.slot not in rubric.slots:
        return f"There is no slot {row.slot!r}."
    if rubric:
        slot = rubric.slots[row.slot]
        known = {x.id for x in (*slot.links, *slot.misconceptions)}
        if unknown := {x for s in row.segments for x in (*s.has, *s.denies)} - known:
            return f"The label names ids that the rubric's slot {row.slot} does not have: {', '.join(sorted(unknown))}."
    return ""
