"""Reading a large hand-in in a process of its own, with limits of memory and time.

The process of a run reads hand-ins itself at two places: which of several notebooks is meant (taken.py), and what formgrader shows
(autograded.py). A file of 29 MB can unfold to a gigabyte there, so only small ones are read in it; with a large one this process is asked,
and where that fails it is one student's problem.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterable
from pathlib import Path

from autograder.grading.worker import end_with_parent, environment, limit_memory, receive, send
from autograder.lesson import Lesson
from autograder.submission.read.files import is_packed

LARGE = 1 << 20  # bytes: JSON of this size takes 50 MB and half a second at most
MEMORY_MB = 2048
SECONDS = 20.0  # for one hand-in
START_SECONDS = 60.0


def is_large(files: Iterable[Path]) -> bool:
    """Are these files more than this process reads itself? What is packed may be of any size."""
    files = list(files)
    try:
        return sum(f.stat().st_size for f in files) > LARGE or any(is_packed(f) for f in files)
    except OSError:
        return False  # whoever reads it says what is wrong with it


def ask(lesson: Lesson, **what: object) -> dict | None:
    """The other process's answer to one question (see _answer); None where it ran out of memory or time."""
    with _LOCK:
        helper = _HELPER.get(lesson.folder)
        if helper is None or not helper.alive():
            close()
            helper = _HELPER[lesson.folder] = _Helper(lesson)
        answer = helper.ask(what)
        if answer is None:
            close()
        return answer


def close() -> None:
    """End the other process, if there is one."""
    while _HELPER:
        _HELPER.popitem()[1].close()


_LOCK = threading.Lock()
_HELPER: dict[Path, _Helper] = {}
atexit.register(close)


class _Helper:
    def __init__(self, lesson: Lesson):
        self.pid = os.getpid()
        self.link, theirs = socket.socketpair()
        command = [sys.executable, "-m", "autograder.gradebook.apart", str(theirs.fileno())]
        self.process = subprocess.Popen(
            command, pass_fds=[theirs.fileno()], env=environment(), stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        theirs.close()
        self.ready = False
        with contextlib.suppress(OSError):
            send(self.link, {"folder": str(lesson.folder.resolve()), "memory_mb": MEMORY_MB, "parent": self.pid})

    def alive(self) -> bool:
        return self.pid == os.getpid() and self.process.poll() is None  # a forked process does not share its parent's

    def ask(self, what: dict) -> dict | None:
        self.ready = self.ready or self._hear(START_SECONDS) is not None  # a slow start is not the hand-in's
        if not self.ready:
            return None
        with contextlib.suppress(OSError):  # it is gone: the next line says so
            send(self.link, what)
        answer = self._hear(SECONDS)
        return None if answer is None or "failed" in answer else answer

    def _hear(self, seconds: float) -> dict | None:
        until = time.monotonic() + seconds
        try:
            while not select.select([self.link], [], [], max(0.0, until - time.monotonic()))[0]:
                if time.monotonic() >= until:
                    return None
            self.link.settimeout(30)  # an answer that has begun comes whole
            return receive(self.link)
        except (OSError, ValueError):
            return None

    def close(self) -> None:
        self.link.close()
        if self.pid == os.getpid():
            self.process.kill()
            self.process.wait()


# -- the other process ----------------------------------------------------------------------------------------------------------


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the one who asked
    end_with_parent()
    link = socket.socket(fileno=int(sys.argv[1]))
    setup = receive(link)
    if setup is None or os.getppid() != setup["parent"]:
        return
    limit_memory(setup["memory_mb"])
    from autograder.lesson import load_lesson
    from autograder.submission.read import released

    lesson = load_lesson(Path(setup["folder"]))
    released(lesson)
    send(link, {"ready": True})
    while (work := receive(link)) is not None:
        try:
            answer = _answer(lesson, work)
        except (MemoryError, RecursionError) as e:
            answer = {"failed": type(e).__name__}
        send(link, answer)


def _answer(lesson: Lesson, work: dict) -> dict:
    """{"choose": folder} -> {"path"} or {"unreadable": [zh, en]}; {"show": folder, "result"} -> {"text"} of the notebook for formgrader."""
    from autograder.gradebook.autograded import autograded_text
    from autograder.gradebook.taken import chosen_in
    from autograder.records import Result
    from autograder.submission.read import Unreadable

    try:
        path = chosen_in(lesson, Path(work.get("choose") or work["show"]))
    except Unreadable as e:
        path, why = None, [e.why.zh, e.why.en]
    if "choose" in work:
        return {"path": str(path)} if path else {"unreadable": why}
    return {"text": autograded_text(lesson, path, Result.model_validate(work["result"]))}


if __name__ == "__main__":
    main()
