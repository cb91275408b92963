"""The class's grades: nbgrader's folders and database, filled by our grader, one writer, resumable.

`grade_class` is the whole job as one call; `autograder.gradebook.run` has the stream underneath it. This module imports
nothing heavy: nbgrader alone costs 2.5 s.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from autograder.lesson import Lesson
    from autograder.records import Result

DEFAULT_COURSE = Path("course_run")


def grade_class(
    lesson: Lesson | str,
    submissions: Path,
    course_dir: Path = DEFAULT_COURSE,
    *,
    jobs: int | None = None,
    progress: Callable[[int, int, Result | None], None] | None = None,
    db_url: str | None = None,
) -> list[Result]:
    """Grade a folder of submissions into a course folder and return the final results, in order of the students' names.

    submissions: holds <student>/<lesson>/<lesson>.ipynb.  progress(done, total, result) is called as each one is done
    (result is None for those that an earlier run had graded already).  Manual scores given in formgrader are in the results.
    Raises CourseError where there is nothing to grade or the gradebook cannot be written.
    """
    from autograder.gradebook.course import CourseFolder
    from autograder.gradebook.final import final_results
    from autograder.gradebook.run import grade_submissions
    from autograder.lesson import load_lesson

    lesson = load_lesson(lesson) if isinstance(lesson, str) else lesson
    course = CourseFolder(course_dir, db_url=db_url)
    summary = grade_submissions(lesson, submissions, course, jobs=jobs, progress=progress)
    return [f.result for f in final_results(course, lesson, students=summary.students)]
