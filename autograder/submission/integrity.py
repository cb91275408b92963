"""What was changed outside the blank: deleted or loosened checks, edited locked cells, names taken over. Nothing is run.

Scores do not depend on any of this: hidden checks run on the blank alone. It is for the rules that are a veto, and for the student.
A check that means the same is the same (reach.py); one that was rewritten so that reading does not tell goes to a person.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from functools import lru_cache

from autograder.lesson.model import ANSWER_SLOTS
from autograder.lesson.rubric import Text
from autograder.records import Finding
from autograder.submission.challenge_line import challenge_of
from autograder.submission.fill import Exercise, Fill
from autograder.submission.reach import Signatures, conditions, constants, dotted, meaning, runs
from autograder.submission.read import NbCell, Reading
from autograder.submission.read.notebook import MAX_SOURCE
from autograder.submission.read.prose import SOME, amount
from autograder.submission.read.released import Part, plain, squeezed, statements
from autograder.submission.rests import find_rests, signatures_of
from autograder.submission.source import MAX_REMEMBERED, NotPython, as_run, key, parse

MAX_CHECK_BLOCKS = 300  # of a cell that is not Python
TOLERANCE = 1e-6  # to compare this nearly is a habit with floats; an assert looser than that is loosened
_CLOSE = {"isclose", "allclose", "assert_allclose"}
_TEST_RUNNERS = {"unittest.main", "ipytest.run", "pytest.main", "doctest.testmod"}


@dataclass(frozen=True)
class Protected:
    """A released check: an assert of the exercise cell.

    held: for each condition it holds the meanings by which it is known. sides: what each compares, none where one compares nothing.
    calls: every call in it. literals: its constants.
    """

    text: str
    held: tuple[frozenset[str], ...]
    sides: tuple[frozenset[str], ...]
    calls: frozenset[str]
    literals: frozenset[str]


@dataclass(frozen=True)
class _Facts:
    """Of code cells. held: meanings of the conditions that asserts hold. made: of the calls that are made. calls: of every call anywhere.
    near: sides of what asserts compare, exactly or with a small tolerance. loops: for each loop or branch with an assert that may run, the
    constants of its cell and the names in it. tested: does a test runner run? whole: were they read to their end?
    """

    held: frozenset[str] = frozenset()
    made: frozenset[str] = frozenset()
    calls: frozenset[str] = frozenset()
    near: frozenset[frozenset[str]] = frozenset()
    loops: tuple[tuple[frozenset[str], frozenset[str]], ...] = ()
    tested: bool = False
    whole: bool = True


def find_changes(reading: Reading, fill: Fill | None) -> list[Finding]:
    """Findings about everything but the fill's own value."""
    exercise = reading.released.exercise
    present = _present(reading, exercise)
    findings = _missing_asserts(
        [check for check in _protected(exercise) if not _stands(check, present)], present, reading
    )
    locked = [
        f for p in reading.released.parts if p.name in ("normal", "boundary") for f in _locked_cell(p, reading, present)
    ]
    gone = locked + _locked_setup(reading)
    if gone and _is_in_parts(reading):
        findings += [_IN_PARTS] if locked else []
    else:
        findings += gone
    findings += _too_long(reading, findings)
    findings += _own_case(reading, present)
    findings += find_rests(reading, lambda cell: holds_released_assert(exercise, cell.source))
    findings += _not_code(reading)
    if fill is not None:
        findings += _around_blank(fill)
    return findings


def holds_released_assert(exercise: Exercise, source: str) -> bool:
    """Does this cell run one of the exercise's own asserts? It is then the exercise cell or a copy, not just another use of the name."""
    facts = _facts(source, exercise)
    return facts is not None and _holds_one(facts, exercise)


def _holds_one(facts: _Facts, exercise: Exercise) -> bool:
    return any(known & facts.held for check in _protected(exercise) for known in check.held)


