"""`course preview` brings a changed page by itself, and everything where more than a page has changed."""

import shutil
from pathlib import Path

import pytest

from autograder.errors import CourseError
from autograder.paths import lessons_dir
from autograder.site import build, preview, stage

LESSON = "lesson06_smem_pipeline"


@pytest.fixture
def site(tmp_path, monkeypatch):
    monkeypatch.setattr(stage, "lesson_outputs", lambda lesson, edition: {})
    lessons = Path(shutil.copytree(lessons_dir(), tmp_path / "lessons", ignore=shutil.ignore_patterns("_site")))
    made = preview.Preview(tmp_path / "site", renderer="smalldocs", lessons=lessons)
    made.build()
    return made


def _add(page: Path, text: str) -> Path:
    page.write_text(page.read_text(encoding="utf-8") + f"\n\n{text}\n", encoding="utf-8")
    return page


def test_a_changed_page_is_built_alone_and_is_what_a_whole_build_gives(site, tmp_path, monkeypatch):
    changed = _add(site.lessons / LESSON / "en.qmd", "One more sentence on the [phase](../glossary/en.qmd).")
    before = {p: p.stat().st_mtime_ns for p in site.out.rglob("*.html")}
    whole = build.build_site(tmp_path / "whole", renderer="smalldocs", lessons=site.lessons)
    monkeypatch.setattr(preview, "build_site", None)  # a whole build would fail
    assert site.build([changed]) == f"en/{LESSON} built"
    page = f"en/{LESSON}/index.html"
    assert (site.out / page).read_text(encoding="utf-8") == (whole.out / page).read_text(encoding="utf-8")
    assert [p for p in before if p.stat().st_mtime_ns != before[p]] == [site.out / page]


def test_the_home_page_and_a_second_change_too(site):
    changed = _add(site.lessons / "home" / "zh.qmd", "新的一句。")
    assert site.build([changed]) == "zh/home built"
    _add(changed, "又一句。")
    site.build([changed])
    text = (site.out / "zh" / "index.html").read_text(encoding="utf-8")
    assert "新的一句。" in text and "又一句。" in text and "home-ring" in text


@pytest.mark.parametrize("what", ["_quarto.yml", f"{LESSON}/claims.yml", "glossary/en.qmd"])
def test_what_is_more_than_a_page_builds_everything(site, what):
    assert site.build([site.lessons / what]).endswith("pages built")


def test_a_page_that_cannot_be_built_leaves_the_old_one(site):
    page = site.out / "en" / LESSON / "index.html"
    before = page.read_text(encoding="utf-8")
    changed = _add(site.lessons / LESSON / "en.qmd", "A figure that is not there: {{< var lesson06.no_such >}}.")
    with pytest.raises(CourseError, match="no figure lesson06.no_such"):
        site.build([changed])
    assert page.read_text(encoding="utf-8") == before
