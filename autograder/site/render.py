"""Rendering a staged project with Quarto where it is installed, else with smalldocs (pure Python)."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path, PurePosixPath

from autograder.errors import CourseError

RENDERERS = ("auto", "quarto", "smalldocs")
QUARTO_LIMIT_S = 900


def choose(renderer: str) -> str:
    """The renderer to use. Raises CourseError for an unknown one or for Quarto where it is not installed."""
    if renderer not in RENDERERS:
        raise CourseError(f"There is no renderer {renderer!r}.", remedy=f"Use one of {', '.join(RENDERERS)}.")
    found = shutil.which("quarto")
    if renderer == "quarto" and not found:
        raise CourseError(
            "Quarto is not installed.",
            remedy="Install it from its website, or use --renderer smalldocs, which needs nothing.",
        )
    return "quarto" if found and renderer != "smalldocs" else "smalldocs"


def render(project: Path, renderer: str) -> Path:
    """Render a staged project; returns the folder with the pages. Raises CourseError with the renderer's own words."""
    (_quarto if renderer == "quarto" else _smalldocs)(project)
    site = project / "_site"
    sources = [p.relative_to(project) for p in sorted(project.rglob("*.qmd")) if site not in p.parents]
    missing = [str(p) for p in sources if not (site / p.with_suffix(".html")).is_file()]
    if missing or not sources:  # Quarto passes over what lies in a folder that it ignores, and says nothing
        raise CourseError(
            f"{renderer} made {len(sources) - len(missing)} of {len(sources)} pages; {', '.join(missing[:3]) or 'all of them'} not.",
            where=str(project),
            remedy="Quarto ignores folders that start with a dot or are called env, venv or the like: set TMPDIR to a folder whose path has none, or use --renderer smalldocs.",
        )
    return site


def _quarto(project: Path) -> None:
    try:
        run = subprocess.run(
            ["quarto", "render", str(project)],
            capture_output=True,
            text=True,
            encoding="utf-8",
            errors="replace",
            timeout=QUARTO_LIMIT_S,
            env={**os.environ, "QUARTO_PYTHON": ""},
        )
    except subprocess.TimeoutExpired:
        raise CourseError(
            f"Quarto did not end within {QUARTO_LIMIT_S} s.",
            where=str(project),
            remedy="Use --renderer smalldocs, which takes seconds.",
        ) from None
    except OSError as e:
        raise CourseError(
            f"Quarto does not start: {e.strerror}.",
            where=str(project),
            remedy="Mend its installation (`quarto check`), or use --renderer smalldocs.",
        ) from None
    if run.returncode:
        raise CourseError(
            f"Quarto failed: {(run.stderr.strip() or run.stdout.strip())[-2000:]}",
            where=str(project),
            remedy="Mend the page it names, or use --renderer smalldocs.",
        )


def _smalldocs(project: Path) -> None:
    from smalldocs.config import BuildError, ConfigError
    from smalldocs.site import build

    try:
        build(str(project), quiet=True)
    except (BuildError, ConfigError) as e:
        raise CourseError(f"smalldocs failed: {e}", where=str(project), remedy="Mend the page it names.") from e


def render_one(project: Path, source: Path) -> Path:
    """Render one page of a project that smalldocs has rendered before, and copy what it refers to; returns the page.

    The others are read for their titles only: that is what its navigation needs.
    """
    from smalldocs import layout
    from smalldocs.config import BuildError, ConfigError, load
    from smalldocs.site import Site

    try:
        site = Site(load(project), quiet=True)
        for found in site.discover():
            site.pages[found] = site.read(found)
        page = site.pages[PurePosixPath(source.relative_to(project).as_posix())]
        site.load_symbols()
        site.render_page(page)
        target = site.out / page.out
        target.write_text(layout.page(site, layout.SiteNav(site), page), encoding="utf-8")
        site.copy_resources()
    except (BuildError, ConfigError) as e:
        raise CourseError(f"smalldocs failed: {e}", where=str(source), remedy="Mend the page it names.") from e
    return target
