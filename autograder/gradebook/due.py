"""Due dates and extensions, kept where nbgrader keeps them."""

from __future__ import annotations

import json
from datetime import datetime
from functools import partial

from autograder.errors import CourseError
from autograder.gradebook.course import CourseFolder, write_atomically
from autograder.gradebook.late import LatePolicy
from autograder.gradebook.roster import Roster
from autograder.gradebook.settings import NO_POLICY, POLICY_NAME, read_policy
from autograder.gradebook.stamps import YEARS, parse_date
from autograder.lesson import Lesson

MAX_DAYS = 3650
NAMES_SHOWN = 30


def set_policy(course: CourseFolder, per_day: float | None, grace: float | None, at_most: float | None) -> None:
    """Change what is given of the course's late policy: percent of the points reached for each started day, minutes of grace, percent at most."""
    given = {"percent_per_day": per_day, "grace_minutes": grace, "percent_at_most": at_most}
    if all(v is None for v in given.values()):
        return
    try:
        policy = read_policy(course.root)
    except ValueError:
        policy = dict(NO_POLICY)
    course.prepare()
    policy |= {name: float(v) for name, v in given.items() if v is not None}
    write_atomically(course.root / POLICY_NAME, json.dumps(policy, indent=1) + "\n")
    course.forget_config()


def policy_line(course: CourseFolder) -> str:
    """The policy that holds, settings of nbgrader_config.py included, in a sentence."""
    policy = LatePolicy(config=course.config)
    if policy.penalty_method != "none":
        return f"policy: nbgrader's penalty_method {policy.penalty_method!r}"
    if not policy.percent_per_day:
        return "policy: none, late hand-ins lose no points (set one: --per-day 10 --grace 15 --at-most 50)"
    return (
        f"policy: {policy.percent_per_day:g} % of the points reached for each started day after {policy.grace_minutes:g} "
        f"minutes, at most {policy.percent_at_most:g} %"
    )


def set_due(lesson: Lesson, course: CourseFolder, date: str | None, extensions: list[str]) -> list[str]:
    """Change what is given and return what then holds, one line each: also whose time of handing in nobody knows.

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
        lines = [policy_line(course)]
        lines += [f"due: {assignment.duedate.isoformat(' ') + ' UTC' if assignment.duedate else 'none'}"]
        for s in sorted(assignment.submissions, key=lambda s: s.student_id):
            if s.extension:
                lines.append(f"extension: {s.student_id} {s.extension}")
            if s.late_submission_penalty:
                lines.append(
                    f"late: {s.student_id} {s.total_seconds_late / 3600:.1f} h, penalty {s.late_submission_penalty:g}"
                )
            elif assignment.duedate and s.timestamp and s.total_seconds_late > 0:
                lines.append(f"late: {s.student_id} {s.total_seconds_late / 3600:.1f} h, no penalty")
        return lines + _unknown(lesson, course, [s for s in assignment.submissions if s.timestamp is None])


def _unknown(lesson: Lesson, course: CourseFolder, untimed: list) -> list[str]:
    """Of whom lateness cannot be known, with Canvas's marks and what to do."""
    if not untimed:
        return []
    names = sorted(s.student_id for s in untimed)
    roster = Roster.read(course)
    marked = [roster.people[i].student for i in roster.late.get(lesson.slug, ())]
    lines = [f"marked LATE by Canvas, by how much is not known, no penalty: {n}" for n in names if n in marked]
    shown = ", ".join(names[:NAMES_SHOWN]) + (
        f" and {len(names) - NAMES_SHOWN} more" if len(names) > NAMES_SHOWN else ""
    )
    return [
        *lines,
        f"no time of handing in for {len(names)}, so whether they were late cannot be known: {shown}",
        f"Times come from Moodle's worksheet (course roster WORKSHEET --lesson {lesson.slug} --zone ZONE), from nbgrader's exchange, or "
        f"from submitted/STUDENT/{lesson.slug}/timestamp.txt with a line like 2026-12-01 18:00 UTC; then `course grade` again.",
    ]


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
