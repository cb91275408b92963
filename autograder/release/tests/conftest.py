import pytest

from autograder.lesson import load_lesson
from autograder.release.tests.fixture_lesson import write_lesson


@pytest.fixture(scope="session")
def lesson_folder(tmp_path_factory):
    return write_lesson(tmp_path_factory.mktemp("course"))


@pytest.fixture(scope="session")
def lesson(lesson_folder):
    return load_lesson(lesson_folder)
