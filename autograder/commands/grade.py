"""`course grade`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

CourseOption = Annotated[
    Path, typer.Option("--course", help="The course folder: gradebook, submitted, autograded, feedback.")
]
DbOption = Annotated[
    str | None,
    typer.Option(
        "--db",
        envvar="COURSE_DB_URL",
        help="The gradebook's URL, e.g. postgresql+psycopg://user@host/name. Default: gradebook.db in the course folder.",
    ),
]


def command(
    lesson: Annotated[str | None, typer.Argument(help="Lesson: slug, number or part of the name.")] = None,
    lesson_option: Annotated[str | None, typer.Option("--lesson", help="The lesson as an option.")] = None,
    submissions: Annotated[
        Path | None,
        typer.Option(
            help="Folder that holds <student>/<lesson>/<lesson>.ipynb; `course collect` makes it from a download. Required."
        ),
    ] = None,
    json_out: Annotated[Path | None, typer.Option("--json", help="Write the verdicts as JSON.")] = None,
    jobs: Annotated[int | None, typer.Option(help="Worker processes; default: one a core.", min=1)] = None,
    cluster: Annotated[
        str | None, typer.Option(help="Address of a dask scheduler, e.g. tcp://host:8786, instead of --jobs.")
    ] = None,
    course: CourseOption = Path("course_run"),
    db: DbOption = None,
    regrade: Annotated[
        bool, typer.Option("--regrade", help="Grade everything again, also what has not changed. Manual scores stay.")
    ] = False,
    challenges: Annotated[
        bool,
        typer.Option(
            "--challenges",
            help="Also compile and run the challenge lines (CUDA C++, in bubblewrap). They earn no points; what was graded before keeps what it has.",
        ),
    ] = False,
):
    """Grade a folder of submissions: gradebook, verdict table, JSON.

    A rerun goes on where a stopped run was and grades nothing twice; a changed rubric or check asks for a regrade by itself.
    """
    if jobs and cluster:
        raise typer.BadParameter("--jobs and --cluster exclude each other.")
    if (lesson is None) == (lesson_option is None):
        raise typer.BadParameter("Name one lesson: `course grade LESSON --submissions DIR`, or with --lesson LESSON.")
    if submissions is None:
        raise typer.BadParameter(
            f"Name the folder of submissions: `course grade {lesson or lesson_option} --submissions DIR`."
        )
    from autograder.errors import CourseError
    from autograder.gradebook.course import CourseFolder, refuse_own, write_output
    from autograder.gradebook.final import final_results
    from autograder.gradebook.formgrader import how_to_open
    from autograder.gradebook.run import grade_submissions
    from autograder.gradebook.show import console, progress_bar, records_json, verdict_table
    from autograder.lesson import load_lesson

    found = load_lesson(lesson or lesson_option)
    if json_out is not None and json_out.is_dir():
        raise CourseError("--json names a folder.", where=str(json_out), remedy="Name a file.")
    folder = CourseFolder(course, db_url=db)
    if json_out is not None:
        refuse_own(json_out, folder, submissions)
    screen = console()
    with progress_bar(screen, f"grading {found.slug}") as progress:
        summary = grade_submissions(
            found,
            submissions,
            folder,
            jobs=jobs,
            cluster=cluster,
            progress=progress,
            regrade=regrade,
            challenges=challenges,
        )
    finals = final_results(folder, found, students=summary.students)
    if json_out is not None:
        try:
            write_output(json_out, records_json(finals), folder)
        except OSError as e:
            raise CourseError(
                f"The JSON cannot be written: {e.strerror}.",
                where=str(json_out),
                remedy="Name another file; the grades are in the gradebook already.",
            ) from None
    screen.print(verdict_table(found, finals, screen.width))
    for note in summary.notes:
        screen.print(note, soft_wrap=True, markup=False, highlight=False)
    counts = [
        (summary.retimed, "with another time of handing in"),
        (summary.recovered, "taken over from an interrupted run"),
    ]
    screen.print(
        ", ".join(
            [f"{summary.graded} graded now", f"{summary.kept} unchanged", *(f"{n} {what}" for n, what in counts if n)]
        )
        + "."
    )
    screen.print(f"Course folder: {folder.root}", soft_wrap=True)
    waiting = sum(f.waits or f.score is None for f in finals)
    if waiting:
        screen.print(
            f"{waiting} wait for a person, most needed first in `course report`. Written answers in groups: `course review {found.number} --course {course}`. Or {how_to_open(folder, found)}",
            soft_wrap=True,
            markup=False,
            highlight=False,
        )
    if json_out is not None:
        screen.print(f"JSON: {json_out}", soft_wrap=True)
