"""What was changed outside the blank: deleted or loosened checks, edited locked cells, names taken over. Nothing is run.

Scores do not depend on any of this: hidden checks run on the blank alone. It is for the rules that are a veto, and for the student.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import lru_cache

from autograder.grading.fill import Exercise, Fill, bound_names
from autograder.grading.read import NbCell, Reading
from autograder.grading.read.released import Part, squeezed, statements
from autograder.grading.source import MAX_REMEMBERED, NotPython, key, parse
from autograder.lesson.rubric import Text
from autograder.records import Finding

MAX_CHECK_LINES = 300  # of a cell that is not Python
_STOPS = {"exit", "quit", "sys.exit", "os._exit", "os.abort"}


@dataclass(frozen=True)
class Protected:
    """A released check: an assert of the exercise cell (part "exercise") or a statement of a locked check cell."""

    part: str
    text: str
    key: str
    calls: frozenset[str]


def find_changes(reading: Reading, fill: Fill | None) -> list[Finding]:
    """Findings about everything but the fill's own value."""
    book = reading.released
    present, nested = _statements_of(reading.code)
    findings: list[Finding] = []
    exercise = book.exercise
    for check in _protected("exercise", exercise.source, exercise.asserts):
        if not _stands(check, present):
            findings.append(_assert_finding(check, nested))
    for name in ("normal", "boundary"):
        part = next((p for p in book.parts if p.name == name), None)
        if part is not None:
            findings += _locked_cell(part, reading, present)
    findings += _locked_setup(reading)
    findings += _taken_over(reading)
    if fill is not None:
        findings += _around_blank(fill)
    return findings


def holds_released_assert(exercise: Exercise, source: str) -> bool:
    """Does this cell run one of the exercise's own asserts? It is then the exercise cell or a copy, not just another use of the name."""
    facts = _facts(source)
    return facts is not None and any(key(a) in facts.reached for a in exercise.asserts)


_PROTECTED: dict[tuple[str, str], list[Protected]] = {}  # of the released cells, which are few


def _protected(part: str, source: str, nodes: list[ast.stmt]) -> list[Protected]:
    """nodes: the checks in `source`, the released cell of that name."""
    if (part, source) not in _PROTECTED:
        _PROTECTED[part, source] = _read_protected(part, nodes)
    return _PROTECTED[part, source]


def _read_protected(part: str, nodes: list[ast.stmt]) -> list[Protected]:
    return [Protected(part, ast.unparse(n), key(n), frozenset(key(c) for c in ast.walk(n) if isinstance(c, ast.Call) and isinstance(c.func, ast.Name))) for n in nodes]


@dataclass(frozen=True)
class _Facts:
    """Of one code cell. reached: its top-level statements up to the first that stops it. calls: every call in it. binds: names it gives
    a meaning to, per statement that is not `def function` itself."""

    reached: frozenset[str]
    calls: frozenset[str]
    binds: tuple[tuple[str, bool], ...]  # (name, is it a function definition?)


def _facts(source: str) -> _Facts | None:
    """None where the cell is not Python."""
    return _remembered_facts(source) if len(source) <= MAX_REMEMBERED else _read_facts(source)


@lru_cache(maxsize=512)
def _remembered_facts(source: str) -> _Facts | None:
    return _read_facts(source)


def _read_facts(source: str) -> _Facts | None:
    try:
        body = parse(source).body
    except NotPython:
        return None
    reached: set[str] = set()
    for statement in body:
        if not isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
            reached.add(key(statement))
        if _stops(statement):
            break
    calls = {key(n) for s in body for n in ast.walk(s) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)}
    binds = [(s.name, True) if isinstance(s, ast.FunctionDef) else (n, False) for s in body for n in ([""] if isinstance(s, ast.FunctionDef) else sorted(_binds(s)))]
    return _Facts(frozenset(reached), frozenset(calls), tuple(binds))


def _binds(statement: ast.stmt) -> set[str]:
    """Names a top-level statement binds; what it imports of the course itself is the released meaning."""
    if isinstance(statement, ast.ClassDef):
        return {statement.name}
    own = {a.asname or a.name for n in ast.walk(statement) if isinstance(n, ast.ImportFrom) and (n.module or "").startswith("autograder") for a in n.names}
    return bound_names([statement]) - own


def _statements_of(cells: list[NbCell]) -> tuple[set[str], set[str]]:
    """(keys of top-level statements that are reached, calls seen anywhere). Of a cell that is not Python (an unfinished blank) the lines
    themselves are taken."""
    present: set[str] = set()
    calls: set[str] = set()
    for cell in cells:
        facts = _facts(cell.source)
        if facts is not None:
            present |= facts.reached
            calls |= facts.calls
        elif not cell.source.lstrip().startswith("%%"):
            present |= _lines_of(cell.source)
    return present, calls


