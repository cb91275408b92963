"""One grading run: find, stage, grade what is not yet graded, write in batches, survive a kill at any moment.

    submitted/ -> grader (pool or cluster) -> journal -> autograded/ and gradebook -> journal removed

A result is in the journal the moment it is known. A batch is in the gradebook whole or not at all. So a rerun writes what the
journal holds, grades what neither has, and grades nothing twice.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import signal
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from autograder.errors import CourseError
from autograder.gradebook.course import CourseFolder
from autograder.grading.pipeline import rubric_hash
from autograder.lesson import Lesson
from autograder.lesson.rubric import Text
from autograder.records import MACHINE_FAULTS, Result

if TYPE_CHECKING:
    from autograder.grading.challenge.judge import ChallengeJudge

BATCH = 100  # results a transaction
BACKLOG = 1000  # results that may wait for the writer
BATCH_SECONDS = 2.0  # no result waits longer than this in memory and journal only
_NO_SUBMISSIONS = ("source", "release", "autograded", "feedback", "grading", "bundles")

Progress = Callable[[int, int, Result | None], None]
Grader = Callable[[Lesson, Iterable[tuple[str, Path]]], Iterator[Result]]


@dataclass
class Summary:
    """students: everyone of this run, graded now or before. graded: how many were graded now."""

    students: list[str] = field(default_factory=list)
    graded: int = 0
    kept: int = 0
    recovered: int = 0  # taken from the journal of an interrupted run
    retimed: int = 0  # of those kept: the time of handing in has come or changed
    notes: list[str] = field(default_factory=list)  # sentences for the user


def grade_submissions(
    lesson: Lesson,
    submissions: Path,
    course: CourseFolder,
    *,
    jobs: int | None = None,
    cluster: str | None = None,
    progress: Progress | None = None,
    regrade: bool = False,
    challenges: bool = False,
    grader: Grader | None = None,
) -> Summary:
    """Grade a folder of submissions into the course folder's gradebook.

    jobs: worker processes on this machine, by default one a core.  cluster: address of a dask scheduler instead.
    regrade: also what has been graded with the same notebook, checks and rubric.  challenges: compile and run the challenge lines too, each
    different one once, here and not on the cluster.  grader: for tests.
    Raises CourseError with what to do; what had been graded until then is kept for the next run.
    """
    from autograder.gradebook.assignment import ensure_assignment, ensure_folders
    from autograder.gradebook.submissions import find_submissions

    if (at := Path(submissions).resolve()) in (course.root, *(course.root / name for name in _NO_SUBMISSIONS)):
        raise CourseError(
            "This belongs to the course folder and holds no submissions.",
            where=str(at),
            remedy=f"Name {course.root / 'submitted'}, which `course collect` fills, or a folder of <student>/ folders.",
        )
    found = find_submissions(submissions, lesson)
    if cluster:
        from autograder.gradebook.cluster import refuse_unreachable

        refuse_unreachable(cluster)
    course.prepare()
    grader = grader or (partial(_cluster_grader, cluster) if cluster else partial(_pool_grader, jobs))
    if challenges:
        from autograder.grading.challenge.judge import judge_for

        grader = partial(
            _with_challenges, grader, judge=judge_for(lesson)
        )  # now: a machine that cannot judge them says so before anything is graded
    try:
        with (
            run_lock(course, lesson.slug),
            course.gradebook(write=True) as gradebook,
            server_lock(gradebook, lesson.slug),
            _interruptible(lesson.slug),
        ):
            ensure_assignment(gradebook, course, lesson)
            ensure_folders(course, lesson)
            run = _Run(lesson, course, gradebook)
            try:
                run.recover()
                run.grade(found, grader, progress, regrade)
                run.finish()
            finally:
                run.close()
            return run.summary
    except OSError as e:
        raise CourseError(
            f"The course folder cannot be written: {e.strerror or e}.",
            where=e.filename or str(course.root),
            remedy="Make room or make it writable, then run the same command again; nothing graded is lost.",
        ) from e


def blames_machine(result: Result) -> bool:
    return any(f.code in MACHINE_FAULTS for f in result.findings)


class _Run:
    def __init__(self, lesson: Lesson, course: CourseFolder, gradebook):
        from autograder.gradebook.journal import Journal
        from autograder.gradebook.late import penalty_for
        from autograder.gradebook.store import Writer

        self.lesson, self.course, self.gradebook = lesson, course, gradebook
        self.rubric_hash = rubric_hash(lesson)
        self.writer = Writer(gradebook, lesson.slug, lesson.rubric, partial(penalty_for, course.config))
        self.journal = Journal(course.grading / f"{lesson.slug}.journal.jsonl")
        self.batch: list = []
        self.last_write = time.monotonic()
        self.thread = ThreadPoolExecutor(1, "gradebook-writer")  # the grader goes on while a batch is written
        self.writing: Future | None = None
        self.summary = Summary()
        self.times: dict = {}  # of hand-ins that are kept: the time came or changed after they were graded
        self._open = True

    def recover(self) -> None:
        """Bring into the gradebook what an interrupted run left in the journal."""
        from autograder.gradebook.store import graded_before

        done = None
        for entry in self.journal.entries():
            done = (
                graded_before(self.gradebook, self.lesson.slug) if done is None else done
            )  # every result is read for it: only where there is a journal
            known = done.get(entry.student)
            if (
                known is None
                or known[:2] != (entry.source_hash, entry.rubric_hash)
                or (known.fault and not blames_machine(entry.result))
            ):
                self._add(entry)
                self.summary.recovered += 1
        self._write(wait=True)

    def grade(self, found: list, grader: Grader, progress: Progress | None, regrade: bool) -> None:
        from autograder.gradebook.journal import Entry
        from autograder.gradebook.stamps import with_stamp
        from autograder.gradebook.store import graded_before
        from autograder.gradebook.submissions import UNREADABLE, Submission, stage
        from autograder.review.apply import from_store
        from autograder.review.decisions import Decisions

        decisions = Decisions.load(self.course.root, self.lesson.slug)
        self.summary.notes += decisions.problems
        done = {} if regrade else graded_before(self.gradebook, self.lesson.slug)
        self.gradebook.db.commit()
        total, count = len(found), 0
        self.summary.students = [s.student for s in found]
        waiting: dict[str, tuple[str, Submission]] = {}

        def pending() -> Iterator[tuple[str, Path]]:
            """Staged one by one as the grader takes them, so that memory stays flat."""
            nonlocal count
            for submission in found:
                path, digest = stage(submission, self.course, self.lesson.slug)
                known = done.get(submission.student)
                if known is not None and self._holds(known, digest, submission):
                    if submission.stamp.time != known.stamp.time:
                        self.times[submission.student] = submission.stamp.time
                    self.summary.kept += 1
                    count += 1
                    if progress:
                        progress(count, total, None)
                    continue
                waiting[submission.student] = (digest, submission)
                if path is None:
                    unread.append(
                        Result.ungraded(
                            submission.student, self.lesson.slug, Text(**(submission.problem or UNREADABLE))
                        )
                    )
                    continue
                yield submission.student, path

        unread: list[Result] = []

        def results() -> Iterator[Result]:
            for result in grader(self.lesson, pending()):
                yield result
                while unread:
                    yield unread.pop()
            yield from unread

        for result in results():
            digest, submission = waiting.pop(result.student)
            result = from_store(result, decisions, self.lesson.rubric)
            entry = Entry(
                result.student, digest, self.rubric_hash, submission.stamp.time, with_stamp(result, submission.stamp)
            )
            self.journal.append(entry)
            self.summary.graded += 1
            count += 1
            self._add(entry)
            if progress:
                progress(count, total, result)
        self._write(wait=True)
        if waiting:
            raise CourseError(
                f"The grader gave no result for {len(waiting)} submissions, e.g. {next(iter(waiting))}.",
                remedy="Run the same command again; nothing graded is lost.",
            )

    def _holds(self, known, digest: str, submission) -> bool:
        """Is this hand-in graded as it is now? What the machine failed at is tried again, and so is one whose timestamp.txt can or cannot be read any more."""
        same = known[:2] == (digest, self.rubric_hash) and known.stamp.unread == submission.stamp.unread
        return (
            same
            and not known.fault
            and (
                self.course.step("autograded", submission.student, self.lesson.slug) / f"{self.lesson.slug}.ipynb"
            ).is_file()
        )

    def finish(self) -> None:
        from autograder.gradebook.decided import reopen_outdated
        from autograder.gradebook.stamps import copy_side_files

        self.writer.set_times(self.times)
        for student in self.times:
            copy_side_files(
                *(self.course.step(step, student, self.lesson.slug) for step in ("submitted", "autograded"))
            )
        self.summary.retimed = len(self.times)
        if again := reopen_outdated(self.gradebook, self.lesson.slug, self.lesson.rubric):
            self.summary.notes.append(
                f"{again} answers were decided under another rubric: their points stay until `course review {self.lesson.slug}` asks again."
            )
        self.writer.refresh_penalties()
        self.journal.remove()
        self._open = False

    def close(self) -> None:
        self.thread.shutdown(wait=True)
        if self._open:
            self.journal.flush()
            self.journal.close()
            self._open = False

    def _add(self, entry) -> None:
        self.batch.append(entry)
        if len(self.batch) >= BATCH or time.monotonic() - self.last_write > BATCH_SECONDS:
            self._write()

    def _write(self, wait: bool = False) -> None:
        """Hand the batch to the writer. One batch at a time: while one is written the next one grows, to BACKLOG at most."""
        if self.writing is not None and (wait or self.writing.done() or len(self.batch) >= BACKLOG):
            self.writing.result()  # raises what went wrong
            self.writing = None
        if self.writing is None and self.batch:
            batch, self.batch = self.batch, []
            self.writing = self.thread.submit(self._write_batch, batch)
            self.last_write = time.monotonic()
        if wait and self.writing is not None:
            self.writing.result()
            self.writing = None

    def _write_batch(self, batch: list) -> None:
        """Files first, then the rows: whatever the gradebook says is graded has its notebook for formgrader."""
        from autograder.gradebook.autograded import write_autograded

        self.journal.flush()
        for entry in batch:
            write_autograded(self.course, self.lesson, entry.result)
        self.writer.write(batch)


def _pool_grader(jobs: int | None, lesson: Lesson, items: Iterable[tuple[str, Path]]) -> Iterator[Result]:
    from autograder.grading.pool import grade_many

    return grade_many(lesson, items, jobs=jobs)


def _with_challenges(
    grader: Grader, lesson: Lesson, items: Iterable[tuple[str, Path]], judge: ChallengeJudge | None = None
) -> Iterator[Result]:
    from autograder.grading.challenge.judge import judge_for

    judge = judge or judge_for(lesson)
    for result in grader(lesson, items):
        yield judge.told(result) if judge is not None else result


def _cluster_grader(address: str, lesson: Lesson, items: Iterable[tuple[str, Path]]) -> Iterator[Result]:
    from autograder.gradebook.cluster import grade_on_cluster

    return grade_on_cluster(address, lesson, items, rubric_hash(lesson))


@contextlib.contextmanager
def run_lock(course: CourseFolder, slug: str) -> Iterator[None]:
    """One writer: a second run on the same lesson and folder is refused. The lock dies with its process."""
    path = course.grading / f"{slug}.lock"
    try:
        file = path.open("w")
    except OSError as e:
        raise CourseError(
            f"The course folder cannot be written: {e.strerror}.",
            where=str(path),
            remedy="Make it writable or name another with --course, then run the same command again.",
        ) from None
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise CourseError(
                "Another grading run is writing to this course folder.",
                where=str(course.root),
                remedy="Wait until it has finished, or stop it, then run the same command again.",
            ) from None
        yield


@contextlib.contextmanager
def server_lock(gradebook, slug: str) -> Iterator[None]:
    """One writer also where several machines share a PostgreSQL gradebook. The lock ends with its connection."""
    if gradebook.engine.dialect.name != "postgresql":
        yield
        return
    from sqlalchemy import text

    key = int.from_bytes(hashlib.sha256(f"course grade {slug}".encode()).digest()[:8], signed=True)
    with gradebook.engine.connect() as connection:
        if not connection.execute(text("SELECT pg_try_advisory_lock(:key)"), {"key": key}).scalar():
            raise CourseError(
                f"Another grading run is writing {slug} to this gradebook, perhaps from another machine.",
                remedy="Wait until it has finished, then run the same command again.",
            )
        connection.commit()
        try:
            yield
        finally:
            connection.execute(text("SELECT pg_advisory_unlock(:key)"), {"key": key})
            connection.commit()


@contextlib.contextmanager
def _interruptible(slug: str) -> Iterator[None]:
    """Ctrl-C and SIGTERM end the run in an orderly way, with one sentence."""

    def stop(signum, frame):
        raise KeyboardInterrupt

    try:
        previous = signal.signal(signal.SIGTERM, stop)
    except ValueError:  # not the main thread
        previous = None
    try:
        yield
    except KeyboardInterrupt:
        raise CourseError(
            "The grading run was interrupted.",
            where=slug,
            remedy="Run the same command again: it goes on where it stopped and grades nothing twice.",
        ) from None
    finally:
        if previous is not None:
            signal.signal(signal.SIGTERM, previous)
