"""Each lesson's bundle, as `course release` makes it, in the site's folder downloads/."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path

from autograder.lesson.model import Lesson
from autograder.release.bundle import release

FOLDER = "downloads"


def bundle_of(slug: str) -> str:
    """Its place below the site's root."""
    return f"{FOLDER}/{slug}.zip"


def put_downloads(lessons: Iterable[Lesson], site: Path, progress=lambda message: None) -> None:
    """Write the bundle of every lesson into `site`. Raises CourseError as release does."""
    with tempfile.TemporaryDirectory(prefix="course-downloads-") as work:
        for zipped in release(lessons, Path(work), progress=lambda m: progress(f"bundles: {m}")):
            (site / FOLDER).mkdir(exist_ok=True)
            shutil.copyfile(zipped, site / bundle_of(zipped.stem))
