"""`course new`."""

from typing import Annotated

import typer

from autograder.new import lay_out
from autograder.paths import course_root

NEXT = """\
The exercise is {exercise}.{default}
Next:
  1. checks.py: the reference, the cases, what counts as a boundary input.
  2. zh.qmd and en.qmd: the exercise and the solution, then section by section; figures in figures/{short}_*.py.
     KERNEL is one that `course run` lists; the challenge takes one whose .cu file has a line between CHALLENGE-BEGIN and CHALLENGE-END.
  3. claims.yml: every figure the text states; `course claims` works them out.
  4. rubric.yml: links, misconceptions, hints; answers.jsonl: answers as students write them, labelled.
  5. lessons/_quarto.yml: a line in each sidebar. tests/{short}/: wrong fills that must fail.
`course lint {number}` says what is still missing, `python -m pytest tests/lessons -k {short}` what a finished lesson owes besides;
the page 'Write a lesson' (lessons/write/en.qmd) tells the whole way."""
DEFAULT = " For another remove the folder and give --function and --parameters, or rename it in all files."


def command(
    number: Annotated[int, typer.Argument(help="Its place in the route, 1 to 99.")],
    slug: Annotated[
        str, typer.Argument(help="Its name: small letters, digits, underscores, e.g. warp_specialization.")
    ],
    function: Annotated[str, typer.Option(help="The exercise's function; by default the slug.")] = "",
    parameters: Annotated[str, typer.Option(help="Its parameters, with commas between.")] = "x",
):
    """Lay out an empty lesson: every file, both languages, every section with a sentence that says what belongs there."""
    root = course_root()
    folder = lay_out(root / "lessons", number, slug, function, parameters)
    for path in sorted(folder.iterdir()):
        typer.echo(path.relative_to(root))
    exercise = f"{function or slug}({', '.join(p.strip() for p in parameters.split(',') if p.strip())})"
    given = function and parameters != "x"
    typer.echo(
        NEXT.format(short=f"lesson{number:02d}", number=number, exercise=exercise, default="" if given else DEFAULT),
        err=True,
    )