@lru_cache(maxsize=64)  # exercises are few
def _protected(exercise: Exercise) -> tuple[Protected, ...]:
    """The released asserts."""
    signatures, out = signatures_of(exercise), []
    held = iter(runs(exercise.tree.body, signatures).held)
    for statement in exercise.asserts:
        own = [next(held) for _ in conditions(statement.test)]
        sides = tuple(_sides(h.test, signatures) for h in own)
        out.append(
            Protected(
                ast.unparse(statement),
                tuple(h.known for h in own),
                sides if all(sides) else (),
                _calls_in([statement], signatures),
                constants([statement]),
            )
        )
    return tuple(out)


def _calls_in(nodes: list[ast.stmt], signatures: Signatures) -> frozenset[str]:
    return frozenset(
        meaning(n, signatures)
        for s in nodes
        for n in ast.walk(s)
        if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)
    )


def _facts(source: str, exercise: Exercise) -> _Facts | None:
    """None where the cell is not Python."""
    return _remembered_facts(source, exercise) if len(source) <= MAX_REMEMBERED else _read_facts(source, exercise)


@lru_cache(maxsize=512)
def _remembered_facts(source: str, exercise: Exercise) -> _Facts | None:
    return _read_facts(source, exercise)


def _read_facts(source: str, exercise: Exercise) -> _Facts | None:
    try:
        return _facts_of(parse(source).body, signatures_of(exercise))
    except NotPython:
        return None
    except RecursionError:  # deeper than any check
        return _Facts(whole=False)


def _facts_of(body: list[ast.stmt], signatures: Signatures) -> _Facts:
    ran = runs(body, signatures)
    loops = [
        frozenset(n.id for n in ast.walk(s) if isinstance(n, ast.Name))
        for s in ran.maybe
        if any(isinstance(n, ast.Assert) for n in ast.walk(s)) and not _swallows(s)
    ]
    literals = constants(body) if loops else frozenset()
    return _Facts(
        held=frozenset().union(*(h.known for h in ran.held)),
        made=frozenset(ran.calls),
        calls=_calls_in(body, signatures),
        near=frozenset(
            s
            for test in (*(h.test for h in ran.held), *(c for c in ran.called if _called(c.func) == "assert_allclose"))
            if (s := _sides(test, signatures))
        ),
        loops=tuple((literals, names) for names in loops),
        tested=any(dotted(c.func) in _TEST_RUNNERS for c in ran.called),
    )


def _swallows(statement: ast.stmt) -> bool:
    """Is there anything in it that lets an assert fail unseen?"""
    contexts = (
        i.context_expr for n in ast.walk(statement) if isinstance(n, (ast.With, ast.AsyncWith)) for i in n.items
    )
    names = {dotted(c.func if isinstance(c, ast.Call) else c).split(".")[-1] for c in contexts}
    return bool(names & {"suppress", "raises", "assertRaises"}) or any(
        isinstance(n, (ast.Try, ast.TryStar)) for n in ast.walk(statement)
    )


def _sides(test: ast.expr, signatures: Signatures) -> frozenset[str]:
    """What is compared exactly, or allowing for rounding and no more: a == b, isclose(a, b), a == approx(b), abs(a - b) < 1e-9."""
    match test:
        case ast.Compare(left=a, ops=[ast.Eq()], comparators=[ast.Call(func=func, args=[b], keywords=keywords)]) if (
            _called(func) == "approx"
        ):
            pass
        case ast.Compare(left=a, ops=[ast.Eq()], comparators=[b]):
            keywords = []
        case ast.Call(func=func, args=[a, b], keywords=keywords) if _called(func) in _CLOSE:
            pass
        case ast.Compare(
            left=ast.Call(func=func, args=[ast.BinOp(left=a, op=ast.Sub(), right=b)]),
            ops=[ast.Lt() | ast.LtE()],
            comparators=[limit],
        ) if _called(func) in ("abs", "fabs"):
            keywords = [ast.keyword("", limit)]
        case _:
            return frozenset()
    return (
        frozenset((meaning(a, signatures), meaning(b, signatures)))
        if all(_is_small(k.value) for k in keywords)
        else frozenset()
    )


