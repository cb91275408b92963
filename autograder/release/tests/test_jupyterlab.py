"""The released bundle opened in a real JupyterLab by a real browser: it reads well, and a student can solve it there."""

import zipfile

import pytest

from autograder.release.bundle import release
from autograder.release.tests.fixture_lesson import SLUG, SOLUTION
from autograder.release.tests.lab import Lab, jupyterlab
from tests.support.browser import chromium

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def desk(lesson, tmp_path_factory):
    """The student's folder: the unzipped bundle."""
    folder = tmp_path_factory.mktemp("desk")
    (zipped,) = release([lesson], folder / "course")
    with zipfile.ZipFile(zipped) as z:
        z.extractall(folder)
    return folder / SLUG


@pytest.fixture(scope="module")
def lab(desk, tmp_path_factory):
    home = tmp_path_factory.mktemp("home")
    with jupyterlab(desk, home, {"COURSE_ROOT": str(home)}) as address, chromium() as browser:
        yield lambda lang: Lab(browser, address, f"{lang}/{SLUG}.ipynb")


def test_the_page_reads_well_and_asks_no_other_host(lab):
    view = lab("zh")
    text = view.page.locator(".jp-Notebook").inner_text()
    for raw in (":::", "{.callout", "fig-alt", "```", "%%|"):
        assert raw not in text
    view.page.wait_for_selector(".jp-RenderedMermaid img, .jp-RenderedMermaid svg")
    callout = view.page.locator(".jp-MarkdownCell div[style*=border-left]", has_text="读法")
    assert callout.count() == 1 and callout.locator("strong", has_text="读法").count() == 1
    style = callout.evaluate("c => [getComputedStyle(c).backgroundColor, getComputedStyle(c).borderLeftWidth]")
    assert style == ["rgba(2, 119, 189, 0.1)", "4px"]
    fold = view.page.locator(".jp-MarkdownCell details")
    assert fold.count() == 1 and not fold.get_by_text("下标绕回时").is_visible()
    fold.locator("summary").click()
    assert fold.get_by_text("下标绕回时").is_visible()
    assert (
        view.page.locator(".jp-MarkdownCell div[style*=border-left] mjx-container").count() == 2
    )  # the formula inside the callout
    image = view.page.locator(".jp-MarkdownCell img[alt='环']")
    assert image.evaluate("i => i.complete && i.naturalWidth > 0")
    assert {h.split(":")[0] for h in view.asked} == {"127.0.0.1"}
    view.page.close()


def test_a_slider_draws_again(lab):
    view = lab("en")
    view.run("from ipywidgets import interact")
    cell = view.page.locator(".jp-CodeCell", has_text="from ipywidgets import interact")
    cell.locator(".widget-slider .noUi-handle").wait_for()
    assert "indices [0, 1, 2, 0, 1, 2, 0]" in cell.locator(".jp-OutputArea").first.inner_text()
    cell.locator(".widget-slider .noUi-handle").focus()
    view.page.keyboard.press("ArrowRight")
    cell.get_by_text("indices [0, 1, 2, 3, 0, 1, 2]").wait_for()
    assert "<function" not in cell.inner_text()
    view.page.close()


def test_a_student_solves_it(lab, desk):
    view = lab("en")
    view.run('check("normal")')  # before anything else, as after a restart
    view.output('check("normal")', "There is no ring_index yet: run the exercise cell first")
    view.run_all()
    assert "NameError" not in view.output("def ring_index", "This cell still has a blank")  # the run stops here
    view.run("print(ring_index")
    view.output("print(ring_index", "This cell still has a blank")
    view.edit("my_line", "x = undefined_name")
    view.run("undefined_name")
    view.output("undefined_name", "NameError: name 'undefined_name' is not defined")
    view.edit("undefined_name", 'my_line = "______"')
    view.run('check("normal")')
    assert "Traceback" not in view.output('check("normal")', "The blank is still empty")

    exercise = "def ring_index(step, stages):\n    # TODO: complete only the expression below.\n    return {}\n\nassert ring_index(4, 3) == (1, 1)\nassert ring_index(2, 3) == (2, 0)"
    view.edit("def ring_index", exercise.format("(step % stages, 0)"))
    view.run("def ring_index")
    view.run('check("normal")')
    view.output('check("normal")', "ring_index(4, 3) == (1, 1): got (1, 0)")
    view.run("# Stuck?")
    view.output("# Stuck?", "look at the remainder")

    view.edit("def ring_index", exercise.format(SOLUTION))
    view.edit("my_prediction", "my_case = dict(step=5, stages=1)\nmy_prediction = (0, 1)")
    view.run_all()
    assert "got (1, 0)" not in view.output('check("normal")', "ring_index(2, 3) == (2, 0)")
    view.output('check("boundary")', "as you predicted")
    view.output("# Stuck?", "no hint is needed")

    view.edit("my_line", 'my_line = "______"\nhint(1)\ncheck()')
    view.save()
    view.run("my_line")
    told = view.output("my_line", "Answers are read from the file as saved at")
    assert "look at the remainder" in told and "Q1: still empty (2 points)" in told
    view.page.close()
