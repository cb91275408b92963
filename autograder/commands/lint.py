"""`course lint`."""

from typing import Annotated

import typer

from autograder.claims import read_ledger
from autograder.lesson import find_lesson, list_lessons, load_lesson
from autograder.lint import lint_lesson, lint_project
from autograder.paths import course_root


def command(
    lessons: Annotated[
        list[str] | None, typer.Argument(help="Lessons by number or name; without any, all of them.")
    ] = None,
    run: Annotated[
        bool,
        typer.Option("--run", help="Also run the released notebooks, solved by the reference, from top to bottom."),
    ] = False,
):
    """Hold lessons to the form; say everything that is wrong and how to mend it. Exit status 1 where something is."""
    root = course_root()
    folders = [find_lesson(name) for name in lessons] if lessons else list_lessons()
    ledger = read_ledger(root)
    total = 0
    if not lessons:
        problems = lint_project(root, ledger)
        total += len(problems)
        for problem in problems:
            typer.echo(problem.text(root))
        typer.echo(f"ledger and other pages: {f'{len(problems)} problem(s)' if problems else 'in order'}", err=True)
    for folder in folders:
        problems = lint_lesson(folder, ledger)
        if run and not problems:
            from autograder.lint.execute import lint_run

            typer.echo(f"{folder.name}: running both notebooks", err=True)
            problems = lint_run(load_lesson(folder))
        total += len(problems)
        for problem in problems:
            typer.echo(problem.text(root))
        typer.echo(f"{folder.name}: {len(problems)} problem(s)" if problems else f"{folder.name}: in order", err=True)
    raise typer.Exit(1 if total else 0)
