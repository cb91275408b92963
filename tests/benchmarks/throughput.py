"""Submissions a second: this grader against stock nbgrader, same lesson, same machine, same run.

    python -m tests.benchmarks.throughput [--students 1000] [--stock 16] [--jobs 2] [--out FILE.json]

Ours: the sample class, each notebook made unlike the others by a comment and by words of its own in every sentence of its answers, through
the pool: reading, integrity, two rounds of hidden checks in the sandbox, free text, evidence, verdict. The clock starts before the workers
do. No two answers are equal. What is remembered from one submission to the next: the tokens of words, cells that are as they were released,
and what a program did, for the next student who wrote the same line in the blank (layout and comments aside). The sample class wrote few different
ones, the number that the report names; so a fifth of the students are graded once more, by new workers, with a line that nobody else wrote.

Stock nbgrader: the same notebooks with the kernel and plot cells taken out (so that it need not compile CUDA) and hidden tests in the test
cells. It scores no free text. Measured twice: `nbgrader autograde` as an instructor runs it, one submission after another, and, what
nbgrader does not offer, as many such processes at once as we have jobs, each with a course folder and a database of its own. Half of
each measurement stands before ours and half after it, since a shared machine is not as fast now as it was a minute ago.
"""

from __future__ import annotations

import argparse
import ast
import copy
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from random import Random

import nbformat

from autograder.grading.pool import grade_many
from autograder.lesson import Lesson, load_lesson
from autograder.lesson.model import ANSWER_SLOTS, BLANK
from autograder.release.notebook import student_notebook
from tests.sample_class import make

KEPT = {"exercise", "normal", "boundary_case", "boundary", *ANSWER_SLOTS}
HIDDEN = {
    "normal": "assert abs(linear_epilogue(3.5, 1.75, -0.625, 7.0) - 1.75) < 1e-9\nassert linear_epilogue(7, 3, 2, 5) == 31\nassert (linear_epilogue(np.arange(6.0), 2.0, 0.5, np.ones(6)) == np.arange(6.0) * 2 + 0.5).all()",
    "boundary": "assert linear_epilogue(3.0, 2.0, 0.0, None) == 6.0\nassert linear_epilogue(3.0, 2.0, 0.0, float('nan')) == 6.0\nassert (linear_epilogue(np.ones(4), 2.0, 0.0, np.full(4, np.nan)) == 2.0).all()",
}


def sample_notebooks() -> list[nbformat.NotebookNode]:
    """The readable ones of the sample class."""
    with tempfile.TemporaryDirectory() as folder:
        make.build(Path(folder))
        texts = [p.read_bytes() for p in sorted(Path(folder).glob("*/*/*.ipynb"))]
    books = []
    for text in texts:
        try:
            books.append(nbformat.reads(text.decode("utf-8-sig"), as_version=4))
        except Exception:  # the unreadable ones are not for stock nbgrader
            continue
    return [b for b in books if any(c.metadata.get("nbgrader") for c in b.cells)]


OPENINGS = {
    "zh": "首先 其实 具体来说 简单说 我认为 也就是说 另外 同时 总之 可以看到 注意 按我的理解 从这里看 回到问题 换句话说 举例来说".split(),
    "en": "First Actually Briefly Here Also Moreover Again Overall Note Indeed Clearly Likewise Next Finally Roughly Basically".split(),
}


def own_words(text: str, n: int, salt: str) -> str:
    """The text with an opening word before each sentence and a number of its own at the end, chosen by the student's number."""
    random = Random(f"{n}:{salt}")
    lang = "zh" if re.search(r"[\u4e00-\u9fff]", text) else "en"
    comma = "，" if lang == "zh" else ", "
    lines = []
    for line in text.split("\n"):
        parts = re.split(r"(?<=[。！？])|(?<=[.!?]) (?=[A-Z])", line)
        lines.append(
            ("" if lang == "zh" else " ").join(
                f"{random.choice(OPENINGS[lang])}{comma}{p}" if len(p) > 8 else p for p in parts
            )
        )
    return "\n".join(lines) + (f"（第 {n} 份）" if lang == "zh" else f" (Copy {n}.)")


