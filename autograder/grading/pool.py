"""Many submissions on many cores: warm workers, one submission at a time each, results in the order of submission.

A worker that dies or overruns its time is replaced, and the submission is tried once more; then it is UNGRADED with that reason.
Nothing of the others is lost. Memory stays flat: submissions are taken as they are needed, and results handed on at once.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import itertools
import os
import select
import signal
import socket
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sized
from dataclasses import dataclass, field
from pathlib import Path

from autograder.errors import CourseError
from autograder.grading.pipeline import hash_of_path, rubric_hash
from autograder.grading.worker import environment, receive, send
from autograder.lesson import Lesson
from autograder.lesson.rubric import Text
from autograder.records import Finding, Result
from autograder.submission.read import Unreadable, read_bytes

TIMEOUT = 60.0  # seconds for one submission; the fill itself has a few
START_TIMEOUT = 120.0
STARTS = 3  # times in a row that a worker may end before it is ready, in one place of the pool: the system may kill one for its memory
RECYCLE = 5000  # submissions after which a worker is replaced, so that nothing it leaks adds up; a new one takes seconds to be ready
LARGE_MB = 1000  # of memory in a worker after a submission, from which it is replaced at once: three times what honest ones leave
MEMORY_MB = 4096
WORKER = (sys.executable, "-m", "autograder.grading.worker")
SHARED = 512  # programs whose outcomes the workers tell each other, the latest ones
AHEAD = 32  # results that may wait for a slow submission before them
TURN = 1.0  # seconds between two looks at the clock
MOST_A_TURN = 5.0  # seconds that count between two looks: a longer gap is a machine or a terminal that stood still

Submission = tuple[str, Path | str | bytes]


def grade_many(
    lesson: Lesson,
    submissions: Iterable[Submission],
    jobs: int | None = None,
    on_result: Callable[[Result], None] | None = None,
    *,
    timeout: float = TIMEOUT,
) -> Iterator[Result]:
    """Grade (student, file or bytes) pairs; yields a Result each, in the order given, as soon as it and all before it are known.

    jobs: worker processes, by default one a core.  on_result: called with each Result before it is yielded.  timeout: seconds a submission.
    Raises CourseError where the lesson is broken or there is no sandbox; never for a submission.
    """
    with _Pool(lesson, _wanted(jobs, submissions), timeout) as pool:
        for result in pool.run(submissions):
            if on_result is not None:
                on_result(result)
            yield result


def _wanted(jobs: int | None, submissions: Iterable[Submission]) -> int:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    most = len(submissions) if isinstance(submissions, Sized) else jobs or cores
    return max(1, min(jobs or cores, most))


@dataclass
class _Task:
    number: int
    student: str
    submission: Path | str | bytes
    tries: int = 0


@dataclass
class _Worker:
    process: subprocess.Popen
    link: socket.socket
    ready: bool = False
    task: _Task | None = None
    deadline: float = 0.0  # on the pool's own clock
    done: int = 0
    rss_mb: int = 0
    told: int = 0  # how much it has been told of what ran elsewhere
    failed: int = 0  # how many before it, in its place of the pool, ended before they were ready

    @property
    def spent(self) -> bool:
        return self.done >= RECYCLE or self.rss_mb >= LARGE_MB

    def close(self) -> None:
        """End the worker at once; its sandbox ends when its socket closes."""
        self.link.close()
        self.process.kill()
        self.process.wait()


class _Shared:
    """What programs did, wherever they ran, to be told to the other workers."""

    def __init__(self) -> None:
        self._latest: deque[tuple[int, str, dict]] = deque(
            maxlen=SHARED
        )  # process that ran it, run.Remembered's key and outcome
        self._count = 0

    def add(self, worker: _Worker, ran: dict[str, dict]) -> None:
        self._latest.extend((worker.process.pid, key, outcome) for key, outcome in ran.items())
        self._count += len(ran)

    def tell(self, worker: _Worker) -> dict[str, dict]:
        """What the worker has not been told yet and has not run itself."""
        new = min(self._count - worker.told, len(self._latest))
        worker.told = self._count
        return {
            key: outcome
            for pid, key, outcome in itertools.islice(self._latest, len(self._latest) - new, None)
            if pid != worker.process.pid
        }


class _Clock:
    """Seconds that this process was seen to run. A stopped process group (Ctrl-Z), a paused container or a frozen machine stops the
    workers too, so that time is nobody's: of a gap between two looks MOST_A_TURN counts at most."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._last = time.monotonic()

    def look(self) -> float:
        now = time.monotonic()
        self.seconds += min(now - self._last, MOST_A_TURN)
        self._last = now
        return self.seconds


