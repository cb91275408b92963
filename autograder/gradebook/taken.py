"""Which file of a student's folder is his hand-in: the grader's own choice among the notebooks that lie there."""

from __future__ import annotations

from pathlib import Path

from autograder.grading.read import Unreadable, released
from autograder.grading.read.files import files_in, notebooks_in, refuse_unfit
from autograder.grading.read.pick import pick
from autograder.lesson import Lesson


def taken_from(lesson: Lesson, folder: Path, skip: frozenset[str] = frozenset()) -> Path:
    """The file to grade: of several the one that was worked on (nbgrader hands out both languages in one folder). skip: folders not to look
    into. Raises Unreadable, with the reason for the student, where there is none, it is unfit, or nothing tells which is meant."""
    files = files_in(folder, skip)
    if len(files) == 1:
        refuse_unfit(files[0])
        return files[0]
    found = notebooks_in(folder, skip)
    return found[pick(lesson, released(lesson), found).number].path or folder


def taken_or_none(lesson: Lesson, folder: Path) -> Path | None:
    """The same of a folder that may hold nothing to grade."""
    try:
        return taken_from(lesson, folder)
    except Unreadable:
        return None
