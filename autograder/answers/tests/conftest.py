from pathlib import Path

import pytest

from autograder.lesson import find_lesson
from autograder.lesson.rubric import load_rubric


@pytest.fixture(scope="session")
def lesson_folder() -> Path:
    return find_lesson("lesson07")


@pytest.fixture(scope="session")
def rubric(lesson_folder):
    return load_rubric(lesson_folder / "rubric.yml")
