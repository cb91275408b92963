"""Building the website: stage, render, close, and put in place only when all of it is right."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from autograder.errors import CourseError
from autograder.lesson import list_lessons, load_lesson
from autograder.lesson.model import LANGS, Lesson
from autograder.paths import lessons_dir
from autograder.site.closed import Closing
from autograder.site.doing.put import put_doing
from autograder.site.downloads import put_downloads
from autograder.site.links import dead_links
from autograder.site.render import choose, render
from autograder.site.stage import NOTEBOOKS, Stage
from autograder.site.words import WORDS

EDITIONS = {"student": "_site", "answer": "_site-answer"}  # and the folder of each, where none is named
LACKS = {"quarto": "Beside --renderer smalldocs its libraries are heavier, and it takes several times as long."}
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
    bundles: bool = False,
    progress=lambda message: None,
) -> Built:
    """Build both languages of one edition into `out` (zh/, en/ and a start page).

    bundles: also the students' bundles of all lessons, in downloads/, which the lessons' heads then offer.
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
        for lang in LANGS:
            project = Path(sources).resolve() / lang
            Stage(lessons, lang, edition, project, renderer, progress, bundles).all()
            progress(f"{lang} rendering with {renderer}")
            shutil.move(str(render_language(project, renderer, lang, lessons, taught, bundles)), str(new / lang))
        if bundles:
            put_downloads(taught, new, progress)
        (new / "404.html").write_text(_lost_page(), encoding="utf-8")
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


def render_language(
    project: Path, renderer: str, lang: str, lessons: Path, taught: list[Lesson], bundles: bool
) -> Path:
    """The pages of a staged project, rendered, with what travels beside them, and closed; returns their folder."""
    site = render(project, renderer)
    shutil.copytree(project / "site_assets", site / "site_assets", dirs_exist_ok=True)
    for notebook in (project / NOTEBOOKS).glob("*.ipynb"):
        shutil.copy(notebook, site / notebook.stem / notebook.name)
    Closing(site, lang, lessons).all(lambda: put_doing(site, lang, taught, bundles))
    return site


def _lost_page() -> str:
    """What a host shows for an address that does not exist, at any depth: addresses from the site's root, found by the page itself."""
    zh, en = WORDS["zh"], WORDS["en"]
    return f"""<!doctype html>
<html lang="zh"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{zh["lost"]} / {en["lost"]}</title>
<style>body{{font:1.1rem/1.7 system-ui,sans-serif;max-width:36rem;margin:15vh auto;padding:0 1rem}}@media(prefers-color-scheme:dark){{body{{background:#16191d;color:#d9dde2}}a{{color:#93c5fd}}}}</style></head>
<body><main><h1>{zh["lost"]}</h1><p><a data-home="zh/index.html" href="zh/index.html">{zh["site_title"]}</a></p>
<h2 lang="en">{en["lost"]}</h2><p lang="en"><a data-home="en/index.html" href="en/index.html">{en["site_title"]}</a></p></main>
<script>
// the site may lie below its host's root: the part before zh/ or en/ is where it begins
const at = location.pathname.match(/^(.*?[/])(?:zh|en)[/]/);
for (const a of document.querySelectorAll("[data-home]")) a.href = (at ? at[1] : "/") + a.dataset.home;
</script></body></html>
"""


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
