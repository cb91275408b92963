"""A lesson done in its page, in a real browser: from the first check to the graded notebook; without a connection; from a file."""

from __future__ import annotations

import gzip
import json
import re
import subprocess
import sys

import nbformat
import pytest

from autograder.commands.check import check_notebook
from autograder.lesson.model import ANSWER_SLOTS
from autograder.lint.hidden import solution_fill
from autograder.release.data import student_lesson
from autograder.release.notebook import student_notebook
from autograder.site.doing.words import page_words
from autograder.student.reading import word_count
from tests.lessons.lessons import SLUGS, lesson
from tests.lessons.test_graded import labelled_in_full
from tests.support.browser import chromium, served

pytestmark = pytest.mark.browser
SLUG = "lesson07_mixed_precision_epilogue"
CASE = 'my_case = dict(acc=3.0, alpha=2.0, beta=-0.0, c=float("inf"))\nmy_prediction = 6.0\n'
LANGUAGES = pytest.mark.parametrize("lang", ["zh", "en"])


@pytest.fixture(scope="module")
def browser():
    with chromium() as one:
        yield one


@pytest.fixture(scope="module")
def address(built_site):
    with served(built_site) as at:
        yield at


def right_fill(slug: str) -> str:
    edition = lesson(slug).edition("en")
    cells = (edition.with_role(role)[0].source for role in ("exercise", "solution"))
    return solution_fill(*cells, lesson(slug).checks.function)


class Desk:
    """A lesson's page in a browser of its own. asked: addresses that it asked for; wrong: errors of the page."""

    def __init__(
        self,
        browser,
        address: str,
        slug: str = SLUG,
        lang: str = "en",
        context=None,
        script: str = "",
        width: int = 1300,
    ):
        self.context = context or browser.new_context(viewport={"width": width, "height": 900})
        self.page = self.context.new_page()
        self.asked, self.wrong = [], []
        self.page.on("request", lambda r: self.asked.append(r.url))
        self.page.on("pageerror", lambda e: self.wrong.append(str(e)))
        self.page.on("console", lambda m: self.wrong.append(m.text) if m.type == "error" else None)
        if script:
            self.page.add_init_script(script)
        self.slug, self.lang, self.words = slug, lang, page_words(lang)
        self.page.goto(f"{address}{lang}/{slug}/index.html")

    def area(self, key: str):
        return self.page.get_by_label(self.words[key], exact=True)

    @property
    def exercise(self):
        return self.area("label_exercise")

    def answer(self, slot: str):
        return self.page.get_by_label(self.words["label_answer"].format(slot=self.words[f"slot_{slot}"]), exact=True)

    def press(self, key: str):
        self.page.get_by_role("button", name=self.words[key], exact=True).first.click()

    def fill(self, expression: str):
        self.exercise.fill(
            student_lesson(lesson(self.slug)).part("exercise", self.lang).source.replace("______", expression)
        )

    def case(self, text: str):
        released = student_lesson(lesson(self.slug)).part("boundary_case", self.lang).source
        before, after = released[: released.index("my_case")], released[released.index("assert") :]
        self.area("label_case").fill(f"{before}{text}\n{after}")

    def told(self, n: int, text: str) -> str:
        """What stands under the exercise (0), the case (1) or the hand-in (2), once it holds the text."""
        said = self.page.locator(".do-said").nth(n)
        said.get_by_text(text).first.wait_for()
        return said.inner_text()

    def export(self, path):
        with self.page.expect_download() as got:
            self.press("download")
        assert got.value.suggested_filename == f"{self.slug}.ipynb"
        path.parent.mkdir(parents=True, exist_ok=True)
        got.value.save_as(path)
        return path

    def import_(self, path):
        self.page.locator("#do-file").set_input_files(path)


def solve(desk: Desk, answers: dict[str, str] | None = None) -> dict[str, str]:
    """Everything, as a student does it; answers: by default the reference's. Returns the answers."""
    desk.fill(right_fill(desk.slug))
    desk.press("check")
    desk.told(0, desk.words["all_right"])
    desk.case(CASE)
    desk.press("check_case")
    desk.told(1, "6.0")
    slots = lesson(desk.slug).rubric.slots
    answers = answers or {s: slots[s].reference.get(desk.lang) for s in ANSWER_SLOTS}
    for slot, text in answers.items():
        desk.answer(slot).fill(text)
    return answers


