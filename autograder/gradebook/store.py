"""Writing results into nbgrader's database in batches, and reading them back. One transaction a batch.

The rows are nbgrader's own models; our result table is written in the same transaction, so the two never disagree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from nbgrader.api import (
    Assignment,
    Comment,
    Grade,
    GradeCell,
    SolutionCell,
    Student,
    SubmittedAssignment,
    SubmittedNotebook,
    new_uuid,
)
from sqlalchemy import and_, delete, insert, or_, select

from autograder.gradebook.journal import Entry
from autograder.gradebook.rows import GradeRow, comment_rows, counted, grade_rows
from autograder.gradebook.stamps import UNREAD, Stamp
from autograder.gradebook.tables import course_result, stored
from autograder.lesson.rubric import Rubric
from autograder.records import MACHINE_FAULTS, Result

if TYPE_CHECKING:
    from nbgrader.api import Gradebook

CHUNK = 500  # a database limits the parameters of one statement
Penalty = Callable[[str, float, float], float | None]


class Known(NamedTuple):
    """How a student's result stands in the gradebook. stamp: as it was read then. fault: the machine is to blame, not the hand-in."""

    source_hash: str
    rubric_hash: str
    stamp: Stamp
    fault: bool


def graded_before(gradebook: Gradebook, slug: str) -> dict[str, Known]:
    """student -> what stands in the gradebook; not of submissions that were removed from it, nor where the result cannot be read: it is graded anew."""
    found = lambda *codes: or_(
        *(course_result.c.result.contains(f'{{"code":"{code}"', autoescape=True) for code in codes)
    )  # no student's text holds this: its quotes are escaped
    rows = gradebook.db.execute(
        select(
            course_result.c.student,
            course_result.c.source_hash,
            course_result.c.rubric_hash,
            SubmittedAssignment.timestamp,
            found(UNREAD),
            found(*MACHINE_FAULTS),
            course_result.c.result,
        )
        .join(SubmittedAssignment, SubmittedAssignment.student_id == course_result.c.student)
        .join(
            Assignment,
            (Assignment.id == SubmittedAssignment.assignment_id) & (Assignment.name == course_result.c.assignment),
        )
        .where(course_result.c.assignment == slug)
        .execution_options(yield_per=CHUNK)  # the results of a large class are not held together
    )
    return {
        student: Known(source, rubric, Stamp(time, bool(unread)), bool(fault))
        for student, source, rubric, time, unread, fault, text in rows
        if stored(text) is not None
    }


