"""What the cells of a student's notebook call: check(), hint(), run_kernel(), challenge().

The setup cell calls start() once; it sets the lesson and the language in which everything speaks.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from autograder.errors import CourseError
from autograder.student.data import StudentLesson, load_student_lesson
from autograder.student.hints import MIME as _HINT_MIME
from autograder.student.hints import HintLadder
from autograder.student.show import Report
from autograder.student.visible import BLANK
from autograder.student.words import say
from kernels.wording import speak

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
    _Session.lesson = load_student_lesson(lesson, _notebook_folder(space), lang)
    _Session.lang, _Session.space = lang, space
    _Session.hints = HintLadder(_Session.lesson, lang)
    speak(lang)
    _explain_blanks(lang)


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
    """Show a hint: level 1 concept area, 2 direction, 3 key local step, 4 full answer. Without a level: the next one, unless the visible
    checks pass already (as when all cells of a finished notebook are run).

    Levels come in order. Level 4 is shown after 1 to 3, or with confirm=True.
    """
    from autograder.student import status

    lesson, lang, space = _session()
    if level is None and not status.normal_report(lesson, lang, space).open:
        report = Report(say(lang, "hint_refused"), lang)
        report.add("note", say(lang, "hint_not_needed"), "hint")
        _show(report)
        return
    report, given = _Session.hints.show(level, confirm=confirm)
    _show(report, {_HINT_MIME: {"lesson": _Session.lesson.slug, "level": given}} if given else None)


def run_kernel(name: str, mine: Callable | None = None, *, count: int = 24, backend: str | None = None) -> None:
    """Run the reference kernel `name` against the student's function on `count` inputs; show back end, cases and receipt.

    mine: takes the kernel's arguments by name, arrays in float64; None: the exercise's function. backend: "gpu", "emulator"
    or None to choose.
    """
    from autograder.student.kernel import run_and_compare

    lesson, lang, space = _session()
    mine = mine or space.get(lesson.function)
    if mine is None:
        raise CheckFailed(say(lang, "no_function", function=lesson.function))
    report, receipt = run_and_compare(name, mine, lang, count=count, backend=backend)
    _show(report, receipt)


def challenge(kernel: str, line: str, *, count: int = 12) -> None:
    """Put the student's line into the kernel's CUDA source, compile it and run it on the emulator; show what happened.

    line: CUDA C++ for the place marked CHALLENGE in the .cu file: the whole statement with its semicolon, or only what stands
    right of its `=`.
    """
    from autograder.student.kernel import try_line

    _, lang, _ = _session()
    report, receipt = try_line(kernel, line, lang, count=count)
    _show(report, receipt)


def _session() -> tuple[StudentLesson, str, dict]:
    """The lesson, language and names of this notebook. After a kernel restart a cell may be run before the setup cell: then start now."""
    if _Session.lesson is None:
        _start_from_the_file()
    if _Session.lesson is None:
        raise RuntimeError("请先运行笔记本的第一个代码单元格。 / Run the notebook's first code cell before this one.")
    return _Session.lesson, _Session.lang, _Session.space


def _start_from_the_file() -> None:
    try:
        from IPython import get_ipython

        space = get_ipython().user_ns
        course = json.loads(_notebook_path(space).read_text(encoding="utf-8"))["metadata"]["course"]
        start(course["lesson"], course["lang"], space)
    except (ModuleNotFoundError, AttributeError, OSError, ValueError, KeyError, TypeError, CourseError):
        pass  # no front end, or a file without our metadata: the caller asks for the setup cell


def _explain_blanks(lang: str) -> None:
    """A cell whose blank is still empty stops with a sentence in place of "NameError: name '______'". It still stops."""
    try:
        from IPython import get_ipython
    except ModuleNotFoundError:
        return
    shell = get_ipython()
    if shell is None:
        return

    def handler(shell, kind, error, trace, tb_offset=None):
        if getattr(error, "name", None) == BLANK:
            shell._showtraceback(kind, error, [say(lang, "blank_here")])
        else:
            shell.showtraceback((kind, error, trace), tb_offset=tb_offset, running_compiled_code=True)

    shell.set_custom_exc((NameError,), handler)


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