@LANGUAGES
def test_a_lesson_is_done_in_the_page_and_graded_whole(browser, address, tmp_path, lang, capsys):
    desk = Desk(browser, address, lang=lang)
    assert not [a for a in desk.asked if "micropython" in a]  # loaded only when asked for
    desk.press("check")
    desk.told(0, desk.words["blank_empty"].split("{")[0])
    assert sum("micropython.wasm" in a for a in desk.asked) == 1
    desk.fill("alpha * acc + beta * c")
    desk.press("check")
    assert "TypeError" in desk.told(0, "TypeError")
    answers = solve(desk, {s: labelled_in_full(SLUG, lang, s)[0] for s in ANSWER_SLOTS})  # in students' words
    made = desk.export(tmp_path / "class" / "ada" / SLUG / f"{SLUG}.ipynb")
    assert desk.wrong == [] and all(a.startswith((address, "blob:", "data:")) for a in desk.asked)
    desk.context.close()

    nb = nbformat.read(made, as_version=4)
    nbformat.validate(nb)
    released = student_notebook(lesson(SLUG), lang)
    assert [(c.id, c.cell_type, c.metadata) for c in nb.cells] == [
        (c.id, c.cell_type, c.metadata) for c in released.cells
    ]
    assert nb.metadata == released.metadata
    changed = {c.id for c, r in zip(nb.cells, released.cells, strict=True) if c.source != r.source}
    assert changed == {"exercise", "boundary-case", *(f"answer-{s}" for s in ANSWER_SLOTS)}
    assert {c.id: c.source for c in nb.cells}["answer-q2"] == answers["q2"]

    assert check_notebook(made).open == 0  # `course check`: ready to hand in
    command = [
        sys.executable,
        "-m",
        "autograder.cli",
        "grade",
        "--lesson",
        "7",
        "--submissions",
        str(tmp_path / "class"),
    ]
    done = subprocess.run(
        [*command, "--json", str(tmp_path / "verdicts.json")], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    (record,) = json.loads((tmp_path / "verdicts.json").read_text())
    points = record["points"]
    with capsys.disabled():
        print(f"\n  {lang}: {record['state']} {record['total']} {points}", end="")
    assert (points["normal"], points["boundary"], points["explanation"]) == (2, 1, 1)
    assert (record["state"], record["total"], record["veto"], record["reasons"]) == ("PASS", 10, [], [])


def test_what_was_written_is_there_again_and_is_read_back_elsewhere(browser, address, tmp_path):
    desk = Desk(browser, address)
    answers = solve(desk)
    made = desk.export(tmp_path / "mine.ipynb")
    desk.page.reload()
    assert desk.exercise.input_value().count(right_fill(SLUG)) == 1
    assert desk.answer("q3").input_value() == answers["q3"]
    desk.told(0, desk.words["all_right"])
    state = desk.page.evaluate("s => courseProgress.read(s)", SLUG)
    assert (state["exercise"], state["boundary"], state["answers"]) == ("ready", "ready", [True] * 4)
    other = Desk(browser, address, lang="zh", context=desk.context)  # the same lines, in the other language's cell
    assert right_fill(SLUG) in other.exercise.input_value() and "beta=-0.0" in other.area("label_case").input_value()
    desk.context.close()

    fresh = Desk(browser, address)
    assert right_fill(SLUG) not in fresh.exercise.input_value()
    fresh.answer("q1").fill("mine")
    fresh.import_(made)
    fresh.told(2, "was read in")
    assert right_fill(SLUG) in fresh.exercise.input_value() and fresh.answer("q1").input_value() == answers["q1"]
    fresh.page.locator(".do-said").nth(2).get_by_role("button").click()  # undone
    assert right_fill(SLUG) not in fresh.exercise.input_value() and fresh.answer("q1").input_value() == "mine"
    fresh.context.close()


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("notes.txt", "no notebook", "is not a notebook"),
        ("list.ipynb", "[1, 2]", "is not a notebook"),
        ("empty.ipynb", '{"cells": []}', "none of this lesson's cells"),
        ("odd.ipynb", '{"cells": [null, 3, {"id": "exercise"}], "metadata": {"course": {"lesson": "lesson01_roofline"}}}', "another lesson (lesson01_roofline)"),
    ],
)  # fmt: skip
def test_a_file_that_is_not_the_lessons_notebook_changes_nothing(browser, address, tmp_path, name, content, says):
    desk = Desk(browser, address)
    desk.fill("alpha * acc")
    (tmp_path / name).write_text(content)
    desk.import_(tmp_path / name)
    desk.told(2, says)
    assert "alpha * acc" in desk.exercise.input_value() and desk.wrong == []
    desk.context.close()


