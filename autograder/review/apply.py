"""A person's decisions as part of a result: the slot's points, links and lane, and the verdict that follows."""

from __future__ import annotations

from collections.abc import Mapping

from autograder.grading.reasons import sentence
from autograder.grading.verdict import CodeResult, decide
from autograder.lesson.rubric import Rubric, Slot
from autograder.records import LinkFound, MisconceptionFound, Result, SlotScore
from autograder.review.decisions import Decision, Decisions, slot_hash

PERSON = "person"  # the layer of a link that a person ticked


def from_store(result: Result, decisions: Decisions, rubric: Rubric) -> Result:
    """The result with every answer that was decided before, by whomever it was written; the same object where there is none."""
    if not len(decisions):
        return result
    found = {}
    for name, score in result.slots.items():
        decision = decisions.find_key(name, score.answer_key, slot_hash(rubric.slots[name]))
        if decision is not None:
            found[name] = decision
    return with_decisions(result, found, rubric)


def with_decisions(result: Result, found: Mapping[str, Decision], rubric: Rubric) -> Result:
    """found: slot -> decision. Nothing of the code is looked at again: its checks stand in the result."""
    if not found or result.state == "UNGRADED":
        return result
    slots = {
        n: decided_score(s, found[n], rubric.slots[n], result.lang) if n in found else s
        for n, s in result.slots.items()
    }
    verdict = decide(
        rubric,
        CodeResult(*(_passed(result, kind) for kind in ("normal", "boundary", "own_case"))),
        slots,
        result.findings,
    )
    return result.model_copy(
        update={
            "slots": slots,
            "state": verdict.state,
            "total": verdict.total,
            "points": verdict.points,
            "veto": verdict.veto,
            "reasons": [sentence(code, detail, result.lang, slots, rubric) for code, detail in verdict.reasons],
            "reasons_en": [sentence(code, detail, "en", slots, rubric) for code, detail in verdict.reasons],
        }
    )


def decided_score(score: SlotScore, decision: Decision, slot: Slot, lang: str) -> SlotScore:
    """The slot's score as a person gave it. A quote is the reader's sentence for that link, or else the answer."""
    seen = {x.id: x.quote for x in (*score.links, *score.misconceptions) if x.quote}
    quote = lambda name: seen.get(name) or decision.quotes.get(name) or decision.answer.strip()
    held = [m for m in slot.misconceptions if m.id in decision.misconceptions]
    zh, en = decision.said
    return score.model_copy(
        update={
            "points": min(float(slot.points), max(0.0, decision.points)),
            "lane": "auto",
            "links": [
                LinkFound(id=x.id, quote=quote(x.id), layer=PERSON) for x in slot.links if x.id in decision.links
            ],
            "missing": [x.id for x in slot.links if x.id not in decision.links],
            "misconceptions": [MisconceptionFound(id=m.id, quote=quote(m.id), veto=m.veto, sure=True) for m in held],
            "reasons": [zh if lang == "zh" else en],
            "reasons_en": [en],
        }
    )


def _passed(result: Result, kind: str) -> bool:
    mine = [c.passed for c in result.checks if c.kind == kind]
    return bool(mine) and all(mine)
