"""The lesson as an nbgrader assignment: its cells in the gradebook, its source and release folders."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import nbformat

from autograder.errors import CourseError
from autograder.gradebook.course import CourseFolder, write_atomically
from autograder.lesson import Lesson
from autograder.records import POINT_NAMES

if TYPE_CHECKING:
    from nbgrader.api import Gradebook


def register(lessons: Iterable[Lesson], course: CourseFolder, lang: str = "zh") -> None:
    """Register these lessons in the course folder's gradebook, so that `nbgrader autograde` runs there. Scores in it stay as they are.

    lang: of the notebook that nbgrader hands out. Raises CourseError where the gradebook cannot be written.
    """
    with course.gradebook(write=True) as gradebook:
        for lesson in lessons:
            ensure_assignment(gradebook, course, lesson, lang)


def ensure_assignment(gradebook: Gradebook, course: CourseFolder, lesson: Lesson, lang: str = "zh") -> None:
    """Register the lesson as nbgrader's generate_assignment would, where the gradebook lacks it or its points have changed.

    The cells come from the released notebook through nbgrader's own SaveCells. Both editions have the same graded cells.
    """
    from nbgrader.api import MissingEntry

    wanted = {name: float(getattr(lesson.rubric.points, name)) for name in POINT_NAMES}
    try:
        notebook = gradebook.find_notebook(lesson.slug, lesson.slug)
        if {c.name: c.max_score for c in notebook.grade_cells}.items() >= wanted.items():
            gradebook.db.commit()
            return
    except MissingEntry:
        pass
    gradebook.update_or_create_assignment(lesson.slug)
    gradebook.db.commit()
    _save_cells(course.db_url, lesson, lang)
    gradebook.db.expire_all()
    saved = {c.name for c in gradebook.find_notebook(lesson.slug, lesson.slug).grade_cells}
    gradebook.db.commit()
    if missing := set(wanted) - saved:
        raise CourseError(
            f"The released notebook lacks the graded cells {sorted(missing)}.",
            where=str(lesson.folder),
            remedy="Run `course lint` and mend the lesson.",
        )


def ensure_folders(course: CourseFolder, lesson: Lesson) -> None:
    """source/ and release/ for formgrader, where `course release` has not written them."""
    from autograder.release.notebook import student_notebook

    for step in ("source", "release"):
        path = course.root / step / lesson.slug / f"{lesson.slug}.ipynb"
        if not path.exists():
            write_atomically(path, nbformat.writes(student_notebook(lesson, "zh")))


def _save_cells(db_url: str, lesson: Lesson, lang: str) -> None:
    from nbgrader.preprocessors import ComputeChecksums, SaveCells

    from autograder.release.notebook import student_notebook

    notebook = student_notebook(lesson, lang)
    resources = {"nbgrader": {"notebook": lesson.slug, "assignment": lesson.slug, "db_url": db_url}}
    for step in (ComputeChecksums, SaveCells):
        notebook, resources = step().preprocess(notebook, resources)
