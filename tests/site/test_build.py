"""Building the site: what goes into which edition, and what is refused, with the old site left in place."""

import re
import shutil
from pathlib import Path

import pytest

from autograder.errors import CourseError
from autograder.lesson import load_lesson
from autograder.lesson.model import Cell
from autograder.paths import lessons_dir
from autograder.release.divs import Div, Text, parse
from autograder.site import build, build_site, stage
from autograder.site.closed import outside_requests

LESSON = "lesson07_mixed_precision_epilogue"


@pytest.fixture
def lessons(tmp_path):
    """A copy of the course's lessons that a test may damage."""
    return Path(shutil.copytree(lessons_dir(), tmp_path / "lessons", ignore=shutil.ignore_patterns("_site")))


@pytest.fixture
def no_run(monkeypatch):
    """Pages without outputs: what is tested here does not depend on them."""
    monkeypatch.setattr(stage, "lesson_outputs", lambda lesson, edition: {})


def _words(path: Path) -> str:
    """A page's text without tags, spaces and entities, so that highlighting cannot hide a match."""
    text = re.sub(r"<[^>]+>", "", path.read_text(encoding="utf-8"))
    return re.sub(r"\s+", "", text)


def _answer_lines(edition) -> tuple[list[str], list[str]]:
    """(code lines, beginnings of sentences) of the answer edition's own parts, squeezed as `_words` squeezes a page."""
    code, prose = [], []
    for div in parse(edition.cells).walk():
        if isinstance(div, Div) and div.answer_edition:
            for node in div.children:
                if isinstance(node, Cell):
                    code += [x for x in node.source.split("\n") if x.strip().startswith("return")]
                elif isinstance(node, Text):
                    prose += [re.split(r"[`$*\[&<>\"']", x.strip("* "))[0] for x in node.lines if len(x) > 30]
    squeeze = lambda lines: [s for s in (re.sub(r"\s+", "", x) for x in lines) if len(s) > 12]  # noqa: E731
    return squeeze(code), squeeze(prose)


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_only_the_answer_edition_holds_the_answers(tmp_path, lessons, no_run, lang):
    code, prose = _answer_lines(load_lesson(LESSON, lessons).edition(lang))
    assert code and len(prose) >= 4
    student = build_site(tmp_path / "student", lessons=lessons, renderer="smalldocs")
    answer = build_site(tmp_path / "answer", edition="answer", lessons=lessons, renderer="smalldocs")
    page = f"{lang}/{LESSON}/index.html"
    shown, hidden = _words(answer.out / page), _words(student.out / page)
    index = (student.out / lang / "site_data" / "search.js").read_text(encoding="utf-8")
    for squeezed in code + prose:
        assert squeezed in shown
        assert squeezed not in hidden and squeezed not in re.sub(r"\s+", "", index)


def test_a_rebuild_replaces_the_site_and_a_failed_one_leaves_it(tmp_path, lessons, no_run):
    out = tmp_path / "site"
    build_site(out, lessons=lessons, renderer="smalldocs")
    page = lessons / LESSON / "en.qmd"
    page.write_text(page.read_text(encoding="utf-8") + "\n\n[gone](../nowhere/en.qmd)\n", encoding="utf-8")
    before = sorted(p.relative_to(out) for p in out.rglob("*"))
    with pytest.raises(CourseError, match="broken link"):
        build_site(out, lessons=lessons, renderer="smalldocs")
    assert sorted(p.relative_to(out) for p in out.rglob("*")) == before
    assert [p.name for p in tmp_path.iterdir() if p.name.startswith(".site-")] == []


def test_a_folder_that_is_not_a_site_is_left_alone(tmp_path, lessons, no_run):
    out = tmp_path / "mine"
    out.mkdir()
    (out / "thesis.txt").write_text("years of work")
    with pytest.raises(CourseError, match="not a built site"):
        build_site(out, lessons=lessons)
    assert (out / "thesis.txt").read_text() == "years of work"


def test_a_page_that_would_ask_another_host_is_refused(tmp_path, lessons, no_run):
    page = lessons / "home" / "en.qmd"
    page.write_text(
        page.read_text(encoding="utf-8") + "\n\n![tracker](https://example.org/pixel.png)\n", encoding="utf-8"
    )
    with pytest.raises(CourseError, match="other hosts"):
        build_site(tmp_path / "site", lessons=lessons, renderer="smalldocs")


