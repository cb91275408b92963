"""The hidden checks of one fill: inputs go into the sandbox one by one, results come out, and are compared here."""

from __future__ import annotations

import ast
import copy
import hashlib
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from pydantic import TypeAdapter

from autograder.errors import CourseError
from autograder.grading.sandbox import Broken, Reply, Room, Sandbox, syntax
from autograder.grading.sandbox.codec import MAX_BYTES, MAX_ITEMS, TOO_MUCH, ProbeArgument
from autograder.lesson.checks import Checks
from autograder.lesson.rubric import Text
from autograder.records import CheckOutcome, Finding
from autograder.submission import names
from autograder.submission.compare import matches

ROUNDS = 2  # seeds tried for each submission
_BUILTINS = sorted(names.BUILTINS)
_NOT_ITS_OWN = {"starved", "killed"}  # ends that say nothing about the fill
_DOUBTFUL = {"crashed", "memory", "violation"}  # its own doing as a rule; a machine in trouble can bring them about too
_ENDLESS = Text(
    zh="没有再试：正常输入已经超过时间限制。", en="Not tried: the normal inputs had already run out of time."
)


@dataclass(frozen=True)
class HiddenChecks:
    """doubtful: some call ended in a way that a machine in trouble brings about too. changed: arguments that some call wrote into, though
    the lesson's own solution does not."""

    outcomes: list[CheckOutcome]
    doubtful: bool = False
    changed: tuple[str, ...] = ()

    def passed(self, kind: str) -> bool:
        """True when there are checks of this kind and every one passed."""
        mine = [o.passed for o in self.outcomes if o.kind == kind]
        return bool(mine) and all(mine)


_HIDDEN_CHECKS = TypeAdapter(HiddenChecks)


def seeds(checks_hash: str, program: str) -> list[int]:
    """Seeds of the hidden inputs: other ones for each program, the same at each regrade of it and for whoever wrote the same."""
    return [
        int.from_bytes(hashlib.sha256(f"{checks_hash}:{program}:{n}".encode("utf-8", "surrogatepass")).digest()[:8])
        for n in range(ROUNDS)
    ]


class Remembered:
    """Outcomes of programs that have run: in a class many write the same line, and the same program on the same inputs does the same.

    The key is the program as it is run, so comments and layout do not count; what a broken sandbox left unfinished is not kept.
    Graders that work side by side tell each other (`news`, `learn`), so that a line is run once and not once in each of them.
    """

    def __init__(self, most: int = 512):
        self._most = most
        self._known: OrderedDict[str, HiddenChecks] = OrderedDict()
        self._news: dict[str, HiddenChecks] = {}

    def run(self, checks: Checks, checks_hash: str, program: ast.Module, sandbox: Sandbox) -> HiddenChecks:
        """As run_checks with the seeds of this program. What is doubtful is tried a second time: it counts, and is kept for whoever wrote
        the same, when it comes out the same twice. Raises Broken also where it does not."""
        text = syntax.dumps(program)
        key = hashlib.sha256(f"{checks_hash}:{text}".encode("utf-8", "surrogatepass")).hexdigest()
        if key not in self._known:
            self._news[key] = self._keep(key, _settled(checks, program, sandbox, seeds(checks_hash, text)))
        self._known.move_to_end(key)
        return self._known[key]

    def _keep(self, key: str, found: HiddenChecks) -> HiddenChecks:
        self._known[key] = found
        while len(self._known) > self._most:
            self._known.popitem(last=False)
        return found

    def news(self) -> dict[str, dict]:
        """What has run here since this was last asked, as JSON takes it."""
        out = {key: _HIDDEN_CHECKS.dump_python(found, mode="json") for key, found in self._news.items()}
        self._news.clear()
        return out

    def learn(self, news: dict[str, dict]) -> None:
        """Take over what ran elsewhere. What ran here too stays as it came out here: nobody's outcome changes half way."""
        for key, found in news.items():
            if key not in self._known:
                self._keep(key, _HIDDEN_CHECKS.validate_python(found))


