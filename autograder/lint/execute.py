"""`course lint --run`: the released notebook, solved by the reference, run from top to bottom in a Jupyter kernel."""

from __future__ import annotations

import ast
import os
import shutil
import tempfile
from pathlib import Path

import nbformat
import numpy as np
from nbclient.exceptions import CellExecutionError
from nbformat import NotebookNode

from autograder.lesson.cells import run_cells
from autograder.lesson.model import BLANK, LANGS, Lesson
from autograder.lesson.still import still_outputs
from autograder.lint.hidden import solution_fill
from autograder.lint.problem import Problem
from autograder.release.data import student_lesson
from autograder.release.notebook import notebook_assets, student_notebook
from autograder.student.data import FILE, to_json

SECONDS = 300


def solved_notebook(lesson: Lesson, lang: str) -> NotebookNode:
    """The released notebook with the reference in the blank, a boundary case of the lesson's own, and the reference answers.

    The challenge stays as released: its blank is the student's.
    """
    nb = student_notebook(lesson, lang)
    edition = lesson.edition(lang)
    exercise, solution = edition.with_role("exercise")[0], edition.with_role("solution")[0]
    fill = solution_fill(exercise.source, solution.source, lesson.checks.function)
    case, prediction = own_case(lesson)
    for cell in nb.cells:
        if cell.id == "exercise":
            cell.source = cell.source.replace(BLANK, fill)
        elif cell.id == "boundary-case":
            names = list(case)
            arguments = ", ".join(f"{n}={_literal(case[n])}" for n in names)
            cell.source = _with_values(
                cell.source, {"my_case": f"dict({arguments})", "my_prediction": _literal(prediction)}
            )
        elif slot := cell.metadata.course.get("slot"):
            cell.source += "\n\n" + lesson.rubric.slots[slot].reference.get(lang)
    return nb


def _with_values(source: str, values: dict[str, str]) -> str:
    """The cell with these values given to its names, each assignment on one line, however many it had."""
    lines = source.split("\n")
    for statement in reversed(ast.parse(source).body):
        if (
            isinstance(statement, ast.Assign)
            and isinstance(statement.targets[0], ast.Name)
            and statement.targets[0].id in values
        ):
            name = statement.targets[0].id
            lines[statement.lineno - 1 : statement.end_lineno] = [f"{name} = {values[name]}"]
    return "\n".join(lines)


def own_case(lesson: Lesson) -> tuple[dict, object]:
    """(arguments, result): the first boundary case of the lesson's that can be written down and counts as a student's own."""
    for case in lesson.checks.boundary_cases(np.random.default_rng(0)):
        args = {k: round(v, 3) if isinstance(v, float) else v for k, v in case["args"].items()}
        if all(_plain(v) for v in args.values()) and lesson.checks.is_boundary(args):
            result = lesson.checks.reference(**args)
            if _plain(result) and result == result:  # a NaN cannot be asserted equal
                return args, result
    raise ValueError("no boundary case of the lesson can be written as literals")


def _plain(value: object) -> bool:
    return (
        value is None
        or isinstance(value, (bool, int, float, str))
        or (isinstance(value, (list, tuple)) and all(map(_plain, value)))
    )


def _literal(value: object) -> str:
    return f'float("{value}")' if isinstance(value, float) and not np.isfinite(value) else repr(value)


def run_notebook(lesson: Lesson, lang: str, seconds: int = SECONDS) -> tuple[NotebookNode, list[Problem]]:
    """Run the solved notebook as a student would, beside its data and assets. Returns it with its outputs, and what went wrong."""
    nb = solved_notebook(lesson, lang)
    page = lesson.edition(lang).path
    with tempfile.TemporaryDirectory(prefix="course-run-") as folder:
        desk = Path(folder)
        (desk / FILE).write_text(to_json(student_lesson(lesson)), encoding="utf-8")
        for name, source in notebook_assets(lesson, lang).items():
            (desk / name).parent.mkdir(exist_ok=True)
            shutil.copyfile(source, desk / name)
        nbformat.write(nb, desk / f"{lesson.slug}.ipynb")
        environment = {**os.environ, "JPY_SESSION_NAME": str(desk / f"{lesson.slug}.ipynb")}
        how = dict(
            timeout=seconds,
            kernel_name="python3",
            extra_arguments=["--log-level=ERROR"],
            resources={"metadata": {"path": str(desk)}},
        )
        try:
            run_cells(nb, execute={"env": environment}, **how)
        except CellExecutionError as e:
            return nb, [
                Problem(
                    page,
                    0,
                    f"A cell of the solved notebook fails: {e.ename}: {e.evalue}",
                    f"Mend the cell that begins {_first_line(nb)!r}.",
                )
            ]
        except (RuntimeError, TimeoutError) as e:
            return nb, [
                Problem(
                    page,
                    0,
                    f"The solved notebook does not run to its end: {type(e).__name__}.",
                    f"Mend the cell that begins {_first_line(nb)!r}.",
                )
            ]
    for cell in nb.cells:
        cell_outputs = still_outputs(nb, cell)
        if error := next(
            (o for o in cell_outputs if o.output_type == "error"), None
        ):  # inside a widget it stops nothing
            return nb, [
                Problem(
                    page,
                    0,
                    f"A widget of the solved notebook fails: {error.ename}: {error.evalue}",
                    f"Mend the cell that begins {_begin(cell)!r}.",
                )
            ]
        if cell.cell_type == "code":
            cell.outputs = cell_outputs
    noisy = [(c, text) for c in nb.cells if (text := _stderr(c))]
    return nb, [
        Problem(
            page,
            0,
            f"The cell that begins {_begin(c)!r} writes to stderr: {text[:80]!r}.",
            "A student would take it for an error, and nbgrader scores such a check cell 0: silence the cause.",
        )
        for c, text in noisy
    ]


def _stderr(cell: NotebookNode) -> str:
    """What a cell wrote to stderr, but for what a machine says once: building Matplotlib's font cache, and the emulator."""
    text = "".join(o.text for o in cell.get("outputs", []) if o.output_type == "stream" and o.name == "stderr")
    return "\n".join(
        x
        for x in text.split("\n")
        if x.strip() and not any(once in x for once in ("font cache", "Building the kernel emulator"))
    )


def _first_line(nb: NotebookNode) -> str:
    """The cell that was running last."""
    ran = [c for c in nb.cells if c.cell_type == "code" and c.get("execution_count")]
    return _begin(ran[-1]) if ran else ""


def _begin(cell: NotebookNode) -> str:
    return cell.source.strip().split("\n")[0][:60]


def lint_run(lesson: Lesson) -> list[Problem]:
    """Both editions, run."""
    return [p for lang in LANGS for p in run_notebook(lesson, lang)[1]]
