"""`course new`."""

from typing import Annotated

import typer

from autograder.new import lay_out
from autograder.paths import course_root

NEXT = """\
Next:
  1. checks.py: the reference, the cases, what counts as a boundary input.
  2. zh.qmd and en.qmd: the exercise and the solution, then section by section; figures in figures/{short}_*.py.
  3. claims.yml: every figure the text states; `course claims` works them out.
  4. rubric.yml: links, misconceptions, hints; answers.jsonl: answers as students write them, labelled.
  5. lessons/_quarto.yml: a line in each sidebar. tests/{short}/: wrong fills that must fail.
`course lint {number}` says what is still missing; the page 'Write a lesson' tells the whole way."""


def command(
    number: Annotated[int, typer.Argument(help="Its place in the route, 1 to 99.")],
    slug: Annotated[str, typer.Argument(help="Its name: small letters, digits, underscores, e.g. warp_specialization.")],
    function: Annotated[str, typer.Option(help="The exercise's function; by default the slug.")] = "",
    parameters: Annotated[str, typer.Option(help="Its parameters, with commas between.")] = "x",
):
    """Lay out an empty lesson: every file, both languages, every section with a sentence that says what belongs there."""
    root = course_root()
    folder = lay_out(root / "lessons", number, slug, function, parameters)
    for path in sorted(folder.iterdir()):
        typer.echo(path.relative_to(root))
    typer.echo(NEXT.format(short=f"lesson{number:02d}", number=number), err=True)