@dataclass
class _Pool:
    lesson: Lesson
    jobs: int
    timeout: float
    workers: list[_Worker] = field(default_factory=list)
    clock: _Clock = field(default_factory=_Clock)
    places: list[int] = field(
        default_factory=list
    )  # of each place without a worker, in which some ended before they were ready: how many
    shared: _Shared = field(default_factory=_Shared)

    def __enter__(self) -> _Pool:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self.workers:
            worker.close()

    def run(self, submissions: Iterable[Submission]) -> Iterator[Result]:
        source = enumerate(submissions)
        again: list[_Task] = []
        done: dict[int, Result] = {}
        next_out, taken, exhausted = 0, 0, False
        while True:
            while next_out in done:
                yield done.pop(next_out)
                next_out += 1
            while not exhausted or again:
                worker = self._idle()
                if worker is None or (not again and taken - next_out >= self.jobs + AHEAD):
                    break
                if again:
                    self._give(worker, again.pop(0), done, again)
                    continue
                item = next(source, None)
                if item is None:
                    exhausted = True
                    break
                taken += 1
                number, (student, submission) = item
                self._give(worker, _Task(number, student, submission), done, again)
            if next_out in done:
                continue
            if exhausted and not again and next_out == taken:
                return
            self._wait(done, again)

    # -- workers -----------------------------------------------------------------------------------------------------------

    def _idle(self) -> _Worker | None:
        """A worker that waits for work, or a new one while there are fewer than wanted."""
        for worker in self.workers:
            if worker.ready and worker.task is None:
                if not worker.spent:
                    return worker
                self._drop(worker)
                break
        while len(self.workers) < self.jobs:
            self.workers.append(self._start())
        return None

    def _start(self) -> _Worker:
        ours, theirs = socket.socketpair()
        command = [*WORKER, str(theirs.fileno())]
        one_thread = {n: "1" for n in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")}
        process = subprocess.Popen(
            command, pass_fds=[theirs.fileno()], env=environment() | one_thread, stdin=subprocess.DEVNULL
        )
        theirs.close()
        worker = _Worker(
            process, ours, deadline=self.clock.seconds + START_TIMEOUT, failed=self.places.pop() if self.places else 0
        )
        with contextlib.suppress(OSError):  # it has ended already: the next look at its socket says so
            send(ours, {"folder": str(self.lesson.folder.resolve()), "memory_mb": MEMORY_MB, "parent": os.getpid()})
        return worker

    def _drop(self, worker: _Worker) -> None:
        worker.close()
        self.workers.remove(worker)

    def _give(self, worker: _Worker, task: _Task, done: dict[int, Result], again: list[_Task]) -> None:
        task.tries += 1
        worker.task, worker.deadline = task, self.clock.seconds + self.timeout
        message: dict = {"student": task.student, "ran": self.shared.tell(worker)}
        if isinstance(task.submission, bytes):
            message["data"] = base64.b64encode(task.submission).decode()
        else:
            message["path"] = str(task.submission)
        try:
            send(worker.link, message)
        except OSError:
            self._lost(worker, done, again, "crashed")

    def _wait(self, done: dict[int, Result], again: list[_Task]) -> None:
        """Until a worker says something or overruns its time."""
        busy = [w for w in self.workers if w.task is not None or not w.ready]
        now = self.clock.look()
        timeout = max(0.0, min(TURN, *(w.deadline - now for w in busy))) if busy else TURN
        readable = select.select([w.link for w in busy], [], [], timeout)[0]
        now = self.clock.look()
        for worker in busy:
            if worker.link in readable:
                self._hear(worker, done, again)
            elif now >= worker.deadline:
                self._lost(worker, done, again, "overran")

    def _hear(self, worker: _Worker, done: dict[int, Result], again: list[_Task]) -> None:
        worker.link.settimeout(30)  # a frame that has begun comes whole, or its sender is gone
        try:
            message = receive(worker.link)
        except (OSError, ValueError):
            message = None
        if message is None:
            self._lost(worker, done, again, "crashed")
        elif "error" in message:
            what, where, remedy = message["error"]
            raise CourseError(what, where=where, remedy=remedy)
        elif "ready" in message:
            worker.ready, worker.failed = True, 0
        else:
            done[worker.task.number] = Result.model_validate(message["result"])
            self.shared.add(worker, message["ran"])
            worker.task, worker.done, worker.rss_mb = None, worker.done + 1, message.get("rss_mb", 0)

    def _lost(self, worker: _Worker, done: dict[int, Result], again: list[_Task], how: str) -> None:
        """The worker is gone or too slow: put another in its place; try its submission once more, unless it ran out of time."""
        task = worker.task
        if task is None:
            ended = _how_it_ended(worker.process) if how == "crashed" else None
            self._drop(worker)
            if how == "overran" or worker.failed + 1 >= STARTS:
                raise _does_not_start(ended)
            self.places.append(worker.failed + 1)
            return
        self._drop(worker)
        if how == "crashed" and task.tries < 2:
            again.append(task)
        else:
            done[task.number] = self._ungraded(task, how)

    def _ungraded(self, task: _Task, how: str) -> Result:
        why = _WHY[how]
        finding = Finding(code="grader_" + how, severity="review", message=why)
        return Result.ungraded(
            task.student,
            self.lesson.slug,
            why,
            findings=[finding],
            source_hash=_hash_of(task.submission),
            rubric_hash=rubric_hash(self.lesson),
        )


def _how_it_ended(process: subprocess.Popen) -> int | None:
    """The exit status of a process that has closed its socket, negative for a signal; None where it goes on all the same."""
    try:
        return process.wait(5)
    except subprocess.TimeoutExpired:
        return None


def _does_not_start(ended: int | None) -> CourseError:
    """ended: as _how_it_ended says."""
    if ended is None:
        how, remedy = (
            f"it is not ready after {START_TIMEOUT:.0f} seconds",
            "Run `course doctor`, or try with fewer --jobs: the machine may be too busy.",
        )
    elif ended == -signal.SIGKILL:
        how, remedy = (
            f"it was killed {STARTS} times in a row (SIGKILL), most likely because the machine has too little memory",
            "Free memory or try with fewer --jobs, then run the same command again.",
        )
    elif ended < 0:
        how, remedy = (
            f"a signal ended it {STARTS} times in a row ({_name_of(-ended)})",
            "Run `course doctor`; if it finds nothing, report it with this message.",
        )
    else:
        how, remedy = (
            f"it ended {STARTS} times in a row with exit status {ended}",
            "Run `course doctor`; what the worker itself said, if anything, stands above.",
        )
    return CourseError(f"A grading worker does not start: {how}.", remedy=remedy)


def _name_of(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _hash_of(submission: Path | str | bytes) -> str:
    try:
        data = submission if isinstance(submission, bytes) else read_bytes(Path(submission))
    except Unreadable:
        return hash_of_path(submission)
    return hashlib.sha256(data).hexdigest()


_WHY = {
    "crashed": Text(
        zh="批改这份提交的进程两次意外结束，需要人工查看；下一次批改会自动再试，也可以清除输出后重新提交。",
        en="The process that graded this submission ended unexpectedly twice; a person must look. The next grading run tries it again; handing it in again with its outputs cleared may help.",
    ),
    "overran": Text(
        zh="批改这份提交超过了时间限制，需要人工查看；下一次批改会自动再试，也可以清除输出后重新提交。",
        en="Grading this submission ran out of time; a person must look. The next grading run tries it again; handing it in again with its outputs cleared may help.",
    ),
}
