"""`course roster`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from autograder.commands.grade import CourseOption


def command(
    file: Annotated[
        Path | None,
        typer.Argument(
            help="Moodle's grading worksheet, Canvas's gradebook export, or a CSV with the columns name and email or id; none shows the roster."
        ),
    ] = None,
    lesson: Annotated[
        str | None,
        typer.Option(
            help="Whose assignment the worksheet is of: Moodle's numbers and times differ from one to the next."
        ),
    ] = None,
    zone: Annotated[str, typer.Option(help="The time zone of the worksheet's times, e.g. Asia/Shanghai.")] = "UTC",
    course: CourseOption = Path("course_run"),
):
    """Tell the course who is who: names, e-mails, the LMS's numbers, and when they handed in. Nothing that is known is lost."""
    from autograder.errors import CourseError
    from autograder.gradebook.course import CourseFolder
    from autograder.gradebook.roster import Roster, put_times, read_class_list
    from autograder.gradebook.show import printable
    from autograder.gradebook.stamps import parse_date
    from autograder.lesson.store import find_lesson

    folder = CourseFolder(course)
    roster = Roster.read(folder)
    if file is None:
        for p in roster.people:
            typer.echo(
                printable(
                    f"{p.student or '(nothing handed in)'}: {p.name}, {p.email or p.idnumber or p.canvas or 'no number'}"
                )
            )
        typer.echo(f"{len(roster.people)} in the roster. Add a class list: course roster FILE [--lesson LESSON].")
        return
    try:
        parse_date(f"2026-01-02 03:04 {zone}")
    except ValueError:
        raise CourseError(f"{zone!r} is no time zone.", remedy="Write one like UTC or Asia/Shanghai.") from None
    rows = read_class_list(file)
    slug = find_lesson(lesson).name if lesson else ""
    if any(r.participant for r in rows) and not slug:
        typer.echo("This is a worksheet of one assignment: give its --lesson, or its numbers and times are left out.")
    folder.prepare()
    for line in roster.take(rows, slug, zone):
        typer.echo(printable(line))
    roster.write(folder)
    if slug and (changed := put_times(roster, slug, folder)):
        typer.echo(f"times written for {len(changed)}; `course grade` takes them over.")
