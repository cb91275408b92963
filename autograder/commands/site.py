"""`course site`."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from autograder.site import build_site
from autograder.site.build import EDITIONS, LACKS


def command(
    renderer: Annotated[str, typer.Option(help="auto (Quarto where installed), quarto or smalldocs.")] = "auto",
    edition: Annotated[str, typer.Option(help="student, or answer with the reference answers.")] = "student",
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder for the site; an older site there is replaced. Default: _site, and _site-answer for the answer edition."
        ),
    ] = None,
    bundles: Annotated[bool, typer.Option(help="Put the students' bundles on the site, for download.")] = True,
):
    """Build the course website, Chinese and English."""
    console = Console(stderr=True)
    with console.status("") as status:
        built = build_site(
            out or Path(EDITIONS.get(edition, "_site")),
            edition=edition,
            renderer=renderer,
            bundles=bundles,
            progress=status.update,
        )
    print(f"{built.pages} pages ({edition} edition, {built.renderer}): {built.out / 'index.html'}")
    if built.renderer in LACKS:
        print(LACKS[built.renderer])
    print("Open it with `course preview`, serve the folder, or open its pages as files.")
