"""`course export`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from autograder.commands.grade import CourseOption, DbOption


def command(
    lesson: Annotated[str, typer.Argument(help="Lesson: slug, number or part of the name.")],
    fmt: Annotated[str, typer.Option("--format", help="csv, canvas or moodle.")] = "csv",
    out: Annotated[
        Path | None,
        typer.Option(help="The file to write; default: grading/<lesson>-<format>.csv in the course folder."),
    ] = None,
    course: CourseOption = Path("course_run"),
    db: DbOption = None,
):
    """Export grades with state and reasons. An ungraded submission is empty, never 0.

    canvas and moodle get final grades only: where any points wait for a person, PASS, FAIL or REVIEW, the grade is left empty, and the
    command says whose. csv is complete: its column waiting_for_review says which points are provisional.
    """
    from autograder.export import export
    from autograder.gradebook.course import CourseFolder
    from autograder.gradebook.show import printable
    from autograder.lesson import load_lesson

    path = export(
        load_lesson(lesson), CourseFolder(course, db_url=db), fmt, out, tell=lambda line: typer.echo(printable(line))
    )
    typer.echo(f"Grades: {path}")
