"""Where a person acts on what waits for him: nbgrader's formgrader, opened in the course folder."""

from __future__ import annotations

import shlex

from autograder.gradebook.course import CourseFolder
from autograder.lesson import Lesson


def start_command(course: CourseFolder) -> str:
    return f"cd {shlex.quote(str(course.root))} && jupyter lab"


def menu_path(lesson: Lesson) -> str:
    return f"Nbgrader > Formgrader > Manual Grading > {lesson.slug}"


def how_to_open(course: CourseFolder, lesson: Lesson) -> str:
    """One sentence for a terminal: the command, the place, and what settles a score."""
    return f"run `{start_command(course)}`, open {menu_path(lesson)}, and type a score into each cell that asks for one (its comment holds the suggestion)."
