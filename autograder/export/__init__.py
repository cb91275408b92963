"""Grades as files: our own CSV, Canvas's gradebook import, Moodle's grading worksheet."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from autograder.gradebook.course import CourseFolder
    from autograder.lesson import Lesson

FORMATS = ("csv", "canvas", "moodle")


def export(
    lesson: Lesson,
    course: CourseFolder | Path,
    fmt: str,
    to: Path | None = None,
    *,
    tell: Callable[[str], None] = lambda line: None,
) -> Path:
    """Write the grades of one lesson and return the file, by default grading/<lesson>-<format>.csv in the course folder.

    fmt: "csv", "canvas" or "moodle".  tell: gets a line for each kind of grade that an LMS does not get yet, and how to release it; and one
    about those whose stored result cannot be read.
    Raises CourseError for another format or where nobody has been graded.
    """
    from autograder.errors import CourseError
    from autograder.export.formats import ROWS, held_back, to_csv
    from autograder.gradebook.course import CourseFolder, write_output
    from autograder.gradebook.final import final_results, unread_lines
    from autograder.gradebook.formgrader import how_to_open
    from autograder.gradebook.roster import Roster

    if fmt not in FORMATS:
        raise CourseError(f"There is no export format {fmt!r}.", remedy=f"Choose one of {', '.join(FORMATS)}.")
    course = course if isinstance(course, CourseFolder) else CourseFolder(course)
    path = to or course.grading / f"{lesson.slug}-{fmt}.csv"
    finals = final_results(course, lesson)
    if fmt == "moodle":  # its number is another in each assignment
        numbers = Roster.read(course).participant_of(lesson.slug)
        finals = [replace(f, lms_user_id=numbers.get(f.result.student, f.lms_user_id)) for f in finals]
    text = to_csv(ROWS[fmt](lesson, finals))
    try:
        write_output(path, text, course)
    except OSError as e:
        raise CourseError(
            f"The export cannot be written: {e.strerror}.", where=str(path), remedy="Name another file with --out."
        ) from None
    for line in unread_lines(finals):
        tell(line)
    if fmt != "csv":
        for line in held_back(lesson, finals):
            tell(line)
        if any(f.waits for f in finals):
            tell(f"To release them {how_to_open(course, lesson)} Then export again.")
    return path
