"""What the report shows, counted from the final results and the notebooks in autograded/."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from statistics import mean, median

from autograder.gradebook.course import CourseFolder
from autograder.gradebook.final import Final
from autograder.gradebook.rows import WRITTEN, joined
from autograder.lesson import Lesson
from autograder.records import POINT_NAMES, Result
from autograder.report.similarity import Pair, similar_pairs

STATES = ("PASS", "REVIEW", "FAIL", "UNGRADED")


@dataclass(frozen=True)
class Missed:
    """Something that graded students missed. of: how many it was asked of."""

    name: str
    detail: str
    missed: int
    of: int

    @property
    def share(self) -> float:
        return self.missed / self.of if self.of else 0.0


@dataclass(frozen=True)
class Queued:
    """A submission that a person should look at. need: smaller comes first."""

    student: str
    need: int
    state: str
    total: float
    what: str


@dataclass(frozen=True)
class ClassData:
    finals: list[Final]
    states: dict[str, int]
    totals: list[float]  # of graded submissions
    part_means: dict[str, float]  # share of the points of each part
    checks: list[Missed]
    links: list[Missed]
    misconceptions: list[tuple[str, int]]
    findings: list[tuple[str, int]]
    hints: dict[int, int]  # level -> students who saw it
    times: list[datetime]
    due: datetime | None
    queue: list[Queued]
    course: CourseFolder
    answers_alike: list[Pair]
    fills_alike: list[Pair]

    @property
    def mean(self) -> float | None:
        return mean(self.totals) if self.totals else None

    @property
    def median(self) -> float | None:
        return median(self.totals) if self.totals else None


def class_data(lesson: Lesson, course: CourseFolder, finals: list[Final]) -> ClassData:
    graded = [f for f in finals if f.result.state != "UNGRADED"]
    notebooks = {f.result.student: _notebook(lesson, course, f) for f in graded}
    answers = {student: "\n".join(text for text in slots.values()) for student, (slots, _) in notebooks.items()}
    levels = Counter(level for _, hints in notebooks.values() for level in hints)
    return ClassData(
        finals=finals,
        states={s: sum(f.result.state == s for f in finals) for s in STATES},
        totals=[f.result.total for f in graded],
        part_means={
            n: mean(f.result.points.get(n, 0.0) for f in graded) / getattr(lesson.rubric.points, n) if graded else 0.0
            for n in POINT_NAMES
        },
        checks=_missed_checks(graded),
        links=_missed_links(lesson, graded),
        misconceptions=_misconceptions(lesson, graded),
        findings=_findings(finals),
        hints=dict(sorted(levels.items())),
        times=sorted(f.timestamp for f in finals if f.timestamp),
        due=next(
            (f.duedate for f in finals if f.duedate and f.timestamp),
            next((f.duedate for f in finals if f.duedate), None),
        ),
        queue=review_queue(finals),
        course=course,
        answers_alike=similar_pairs(answers, least=80),
        fills_alike=similar_pairs({f.result.student: f.result.fill for f in graded}, least=40, common=0.2),
    )


def review_queue(finals: Iterable[Final]) -> list[Queued]:
    """Who needs a person, most needed first.

    Unreadable hand-ins (the student waits for a word), then verdicts that a person decides, nearest to the pass mark first;
    then failed ones with points still open, which no review can turn into a pass.
    """
    queue = []
    for f in finals:
        result, waiting = f.result, ", ".join(f.human.waiting)
        if result.state == "UNGRADED":
            queue.append(Queued(result.student, 0, result.state, 0.0, joined(result.why)))
        elif result.state == "REVIEW":
            queue.append(
                Queued(
                    result.student,
                    1,
                    result.state,
                    result.total,
                    f"{waiting}: {joined(result.why)}" if waiting else joined(result.why),
                )
            )
        elif f.human.waiting:
            queue.append(
                Queued(
                    result.student,
                    2,
                    result.state,
                    result.total,
                    " ".join([f"{waiting}: points only, the verdict stands.", *_doubts(result, f.human.waiting)]),
                )
            )
    return sorted(queue, key=lambda q: (q.need, -q.total, q.student))


def _doubts(result: Result, names: Iterable[str]) -> list[str]:
    """Why each of these answers waits: the first reason of its score; and what was found that a person must look at."""
    scores = [(n, result.slots[n]) for n in names if n in result.slots]
    return [f"{n}: {(s.reasons_en or s.reasons)[0]}" for n, s in scores if s.reasons_en or s.reasons] + [
        x.message.en for x in result.findings if x.severity == "review"
    ]


def _missed_checks(graded: list[Final]) -> list[Missed]:
    asked: Counter = Counter()
    missed: Counter = Counter()
    kinds = {}
    for f in graded:
        failed = {c.name.en for c in f.result.checks if not c.passed}
        for name in {c.name.en for c in f.result.checks}:  # several inputs may bear one name: students are counted
            asked[name] += 1
            missed[name] += name in failed
        kinds |= {c.name.en: c.kind.replace("_", " ") for c in f.result.checks}
    return _ranked(Missed(name, kinds[name], missed[name], asked[name]) for name in asked)


def _missed_links(lesson: Lesson, graded: list[Final]) -> list[Missed]:
    out = []
    for name in WRITTEN:
        scored = [f.result.slots[name] for f in graded if name in f.result.slots]
        for link in lesson.rubric.slots[name].links:
            found = sum(any(x.id == link.id for x in s.links) for s in scored)
            out.append(Missed(link.id, f"{link.cause.en} → {link.effect.en}", len(scored) - found, len(scored)))
    return _ranked(out)


def _ranked(items: Iterable[Missed]) -> list[Missed]:
    return sorted((m for m in items if m.missed), key=lambda m: (-m.share, -m.missed, m.name))


def _misconceptions(lesson: Lesson, graded: list[Final]) -> list[tuple[str, int]]:
    says = {m.id: m.says.en for slot in lesson.rubric.slots.values() for m in slot.misconceptions}
    seen = Counter(m.id for f in graded for s in f.result.slots.values() for m in s.misconceptions)
    return [(f"{key}: {says.get(key, '')}", n) for key, n in seen.most_common()]


def _findings(finals: list[Final]) -> list[tuple[str, int]]:
    """Kinds of findings with one example each, the most frequent first."""
    seen = Counter(code for f in finals for code in {x.code for x in f.result.findings})
    example = {x.code: x.message.en for f in finals for x in f.result.findings}
    return [(f"{code}, e.g. {example[code]}", n) for code, n in seen.most_common(20)]


def _notebook(lesson: Lesson, course: CourseFolder, final: Final) -> tuple[dict[str, str], set[int]]:
    """(answers by slot, hint levels seen) of the notebook that formgrader shows."""
    path = course.step("autograded", final.result.student, lesson.slug) / f"{lesson.slug}.ipynb"
    try:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    except (OSError, ValueError, KeyError):
        return {}, set()
    answers, levels = {}, set()
    for cell in cells:
        name = cell["metadata"].get("nbgrader", {}).get("grade_id")
        source = cell["source"] if isinstance(cell["source"], str) else "".join(cell["source"])
        if name in WRITTEN:
            answers[name] = source
        levels |= set(cell["metadata"].get("course", {}).get("hints", ()))
    return answers, levels
