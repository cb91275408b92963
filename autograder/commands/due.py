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
    per_day: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=100,
            help="The course's late policy: percent of the points reached, each started day; 0 for none.",
        ),
    ] = None,
    grace: Annotated[float | None, typer.Option(min=0, help="The late policy: minutes that cost nothing.")] = None,
    at_most: Annotated[
        float | None, typer.Option(min=0, max=100, help="The late policy: percent that are lost at most.")
    ] = None,
    course: CourseOption = Path("course_run"),
    db: DbOption = None,
):
    """Set the due date, extensions and the late policy, and compute the penalties again. Without options: show them.

    Shows who was late, and of whom nobody can know it.
    """
    from autograder.gradebook.course import CourseFolder
    from autograder.gradebook.due import set_due, set_policy
    from autograder.gradebook.show import printable
    from autograder.lesson import load_lesson

    folder = CourseFolder(course, db_url=db)
    set_policy(folder, per_day, grace, at_most)
    for line in set_due(load_lesson(lesson), folder, date, extend or []):
        typer.echo(printable(line))
