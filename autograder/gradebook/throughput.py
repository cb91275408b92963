"""Submissions a second, ours against stock nbgrader: `python -m autograder.gradebook.throughput`. Same lesson, same machine, same run.

Stock nbgrader gets the cheapest notebook that does its job: the exercise, the boundary case and one test cell each, with the
lesson's hidden cases as hidden tests (one round of them), nothing of the lesson's experiments and no written answers to read.
Ours is `course grade` as it is, on whole hand-ins in both languages: reading, integrity, sandboxed hidden checks (two rounds),
four written answers scored, evidence, verdict, the notebook for formgrader and the gradebook. Every hand-in is a different one.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import nbformat

from autograder.gradebook.course import CourseFolder, open_gradebook
from autograder.gradebook.run import grade_submissions
from autograder.lesson import Lesson, load_lesson

ANSWERS = ("explanation", "q1", "q2", "q3")


def many_hand_ins(lesson: Lesson, folder: Path, count: int) -> None:
    """The readable submissions of the sample class over and over, each with words of its own in every answer and in the code."""
    from tests.sample_class.make import build

    with tempfile.TemporaryDirectory() as scratch:
        build(Path(scratch))
        books = []
        for path in sorted(Path(scratch).glob(f"*/{lesson.slug}/*.ipynb")):
            try:
                book = json.loads(path.read_bytes())
            except ValueError:
                continue
            if any(c["metadata"].get("nbgrader") for c in book["cells"]) and "endless" not in path.parts[-3]:
                books.append(book)
    for n in range(count):
        book = json.loads(json.dumps(books[n % len(books)]))
        for cell in book["cells"]:
            name = cell["metadata"].get("nbgrader", {}).get("grade_id")
            text = "".join(cell["source"])
            if name in ANSWERS:
                cell["source"] = f"{text}\n\n({n})"
            elif name == "exercise":
                cell["source"] = f"{text}\n# {n}"
        path = folder / f"s{n:05d}" / lesson.slug / f"{lesson.slug}.ipynb"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(book, ensure_ascii=False, indent=1))


def ours(lesson: Lesson, root: Path, count: int, jobs: int) -> float:
    """Submissions a second over the whole run, the workers' start included."""
    many_hand_ins(lesson, root / "inbox", count)
    course = CourseFolder(root / "course")
    course.prepare()
    with course.gradebook():
        pass  # nbgrader's alembic makes the database once: not a matter of submissions
    start = time.monotonic()
    summary = grade_submissions(lesson, root / "inbox", course, jobs=jobs)
    seconds = time.monotonic() - start
    assert summary.graded == count
    return count / seconds


def stock(lesson: Lesson, root: Path, count: int) -> float:
    """Submissions a second of `nbgrader autograde`, its start not counted."""
    from nbgrader.api import Gradebook

    from autograder.release.notebook import student_notebook

    root.mkdir(parents=True)
    environment = os.environ | {"PATH": str(Path(sys.executable).parent) + os.pathsep + os.environ["PATH"]}
    (root / "nbgrader_config.py").write_text("c = get_config()\n")
    source = root / "source" / lesson.slug / f"{lesson.slug}.ipynb"
    source.parent.mkdir(parents=True)
    nbformat.write(_stock_notebook(lesson), source)
    open_gradebook(f"sqlite:///{root / 'gradebook.db'}").close()

    def run(*arguments: str) -> None:
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-m", "nbgrader", *arguments, "--log-level", "ERROR"],
            cwd=root,
            env=environment,
            capture_output=True,
            text=True,
        )
        if done.returncode:
            raise RuntimeError(done.stderr)

    run("generate_assignment", lesson.slug)
    released = json.loads((root / "release" / lesson.slug / f"{lesson.slug}.ipynb").read_text())
    exercise = next(c for c in released["cells"] if c["metadata"]["nbgrader"]["grade_id"] == "exercise")
    blank = next(c.source for c in student_notebook(lesson, "en").cells if c.id == "exercise")
    right = blank.replace("______", "alpha * acc if beta == 0 else alpha * acc + beta * c", 1)
    for n in range(count + 1):
        path = root / "submitted" / f"s{n:03d}" / lesson.slug / f"{lesson.slug}.ipynb"
        path.parent.mkdir(parents=True)
        exercise["source"] = f"{right}\n# {n}"
        path.write_text(json.dumps(released))
    begun = time.monotonic()
    run("autograde", lesson.slug, "--student", "s000")
    one = time.monotonic() - begun
    begun = time.monotonic()
    run("autograde", lesson.slug)
    rest = time.monotonic() - begun
    with Gradebook(f"sqlite:///{root / 'gradebook.db'}") as gradebook:
        scores = {s.code_score for s in gradebook.assignment_submissions(lesson.slug)}
    assert scores == {3.0}, f"stock nbgrader's hidden tests must have run and passed: {scores}"
    # one = start + x, rest = start + count * x: what one more submission costs, without the command's start
    return (count - 1) / (rest - one)


