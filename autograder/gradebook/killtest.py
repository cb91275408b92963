"""SIGKILL at random moments: `python -m autograder.gradebook.killtest --times 50` must find nothing lost and nothing graded twice.

Each round forks a grading run, kills it after a random time and compares what is on disk before and after the next one:
a result that the journal or the gradebook held is never graded again, and at the end everyone has one row of each cell,
the right points, a notebook for formgrader, and the gradebook is whole.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import random
import shutil
import signal
import sqlite3
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from autograder.gradebook.course import CourseFolder
from autograder.gradebook.journal import Entry
from autograder.gradebook.run import grade_submissions
from autograder.lesson import Lesson, load_lesson


@dataclass
class Outcome:
    """kills: runs ended by the signal. twice: results graded again although they were on disk. problems: what was wrong at the end."""

    kills: int
    runs: int
    twice: list[str]
    problems: list[str]


def run_kill_test(
    lesson: Lesson,
    inbox: Path,
    course: CourseFolder,
    make_grader: Callable[[Path], Callable],
    *,
    kills: int,
    seed: int,
    longest: float,
) -> Outcome:
    """Kill runs until `kills` have been killed, starting the course folder anew whenever one finishes; check after each.

    make_grader(log) gives a Grader that appends each student's name to the log when it grades him. longest: seconds.
    """
    rng = random.Random(seed)
    fork = multiprocessing.get_context("fork")
    log = course.root / "graded.log"
    pristine = course.root.with_name(course.root.name + ".pristine")
    shutil.copytree(course.root, pristine)
    outcome = Outcome(0, 0, [], [])
    while outcome.kills < kills:
        done_before = _on_disk(lesson, course)
        log.write_text("")
        child = fork.Process(target=_child, args=(lesson, inbox, course.root, make_grader, log))
        child.start()
        child.join(rng.uniform(0.0, longest))
        if child.is_alive():
            os.kill(child.pid, signal.SIGKILL)
            child.join()
        outcome.runs += 1
        outcome.kills += child.exitcode == -signal.SIGKILL
        outcome.twice += sorted(done_before & set(log.read_text().split()))
        if child.exitcode == 0:
            outcome.problems += check_whole(lesson, inbox, course)
            shutil.rmtree(course.root)
            shutil.copytree(pristine, course.root)
        elif child.exitcode != -signal.SIGKILL:
            outcome.problems.append(f"a run ended with status {child.exitcode}")
            break
    log.write_text("")
    done_before = _on_disk(lesson, course)
    _child(lesson, inbox, course.root, make_grader, log)
    outcome.twice += sorted(done_before & set(log.read_text().split()))
    outcome.problems += check_whole(lesson, inbox, course)
    shutil.rmtree(pristine)
    return outcome


def _child(lesson: Lesson, inbox: Path, root: Path, make_grader: Callable, log: Path) -> None:
    grade_submissions(lesson, inbox, CourseFolder(root), grader=make_grader(log))


def _on_disk(lesson: Lesson, course: CourseFolder) -> set[str]:
    """Students whose result is in the journal as a whole line, or in the gradebook."""
    done = set()
    journal = course.grading / f"{lesson.slug}.journal.jsonl"
    if journal.exists():
        done |= {
            Entry.read(line).student for line in journal.read_bytes().splitlines(keepends=True) if line.endswith(b"\n")
        }
    with sqlite3.connect(course.root / "gradebook.db") as db:
        done |= {student for (student,) in db.execute("SELECT student FROM course_result")}
    return done


def check_whole(lesson: Lesson, inbox: Path, course: CourseFolder) -> list[str]:
    """What is wrong in a course folder whose run has finished; empty when nothing is."""
    students = {p.name for p in inbox.iterdir()}
    problems = []
    with sqlite3.connect(course.root / "gradebook.db") as db:
        if (said := db.execute("PRAGMA integrity_check").fetchone()[0]) != "ok":
            problems.append(f"the database is damaged: {said}")
        if {s for (s,) in db.execute("SELECT student FROM course_result")} != students:
            problems.append("a result is lost")
        per_student = dict(
            db.execute(
                "SELECT s.student_id, COUNT(*) FROM grade g JOIN submitted_notebook n ON n.id = g.notebook_id JOIN submitted_assignment s ON s.id = n.assignment_id GROUP BY s.student_id"
            )
        )
        if per_student != dict.fromkeys(students, 6):
            problems.append(f"grade rows: {per_student}")
    for student in students:
        if not (course.step("autograded", student, lesson.slug) / f"{lesson.slug}.ipynb").is_file():
            problems.append(f"{student} has no notebook for formgrader")
    if list(course.grading.glob("*.journal.jsonl")):
        problems.append("the journal is left over")
    if left := [p.name for p in course.root.rglob("*.tmp")]:
        problems.append(f"left over: {left[:3]}")
    return problems


def main() -> None:
    from autograder.gradebook.tests.fake import FakeGrader, hand_in, notebook

    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--times", type=int, default=50)
    parser.add_argument("--students", type=int, default=150)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--real", action="store_true", help="the real grader in its pool, on the sample class")
    args = parser.parse_args()
    lesson = load_lesson("7")
    with tempfile.TemporaryDirectory() as scratch:
        inbox, course = Path(scratch) / "inbox", CourseFolder(Path(scratch) / "course")
        course.prepare()
        with course.gradebook():
            pass
        if args.real:
            from tests.sample_class.make import build

            build(inbox)
            make, longest = RealGrader, 6.0
        else:
            for n in range(args.students):
                hand_in(inbox, lesson, f"s{n:03d}", notebook(lesson, exercise=f"# {n}"))
            make, longest = (lambda log: FakeGrader(lesson, log=log, delay=0.002)), 1.2
        start = time.monotonic()
        outcome = run_kill_test(lesson, inbox, course, make, kills=args.times, seed=args.seed, longest=longest)
    print(f"{outcome.kills} kills in {outcome.runs} runs, {time.monotonic() - start:.0f} s")
    print(f"graded twice: {outcome.twice or 'none'}")
    print(f"lost or wrong: {outcome.problems or 'none'}")
    raise SystemExit(bool(outcome.twice or outcome.problems))


class RealGrader:
    """The pool, with a line in the log for every result that leaves it."""

    def __init__(self, log: Path):
        self.log = log

    def __call__(self, lesson: Lesson, items):
        from autograder.grading.pool import grade_many

        def logged():
            for item in items:
                with self.log.open("a") as file:
                    file.write(item[0] + "\n")
                yield item

        return grade_many(lesson, logged(), jobs=2)


if __name__ == "__main__":
    main()