def _settled(checks: Checks, program: ast.Module, sandbox: Sandbox, seed_list: list[int]) -> HiddenChecks:
    found = run_checks(checks, program, sandbox, seed_list)
    if not found.doubtful:
        return found
    again = run_checks(checks, program, sandbox, seed_list)
    if again.doubtful and again.outcomes != found.outcomes:
        raise Broken("it ended in two different ways")
    return again


def about_arguments(found: HiddenChecks) -> list[Finding]:
    """What a caller would find out too late: his own data are no longer there. It costs no points."""
    if not found.changed:
        return []
    zh, en = "、".join(found.changed), ", ".join(found.changed)
    message = Text(
        zh=f"填空就地修改了参数 {zh}（例如用 *=、+= 或给元素赋值）：调用者自己的数据被改掉，不再存在。这不影响分数。",
        en=f"The blank changed its argument {en} in place (as *=, += or assigning to elements does); the caller's data are gone. It costs no points.",
    )
    return [Finding(code="argument_changed", severity="info", message=message, where="exercise")]


def not_run(checks: Checks, why: Text) -> HiddenChecks:
    """Every check failed, because there is nothing to run."""
    outcomes = []
    for kind, cases in (("normal", checks.normal_cases), ("boundary", checks.boundary_cases)):
        outcomes += [
            CheckOutcome(name=Text(**c["name"]), kind=kind, passed=False, message=why) for c in _cases(checks, cases, 0)
        ]
    return HiddenChecks(outcomes)


def run_checks(checks: Checks, program: ast.Module, sandbox: Sandbox, seed_list: list[int]) -> HiddenChecks:
    """Call the fill on every hidden case, normal cases first; not again on one of the same name as one that has failed. A crash on one kind costs only that kind: boundary cases that did not all
    come through in the same process are tried in one of their own. Raises CourseError where the lesson's own checks do not run,
    sandbox.Broken where the sandbox does not, or the machine is too busy to let the fill run."""
    normal, boundary = (
        _Tried(kind, _shuffled(checks, make, seed_list))
        for kind, make in (("normal", checks.normal_cases), ("boundary", checks.boundary_cases))
    )
    ended = _try(checks, program, sandbox, [normal, boundary])
    if ended == "timeout" and not boundary.begun:  # it cannot pass any more: do not wait a second time
        return HiddenChecks(normal.outcomes() + [o for o in not_run(checks, _ENDLESS).outcomes if o.kind == "boundary"])
    if ended is not None:
        boundary = _Tried("boundary", boundary.cases)
        _try(checks, program, sandbox, [boundary])
    for n, tried in enumerate((normal, boundary)):
        if not tried.failed and any(c.get("untouched") for c in tried.cases):
            _try_disguised(checks, program, sandbox, tried, seed_list[0] + n)
    changed = normal.changed | boundary.changed
    return HiddenChecks(
        normal.outcomes() + boundary.outcomes(),
        normal.doubtful or boundary.doubtful,
        tuple(sorted(changed - _written(checks))) if changed else (),
    )


@dataclass
class _Tried:
    """The cases of one kind, and what went wrong with which (by its English name)."""

    kind: str
    cases: list[dict]
    begun: bool = False
    doubtful: bool = False
    changed: set[str] = field(default_factory=set)
    failed: dict[str, Text] = field(default_factory=dict)

    def outcomes(self) -> list[CheckOutcome]:
        names_ = {c["name"]["en"]: Text(**c["name"]) for c in self.cases}
        return [
            CheckOutcome(name=names_[n], kind=self.kind, passed=n not in self.failed, message=self.failed.get(n))
            for n in sorted(names_)
        ]


def _shuffled(checks: Checks, make: Callable, seed_list: list[int]) -> list[dict]:
    """The cases of all rounds, each round in an order of its own."""
    out = []
    for seed in seed_list:
        cases = _cases(checks, make, seed)
        out += [cases[i] for i in np.random.default_rng(seed ^ 0x5EED).permutation(len(cases))]
    return out