def test_the_other_languages_notebook_goes_to_its_page(browser, address, tmp_path):
    nb = student_notebook(lesson(SLUG), "zh")
    next(c for c in nb.cells if c.id == "answer-q1").source = "因为……"
    nb.metadata.pop("course")  # as some editors lose it
    nbformat.write(nb, tmp_path / "zh.ipynb")
    desk = Desk(browser, address)
    desk.import_(tmp_path / "zh.ipynb")
    desk.told(2, "Chinese notebook")
    desk.page.get_by_role("link", name="open the Chinese page").click()
    desk.page.wait_for_url("**/zh/**")
    assert desk.page.get_by_label("作答：Q1", exact=True).input_value() == "因为……"
    desk.context.close()


def test_an_endless_loop_is_stopped_and_the_next_check_runs(browser, address):
    desk = Desk(browser, address)
    desk.page.evaluate("coursePython.limits.run = 1")
    released = student_lesson(lesson(SLUG)).part("exercise", "en").source
    desk.exercise.fill(released.replace("return ______", "while True: pass"))
    desk.press("check")
    desk.told(0, "was stopped: look for an endless loop")
    desk.page.evaluate("coursePython.limits.run = 60")
    desk.fill(right_fill(SLUG))
    desk.press("check")
    desk.told(0, desk.words["all_right"])
    desk.context.close()


def test_a_change_outside_the_blank_is_told_and_taken_back(browser, address):
    desk = Desk(browser, address)
    warning = desk.page.get_by_text(desk.words["outside"])
    assert not warning.is_visible()
    desk.exercise.fill(desk.exercise.input_value().replace("== 8.0", "== 6.0"))
    assert warning.is_visible()
    desk.press("restore")
    assert not warning.is_visible()
    desk.press("undo")
    assert warning.is_visible() and "0.5, 4.0) == 6.0" in desk.exercise.input_value()
    desk.context.close()


def test_hints_open_one_by_one_and_the_answer_only_when_asked_twice(browser, address):
    desk = Desk(browser, address)
    hints = student_lesson(lesson(SLUG)).hints["en"]
    shown = lambda: desk.page.locator(".do-hint").count()  # noqa: E731
    box = desk.page.locator(".do-hintbox")
    bare = lambda text: re.sub(r"\s+", "", text.replace("`", ""))  # noqa: E731
    for n in (1, 2, 3):
        box.get_by_role("button").click()
        box.locator(".do-hint").nth(n - 1).wait_for()
        assert shown() == n and bare(hints[n - 1]) in bare(box.inner_text())
    box.get_by_role("button").click()
    assert shown() == 3 and box.get_by_text(desk.words["hint_ask"]).is_visible()
    desk.press("hint_no")
    assert shown() == 3
    box.get_by_role("button").click()
    desk.press("hint_yes")
    box.locator(".do-hint").nth(3).wait_for()
    assert bare(hints[3]) in bare(box.inner_text())
    desk.page.reload()
    box.locator(".do-hint").nth(3).wait_for()
    desk.context.close()


def test_the_keyboard_alone_is_enough(browser, address):
    desk = Desk(browser, address)
    keys = desk.page.keyboard
    desk.exercise.fill("def linear_epilogue(acc, alpha, beta, c=None):")
    desk.exercise.press("End")
    keys.press("Enter")
    keys.type("if beta == 0:")
    keys.press("Enter")
    keys.type("return alpha * acc")
    keys.press("Enter")
    keys.press("Shift+Tab")
    keys.type("return alpha * acc + beta * c")
    lines = desk.exercise.input_value().split("\n")
    assert lines[1:] == ["    if beta == 0:", "        return alpha * acc", "    return alpha * acc + beta * c"]
    keys.press("Tab")
    assert desk.exercise.input_value().endswith("c   ")  # to the next step of four
    keys.press("Control+z")
    assert desk.exercise.input_value().endswith("c")
    keys.press("Control+Enter")
    desk.told(0, desk.words["all_right"])
    keys.press("Escape")
    keys.press("Tab")  # leaves
    assert desk.page.evaluate("document.activeElement.tagName") == "BUTTON"
    desk.context.close()


def test_it_works_without_a_connection_after_the_first_visit(browser, built_site):
    with served(built_site) as at:
        desk = Desk(browser, at)
        desk.fill("alpha * acc")
        desk.press("check")
        desk.told(0, "got 6.0")
        desk.page.wait_for_selector("html[data-kept]", state="attached")
    desk.page.reload()  # the server is gone
    assert "alpha * acc" in desk.exercise.input_value()
    desk.fill(right_fill(SLUG))
    desk.press("check")
    desk.told(0, desk.words["all_right"])
    with desk.page.expect_download():
        desk.press("download")
    desk.context.close()


