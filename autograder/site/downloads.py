"""What a reader takes home: each lesson's bundle and its notebook, as `course release` makes them, in the site's folder downloads/.

downloads/<lesson>.zip             the student's bundle
downloads/<lang>/<lesson>.ipynb    the notebook alone
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path

from autograder.lesson.model import LANGS, Lesson
from autograder.release.bundle import release

FOLDER = "downloads"


def bundle_of(slug: str) -> str:
    """Its place below the site's root."""
    return f"{FOLDER}/{slug}.zip"


def notebook_of(slug: str, lang: str) -> str:
    return f"{FOLDER}/{lang}/{slug}.ipynb"


def put_downloads(lessons: Iterable[Lesson], site: Path, progress=lambda message: None) -> None:
    """Write them for every lesson into `site`. Raises CourseError as release does."""
    with tempfile.TemporaryDirectory(prefix="course-downloads-") as work:
        for zipped in release(lessons, Path(work), progress=lambda m: progress(f"bundles: {m}")):
            slug = zipped.stem
            (site / FOLDER).mkdir(exist_ok=True)
            shutil.copyfile(zipped, site / bundle_of(slug))
            for lang in LANGS:
                target = site / notebook_of(slug, lang)
                target.parent.mkdir(exist_ok=True)
                shutil.copyfile(zipped.with_suffix("") / lang / f"{slug}.ipynb", target)
