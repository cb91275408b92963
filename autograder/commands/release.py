"""`course release`."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from autograder.lesson import list_lessons, load_lesson
from autograder.release.bundle import release

NAMES = {"zh": "Chinese", "en": "English"}


def command(
    lessons: Annotated[
        list[str] | None, typer.Argument(help="Lessons by number or name; without any, all of them.")
    ] = None,
    out: Annotated[
        Path,
        typer.Option(
            "--out",
            "--course",
            help="The course folder to write: bundles/, source/, release/, and the gradebook, where the lessons are registered.",
        ),
    ] = ...,
    prebuild: Annotated[
        bool,
        typer.Option(
            "--prebuild/--no-prebuild",
            help="Put the emulator's runner into the wheel: 90 s here, once for each version, and each student's first launch takes seconds.",
        ),
    ] = True,
    lang: Annotated[Literal["zh", "en"], typer.Option(help="Language of the notebook that nbgrader hands out.")] = "zh",
):
    """Make the students' bundles and nbgrader's source and release folders. Running it again is safe; scores in the gradebook stay.

    A bundle has both languages, in zh/ and en/. nbgrader knows one notebook a lesson: the one in --lang; the other lies beside it in a folder.
    """
    from autograder.gradebook.assignment import register
    from autograder.gradebook.course import CourseFolder

    chosen = [load_lesson(name) for name in lessons] if lessons else [load_lesson(folder) for folder in list_lessons()]
    for path in release(chosen, out, lang, lambda message: typer.echo(f"  {message}", err=True), prebuild):
        typer.echo(f"{path}  ({path.stat().st_size / 1e6:.1f} MB)")
    register(chosen, CourseFolder(out), lang)  # `nbgrader autograde` asks the gradebook for the assignment
    other = "en" if lang == "zh" else "zh"
    typer.echo("Next: give students the zip; zh/ and en/ in it hold the notebook in Chinese and in English.")
    typer.echo(
        f"nbgrader ({out}/source, {out}/release) hands out the {NAMES[lang]} notebook, with the {NAMES[other]} one beside it in {other}/; --lang {other} turns them round."
    )
    typer.echo(
        f"When they have handed in: course collect {chosen[0].number if len(chosen) == 1 else 'LESSON'} DOWNLOADS --course {out}"
    )
