"""The one way in which reading fails."""

from __future__ import annotations

from autograder.lesson.rubric import Text


class Unreadable(Exception):
    """The submission cannot be read. why: what to do about it, for the student.

    foreign: it is not this lesson's notebook, as far as it was read. lang: the language its metadata claim, "" where they say nothing.
    """

    def __init__(self, zh: str, en: str, *, foreign: bool = False):
        self.why, self.foreign, self.lang = Text(zh=zh, en=en), foreign, ""
        super().__init__(en)
