"""The course under Quarto: what is staged for it, what counts as rendered, and, where Quarto is installed, the pages that it makes."""

import re
import shutil
import stat
import subprocess
import sys
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from autograder.errors import CourseError
from autograder.lesson.model import LANGS
from autograder.lint.form import ROLE_COUNTS
from autograder.paths import lessons_dir
from autograder.site import build_site, stage
from autograder.site.closed import outside_requests
from autograder.site.links import dead_links

LESSON = "lesson07_mixed_precision_epilogue"

# What the real one does with a project: nothing, and no word of it, where its folder starts with a dot or is called env or venv.
STAND_IN = """#!{python}
import pathlib, sys
project = pathlib.Path(sys.argv[2])
if not any(p.startswith(".") or p in ("env", "venv") for p in project.parts):
    for source in project.rglob("*.qmd"):
        page = project / "_site" / source.relative_to(project).with_suffix(".html")
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text("<html><head></head><body></body></html>")
{more}
"""


@pytest.fixture
def quarto(tmp_path, monkeypatch):
    """Installs a stand-in for Quarto; `more` is Python that it runs at its end."""
    monkeypatch.setattr(stage, "lesson_outputs", lambda lesson, edition: {})

    def install(more=""):
        folder = tmp_path / "bin"
        folder.mkdir()
        program = folder / "quarto"
        program.write_text(STAND_IN.format(python=sys.executable, more=more))
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")

    return install


def test_quarto_gets_a_project_that_it_does_not_ignore(tmp_path, quarto):
    quarto()
    built = build_site(tmp_path / ".hidden" / "site")
    assert built.renderer == "quarto" and built.pages > 40


def test_pages_that_quarto_did_not_make_are_an_error(tmp_path, quarto, monkeypatch):
    quarto()
    hidden = tmp_path / "venv"
    hidden.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(hidden))
    with pytest.raises(CourseError, match=r"quarto made 0 of \d+ pages") as told:
        build_site(tmp_path / "site")
    assert "TMPDIR" in told.value.remedy and not (tmp_path / "site").exists()


def test_one_missing_page_is_named(tmp_path, quarto):
    quarto(f"(project / '_site' / {LESSON!r} / 'index.html').unlink()")
    with pytest.raises(CourseError, match=rf"pages; {LESSON}/index.qmd not"):
        build_site(tmp_path / "site")


def test_what_quarto_says_when_it_fails_is_passed_on(tmp_path, quarto):
    quarto("sys.exit('ERROR: YAMLException: bad indentation of a mapping entry')")
    with pytest.raises(CourseError, match="bad indentation"):
        build_site(tmp_path / "site", renderer="quarto")


def test_a_quarto_that_does_not_start_is_said(tmp_path, quarto):
    quarto()
    (tmp_path / "bin" / "quarto").write_text("#!/no/such/interpreter\n")
    with pytest.raises(CourseError, match="Quarto does not start"):
        build_site(tmp_path / "site", renderer="quarto")


def test_each_edition_has_a_folder_of_its_own():
    from autograder.site.build import EDITIONS

    answer = YAML(typ="safe").load((lessons_dir() / "_quarto-answer.yml").read_text(encoding="utf-8"))["project"][
        "output-dir"
    ]
    student = YAML(typ="safe").load((lessons_dir() / "_quarto.yml").read_text(encoding="utf-8"))["project"][
        "output-dir"
    ]
    assert {"student": student, "answer": answer} == EDITIONS and student != answer


def test_every_role_has_a_label_in_both_languages():
    words = YAML(typ="safe").load((lessons_dir() / "_quarto.yml").read_text(encoding="utf-8"))["course-words"]
    for lang in LANGS:
        assert set(words[lang]) == {"language", "slot", *ROLE_COUNTS}


# -- where Quarto is installed


class Page(HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.ids, self.tags, self.text = Counter(), Counter(), path.read_text(encoding="utf-8")
        self.feed(self.text)

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        if tag not in ("link", "style"):  # Quarto gives its light and dark stylesheets one id
            self.ids.update([attrs["id"]] if attrs.get("id") else [])
        self.tags.update((attrs.get("class") or "").split())


def hold(site, pages):
    """What every page must hold, and a lesson its labels and answer slots."""
    assert outside_requests(site) == [] and dead_links(site) == []
    for path in pages:
        page = Page(path)
        assert [i for i, n in page.ids.items() if n > 1] == [], path
        assert "{{<" not in page.text and ":::" not in re.sub(r"(?s)<(pre|code).*?</\1>", "", page.text), path
        if LESSON in path.parts and path.stem in ("index", *LANGS):
            assert page.tags["answer-slot"] == 4
            assert all(page.tags[f"role-{r}"] for r in ROLES), page.tags


ROLES = ("exercise", "boundary", "kernel", "challenge", "experiment")


@pytest.mark.quarto
@pytest.mark.slow
def test_plain_quarto_renders_both_editions_beside_each_other(tmp_path):
    lessons = Path(
        shutil.copytree(lessons_dir(), tmp_path / "lessons", ignore=shutil.ignore_patterns("_site*", ".quarto"))
    )
    sources = [p.relative_to(lessons) for p in lessons.rglob("*.qmd")]
    for edition, more in (("_site", []), ("_site-answer", ["--profile", "answer"])):
        run = subprocess.run(
            ["quarto", "render", str(lessons), *more], capture_output=True, text=True, encoding="utf-8"
        )
        assert run.returncode == 0 and "WARN" not in run.stderr, run.stderr[-2000:]
        pages = [lessons / edition / p.with_suffix(".html") for p in sources]
        hold(lessons / edition, [p for p in pages if p.stem in LANGS])
        for lang, other in (("zh", "en"), ("en", "zh")):
            text = (lessons / edition / LESSON / f"{lang}.html").read_text(encoding="utf-8")
            assert f'href="{other}.html"' in text or f'href="../{LESSON}/{other}.html"' in text
            assert ("role-solution" in text) == (edition == "_site-answer")


@pytest.mark.quarto
@pytest.mark.slow
def test_the_site_under_quarto(tmp_path, monkeypatch):
    monkeypatch.setattr(stage, "lesson_outputs", lambda lesson, edition: {})
    built = build_site(tmp_path / "site", renderer="quarto")
    pages = sorted(p for lang in LANGS for p in (built.out / lang).rglob("*.html") if "site_libs" not in p.parts)
    assert len(pages) + 1 == built.pages
    hold(built.out, pages)
    assert "role-solution" not in (built.out / "en" / LESSON / "index.html").read_text(encoding="utf-8")
