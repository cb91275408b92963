"""Due dates and extensions, kept where nbgrader keeps them."""

from __future__ import annotations

from datetime import datetime
from functools import partial

from autograder.errors import CourseError
from autograder.gradebook.course import CourseFolder
from autograder.gradebook.stamps import YEARS, parse_date
from autograder.lesson import Lesson

MAX_DAYS = 3650


def set_due(lesson: Lesson, course: CourseFolder, date: str | None, extensions: list[str]) -> list[str]:
    """Change what is given and return what then holds, one line each.

    date: anything dateutil reads that names year, month and day, with a time zone; "none" removes it.  extensions: "student=days".
    Raises CourseError for what is neither, and for a student who has not handed in; then nothing is changed.
    """
    from nbgrader.api import MissingEntry

    from autograder.gradebook.assignment import ensure_assignment
    from autograder.gradebook.late import penalty_for
    from autograder.gradebook.store import Writer

    wanted = [_extension(text) for text in extensions]
    given = None if date is None else _date(date)
    course.prepare()
    with course.gradebook(write=True) as gradebook:
        ensure_assignment(gradebook, course, lesson)
        due = gradebook.find_assignment(lesson.slug).duedate if date is None else given
        if wanted and due is None:
            raise CourseError("An extension needs a due date.", where=lesson.slug, remedy="Give one with --date.")
        for student, _ in wanted:
            try:
                gradebook.find_submission(lesson.slug, student)
            except MissingEntry:
                raise CourseError(
                    f"{student} has not handed in {lesson.slug}.",
                    remedy="An extension belongs to a submission: grade it first, then grant it.",
                ) from None
        gradebook.update_or_create_assignment(lesson.slug, duedate=due)
        for student, days in wanted:
            gradebook.grant_extension(lesson.slug, student, days=days)
        Writer(gradebook, lesson.slug, lesson.rubric, partial(penalty_for, course.config)).refresh_penalties()
        assignment = gradebook.find_assignment(lesson.slug)
        lines = [f"due: {assignment.duedate.isoformat(' ') + ' UTC' if assignment.duedate else 'none'}"]
        for s in sorted(assignment.submissions, key=lambda s: s.student_id):
            if s.extension:
                lines.append(f"extension: {s.student_id} {s.extension}")
            if s.late_submission_penalty:
                lines.append(
                    f"late: {s.student_id} {s.total_seconds_late / 3600:.1f} h, penalty {s.late_submission_penalty:g}"
                )
        return lines


def _date(text: str) -> datetime | None:
    try:
        return None if text.strip().lower() == "none" else parse_date(text)
    except ValueError:
        raise CourseError(
            f"{text!r} is not a date with its year, month and day in {YEARS[0]} to {YEARS[-1]}.",
            remedy='Write it like "2026-12-01 18:00 UTC" or "2026-12-01 18:00 Asia/Shanghai".',
        ) from None


def _extension(text: str) -> tuple[str, float]:
    student, _, days = text.rpartition("=")
    try:
        if student and 0 <= float(days) <= MAX_DAYS:  # false for nan
            return student, float(days)
    except ValueError:
        pass
    raise CourseError(
        f"{text!r} is not an extension.", remedy=f"Write STUDENT=DAYS with 0 to {MAX_DAYS} days, e.g. --extend ann=2."
    )
