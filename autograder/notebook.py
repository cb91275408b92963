"""What the cells of a student's notebook call: check(), hint(), run_kernel(), challenge().

The setup cell calls start() once; it sets the lesson and the language in which everything speaks.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from autograder.student.data import StudentLesson, load_student_lesson
from autograder.student.hints import MIME as _HINT_MIME
from autograder.student.hints import HintLadder
from autograder.student.show import Report
from autograder.student.words import say

__all__ = ["CheckFailed", "challenge", "check", "hint", "run_kernel", "start"]


class CheckFailed(AssertionError):
    """A check cell has something that is not right yet; the list above it says what."""

    def _render_traceback_(self) -> list[str]:
        return [str(self)]  # IPython shows this in place of a stack of our own frames


class _Session:
    lesson: StudentLesson | None = None
    lang: str = "zh"
    space: dict[str, Any] = {}
    hints: HintLadder | None = None


def start(lesson: str, lang: str, space: dict) -> None:
    """Say which lesson and language ("zh" or "en") this notebook is. space: the notebook's own globals().

    Raises CourseError where the lesson's data is not found beside the notebook.
    """
    _Session.lesson = load_student_lesson(lesson, _notebook_folder(space))
    _Session.lang, _Session.space = lang, space
    _Session.hints = HintLadder(_Session.lesson, lang)


def check(which: str | None = None) -> None:
    """Show what is right and what is missing. which: "normal", "boundary", or nothing for everything before handing in.

    The two check cells raise CheckFailed where something is not right; check() alone only shows.
    """
    from autograder.student import status

    lesson, lang, space = _session()
    if which is None:
        _show(status.whole_report(lesson, lang, space, _notebook_file(lesson.slug, space)))
        return
    if which not in ("normal", "boundary"):
        raise ValueError('check() takes "normal", "boundary" or nothing.')
    report = (status.normal_report if which == "normal" else status.boundary_report)(lesson, lang, space)
    _show(report)
    if report.open:
        raise CheckFailed(say(lang, "failed", n=report.open))


def hint(level: int | None = None, *, confirm: bool = False) -> None:
    """Show a hint: level 1 concept area, 2 direction, 3 key local step, 4 full answer. Without a level: the next one.

    Levels come in order. Level 4 is shown after 1 to 3, or with confirm=True.
    """
    _session()
    report, given = _Session.hints.show(level, confirm=confirm)
    _show(report, {_HINT_MIME: {"lesson": _Session.lesson.slug, "level": given}} if given else None)


def run_kernel(name: str, *arrays: Any, mine: Any = None, backend: str | None = None, **params: Any) -> Any:
    """Run the reference kernel `name` (kernels.load) and show its back end and receipt; returns the kernel's output.

    mine: the student's function; called with the same arrays (as float64) and parameters, and compared element by element.
    """
    from autograder.student.kernel import run_and_compare

    _, lang, _ = _session()
    report, output, receipt = run_and_compare(name, arrays, params, mine, backend, lang)
    _show(report, receipt)
    return output


def challenge(name: str, line: str, *, seeds: int = 3) -> bool:
    """Put the student's line into the CUDA source of `name`, compile it and run it on the emulator; show what happened.

    line: CUDA C++ for the place marked CHALLENGE in the .cu file. Returns whether every input came out right.
    """
    from autograder.student.challenge import try_line

    _, lang, _ = _session()
    report, right = try_line(name, line, lang, seeds=seeds)
    _show(report)
    return right


def _session() -> tuple[StudentLesson, str, dict]:
    if _Session.lesson is None:
        raise RuntimeError("请先运行笔记本的第一个代码单元格。 / Run the notebook's first code cell before this one.")
    return _Session.lesson, _Session.lang, _Session.space


def _show(report: Report, extra: dict | None = None) -> None:
    try:
        from IPython import get_ipython
        from IPython.display import display
    except ModuleNotFoundError:
        print(report)
        return
    if get_ipython() is None:
        print(report)
        return
    display({"text/plain": str(report), "text/html": report._repr_html_(), **(extra or {})}, raw=True)


def _notebook_path(space: dict) -> Path | None:
    """The notebook's file, where the front end tells it: Jupyter by an environment variable, VS Code by a global."""
    told = space.get("__vsc_ipynb_file__") or os.environ.get("JPY_SESSION_NAME")
    path = Path(told) if told else None
    return path if path and path.suffix == ".ipynb" and path.is_file() else None


def _notebook_folder(space: dict) -> Path:
    path = _notebook_path(space)
    return path.parent if path else Path.cwd()


def _notebook_file(slug: str, space: dict) -> Path | None:
    return _notebook_path(space) or next((p for p in sorted(Path.cwd().glob(f"{slug}*.ipynb"))), None)
