"""A lesson read as data: its two editions, hidden checks and rubric."""

from autograder.lesson.model import Cell, Edition, Lesson

__all__ = ["Cell", "Edition", "Lesson", "find_lesson", "list_lessons", "load_lesson"]


def __getattr__(name: str):
    """Finding and loading lessons is imported when it is asked for: a student's install has no pages to read, and not this part."""
    if name in __all__:
        from autograder.lesson import store

        return getattr(store, name)
    raise AttributeError(name)
