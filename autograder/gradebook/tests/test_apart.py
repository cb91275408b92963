"""A large hand-in is read in a process of its own: the same choice and the same page, and no memory of the run's."""

import gzip
import json
import resource
import subprocess
import sys

import pytest

from autograder.gradebook import apart
from autograder.gradebook.autograded import shown_text
from autograder.gradebook.run import grade_submissions
from autograder.gradebook.submissions import find_submissions
from autograder.gradebook.tests.fake import FakeGrader, hand_in, notebook, result
from autograder.gradebook.tests.test_taken import FILL, layouts, put  # noqa: F401  (a fixture)


@pytest.fixture(autouse=True)
def ended():
    yield
    apart.close()


def bomb(lesson, count):
    """A notebook of 9 bytes a value, each of which takes a hundred in memory."""
    book = notebook(lesson, exercise=FILL)
    return book.rstrip()[:-1] + b', "z": [' + b'{"":[]},' * count + b"0]}"


def test_the_choice_is_the_same_in_either_process(lesson, inbox, layouts, monkeypatch):  # noqa: F811
    for name, (files, _) in layouts.items():
        put(inbox / name, files)
    here = find_submissions(inbox, lesson)
    monkeypatch.setattr(apart, "LARGE", 0)
    asked = []
    monkeypatch.setattr(apart, "ask", lambda lesson, ask=apart.ask, **what: asked.append(what) or ask(lesson, **what))
    assert find_submissions(inbox, lesson) == here and len(asked) >= 6
    assert all(what["choose"] for what in asked)


def test_what_formgrader_shows_is_the_same_too(lesson, course, inbox, monkeypatch):
    folder = hand_in(inbox, lesson, "ann", notebook(lesson, exercise=FILL, q1="because of rounding")).parent
    here = shown_text(lesson, folder, result(lesson, "ann"))
    monkeypatch.setattr(apart, "LARGE", 0)
    monkeypatch.setattr("autograder.gradebook.autograded.chosen_in", None)
    assert shown_text(lesson, folder, result(lesson, "ann")) == here and "because of rounding" in here


SMALL = """
import sys
from pathlib import Path
from autograder.gradebook import apart
from autograder.gradebook.submissions import find_submissions
from autograder.gradebook.tests.fake import FakeGrader
from autograder.gradebook.course import CourseFolder
from autograder.gradebook.run import grade_submissions
from autograder.lesson import load_lesson
apart.MEMORY_MB, apart.SECONDS = 300, 60.0
lesson, inbox = load_lesson("7"), Path(sys.argv[1])
for s in find_submissions(inbox, lesson):
    print(s.student, s.path is not None, (s.problem or {}).get("en"))
# not ru_maxrss: a program begins with that of the process that started it
print(next(int(line.split()[1]) >> 10 for line in open("/proc/self/status") if line.startswith("VmHWM")))
"""


def test_large_files_are_one_students_problem(lesson, inbox):
    """Several notebooks that unfold to gigabytes, as they are and packed, beside an honest pair."""
    large = bomb(lesson, 1_500_000)
    put(inbox / "eve" / lesson.slug, {"a.ipynb": large, "b.ipynb": large})
    put(inbox / "zoe" / lesson.slug, {"a.ipynb": gzip.compress(large, 1), "b.ipynb": gzip.compress(large, 1)})
    put(
        inbox / "ann" / lesson.slug,
        {f"{lesson.slug}.ipynb": notebook(lesson, exercise=FILL), "en/draft.ipynb": notebook(lesson)},
    )
    *said, peak = subprocess.run(
        [sys.executable, "-c", SMALL, str(inbox)], check=True, capture_output=True, text=True
    ).stdout.splitlines()
    assert [line.split()[:2] for line in said] == [["ann", "True"], ["eve", "False"], ["zoe", "False"]]
    assert all("too large" in line for line in said[1:])
    assert int(peak) < 300, "the run's own process has read none of it"


def test_a_page_that_cannot_be_made_says_so_and_costs_no_grade(lesson, course, inbox, monkeypatch):
    hand_in(inbox, lesson, "ann", notebook(lesson, exercise="x"))
    hand_in(inbox, lesson, "eve", bomb(lesson, 200_000))
    monkeypatch.setattr(apart, "SECONDS", 0.0)
    monkeypatch.setattr(apart, "START_SECONDS", 0.0)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert (
        grade_submissions(
            lesson, inbox, course, grader=FakeGrader(lesson, lambda student, text: result(lesson, student))
        ).graded
        == 2
    )
    shown = {
        n: (course.step("autograded", n, lesson.slug) / f"{lesson.slug}.ipynb").read_text() for n in ("ann", "eve")
    }
    assert (
        "too large or too complex to be shown" in shown["eve"]
        and "too large" not in shown["ann"]
        and json.loads(shown["eve"])["cells"]
    )
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100 << 10
