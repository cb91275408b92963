"""A person's decisions on top of the automatic result."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.gradebook.final import LIFT, Human, conditions, settle
from autograder.gradebook.tests.fake import result, slot
from autograder.grading.verdict import CodeResult, decide
from autograder.lesson import load_lesson
from autograder.records import POINT_NAMES

LESSON = load_lesson("7")


def human(manual=None, waiting=(), comments=None, extra=None):
    return Human(manual or {}, extra or {}, comments or {}, tuple(waiting))


def settled(auto, person):
    return settle(auto, person, LESSON.rubric)


def test_nothing_by_a_person_changes_nothing():
    auto = result(LESSON, "ann", state="FAIL", slots={"q1": 0.0})
    assert settled(auto, human(waiting=["q1"])) is auto


def test_manual_score_wins_and_changes_the_verdict():
    auto = result(LESSON, "ann", state="FAIL", slots={"q1": 0.0, "explanation": 0.0})
    assert auto.total == 7
    final = settled(auto, human({"q1": 1.0}))
    assert (final.state, final.total, final.points["q1"]) == ("PASS", 8.0, 1.0)
    assert any("q1: 1 of 2" in r for r in final.reasons)
    down = settled(result(LESSON, "ann"), human({"q2": 0.0}))
    assert down.state == "FAIL" and any("Q2 lacks" in r for r in down.reasons)


def test_review_stays_open_until_it_cannot_matter():
    slots = {"q1": slot(LESSON, "q1", 1.0, lane="review"), "q2": slot(LESSON, "q2", 1.0, lane="review")}
    auto = result(LESSON, "ann", state="REVIEW", slots=slots)
    assert settled(auto, human({"q1": 2.0}, waiting=["q2"])).state == "REVIEW"
    assert settled(auto, human({"q1": 0.0}, waiting=["q2"])).state == "FAIL", "without a link in q1 nothing helps"
    assert settled(auto, human({"q1": 2.0, "q2": 1.0})).state == "PASS"
    assert settled(auto, human()).state == "PASS", "resolved without a score: the suggestion stands"


def test_a_veto_is_lifted_only_by_saying_so():
    auto = result(LESSON, "ann", state="FAIL", veto=["claimed_not_run"])
    assert settled(auto, human({"q1": 2.0})).state == "FAIL"
    lifted = settled(auto, human(comments={"q1": f"He showed me the run. {LIFT}"}))
    assert lifted.state == "PASS" and lifted.veto == []


def test_failed_code_needs_full_manual_points():
    auto = result(LESSON, "ann", state="FAIL", boundary=0.0)
    assert settled(auto, human({"q1": 2.0})).state == "FAIL"
    assert settled(auto, human({"boundary": 1.0})).state == "PASS"
    assert settled(auto, human({"boundary": 0.5})).state == "FAIL"


def test_ungraded_is_graded_by_hand_only_as_a_whole():
    auto = result(LESSON, "ann", state="UNGRADED")
    full = {n: float(getattr(LESSON.rubric.points, n)) for n in POINT_NAMES}
    assert settled(auto, human({"q1": 2.0}, waiting=POINT_NAMES)) is auto
    assert settled(auto, human(full)).state == "PASS"


MANUAL = st.dictionaries(st.sampled_from(POINT_NAMES), st.sampled_from([0.0, 0.5, 1.0, 2.0]), max_size=6)


@settings(max_examples=150, deadline=None)
@given(MANUAL, st.sets(st.sampled_from(["q1", "q2", "q3"])), st.sampled_from([0.0, 1.0, 2.0]), st.booleans())
def test_laws(manual, waiting, q3, veto):
    """Manual points are the points; a settled verdict is never REVIEW; a standing veto never passes; more points never hurt."""
    waiting -= set(manual)
    slots = {n: slot(LESSON, n, 1.0, lane="review") for n in waiting} | ({} if "q3" in waiting else {"q3": q3})
    auto = result(LESSON, "ann", state="REVIEW" if waiting else "FAIL", slots=slots, veto=["x"] if veto else [])
    final = settled(auto, human(manual, sorted(waiting)))
    assert all(final.points[n] == v for n, v in manual.items())
    if manual:
        assert final.total == pytest.approx(sum(final.points.values()))
        assert final.state != "REVIEW" or waiting
        if veto:
            assert final.state == "FAIL"
        better = settled(auto, human(manual | {"explanation": 1.0}, sorted(waiting)))
        rank = {"FAIL": 0, "REVIEW": 1, "PASS": 2}
        if manual.get("explanation", 1.0) <= 1.0:
            assert rank[better.state] >= rank[final.state]


@settings(max_examples=150, deadline=None)
@given(
    st.booleans(),
    st.booleans(),
    st.fixed_dictionaries({n: st.sampled_from([0.0, 1.0, 2.0]) for n in ("q1", "q2", "q3")}),
    st.booleans(),
)
def test_without_a_person_the_conditions_are_the_graders(normal, boundary, questions, veto):
    """The conditions on the feedback page say what the verdict says."""
    auto = result(
        LESSON, "ann", normal=2.0 * normal, boundary=1.0 * boundary, slots=questions, veto=["x"] if veto else []
    )
    verdict = decide(LESSON.rubric, CodeResult(normal, boundary, boundary), auto.slots, [])
    passes = verdict.state == "PASS" and not veto
    assert all(c.met for c in conditions(auto, human(), auto.points, LESSON.rubric)) == passes
