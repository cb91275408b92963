"""`course hint`."""

import os
from typing import Annotated, Literal

import typer

from autograder.student.data import load_student_lesson
from autograder.student.hints import LEVELS, hint_report
from autograder.student.words import say


def command(
    lesson: Annotated[str, typer.Argument(help="Lesson by number or name, e.g. 7.")],
    level: Annotated[
        int, typer.Argument(help="1 concept area, 2 direction, 3 key local step, 4 full answer.", min=1, max=LEVELS)
    ],
    lang: Annotated[
        Literal["zh", "en"] | None,
        typer.Option(help="zh or en; by default the locale's, and zh where that is neither."),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Show level 4, the full answer, without asking.")] = False,
):
    """A hint for a lesson, level 1 to 4; level 4 is the full answer and asks first."""
    lang = lang or _language()
    data = load_student_lesson(lesson, lang=lang)
    if level == LEVELS and not yes and not typer.confirm(say(lang, "hint_ask"), err=True):
        raise typer.Exit(1)
    report = hint_report(data, level, lang)
    typer.secho(report.title, bold=True)
    typer.echo(report.items[0].text)


def _language() -> Literal["zh", "en"]:
    named = next((os.environ[n] for n in ("LC_ALL", "LC_MESSAGES", "LANG") if os.environ.get(n)), "")
    return "en" if named.lower().startswith("en") else "zh"
