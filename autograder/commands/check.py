"""`course check`."""

from pathlib import Path
from typing import Annotated

import typer

from autograder.student.reading import read_saved
from autograder.student.runner import SECONDS, run_apart
from autograder.student.saved import (
    answer_items,
    doubled_items,
    fill_items,
    finding_items,
    has_outputs,
    other_release_items,
    own_case_items,
    own_case_sources,
)
from autograder.student.show import Report
from autograder.student.words import say


def command(
    notebook: Annotated[Path, typer.Argument(help="The notebook to check before handing it in.")],
    seconds: Annotated[float, typer.Option(help="Time limit for running your code.", min=1)] = SECONDS,
):
    """Check a notebook before handing it in: visible checks, missing parts, what was changed outside the blanks.

    Speaks the notebook's language. Exit status 0: ready to hand in; 1: something is missing or wrong.
    """
    report = check_notebook(notebook, seconds)
    typer.echo(str(report))
    raise typer.Exit(1 if report.open else 0)


def check_notebook(path: Path, seconds: float = SECONDS) -> Report:
    """The report of `course check`. Raises CourseError where the file cannot be read."""
    saved = read_saved(path)
    lesson, lang = saved.lesson, saved.lang
    report = Report(say(lang, "check_title", file=path.name, title=lesson.title[lang]), lang)
    report.extend([*other_release_items(saved, lang), *finding_items(saved, lang)])
    wrong, program = fill_items(saved, lang)
    no_case = own_case_items(saved, lang)
    report.extend(wrong)
    if program is not None or not no_case:
        report.extend(run_apart(lesson, lang, program, own_case_sources(saved), seconds))
    report.extend([*no_case, *answer_items(saved, lang), *doubled_items(saved, lang)])
    if not has_outputs(saved):
        report.add("note", say(lang, "no_outputs"), "outputs")
    report.foot.append(say(lang, "not_ready", n=report.open) if report.open else say(lang, "ready"))
    report.foot.append(say(lang, "release", slug=lesson.slug, release=lesson.release(lang)))
    report.foot.append(say(lang, "foot_unseen", total=sum(lesson.points.values()), pass_mark=lesson.pass_mark))
    return report
