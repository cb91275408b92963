"""`make test` leaves out what repeats for every lesson, and nothing else."""

from types import SimpleNamespace

from autograder.lesson import list_lessons
from tests.support.sample import divide, sample


def test_the_sample_holds_the_newest_lesson_and_leaves_only_shared_tests_of_others():
    names = [p.name for p in list_lessons()]
    assert names[-1][:8] in sample() and len(sample()) <= 3 < len(names)
    item = lambda nodeid: SimpleNamespace(nodeid=nodeid)
    always = [
        item(f"tests/lessons/test_pages.py::test_x[{names[-1]}]"),
        item("tests/lessons/test_pages.py::test_x[zh-lesson02_memory_bound]"),
        item("tests/lessons/test_accuracy.py::test_over_all_lessons"),
        item("tests/lesson03/test_page.py::test_y[lesson03_async_barriers]"),
        item("tests/site/test_build.py::test_z[lesson03_async_barriers]"),
    ]
    others = [item("tests/lessons/test_pages.py::test_x[lesson03_async_barriers]")]
    assert divide(always + others) == (always, others)
