"""`course review`."""

from __future__ import annotations

import getpass
from pathlib import Path
from typing import Annotated, Literal

import typer

from autograder.commands.grade import CourseOption, DbOption


def command(
    lesson: Annotated[str, typer.Argument(help="Lesson: slug, number or part of the name.")],
    by: Annotated[str | None, typer.Option(help="Who decides; default: this machine's user.")] = None,
    lang: Annotated[Literal["zh", "en"], typer.Option(help="The page's language; z changes it.")] = "zh",
    port: Annotated[int, typer.Option(help="Port on 127.0.0.1; 0: any free one.", min=0, max=65535)] = 0,
    browser: Annotated[bool, typer.Option("--browser", help="Open the page in this machine's browser.")] = False,
    course: CourseOption = Path("course_run"),
    db: DbOption = None,
):
    """Decide the written answers that wait for a person, in groups of those that say the same.

    Each decision is in the gradebook and in decisions/LESSON.jsonl at once; Ctrl-C ends the page, and nothing is lost if it is killed.
    """
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from autograder.gradebook.course import CourseFolder
    from autograder.gradebook.show import printable
    from autograder.lesson import load_lesson
    from autograder.review.server import ReviewServer
    from autograder.review.session import Session

    found = load_lesson(lesson)
    screen = Console(stderr=True)
    with Progress(
        TextColumn("reading what waits"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=screen,
        transient=True,
        disable=not screen.is_terminal,
    ) as bar:
        task = bar.add_task("reading", total=None)
        session = Session(
            found,
            CourseFolder(course, db_url=db),
            by or _user(),
            step=lambda done, of: bar.update(task, completed=done, total=of),
        )
    try:
        for note in [*session.notes, session.kept_back]:
            if note:
                typer.echo(printable(note), err=True)
        open_ = [i for i in session.items.values() if i.decision is None]
        typer.echo(
            f"{found.slug}: {len(open_)} different answers of {sum(len(i.cells) for i in open_)} wait, in {len(session.groups)} groups; decided before: {len(session.items) - len(open_)}."
        )
        with ReviewServer(session, port=port, lang=lang) as server:
            typer.echo(f"Open {server.url}\nCtrl-C ends it.")
            if browser:
                import webbrowser

                webbrowser.open(server.url)
            try:
                server.serve_forever()
            except KeyboardInterrupt:
                typer.echo("")
    finally:
        session.close()
    left = sum(i.decision is None for i in session.items.values())
    typer.echo(
        f"{len(session.items) - left} decided, {left} left. {session.kept_back or 'All of it is in the gradebook.'}"
    )


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return "unknown"
