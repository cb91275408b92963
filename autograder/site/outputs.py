"""Running a lesson's code cells, so that a page shows real outputs whichever renderer builds it.

The page's exercise is run with the lesson's own solution in the blank; the student's own cells (boundary, challenge) are
shown, not run. Outputs are cached by content: sources of the page, of `kernels` and of the solution.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
from pathlib import Path

import nbformat
from nbclient.exceptions import CellExecutionError

from autograder.errors import CourseError
from autograder.lesson import Edition, Lesson
from autograder.lesson.cells import run_cells
from autograder.lesson.still import still_outputs
from autograder.paths import course_root

NOT_RUN = {"boundary", "challenge", "solution"}
TIME_LIMIT_S = 300
FORMAT = 3  # of the cache
# A page shows figures as SVG with text as text, so that no font is needed when the site is built.
FIGURES = """import matplotlib
from matplotlib_inline.backend_inline import set_matplotlib_formats
matplotlib.rcParams["svg.fonttype"] = "none"
set_matplotlib_formats("svg")
import kernels
kernels.speak("{lang}")
"""


def lesson_outputs(lesson: Lesson, edition: Edition, cache: Path | None = None) -> dict[int, list]:
    """Outputs of each code cell: {index in edition.cells: [nbformat output, ...]}.

    Raises CourseError with the cell's line where a cell fails.
    """
    program = _program(edition)
    root = course_root()
    cache = cache or root / ".cache" / "site-outputs"
    kept = cache / f"{_key(program, edition.lang, root)}.json"
    if kept.is_file():
        return {int(k): [nbformat.from_dict(o) for o in v] for k, v in json.loads(kept.read_text()).items()}
    nb = nbformat.v4.new_notebook(
        cells=[
            nbformat.v4.new_code_cell(source)
            for source in (FIGURES.format(lang=edition.lang), *(s for _, s in program))
        ]
    )
    nb.metadata.kernelspec = {"name": "python3", "display_name": "Python 3", "language": "python"}
    # The kernel's own log (stderr of its process, not of the cells) is no part of the page or the terminal.
    quiet = {
        "env": {**os.environ, "MPLBACKEND": "module://matplotlib_inline.backend_inline"},
        "stderr": subprocess.DEVNULL,
    }
    try:
        run_cells(
            nb,
            execute=quiet,
            timeout=TIME_LIMIT_S,
            kernel_name="python3",
            resources={"metadata": {"path": str(lesson.folder)}},
        )
    except CellExecutionError as e:
        at = next(
            (
                edition.cells[i].line
                for (i, _), c in zip(program, nb.cells[1:])
                if c.get("outputs") and c.outputs[-1].output_type == "error"
            ),
            1,
        )
        raise CourseError(
            f"A code cell of the page fails: {e.ename}: {e.evalue}",
            where=f"{edition.path}:{at}",
            remedy="Run the page's cells in order and mend it.",
        ) from None
    except (TimeoutError, RuntimeError) as e:
        raise CourseError(
            f"The page's cells do not run to their end: {type(e).__name__}.",
            where=str(edition.path),
            remedy="Run `course lint --run` on the lesson; it names the cell.",
        ) from None
    found = {i: still_outputs(nb, cell) for (i, _), cell in zip(program, nb.cells[1:])}
    for i, outputs in found.items():
        if error := next(
            (o for o in outputs if o.output_type == "error"), None
        ):  # a widget keeps its function's error to itself
            raise CourseError(
                f"A code cell of the page fails: {error.ename}: {error.evalue}",
                where=f"{edition.path}:{edition.cells[i].line}",
                remedy="Mend the function that the widget calls.",
            )
    cache.mkdir(parents=True, exist_ok=True)
    partial = kept.with_suffix(".part")
    partial.write_text(json.dumps(found, ensure_ascii=False))
    partial.replace(kept)
    return found


def _program(edition: Edition) -> list[tuple[int, str]]:
    """(cell index, source) in order; the exercise's source is the solution cell's."""
    solution = next((c.source for c in edition.cells if c.role == "solution"), None)
    program = []
    for i, cell in enumerate(edition.cells):
        if cell.kind != "code" or cell.role in NOT_RUN or cell.options.get("eval") is False:
            continue
        program.append((i, solution if cell.role == "exercise" and solution else cell.source))
    return program


def _key(program: list[tuple[int, str]], lang: str, root: Path) -> str:
    h = hashlib.sha256(json.dumps([FORMAT, lang, program]).encode())
    for path in sorted((root / "kernels").rglob("*")):
        if path.suffix in {".py", ".cu", ".cuh", ".h", ".cpp"}:
            h.update(path.read_bytes())
    for path in sorted((root / "figures" / "data").glob("*.json")):
        h.update(path.read_bytes())
    return h.hexdigest()[:24]