def _lines_of(source: str) -> set[str]:
    """Lines of a cell that is not Python, without spaces and comment, and the keys of those that are a check on their own."""
    lines = source.split("\n")
    checks = [line for line in lines if line.startswith(("assert", "check"))][:MAX_CHECK_LINES]
    return {_bare(line.split("#")[0]) for line in lines} | {key(s[0]) for line in checks if len(s := statements(line)) == 1}


def _bare(line: str) -> str:
    return "".join(line.split())


def _stops(statement: ast.stmt) -> bool:
    """Does nothing after this statement run?"""
    match statement:
        case ast.Raise():
            return True
        case ast.Expr(value=ast.Call(func=ast.Name(id=name))):
            return name in _STOPS
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=module), attr=name))):
            return f"{module}.{name}" in _STOPS
        case ast.Assert(test=ast.Constant(value=value)):
            return not value
    return False


def _stands(check: Protected, present: set[str]) -> bool:
    return check.key in present or _bare(check.text) in present


def _assert_finding(check: Protected, nested: set[str]) -> Finding:
    if check.calls & nested:
        text = Text(zh=f"检查 {check.text} 被改动或放宽了。", en=f"The check `{check.text}` was changed or loosened.")
        return Finding(code="loosened_check", severity="veto", message=text, where="exercise")
    return Finding(code="deleted_check", severity="veto", message=Text(zh=f"检查 {check.text} 被删除了。", en=f"The check `{check.text}` was deleted."), where="exercise")


_NAMES = {"normal": Text(zh="正常输入", en="normal inputs"), "boundary": Text(zh="边界输入", en="boundary inputs")}


def _locked_cell(part: Part, reading: Reading, present: set[str]) -> list[Finding]:
    """The boundary check is the one that the rules protect by a veto; the other asks for a person."""
    checks = _protected(part.name, part.source, statements(part.source))
    if all(_stands(c, present) for c in checks):
        return []
    what = _NAMES[part.name]
    severity = "veto" if part.name == "boundary" else "review"
    if part.name in reading.found:
        message = Text(zh=f"锁定的检查单元格（{what.zh}）被改动了。", en=f"The locked check cell for {what.en} was edited.")
        return [Finding(code="edited_locked_check", severity=severity, message=message, where=part.name)]
    message = Text(zh=f"锁定的检查单元格（{what.zh}）被删除了。", en=f"The locked check cell for {what.en} was deleted.")
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
    return [Finding(code="edited_setup", severity="info", message=Text(zh=f"锁定的准备单元格{zh}；评分不受影响。", en=f"The locked setup cell was {en}; the score does not depend on it."), where="setup")]


def _taken_over(reading: Reading) -> list[Finding]:
    """A second meaning for the exercise's function or for check(): the visible checks then say nothing about the blank."""
    function = reading.released.exercise.function
    findings = []
    taken: set[str] = set()
    asserts = {key(a) for a in reading.released.exercise.asserts}
    in_exercise = False
    for cell in reading.code:
        facts = _facts(cell.source)
        if facts is None:
            continue
        binds = list(facts.binds)
        if (function, True) in binds:  # the exercise itself, and copies of it, define the function; what follows it may not change it
            last = len(binds) - 1 - binds[::-1].index((function, True))
            binds = binds[last + 1 :] + [b for b in binds[:last] if b[0] != function]
            in_exercise |= bool(asserts & facts.reached) and function in {n for n, _ in binds}
        taken |= {function, "check"} & {n for n, _ in binds}
    for name in sorted(taken):
        message = Text(zh=f"{name} 在填空以外又被定义了一次；评分只看填空。", en=f"{name} is defined a second time outside the blank; only the blank is graded.")
        # the function: an experiment, as a rule, except in the exercise's own cell; check(): its list can no longer be trusted
        severity = "info" if name == function and not in_exercise else "review"
        findings.append(Finding(code="redefined", severity=severity, message=message, where=name))
    return findings


def _around_blank(fill: Fill) -> list[Finding]:
    findings = []
    for line in fill.changed[:5]:
        message = Text(zh=f"填空以外的这一行被改动了，评分按原来的代码进行：{line}", en=f"This line outside the blank was changed; the released code is graded: {line}")
        findings.append(Finding(code="changed_outside_blank", severity="info", message=message, where="exercise"))
    return findings
