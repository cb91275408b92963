"""rubric.yml as a schema: points, causal links, misconceptions, hints, in both languages."""

from __future__ import annotations

from collections.abc import Mapping, Set
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from autograder.errors import CourseError
from autograder.lesson.references import figures_of, fill


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Text(_Strict):
    """The same thing said in both languages."""

    zh: str = Field(min_length=1)
    en: str = Field(min_length=1)

    def get(self, lang: str) -> str:
        return getattr(self, lang)


ARROW = " -> "


class _Chain(_Strict):
    """`zh` and `en` are each "cause -> mechanism -> effect"."""

    zh: str
    en: str

    @field_validator("zh", "en")
    @classmethod
    def _three(cls, text: str) -> str:
        parts = text.split(ARROW)
        if len(parts) != 3 or not all(p.strip() for p in parts):
            raise ValueError(
                f"a link has three parts, cause{ARROW}mechanism{ARROW}effect; this one has {len(parts)}: {text!r}"
            )
        return text

    def _part(self, n: int) -> Text:
        return Text(zh=self.zh.split(ARROW)[n].strip(), en=self.en.split(ARROW)[n].strip())


class Link(_Chain):
    """One causal link: cause -> mechanism -> effect. It is credited whole, never for a keyword.

    kind says whether the link is a correctness boundary or a performance trade-off.
    """

    id: str = Field(pattern=r"^[a-z0-9_.]+$")
    kind: Literal["mechanism", "correctness", "tradeoff"] = "mechanism"
    hint: Text  # what feedback says when the link is missing: points the way, gives no answer away

    @property
    def cause(self) -> Text:
        return self._part(0)

    @property
    def mechanism(self) -> Text:
        return self._part(1)

    @property
    def effect(self) -> Text:
        return self._part(2)


class Misconception(Text):
    """A wrong causal chain in one sentence. veto: it is the lesson's core chain, so the verdict is a veto.

    against: links that contradict it; an answer that states one of them does not surely hold the misconception, and a person looks.
    """

    id: str = Field(pattern=r"^[a-z0-9_.]+$")
    veto: bool = False
    against: list[str] = []
    hint: Text

    @property
    def says(self) -> Text:
        return Text(zh=self.zh, en=self.en)


class Slot(_Strict):
    """One answer slot. `full` links give full points, `some` links give half (rounded down to 1 of 2)."""

    points: int = Field(ge=1)
    question: Text
    links: list[Link] = Field(min_length=1)
    misconceptions: list[Misconception] = []
    some: int = Field(default=1, ge=1)
    full: int = Field(ge=1)
    required_for_full: list[str] = []  # link ids without which full points are not given
    reference: Text  # the reference answer of the answer edition: from reference.yml

    @model_validator(mode="after")
    def _consistent(self):
        ids = [link.id for link in self.links]
        if len(set(ids)) != len(ids):
            raise ValueError("two links have the same id")
        if unknown := {x for m in self.misconceptions for x in m.against} - set(ids):
            raise ValueError(f"`against` names unknown links {sorted(unknown)}")
        if self.full > len(ids) or self.some > self.full:
            raise ValueError("some <= full <= number of links must hold")
        if unknown := set(self.required_for_full) - set(ids):
            raise ValueError(f"required_for_full names unknown links {sorted(unknown)}")
        return self

    def points_for(self, found: Set[str]) -> int:
        """Points of a set of links: full with `full` links and every required one, half (rounded down) with `some`, else none."""
        if len(found) >= self.full and set(self.required_for_full) <= found:
            return self.points
        return self.points // 2 if len(found) >= self.some else 0


class Points(_Strict):
    normal: int = 2
    boundary: int = 1
    explanation: int = 1
    q1: int = 2
    q2: int = 2
    q3: int = 2

    def total(self) -> int:
        return sum(self.model_dump().values())


class Rubric(_Strict):
    """A lesson's pass rules (design: code 4 = 2 + 1 + 1, three questions of 2, pass at 8)."""

    lesson: str
    points: Points = Points()
    pass_mark: int = 8
    slots: dict[Literal["explanation", "q1", "q2", "q3"], Slot]
    hints: list[Text] = Field(min_length=4, max_length=4)  # concept area, direction, key local step, full answer

    @model_validator(mode="after")
    def _whole(self):
        missing = {"explanation", "q1", "q2", "q3"} - set(self.slots)
        if missing:
            raise ValueError(f"slots are missing: {sorted(missing)}")
        for name, slot in self.slots.items():
            if slot.points != getattr(self.points, name):
                raise ValueError(f"slot {name} says {slot.points} points, `points` says {getattr(self.points, name)}")
        if self.pass_mark > self.points.total():
            raise ValueError("pass_mark is above the total")
        return self


def load_rubric(path: Path, figures: Mapping[str, str] | None = None) -> Rubric:
    """Read and check rubric.yml and the reference.yml beside it, with figures in the place of their references.

    Raises CourseError with the file, the field and what is wrong with it. figures: those of lint, where an unknown one raises nothing.
    """
    data = _yaml(path, "Add rubric.yml; `course lint` says what it holds.")
    answers = _yaml(
        path.with_name("reference.yml"), "Add reference.yml: a reference answer for each slot, in zh and en."
    )
    for name, slot in (data.get("slots") or {}).items() if isinstance(data, dict) else ():
        if isinstance(slot, dict) and isinstance(answers, dict) and name in answers:
            slot["reference"] = answers[name]
    try:
        return Rubric.model_validate(
            _filled(data, figures_of(path.parent) if figures is None else figures, path, figures is None)
        )
    except ValidationError as e:
        first = e.errors()[0]
        field = ".".join(str(x) for x in first["loc"]) or "the file"
        where = path.with_name("reference.yml") if field.endswith("reference") else path
        raise CourseError(
            f"The rubric does not fit its schema: {field}: {first['msg']}"
            + (f" (and {e.error_count() - 1} more)." if e.error_count() > 1 else "."),
            where=str(where),
            remedy="Mend that field; the schema with its docstrings is autograder/lesson/rubric.py.",
        ) from None


def _yaml(path: Path, remedy: str) -> Any:
    try:
        return YAML(typ="safe").load(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise CourseError(f"{path.name} is missing.", where=str(path), remedy=remedy) from None
    except (YAMLError, UnicodeDecodeError) as e:
        mark = getattr(e, "problem_mark", None)
        line = f", line {mark.line + 1}" if mark else ""
        raise CourseError(
            f"{path.name} is not valid YAML{line}: {getattr(e, 'problem', e)}.",
            where=str(path),
            remedy="Mend the YAML and run `course lint`.",
        ) from None


def _filled(data: Any, figures: Mapping[str, str], path: Path, strict: bool) -> Any:
    if isinstance(data, str):
        try:
            return fill(data, figures, strict=strict)
        except CourseError as e:
            raise CourseError(e.what, where=str(path), remedy=e.remedy) from None
    if isinstance(data, dict):
        return {k: _filled(v, figures, path, strict) for k, v in data.items()}
    return [_filled(v, figures, path, strict) for v in data] if isinstance(data, list) else data
