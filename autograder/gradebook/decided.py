"""The answers that `course review` decided, in the gradebook: a manual score each, and beside it who decided what, and when.

formgrader's word is the later one: where the manual score is no longer the decided one, the decision counts for nothing and is left alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import ValidationError
from sqlalchemy import delete, insert, select

from autograder.gradebook.rows import WRITTEN
from autograder.gradebook.tables import course_decision, course_result, stored
from autograder.lesson.rubric import Rubric
from autograder.records import Result
from autograder.review.apply import with_decisions
from autograder.review.decisions import Decision, slot_hash

if TYPE_CHECKING:
    from nbgrader.api import Gradebook

CHUNK = 300  # a database limits the parameters of one statement


@dataclass(frozen=True)
class Row:
    """A decision as it stands in the gradebook. source_hash: of the hand-in that was looked at.  before: the manual score until then."""

    decision: Decision
    source_hash: str
    before: float | None


@dataclass(frozen=True)
class Cell:
    """A student's answer in the gradebook. result: as graded, without a person's decisions.  waits: nbgrader asks a person for it."""

    student: str
    name: str
    result: Result
    source_hash: str
    manual: float | None
    waits: bool
    row: Row | None


def read_rows(gradebook: Gradebook, slug: str) -> dict[tuple[str, str], Row]:
    """(student, cell) -> its decision. One that this version cannot read is passed over."""
    out = {}
    for student, cell, source, text, before in gradebook.db.execute(
        select(
            course_decision.c.student,
            course_decision.c.cell,
            course_decision.c.source_hash,
            course_decision.c.decision,
            course_decision.c.before,
        ).where(course_decision.c.assignment == slug)
    ):
        try:
            out[student, cell] = Row(Decision.model_validate_json(text), source, before)
        except ValidationError:
            continue
    return out


def settled_by(
    result: Result, source_hash: str, rows: Mapping[str, Row], manual: Mapping[str, float], rubric: Rubric
) -> Result:
    """The result with those decisions that still hold: the score is the decided one, and the answer the one that was looked at."""
    held = {}
    for name, row in rows.items():
        score = result.slots.get(name)
        if score is None or manual.get(name) != row.decision.points:
            continue
        if row.source_hash == source_hash or (score.answer_key and score.answer_key == row.decision.key):
            held[name] = row.decision
    return with_decisions(result, held, rubric)


def read_cells(gradebook: Gradebook, slug: str) -> list[Cell]:
    """Every written answer of everyone whose result can be read, in order of the students' names."""
    from nbgrader.api import Assignment, Grade, GradeCell, SubmittedAssignment, SubmittedNotebook

    rows = read_rows(gradebook, slug)
    results = {
        student: (stored(text), source)
        for student, text, source in gradebook.db.execute(
            select(course_result.c.student, course_result.c.result, course_result.c.source_hash).where(
                course_result.c.assignment == slug
            )
        )
    }
    found = gradebook.db.execute(
        select(SubmittedAssignment.student_id, GradeCell.name, Grade.manual_score, Grade.needs_manual_grade)
        .select_from(Grade)
        .join(GradeCell, GradeCell.id == Grade.cell_id)
        .join(SubmittedNotebook, SubmittedNotebook.id == Grade.notebook_id)
        .join(SubmittedAssignment, SubmittedAssignment.id == SubmittedNotebook.assignment_id)
        .join(Assignment, Assignment.id == SubmittedAssignment.assignment_id)
        .where(Assignment.name == slug, GradeCell.name.in_(WRITTEN))
        .order_by(SubmittedAssignment.student_id)
    )
    out = []
    for student, name, manual, waits in found:
        result, source = results.get(student, (None, ""))
        if result is not None and name in result.slots:
            out.append(Cell(student, name, result, source, manual, bool(waits), rows.get((student, name))))
    return out


