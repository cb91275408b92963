"""What is made when a page is written is up to date: diagrams, the data of controls; and no page promises a control that is not there."""

import re

import pytest

from autograder.lesson import list_lessons, load_lesson
from autograder.lesson.model import LANGS
from autograder.lesson.qmd import read_edition
from autograder.paths import lessons_dir
from autograder.site import controls
from autograder.site.authoring import diagrams
from figures.controls import CONTROLS, SCHEDULED, stale
from kernels.emulator.toolchain import compiler

PROMISE = re.compile(r"slider|you can move|滑块|拖动")
NOTEBOOK = re.compile(r"notebook", re.I)


def test_every_diagram_of_every_page_is_drawn_from_its_present_source():
    assert diagrams.problems() == []


def test_a_changed_diagram_and_a_left_over_one_are_found(tmp_path):
    page = tmp_path / "home" / "en.qmd"
    (tmp_path / "home" / "assets" / "diagrams").mkdir(parents=True)
    (tmp_path / "home" / "assets" / "diagrams" / "0123456789ab.wide.svg").write_text("<svg/>")
    page.write_text("```{mermaid}\nflowchart LR\n  A --> B\n```\n")
    told = diagrams.problems(tmp_path)
    assert sum("is not drawn" in t for t in told) == 2 and sum("belongs to no diagram" in t for t in told) == 1


@pytest.mark.emulator
@pytest.mark.parametrize("name", CONTROLS)
def test_the_data_of_controls_are_what_the_measurements_and_the_emulator_give(name):
    if name in SCHEDULED and compiler().family != "gcc":
        pytest.skip("where a kernel yields depends on the compiler; the committed runs are g++'s")
    assert stale([name]) == []


def _cells(lesson, lang):
    return load_lesson(lesson).edition(lang).cells


@pytest.mark.parametrize("lang", LANGS)
def test_a_cell_to_work_with_has_a_control_on_the_page_or_the_text_says_in_the_notebook(lang):
    bare = []
    for lesson in list_lessons():
        cells = _cells(lesson, lang)
        for before, cell in zip(cells, cells[1:]):
            if cell.kind == "code" and "interact(" in cell.source and not cell.options.get("course_control"):
                last = [p for p in before.source.split("\n\n") if p.strip()][-1]
                bare += [] if NOTEBOOK.search(last) else [f"{lesson.name}:{cell.line}"]
    assert bare == []


@pytest.mark.parametrize("lang", LANGS)
def test_a_text_that_speaks_of_sliders_stands_by_a_control_or_says_in_the_notebook(lang):
    bare, promised = [], 0
    for page in sorted(lessons_dir().glob(f"*/{lang}.qmd")):
        cells = read_edition(page, lang).cells
        for at, cell in enumerate(cells):
            if cell.kind != "markdown" or page.parent.name == "write":
                continue
            following = cells[at + 1] if at + 1 < len(cells) else None
            moves = following is not None and following.options.get("course_control")
            for paragraph in (p for p in cell.source.split("\n\n") if PROMISE.search(p) and not p.startswith("#")):
                promised += 1
                bare += [] if moves or NOTEBOOK.search(paragraph) else [f"{page.parent.name}: {paragraph[:60]}"]
    assert bare == [] and promised >= 4


def test_both_languages_name_the_same_controls_and_every_control_is_named():
    named = {lang: [c.options.get("course_control") for p in list_lessons() for c in _cells(p, lang)] for lang in LANGS}
    assert named["zh"] == named["en"]
    used = {n.strip() for names in named["zh"] if names for n in names.split(",")}
    assert used | {"home-ring"} == controls.known()


def test_no_control_holds_what_a_blank_asks_for():
    """A control's script may not spell out a lesson's solution: it is on a page of the student edition."""
    squeeze = lambda text: re.sub(r"[\s()]", "", text)  # noqa: E731
    scripts = squeeze("".join(p.read_text(encoding="utf-8") for p in controls.SCRIPTS.glob("*.js")))
    for lesson in list_lessons()[1:]:  # lesson 1's is the roof that its text draws
        solution = next(c.source for c in _cells(lesson, "en") if c.role == "solution")
        blank = next(c.source for c in _cells(lesson, "en") if c.role == "exercise")
        given = {line.strip() for line in blank.split("\n")}
        for line in (x.strip() for x in solution.split("\n")):
            fill = line.removeprefix("return ").split("=", 1)[-1].split("#")[0]
            if line not in given and len(squeeze(fill)) > 12 and not line.startswith(("#", "def")):
                assert squeeze(fill) not in scripts, (lesson.name, line)
