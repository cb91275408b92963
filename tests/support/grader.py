"""Fixtures that several test files of the grader begin with; a file that needs another lesson or sandbox defines its own."""

import pytest

from autograder.grading.sandbox import Sandbox
from autograder.lesson import load_lesson


@pytest.fixture(scope="module")
def lesson():
    return load_lesson("7")


@pytest.fixture(scope="module")
def sandbox():
    """A warm one, shared by the tests of a file."""
    with Sandbox() as made:
        yield made
