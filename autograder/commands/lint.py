"""`course lint`."""

from typing import Annotated

import typer

from autograder.lesson import find_lesson, list_lessons, load_lesson
from autograder.lint import lint_lesson
from autograder.paths import course_root


def command(
    lessons: Annotated[list[str] | None, typer.Argument(help="Lessons by number or name; without any, all of them.")] = None,
    run: Annotated[bool, typer.Option("--run", help="Also run the released notebooks, solved by the reference, from top to bottom.")] = False,
):
    """Hold lessons to the form; say everything that is wrong and how to mend it. Exit status 1 where something is."""
    root = course_root()
    folders = [find_lesson(name) for name in lessons] if lessons else list_lessons()
    total = 0
    for folder in folders:
        problems = lint_lesson(folder)
        if run and not problems:
            from autograder.lint.execute import lint_run

            typer.echo(f"{folder.name}: running both notebooks", err=True)
            problems = lint_run(load_lesson(folder))
        total += len(problems)
        for problem in problems:
            typer.echo(problem.text(root))
        typer.echo(f"{folder.name}: {len(problems)} problem(s)" if problems else f"{folder.name}: in order", err=True)
    raise typer.Exit(1 if total else 0)
