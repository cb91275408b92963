"""Rendering a staged project with Quarto where it is installed, else with smalldocs (pure Python)."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from autograder.errors import CourseError

RENDERERS = ("auto", "quarto", "smalldocs")
QUARTO_LIMIT_S = 900


def choose(renderer: str) -> str:
    """The renderer to use. Raises CourseError for an unknown one or for Quarto where it is not installed."""
    if renderer not in RENDERERS:
        raise CourseError(f"There is no renderer {renderer!r}.", remedy=f"Use one of {', '.join(RENDERERS)}.")
    found = shutil.which("quarto")
    if renderer == "quarto" and not found:
        raise CourseError("Quarto is not installed.", remedy="Install it from its website, or use --renderer smalldocs, which needs nothing.")
    return "quarto" if found and renderer != "smalldocs" else "smalldocs"


def render(project: Path, renderer: str) -> Path:
    """Render a staged project; returns the folder with the pages. Raises CourseError with the renderer's own words."""
    if renderer == "quarto":
        run = subprocess.run(["quarto", "render", str(project)], capture_output=True, text=True, timeout=QUARTO_LIMIT_S, env={**os.environ, "QUARTO_PYTHON": ""})
        if run.returncode:
            raise CourseError(f"Quarto failed: {run.stderr.strip()[-2000:]}", where=str(project), remedy="Mend the page it names, or use --renderer smalldocs.")
        return project / "_site"
    from smalldocs.config import BuildError, ConfigError
    from smalldocs.site import build

    try:
        build(str(project), quiet=True)
    except (BuildError, ConfigError) as e:
        raise CourseError(f"smalldocs failed: {e}", where=str(project), remedy="Mend the page it names.") from e
    return project / "_site"
