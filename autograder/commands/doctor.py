"""`course doctor`."""

from typing import Annotated

import typer
from rich.console import Console

from autograder.student.machine import looks

_SIGN = {"ok": "[green]✔[/]", "missing": "[red]✘[/]", "optional": "[yellow]○[/]"}


def command(student: Annotated[bool, typer.Option("--student", help="Only what a student needs.")] = False):
    """What is here, what is missing, how to get it. Exit status 1 where something needed is missing."""
    console = Console(soft_wrap=True, highlight=False)
    part, missing = "", 0
    for look in looks():
        if student and look.part != "student":
            continue
        if look.part != part:
            part = look.part
            console.print(f"[bold]{'For a student' if part == 'student' else 'For an instructor'}[/]")
        console.print(f"  {_SIGN[look.state]} [bold]{look.name}[/]: ", end="")
        console.print(look.text, markup=False)
        if look.remedy and look.state != "ok":
            console.print(f"      → {look.remedy}", markup=False)
        missing += look.state == "missing"
    console.print(f"{missing} needed thing(s) missing." if missing else "All that is needed is here.")
    raise typer.Exit(1 if missing else 0)
