"""Every lesson is held to the form, and every figure to its claim."""

from autograder.claims import read_ledger
from autograder.claims.uses import all_problems
from autograder.claims.write import drift
from autograder.lesson import find_lesson
from autograder.lint import lint_lesson, lint_project
from autograder.paths import course_root
from tests.lessons.lessons import EACH_LESSON


@EACH_LESSON
def test_lint_has_nothing_to_say(slug):
    folder = find_lesson(slug)
    assert [p.text(folder.parent) for p in lint_lesson(folder)] == []


def test_the_pages_that_are_no_lessons_are_in_order():
    root = course_root()
    assert [p.text(root) for p in lint_project(root, read_ledger(root))] == []


def test_committed_figures_are_what_the_data_say():
    """`course claims --check`: the variables that pages read and the ledger pages follow from claims.yml and the measured files."""
    ledger = read_ledger(course_root())
    assert len(ledger.entries) > 40
    assert [str(p) for p in all_problems(ledger)] == []
    assert drift(ledger) == []
