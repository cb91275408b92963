import shutil

import pytest

from autograder.gradebook.course import CourseFolder, open_gradebook
from autograder.lesson import load_lesson


@pytest.fixture(scope="session")
def lesson():
    return load_lesson("7")


@pytest.fixture(scope="session")
def empty_gradebook(tmp_path_factory):
    """nbgrader's alembic costs 2.5 s when it makes a database: once for all tests."""
    path = tmp_path_factory.mktemp("gradebook") / "gradebook.db"
    open_gradebook(f"sqlite:///{path}").close()
    return path


@pytest.fixture
def course(tmp_path, empty_gradebook):
    folder = CourseFolder(tmp_path / "course")
    folder.prepare()
    shutil.copy(empty_gradebook, folder.root / "gradebook.db")
    return folder


@pytest.fixture
def inbox(tmp_path):
    folder = tmp_path / "inbox"
    folder.mkdir()
    return folder