def _try(checks: Checks, program: ast.Module, sandbox: Sandbox, kinds: list[_Tried]) -> str | None:
    """These kinds in one process. Returns how it ended before all cases were through (a Reply's kind), None where it did not."""
    with sandbox.program(program, checks.function, _BUILTINS, _room(kinds)) as session:
        for tried in kinds:
            tried.begun = session.dead is None or tried is kinds[0]
            for case in tried.cases:
                if case["name"]["en"] in tried.failed:
                    continue
                reply = session.call(_arguments(case["args"]))
                tried.doubtful |= reply.kind in _DOUBTFUL
                tried.changed.update(n for n in reply.changed if n in case["args"])
                if (problem := judge(case, reply)) is not None:
                    tried.failed.setdefault(case["name"]["en"], problem)
        ended = session.dead.kind if session.dead is not None else None
        if ended in _NOT_ITS_OWN:
            raise Broken(f"the machine did not let the fill run: {ended}")
    return ended


def _try_disguised(checks: Checks, program: ast.Module, sandbox: Sandbox, tried: _Tried, seed: int) -> None:
    """Cases with an untouched argument again, in which nothing but reading it tells it from a real one: reading it ends the process. They
    stand at random among the other cases, in a process of their own, so that no count of calls tells them either."""
    steps = [(case, _arguments(case["args"]), False) for case in tried.cases if not case.get("untouched")]
    steps += [(case, args, True) for case in tried.cases if case.get("untouched") for args in _disguised(case["args"])]
    with sandbox.program(program, checks.function, _BUILTINS, _room([tried])) as session:
        for i in np.random.default_rng(seed).permutation(len(steps)):
            case, args, disguised = steps[i]
            reply = session.call(args)
            if reply.kind in _NOT_ITS_OWN:
                raise Broken(f"the machine did not let the fill run: {reply.kind}")
            read = disguised and reply.kind == "crashed"
            tried.doubtful |= reply.kind in _DOUBTFUL and not read
            if (problem := _used(case["untouched"]) if read else judge(case, reply)) is not None:
                tried.failed[case["name"]["en"]] = problem
            if session.dead is not None:
                return


def _room(kinds: list[_Tried]) -> Room:
    """Room for a reply several times as large as the largest that is right: anything larger is of the wrong kind, and working on it would
    cost the time of those that are. In powers of two, the same for every call."""
    items, size = 64, 1 << 16
    for value in (case["expect"] for tried in kinds for case in tried.cases if "expect" in case):
        n, b = _extent(value)
        while items < 4 * n:
            items *= 2
        while size < 32 * b:  # a bool may come as a complex, in base 64
            size *= 2
    return Room(min(items, MAX_ITEMS), min(size, MAX_BYTES))


def _extent(value: object) -> tuple[int, int]:
    """How many items an expected value has, and about how many bytes."""
    if isinstance(value, (list, tuple, dict)):
        parts = [_extent(v) for v in (value if not isinstance(value, dict) else [*value, *value.values()])]
        return 1 + sum(n for n, _ in parts), 16 + sum(b for _, b in parts)
    return 1, value.nbytes if isinstance(value, np.ndarray) else len(value) * 4 if isinstance(value, str) else 64


@lru_cache(maxsize=64)
def _written(checks: Checks) -> frozenset[str]:
    """The arguments that the lesson's own function writes into."""
    found = set()
    for make in (checks.normal_cases, checks.boundary_cases):
        for case in _cases(checks, make, 0):
            args = {k: v for k, v in copy.deepcopy(case["args"]).items() if not (isinstance(v, dict) and "$probe" in v)}
            mutable = {k: _bits(v) for k, v in args.items() if isinstance(v, (np.ndarray, list, dict))}
            try:
                with np.errstate(all="ignore"):
                    checks.reference(**{k: args.get(k) for k in case["args"]})
            except Exception:  # a case that must raise, or one with a probe
                pass
            found |= {k for k, bits in mutable.items() if _bits(args[k]) != bits}
    return frozenset(found)


