"""Where the course's folders are."""

import os
from pathlib import Path

from autograder.errors import CourseError

MARK = Path("lessons") / "_quarto.yml"


def course_root(start: Path | None = None) -> Path:
    """The folder that holds lessons/: $COURSE_ROOT, else the nearest parent of `start`, else the checkout of this package.

    Raises CourseError where there is none (a student's machine has only the notebook's own bundle).
    """
    places = []
    if os.environ.get("COURSE_ROOT"):
        places = [Path(os.environ["COURSE_ROOT"])]
    else:
        here = (start or Path.cwd()).resolve()
        places = [here, *here.parents, Path(__file__).resolve().parents[1]]
    for place in places:
        if (place / MARK).is_file():
            return place
    raise CourseError(
        "No course folder was found: none of the places looked at holds lessons/_quarto.yml.",
        where=str(places[0]),
        remedy="Run the command inside a checkout of the course, or set COURSE_ROOT to it.",
    )


def lessons_dir() -> Path:
    return course_root() / "lessons"
