"""rubric.yml as a schema: points, causal links, misconceptions, hints, in both languages."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
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


class Texts(_Strict):
    zh: list[str] = []
    en: list[str] = []

    def get(self, lang: str) -> list[str]:
        return getattr(self, lang)


class Pattern(_Strict):
    """A rule: every group must have one of its alternatives within one window of the answer, asserted (not denied or refuted).

    An alternative is a plain phrase, matched without case and with its inflections, a regular expression written re:..., or
    @name, which stands for the rubric's `terms[name]` and may also stand inside a re:. A rule matches the canonical text
    (autograder/answers/normalise.py): lower case, half width, `==` as `=`, Greek letters as words. A denial that belongs to
    the statement ("cannot see the whole row") must lie inside the alternative; a group that begins with "~" only names what is
    spoken of, and denying it does not cancel the rule. Where zh and en have equally many groups,
    an answer that mixes the languages may satisfy each group in either.
    window: the groups must lie in one clause, one sentence, or two or three neighbouring sentences (near).
    unless: phrases that, asserted in the same place, cancel the rule.
    """

    zh: list[list[str]] = []
    en: list[list[str]] = []
    window: Literal["clause", "sentence", "near"] = "near"
    unless: list[str] = []

    def get(self, lang: str) -> list[list[str]]:
        return getattr(self, lang)


class Link(_Strict):
    """One causal link: cause -> mechanism -> effect. It is credited whole, never for a keyword.

    rules: alternatives, each a Pattern.  exemplars: sentences that state the link; contrast: near sentences that do not
    (negated, reversed, terms only). kind says whether the link is a correctness boundary or a performance trade-off.
    """

    id: str = Field(pattern=r"^[a-z0-9_.]+$")
    kind: Literal["mechanism", "correctness", "tradeoff"] = "mechanism"
    cause: Text
    mechanism: Text
    effect: Text
    rules: list[Pattern] = []
    exemplars: Texts = Texts()
    contrast: Texts = Texts()
    hint: Text  # what feedback says when the link is missing: points the way, gives no answer away


class Misconception(_Strict):
    """A wrong causal chain. veto: it is the lesson's core chain, so the verdict is a veto.

    against: links that contradict it; an answer that states one of them does not surely hold the misconception, and a person looks.
    """

    id: str = Field(pattern=r"^[a-z0-9_.]+$")
    veto: bool = False
    says: Text
    against: list[str] = []
    rules: list[Pattern] = []
    exemplars: Texts = Texts()
    contrast: Texts = Texts()  # refutations and correct near misses: these are not the misconception
    hint: Text


class Slot(_Strict):
    """One answer slot. `full` links give full points, `some` links give half (rounded down to 1 of 2)."""

    points: int = Field(ge=1)
    question: Text
    links: list[Link] = Field(min_length=1)
    misconceptions: list[Misconception] = []
    some: int = Field(default=1, ge=1)
    full: int = Field(ge=1)
    required_for_full: list[str] = []  # link ids without which full points are not given
    reference: Text  # the reference answer of the answer edition

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
    terms: dict[str, list[str]] = {}  # names for sets of alternatives, both languages together: see Pattern
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
        rules = [p for s in self.slots.values() for holder in (*s.links, *s.misconceptions) for p in holder.rules]
        written = [a for p in rules for a in (*p.unless, *(x for groups in (p.zh, p.en) for g in groups for x in g))]
        for text in [*written, *(a for alternatives in self.terms.values() for a in alternatives)]:
            if unknown := [n for n in re.findall(r"@([a-z0-9_]+)", text) if n not in self.terms]:
                raise ValueError(f"the rule {text!r} names unknown terms {unknown}")
        if self.pass_mark > self.points.total():
            raise ValueError("pass_mark is above the total")
        return self


def load_rubric(path: Path, figures: Mapping[str, str] | None = None) -> Rubric:
    """Read and check rubric.yml, with its figures in the place of their references. Raises CourseError with the file, the field and what is wrong with it.

    figures: those of lint, where an unknown one raises nothing.
    """
    try:
        data = YAML(typ="safe").load(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise CourseError("The rubric is missing.", where=str(path), remedy="Add rubric.yml; `course lint` says what it holds.") from None
    except (YAMLError, UnicodeDecodeError) as e:
        mark = getattr(e, "problem_mark", None)
        line = f", line {mark.line + 1}" if mark else ""
        raise CourseError(f"The rubric is not valid YAML{line}: {getattr(e, 'problem', e)}.", where=str(path), remedy="Mend the YAML and run `course lint`.") from None
    try:
        return Rubric.model_validate(_filled(data, figures_of(path.parent) if figures is None else figures, path, figures is None))
    except ValidationError as e:
        first = e.errors()[0]
        field = ".".join(str(x) for x in first["loc"]) or "the file"
        raise CourseError(
            f"The rubric does not fit its schema: {field}: {first['msg']}" + (f" (and {e.error_count() - 1} more)." if e.error_count() > 1 else "."),
            where=str(path),
            remedy="Mend that field; the schema with its docstrings is autograder/lesson/rubric.py.",
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
