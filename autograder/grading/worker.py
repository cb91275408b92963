"""A grading worker: a process of its own that keeps a lesson and a sandbox warm and grades what it is sent.

Frames on the inherited socket are a 4-byte length and JSON: first {"folder", "memory_mb", "parent": its process}; then {"student", "path"} or
{"student", "data": base64} for each submission, with "ran": what programs did in other workers meanwhile, answered by {"result": ...,
"ran": what programs did here, "rss_mb": its memory now} or {"error": [what, where, remedy]}.
"""

from __future__ import annotations

import base64
import contextlib
import ctypes
import gc
import json
import os
import resource
import signal
import socket
import struct
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil

from autograder.errors import CourseError

MAX_FRAME = 512 << 20


def send(link: socket.socket, message: dict) -> None:
    data = json.dumps(message, ensure_ascii=False).encode("utf-8", "replace")
    link.sendall(struct.pack("!I", len(data)) + data)


def receive(link: socket.socket) -> dict | None:
    """One frame, None at end of file or after nonsense."""
    head = _read(link, 4)
    if head is None:
        return None
    (length,) = struct.unpack("!I", head)
    body = _read(link, length) if length <= MAX_FRAME else None
    return None if body is None else json.loads(body)


def _read(link: socket.socket, length: int) -> bytes | None:
    data = bytearray()
    while len(data) < length:
        part = link.recv(min(length - len(data), 1 << 20))
        if not part:
            return None
        data += part
    return bytes(data)


def environment() -> dict[str, str]:
    """For a process that imports this course, wherever it is started."""
    return os.environ | {
        "PYTHONPATH": os.pathsep.join(
            p for p in (str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", "")) if p
        )
    }


def limit_memory(memory_mb: int) -> None:
    """A notebook that unfolds to gigabytes is a MemoryError here, and UNGRADED, not a machine that swaps."""
    try:
        resource.setrlimit(resource.RLIMIT_DATA, (memory_mb << 20, memory_mb << 20))
    except (ValueError, OSError):
        pass  # macOS does not know it


def _rss_mb() -> int:
    """Resident memory of this process."""
    return psutil.Process().memory_info().rss >> 20


def end_with_parent() -> None:
    """Linux: this process is killed when the one that started it ends, however it ends; what nobody waits for is not worked out."""
    with contextlib.suppress(
        OSError, AttributeError
    ):  # elsewhere the closed socket ends it, after the submission at hand
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


_PR_SET_PDEATHSIG = 1


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Whoever asked is gone, and the socket with him: an end, and nothing to tell anybody."""
    try:
        yield
    except OSError:
        raise SystemExit(0) from None


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the one who asked; he ends the workers
    end_with_parent()
    link = socket.socket(fileno=int(sys.argv[1]))
    setup = _next(link)
    if setup is None or os.getppid() != setup["parent"]:  # it may have ended before we asked to end with it
        return
    limit_memory(setup["memory_mb"])
    gc.disable()  # nothing of what is made ready is thrown away
    try:
        from autograder.answers.score import scorer
        from autograder.grading.pipeline import RAN, grade_notebook, own_sandbox
        from autograder.lesson import load_lesson
        from autograder.submission.read import released

        lesson = load_lesson(Path(setup["folder"]))
        released(lesson)
        own_sandbox()
        scorer(lesson.rubric).warm()
    except CourseError as e:
        _tell(link, {"error": [e.what, e.where, e.remedy]})
        return
    gc.collect()
    gc.freeze()  # what stays for good is not walked through again and again: a twentieth of the time
    gc.enable()
    _tell(link, {"ready": True})
    while (work := _next(link)) is not None:
        submission = base64.b64decode(work["data"]) if "data" in work else Path(work["path"])
        RAN.learn(work.get("ran", {}))
        try:
            result = grade_notebook(lesson, submission, work["student"])
        except CourseError as e:
            _tell(link, {"error": [e.what, e.where, e.remedy]})
        else:
            _tell(link, {"result": result.model_dump(mode="json"), "ran": RAN.news(), "rss_mb": _rss_mb()})


def _tell(link: socket.socket, message: dict) -> None:
    with _quiet():
        send(link, message)


def _next(link: socket.socket) -> dict | None:
    with _quiet():
        return receive(link)


if __name__ == "__main__":
    main()
