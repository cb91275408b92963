"""The page in a real browser, 200 students: keys only, what they give stands in gradebook and file, and nothing of a student's runs."""

import json
import os
import threading

import pytest
from nbgrader.api import Gradebook

from autograder.gradebook.course import CourseFolder
from autograder.gradebook.final import final_results
from autograder.review.decisions import Decisions
from autograder.review.server import ReviewServer
from autograder.review.session import Session
from autograder.review.tests.labelled import Answer, a_class, make_class, read_answers, simulated
from tests.support.browser import chromium

pytestmark = [pytest.mark.browser, pytest.mark.slow]
SHOTS = os.environ.get("REVIEW_SHOTS")  # a folder for pictures to look at
EVIL = "<script>window.pwned = 1</script><img src=x onerror='window.pwned = 2'> 𝒄 is not read because beta is 0"
SLOTS = ("q1", "q2")


@pytest.fixture(scope="module")
def review(lesson, empty_gradebook, tmp_path_factory):
    """A class of 200 with two answers each that wait; yields its session, the page's address and a browser."""
    import shutil

    root = tmp_path_factory.mktemp("review")
    course = CourseFolder(root / "course")
    course.prepare()
    shutil.copy(empty_gradebook, course.root / "gradebook.db")
    (root / "inbox").mkdir()
    answers = read_answers(lesson)
    evil = Answer(
        "evil",
        "q1",
        "en",
        "train",
        "x",
        EVIL,
        ((EVIL, frozenset(), frozenset(), False),),
        frozenset(),
        frozenset(),
        False,
        0,
    )
    chosen = a_class(answers, 200, slots=SLOTS, alike=7)
    chosen["s000"]["q1"] = evil
    assess = simulated(lesson, [*answers, evil])
    make_class(lesson, course, root / "inbox", chosen, assess)
    session = Session(lesson, course, "ina", assess=assess)
    with ReviewServer(session, lang="en") as server, chromium() as browser:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield session, server.url, browser
        server.shutdown()
    session.close()


class Visit:
    """The page opened; remembers requests to other hosts and errors. `press` waits until what the key asked for is done."""

    def __init__(self, review, width=1440, height=900, scheme="light"):
        self.session, self.url, browser = review
        self.context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
        self.page = self.context.new_page()
        self.outside, self.errors = [], []
        self.page.on(
            "request",
            lambda r: self.outside.append(r.url) if not r.url.startswith((self.url.split("?")[0], "data:")) else None,
        )
        self.page.on("console", lambda m: self.errors.append(m.text) if m.type == "error" else None)
        self.page.on("pageerror", lambda e: self.errors.append(str(e)))
        self.page.goto(self.url)
        self.page.wait_for_selector(".card")

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.context.close()

    def press(self, *keys):
        for key in keys:
            self.page.keyboard.press(key)
            self.page.evaluate("queue")

    @property
    def said(self):
        return self.page.inner_text("#said")

    def group(self):
        """The group on the screen, as the session knows it."""
        number = int(self.page.evaluate("at.group"))
        return self.session.groups[number]

    def to(self, fits):
        """The first group from the start that fits and is open."""
        n = next(n for n, g in enumerate(self.session.groups) if fits(g) and all(i.decision is None for i in g.items))
        self.page.evaluate(f"act(() => toGroup({n}))")
        self.page.evaluate("queue")
        return self.session.groups[n]


def scores(session, item):
    with Gradebook(session.course.db_url) as gb:
        return [
            gb.find_grade(item.slot, session.lesson.slug, session.lesson.slug, s).manual_score for s in item.students
        ]


def decided(session):
    return sum(i.decision is not None for i in session.items.values())


def test_a_number_gives_points_at_once_and_goes_on(review):
    with Visit(review) as v:
        item = v.group().items[int(v.page.evaluate("at.item"))]
        v.press("1")
        assert scores(v.session, item) == [1.0] * len(item.students) and item.decision.by == "ina"
        assert (
            v.page.inner_text("#done").startswith("1 of ")
            and v.page.get_attribute(f"#card-{v.group().items.index(item)}", "class") == "card decided"
        )
        assert (
            v.page.evaluate("document.activeElement.getAttribute('aria-current')") == "true"
            and v.page.evaluate("current()") != item.id
        )
        v.press("u")
        assert (
            scores(v.session, item) == [None] * len(item.students)
            and item.decision is None
            and v.page.evaluate("current()") == item.id
        )
        assert (v.outside, v.errors) == ([], [])


def test_a_group_gets_its_points_only_when_every_answer_was_looked_at(review):
    with Visit(review, height=700) as v:
        g = v.to(lambda g: g.slot == "q1" and len(g.items) >= 9)
        v.press("a")
        assert "first" in v.said and decided(v.session) == 0
        v.press("1", "a")
        assert "have not been looked at" in v.said and sum(i.decision is not None for i in g.items) == 1
        for _ in range(12):
            v.press(" ")
            v.page.evaluate("look()")
        assert v.page.inner_text("#seen") == f"{len(g.items)} of {len(g.items)} looked at"
        v.press("a")
        assert {i.decision.points for i in g.items} == {1.0} and {i.decision.group for i in g.items} == {None, g.id}
        assert all(set(scores(v.session, i)) == {1.0} for i in g.items)
        assert v.group() is not g, "it goes on to the next"
        v.press("u")
        assert sum(i.decision is not None for i in g.items) == 1, "one undo takes the whole group back"
        v.press("u")
        assert decided(v.session) == 0


