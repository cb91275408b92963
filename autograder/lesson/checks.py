"""checks.py of a lesson: hidden checks as data and small functions.

A lesson's checks.py imports nothing from autograder (arrows go one way). It defines

    FUNCTION = "linear_epilogue"
    def normal_cases(rng) -> list[dict]       # rng: numpy Generator, seeded by the grader
    def boundary_cases(rng) -> list[dict]
    def reference(...)                        # same signature as the exercise; right on every legal input
    def is_boundary(args: dict) -> bool       # does a student's own input count as a boundary input?

and for lint, which tries wrong fills on the cases:

    RANGES = {"beta": (-1e3, 1e3)}            # (least, largest) of the fill's names, and of "return"; whole numbers where both are integers
    EQUIVALENT_FILLS = {"fill": "reason"}     # fills that look like mistakes and are right

A case that is the same for every seed decides; drawn cases come on top. Feedback shows the names of cases: they tell no drawn value.
A case is {"name": {"zh": .., "en": ..}, "args": {parameter: value}, "expect": value, "rtol": float, "atol": float}.
Values are None, bool, int, float, str, lists, dicts and NumPy arrays; floats may be NaN or infinite (NaN equals NaN).
A parameter may be {"$probe": "untouchable"}: an object that records any use (showing it is none); with it a case may say
"untouched": ["c"], which holds when the student's function never used that argument.
A case may say "raises": true instead of "expect".
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from autograder.errors import CourseError

NEEDED = ("FUNCTION", "normal_cases", "boundary_cases", "reference", "is_boundary")


@dataclass(frozen=True)
class Checks:
    path: Path
    function: str
    normal_cases: Callable
    boundary_cases: Callable
    reference: Callable
    is_boundary: Callable


def load_checks(path: Path) -> Checks:
    """Import a lesson's checks.py. Raises CourseError where it is missing, does not run, or lacks a name."""
    if not path.is_file():
        raise CourseError(
            "The hidden checks are missing.",
            where=str(path),
            remedy="Add checks.py; autograder/lesson/checks.py says what it defines.",
        )
    spec = importlib.util.spec_from_file_location(f"_checks_{path.parent.name}", path)
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as e:  # any error in a lesson author's file is reported with its place
        line = getattr(e, "lineno", None) or (
            e.__traceback__.tb_next.tb_lineno if e.__traceback__ and e.__traceback__.tb_next else "?"
        )
        raise CourseError(
            f"The hidden checks do not run: {type(e).__name__}: {e} (line {line}).",
            where=str(path),
            remedy="Mend checks.py and run `course lint`.",
        ) from e
    missing = [n for n in NEEDED if not hasattr(module, n)]
    if missing:
        raise CourseError(
            f"The hidden checks lack {', '.join(missing)}.",
            where=str(path),
            remedy="Add them; autograder/lesson/checks.py says what each does.",
        )
    return Checks(
        path, module.FUNCTION, module.normal_cases, module.boundary_cases, module.reference, module.is_boundary
    )
