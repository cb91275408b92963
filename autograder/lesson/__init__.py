"""A lesson read as data: its two editions, hidden checks and rubric."""

from autograder.lesson.model import Cell, Edition, Lesson
from autograder.lesson.store import find_lesson, list_lessons, load_lesson

__all__ = ["Cell", "Edition", "Lesson", "find_lesson", "list_lessons", "load_lesson"]
