"""The same work on a dask.distributed cluster: notebooks go out as bytes, results come back as plain data.

Workers need the course installed at the same version; a worker with other checks or another rubric is an error, not a grade.
When a worker dies, the scheduler gives its notebooks to the others. A worker grades one notebook at a time, so start workers
with one thread each: dask worker ADDRESS --nworkers auto --nthreads 1.
"""

from __future__ import annotations

import asyncio
import threading
import time
from asyncio import CancelledError
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path

from autograder.errors import CourseError
from autograder.lesson import Lesson
from autograder.lesson.rubric import Text
from autograder.records import Finding, Result

CONNECT = 10.0  # seconds
PATIENCE = 60.0  # seconds without any worker
POLL = 5.0  # seconds between two looks at the workers
FETCH = 5.0  # seconds to bring a finished result here
WINDOW = 4  # notebooks under way for each worker thread: keeps workers busy and memory flat


def refuse_unreachable(address: str) -> None:
    """Speak with the scheduler once, before any work: a Client that cannot leaves twenty lines of its own behind. Raises CourseError."""
    from distributed.comm import connect
    from distributed.security import Security

    async def say_hello() -> None:
        comm = await connect(address, timeout=CONNECT, **Security().get_connection_args("client"))
        comm.abort()

    try:
        asyncio.run(asyncio.wait_for(say_hello(), CONNECT + 1))
    except (OSError, TimeoutError) as e:
        raise _silent(address, e) from None
    except (
        ValueError,
        TypeError,
        RuntimeError,
        ImportError,
    ) as e:  # no address, or a kind of connection that is not set up here
        raise CourseError(
            f"No dask scheduler can be reached at this address: {e}.",
            where=address,
            remedy="Write it like tcp://host:8786, as `dask scheduler` prints it.",
        ) from None


def grade_on_cluster(
    address: str, lesson: Lesson, items: Iterable[tuple[str, Path]], rubric_hash: str
) -> Iterator[Result]:
    """Results as they are done, in any order. Raises CourseError where the scheduler cannot be reached or no worker is left."""
    from distributed import Client

    try:
        client = Client(address, timeout=CONNECT, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as e:
        raise _silent(address, e) from None
    with client:
        source = iter(items)
        waiting: dict = {}  # future -> student
        while True:
            for student, path in _some(source, WINDOW * _threads(client, address) - len(waiting)):
                waiting[
                    client.submit(
                        _grade_bytes, lesson.slug, student, path.read_bytes(), rubric_hash, pure=False, retries=1
                    )
                ] = student
            if not waiting:
                return
            for future in _wait(client, list(waiting), address):
                result = _outcome(future, waiting[future], lesson, address)
                if result is not None:
                    del waiting[future]
                    yield result


def _some(source: Iterator, count: int) -> Iterator:
    for _ in range(count):
        item = next(source, None)
        if item is None:
            return
        yield item


def _wait(client, futures: list, address: str) -> list:
    """The futures that are done; waits for the first one as long as there is a worker."""
    from distributed import wait

    while True:
        try:
            with client.as_current():
                return list(wait(futures, timeout=POLL, return_when="FIRST_COMPLETED").done)
        except TimeoutError:
            _threads(client, address)
        except CancelledError:
            raise _lost(address) from None


def _outcome(future, student: str, lesson: Lesson, address: str) -> Result | None:
    """The result, or None where it died with its worker before it was fetched: the scheduler has it graded again."""
    from distributed import KilledWorker

    try:
        return Result.model_validate(future.result(timeout=FETCH))
    except TimeoutError:
        return None
    except KilledWorker:
        why = Text(
            zh="批改它的几个进程先后被终止，需要人工查看；下一次批改会自动再试。",
            en="Every worker that graded it was ended; a person must look. The next grading run tries it again.",
        )
        return Result.ungraded(
            student, lesson.slug, why, findings=[Finding(code="grader_crashed", severity="review", message=why)]
        )
    except CancelledError:
        raise _lost(address) from None


def _threads(client, address: str) -> int:
    """Threads of all workers. Waits PATIENCE seconds for the first worker, then raises CourseError."""
    until = time.monotonic() + PATIENCE
    while True:
        try:
            count = sum(client.nthreads().values())
        except (OSError, TimeoutError, CancelledError):
            raise _lost(address) from None
        if count:
            return count
        if time.monotonic() > until:
            raise CourseError(
                "The cluster has no worker.",
                where=address,
                remedy=f"Start workers with `dask worker {address} --nthreads 1` and run the same command again; nothing graded is lost.",
            )
        time.sleep(0.5)


def _silent(address: str, e: Exception) -> CourseError:
    return CourseError(
        f"No dask scheduler answers: {str(e) or type(e).__name__}.",
        where=address,
        remedy="Start one with `dask scheduler` and workers with `dask worker ADDRESS`.",
    )


def _lost(address: str) -> CourseError:
    return CourseError(
        "The connection to the dask scheduler is lost.",
        where=address,
        remedy="Start it again and run the same command; nothing graded is lost.",
    )


@lru_cache(maxsize=4)
def _lesson(slug: str, rubric_hash: str) -> Lesson:
    from autograder.grading.pipeline import rubric_hash as hash_of
    from autograder.lesson import load_lesson

    lesson = load_lesson(slug)
    if hash_of(lesson) != rubric_hash:
        raise CourseError(
            f"This worker has other checks or another rubric for {slug}.",
            where=str(lesson.folder),
            remedy="Bring the workers' checkout to the same version and run again.",
        )
    return lesson


_ONE_AT_A_TIME = threading.Lock()  # a process has one warm sandbox


def _grade_bytes(slug: str, student: str, data: bytes, rubric_hash: str) -> dict:
    """Runs on a worker."""
    from autograder.grading import grade_notebook

    with _ONE_AT_A_TIME:
        return grade_notebook(_lesson(slug, rubric_hash), data, student).model_dump(mode="json")
