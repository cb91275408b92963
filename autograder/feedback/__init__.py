"""One feedback page a student, in the language of his notebook."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from autograder.gradebook.course import CourseFolder
    from autograder.lesson import Lesson


def write_feedback(
    lesson: Lesson,
    course: CourseFolder | Path,
    *,
    progress: Callable[[int, int], None] | None = None,
    tell: Callable[[str], None] = lambda line: None,
) -> list[Path]:
    """Write feedback/<student>/<lesson>/<lesson>.html for everyone graded; return the pages in order of the names.

    nbgrader's release_feedback finds them there. tell: gets a line about those whose stored result cannot be read; a page that they have
    stays as it is. Raises CourseError where nobody has been graded, and where a page cannot be written, after all
    the others.
    """
    from autograder.errors import CourseError
    from autograder.feedback.page import render_page
    from autograder.gradebook.course import CourseFolder, write_atomically
    from autograder.gradebook.final import final_results, unread_lines
    from autograder.gradebook.submissions import copy_side_files

    course = course if isinstance(course, CourseFolder) else CourseFolder(course)
    everyone = final_results(course, lesson)
    for line in unread_lines(everyone):
        tell(line)
    finals = [f for f in everyone if not f.unread]
    written, failed = [], []
    for n, final in enumerate(finals, 1):
        path = course.step("feedback", final.result.student, lesson.slug) / f"{lesson.slug}.html"
        try:
            write_atomically(path, render_page(lesson, final))
            copy_side_files(course.step("autograded", final.result.student, lesson.slug), path.parent)
            written.append(path)
        except OSError as e:  # what stands in one student's way keeps nobody else's page back
            failed.append((path, e.strerror or str(e)))
        if progress:
            progress(n, len(finals))
    if failed:
        where, why = failed[0]
        raise CourseError(
            f"{len(failed)} of {len(finals)} pages cannot be written: {why}.",
            where=str(where),
            remedy="Make its folder writable and run the same command again.",
        )
    return written
