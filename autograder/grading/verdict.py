"""The verdict: a pure function of what was found. No clock, no file, no randomness.

PASS: the total reaches the pass mark, every hidden check passes, each of Q1-Q3 states a causal link, at least one link is a correctness
boundary and one a performance trade-off, there is no veto, and nothing waits for a person. The student's own boundary case is
no condition: it costs the boundary points, and the total tells.
REVIEW: something waits for a person, and his word could turn a FAIL into a PASS or a PASS into a FAIL.
FAIL: everything else.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from autograder.lesson.rubric import Rubric
from autograder.records import Finding, LinkFound, SlotScore, State

QUESTIONS = ("q1", "q2", "q3")
# Findings that say it is not known what the code is worth: which of several fills counts, or that it could not be run as it was written.
CODE_OPEN = frozenset({"several_fills", "sandbox_failed", "refused", "outside_name", "missing_name", "unread_code"})


@dataclass(frozen=True)
class CodeResult:
    """normal, boundary: all hidden checks of the kind passed. own_case: the student's boundary case counts and its prediction is right."""

    normal: bool = False
    boundary: bool = False
    own_case: bool = False


@dataclass(frozen=True)
class Verdict:
    """reasons: codes with their details, in the order of need: why it failed, or what a person must look at."""

    state: State
    total: float
    points: dict[str, float]
    veto: list[str] = field(default_factory=list)
    reasons: list[tuple[str, str]] = field(default_factory=list)


def decide(rubric: Rubric, code: CodeResult, slots: dict[str, SlotScore], findings: list[Finding]) -> Verdict:
    """slots: one score for each of explanation, q1, q2, q3; a missing one counts as empty."""
    points = _code_points(rubric, code)
    for name in ("explanation", *QUESTIONS):
        most = getattr(rubric.points, name)
        points[name] = min(max(0.0, slots[name].points), most) if name in slots else 0.0
    total = sum(points.values())
    veto = [f.code for f in findings if f.severity == "veto"]
    veto += [
        f"misconception:{m.id}"
        for s in slots.values()
        for m in s.misconceptions
        if m.veto and (s.lane == "auto" if m.sure is None else m.sure)
    ]
    veto = list(dict.fromkeys(veto))
    failing = _failing(rubric, code, slots, total)
    open_questions = [("review_slot", n) for n, s in slots.items() if s.lane == "review"]
    open_questions += [
        ("review_slot", n)
        for n, s in slots.items()
        if s.lane == "auto" and any(m.veto and m.sure is False for m in s.misconceptions)
    ]
    open_questions += dict.fromkeys(("review_finding", f.code) for f in findings if f.severity == "review")
    if veto:
        return Verdict("FAIL", total, points, veto, [("veto", v) for v in veto] + failing)
    best_code = (
        CodeResult(True, True, True) if any(f.code in CODE_OPEN and f.severity == "review" for f in findings) else code
    )
    best_points = points | _code_points(rubric, best_code)
    if open_questions and not _failing(
        rubric, best_code, _at_best(rubric, slots), _best_total(rubric, best_points, slots)
    ):
        return Verdict("REVIEW", total, points, veto, open_questions + failing)
    return Verdict("FAIL" if failing else "PASS", total, points, veto, failing)


def _code_points(rubric: Rubric, code: CodeResult) -> dict[str, float]:
    return {
        "normal": float(rubric.points.normal if code.normal else 0),
        "boundary": float(rubric.points.boundary if code.boundary and code.own_case else 0),
    }


def _failing(rubric: Rubric, code: CodeResult, slots: dict[str, SlotScore], total: float) -> list[tuple[str, str]]:
    """The conditions for a pass that do not hold."""
    failing = []
    if not code.normal:
        failing.append(("code_check", "normal"))
    if not code.boundary:
        failing.append(("code_check", "boundary"))
    kinds = set()
    for name, score in slots.items():
        kind_of = {link.id: link.kind for link in rubric.slots[name].links}
        kinds |= {kind_of.get(link.id) for link in score.links}
    failing += [("no_link", n) for n in QUESTIONS if n not in slots or not slots[n].links]
    failing += [("no_kind", k) for k in ("correctness", "tradeoff") if k not in kinds]
    if total < rubric.pass_mark:
        failing.append(("total", f"{total:g}/{rubric.pass_mark}"))
    return failing


def _at_best(rubric: Rubric, slots: dict[str, SlotScore]) -> dict[str, SlotScore]:
    """As if a person found every link in the slots that wait for him."""
    best = {}
    for name, score in slots.items():
        if score.lane == "review":
            links = [LinkFound(id=link.id, quote="", layer="review") for link in rubric.slots[name].links]
            score = score.model_copy(update={"links": links})
        best[name] = score
    return best


def _best_total(rubric: Rubric, points: dict[str, float], slots: dict[str, SlotScore]) -> float:
    waiting = {n for n, s in slots.items() if s.lane == "review"}
    return sum(getattr(rubric.points, n) if n in waiting else p for n, p in points.items())
