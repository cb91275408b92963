"""A grader for tests of what comes after grading: fast, deterministic, and it says which notebooks it was given."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from autograder.lesson import Lesson
from autograder.lesson.rubric import Text
from autograder.records import CheckOutcome, Finding, LinkFound, MisconceptionFound, Result, SlotScore

BOTH = {"zh": "测试", "en": "test"}


def notebook(lesson: Lesson, lang: str = "en", **said: str) -> bytes:
    """A hand-in made from the released notebook; said: exercise=, boundary_case=, q1=... replace those cells' text."""
    import nbformat

    from autograder.release.notebook import student_notebook

    nb = student_notebook(lesson, lang)
    for cell in nb.cells:
        name = cell.metadata.get("nbgrader", {}).get("grade_id")
        if name in said:
            cell.source = said[name]
    return nbformat.writes(nb).encode()


def hand_in(folder: Path, lesson: Lesson, student: str, data: bytes, stamp: str | None = None) -> Path:
    path = folder / student / lesson.slug / f"{lesson.slug}.ipynb"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    if stamp:
        (path.parent / "timestamp.txt").write_text(stamp)
    return path


def slot(
    lesson: Lesson,
    name: str,
    points: float,
    *,
    lane: str = "auto",
    quote: str = "because",
    wrong: str = "",
    discarded: Iterable[str] = (),
) -> SlotScore:
    rubric = lesson.rubric.slots[name]
    count = 0 if points == 0 else rubric.full if points >= rubric.points else rubric.some
    links = [LinkFound(id=x.id, quote=quote, layer="rules") for x in rubric.links[:count]]
    return SlotScore(
        slot=name,
        points=points,
        max_points=rubric.points,
        lane=lane,
        links=links,
        missing=[x.id for x in rubric.links[count:]],
        misconceptions=[MisconceptionFound(id=rubric.misconceptions[0].id, quote=wrong, veto=True)] if wrong else [],
        discarded=list(discarded),
        reasons=["look at it"] if lane == "review" else [],
    )


def result(
    lesson: Lesson,
    student: str,
    *,
    lang: str = "en",
    state: str = "PASS",
    normal=2.0,
    boundary=1.0,
    slots: dict | None = None,
    findings=(),
    veto=(),
    reasons=(),
    fill="a",
) -> Result:
    """A consistent Result. slots: name -> points or SlotScore; full points where a slot is not named."""
    if state == "UNGRADED":
        return Result(
            student=student,
            lesson=lesson.slug,
            lang=lang,
            state=state,
            reasons=list(reasons) or ["The file is not a notebook."],
        )
    given = {"explanation": 1.0, "q1": 2.0, "q2": 2.0, "q3": 2.0} | (slots or {})
    scored = {n: v if isinstance(v, SlotScore) else slot(lesson, n, v) for n, v in given.items()}
    points = {"normal": normal, "boundary": boundary} | {n: s.points for n, s in scored.items()}
    checks = [
        CheckOutcome(name=Text(zh="一般输入", en="ordinary input"), kind="normal", passed=normal == 2),
        CheckOutcome(name=Text(zh="beta 为零", en="beta is zero"), kind="boundary", passed=boundary == 1),
        CheckOutcome(name=Text(zh="自己的输入", en="own input"), kind="own_case", passed=boundary == 1),
    ]
    return Result(
        student=student, lesson=lesson.slug, lang=lang, state=state, total=sum(points.values()), points=points, veto=list(veto),
        findings=list(findings), reasons=list(reasons), checks=checks, slots=scored, fill=fill,
    )  # fmt: skip


def finding(severity: str = "review", where: str = "q2", code: str = "claim_doubtful") -> Finding:
    return Finding(code=code, severity=severity, message=Text(zh="有一处存疑", en="something is in doubt"), where=where)


class FakeGrader:
    """Called as a Grader. say(student, text) -> Result decides; `seen` lists what was graded, also across processes through `log`."""

    def __init__(
        self,
        lesson: Lesson,
        say: Callable[[str, str], Result] | None = None,
        *,
        log: Path | None = None,
        delay: float = 0.0,
    ):
        self.lesson, self.log, self.delay = lesson, log, delay
        self.seen: list[str] = []
        self.say = say or (lambda student, text: result(lesson, student, fill=text))

    def __call__(self, lesson: Lesson, items: Iterable[tuple[str, Path]]) -> Iterator[Result]:
        for student, path in items:
            self.seen.append(student)
            if self.log:
                with self.log.open("a") as file:
                    file.write(student + "\n")
            if self.delay:
                time.sleep(self.delay)
            yield self.say(student, fill_of(path))


def fill_of(path: Path) -> str:
    """The exercise cell's text, "" where the file cannot be read."""
    try:
        cells = json.loads(path.read_bytes())["cells"]
        return next(
            "".join(c["source"]) for c in cells if c["metadata"].get("nbgrader", {}).get("grade_id") == "exercise"
        )
    except (ValueError, KeyError, StopIteration):
        return ""