def test_an_exception_by_its_letter_and_links_by_their_numbers(review):
    with Visit(review) as v:
        g = v.to(lambda g: g.slot == "q2" and len(g.items) >= 5)
        v.press("Shift+D")
        assert v.page.evaluate("at.item") == 3
        item, links = g.items[3], [x.id for x in v.session.lesson.rubric.slots["q2"].links]
        v.press("l", "2", "m", "1", "f")
        assert decided(v.session) == 0
        v.press("0")
        wrong = v.session.lesson.rubric.slots["q2"].misconceptions[0].id
        assert set(item.decision.links) == set(item.read.links) ^ {links[1]} and item.decision.links_by == "person"
        assert (wrong in item.decision.misconceptions) == (
            wrong not in item.read.misconceptions
        ) and item.decision.false
        v.press("u")
        first = v.page.evaluate("current()")
        v.press("Enter")
        assert v.session.items[first].decision.points == v.session.lesson.rubric.slots["q2"].points_for(
            v.session.items[first].read.links
        )
        v.press("u")
        assert decided(v.session) == 0 and v.errors == []


def test_what_a_student_wrote_is_text(review):
    with Visit(review) as v:
        v.to(lambda g: any(i.answer == EVIL for i in g.items))
        assert EVIL in [
            t
            for t in v.page.evaluate(
                "[...document.querySelectorAll('.answer')].map(a => [...a.childNodes].map(n => n.nodeType === 3 ? n.data : n.firstChild.data).join(''))"
            )
        ]
        assert (
            v.page.evaluate("window.pwned") is None
            and v.page.locator(".answer img, .answer script").count() == 0
            and v.outside == []
        )


def test_help_language_names_and_what_a_reader_of_the_screen_hears(review):
    with Visit(review) as v:
        v.press("?")
        assert v.page.is_visible("dialog[open]") and "Shift" not in v.said
        v.page.keyboard.press("Escape")
        assert not v.page.is_visible("#keys")
        names = v.page.evaluate(
            "[...document.querySelectorAll('button, [role=checkbox], progress, article')].map(b => b.getAttribute('aria-label') || b.textContent.trim())"
        )
        assert names and all(names)
        assert (
            v.page.locator("#ask [role=checkbox][aria-checked]").count()
            == v.page.locator("#ask [role=checkbox]").count()
            > 3
        )
        student = v.session.items[v.page.evaluate("current()")].students[0]
        assert student not in v.page.inner_text("#group")
        v.press("n")
        assert student in v.page.inner_text("#group")
        v.press("z")
        assert v.page.get_attribute("html", "lang") == "zh-CN" and "分" in v.page.inner_text("#give")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width,height", [(1440, 900), (390, 844)])
def test_it_fits_a_phone_and_both_schemes(review, width, height, scheme):
    with Visit(review, width, height, scheme) as v:
        for lang in ("en", "zh"):
            v.to(lambda g: g.slot == "q1" and len(g.items) >= 5)
            assert v.page.evaluate("document.documentElement.scrollWidth") == width
            buttons = v.page.evaluate(
                "[...document.querySelectorAll('button')].filter(b => b.offsetParent).map(b => b.getBoundingClientRect()).filter(r => r.left < 0 || r.right > innerWidth || r.height < 30).length"
            )
            assert buttons == 0
            dark = v.page.evaluate("getComputedStyle(document.body).backgroundColor") != "rgb(244, 245, 247)"
            assert dark == (scheme == "dark")
            if SHOTS:
                v.page.screenshot(path=f"{SHOTS}/review-{width}-{scheme}-{lang}.png")
            v.press("z")


def test_the_whole_class_by_keys_alone(review, lesson):
    """Every group: points for its first, Space to its end, and the rest at once. Last, because it leaves nothing open."""
    session = review[0]
    with Visit(review) as v:
        keys, left = 0, decided(session)
        while left < len(session.items):
            g = v.group()
            v.press("1")
            keys += 1
            for _ in range(40):
                if all(i.decision is not None for i in g.items):
                    break
                v.press("a")
                keys += 1
                if any(i.decision is None for i in g.items):
                    v.press(" ")
                    v.page.evaluate("look()")
                    keys += 1
            assert all(i.decision is not None for i in g.items)
            left = decided(session)
        assert "in the gradebook" in v.said and v.errors == [] and keys < len(session.items)
    waiting = {n for f in final_results(session.course, lesson) for n in f.human.waiting}
    assert waiting == set(), "nothing waits in formgrader either"
    lines = [
        json.loads(line)
        for line in (session.course.root / "decisions" / f"{lesson.slug}.jsonl").read_text().splitlines()
    ]
    assert sum(len(d["students"]) for d in lines if "undo" not in d) >= 400
    assert len(Decisions.load(session.course.root, lesson.slug)) == len(session.items)
    with Visit(review) as v:
        assert v.page.inner_text("#left") == "all decided"
