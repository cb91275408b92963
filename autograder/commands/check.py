"""`course check`."""

from pathlib import Path
from typing import Annotated

import typer

from autograder.student.integrity import integrity_items, missing_items
from autograder.student.reading import find_parts, lesson_name_of, read_notebook
from autograder.student.data import load_student_lesson
from autograder.student.runner import SECONDS, run_apart
from autograder.student.show import Report
from autograder.student.status import answer_items
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
    nb = read_notebook(path)
    lesson = load_student_lesson(lesson_name_of(nb, path), path.resolve().parent)
    found = find_parts(nb, lesson)
    lang = found.lang
    report = Report(say(lang, "check_title", file=path.name, title=lesson.title[lang]), lang)
    report.extend(missing_items(found, lang))
    report.extend(integrity_items(lesson, found, lang))
    report.extend(run_apart(lesson, lang, found.source("exercise"), found.source("boundary_case"), seconds))
    report.extend(answer_items(lesson, found, lang))
    if not found.has_outputs:
        report.add("note", say(lang, "no_outputs"), "outputs")
    report.foot.append(say(lang, "not_ready", n=report.open) if report.open else say(lang, "ready"))
    report.foot.append(say(lang, "foot_unseen", total=sum(lesson.points.values()), pass_mark=lesson.pass_mark))
    return report
