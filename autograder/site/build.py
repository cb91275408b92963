"""Building the website: stage, render, close, and put in place only when all of it is right."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from autograder.errors import CourseError
from autograder.lesson import list_lessons, load_lesson
from autograder.lesson.model import LANGS
from autograder.paths import lessons_dir
from autograder.site.closed import close_site
from autograder.site.doing.put import put_doing
from autograder.site.downloads import put_downloads
from autograder.site.links import dead_links
from autograder.site.render import choose, render
from autograder.site.stage import stage
from autograder.site.words import WORDS

EDITIONS = {"student": "_site", "answer": "_site-answer"}  # and the folder of each, where none is named
LACKS = {
    "quarto": "Beside --renderer smalldocs it lacks: diagrams in dark colours (they stand on a light card in dark mode). It also takes several times as long."
}
MARK = ".hopper-course-site"


@dataclass(frozen=True)
class Built:
    out: Path
    renderer: str
    pages: int


def build_site(
    out: Path,
    *,
    edition: str = "student",
    renderer: str = "auto",
    lessons: Path | None = None,
    progress=lambda message: None,
) -> Built:
    """Build both languages of one edition into `out` (zh/, en/ and a start page).

    An old site in `out` is replaced only after the new one is whole; a folder that holds anything else is left alone.
    Raises CourseError for an unknown edition, a page that cannot be read or run, or a page that asks another host.
    """
    if edition not in EDITIONS:
        raise CourseError(f"There is no edition {edition!r}.", remedy=f"Use one of {', '.join(EDITIONS)}.")
    renderer = choose(renderer)
    lessons = lessons or lessons_dir()
    if out.exists() and (not out.is_dir() or (any(out.iterdir()) and not (out / MARK).is_file())):
        raise CourseError(
            "The output folder holds files that are not a built site.",
            where=str(out),
            remedy="Name an empty or new folder with --out.",
        )
    out.parent.mkdir(parents=True, exist_ok=True)
    # Quarto ignores a project in a folder that starts with a dot, so what it renders does not lie beside `out`.
    with (
        tempfile.TemporaryDirectory(prefix=".site-", dir=out.parent) as work,
        tempfile.TemporaryDirectory(prefix="course-site-") as sources,
    ):
        new = Path(work) / "site"
        new.mkdir()
        taught = [load_lesson(folder) for folder in list_lessons(lessons)]
        put_downloads(taught, new, progress)
        for lang in LANGS:
            project = Path(sources).resolve() / lang
            stage(lessons, lang, edition, project, renderer, progress)
            progress(f"{lang} rendering with {renderer}")
            site = render(project, renderer)
            # the stylesheet and script of the course travel with the pages
            shutil.copytree(project / "site_assets", site / "site_assets", dirs_exist_ok=True)
            close_site(site, lang)
            put_doing(site, lang, taught)
            shutil.move(str(site), str(new / lang))
        (new / "index.html").write_text(_start_page(), encoding="utf-8")
        (new / MARK).write_text(f"{edition} {renderer}\n")
        if dead := dead_links(new):
            raise CourseError(
                "The site has broken links: " + "; ".join(dead[:5]),
                where=str(lessons),
                remedy="Mend the links in the pages named.",
            )
        pages = len(list(new.rglob("*.html")))
        if out.exists():
            shutil.move(str(out), str(Path(work) / "old"))
        shutil.move(str(new), str(out))
    return Built(out, renderer, pages)


def _start_page() -> str:
    """The site's root: goes to the default edition, and offers both without scripts."""
    zh, en = WORDS["zh"], WORDS["en"]
    return f"""<!doctype html>
<html lang="zh"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="refresh" content="0; url=zh/index.html">
<title>{zh["site_title"]}</title></head>
<body><p><a href="zh/index.html" lang="zh">{zh["site_title"]}</a></p>
<p><a href="en/index.html" lang="en">{en["site_title"]}</a></p></body></html>
"""
