"""`course release`."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from autograder.lesson import list_lessons, load_lesson
from autograder.release.bundle import release


def command(
    lessons: Annotated[list[str] | None, typer.Argument(help="Lessons by number or name; without any, all of them.")] = None,
    out: Annotated[Path, typer.Option("--out", help="The course folder to write: bundles/, source/, release/.")] = ...,
    prebuild: Annotated[bool, typer.Option("--prebuild", help="Put the emulator's runner into the wheel (minutes once here, a minute saved for each student).")] = False,
    lang: Annotated[Literal["zh", "en"], typer.Option(help="Language of the notebook that nbgrader hands out.")] = "zh",
):
    """Make the students' bundles and nbgrader's source and release folders. Running it again is safe."""
    chosen = [load_lesson(name) for name in lessons] if lessons else [load_lesson(folder) for folder in list_lessons()]
    for path in release(chosen, out, lang, lambda message: typer.echo(f"  {message}", err=True), prebuild):
        typer.echo(f"{path}  ({path.stat().st_size / 1e6:.1f} MB)")