def own_copy(book: nbformat.NotebookNode, n: int, own_program: bool = False) -> nbformat.NotebookNode:
    """The same work by another student, in words of his own. own_program: the line in the blank does the same and is nobody else's either."""
    book = copy.deepcopy(book)
    for cell in book.cells:
        name = cell.metadata.get("nbgrader", {}).get("grade_id")
        if name == "exercise":
            if own_program and BLANK not in cell.source:
                cell.source = re.sub(r"^( +)return (.+)$", rf"\1return (\2, {n})[0]", cell.source, flags=re.M)
            cell.source += f"\n# student {n}"
        elif name in ANSWER_SLOTS:
            cell.source = own_words(cell.source, n, name)
    return book


def measure_ours(lesson: Lesson, books: list, count: int, jobs: int, own_programs: bool = False) -> dict:
    work = [(f"s{n}", nbformat.writes(own_copy(books[n % len(books)], n, own_programs)).encode()) for n in range(count)]
    start = time.perf_counter()
    first = 0.0
    states: dict[str, int] = {}
    programs = set()
    for result in grade_many(lesson, work, jobs):
        first = first or time.perf_counter()
        states[result.state] = states.get(result.state, 0) + 1
        programs |= program_of(result.fill)
    end = time.perf_counter()
    return {
        "submissions": count,
        "seconds": end - start,
        "start_seconds": first - start,
        "per_second": count / (end - start),
        "per_second_once_warm": (count - 1) / (end - first),
        "states": states,
        "programs": len(programs),
    }


def program_of(fill: str) -> set[str]:
    """What is run of a fill's text, without its layout and comments; nothing where it is no Python."""
    for text in (fill, f"if True:\n    {fill}"):
        try:
            return {ast.dump(ast.parse(text))}
        except SyntaxError:
            continue
    return set()


