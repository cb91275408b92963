"""Running a student's saved fill in a process of its own, with a time limit.

    python -m autograder.student.runner < request.json > items.json

This is the student's own check on his own machine: the process keeps an endless loop or a crash away from the command. It is
no sandbox; the grader has one.
"""

from __future__ import annotations

import ast
import base64
import json
import os
import pickle
import signal
import subprocess
import sys

from autograder.student.data import StudentLesson
from autograder.student.portable import error_text
from autograder.student.show import Item
from autograder.student.visible import OFFERED, check_function, check_own_case
from autograder.student.words import say
from autograder.submission.own_case import NoCase, read_own_case

SECONDS = 30


def run_apart(
    lesson: StudentLesson, lang: str, program: ast.Module | None, cases: list[str], seconds: float = SECONDS
) -> list[Item]:
    """Visible checks and the student's own case. program: the released cell with the student's fill, as it is graded (None: there is
    none). cases: code cells that may hold the own case; they are read, not run. Nothing is tried where there is neither."""
    try:
        # the tree itself: not every one has a spelling in text. It comes from our own parser and goes to our own process.
        packed = base64.b64encode(pickle.dumps(program)).decode() if program is not None else None
    except RecursionError:  # nested too deeply to be graded, which is said elsewhere
        packed = None
    request = {
        "function": lesson.function,
        "lang": lang,
        "released": lesson.part("exercise", lang).source,
        "program": packed,
        "cases": cases,
    }
    process = subprocess.Popen(
        [sys.executable, "-m", "autograder.student.runner"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONIOENCODING": "utf-8", "MPLBACKEND": "agg"},
        start_new_session=True,
    )
    try:
        out, _ = process.communicate(json.dumps(request), timeout=seconds)
    except subprocess.TimeoutExpired:
        return [Item("bad", say(lang, "too_slow", seconds=f"{seconds:g}"), "visible")]
    finally:
        _end(process)
    try:
        return [Item(**item) for item in json.loads(out)]
    except (ValueError, TypeError):
        return [Item("bad", say(lang, "run_died", reason=_reason(process.returncode)), "visible")]


def _end(process: subprocess.Popen) -> None:
    """End the whole group: the student's code may have started others."""
    if os.name == "posix":
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    elif process.poll() is None:
        process.kill()
    process.communicate()


def _reason(code: int | None) -> str:
    if code is not None and code < 0:
        return signal.Signals(-code).name
    return f"exit {code}"


def _items(request: dict) -> list[Item]:
    lang, name, released = request["lang"], request["function"], request["released"]
    space: dict = {"__name__": "exercise", **OFFERED}
    items: list[Item] = []
    if request["program"] is not None:
        try:
            tree = ast.fix_missing_locations(pickle.loads(base64.b64decode(request["program"])))
            exec(compile(tree, "<exercise>", "exec"), space)
        except BaseException as e:  # SystemExit too: it is the student's code
            if name not in space:
                return [Item("bad", say(lang, "cell_raises", function=name, error=error_text(e)), "blank")]
        items = check_function(space.get(name), name, released, lang)
    try:
        case, prediction = read_own_case(request["cases"])
    except NoCase:  # said by own_case_items
        return items
    return items + check_own_case(case, prediction, space.get(name), name, released, lang, written=True)


def main() -> None:
    request = json.loads(sys.stdin.read())
    # What the student prints must not mix with the answer.
    answer = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    sys.stdin = open(os.devnull)
    json.dump([vars(i) for i in _items(request)], answer)
    answer.flush()
    os._exit(0)  # not held up by threads of the student's


if __name__ == "__main__":
    main()
