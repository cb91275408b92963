from autograder.release.tests.conftest import lesson, lesson_folder  # noqa: F401
