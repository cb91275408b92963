"""`course feedback`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from autograder.commands.grade import CourseOption, DbOption


def command(
    lesson: Annotated[str, typer.Argument(help="Lesson: slug, number or part of the name.")],
    course: CourseOption = Path("course_run"),
    db: DbOption = None,
):
    """Write one feedback page for every graded student, in the language of the notebook."""
    from autograder.errors import CourseError
    from autograder.feedback import write_feedback
    from autograder.gradebook.course import CourseFolder
    from autograder.lesson import load_lesson

    found = load_lesson(lesson)
    folder = CourseFolder(course, db_url=db)
    try:
        pages = write_feedback(found, folder)
    except OSError as e:
        raise CourseError(f"The pages cannot be written: {e.strerror}.", where=str(folder.root / "feedback"), remedy="Make the folder writable and run the same command again.") from None
    typer.echo(f"{len(pages)} feedback pages: {folder.root / 'feedback'}/<student>/{found.slug}/{found.slug}.html")
