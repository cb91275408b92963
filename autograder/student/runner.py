"""Running a student's saved cells in a process of their own, with a time limit.

    python -m autograder.student.runner < request.json > items.json

This is the student's own check on his own machine: the process keeps an endless loop or a crash away from the command. It is
no sandbox; the grader has one.
"""

from __future__ import annotations

import ast
import json
import os
import signal
import subprocess
import sys

from autograder.student.data import StudentLesson
from autograder.student.show import Item, error_text
from autograder.student.visible import OFFERED, check_function, check_own_case
from autograder.student.words import say

SECONDS = 30


def run_apart(lesson: StudentLesson, lang: str, exercise: str | None, boundary: str | None, seconds: float = SECONDS) -> list[Item]:
    """Visible checks and the student's own case on the saved cells' sources (None: the cell is missing)."""
    request = {"function": lesson.function, "lang": lang, "released": lesson.part("exercise", lang).source, "exercise": exercise, "boundary": boundary}
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
    space: dict = {"__name__": "__main__", **OFFERED}
    if request["exercise"] is None:
        return []
    try:
        _execute(request["exercise"], space)
    except SyntaxError as e:
        return [Item("bad", say(lang, "no_parse", line=e.lineno or 0, message=e.msg), "blank")]
    except BaseException as e:  # SystemExit too: it is the student's code
        if name not in space:
            return [Item("bad", say(lang, "cell_raises", function=name, error=error_text(e)), "blank")]
    items = check_function(space.get(name), name, released, lang)
    if request["boundary"] is None:
        return items
    try:
        _execute(request["boundary"], space)
    except BaseException:
        space.pop("my_prediction", None)  # an unfilled blank raises NameError: the case is not written yet
    there = "my_case" in space and "my_prediction" in space
    return items + check_own_case(space.get("my_case"), space.get("my_prediction"), space.get(name), name, released, lang, written=there)


def _execute(source: str, space: dict) -> None:
    """Run a cell without its asserts and magics: the asserts are tried one by one afterwards."""
    tree = ast.parse("\n".join(x for x in source.split("\n") if not x.lstrip().startswith(("%", "!"))))
    tree.body = [s for s in tree.body if not isinstance(s, ast.Assert)]
    exec(compile(tree, "<cell>", "exec"), space)


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
