"""The site while it is written: built once, then only what has changed.

A changed page is staged, rendered and closed by itself, in the time that one page takes. Anything else that changes (settings,
claims, figures, the glossary) builds the site anew. Search finds a changed page's old words until then.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from autograder.lesson.model import LANGS
from autograder.paths import lessons_dir
from autograder.site.build import build_site
from autograder.site.closed import Closing
from autograder.site.doing.put import put_lesson
from autograder.site.render import choose, render, render_one
from autograder.site.stage import Stage, pages


class Preview:
    """A site in `out`, whose build can be repeated for changed pages."""

    def __init__(self, out: Path, *, edition: str = "student", renderer: str = "auto", lessons: Path | None = None):
        self.out, self.edition, self.renderer = out, edition, choose(renderer)
        self.lessons = lessons or lessons_dir()
        self.work: tempfile.TemporaryDirectory | None = None
        self.stages: dict[str, Stage] = {}
        self.closings: dict[str, Closing] = {}

    def build(self, changed: list[Path] | None = None) -> str:
        """Bring the site up to date after these sources changed (None: all); returns what was done, in words.

        Raises CourseError where a page cannot be built; the pages built before stay.
        """
        touched = self._pages(changed) if changed and self.renderer == "smalldocs" else None
        if touched is None:
            built = build_site(self.out, edition=self.edition, renderer=self.renderer, lessons=self.lessons)
            self._forget()
            return f"{built.pages} pages built"
        for lang, page in touched:
            self._one(lang, page)
        return ", ".join(f"{lang}/{page.folder or 'home'}" for lang, page in touched) + " built"

    def _pages(self, changed: list[Path]) -> list[tuple[str, object]] | None:
        """The pages that these sources are, or None where one of them is more than a page."""
        known = {p.source.resolve(): (lang, p) for lang in LANGS for p in pages(self.lessons, lang)}
        found = [known.get(path.resolve()) for path in changed]
        special = any(f is None or f[1].folder == "glossary" for f in found)
        return None if special or not self.out.is_dir() else found

    def _one(self, lang: str, page) -> None:
        if lang not in self.stages:
            self._warm(lang)
        stage, closing = self.stages[lang], self.closings[lang]
        made = render_one(stage.out, stage.again(page))
        target = self.out / lang / page.folder
        for folder in ("assets", "outputs"):
            if (stage.out / page.folder / folder).is_dir():
                shutil.copytree(stage.out / page.folder / folder, target / folder, dirs_exist_ok=True)
        shutil.copy(made, target / "index.html")
        closing.page(target / "index.html")
        if page.lesson:
            put_lesson(self.out / lang, lang, stage.loaded[page.folder], stage.bundles)

    def _warm(self, lang: str) -> None:
        """Stage a language in a folder that stays, so that a page of it can be rendered alone."""
        self.work = self.work or tempfile.TemporaryDirectory(prefix="course-preview-")
        stage = Stage(self.lessons, lang, self.edition, Path(self.work.name) / lang, self.renderer)
        stage.all()
        render(stage.out, self.renderer)
        self.stages[lang] = stage
        self.closings[lang] = Closing(self.out / lang, lang, self.lessons)

    def _forget(self) -> None:
        self.stages, self.closings = {}, {}
        if self.work:
            self.work.cleanup()
            self.work = None

    def warm(self) -> None:
        """Make the first change as quick as the next ones."""
        if self.renderer == "smalldocs":
            for lang in LANGS:
                if lang not in self.stages:
                    self._warm(lang)