def _stock_notebook(lesson: Lesson):
    from autograder.release.notebook import student_notebook

    kept = {c.metadata.nbgrader.grade_id: c for c in student_notebook(lesson, "en").cells if "nbgrader" in c.metadata}
    checks = lesson.checks.path.read_text(encoding="utf-8")
    for kind in ("normal", "boundary"):
        # nbgrader gives 0 to a test cell that writes anything to stderr, a NumPy warning included
        kept[kind].source = f"""import numpy as np
np.seterr(all="ignore")
### BEGIN HIDDEN TESTS
scope = {{"__name__": "checks"}}
exec({checks!r}, scope)
for case in scope["{kind}_cases"](np.random.default_rng(0)):
    arguments = {{k: (object() if isinstance(v, dict) else v) for k, v in case["args"].items()}}
    if case.get("raises"):
        continue
    got = {lesson.checks.function}(**arguments)
    assert np.allclose(got, case["expect"], rtol=case.get("rtol", 0), atol=case.get("atol", 0), equal_nan=True), case["name"]
### END HIDDEN TESTS
"""
    book = nbformat.v4.new_notebook(cells=[kept[n] for n in ("exercise", "normal", "boundary_case", "boundary")])
    book.metadata.kernelspec = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return book


def gradebook_alone(lesson: Lesson, count: int) -> None:
    """Time and memory of a run whose grading costs nothing: they must grow in step with the class, and not at all."""
    import resource

    from autograder.gradebook.tests.fake import notebook, result

    def grader(lesson, items):
        for student, _ in items:
            yield result(lesson, student)

    def progress(done: int, total: int, _) -> None:
        if done % max(1, count // 5) == 0:
            print(
                f"{done:>8} submissions  {time.monotonic() - start:6.1f} s  {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024} MB",
                flush=True,
            )

    with tempfile.TemporaryDirectory() as scratch:
        course, data = CourseFolder(Path(scratch) / "course"), notebook(lesson)
        course.prepare()
        with course.gradebook():
            pass
        for n in range(count):
            path = Path(scratch) / "inbox" / f"s{n:05d}" / lesson.slug / f"{lesson.slug}.ipynb"
            path.parent.mkdir(parents=True)
            path.write_bytes(data.replace(b"TODO", f"{n}".encode(), 1))
        start = time.monotonic()
        grade_submissions(lesson, Path(scratch) / "inbox", course, grader=grader, progress=progress)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--ours", type=int, default=600, help="submissions for our grader")
    parser.add_argument("--stock", type=int, default=12, help="submissions for stock nbgrader")
    parser.add_argument(
        "--gradebook",
        type=int,
        metavar="N",
        help="instead: N submissions through everything after grading, with time and memory on the way",
    )
    parser.add_argument(
        "--jobs", type=int, default=len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    )
    args = parser.parse_args()
    lesson = load_lesson("7")
    if args.gradebook:
        return gradebook_alone(lesson, args.gradebook)
    with tempfile.TemporaryDirectory() as scratch:
        theirs = stock(lesson, Path(scratch) / "stock", args.stock)
        print(
            f"stock nbgrader: {theirs:.2f} submissions a second ({1 / theirs:.2f} s each, one after another)",
            flush=True,
        )
        mine = ours(lesson, Path(scratch) / "ours", args.ours, args.jobs)
    print(
        f"course grade:   {mine:.2f} submissions a second ({args.ours} in {args.ours / mine:.1f} s, {args.jobs} workers)"
    )
    print(f"ratio:          {mine / theirs:.1f}")


if __name__ == "__main__":
    main()
