"""The final word: the automatic result with what a person decided in formgrader on top. A manual score always wins.

What a person can do in formgrader, and what it means here:
- a manual score on a cell replaces its points; a question scored above zero counts as having its causal link;
- any score on a cell that waits for a person settles it; so does "Resolve", where formgrader shows it (after a regrade), with the points there;
- a comment that holds [veto lifted] on any cell lifts the submission's vetoes: lifting one is never a side effect.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Literal

from autograder.gradebook.rows import WRITTEN
from autograder.lesson import Lesson
from autograder.lesson.rubric import Rubric, Text
from autograder.records import POINT_NAMES, Finding, Result, State

if TYPE_CHECKING:
    from autograder.gradebook.course import CourseFolder

LIFT = "[veto lifted]"
QUESTIONS = ("q1", "q2", "q3")

_WORDS = {
    "zh": {
        "manual": "{name}：由教师评为 {points:g}/{maximum} 分。",
        "lifted": "教师撤销了一票否决。",
        "total": ("总分 {total:g}，达到通过线 {mark}。", "总分 {total:g}，低于通过线 {mark}。"),
        "code": ("隐藏的代码检查全部通过。", "有隐藏的代码检查未通过。"),
        "link": ("{name} 讲出了因果链。", "{name} 缺少因果链。"),
        "kinds": ("讲清了正确性边界和性能权衡。", "至少要讲清一条正确性边界和一条性能权衡。"),
        "veto": ("没有一票否决。", "有一票否决。"),
        "waiting": "等待人工批改：{names}。",
    },
    "en": {
        "manual": "{name}: {points:g} of {maximum} given by the instructor.",
        "lifted": "The instructor lifted the veto.",
        "total": (
            "The total of {total:g} reaches the pass mark of {mark}.",
            "The total of {total:g} is below the pass mark of {mark}.",
        ),
        "code": ("All hidden code checks pass.", "Not all hidden code checks pass."),
        "link": ("{name} states a causal link.", "{name} lacks a causal link."),
        "kinds": (
            "A correctness boundary and a performance trade-off are explained.",
            "At least one correctness boundary and one performance trade-off must be explained.",
        ),
        "veto": ("No veto applies.", "A veto applies."),
        "waiting": "Waiting for a person: {names}.",
    },
}


@dataclass(frozen=True)
class Human:
    """What stands in the gradebook beside the automatic scores. Keys are grade_ids."""

    manual: dict[str, float]
    extra: dict[str, float]
    comments: dict[str, str]
    waiting: tuple[str, ...]

    @property
    def lifted(self) -> bool:
        return any(LIFT in text.lower() for text in self.comments.values())


@dataclass(frozen=True)
class Final:
    """One student's line. result: final points and state; auto: as graded, with the answers that `course review` decided. Times are naive UTC; penalty is in points."""

    result: Result
    auto: Result
    human: Human
    penalty: float = 0.0
    timestamp: datetime | None = None
    duedate: datetime | None = None
    graded_at: datetime | None = None
    first_name: str = ""
    last_name: str = ""
    email: str = ""
    lms_user_id: str = ""

    @property
    def score(self) -> float | None:
        """Points after the late penalty; None where nothing was graded, which is not the same as 0."""
        return None if self.result.state == "UNGRADED" else max(0.0, self.result.total - self.penalty)

    @property
    def unread(self) -> bool:
        """Is what the gradebook holds of him no result that this version reads? It counts as not graded until `course grade` has run again."""
        return any(f.code == UNREAD_RESULT for f in self.result.findings)

    @property
    def waits(self) -> bool:
        """Does anything wait for a person: an open verdict, or points that are provisional though the verdict stands?"""
        return self.result.state == "REVIEW" or (self.result.state != "UNGRADED" and bool(self.human.waiting))


UNREAD_RESULT = "stored_result_unread"
_UNREAD = Text(
    zh="成绩册里保存的批改结果无法读取（由课程的另一个版本写入，或已损坏），需要重新批改；人工评分不受影响。",
    en="The stored result cannot be read (another version of the course wrote it, or it is damaged): it is graded anew by `course grade`; manual scores stay.",
)


def unread_lines(finals: Iterable[Final], shown: int = 20) -> list[str]:
    """One line that names those whose stored result cannot be read; none where all can."""
    names = [f.result.student for f in finals if f.unread]
    more = f" and {len(names) - shown} more" if len(names) > shown else ""
    return [f"Counted as not graded, {len(names)}: {', '.join(names[:shown])}{more}. {_UNREAD.en}"] if names else []


