"""`course demo`: the whole job once, on the sample class."""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

LESSON = "lesson07_mixed_precision_epilogue"


def command(
    out: Annotated[
        Path, typer.Option(help="Folder for everything the demo writes; a second run goes on from it.")
    ] = Path("demo_run"),
):
    """Release lesson 7, grade the sample class, write gradebook, feedback, report, exports and the website."""
    from rich.console import Console

    from autograder.export import export
    from autograder.feedback import write_feedback
    from autograder.gradebook.course import CourseFolder, write_atomically
    from autograder.gradebook.final import final_results
    from autograder.gradebook.run import grade_submissions
    from autograder.gradebook.show import progress_bar, records_json, verdict_table
    from autograder.lesson import load_lesson
    from autograder.release.bundle import release
    from autograder.report import write_report
    from autograder.site import build_site

    console = Console()
    lesson = load_lesson(LESSON)
    course = out / "course"
    started = time.monotonic()

    def step(title: str, work: Callable):
        """One step with its time; the work's own messages replace each other on one line."""
        at = time.monotonic()
        with console.status(title) as status:
            result = work(lambda message: status.update(f"{title}: {message}"))
        console.print(f"[green]✔[/green] {title} [dim]({time.monotonic() - at:.0f} s)[/dim]")
        return result

    bundles = step("release lesson 7 for students and nbgrader", lambda say: release([lesson], course, progress=say))
    expected = step("hand in the sample class", lambda say: _sample_class().build(out / "submissions"))
    folder = CourseFolder(course)
    with progress_bar(console, "grading") as progress:
        summary = grade_submissions(lesson, out / "submissions", folder, progress=progress)
    console.print(f"[green]✔[/green] grading: {summary.graded} graded now, {summary.kept} unchanged")
    finals = final_results(folder, lesson, students=summary.students)
    write_atomically(out / "verdicts.json", records_json(finals))
    pages = step("feedback pages", lambda say: write_feedback(lesson, folder))
    report = step("class report", lambda say: write_report(lesson, folder))
    exports = step("exports", lambda say: [export(lesson, folder, fmt) for fmt in ("csv", "canvas", "moodle")])
    sites = [
        step(f"website, {e} edition", lambda say, e=e: build_site(out / "site" / e, edition=e, progress=say))
        for e in ("student", "answer")
    ]

    console.print(verdict_table(lesson, finals))
    surprises = _surprises(finals, expected)
    console.print(f"{len(expected) - len(surprises)} of {len(expected)} verdicts are what the class was made for.")
    for line in surprises:
        console.print(f"[yellow]  {line}[/yellow]")
    places = {
        "student bundles": ", ".join(str(b) for b in bundles),
        "nbgrader course": f"{course}  (gradebook.db, source, release, submitted, autograded, feedback)",
        "verdicts": str(out / "verdicts.json"),
        "feedback": f"{len(pages)} pages, e.g. {pages[0]}" if pages else "none",
        "report": str(report),
        "exports": ", ".join(str(e) for e in exports),
        "website": ", ".join(str(s.out / "index.html") for s in sites),
    }
    for name, place in places.items():
        console.print(f"[bold]{name:16}[/bold] {place}", soft_wrap=True)
    console.print(
        f"All of it took {time.monotonic() - started:.0f} s. `course preview` serves the website; the formgrader: `cd {course} && jupyter lab`.",
        soft_wrap=True,
    )
    if surprises:
        raise typer.Exit(1)


def _sample_class():
    """tests/sample_class/make.py of the checkout: the class is test data, not part of the installed package."""
    from autograder.errors import CourseError
    from autograder.paths import course_root

    path = course_root() / "tests" / "sample_class" / "make.py"
    if not path.is_file():
        raise CourseError(
            "The sample class is not here.", where=str(path), remedy="Run `course demo` in a checkout of the course."
        )
    spec = importlib.util.spec_from_file_location("sample_class_make", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _surprises(finals: list, expected: dict[str, dict]) -> list[str]:
    """Where a verdict differs from students.yml, in words."""
    got = {f.result.student: f.result for f in finals}
    lines = []
    for student, expect in expected.items():
        result = got.get(student)
        if result is None:
            lines.append(f"{student}: no verdict")
        elif result.state != expect["state"]:
            lines.append(
                f"{student}: {result.state} instead of {expect['state']} ({'; '.join(result.why) or 'no reasons'})"
            )
        elif "total" in expect and result.total != expect["total"]:
            lines.append(f"{student}: {result.total:g} points instead of {expect['total']}")
        elif "veto" in expect and not any(expect["veto"] in v for v in result.veto):
            lines.append(f"{student}: veto {result.veto or 'none'} instead of one on {expect['veto']}")
    return lines
