"""What the released checks rest on besides the function: imports, constants and helpers of the released cells, and check() itself.

The names are read off the released notebook. A check whose words stand as released checks something else where one of them means
something else when it runs. Code cells are gone through in their order, as a notebook is run from top to bottom.
"""

from __future__ import annotations

import ast
import builtins
import math
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby

from autograder.lesson.rubric import Text
from autograder.records import Finding
from autograder.submission.bound import BY_METHOD, NAME, PATH, UNKNOWN, Bind, Cell, cell_of
from autograder.submission.fill import Exercise
from autograder.submission.read import NbCell, Reading
from autograder.submission.read.released import Released
from autograder.submission.tamper import tampered

_BUILTINS = frozenset(vars(builtins))
# By which reach.py knows the same check in other words.
_WORDS = {
    "math": f"{PATH}math",
    "np": f"{PATH}numpy",
    "numpy": f"{PATH}numpy",
    "all": f"{PATH}builtins.all",
    "float": f"{PATH}builtins.float",
}
_TRUSTED = re.compile(
    r"functools\.(?:lru_)?cache|numpy\.vectorize|(?:numba|typing|line_profiler|memory_profiler)\..+"
)  # decorators that leave a function what it is
_KNOWN = frozenset(sys.stdlib_module_names) | {
    "numpy",
    "matplotlib",
    "pylab",
    "ipywidgets",
    "IPython",
    "kernels",
    "autograder",
    "torch",
    "cupy",
    "scipy",
    "pandas",
}
MAX_LINES = 3  # that one finding shows


@dataclass(frozen=True)
class Base:
    """names: what the released exercise cell reads from outside its functions. accepted: their released meanings, all of them. paths: of
    what it reads through modules, as numpy.ceil. lines: how each name is released."""

    names: frozenset[str]
    accepted: dict[str, frozenset[str]]
    paths: frozenset[str]
    lines: dict[str, str]

    @property
    def watched(self) -> frozenset[str]:
        return self.names | {"check"}


class Space(dict[str, str]):
    """Names and what they mean so far. where: the statement that said so."""

    def __init__(self, *given, **more):
        super().__init__(*given, **more)
        self.where: dict[str, Bind] = {}

    def told(self, means: str) -> str:
        """The meaning with its first name looked up."""
        if not means.startswith(NAME):
            return means
        root, dot, rest = means.removeprefix(NAME).partition(".")
        base = self.get(root, f"{PATH}builtins.{root}" if root in _BUILTINS else None)
        if base is None:
            return means
        return base + dot + rest if not dot or base.startswith(PATH) else UNKNOWN

    def take(self, bind: Bind, watched: frozenset[str]) -> None:
        if bind.name == "*":
            for name, means in _starred(bind.means.removeprefix(PATH).removesuffix(".*"), watched):
                self[name], self.where[name] = means, bind
        elif bind.means != BY_METHOD or not self.get(bind.name, PATH).startswith((PATH, "def(")):
            self[bind.name], self.where[bind.name] = self.told(bind.means) if _trusts(bind, self) else UNKNOWN, bind


def _trusts(bind: Bind, space: Space) -> bool:
    """Do its decorators, if there are any, leave the function what it is?"""
    return all(_TRUSTED.fullmatch(space.told(NAME + d).removeprefix(PATH)) for d in bind.decorators)


def _starred(module: str, watched: frozenset[str]) -> Iterator[tuple[str, str]]:
    """What `from module import *` binds of the watched names; of a module that is not known it may be any but a built-in."""
    if module == "math":
        yield from ((n, f"{PATH}math.{n}") for n in watched if hasattr(math, n))
    elif module in ("numpy", "pylab"):
        import numpy as np

        yield from ((n, f"{PATH}numpy.{n}") for n in watched if n in np.__all__ and n not in _BUILTINS)
    elif module.split(".")[0] not in _KNOWN:
        yield from ((n, UNKNOWN) for n in watched - _BUILTINS - {"check"})