def settle(auto: Result, human: Human, rubric: Rubric) -> Result:
    """The automatic result with a person's decisions. Without any it is returned as it is."""
    if auto.state == "UNGRADED" and set(human.manual) < set(POINT_NAMES):
        return auto
    settled = auto.state == "REVIEW" and not human.waiting
    if not human.manual and not human.extra and not (human.lifted and auto.veto) and not settled:
        return auto
    points = {n: human.manual.get(n, auto.points.get(n, 0.0)) for n in POINT_NAMES}
    veto = [] if human.lifted else auto.veto
    state, reasons = _decided(auto, human, rubric, points, veto, auto.lang, auto.reasons)
    _, reasons_en = _decided(auto, human, rubric, points, veto, "en", auto.why)
    total = sum(points.values()) + sum(human.extra.values())
    return auto.model_copy(
        update={
            "points": points,
            "total": total,
            "state": state,
            "veto": veto,
            "reasons": reasons,
            "reasons_en": reasons_en,
        }
    )


def _decided(
    auto: Result, human: Human, rubric: Rubric, points: dict[str, float], veto: list[str], lang: str, said: list[str]
) -> tuple[State, list[str]]:
    """The state after a person's decisions, and its reasons in `lang`. said: the automatic result's reasons in that language."""
    words = _WORDS[lang]
    why_veto = [r for r in said if veto and is_veto(r)]
    reasons = [
        words["manual"].format(name=n, points=human.manual[n], maximum=getattr(rubric.points, n))
        for n in POINT_NAMES
        if n in human.manual
    ]
    if human.lifted and auto.veto:
        reasons.append(words["lifted"])

    worst = points | dict.fromkeys(human.waiting, 0.0)
    best = points | {n: float(getattr(rubric.points, n)) for n in human.waiting}
    low = [c.text for c in conditions(auto, human, worst, rubric, waiting="worst", lang=lang) if not c.met]
    high = [c.text for c in conditions(auto, human, best, rubric, waiting="best", lang=lang) if not c.met]
    state: State
    if high:
        state = "FAIL"
        reasons += why_veto + [text for text in high if not (why_veto and is_veto(text))]
    elif low and human.waiting:
        state = "REVIEW"
        reasons.append(words["waiting"].format(names=", ".join(human.waiting)))
    else:
        state = "FAIL" if low else "PASS"
        reasons += low
    return state, reasons


def is_veto(reason: str) -> bool:
    """Is this sentence of a verdict about a veto?"""
    return "veto" in reason.lower() or "一票否决" in reason


@dataclass(frozen=True)
class Condition:
    """One of the pass conditions, as a sentence."""

    met: bool
    text: str


def conditions(
    auto: Result,
    human: Human,
    points: dict[str, float],
    rubric: Rubric,
    *,
    waiting: Literal["as is", "worst", "best"] = "as is",
    lang: str = "",
) -> list[Condition]:
    """Every pass condition with whether it holds, in the student's language if not in another. waiting: how to take the cells that still wait for a person."""
    open_cells = set() if waiting == "as is" else set(human.waiting)
    trusted = {n for n in human.manual if points[n] > 0} | (open_cells if waiting == "best" else set())
    out: list[Condition] = []

    def say(key: str, met: bool, **fields) -> None:
        out.append(Condition(met, _WORDS[lang or auto.lang][key][0 if met else 1].format(**fields)))

    total = sum(points.values()) + sum(human.extra.values())
    say("total", total >= rubric.pass_mark, total=total, mark=rubric.pass_mark)
    say(
        "code",
        all(
            n in trusted if n in open_cells else _code_passes(auto, human, points, rubric, n)
            for n in ("normal", "boundary")
        ),
    )
    kinds = set()
    for name in WRITTEN:
        denied = name in open_cells or (name in human.manual and points[name] <= 0)
        found = [] if denied or name not in auto.slots else [x.id for x in auto.slots[name].links]
        kinds |= {link.kind for link in rubric.slots[name].links if link.id in found}
        if name in QUESTIONS:
            say("link", bool(found) or name in trusted, name=name.upper())
    say("kinds", {"correctness", "tradeoff"} <= kinds or bool(trusted & set(WRITTEN)))
    say("veto", human.lifted or not auto.veto)
    return out


def _code_passes(auto: Result, human: Human, points: dict[str, float], rubric: Rubric, name: str) -> bool:
    if name in human.manual:
        return points[name] >= getattr(rubric.points, name)
    checks = [c.passed for c in auto.checks if c.kind == name]
    return bool(checks) and all(checks)


def final_results(course: CourseFolder, lesson: Lesson, *, students: Iterable[str] | None = None) -> list[Final]:
    """Everyone who has been graded in this lesson, in order of the students' names. Raises CourseError where nobody has been."""
    from autograder.errors import CourseError
    from autograder.gradebook.late import penalty_for

    with course.gradebook(must_exist=True) as gradebook:
        finals = read_finals(gradebook, lesson, partial(penalty_for, course.config), students)
    if not finals:
        raise CourseError(
            f"Nobody has been graded in {lesson.slug}.",
            where=str(course.root),
            remedy=f"Run `course grade {lesson.slug} --submissions DIR --course {course.root}` first.",
        )
    return finals


