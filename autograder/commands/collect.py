"""`course collect`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from autograder.commands.grade import CourseOption, DbOption

SHOWN = 20  # lines of each kind
_READ_AS = {
    "canvas": "named as Canvas does (name_user_file)",
    "moodle": "named as Moodle does (Full Name_participant_assignsubmission_file)",
    "plain": "by the name of the file or folder, which is the student",
}


def command(
    lesson: Annotated[str, typer.Argument(help="Lesson: slug, number or part of the name.")],
    downloads: Annotated[
        Path,
        typer.Argument(
            help="Folder or zip: what Canvas's or Moodle's 'download submissions' gave, or <student>.ipynb or <student>/ for each student."
        ),
    ],
    plain: Annotated[
        bool,
        typer.Option(
            "--plain",
            help="Also take files without an LMS's name: the name of the file or folder is the student. Without it they are taken where no file has an LMS's name.",
        ),
    ] = False,
    course: CourseOption = Path("course_run"),
    db: DbOption = None,
):
    """Sort a download of submissions into the course folder's submitted/. (nbgrader's exchange: `nbgrader collect` there.)

    Everyone who handed in a file is taken: what is not a notebook becomes UNGRADED with the reason.
    """
    from autograder.errors import CourseError
    from autograder.gradebook.collect import collect
    from autograder.gradebook.course import CourseFolder
    from autograder.lesson import load_lesson

    found = load_lesson(lesson)
    folder = CourseFolder(course, db_url=db)
    if not downloads.exists():
        raise CourseError(
            "The downloads do not exist.",
            where=str(downloads),
            remedy="Name the folder or zip of downloaded submissions.",
        )
    try:
        taken = collect(found, downloads, folder, plain=plain)
    except OSError as e:
        raise CourseError(
            f"The submissions cannot be copied: {e.strerror or e}.",
            where=str(folder.root),
            remedy="Make room or make the folder writable, then run the same command again.",
        ) from None
    _tell([f"not taken: {name} ({why})" for name, why in taken.skipped], "not taken")
    _tell(
        [f"will be UNGRADED: {student}, {name} ({why})" for student, name, why in taken.unread], "that will be UNGRADED"
    )
    if taken.unread:
        typer.echo(
            "UNGRADED is no zero: ask these students for the .ipynb file and collect again; a new file is graded anew."
        )
    if taken.namesakes:
        _tell([f"namesakes, kept apart: {name}" for name in taken.namesakes], "namesakes")
        typer.echo(
            f"Who is who is told by Moodle's worksheet: course roster WORKSHEET --lesson {found.slug}, then collect again."
        )
    if taken.late:
        _tell([f"marked LATE by Canvas: {student}" for student in taken.late], "marked LATE")
    typer.echo(
        f"{len(taken.students)} submissions collected: "
        + ", ".join(f"{count} {_READ_AS[how]}" for how, count in taken.names.items())
        + "."
    )
    typer.echo(f"Next: course grade {found.slug} --submissions {folder.root / 'submitted'} --course {course}")


def _tell(lines: list[str], what: str) -> None:
    from autograder.gradebook.show import printable

    for line in lines[:SHOWN]:
        typer.echo(printable(line))
    if len(lines) > SHOWN:
        typer.echo(f"and {len(lines) - SHOWN} more {what}")