@lru_cache(maxsize=32)  # editions are few; by identity
def base_of(book: _ByIdentity) -> Base:
    released: Released = book.it
    exercise = released.exercise
    function = exercise.function
    own = {
        n
        for s in exercise.tree.body
        if isinstance(s, ast.FunctionDef)
        for x in ast.walk(s)
        if (n := _local(x)) is not None
    }
    top = {
        n.id
        for s in exercise.tree.body
        if not isinstance(s, ast.FunctionDef)
        for n in ast.walk(s)
        if isinstance(n, ast.Name)
    }
    names = frozenset(
        n.id
        for n in ast.walk(exercise.tree)
        if isinstance(n, ast.Name) and n.id != "______" and (n.id not in own or n.id in top)
    ) - {function}
    cells = [
        c
        for p in released.parts
        if p.kind == "code" and (c := cell_of(p.source, function, signatures_of(exercise), names)) is not None
    ]
    space, accepted = Space(), {n: {f"{PATH}builtins.{n}"} if n in _BUILTINS else set() for n in names}
    accepted |= {n: accepted.get(n, set()) | {m} for n, m in _WORDS.items()} | {
        "check": {f"{PATH}autograder.notebook.check"}
    }
    paths, lines = set(), {}
    for cell in cells:
        for bind in cell.binds:
            space.take(bind, names)
            if bind.name in accepted and bind.means != BY_METHOD:
                accepted[bind.name].add(space[bind.name])
                lines.setdefault(bind.name, bind.line)
    mine = cell_of(exercise.source, function, signatures_of(exercise), names)
    paths = {p.removeprefix(PATH) for c in mine.chains if (p := space.told(NAME + c)).startswith(PATH)}
    paths |= {m.removeprefix(PATH) for n in names for m in accepted[n] if m.startswith(PATH)}
    return Base(names, {n: frozenset(m) for n, m in accepted.items()}, frozenset(paths), lines)


@dataclass(frozen=True, eq=False)
class _ByIdentity:
    it: Released

    def __hash__(self) -> int:
        return id(self.it)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _ByIdentity) and self.it is other.it


def _local(node: ast.AST) -> str | None:
    match node:
        case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
            return name
    return None


def signatures_of(exercise: Exercise) -> dict[str, ast.arguments]:
    return {s.name: s.args for s in exercise.tree.body if isinstance(s, ast.FunctionDef)}


def find_rests(reading: Reading, holds: Callable[[NbCell], bool]) -> list[Finding]:
    """holds: does this cell run one of the exercise's own asserts? It is then the exercise cell or a copy, not just another use of a name."""
    base, exercise = base_of(_ByIdentity(reading.released)), reading.released.exercise
    function, signatures = exercise.function, signatures_of(exercise)
    watched = base.watched | _WORDS.keys() | {function}
    space, changed, missing, taken = Space(), {}, {}, {}
    for cell in reading.code:
        known = cell_of(cell.source, function, signatures, base.names)
        if known is None:
            continue
        if holds(cell):
            _judge(known, base, space, watched, changed, missing)
        for name in _again(known, function):
            taken[name] = taken.get(name, False) or holds(cell)
        for bind in known.binds:
            space.take(bind, watched)
            if bind.name in ("check", "*") and "check" in space and space["check"] not in base.accepted["check"]:
                taken["check"] = True
            if bind.defines and bind.name == function and not _trusts(bind, space) and holds(cell):
                taken[function] = True  # a decorator that nobody knows
    findings = [_changed(name, bind, reading) for name, bind in sorted(changed.items())]
    findings += [
        _missing(name, base.lines[name]) for name in sorted(missing) if name in base.lines and name not in changed
    ]
    findings += [
        _redefined(name, "review" if in_exercise or name == "check" else "info")
        for name, in_exercise in sorted(taken.items())
    ]
    lines = tampered(
        [c.source for c in reading.code if not _is_released(c, reading)], space, base.watched | {function}, base.paths
    )
    return findings + ([_tampered(lines)] if lines else [])


def _is_released(cell: NbCell, reading: Reading) -> bool:
    from autograder.submission.read.released import squeezed

    return squeezed(cell.source) in reading.released.by_text