def read_finals(
    gradebook,
    lesson: Lesson,
    penalty: Callable[[str, float, float], float | None],
    students: Iterable[str] | None = None,
) -> list[Final]:
    """One pass over the gradebook: results, grades, comments, students.

    penalty(student, score, seconds late): what nbgrader keeps is older than the scores given in formgrader since, so it is worked out anew.
    """
    from nbgrader.api import (
        Assignment,
        Comment,
        Grade,
        GradeCell,
        SolutionCell,
        Student,
        SubmittedAssignment,
        SubmittedNotebook,
    )
    from sqlalchemy import select

    from autograder.gradebook.decided import read_rows, settled_by
    from autograder.gradebook.tables import course_result, stored

    session, slug = gradebook.db, lesson.slug
    wanted = None if students is None else set(students)
    manual: dict[str, dict] = {}
    rows = session.execute(
        select(
            SubmittedAssignment.student_id,
            GradeCell.name,
            Grade.manual_score,
            Grade.extra_credit,
            Grade.needs_manual_grade,
        )
        .select_from(Grade)
        .join(GradeCell, GradeCell.id == Grade.cell_id)
        .join(SubmittedNotebook, SubmittedNotebook.id == Grade.notebook_id)
        .join(SubmittedAssignment, SubmittedAssignment.id == SubmittedNotebook.assignment_id)
        .join(Assignment, Assignment.id == SubmittedAssignment.assignment_id)
        .where(Assignment.name == slug)
    )
    for student, cell, score, extra, waits in rows:
        entry = manual.setdefault(student, {"manual": {}, "extra": {}, "waiting": []})
        if score is not None:
            entry["manual"][cell] = score
        if extra:
            entry["extra"][cell] = extra
        if waits:
            entry["waiting"].append(cell)
    comments: dict[str, dict[str, str]] = {}
    for student, cell, text in session.execute(
        select(SubmittedAssignment.student_id, SolutionCell.name, Comment.manual_comment)
        .select_from(Comment)
        .join(SolutionCell, SolutionCell.id == Comment.cell_id)
        .join(SubmittedNotebook, SubmittedNotebook.id == Comment.notebook_id)
        .join(SubmittedAssignment, SubmittedAssignment.id == SubmittedNotebook.assignment_id)
        .join(Assignment, Assignment.id == SubmittedAssignment.assignment_id)
        .where(Assignment.name == slug, Comment.manual_comment.is_not(None))
    ):
        if text.strip():
            comments.setdefault(student, {})[cell] = text.strip()
    people = session.execute(
        select(
            Student, SubmittedAssignment, course_result.c.result, course_result.c.graded_at, course_result.c.source_hash
        )
        .select_from(SubmittedAssignment)
        .join(Student, Student.id == SubmittedAssignment.student_id)
        .join(Assignment, Assignment.id == SubmittedAssignment.assignment_id)
        .join(course_result, (course_result.c.student == Student.id) & (course_result.c.assignment == Assignment.name))
        .where(Assignment.name == slug)
        .order_by(Student.id)
    )
    finals = []
    reviewed: dict[str, dict] = {}
    for (name, cell), row in read_rows(gradebook, slug).items():
        reviewed.setdefault(name, {})[cell] = row
    for student, submission, text, graded_at, source in people:
        if wanted is not None and student.id not in wanted:
            continue
        auto = stored(text) or Result.ungraded(
            student.id, slug, _UNREAD, findings=[Finding(code=UNREAD_RESULT, severity="review", message=_UNREAD)]
        )
        entry = manual.get(student.id, {"manual": {}, "extra": {}, "waiting": []})
        order = [n for n in POINT_NAMES if n in entry["waiting"]]
        human = Human(entry["manual"], entry["extra"], comments.get(student.id, {}), tuple(order))
        mine = reviewed.get(student.id, {})
        auto = settled_by(auto, source, mine, human.manual, lesson.rubric)
        settled = settle(auto, human, lesson.rubric)
        late = (
            submission.total_seconds_late
            if submission.timestamp and submission.assignment.duedate and settled.state != "UNGRADED"
            else 0.0
        )
        finals.append(
            Final(
                settled,
                auto,
                human,
                penalty=(penalty(student.id, settled.total, late) if late > 0 else None) or 0.0,
                timestamp=submission.timestamp,
                duedate=submission.duedate if submission.assignment.duedate else None,
                graded_at=graded_at,
                first_name=student.first_name or "",
                last_name=student.last_name or "",
                email=student.email or "",
                lms_user_id=student.lms_user_id or "",
            )
        )
    return finals
