"""A lesson's student data: what lesson.json holds, as a pure function of the lesson."""

from __future__ import annotations

from autograder.lesson.model import LANGS, Lesson
from autograder.release.notebook import student_notebook
from autograder.student.data import ReleasedCell, StudentLesson


def student_lesson(lesson: Lesson) -> StudentLesson:
    return StudentLesson(
        slug=lesson.slug,
        function=lesson.checks.function,
        title={lang: lesson.edition(lang).title for lang in LANGS},
        points=lesson.rubric.points.model_dump(),
        pass_mark=lesson.rubric.pass_mark,
        hints={lang: [h.get(lang) for h in lesson.rubric.hints] for lang in LANGS},
        released={lang: tuple(_released(c) for c in student_notebook(lesson, lang).cells) for lang in LANGS},
    )


def _released(cell) -> ReleasedCell:
    nbgrader = cell.metadata.get("nbgrader", {})
    return ReleasedCell(
        cell.id, cell.cell_type, cell.source, nbgrader.get("grade_id", ""), bool(nbgrader.get("locked"))
    )
