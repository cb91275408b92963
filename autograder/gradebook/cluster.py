"""The same work on a dask.distributed cluster: notebooks go out as bytes, results come back as plain data.

Workers need the course installed at the same version; a worker with other checks or another rubric is an error, not a grade.
A worker that dies is replaced by the scheduler, which gives its notebooks to the others.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path

from autograder.errors import CourseError
from autograder.lesson import Lesson
from autograder.records import Result

WINDOW = 4  # notebooks under way for each worker thread: keeps workers busy and memory flat


def grade_on_cluster(address: str, lesson: Lesson, items: Iterable[tuple[str, Path]], rubric_hash: str) -> Iterator[Result]:
    """Results as they are done, in any order. Raises CourseError where the scheduler cannot be reached or has no worker."""
    from distributed import Client, KilledWorker, as_completed

    try:
        client = Client(address, timeout="10s", set_as_default=False)
    except (OSError, TimeoutError, ValueError) as e:
        raise CourseError(f"No dask scheduler answers: {e or type(e).__name__}.", where=address, remedy="Start one with `dask scheduler` and workers with `dask worker ADDRESS`.") from None
    with client:
        try:
            client.wait_for_workers(1, timeout=30)
        except TimeoutError:
            raise CourseError("The cluster has no worker.", where=address, remedy=f"Start workers with `dask worker {address}`.") from None
        source = iter(items)
        students: dict[str, tuple[str, Path]] = {}
        running = as_completed(with_results=False)

        def submit_next() -> bool:
            item = next(source, None)
            if item is None:
                return False
            student, path = item
            future = client.submit(_grade_bytes, lesson.slug, student, path.read_bytes(), rubric_hash, pure=False, retries=2)
            students[future.key] = item
            running.add(future)
            return True

        def threads() -> int:
            return max(1, sum(client.nthreads().values()))

        room = threads() * WINDOW
        while len(students) < room and submit_next():
            pass
        ready: deque[Result] = deque()
        for future in running:
            item = students.pop(future.key)
            try:
                ready.append(Result.model_validate(future.result()))
            except KilledWorker:
                ready.append(_killed(item[0], lesson))
            future.release()
            while len(students) < threads() * WINDOW and submit_next():
                pass
            while ready:
                yield ready.popleft()


def _killed(student: str, lesson: Lesson) -> Result:
    reason = "批改它的几个进程先后被终止，需要人工查看。 / Every worker that graded it was ended; a person must look."
    return Result(student=student, lesson=lesson.slug, lang="zh", state="UNGRADED", reasons=[reason])


@lru_cache(maxsize=4)
def _lesson(slug: str, rubric_hash: str) -> Lesson:
    from autograder.gradebook.run import rubric_hash as hash_of
    from autograder.lesson import load_lesson

    lesson = load_lesson(slug)
    if hash_of(lesson) != rubric_hash:
        raise CourseError(f"This worker has other checks or another rubric for {slug}.", where=str(lesson.folder), remedy="Bring the workers' checkout to the same version and run again.")
    return lesson


def _grade_bytes(slug: str, student: str, data: bytes, rubric_hash: str) -> dict:
    """Runs on a worker."""
    from autograder.grading import grade_notebook

    return grade_notebook(_lesson(slug, rubric_hash), data, student).model_dump(mode="json")
