"""A student's notebook for the fixture lesson, filled in as a test asks."""

from __future__ import annotations

import copy
from pathlib import Path

import nbformat

from autograder.release.notebook import student_notebook
from autograder.release.tests.fixture_lesson import SOLUTION

ANSWER = "因为下标绕回时相位翻转，所以消费者能分辨这一圈和上一圈的数据，不会把旧数据当成新的。"


def filled(lesson, lang="zh", fill=SOLUTION, case="dict(step=5, stages=1)", prediction="(0, 1)", answers=ANSWER):
    """The released notebook with the blank, the boundary case and all answers filled (None: left as released)."""
    nb = copy.deepcopy(student_notebook(lesson, lang))
    for cell in nb.cells:
        if cell.id == "exercise" and fill is not None:
            cell.source = cell.source.replace("______", fill)
        elif cell.id == "boundary-case" and case is not None:
            cell.source = f"my_case = {case}\nmy_prediction = {prediction}"
        elif cell.id.startswith("answer-") and answers is not None:
            cell.source += f"\n\n{answers} ({cell.id})"  # the grader takes a cell that stands there twice for a copy
    return nb


def cell(nb, name):
    return next(c for c in nb.cells if c.id == name)


def save(nb, folder: Path, name: str) -> Path:
    path = folder / name
    nbformat.write(nb, path)
    return path