@LANGUAGES
def test_a_page_opened_as_a_file_runs_too(browser, built_site, lang):
    desk = Desk(browser, built_site.as_uri() + "/", lang=lang)
    desk.fill(right_fill(SLUG))
    desk.press("check")
    desk.told(0, desk.words["all_right"])
    with desk.page.expect_download():
        desk.press("download")
    assert desk.wrong == []
    desk.context.close()


def test_where_python_cannot_run_the_page_says_so_and_offers_the_bundle(browser, address, built_site):
    desk = Desk(browser, address, script="delete window.WebAssembly")
    desk.press("check")
    desk.told(0, "no WebAssembly")
    for link, name in (
        ("download the bundle", f"downloads/{SLUG}.zip"),
        (f"{SLUG}.ipynb", f"en/{SLUG}/{SLUG}.ipynb"),
    ):
        href = desk.page.locator(".do-said").first.get_by_role("link", name=link).evaluate("a => a.href")
        assert href == f"{address}{name}" and (built_site / name).is_file()
    desk.answer("q1").fill("written all the same")
    assert json.loads(desk.export(built_site.parent / "x.ipynb").read_text())["nbformat"] == 4
    desk.context.close()


def test_where_nothing_can_be_kept_the_page_says_so(browser, address):
    blocked = (
        "Object.defineProperty(window, 'localStorage', {get() { throw new DOMException('blocked', 'SecurityError'); }})"
    )
    desk = Desk(browser, address, script=blocked)
    desk.fill("alpha")
    assert desk.page.get_by_text(desk.words["not_kept"]).is_visible()
    assert desk.wrong == []
    desk.context.close()


@pytest.mark.parametrize("slug", SLUGS)
@LANGUAGES
def test_every_lesson_can_be_done_on_a_phone(browser, address, slug, lang):
    desk = Desk(browser, address, slug, lang, width=390)
    desk.fill(right_fill(slug))
    desk.press("check")
    desk.told(0, desk.words["all_right"])
    assert all(desk.answer(slot).is_visible() for slot in ANSWER_SLOTS) and desk.area("label_case").is_visible()
    assert desk.page.evaluate("document.documentElement.scrollWidth") == 390
    for slot in ANSWER_SLOTS:  # each below its question
        asked = desk.page.locator(f".answer-slot[id='{slot}']").evaluate("s => s.previousElementSibling.innerText")
        assert len(asked) > 30, slot
    assert desk.wrong == []
    desk.context.close()


def test_words_are_counted_as_course_check_counts_them(browser, address):
    desk = Desk(browser, address)
    for text in (
        "",
        "A wgmma's 64x256 tile; don't split-K.",
        "累加器 r12 在第 3 拍——写回",
        "ＡＢＣ full-width，半角",
        "—— ¿qué? 3.14",
    ):
        desk.answer("q1").fill(text)
        said = desk.page.locator(".answer-slot[id='q1'] .do-keys").inner_text()
        assert (f": {word_count(text)}" in said) if word_count(text) else ("still empty" in said)
    desk.context.close()


def test_sizes_and_times_are_printed(browser, address, built_site, capsys):
    """The in-page exercise before Python weighs little; Python is what the package weighs. Times are shown, not held to anything."""
    do = built_site / "en" / "site_assets" / "do"
    first = [*(do / f"{n}.js" for n in ("words", "progress", "python", "editor", "notebook", "page")), do / "do.css"]
    first += [built_site / "en" / SLUG / "do.js"]
    runtime = [*sorted((built_site / "en" / "site_vendor" / "micropython").glob("micropython.*")), do / "program.js"]
    weigh = lambda files: sum(f.stat().st_size for f in files) // 1000  # noqa: E731
    packed = lambda files: sum(len(gzip.compress(f.read_bytes(), 9)) for f in files) // 1000  # noqa: E731
    desk = Desk(browser, address)
    times = desk.page.evaluate(
        """async (cell) => {
          const run = () => coursePython.run({cell, case: null, plan: courseDo.plan, words: courseWords});
          const out = [];
          for (let i = 0; i < 6; i++) { const began = performance.now(); await run(); out.push(performance.now() - began); }
          return out;
        }""",
        student_lesson(lesson(SLUG)).part("exercise", "en").source.replace("______", right_fill(SLUG)),
    )
    desk.context.close()
    with capsys.disabled():
        print(
            f"\n  with the page {weigh(first)} KB ({packed(first)} gzipped), when asked for {weigh(runtime)} KB ({packed(runtime)})",
            end="",
        )
        print(f"; the first check {times[0]:.0f} ms with loading, each later one {sorted(times[1:])[2]:.0f} ms", end="")
    assert weigh(first) < 60 and weigh(runtime) < 700