def write_decided(gradebook: Gradebook, slug: str, given: Iterable[tuple[str, Decision, str]]) -> None:
    """(student, decision, source_hash) each: the manual score and its decision, all in one transaction."""
    wanted = {(student, d.slot): (d, source) for student, d, source in given}
    try:
        kept = read_rows(gradebook, slug)
        for key, grade in _grades(gradebook, slug, wanted).items():
            (student, cell), (decision, source) = key, wanted[key]
            before = (
                kept[key].before
                if key in kept and grade.manual_score == kept[key].decision.points
                else grade.manual_score
            )
            grade.manual_score, grade.needs_manual_grade = decision.points, False
            _drop(gradebook, slug, student, cell)
            row = {
                "assignment": slug,
                "student": student,
                "cell": cell,
                "source_hash": source,
                "decision": decision.model_dump_json(),
                "before": before,
            }
            gradebook.db.execute(insert(course_decision), [row])
        gradebook.db.commit()
    except BaseException:
        gradebook.db.rollback()
        raise


def take_back(gradebook: Gradebook, slug: str, cells: Iterable[tuple[str, str, str]]) -> None:
    """(student, cell, action) each: as if this action had not been; the answer waits again. A score that was given in formgrader since stays.
    action "": one that grading alone had taken over, for the same answer of another student."""
    wanted = {(student, cell): action for student, cell, action in cells}
    try:
        rows = read_rows(gradebook, slug)
        for key, grade in _grades(gradebook, slug, wanted).items():
            row = rows.get(key)
            action = wanted[key]
            if row is not None and row.decision.action == action:
                if grade.manual_score == row.decision.points:
                    grade.manual_score, grade.needs_manual_grade = row.before, True
                _drop(gradebook, slug, *key)
            elif not action and row is None and grade.manual_score is None:
                grade.needs_manual_grade = True
        gradebook.db.commit()
    except BaseException:
        gradebook.db.rollback()
        raise


def reopen_outdated(gradebook: Gradebook, slug: str, rubric: Rubric) -> int:
    """Decisions on what the rubric no longer asks: the scores stay, and a person is asked again. Returns how many."""
    hashes = {name: slot_hash(slot) for name, slot in rubric.slots.items()}
    old = {
        key: row for key, row in read_rows(gradebook, slug).items() if row.decision.rubric_hash != hashes.get(key[1])
    }
    count = 0
    for key, grade in _grades(gradebook, slug, old).items():
        if grade.manual_score == old[key].decision.points != grade.auto_score:
            grade.needs_manual_grade = True
            count += 1
        _drop(gradebook, slug, *key)
    gradebook.db.commit()
    return count


def _drop(gradebook: Gradebook, slug: str, student: str, cell: str) -> None:
    c = course_decision.c
    gradebook.db.execute(delete(course_decision).where(c.assignment == slug, c.student == student, c.cell == cell))


def _grades(gradebook: Gradebook, slug: str, wanted: Iterable[tuple[str, str]]) -> dict:
    """(student, cell) -> nbgrader's Grade, for those that have one."""
    from nbgrader.api import Assignment, Grade, GradeCell, SubmittedAssignment, SubmittedNotebook

    wanted = set(wanted)
    students = sorted({student for student, _ in wanted})
    found = {}
    for start in range(0, len(students), CHUNK):
        query = (
            select(Grade, SubmittedAssignment.student_id, GradeCell.name)
            .join(GradeCell, GradeCell.id == Grade.cell_id)
            .join(SubmittedNotebook, SubmittedNotebook.id == Grade.notebook_id)
            .join(SubmittedAssignment, SubmittedAssignment.id == SubmittedNotebook.assignment_id)
            .join(Assignment, Assignment.id == SubmittedAssignment.assignment_id)
            .where(Assignment.name == slug, SubmittedAssignment.student_id.in_(students[start : start + CHUNK]))
        )
        for grade, student, cell in gradebook.db.execute(query):
            if (student, cell) in wanted:
                found[student, cell] = grade
    return found
