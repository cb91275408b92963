"""Building the website: stage, render, close, and put in place only when all of it is right."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from autograder.errors import CourseError
from autograder.lesson.model import LANGS
from autograder.paths import lessons_dir
from autograder.site.closed import Closing
from autograder.site.doing.put import put_doing
from autograder.site.downloads import put_downloads
from autograder.site.links import dead_links
from autograder.site.render import choose, render
from autograder.site.stage import Stage
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
        for lang in LANGS:
            stage = Stage(lessons, lang, edition, Path(sources).resolve() / lang, renderer, progress, bundles)
            stage.all()
            progress(f"{lang} rendering with {renderer}")
            shutil.move(str(render_language(stage, renderer)), str(new / lang))
        if bundles:
            put_downloads(stage.loaded.values(), new, progress)
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


def render_language(stage: Stage, renderer: str) -> Path:
    """The pages of a staged project, rendered, with what travels beside them, and closed; returns their folder."""
    site = render(stage.out, renderer)
    shutil.copytree(stage.out / "site_assets", site / "site_assets", dirs_exist_ok=True)
    lessons = list(stage.loaded.values())
    Closing(site, stage.lang, stage.lessons).all(lambda: put_doing(site, stage.lang, lessons, stage.bundles))
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
