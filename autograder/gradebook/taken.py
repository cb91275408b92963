"""Which file of a student's folder is his hand-in: the grader's own choice among the notebooks that lie there."""

from __future__ import annotations

from pathlib import Path

from autograder.gradebook import apart
from autograder.lesson import Lesson
from autograder.submission.read import Unreadable, released
from autograder.submission.read.files import files_in, notebooks_in, refuse_unfit
from autograder.submission.read.pick import pick


def taken_from(lesson: Lesson, folder: Path) -> Path:
    """The file to grade: of several the one that was worked on (nbgrader hands out both languages in one folder). Raises Unreadable, with the
    reason for the student, where there is none, it is unfit, or nothing tells which is meant."""
    files = files_in(folder)
    if len(files) == 1 or not apart.is_large(files):
        return chosen_in(lesson, folder, files)
    answer = apart.ask(lesson, choose=str(folder))
    if answer is None:
        raise Unreadable(
            "提交里有几个笔记本，它们太大或太复杂，无法判断批改哪一个；请清除输出，只交一个。",
            "There are several notebooks in what was handed in, too large or too complex to tell which is meant; clear their outputs and hand in exactly one.",
        )
    if "unreadable" in answer:
        raise Unreadable(*answer["unreadable"])
    return Path(answer["path"])


def chosen_in(lesson: Lesson, folder: Path, files: list[Path] | None = None) -> Path:
    """The same, read in this process whatever its size. files: those in the folder, where they are known."""
    files = files_in(folder) if files is None else files
    if len(files) == 1:
        refuse_unfit(files[0])
        return files[0]
    found = notebooks_in(folder)
    return found[pick(lesson, released(lesson), found).number].path or folder
