"""The lessons there are: every test of this folder runs for each of them, so that a new one is covered at once."""

import concurrent.futures
import functools
import multiprocessing
import os

import nbformat
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


SECONDS = 120  # a cell


@functools.cache
def run(slug: str, lang: str):
    """(the solved notebook with its outputs, what went wrong), run once as a student would, on the emulator.

    In a process of its own: the notebook's client keeps sockets and an event loop, the grader's sandbox forks.
    """
    with concurrent.futures.ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        text, problems = pool.submit(_run, slug, lang).result()
    return nbformat.reads(text, as_version=4), problems


def _run(slug: str, lang: str):
    os.environ["KERNELS_BACKEND"] = "emulator"
    nb, problems = run_notebook(load_lesson(slug), lang, SECONDS)
    return nbformat.writes(nb), problems
