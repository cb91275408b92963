"""`course list`."""

import inspect

import numpy as np
import typer

from autograder.errors import CourseError
from autograder.lesson import Lesson, list_lessons, load_lesson
from autograder.paths import lessons_dir


def command():
    """The lessons, in route order: titles, exercise, points, hidden checks. Exit status 1 where one cannot be read."""
    folders = list_lessons()
    if not folders:
        raise CourseError(
            "There is no lesson yet.", where=str(lessons_dir()), remedy="A lesson is a folder named lessonNN_slug."
        )
    broken = 0
    for folder in folders:
        try:
            typer.echo(_entry(load_lesson(folder)))
        except CourseError as e:
            broken += 1
            typer.echo(f"{folder.name}: cannot be read", err=True)
            typer.echo(f"course: {e}", err=True)
    raise typer.Exit(1 if broken else 0)


def _entry(lesson: Lesson) -> str:
    checks = lesson.checks
    signature = f"{checks.function}({', '.join(inspect.signature(checks.reference).parameters)})"
    normal, boundary = (len(make(np.random.default_rng(0))) for make in (checks.normal_cases, checks.boundary_cases))
    lines = [
        f"{lesson.number:2d}  {typer.style(lesson.edition('zh').title, bold=True)}",
        f"    {typer.style(lesson.edition('en').title, bold=True)}",
        f"    {lesson.slug}",
        f"    {signature}; {normal} normal and {boundary} boundary checks; {lesson.rubric.points.total()} points, pass at {lesson.rubric.pass_mark}",
    ]
    return "\n".join(lines)
