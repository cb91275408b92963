"""`course feedback`."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from autograder.commands.grade import CourseOption, DbOption


def command(
    lesson: Annotated[str, typer.Argument(help="Lesson: slug, number or part of the name.")],
    course: CourseOption = Path("course_run"),
    db: DbOption = None,
):
    """Write one feedback page for every graded student, in the language of the notebook.

    Each page is one file without pictures or scripts: send it to its student, or upload it as the LMS's feedback file. Where nbgrader's
    exchange is configured, `nbgrader release_feedback LESSON` in the course folder hands the pages out.
    """
    from autograder.feedback import write_feedback
    from autograder.gradebook.course import CourseFolder
    from autograder.gradebook.show import printable
    from autograder.lesson import load_lesson

    found = load_lesson(lesson)
    folder = CourseFolder(course, db_url=db)
    pages = write_feedback(found, folder, tell=lambda line: typer.echo(printable(line)))
    typer.echo(f"{len(pages)} feedback pages: {folder.root / 'feedback'}/<student>/{found.slug}/{found.slug}.html")
    typer.echo(
        "To the students: send each the file in the folder of that name (mail, or the LMS's feedback file); a page needs nothing beside it."
    )
    typer.echo(
        f"With nbgrader's exchange, where it is configured: cd {shlex.quote(str(folder.root))} && nbgrader release_feedback {found.slug}"
    )
