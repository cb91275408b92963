"""Pages with nothing but the in-page exercise's scripts and data: what it computes can be tried without rendering the course."""

from __future__ import annotations

import shutil
from pathlib import Path

from autograder.lesson import Lesson
from autograder.lesson.model import LANGS
from autograder.site.closed import VENDOR
from autograder.site.doing.put import put_doing
from autograder.site.stage import ASSETS

PAGE = "<!doctype html><html lang='{lang}'><head><meta charset='utf-8'></head><body><main></main></body></html>"


def bare_site(out: Path, lessons: list[Lesson]) -> Path:
    for lang in LANGS:
        site = out / lang
        shutil.copytree(ASSETS, site / "site_assets")
        shutil.copytree(VENDOR / "micropython", site / "site_vendor" / "micropython")
        for lesson in lessons:
            (site / lesson.slug).mkdir()
            (site / lesson.slug / "index.html").write_text(PAGE.format(lang=lang), encoding="utf-8")
        put_doing(site, lang, lessons)
    return out
