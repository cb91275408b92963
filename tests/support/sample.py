"""Which lessons `make test` holds to the demands that all lessons share: tests/lessons grows with each lesson, and most of it would find
the same thing 19 times. `make test-all` leaves nothing out.

The sample: lesson 2 (NumPy arrays in its checks, no barrier), lesson 7 (the seed's, with floating-point tolerances) and the newest, which has the
most to be found. What is a lesson's own stands in tests/lessonNN and always runs, and so does what looks at all lessons at once.
"""

from __future__ import annotations

import re

from autograder.lesson import list_lessons

ALWAYS = ("lesson02", "lesson07")
SHARED = "tests/lessons/"
_LESSON = re.compile(r"\[.*?(lesson\d\d)")


def sample() -> set[str]:
    return {*ALWAYS, list_lessons()[-1].name[:8]}


def divide(items: list) -> tuple[list, list]:
    """(those that run, those left to `make test-all`)."""
    chosen = sample()
    kept, left = [], []
    for item in items:
        of = _LESSON.search(item.nodeid) if item.nodeid.startswith(SHARED) else None
        (left if of and of[1] not in chosen else kept).append(item)
    return kept, left