def _bits(value: object) -> tuple | str:
    return (value.dtype.str, value.shape, value.tobytes()) if isinstance(value, np.ndarray) else repr(value)


def _cases(checks: Checks, make: Callable, seed: int) -> list[dict]:
    try:
        with np.errstate(all="ignore"):
            return make(np.random.default_rng(seed))
    except Exception as e:  # a lesson author's mistake
        raise CourseError(
            f"{make.__name__} of the hidden checks fails: {type(e).__name__}: {e}.",
            where=str(checks.path),
            remedy="Mend checks.py and run `course lint`.",
        ) from e


def _arguments(args: dict, disguise: Callable[[str], ProbeArgument] = ProbeArgument) -> dict:
    """disguise: what stands for a probe of this name."""
    return {k: disguise(k) if isinstance(v, dict) and set(v) == {"$probe"} else v for k, v in args.items()}


def _disguised(args: dict) -> list[dict]:
    """The arguments with a float in each probe's place, and with arrays as large as the other one."""
    shape = next((v.shape for v in args.values() if isinstance(v, np.ndarray)), (7,))
    kinds = [((), "float64"), (shape, "float32"), (shape, "float64")]
    return [_arguments(args, lambda name, kind=kind: ProbeArgument(name, *kind)) for kind in kinds]


def _used(names_: Iterable[str]) -> Text:
    name = ", ".join(names_)
    return Text(zh=f"这里不应当使用 {name}，但用到了。", en=f"{name} must not be used here, but was.")


def judge(case: dict, reply: Reply) -> Text | None:
    """None when the case holds, else what went wrong; no hidden value is told."""
    if case.get("raises"):
        return (
            None
            if reply.kind == "raised"
            else Text(zh="这里应当抛出异常，但没有。", en="An exception was expected here, and none was raised.")
        )
    used = sorted(set(case.get("untouched", ())) & set(reply.touched))
    if used:
        return _used(used)
    match reply.kind:
        case "value":
            if matches(reply.value, case["expect"], case.get("rtol", 0.0), case.get("atol", 0.0)):
                return None
            return _wrong(reply.value, case["expect"])
        case "raised":
            return Text(zh=f"抛出了 {reply.detail}。", en=f"It raised {reply.detail}.")
        case "timeout":
            return Text(
                zh="在时间限制内没有算完，已经停止。", en="It did not finish within the time limit and was stopped."
            )
        case "memory":
            return Text(zh="用的内存超过了限制。", en="It used more memory than is allowed.")
        case "not_plain" if reply.detail in TOO_MUCH:
            return _WRONG_KIND
        case "not_plain":
            return Text(
                zh="返回的不是普通的数、字符串、列表或数组。",
                en="It returned something that is not a plain number, string, list or array.",
            )
        case _:
            return Text(zh="运行它的进程意外结束。", en="The process that ran it ended unexpectedly.")


_WRONG_KIND = Text(zh="返回值的种类或形状不对。", en="The result has the wrong kind or shape.")


def _wrong(actual: object, expected: object) -> Text:
    """The kind of difference, without the values."""
    a, e = (
        x.shape
        if isinstance(x, np.ndarray)
        else ()
        if isinstance(x, (int, float, complex, np.generic))
        else type(x).__name__
        for x in (actual, expected)
    )
    if actual is None and expected is not None:
        return Text(zh="没有返回值（返回了 None）。", en="It returned nothing (None).")
    if a != e:
        return _WRONG_KIND
    nan = (
        isinstance(actual, (float, np.ndarray, np.generic)) and np.isnan(np.asarray(actual, dtype=np.complex128)).any()
        if _is_number(actual)
        else False
    )
    if nan and not np.isnan(np.asarray(expected, dtype=np.complex128)).any():
        return Text(zh="结果里有 NaN。", en="The result holds NaN.")
    return Text(zh="数值不对。", en="The value is wrong.")


def _is_number(x: object) -> bool:
    return isinstance(x, (float, np.ndarray, np.generic)) and np.asarray(x).dtype.kind in "biufc"
