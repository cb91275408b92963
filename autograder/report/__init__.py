"""The class report of a lesson: one HTML page, no script, no other host."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from autograder.gradebook.course import CourseFolder
    from autograder.lesson import Lesson


def write_report(
    lesson: Lesson,
    course: CourseFolder | Path,
    to: Path | None = None,
    *,
    tell: Callable[[str], None] = lambda line: None,
) -> Path:
    """Write the report and return its path, by default grading/<lesson>-report.html in the course folder.

    tell: gets a line about those whose stored result cannot be read, and one that says how many wait for a person, and where to act.  Raises CourseError where nobody has been graded.
    """
    from autograder.errors import CourseError
    from autograder.gradebook.course import CourseFolder, write_output
    from autograder.gradebook.final import final_results, unread_lines
    from autograder.gradebook.formgrader import how_to_open
    from autograder.report.data import class_data
    from autograder.report.page import render_report

    course = course if isinstance(course, CourseFolder) else CourseFolder(course)
    path = to or course.grading / f"{lesson.slug}-report.html"
    data = class_data(lesson, course, finals := final_results(course, lesson))
    page = render_report(lesson, data)
    try:
        write_output(path, page, course)
    except OSError as e:
        raise CourseError(
            f"The report cannot be written: {e.strerror}.", where=str(path), remedy="Name another file with --out."
        ) from None
    for line in unread_lines(finals):
        tell(line)
    if data.queue:
        tell(
            f"{len(data.queue)} wait for a person, most needed first in the report's review queue: {how_to_open(course, lesson)}"
        )
    return path
