"""`course claims`."""

from pathlib import Path
from typing import Annotated

import typer

from autograder.claims import read_ledger
from autograder.claims.uses import all_problems
from autograder.claims.write import drift, made_files, write_files
from autograder.paths import course_root


def command(
    check: Annotated[
        bool,
        typer.Option("--check", help="Write nothing; fail where the committed files differ from what the claims give."),
    ] = False,
):
    """Work out every figure of the lessons' claims.yml, write lessons/_variables.yml and the ledger pages, say what is wrong.

    Exit status 1 where a claim is wrong, a page states one that is not there, or (--check) a file is not up to date.
    """
    root = course_root()
    ledger = read_ledger(root)
    said = [f"{_short(p.where, root)}: {p.what} {p.remedy}" for p in all_problems(ledger)]
    if check:
        said += drift(ledger)
    else:
        for path in write_files(made_files(ledger)):
            typer.echo(f"{path.relative_to(root)}: written", err=True)
    for line in said:
        typer.echo(line)
    typer.echo(
        f"{len(ledger.entries)} claims, {len(said)} problem(s)"
        if said
        else f"{len(ledger.entries)} claims, all in order",
        err=True,
    )
    raise typer.Exit(1 if said else 0)


def _short(where: str, root: Path) -> str:
    return where.removeprefix(f"{root}/")
