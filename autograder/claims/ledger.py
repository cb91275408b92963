"""All claims of the course, worked out: what each is worth, how it is shown, and what is wrong with the rest."""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import jmespath
from jmespath.exceptions import JMESPathError

from autograder.claims.arithmetic import evaluate, names_in
from autograder.claims.schema import FILE, Claim, read_claims
from autograder.errors import CourseError
from autograder.lesson.store import list_lessons

RECEIPT_FIELDS = ("device", "backend", "time", "command")


@dataclass(frozen=True)
class Entry:
    """One claim with its value. group: the lesson's short name (lesson07), or the folder's (overview)."""

    group: str
    name: str
    claim: Claim
    value: float
    file: Path
    line: int

    @property
    def key(self) -> str:
        return f"{self.group}.{self.name}"

    @property
    def shown(self) -> str:
        return show(self.claim, self.value)


def show(claim: Claim, value: float) -> str:
    """The value as pages write it: 2.8e-4, not 2.8e-04."""
    return re.sub(r"(?<=\d)e([+-])0+(?=\d)", lambda m: "e" + m[1].replace("+", ""), claim.show.format(value))


@dataclass
class Ledger:
    root: Path
    entries: dict[str, Entry] = field(default_factory=dict)
    problems: list[CourseError] = field(default_factory=list)
    written: set[str] = field(default_factory=set)  # every claim that claims.yml files hold, right or wrong

    @cached_property
    def figures(self) -> dict[str, str]:
        return {k: e.shown for k, e in self.entries.items()}

    def of(self, group: str) -> list[Entry]:
        return [e for e in self.entries.values() if e.group == group]

    @cached_property
    def computed_from(self) -> set[str]:
        """Claims that others are computed from."""
        used = set()
        for e in self.entries.values():
            if e.claim.compute:
                used |= {n if "." in n else f"{e.group}.{n}" for n in names_in(e.claim.compute)}
        return used


def group_name(folder: Path) -> str:
    """lesson07 for lesson07_mixed_precision_epilogue; another page's folder has its own name."""
    return folder.name.split("_")[0] if folder in list_lessons(folder.parent) else folder.name


def read_ledger(root: Path) -> Ledger:
    """Read and work out every claims.yml under root/lessons. A wrong entry is a problem; the others still count."""
    ledger = Ledger(root)
    raw: dict[str, tuple[Claim, Path, int]] = {}
    for path in sorted((root / "lessons").glob(f"*/{FILE}")):
        claims, wrong = read_claims(path)
        ledger.problems += wrong
        group = group_name(path.parent)
        ledger.written |= {f"{group}.{name}" for name in claims}
        raw |= {f"{group}.{name}": (claim, path, line) for name, (claim, line) in claims.items()}
    worker = _Evaluation(root, raw)
    for key, (claim, path, line) in raw.items():
        group, _, name = key.partition(".")
        try:
            ledger.entries[key] = Entry(group, name, claim, worker.value(key), path, line)
        except CourseError as e:
            ledger.problems.append(e)
    return ledger


class _Evaluation:
    def __init__(self, root: Path, raw: dict[str, tuple[Claim, Path, int]]):
        self.root, self.raw = root, raw
        self.known: dict[str, float] = {}
        self.open: list[str] = []
        self.files: dict[str, dict] = {}

    def value(self, key: str) -> float:
        if key not in self.known:
            claim, path, line = self.raw[key]
            name = key.partition(".")[2]

            def wrong(what: str, remedy: str) -> CourseError:
                return CourseError(f"The claim {name} {what}.", where=f"{path}:{line}", remedy=remedy)

            if key in self.open:
                raise wrong(
                    "is computed from itself",
                    "Break the circle " + " -> ".join([*self.open[self.open.index(key) :], key]) + ".",
                )
            self.open.append(key)
            try:
                number = self._worked_out(key, claim, wrong) * claim.scale
            finally:
                self.open.pop()
            if not math.isfinite(number):
                raise wrong(f"is {number}", "A figure is a finite number.")
            self.known[key] = number
        return self.known[key]

    def _worked_out(self, key: str, claim: Claim, wrong) -> float:
        if claim.source:
            return float(claim.value)
        if claim.receipt:
            return self._measured(claim, wrong)
        group = key.partition(".")[0]

        def of(name: str) -> float:
            other = name if "." in name else f"{group}.{name}"
            if other not in self.raw:
                raise wrong(
                    f"is computed from {name}, which is no claim",
                    "Name claims of the same file, or others as lesson01.id.",
                )
            return self.value(other)

        try:
            return evaluate(claim.compute, of)
        except ValueError as e:
            raise wrong(f"has no value: {e}", "Mend `compute`.") from None

    def _measured(self, claim: Claim, wrong) -> float:
        data = self._file(claim.receipt, wrong)
        try:
            found = _search(claim.value, data)
        except JMESPathError as e:
            raise wrong(
                f"has a `value` that is no JMESPath: {' '.join(str(e).split())}",
                "Numbers stand between backticks: points[?k==`512`].max_error | [0].",
            ) from None
        except ValueError as e:
            raise wrong(str(e), "Narrow the filter until one point is left, or take max(...) or min(...).") from None
        if isinstance(found, bool) or not isinstance(found, (int, float)):
            what = (
                "nothing"
                if found is None
                else f"a list of {len(found)}"
                if isinstance(found, list)
                else f"a {type(found).__name__}"
            )
            raise wrong(
                f"finds {what} in {claim.receipt}, not one number",
                "Mend `value`: a filter gives a list, `| [0]` takes its one element.",
            )
        return float(found)

    def _file(self, name: str, wrong) -> dict:
        if name not in self.files:
            path = (self.root / name).resolve()
            try:
                if self.root.resolve() not in path.parents:
                    raise OSError
                data = json.loads(path.read_text(encoding="utf-8"))
            except (OSError, ValueError):
                raise wrong(
                    f"names {name}, which cannot be read as JSON",
                    "Name a file of figures/data; `course bench` measures it.",
                ) from None
            receipt = data.get("receipt") if isinstance(data, dict) else None
            if not isinstance(receipt, dict) or not all(receipt.get(k) for k in RECEIPT_FIELDS):
                raise wrong(
                    f"names {name}, which carries no receipt with {', '.join(RECEIPT_FIELDS)}",
                    "A figure without a receipt is not a measurement: measure it with `course bench`.",
                )
            self.files[name] = data
        return self.files[name]


def _search(expression: str, data: dict) -> object:
    """The JMESPath's value. `... | [0]` must not choose: ValueError where different values match."""
    head, bar, tail = expression.rpartition("|")
    if bar and tail.strip() == "[0]":
        matches = jmespath.search(head, data)
        if isinstance(matches, list) and len({json.dumps(m) for m in matches}) > 1:
            raise ValueError(f"matches {len(matches)} points with different values, of which it takes the first")
    return jmespath.search(expression, data)
