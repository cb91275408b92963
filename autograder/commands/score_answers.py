"""course score-answers: free-text answers from a JSONL file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from autograder.lesson import find_lesson, load_lesson


def command(
    lesson: Annotated[str, typer.Argument(help="Lesson, e.g. lesson07 or 7.")],
    answers: Annotated[Path, typer.Argument(metavar="IN.jsonl", help='Lines {"id","question":"Q1|Q2|Q3","answer"}.')],
    out: Annotated[Path, typer.Option(help="Where to write one line of score an answer.")],
    judge: Annotated[
        Literal["offline", "llm"], typer.Option(help="llm: a model at COURSE_JUDGE_URL reads too.")
    ] = "offline",
    jobs: Annotated[int | None, typer.Option(min=1, help="Processes; by default one a core for large files.")] = None,
) -> None:
    """Score free-text answers by causal link. A line that cannot be read is reported with its number; the others are scored.

    Exit status 1 where a line could not be read.
    """
    from autograder.answers.batch import read_lines, record, score_lines, write_lines
    from autograder.answers.judge import Judge
    from autograder.submission.read.released import released

    source = load_lesson(find_lesson(lesson))
    text = "\n\n".join(edition.text for edition in released(source).values())
    reader = Judge.from_environment() if judge == "llm" else None
    lines = read_lines(answers, source.rubric)
    good = [x for x in lines if not x.problem]
    bad = [x for x in lines if x.problem]
    console = Console(stderr=True)
    columns = (TextColumn("scoring"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    review = 0

    def records():
        nonlocal review
        for line, score in zip(
            good,
            score_lines(
                lines,
                source.folder / "rubric.yml",
                lesson_text=text,
                judge=reader,
                jobs=jobs,
                step=lambda: bar.advance(task),
            ),
        ):
            review += score.lane == "review"
            yield record(line, score)

    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("scoring", total=len(good))
        written = write_lines(out, records())
    for line in bad:
        typer.echo(f"{answers}:{line.number}: {line.problem}; the line was left out.", err=True)
    typer.echo(f"{written} answers scored, {review} of them for review: {out}", err=True)
    if bad:
        typer.echo(f"course: {len(bad)} of {len(lines)} lines could not be read. Mend them and run it again.", err=True)
        raise typer.Exit(1)
