"""Due dates and extensions, kept where nbgrader keeps them."""

from __future__ import annotations

from functools import partial

from autograder.errors import CourseError
from autograder.gradebook.course import CourseFolder
from autograder.lesson import Lesson

MAX_DAYS = 3650


def set_due(lesson: Lesson, course: CourseFolder, date: str | None, extensions: list[str]) -> list[str]:
    """Change what is given and return what then holds, one line each.

    date: anything dateutil reads, with a time zone; "none" removes it.  extensions: "student=days".
    """
    from nbgrader.api import MissingEntry
    from nbgrader.utils import parse_utc

    from autograder.gradebook.assignment import ensure_assignment
    from autograder.gradebook.late import penalty_for
    from autograder.gradebook.store import Writer

    course.prepare()
    wanted = [_extension(text) for text in extensions]
    with course.gradebook(write=True) as gradebook:
        ensure_assignment(gradebook, course, lesson)
        if date is not None:
            try:
                due = None if date.strip().lower() == "none" else parse_utc(date)
            except (ValueError, OverflowError):
                raise CourseError(f"{date!r} is not a date.", remedy='Write it like "2026-12-01 18:00 UTC".') from None
            gradebook.update_or_create_assignment(lesson.slug, duedate=due)
        if wanted and gradebook.find_assignment(lesson.slug).duedate is None:
            raise CourseError("An extension needs a due date.", where=lesson.slug, remedy="Give one with --date.")
        for student, days in wanted:
            try:
                gradebook.grant_extension(lesson.slug, student, days=days)
            except MissingEntry:
                raise CourseError(f"{student} has not handed in {lesson.slug}.", remedy="An extension belongs to a submission: grade it first, then grant it.") from None
        Writer(gradebook, lesson.slug, lesson.rubric, partial(penalty_for, course.config)).refresh_penalties()
        assignment = gradebook.find_assignment(lesson.slug)
        lines = [f"due: {assignment.duedate.isoformat(' ') + ' UTC' if assignment.duedate else 'none'}"]
        for s in sorted(assignment.submissions, key=lambda s: s.student_id):
            if s.extension:
                lines.append(f"extension: {s.student_id} {s.extension}")
            if s.late_submission_penalty:
                lines.append(f"late: {s.student_id} {s.total_seconds_late / 3600:.1f} h, penalty {s.late_submission_penalty:g}")
        return lines


def _extension(text: str) -> tuple[str, float]:
    student, _, days = text.rpartition("=")
    try:
        if student and 0 <= float(days) <= MAX_DAYS:  # false for nan
            return student, float(days)
    except ValueError:
        pass
    raise CourseError(f"{text!r} is not an extension.", remedy=f"Write STUDENT=DAYS with 0 to {MAX_DAYS} days, e.g. --extend ann=2.")
