"""`course collect`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from autograder.commands.grade import CourseOption, DbOption

SKIPPED_SHOWN = 20


def command(
    lesson: Annotated[str, typer.Argument(help="Lesson: slug, number or part of the name.")],
    downloads: Annotated[Path, typer.Argument(help="Folder or zip that Canvas's or Moodle's 'download submissions' gave.")],
    course: CourseOption = Path("course_run"),
    db: DbOption = None,
):
    """Sort a Canvas or Moodle download into the course folder's submitted/. (nbgrader's exchange: `nbgrader collect` there.)"""
    from autograder.errors import CourseError
    from autograder.gradebook.collect import collect
    from autograder.gradebook.course import CourseFolder
    from autograder.lesson import load_lesson

    found = load_lesson(lesson)
    folder = CourseFolder(course, db_url=db)
    if not downloads.exists():
        raise CourseError("The downloads do not exist.", where=str(downloads), remedy="Name the folder or zip of downloaded submissions.")
    try:
        taken = collect(found, downloads, folder)
    except OSError as e:
        raise CourseError(f"The submissions cannot be copied: {e.strerror or e}.", where=str(folder.root), remedy="Make room or make the folder writable, then run the same command again.") from None
    for name, why in taken.skipped[:SKIPPED_SHOWN]:
        typer.echo(f"not taken: {name} ({why})")
    if len(taken.skipped) > SKIPPED_SHOWN:
        typer.echo(f"and {len(taken.skipped) - SKIPPED_SHOWN} more not taken")
    typer.echo(f"{len(taken.students)} submissions collected. Next: course grade --lesson {found.slug} --submissions {folder.root / 'submitted'} --course {course}")
