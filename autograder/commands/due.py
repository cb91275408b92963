"""`course due`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from autograder.commands.grade import CourseOption, DbOption


def command(
    lesson: Annotated[str, typer.Argument(help="Lesson: slug, number or part of the name.")],
    date: Annotated[
        str | None,
        typer.Option(help='The due date, e.g. "2026-12-01 18:00 UTC" or "... Asia/Shanghai"; "none" removes it.'),
    ] = None,
    extend: Annotated[
        list[str] | None,
        typer.Option(help="STUDENT=DAYS: an extension for a student who has handed in; 0 removes it. May be repeated."),
    ] = None,
    course: CourseOption = Path("course_run"),
    db: DbOption = None,
):
    """Set the due date and extensions in the gradebook, and compute the late penalties again. Without options: show them."""
    from autograder.gradebook.course import CourseFolder
    from autograder.gradebook.due import set_due
    from autograder.gradebook.show import printable
    from autograder.lesson import load_lesson

    for line in set_due(load_lesson(lesson), CourseFolder(course, db_url=db), date, extend or []):
        typer.echo(printable(line))