class Writer:
    """Writes entries of one lesson. penalty(student, score, seconds_late) gives the points that lateness costs."""

    def __init__(self, gradebook: Gradebook, slug: str, rubric: Rubric, penalty: Penalty):
        self.gradebook, self.session, self.slug, self.rubric, self.penalty = (
            gradebook,
            gradebook.db,
            slug,
            rubric,
            penalty,
        )
        notebook = gradebook.find_notebook(slug, slug)
        self.assignment_id, self.notebook_id = notebook.assignment_id, notebook.id
        cells = self.session.execute
        self.grade_cells = {
            name: key
            for name, key in cells(select(GradeCell.name, GradeCell.id).where(GradeCell.notebook_id == notebook.id))
        }
        self.solution_cells = {
            name: key
            for name, key in cells(
                select(SolutionCell.name, SolutionCell.id).where(SolutionCell.notebook_id == notebook.id)
            )
        }
        self.session.commit()

    def write(self, entries: list[Entry]) -> None:
        """All of them or none. A later entry of the same student replaces an earlier one."""
        by_student = {e.student: e for e in entries}
        if not by_student:
            return
        try:
            before = self._earlier(by_student)
            self._add_missing(by_student)
            submissions = self._submissions(by_student)
            grades, comments = self._cells(Grade, submissions), self._cells(Comment, submissions)
            books = self._notebooks(submissions)
            for student, entry in by_student.items():
                self._fill(entry, before.get(student), submissions[student], grades[student], comments[student])
                self._set_penalty(submissions[student], books[student], entry.result.state, grades[student].values())
            self._write_results(by_student)
            self.session.commit()
        except BaseException:
            self.session.rollback()
            raise

    def set_times(self, times: dict[str, datetime | None]) -> None:
        """When these students handed in, where their times came or changed after grading. Penalties: refresh_penalties."""
        students = list(times)
        for start in range(0, len(students), CHUNK):
            for student, submission in self._submissions(students[start : start + CHUNK]).items():
                submission.timestamp = times[student]
        self.session.commit()

    def refresh_penalties(self) -> None:
        """Compute every late penalty again: a due date, an extension or the policy may have changed."""
        late = or_(
            SubmittedNotebook.late_submission_penalty.is_not(None),
            and_(Assignment.duedate.is_not(None), SubmittedAssignment.timestamp > Assignment.duedate),
        )
        query = (
            select(SubmittedAssignment, course_result.c.state)
            .join(Assignment, Assignment.id == SubmittedAssignment.assignment_id)
            .join(SubmittedNotebook, SubmittedNotebook.assignment_id == SubmittedAssignment.id)
            .join(
                course_result,
                and_(
                    course_result.c.student == SubmittedAssignment.student_id,
                    course_result.c.assignment == Assignment.name,
                ),
            )
            .where(Assignment.id == self.assignment_id, SubmittedNotebook.notebook_id == self.notebook_id, late)
        )
        concerned = {submission.student_id: (submission, state) for submission, state in self.session.execute(query)}
        submissions = {student: submission for student, (submission, _) in concerned.items()}
        grades, books = self._cells(Grade, submissions), self._notebooks(submissions)
        for student, (submission, state) in concerned.items():
            self._set_penalty(submission, books[student], state, grades[student].values())
        self.session.commit()

    def _earlier(self, students: Iterable[str]) -> dict[str, tuple[str, Result | None]]:
        """student -> the hash of the hand-in that stands in the gradebook, and its result, None where that cannot be read."""
        rows = self.session.execute(
            select(course_result.c.student, course_result.c.source_hash, course_result.c.result).where(
                course_result.c.assignment == self.slug, course_result.c.student.in_(list(students))
            )
        )
        return {student: (source, stored(text)) for student, source, text in rows}

    def _add_missing(self, students: Iterable[str]) -> None:
        """What nbgrader's add_student and add_submission make, for many students at once."""
        names = list(students)
        known = set(self.session.scalars(select(Student.id).where(Student.id.in_(names))))
        if new := [{"id": n} for n in names if n not in known]:
            self.session.execute(insert(Student), new)
        handed_in = {
            student: key
            for student, key in self.session.execute(
                select(SubmittedAssignment.student_id, SubmittedAssignment.id).where(
                    SubmittedAssignment.assignment_id == self.assignment_id, SubmittedAssignment.student_id.in_(names)
                )
            )
        }
        if new := [
            {"id": new_uuid(), "assignment_id": self.assignment_id, "student_id": n}
            for n in names
            if n not in handed_in
        ]:
            self.session.execute(insert(SubmittedAssignment), new)
            handed_in |= {row["student_id"]: row["id"] for row in new}
        with_notebook = {
            assignment: key
            for assignment, key in self.session.execute(
                select(SubmittedNotebook.assignment_id, SubmittedNotebook.id).where(
                    SubmittedNotebook.notebook_id == self.notebook_id,
                    SubmittedNotebook.assignment_id.in_(handed_in.values()),
                )
            )
        }
        if new := [
            {"id": new_uuid(), "assignment_id": s, "notebook_id": self.notebook_id, "flagged": False}
            for s in handed_in.values()
            if s not in with_notebook
        ]:
            self.session.execute(insert(SubmittedNotebook), new)
            with_notebook |= {row["assignment_id"]: row["id"] for row in new}
        for model, cells, extra in (
            (Grade, self.grade_cells, {"needs_manual_grade": True}),
            (Comment, self.solution_cells, {}),
        ):
            # the index of these tables begins with cell_id: without it every batch would read the whole table
            query = select(model.notebook_id, model.cell_id).where(
                model.cell_id.in_(cells.values()), model.notebook_id.in_(with_notebook.values())
            )
            have = {(nb, cell) for nb, cell in self.session.execute(query)}
            if new := [
                {"id": new_uuid(), "notebook_id": nb, "cell_id": cell, **extra}
                for nb in with_notebook.values()
                for cell in cells.values()
                if (nb, cell) not in have
            ]:
                self.session.execute(insert(model), new)

    def _submissions(self, students: Iterable[str]) -> dict[str, SubmittedAssignment]:
        query = select(SubmittedAssignment).where(
            SubmittedAssignment.assignment_id == self.assignment_id, SubmittedAssignment.student_id.in_(list(students))
        )
        return {s.student_id: s for s in self.session.scalars(query)}

    def _notebooks(self, submissions: dict[str, SubmittedAssignment]) -> dict[str, SubmittedNotebook]:
        owner = {s.id: student for student, s in submissions.items()}
        keys = list(owner)
        found = {}
        for start in range(0, len(keys), CHUNK):
            query = select(SubmittedNotebook).where(
                SubmittedNotebook.notebook_id == self.notebook_id,
                SubmittedNotebook.assignment_id.in_(keys[start : start + CHUNK]),
            )
            found |= {owner[n.assignment_id]: n for n in self.session.scalars(query)}
        return found

    def _cells(self, model: type, submissions: dict[str, SubmittedAssignment]) -> dict[str, dict[str, Grade | Comment]]:
        """student -> cell id -> Grade or Comment."""
        cells = (self.grade_cells if model is Grade else self.solution_cells).values()
        owner = {s.id: student for student, s in submissions.items()}
        found: dict[str, dict] = {student: {} for student in submissions}
        keys = list(owner)
        for start in range(0, len(keys), CHUNK):
            query = (
                select(model, SubmittedNotebook.assignment_id)
                .join(SubmittedNotebook, SubmittedNotebook.id == model.notebook_id)
                .where(
                    model.cell_id.in_(cells),
                    SubmittedNotebook.notebook_id == self.notebook_id,
                    SubmittedNotebook.assignment_id.in_(keys[start : start + CHUNK]),
                )
            )
            for row, submission in self.session.execute(query):
                found[owner[submission]][row.cell_id] = row
        return found

    def _fill(self, entry: Entry, earlier, submission, grades: dict[str, Grade], comments: dict[str, Comment]) -> None:
        rows = grade_rows(entry.result)
        same_source = earlier is not None and earlier[0] == entry.source_hash
        old_rows: dict[str, GradeRow] | None = (
            {} if earlier is None else grade_rows(earlier[1]) if earlier[1] is not None else None
        )
        for name, row in rows.items():
            grade = grades[self.grade_cells[name]]
            same_row = (
                grade.manual_score is not None if old_rows is None else old_rows.get(name) == row
            )  # unread: a manual score is a person's word
            known = same_source and same_row and grade.auto_score == row.auto_score
            if not known:  # else a person may have settled it already: leave it
                grade.needs_manual_grade = row.needs_manual_grade or grade.manual_score not in (None, row.auto_score)
            grade.auto_score = row.auto_score
        for name, text in comment_rows(entry.result, self.rubric).items():
            if name in self.solution_cells:
                comments[self.solution_cells[name]].auto_comment = text
        submission.timestamp = entry.timestamp  # None too: a new hand-in does not have the old one's time

    def _set_penalty(
        self, submission: SubmittedAssignment, notebook: SubmittedNotebook, state: str, grades: Iterable[Grade]
    ) -> None:
        grades = list(grades)
        graded = state != "UNGRADED" or all(g.manual_score is not None for g in grades)
        has_due = submission.assignment.duedate is not None  # nbgrader fails on an extension without a due date
        late = submission.total_seconds_late if has_due and graded else 0.0
        notebook.late_submission_penalty = (
            self.penalty(
                submission.student_id, sum(counted(g.manual_score, g.auto_score, g.extra_credit) for g in grades), late
            )
            if late > 0
            else None
        )

    def _write_results(self, entries: dict[str, Entry]) -> None:
        now = datetime.now(UTC).replace(tzinfo=None)
        self.session.execute(
            delete(course_result).where(
                course_result.c.assignment == self.slug, course_result.c.student.in_(list(entries))
            )
        )
        self.session.execute(
            insert(course_result),
            [
                {
                    "assignment": self.slug,
                    "student": student,
                    "source_hash": e.source_hash,
                    "rubric_hash": e.rubric_hash,
                    "state": e.result.state,
                    "total": e.result.total,
                    "graded_at": now,
                    "result": e.result.model_dump_json(),
                }
                for student, e in entries.items()
            ],
        )
