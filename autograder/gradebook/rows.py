"""What one Result means in nbgrader's rows. Pure: no database, no files.

A score whose lane is "review" is not written as auto_score: nbgrader counts an auto_score at once, and what counts
automatically must be right. It stands in the comment as a suggestion, and the row asks for manual grading.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from autograder.lesson.rubric import Rubric, Slot
from autograder.records import POINT_NAMES, Result, SlotScore

WRITTEN = ("explanation", "q1", "q2", "q3")
COMMENTED = ("exercise", "boundary_case", *WRITTEN)  # nbgrader's solution cells, which carry the comments

_WORDS = {
    "zh": {
        "suggest": "建议 {points:g}/{maximum} 分，待人工确认。",
        "found": "找到因果链：“{quote}”。",
        "missing": "还缺一条因果链：{hint}",
        "misconception": "错误的因果链（“{quote}”）：{hint}",
        "ungraded": "未能批改：{why}",
        "checks": "隐藏检查：{passed}/{total} 通过。",
        "own": "你自己的边界输入：{message}",
        "passed": "通过",
        "failed": "未通过",
    },
    "en": {
        "suggest": "Suggested {points:g} of {maximum}, to be confirmed by a person.",
        "found": 'Causal link found: "{quote}".',
        "missing": "A causal link is missing: {hint}",
        "misconception": 'A wrong causal chain ("{quote}"): {hint}',
        "ungraded": "Not graded: {why}",
        "checks": "Hidden checks: {passed} of {total} passed.",
        "own": "Your own boundary input: {message}",
        "passed": "passed",
        "failed": "failed",
    },
}


@dataclass(frozen=True)
class GradeRow:
    """nbgrader's columns of one grade cell. auto_score None: no automatic score (it counts as nothing until a person gives one)."""

    auto_score: float | None
    needs_manual_grade: bool


def grade_rows(result: Result) -> dict[str, GradeRow]:
    """The six grade cells' rows by grade_id."""
    if result.state == "UNGRADED":
        return dict.fromkeys(POINT_NAMES, GradeRow(None, True))
    doubtful = {_cell_of(f.where) for f in result.findings if f.severity == "review"}
    rows = {}
    for name in POINT_NAMES:
        slot = result.slots.get(name)
        if slot is not None and slot.lane == "review":
            rows[name] = GradeRow(None, True)
        else:
            rows[name] = GradeRow(float(result.points.get(name, 0.0)), name in doubtful)
    if result.state == "REVIEW" and not any(r.needs_manual_grade for r in rows.values()):
        rows["normal"] = GradeRow(rows["normal"].auto_score, True)
    return rows


def counted(manual: float | None, auto: float | None, extra: float | None) -> float:
    """nbgrader's own rule for a cell: the manual score, else the automatic one, plus extra credit; nothing where neither is given."""
    base = auto if manual is None else manual
    return 0.0 if base is None else base + (extra or 0.0)


def comment_rows(result: Result, rubric: Rubric) -> dict[str, str | None]:
    """The automatic comments by grade_id, in the student's language. They give a missing link's hint, never the link itself."""
    words = _WORDS[result.lang]
    comments: dict[str, str | None] = dict.fromkeys(COMMENTED)
    if result.state == "UNGRADED":
        comments["exercise"] = words["ungraded"].format(why=joined(result.reasons, result.lang) or "-")
        return comments
    hidden = [c for c in result.checks if c.kind in ("normal", "boundary")]
    if hidden:
        comments["exercise"] = words["checks"].format(passed=sum(c.passed for c in hidden), total=len(hidden))
    for own in (c for c in result.checks if c.kind == "own_case"):
        said = own.message.get(result.lang) if own.message else words["passed" if own.passed else "failed"]
        comments["boundary_case"] = words["own"].format(message=said)
    for name in WRITTEN:
        if name in result.slots:
            comments[name] = _slot_comment(result.slots[name], rubric.slots[name], result.lang) or None
    return comments


def _slot_comment(score: SlotScore, slot: Slot, lang: str) -> str:
    words = _WORDS[lang]
    hints = {x.id: x.hint.get(lang) for x in (*slot.links, *slot.misconceptions)}
    parts = []
    if score.lane == "review":
        parts.append(words["suggest"].format(points=score.points, maximum=score.max_points))
    parts += [words["found"].format(quote=x.quote) for x in score.links]
    parts += [words["misconception"].format(quote=m.quote, hint=hints.get(m.id, "")) for m in score.misconceptions]
    if score.points < score.max_points:
        parts += [words["missing"].format(hint=hints[x]) for x in score.missing[:1] if x in hints]
    return " ".join(parts)


def joined(reasons: Iterable[str], lang: str = "en") -> str:
    """Reasons as one line: some are sentences that end in a full stop, most are not and need something between them."""
    out = ""
    for reason in reasons:
        between = "" if not out else " " if _ENDED.search(out) else "；" if lang == "zh" else "; "
        out += between + reason
    return out


_ENDED = re.compile(r"[.!?。！？][”\"'）)]*$")


def _cell_of(where: str) -> str:
    """The grade cell that a finding's place belongs to: an answer slot, the boundary case, or else the code."""
    place = where.lower()
    for name in WRITTEN:
        if name in place:
            return name
    return "boundary" if "boundary" in place else "normal"