@pytest.mark.parametrize(
    "bad,found",
    [
        ('<script src="https://a.example/x.js"></script>', True),
        ("<img alt='x' src=//a.example/x.png>", True),
        ('<link rel="stylesheet" href="http://a.example/x.css">', True),
        ("<style>@import url('https://a.example/x.css');</style>", True),
        ("<style>b{background:url(https://a.example/x.png)}</style>", True),
        ("<script type=module>import m from 'https://a.example/m.mjs';</script>", True),
        ('<a href="https://a.example/">a link is only followed when clicked</a>', False),
        ('<link rel="alternate" href="https://a.example/feed">', False),
        ('<img src="assets/x.png">', False),
    ],
)
def test_what_counts_as_asking_another_host(tmp_path, bad, found):
    (tmp_path / "page.html").write_text(bad)
    assert bool(outside_requests(tmp_path)) is found


def test_a_failing_cell_is_named_with_its_line(tmp_path, lessons):
    from autograder.site.outputs import lesson_outputs

    page = lessons / LESSON / "en.qmd"
    text = page.read_text(encoding="utf-8")
    broken = text.replace(
        "#| course_role: experiment\n", "#| course_role: experiment\nraise OSError('no such thing')\n", 1
    )
    page.write_text(broken, encoding="utf-8")
    lesson = load_lesson(LESSON, lessons)
    with pytest.raises(CourseError, match="no such thing") as caught:
        lesson_outputs(lesson, lesson.edition("en"), cache=tmp_path / "cache")
    line = int(caught.value.where.rsplit(":", 1)[1])
    assert "no such thing" in "\n".join(broken.splitlines()[line - 1 : line + 3])
    assert not (tmp_path / "cache").exists()


def test_outputs_are_run_once_and_kept_by_content(tmp_path, lessons, monkeypatch):
    from autograder.site import outputs

    page = lessons / LESSON / "en.qmd"
    page.write_text(
        "---\ntitle: T\n---\n\n```{python}\n#| course_role: experiment\nprint(6 * 7)\n```\n", encoding="utf-8"
    )
    from autograder.lesson.qmd import read_edition

    edition = read_edition(page, "en")
    lesson = load_lesson(LESSON)
    first = outputs.lesson_outputs(lesson, edition, cache=tmp_path / "cache")
    assert first[0][0].text == "42\n"
    monkeypatch.setattr(outputs, "run_cells", None)  # a second run would fail
    assert outputs.lesson_outputs(lesson, edition, cache=tmp_path / "cache")[0][0].text == "42\n"


def test_a_page_shows_what_a_widget_drew_first_and_never_the_widget(tmp_path):
    from autograder.release.tests.fixture_lesson import write_lesson
    from autograder.site import outputs

    lesson = load_lesson(write_lesson(tmp_path))
    edition = lesson.edition("en")
    page = stage._body(
        edition,
        outputs.lesson_outputs(lesson, edition, cache=tmp_path / "cache"),
        "student",
        tmp_path,
        {"slot": "here"},
    )
    assert "indices [0, 1, 2, 0, 1, 2, 0]" in page
    assert "children=" not in page and "<function" not in page and "interact(show" in page


def test_an_error_inside_a_widget_is_named_with_its_line(tmp_path):
    from autograder.release.tests.fixture_lesson import write_lesson
    from autograder.site import outputs

    folder = write_lesson(tmp_path)
    page = folder / "en.qmd"
    page.write_text(
        page.read_text(encoding="utf-8").replace(
            "def show(stages=3):", "def show(stages=3):\n    raise OSError('no such thing')"
        ),
        encoding="utf-8",
    )
    lesson = load_lesson(folder)
    with pytest.raises(CourseError, match=r"en\.qmd:\d+: A code cell of the page fails: OSError: no such thing"):
        outputs.lesson_outputs(lesson, lesson.edition("en"), cache=tmp_path / "cache")


@pytest.mark.parametrize(
    "kwargs,message", [({"edition": "teacher"}, "no edition"), ({"renderer": "hugo"}, "no renderer")]
)
def test_unknown_choices_say_what_there_is(tmp_path, kwargs, message):
    with pytest.raises(CourseError, match=message):
        build_site(tmp_path / "site", **kwargs)


def test_quarto_asked_for_but_not_installed_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr("autograder.site.render.shutil.which", lambda name: None)
    with pytest.raises(CourseError, match="Quarto is not installed"):
        build.build_site(tmp_path / "site", renderer="quarto")
