"""The verdict is a pure function; these are its laws."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.grading.reasons import sentence
from autograder.grading.verdict import CODE_OPEN, QUESTIONS, CodeResult, decide
from autograder.lesson.rubric import Link, Misconception, Rubric, Slot, Text
from autograder.records import POINT_NAMES, Finding, LinkFound, MisconceptionFound, SlotScore

TEXT = Text(zh="字", en="word")
KINDS = {"explanation": "mechanism", "q1": "mechanism", "q2": "correctness", "q3": "tradeoff"}


def link(name, kind):
    return Link(id=name, kind=kind, zh="因 -> 机制 -> 果", en="cause -> mechanism -> effect", hint=TEXT)


def make_rubric() -> Rubric:
    slots = {}
    for name, kind in KINDS.items():
        links = [link(f"{name}.a", kind), link(f"{name}.b", "mechanism")]
        wrong = [
            Misconception(id=f"{name}.m", veto=True, zh="字", en="word", hint=TEXT),
            Misconception(id=f"{name}.n", zh="字", en="word", hint=TEXT),
        ]
        slots[name] = Slot(
            points=1 if name == "explanation" else 2,
            question=TEXT,
            links=links,
            misconceptions=wrong,
            full=2,
            reference=TEXT,
        )
    return Rubric(lesson="lesson99_x", slots=slots, hints=[TEXT] * 4)


RUBRIC = make_rubric()


@st.composite
def slot_scores(draw, lanes=("auto", "review")):
    out = {}
    for name, slot in RUBRIC.slots.items():
        links = draw(st.lists(st.sampled_from([x.id for x in slot.links]), unique=True))
        wrong = draw(st.lists(st.sampled_from(slot.misconceptions), max_size=1))
        out[name] = SlotScore(
            slot=name,
            points=draw(st.integers(0, slot.points)),
            max_points=slot.points,
            lane=draw(st.sampled_from(lanes)),
            links=[LinkFound(id=i, quote="", layer="rules") for i in links],
            misconceptions=[
                MisconceptionFound(id=m.id, quote="", veto=m.veto, sure=draw(st.sampled_from([None, True, False])))
                for m in wrong
            ],
        )
    return out


codes = st.builds(CodeResult, st.booleans(), st.booleans(), st.booleans())
findings = st.lists(
    st.builds(
        Finding,
        code=st.sampled_from(["a", "b"]),
        severity=st.sampled_from(["info", "review", "veto"]),
        message=st.just(TEXT),
    ),
    max_size=2,
)
RANK = {"FAIL": 0, "REVIEW": 1, "PASS": 2}


def full(lane="auto") -> dict[str, SlotScore]:
    return {
        n: SlotScore(
            slot=n,
            points=s.points,
            max_points=s.points,
            lane=lane,
            links=[LinkFound(id=x.id, quote="", layer="rules") for x in s.links],
        )
        for n, s in RUBRIC.slots.items()
    }


ALL_RIGHT = CodeResult(True, True, True)


def test_full_marks_pass():
    verdict = decide(RUBRIC, ALL_RIGHT, full(), [])
    assert (verdict.state, verdict.total, verdict.veto, verdict.reasons) == ("PASS", 10.0, [], [])


@given(codes, slot_scores(), findings)
def test_points_are_within_the_rubric_and_sum_to_the_total(code, slots, found):
    verdict = decide(RUBRIC, code, slots, found)
    assert tuple(verdict.points) == POINT_NAMES
    assert all(0 <= verdict.points[n] <= getattr(RUBRIC.points, n) for n in POINT_NAMES)
    assert verdict.total == sum(verdict.points.values())


@given(codes, slot_scores(), findings)
def test_pass_means_every_condition(code, slots, found):
    verdict = decide(RUBRIC, code, slots, found)
    if verdict.state == "PASS":
        kinds = {x.kind for n, s in slots.items() for x in RUBRIC.slots[n].links if x.id in {f.id for f in s.links}}
        assert verdict.total >= 8 and code.normal and code.boundary
        assert all(slots[q].links for q in QUESTIONS) and {"correctness", "tradeoff"} <= kinds
        assert (
            not verdict.veto
            and all(f.severity == "info" for f in found)
            and all(s.lane == "auto" for s in slots.values())
        )


@given(codes, slot_scores(), findings)
def test_a_veto_fails_and_is_named(code, slots, found):
    verdict = decide(RUBRIC, code, slots, found)
    if any(f.severity == "veto" for f in found) or any(
        m.veto and m.sure for s in slots.values() for m in s.misconceptions
    ):
        assert verdict.state == "FAIL" and verdict.veto and verdict.reasons[0][0] == "veto"


@given(codes, slot_scores(), findings)
def test_what_a_person_could_not_change_is_not_sent_to_him(code, slots, found):
    """REVIEW exactly when, without a veto, something is open and some answer of the person would make it a pass."""
    verdict = decide(RUBRIC, code, slots, found)
    if verdict.veto:
        return
    open_slots = [
        n for n, s in slots.items() if s.lane == "review" or any(m.veto and m.sure is False for m in s.misconceptions)
    ]
    is_open = bool(open_slots) or any(f.severity == "review" for f in found)
    can_pass = False
    for choice in itertools.product((False, True), repeat=len(open_slots)):
        settled = dict(slots)
        for name, best in zip(open_slots, choice, strict=True):
            raised = best and slots[name].lane == "review"
            settled[name] = (
                full()[name] if raised else slots[name].model_copy(update={"lane": "auto", "misconceptions": []})
            )
        can_pass |= decide(RUBRIC, code, settled, []).state == "PASS"
    assert (verdict.state == "REVIEW") == (is_open and can_pass)
    if not is_open:
        assert (verdict.state == "PASS") == can_pass


@given(codes, slot_scores(lanes=("auto",)), findings, st.sampled_from(["normal", "boundary", "own_case", *KINDS]))
def test_more_right_never_ranks_lower(code, slots, found, what):
    before = decide(RUBRIC, code, slots, found)
    if what in KINDS:
        better = {**slots, what: full()[what].model_copy(update={"misconceptions": slots[what].misconceptions})}
        after = decide(RUBRIC, code, better, found)
    else:
        after = decide(RUBRIC, CodeResult(**{**vars(code), what: True}), slots, found)
    assert after.total >= before.total and RANK[after.state] >= RANK[before.state]


@given(codes, slot_scores(), findings, st.sampled_from(["review", "veto"]))
def test_a_finding_never_helps(code, slots, found, severity):
    worse = [*found, Finding(code="c", severity=severity, message=TEXT)]
    before, after = decide(RUBRIC, code, slots, found), decide(RUBRIC, code, slots, worse)
    assert RANK[after.state] <= RANK[before.state] and after.total == before.total


@settings(max_examples=30)
@given(codes, slot_scores(), findings)
def test_it_depends_on_nothing_else(code, slots, found):
    one, two = decide(RUBRIC, code, slots, found), decide(RUBRIC, code, slots, list(reversed(found)))
    assert (one.state, one.total, one.points, set(one.veto)) == (two.state, two.total, two.points, set(two.veto))


@pytest.mark.parametrize(
    ("code", "points", "state"),
    [
        (CodeResult(True, False, True), 2, "FAIL"),  # a hidden boundary check fails: never a pass
        (CodeResult(True, True, False), 2, "PASS"),  # only his own case is wrong: one point less
        (CodeResult(False, True, True), 1, "FAIL"),
    ],
)
def test_code_points(code, points, state):
    verdict = decide(RUBRIC, code, full(), [])
    assert verdict.points["normal"] + verdict.points["boundary"] == points and verdict.state == state


def test_a_slot_without_a_score_is_empty():
    slots = full()
    del slots["q2"]
    verdict = decide(RUBRIC, ALL_RIGHT, slots, [])
    assert (
        verdict.state == "FAIL"
        and ("no_link", "q2") in verdict.reasons
        and ("no_kind", "correctness") in verdict.reasons
    )


@pytest.mark.parametrize("code", sorted(CODE_OPEN))
def test_where_the_code_is_not_known_a_person_looks(code):
    """Nobody fails for a machine that did not run his code, nor for the last of two fills: it earns nothing yet, and it waits."""
    finding = Finding(code=code, severity="review", message=TEXT)
    verdict = decide(RUBRIC, CodeResult(), full(), [finding])
    assert verdict.state == "REVIEW" and verdict.points["normal"] == verdict.points["boundary"] == 0
    assert (
        decide(RUBRIC, CodeResult(), full(), [Finding(code="other", severity="review", message=TEXT)]).state == "FAIL"
    )
    nothing = {n: s.model_copy(update={"points": 0, "links": []}) for n, s in full().items()}
    assert decide(RUBRIC, CodeResult(), nothing, [finding]).state == "FAIL"  # the best code in the world would not pass


def test_the_total_is_said_beside_what_is_needed():
    rubric = make_rubric()
    assert sentence("total", "7.5/8", "en", {}, rubric) == "total 7.5; 8 needed to pass"
    assert sentence("total", "7.5/8", "zh", {}, rubric) == "总分 7.5 分，通过需要 8 分"