def _judge(
    cell: Cell, base: Base, before: Space, watched: frozenset[str], changed: dict[str, Bind], missing: dict[str, bool]
) -> None:
    """The names that the checks of this cell read: what they mean when the checks run."""
    if not cell.checks:
        return
    last = cell.checks[-1]
    in_checks = frozenset().union(*(cell.reads[i] for i in cell.checks))
    names = frozenset().union(*cell.reads[: last + 1]) & base.names | in_checks & _WORDS.keys()
    first = {
        n: next((i for i in cell.checks if n in cell.reads[i]), cell.checks[0]) for n in names
    }  # when it is first needed
    now = Space(before)
    now.where = dict(before.where)
    wrong = {}
    by_place = {at: list(binds) for at, binds in groupby(cell.binds, lambda b: b.at)}
    for i in sorted({*by_place, *first.values()}):
        for name in (n for n in names if first[n] == i and n in now.where and now[n] not in base.accepted[n]):
            wrong[name] = now.where[name]
        for bind in by_place.get(i, []) if i <= last else []:
            now.take(bind, watched)
            if bind.name in names and i >= first[bind.name] and now.get(bind.name) not in base.accepted[bind.name]:
                wrong[bind.name] = bind
    changed |= wrong
    missing |= {n: True for n in names & in_checks if n not in now and n not in _BUILTINS}


def _again(cell: Cell, function: str) -> Iterator[str]:
    """The function where it gets a second meaning: after its last definition in a cell that defines it, anywhere in another."""
    defined = [i for i, b in enumerate(cell.binds) if b.name == function and b.defines]
    if any(b.name == function and b.means != BY_METHOD for b in cell.binds[defined[-1] + 1 if defined else 0 :]):
        yield function


# -- in words ----------------------------------------------------------------------------------------------------------------------


def _changed(name: str, bind: Bind, reading: Reading) -> Finding:
    """A veto where it surely looks at nothing; what else it may be only a person can judge."""
    if bind.blind and bind.sure and reading.other_release is None:
        message = Text(
            zh=f"检查要用的 {name} 被换成了不看参数的写法，检查因此什么也不检查：{bind.line}",
            en=f"{name}, which the checks use, was replaced by something that looks at none of its arguments, so that they check nothing: `{bind.line}`",
        )
        return Finding(code="loosened_check", severity="veto", message=message, where="exercise")
    message = Text(
        zh=f"检查要用的 {name} 与发布的不同，检查是否仍是同样的检查要由人来看：{bind.line}",
        en=f"{name}, which the checks use, is not the released one; a person must see whether they still check the same: `{bind.line}`",
    )
    return Finding(code="changed_basis", severity="review", message=message, where="exercise")


def _missing(name: str, line: str) -> Finding:
    message = Text(
        zh=f"检查要用的 {name} 不见了，评分按原来的代码进行：{line}",
        en=f"{name}, which the checks use, is gone; the released code is graded: {line}",
    )
    return Finding(code="changed_outside_blank", severity="info", message=message, where="exercise")


def _redefined(name: str, severity: str) -> Finding:
    """The function: an experiment, as a rule, except in the exercise's own cell; check(): its list can no longer be trusted."""
    message = Text(
        zh=f"{name} 在填空以外又被定义了一次；评分只看填空。",
        en=f"{name} is defined a second time outside the blank; only the blank is graded.",
    )
    return Finding(code="redefined", severity=severity, message=message, where=name)


def _tampered(lines: list[str]) -> Finding:
    zh, en = "；".join(lines[:MAX_LINES]), "; ".join(f"`{x}`" for x in lines[:MAX_LINES])
    message = Text(
        zh=f"这里改动了笔记本运行代码的方式，或检查用到的工具：{zh}。得分不受影响，但要由人来看。",
        en=f"This changes how the notebook runs its code, or the tools that its checks use: {en}. The score does not depend on it, but a person must look.",
    )
    return Finding(code="changed_machinery", severity="review", message=message, where="notebook")