def _called(func: ast.expr) -> str:
    return dotted(func).split(".")[-1]


def _is_small(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and (
        isinstance(node.value, bool) or isinstance(node.value, (int, float)) and node.value <= TOLERANCE
    )


def _present(reading: Reading, exercise: Exercise) -> _Facts:
    """Of all cells together. Of a cell that is not Python (an unfinished blank) the checks are taken one by one."""
    found, whole = [], not reading.unread
    for cell in reading.code:
        whole &= not cell.cut
        facts = _facts(cell.source, exercise)
        if facts is not None:
            found.append(facts)
        elif not cell.source.lstrip().startswith("%%"):
            blocks = _check_blocks(cell.source)
            whole &= len(blocks) <= MAX_CHECK_BLOCKS
            found += [_facts_of(statements(block), signatures_of(exercise)) for block in blocks[:MAX_CHECK_BLOCKS]]
    together = lambda name: frozenset().union(*(getattr(f, name) for f in found))  # noqa: E731
    return _Facts(
        together("held"),
        together("made"),
        together("calls"),
        together("near"),
        tuple(x for f in found for x in f.loops),
        any(f.tested for f in found),
        whole=whole and all(f.whole for f in found),
    )


def _check_blocks(source: str) -> list[str]:
    """The checks in a cell that is not Python: top-level lines that begin one, each with the lines that go on with it."""
    return re.findall(r"^(?:assert|check)\b.*(?:\n(?:[ \t)\]}].*)?)*", as_run(source), re.M)


def _stands(check: Protected, present: _Facts) -> bool:
    return all(known & present.held for known in check.held)


def _missing_asserts(missing: list[Protected], present: _Facts, reading: Reading) -> list[Finding]:
    """A veto for each that was deleted or loosened; one finding for all that only a person can judge."""
    if missing and reading.other_release is not None:
        return [_of_another_release(missing, reading, "exercise")]
    if missing and not present.whole:
        return [_not_read(_listed(missing), "exercise")]
    unclear = [check for check in missing if _is_unclear(check, present, reading.released.exercise.function)]
    findings = []
    for check in missing:
        if check in unclear:
            continue
        if check.calls & present.calls:
            text = Text(
                zh=f"检查 {check.text} 被改动或放宽了。", en=f"The check `{check.text}` was changed or loosened."
            )
            findings.append(Finding(code="loosened_check", severity="veto", message=text, where="exercise"))
        else:
            findings.append(
                Finding(
                    code="deleted_check",
                    severity="veto",
                    message=Text(zh=f"检查 {check.text} 被删除了。", en=f"The check `{check.text}` was deleted."),
                    where="exercise",
                )
            )
    if unclear:
        zh, en = _listed(unclear)
        message = Text(
            zh=f"检查 {zh} 换了写法，是否仍是同样的检查要由人来看。",
            en=f"Written in another way, so that a person must see whether they still check the same: {en}",
        )
        findings.append(Finding(code="changed_check", severity="review", message=message, where="exercise"))
    return findings


def _listed(checks: list[Protected]) -> tuple[str, str]:
    return "、".join(c.text for c in checks), ", ".join(f"`{c.text}`" for c in checks)


def _is_unclear(check: Protected, present: _Facts, function: str) -> bool:
    """Compared with a small tolerance, in a loop over a list of cases, or by a test runner: that may be the same check."""
    if check.sides and all(s in present.near for s in check.sides):
        return True
    return any(check.literals <= literals and function in names for literals, names in present.loops) or (
        present.tested and bool(check.calls & present.calls)
    )


def _not_read(checks: tuple[str, str], where: str) -> Finding:
    """What was not read to its end accuses nobody."""
    zh, en = checks
    message = Text(
        zh=f"笔记本太长，没有读完（一个单元格最多读 {MAX_SOURCE} 个字符），看不出检查 {zh} 还在不在。要由人来看。",
        en=f"The notebook is too long and was not read to its end (at most {MAX_SOURCE} characters of a cell are), so that it does not show whether the checks still stand: {en}. A person must look.",
    )
    return Finding(code="too_long", severity="review", message=message, where=where)


def _too_long(reading: Reading, findings: list[Finding]) -> list[Finding]:
    """Of an exercise cell that was cut, where nothing has been said of that yet."""
    if not any(c.cut for c in reading.exercise) or any(f.code == "too_long" for f in findings):
        return []
    message = Text(
        zh=f"填空单元格太长，只读了前 {MAX_SOURCE} 个字符；请删去多余的内容。",
        en=f"The exercise cell is too long; only its first {MAX_SOURCE} characters were read. Remove what does not belong there.",
    )
    return [Finding(code="too_long", severity="info", message=message, where="exercise")]


def _is_in_parts(reading: Reading) -> bool:
    """Is there none of the lesson's cells but those that a student writes in?"""
    theirs = {"exercise", "boundary_case", *ANSWER_SLOTS} | {
        p.name for p in reading.released.parts if p.kind == "code" and challenge_of(p.source)
    }
    others = (p for p in reading.released.parts if p.name not in theirs)
    return bool(reading.exercise) and not any(
        _is_left(p, cell) for p in others for cell in reading.found.get(p.name, [])
    )


def _is_left(part: Part, cell: NbCell) -> bool:
    """Is the cell this part? An answer is taken for a question where it holds most of its words; then no line of it is there."""
    if part.kind == "code" or squeezed(cell.source) == squeezed(part.source):
        return True
    lines = {plain(x) for x in part.source.split("\n") if amount(x) >= SOME}
    return any(plain(x) in lines for x in cell.source.split("\n"))


_IN_PARTS = Finding(
    code="only_own_cells",
    severity="review",
    message=Text(
        zh="交来的只有你自己写的单元格（填空、边界用例、回答），这一课的其他单元格，包括锁定的检查，都不在笔记本里。得分不受影响，但要由人来看；请交完整的笔记本。",
        en="Only your own cells were handed in (the blank, the boundary case, the answers); none of the lesson's other cells is in the notebook, the locked checks among them. The score does not depend on it, but a person must look; hand in the whole notebook.",
    ),
)


def _own_case(reading: Reading, present: _Facts) -> list[Finding]:
    """The assert below the student's own case: his prediction is tested without it."""
    part = next((p for p in reading.released.parts if p.name == "boundary_case"), None)
    if (
        part is None
        or not present.whole
        or reading.other_release is not None
        or not any("my_case" in c.source for c in reading.code)
    ):
        return []
    if all(
        known & present.held or sides and sides in present.near
        for known, sides in _held_by(part.source, reading.released.exercise)
    ):
        return []
    message = Text(
        zh="边界用例下面的断言被改动或删除了；你的预测仍会照样核对。",
        en="The assert below your own boundary case was changed or deleted; your prediction is tested all the same.",
    )
    return [Finding(code="own_case_check", severity="info", message=message, where="boundary_case")]


@lru_cache(maxsize=64)  # exercises are few
def _held_by(source: str, exercise: Exercise) -> tuple[tuple[frozenset[str], frozenset[str]], ...]:
    """For each condition that a released cell's asserts hold: the meanings by which it is known, and what it compares."""
    signatures = signatures_of(exercise)
    return tuple((h.known, _sides(h.test, signatures)) for h in runs(statements(source), signatures).held)


def _of_another_release(missing: list[Protected], reading: Reading, where: str) -> Finding:
    """Its checks are not to be held against today's; and whoever forges an id gets a person to look, not a pass."""
    theirs, today = reading.other_release, reading.released.release
    (zh, en) = _listed(missing) if missing else (f"（{_NAMES[where].zh}）", f"for {_NAMES[where].en}")
    message = Text(
        zh=f"这份笔记本出自这一课的另一个发布版本（{theirs or '没有版本号'}，现在是 {today}），缺少现在的检查：{zh}。要由人来看。",
        en=f"The notebook comes from another release of the lesson ({theirs or 'without an id'}; today's is {today}) and lacks today's checks: {en}. A person must look.",
    )
    return Finding(code="other_release", severity="review", message=message, where=where)


_NAMES = {"normal": Text(zh="正常输入", en="normal inputs"), "boundary": Text(zh="边界输入", en="boundary inputs")}


def _locked_cell(part: Part, reading: Reading, present: _Facts) -> list[Finding]:
    """The boundary check is the one that the rules protect by a veto; the other asks for a person."""
    calls = [
        s.value for s in statements(part.source) if isinstance(s, ast.Expr)
    ]  # what they import, the setup cell imports too
    if all(meaning(c, {}) in present.made for c in calls):
        return []
    what = _NAMES[part.name]
    if reading.other_release is not None:
        return [_of_another_release([], reading, part.name)]
    if not present.whole:
        return [_not_read((f"（{what.zh}）", f"for {what.en}"), part.name)]
    severity = "veto" if part.name == "boundary" else "review"
    if part.name in reading.found:
        message = Text(
            zh=f"锁定的检查单元格（{what.zh}）被改动了。", en=f"The locked check cell for {what.en} was edited."
        )
        return [Finding(code="edited_locked_check", severity=severity, message=message, where=part.name)]
    message = Text(
        zh=f"锁定的检查单元格（{what.zh}）被删除了。", en=f"The locked check cell for {what.en} was deleted."
    )
    return [Finding(code="deleted_locked_check", severity=severity, message=message, where=part.name)]


def _locked_setup(reading: Reading) -> list[Finding]:
    part = next((p for p in reading.released.parts if p.name == "setup"), None)
    cells = reading.found.get("setup", [])
    if part is None or any(squeezed(c.source) == squeezed(part.source) for c in cells):
        return []
    wanted = {key(s) for s in statements(part.source)}
    if any(wanted <= {key(s) for s in statements(c.source)} for c in reading.code):
        return []
    zh, en = ("被改动了", "edited") if cells else ("不见了", "removed")
    return [
        Finding(
            code="edited_setup",
            severity="info",
            message=Text(
                zh=f"锁定的准备单元格{zh}；评分不受影响。",
                en=f"The locked setup cell was {en}; the score does not depend on it.",
            ),
            where="setup",
        )
    ]


def _not_code(reading: Reading) -> list[Finding]:
    """Cells that were read as the code they hold, though Jupyter runs nothing in them."""
    findings = []
    for name in reading.turned:
        message = Text(
            zh=f"单元格 {name} 变成了 Markdown 或 raw 单元格，在 Jupyter 里不会运行；这里按代码读取。",
            en=f"The cell {name} has become a Markdown or raw cell, which Jupyter does not run; it was read as the code that it holds.",
        )
        findings.append(Finding(code="not_a_code_cell", severity="info", message=message, where=name))
    return findings


def _around_blank(fill: Fill) -> list[Finding]:
    findings = []
    for line in fill.changed[:5]:
        message = Text(
            zh=f"填空以外的这一行被改动了，评分按原来的代码进行：{line}",
            en=f"This line outside the blank was changed; the released code is graded: {line}",
        )
        findings.append(Finding(code="changed_outside_blank", severity="info", message=message, where="exercise"))
    for line in fill.left_out[:5]:
        message = Text(
            zh=f"这一行加在填空以外，没有计入评分：{line}",
            en=f"This line was added outside the blank and is not graded: {line}",
        )
        findings.append(Finding(code="left_out", severity="info", message=message, where="exercise"))
    return findings
