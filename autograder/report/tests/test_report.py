"""The class report: counts, order of the review queue, shared texts, and a page that shows only text."""

from datetime import datetime, timedelta
from html.parser import HTMLParser

import pytest

from autograder.gradebook.course import CourseFolder
from autograder.gradebook.final import Final, Human, settle
from autograder.gradebook.tests.fake import result, slot
from autograder.lesson import load_lesson
from autograder.report.data import class_data, review_queue
from autograder.report.page import render_report
from autograder.report.similarity import similar_pairs

LESSON = load_lesson("7")
DUE = datetime(2026, 12, 1, 12)


def final(res, waiting=(), **kw):
    person = Human({}, {}, {}, tuple(waiting))
    return Final(settle(res, person, LESSON.rubric), res, person, **kw)


@pytest.fixture(scope="module")
def finals():
    review = {"q1": slot(LESSON, "q1", 1.0, lane="review")}
    return [
        final(
            result(LESSON, "ann", fill="alpha * acc if beta == 0 else alpha * acc + beta * c"),
            timestamp=DUE - timedelta(days=2),
            duedate=DUE,
        ),
        final(
            result(LESSON, "bob<script>x</script>", state="UNGRADED", reasons=["The file is <b>empty</b>."]),
            duedate=DUE,
        ),
        final(
            result(LESSON, "low", state="REVIEW", slots=review | {"q2": 1.0}),
            waiting=["q1"],
            timestamp=DUE - timedelta(hours=1),
            duedate=DUE,
        ),
        final(result(LESSON, "near", state="REVIEW", slots=review), waiting=["q1"], timestamp=DUE, duedate=DUE),
        final(
            result(LESSON, "out", state="FAIL", normal=0.0, boundary=0.0, slots=review),
            waiting=["q1"],
            timestamp=DUE + timedelta(hours=5),
            duedate=DUE,
        ),
        final(result(LESSON, "mis", state="FAIL", boundary=0.0, slots={"q2": slot(LESSON, "q2", 0.0, wrong="zero")})),
    ]


def test_queue_in_order_of_need(finals):
    assert [q.student for q in review_queue(finals)] == ["bob<script>x</script>", "near", "low", "out"]


def test_counts(finals, tmp_path):
    data = class_data(LESSON, CourseFolder(tmp_path), finals)
    assert data.states == {"PASS": 1, "REVIEW": 2, "FAIL": 2, "UNGRADED": 1}
    assert len(data.totals) == 5 and data.mean == pytest.approx((10 + 8 + 9 + 6 + 7) / 5), "ungraded is left out, not 0"
    checks = {m.name: (m.missed, m.of) for m in data.checks}
    assert checks["beta is zero"] == (2, 5) and checks["ordinary input"] == (1, 5)
    assert [m.share for m in data.links] == sorted((m.share for m in data.links), reverse=True)
    assert data.misconceptions[0][1] == 1
    assert data.due == DUE and len(data.times) == 4


class Tags(HTMLParser):
    def __init__(self, html):
        super().__init__()
        self.tags, self.attributes = set(), []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes += attrs


def test_page_is_closed_and_shows_text_only(finals, tmp_path):
    html = render_report(LESSON, class_data(LESSON, CourseFolder(tmp_path), finals))
    seen = Tags(html)
    assert not {"script", "img", "link", "iframe", "b"} & seen.tags and "svg" in seen.tags
    assert not [k for k, _ in seen.attributes if k.startswith("on") or k == "style"], (
        "the page's policy admits no inline style"
    )
    assert "&lt;script&gt;x" in html and "Review queue" in html
    assert (
        f"cd {tmp_path} &amp;&amp; jupyter lab" in html
        and f"Nbgrader &gt; Formgrader &gt; Manual Grading &gt; {LESSON.slug}" in html
    ), "the queue says where to act"
    assert not [v for k, v in seen.attributes if k in ("href", "src", "xlink:href") and not v.startswith("#")]


def test_the_same_class_gives_the_same_page(finals, tmp_path):
    data = class_data(LESSON, CourseFolder(tmp_path), finals)
    assert render_report(LESSON, data) == render_report(LESSON, data)


def test_nobody_graded_still_makes_a_page(tmp_path):
    only = [final(result(LESSON, "bob", state="UNGRADED"))]
    assert "Review queue" in render_report(LESSON, class_data(LESSON, CourseFolder(tmp_path), only))


LONG = "When beta is zero the branch that holds beta times c is never evaluated, so c is not read and may be a null pointer or full of NaN."


def test_shared_answers():
    texts = {
        "a": LONG,
        "b": "  " + LONG.upper() + "\n",
        "c": LONG.replace("never", "not ever"),
        "d": "The epilogue keeps the accumulator in registers, so fusing the activation saves one round trip of the intermediate matrix to memory.",
        "e": "short",
        "f": "short",
    }
    pairs = similar_pairs(texts, least=80)
    assert pairs[0].students == ("a", "b") and pairs[0].percent == 100
    assert [set(p.students) for p in pairs[1:]] == [{"a", "c"}] and 90 <= pairs[1].percent < 100


def test_what_everybody_writes_is_no_lead():
    texts = {f"s{n}": "alpha * acc if beta == 0 else alpha * acc + beta * c" for n in range(10)} | {
        "x": "np.where(beta == 0, alpha * acc, alpha * acc + beta * np.nan_to_num(c))",
        "y": "np.where(beta == 0, alpha * acc, alpha * acc + beta * np.nan_to_num(c))",
    }
    assert [p.students for p in similar_pairs(texts, least=40, common=0.2)] == [("x", "y")]


@pytest.mark.parametrize("year", [1, 9999])
def test_a_time_that_no_clock_gives_costs_nobody_the_report(tmp_path, year):
    finals = [
        final(result(LESSON, "ann"), timestamp=DUE, duedate=DUE),
        final(result(LESSON, "bob"), timestamp=DUE.replace(year=year), duedate=DUE),
        final(result(LESSON, "cyd"), timestamp=DUE - timedelta(days=1)),
    ]
    assert "Time of submission" in render_report(LESSON, class_data(LESSON, CourseFolder(tmp_path), finals))