def measure_stock(lesson: Lesson, books: list, count: int, jobs: int) -> dict:
    """Seconds of `nbgrader autograde` itself; folders, source and database are made before the clock starts."""
    with tempfile.TemporaryDirectory() as folder:
        courses = [Path(folder) / f"course{n}" for n in range(jobs)]
        for course in courses:
            _stock_course(lesson, course, books, max(1, count // jobs))
        start = time.perf_counter()
        running = [
            subprocess.Popen(
                _nbgrader("autograde", lesson.slug),
                cwd=c,
                env=_environment(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
            )
            for c in courses
        ]
        errors = [p.communicate()[1].decode()[-2000:] for p in running]
        seconds = time.perf_counter() - start
        if any(p.returncode for p in running):
            raise SystemExit("stock nbgrader failed:\n" + "\n".join(errors))
        graded = sum(len(list((c / "autograded").glob("*/*/*.ipynb"))) for c in courses)
    return {"submissions": graded, "seconds": seconds, "per_second": graded / seconds, "processes": jobs}


def _environment() -> dict[str, str]:
    return os.environ | {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    }  # nbgrader calls alembic by name


def _nbgrader(*words: str) -> list[str]:
    return [sys.executable, "-m", "nbgrader", *words]


def _stock_course(lesson: Lesson, course: Path, books: list, count: int) -> None:
    course.mkdir(parents=True)
    (course / "nbgrader_config.py").write_text(
        "c = get_config()\nc.CourseDirectory.course_id = 'stock'\nc.ExecutePreprocessor.timeout = 30\n"
    )
    source = course / "source" / lesson.slug
    source.mkdir(parents=True)
    nbformat.write(_stock_notebook(student_notebook(lesson, "en"), hidden=True), source / f"{lesson.slug}.ipynb")
    subprocess.run(
        _nbgrader("generate_assignment", lesson.slug), cwd=course, env=_environment(), check=True, capture_output=True
    )
    for n in range(count):
        place = course / "submitted" / f"s{n}" / lesson.slug
        place.mkdir(parents=True)
        nbformat.write(_stock_notebook(own_copy(books[n % len(books)], n)), place / f"{lesson.slug}.ipynb")


def _stock_notebook(book: nbformat.NotebookNode, hidden: bool = False) -> nbformat.NotebookNode:
    book = copy.deepcopy(book)
    cells = []
    for cell in book.cells:
        name = cell.metadata.get("nbgrader", {}).get("grade_id")
        if cell.cell_type == "code" and name not in KEPT:
            continue
        if name in HIDDEN:
            tests = f"\n### BEGIN HIDDEN TESTS\n{HIDDEN[name]}\n### END HIDDEN TESTS" if hidden else ""
            cell.source = f"import numpy as np{tests}"
        elif name == "exercise" and hidden:
            cell.source = f"### BEGIN SOLUTION\n{cell.source}\n### END SOLUTION"
        elif name == "boundary_case":
            cell.source = "# " + cell.source.replace("\n", "\n# ")
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
        cells.append(cell)
    book.cells = cells
    return book


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--students", type=int, default=1000)
    parser.add_argument("--stock", type=int, default=16)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    lesson, books = load_lesson("7"), sample_notebooks()
    half = max(1, args.stock // 2)
    before = [_with_load(measure_stock, lesson, books, half, jobs) for jobs in (1, args.jobs)]
    ours = _with_load(measure_ours, lesson, books, args.students, args.jobs)
    unlike = _with_load(measure_ours, lesson, books, max(len(books), args.students // 5), args.jobs, True)
    after = [_with_load(measure_stock, lesson, books, half, jobs) for jobs in (1, args.jobs)]
    alone, at_once = map(_together, before, after)
    ratio, ratio_at_once = ours["per_second"] / alone["per_second"], ours["per_second"] / at_once["per_second"]
    ratio_unlike = unlike["per_second_once_warm"] / alone["per_second"]
    print(f"machine: {args.jobs} jobs on {os.cpu_count()} cores; (load average before and after each)")
    for label, stock in (("nbgrader autograde", alone), (f"{args.jobs} of them at once", at_once)):
        print(
            f"{label:20s} {stock['per_second']:8.2f} submissions a second: {stock['submissions']} in {stock['seconds']:.1f} s ({stock['halves'][0]:.2f} before, {stock['halves'][1]:.2f} after) {stock['load']}"
        )
    print(
        f"{'this grader':20s} {ours['per_second']:8.2f} submissions a second: {ours['submissions']} in {ours['seconds']:.1f} s, start included {ours['load']}"
    )
    print(f"{'':20s} {ours['programs']:8d} different programs in the blanks")
    print(f"{'':20s} {ours['per_second_once_warm']:8.2f} once warm (first result after {ours['start_seconds']:.1f} s)")
    print(
        f"{'no two lines alike':20s} {unlike['per_second_once_warm']:8.2f} once warm: {unlike['submissions']} with {unlike['programs']} different programs {unlike['load']}"
    )
    print(f"ratio to nbgrader as an instructor runs it {ratio:8.1f}")
    print(f"ratio to {args.jobs} nbgraders at once {ratio_at_once:18.1f}")
    print(f"ratio once warm, no two lines alike {ratio_unlike:15.1f}")
    if args.out:
        data = {
            "nbgrader": alone,
            "nbgrader_at_once": at_once,
            "ours": ours,
            "ours_no_two_lines_alike": unlike,
            "ratio": ratio,
            "ratio_no_two_lines_alike": ratio_unlike,
            "ratio_at_once": ratio_at_once,
            "jobs": args.jobs,
            "command": " ".join(["python -m tests.benchmarks.throughput", *sys.argv[1:]]),
        }
        args.out.write_text(json.dumps(data, indent=1) + "\n")


def _together(a: dict, b: dict) -> dict:
    count, seconds = a["submissions"] + b["submissions"], a["seconds"] + b["seconds"]
    return {
        "submissions": count,
        "seconds": seconds,
        "per_second": count / seconds,
        "halves": [a["per_second"], b["per_second"]],
        "processes": a["processes"],
        "load": a["load"] + b["load"],
    }


def _with_load(measure, *args) -> dict:
    before = os.getloadavg()[0]
    out = measure(*args)
    return out | {"load": [round(before, 2), round(os.getloadavg()[0], 2)]}


if __name__ == "__main__":
    main()
