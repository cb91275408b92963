"""Nothing in a submission but its blank and its answers changes its score; nothing in it stops the grading of others."""

from __future__ import annotations

import time

import pytest

import autograder.answers
from autograder.grading import grade_notebook
from autograder.lesson.model import ANSWER_SLOTS
from autograder.records import POINT_NAMES, LinkFound, SlotScore
from tests.hostile.build import ANSWER, build, cases, dump, honest

CASES = cases()


@pytest.fixture(autouse=True)
def text_scorer(monkeypatch):
    """The answers' own scorer has its own tests. Here full points go to a text that holds the honest answer of that very slot."""

    def score_slot(slot, rubric, text, lang, **_):
        found = ANSWER[lang].format(slot=slot) in text
        most = rubric.slots[slot].points
        links = [LinkFound(id=link.id, quote="", layer="rules") for link in rubric.slots[slot].links] if found else []
        return SlotScore(slot=slot, points=most if found else 0, max_points=most, lane="auto", links=links)

    monkeypatch.setattr(
        autograder.answers,
        "score_many",
        lambda items, rubric, **_: [score_slot(slot, rubric, text, lang) for slot, text, lang in items],
    )


@pytest.fixture(scope="module")
def measure():
    """lang -> the honest notebook's result."""
    return {}


def test_the_honest_notebook_passes(lesson, sandbox):
    for lang in ("zh", "en"):
        result = grade_notebook(lesson, dump(honest(lesson, lang)), "honest", sandbox=sandbox)
        assert (result.state, result.total, result.veto, result.findings) == ("PASS", 10, [], []), result


def test_there_are_enough_cases():
    assert len(CASES) >= 60


@pytest.mark.parametrize("name", CASES)
def test_case(name, lesson, sandbox, tmp_path, measure):
    case = CASES[name]
    submission = build(lesson, case, tmp_path)
    start = time.monotonic()
    result = grade_notebook(lesson, submission, name, sandbox=sandbox)
    seconds = time.monotonic() - start
    told = (result.state, result.points, result.veto, [f.code for f in result.findings], result.reasons)
    for what, wanted in case["holds"].items():
        if what == "same":
            lang = case.get("lang", "en")
            if lang not in measure:
                measure[lang] = grade_notebook(lesson, dump(honest(lesson, lang)), "honest", sandbox=sandbox)
            like = measure[lang]
            assert (result.state, result.points, result.veto, result.lang) == (
                like.state,
                like.points,
                like.veto,
                like.lang,
            ), told
        elif what == "veto":
            assert any(wanted in v for v in result.veto) if wanted else not result.veto, told
        elif what == "finding":
            assert wanted in [f.code for f in result.findings], told
        elif what == "reason":
            assert any(wanted in r for r in result.reasons), told
        elif what == "quick":
            assert seconds < wanted, seconds
        elif what in POINT_NAMES:
            assert result.points[what] == wanted, (what, told)
        else:
            assert getattr(result, what) == wanted, (what, told)
    assert 0 <= result.total <= 10 and set(result.points) == set(POINT_NAMES)
    if result.state == "UNGRADED":
        assert result.reasons and all(" / " in r for r in result.reasons)  # its language is unknown: both
    result.model_dump_json().encode("utf-8")  # no lone surrogate, no NUL that a database would refuse
    assert "\\u0000" not in result.model_dump_json()


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_no_case_beats_the_honest_one(lang, lesson):
    """By construction of `holds`: no case claims more than the honest points."""
    honest_points = {"normal": 2, "boundary": 1, "explanation": 1, "q1": 2, "q2": 2, "q3": 2}
    for name, case in CASES.items():
        assert all(case["holds"].get(p, 0) <= honest_points[p] for p in POINT_NAMES), name
    assert set(ANSWER_SLOTS) < set(honest_points)
