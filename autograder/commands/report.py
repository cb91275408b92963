"""`course report`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from autograder.commands.grade import CourseOption, DbOption


def command(
    lesson: Annotated[str, typer.Argument(help="Lesson: slug, number or part of the name.")],
    out: Annotated[
        Path | None, typer.Option(help="The page to write; default: grading/<lesson>-report.html in the course folder.")
    ] = None,
    course: CourseOption = Path("course_run"),
    db: DbOption = None,
):
    """Write the class report: states, scores, what is most missed, the review queue, times, shared texts."""
    from autograder.gradebook.course import CourseFolder
    from autograder.gradebook.show import printable
    from autograder.lesson import load_lesson
    from autograder.report import write_report

    typer.echo(
        f"Report: {write_report(load_lesson(lesson), CourseFolder(course, db_url=db), out, tell=lambda line: typer.echo(printable(line)))}"
    )
