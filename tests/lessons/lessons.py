"""The lessons there are: every test of this folder runs for each of them, so that a new one is covered at once."""

import functools

import pytest

from autograder.lesson import Lesson, list_lessons, load_lesson
from autograder.lesson.model import LANGS
from autograder.lint.execute import run_notebook

SLUGS = [p.name for p in list_lessons()]
EACH_LESSON = pytest.mark.parametrize("slug", SLUGS)
EACH_LANGUAGE = pytest.mark.parametrize("lang", LANGS)


@functools.cache
def lesson(slug: str) -> Lesson:
    return load_lesson(slug)


@functools.cache
def run(slug: str, lang: str):
    """(the solved notebook with its outputs, what went wrong), run once as a student would, on the emulator."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KERNELS_BACKEND", "emulator")
        return run_notebook(lesson(slug), lang)
