"""A challenge line judged: results from the jail against the float64 reference, in the grader's own process. It earns no points, and nothing
that goes wrong here costs a grade."""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from autograder.errors import CourseError
from autograder.grading.challenge import frame
from autograder.grading.challenge.jail import Jail, Stopped
from autograder.lesson.model import Lesson
from autograder.lesson.rubric import Text
from autograder.records import CheckOutcome, Finding, Result
from autograder.submission.challenge_line import refusal, tokens
from kernels.compare import challenge_own, challenge_statement, relative_error
from kernels.spec import cases, get_spec, tolerance

log = logging.getLogger(__name__)
COUNT, SEED = 12, 7  # inputs; the notebook's own challenge() uses the same count and another seed for its inputs
CPU_SECONDS = 120  # of one process in the jail
COLD_CPU_SECONDS = 1200  # of the compiler that builds its own runtime first
TRIES, PATIENCE = 2, 3  # of a line; lines in a row that did not end before no more are tried


def judge_for(lesson: Lesson) -> ChallengeJudge | None:
    """A judge that has shown that it works here; None where the lesson has no challenge. Raises CourseError."""
    from autograder.submission.read import released

    kernel = released(lesson)["zh"].challenge
    if not kernel:
        return None
    judge = ChallengeJudge(kernel)
    judge.prepare()
    return judge


@dataclass(frozen=True)
class _Case:
    """One input: what it is after, the float64 outputs, and the bound on their relative error."""

    label: str
    exact: tuple[np.ndarray, ...]
    bound: float


class ChallengeJudge:
    """Judges lines of one kernel. Lines of the same tokens are compiled and run once."""

    def __init__(self, kernel: str, *, seed: int = SEED + 1, count: int = COUNT):
        self.kernel, self.seed, self.count = kernel, seed, count
        self._jail: Jail | None = None
        self._known: dict[str, Text | None] = {}
        self._stopped = 0  # lines in a row that did not end

    def prepare(self) -> None:
        """Compile and run the kernel's own line in the jail. Raises CourseError where it does not come out right: then no line would."""
        own = challenge_own(self.kernel)
        if (refused := refusal(self.kernel, own)) is not None:
            raise CourseError(
                f"The kernel's own line is none that a challenge takes: {refused.en}",
                where=self.kernel,
                remedy="Write it in one of the forms of kernels/line_grammar.py, or grade without --challenges.",
            )
        self._jail = self._jail or Jail()
        try:
            why = self._verdict(self._jail.warm(self._request(own, COLD_CPU_SECONDS), frame.largest(self._shapes)))
        except Stopped as e:
            why = Text(zh=str(e), en=str(e))
        if why is not None:
            raise CourseError(
                f"The kernel's own line does not come out right in the challenge jail: {why.en}",
                where=self.kernel,
                remedy="Let `course run` of this kernel work first; a compiler outside /usr needs a folder of its own (KERNELS_CXX names it); or grade without --challenges.",
            )
        self._known[tokens(own)] = None

    def told(self, result: Result) -> Result:
        """The result with what is to be said of its challenge line."""
        said = self.judge(result.challenge) if result.challenge else None
        if said is None and result.challenge_unread is not None:
            said = Finding(code="challenge_unread", severity="info", message=result.challenge_unread, where="challenge")
        if said is None:
            return result
        where = "checks" if isinstance(said, CheckOutcome) else "findings"
        return result.model_copy(update={where: [*getattr(result, where), said]})

    def judge(self, line: str) -> CheckOutcome | Finding:
        """The outcome for a line, kind "challenge"; a finding where it could not be judged, which says nothing about the line.
        Raises CourseError where this machine has no jail, and nothing else."""
        try:
            why = refusal(self.kernel, line)
            if why is None:
                statement = challenge_statement(self.kernel, line)
                key = tokens(statement)
                if key not in self._known:
                    self._known[key] = self._run(statement)
                why = self._known[key]
        except CourseError:
            raise
        except Stopped as e:
            return _not_judged(str(e))
        except Exception as e:
            log.exception("judging a challenge line of %s failed", self.kernel)
            return _not_judged(type(e).__name__)
        name = Text(zh=f"挑战：{self.kernel} 里的一行", en=f"Challenge: the line in {self.kernel}")
        return CheckOutcome(name=name, kind="challenge", passed=why is None, message=why)

    def _run(self, statement: str) -> Text | None:
        """None where the kernel is right with this statement, else what went wrong. Raises Stopped where it twice did not end."""
        if self._jail is None:
            self._jail = Jail()
        if self._stopped >= PATIENCE:
            raise Stopped("several lines before it did not end either")
        why = Stopped("")
        for _ in range(TRIES):
            try:
                found = self._verdict(
                    self._jail.run(self._request(statement, CPU_SECONDS), frame.largest(self._shapes))
                )
            except Stopped as e:
                why = e
                continue
            self._stopped = 0
            return found
        self._stopped += 1
        raise why

    def _request(self, statement: str, cpu: int) -> bytes:
        return json.dumps(
            {"kernel": self.kernel, "line": statement, "count": self.count, "seed": self.seed, "cpu": cpu}
        ).encode()

    @cached_property
    def _cases(self) -> list[_Case]:
        spec, found = get_spec(self.kernel), []
        for case in cases(spec, np.random.default_rng(self.seed), self.count):
            exact = spec.reference(*case.arrays, **case.params)
            exact = exact if isinstance(exact, tuple) else (exact,)
            found.append(
                _Case(case.label, tuple(np.asarray(e) for e in exact), tolerance(spec, case.arrays, case.params))
            )
        return found

    @property
    def _shapes(self) -> list[list[tuple[int, ...]]]:
        return [[e.shape for e in case.exact] for case in self._cases]

    def _verdict(self, data: bytes) -> Text | None:
        """What an answer says. Raises Stopped where it says that the machine was too busy."""
        try:
            answer = frame.read(data, self._shapes)
        except Exception as e:  # whatever native code may have written
            return Text(
                zh=f"带着这一行的 kernel 没有给出可读的结果（{type(e).__name__}）。",
                en=f"The kernel with this line gave no result that can be read ({type(e).__name__}).",
            )
        if answer.busy:
            raise Stopped("the machine gave it too little time")
        if answer.error:
            return Text(zh=f"没有编译通过：{answer.error}", en=f"It does not compile: {answer.error}")
        for case, row in zip(self._cases, answer.rows):
            if isinstance(row, str):
                return Text(zh=f"{case.label}：模拟器报告 {row}", en=f"{case.label}: the emulator reports {row}")
            error = relative_error(row, case.exact)
            if not error <= case.bound:
                return Text(
                    zh=f"{case.label}：结果不对，相对误差 {error:.2g}。",
                    en=f"{case.label}: wrong result, relative error {'NaN' if np.isnan(error) else f'{error:.2g}'}.",
                )
        if len(answer.rows) < len(self._cases):
            return Text(zh="有输入没有运行。", en="Some inputs were not run.")
        return None


def _not_judged(why: str) -> Finding:
    message = Text(
        zh=f"挑战的那一行没有评判：在这台机器上没能编译并运行完（{why}）。这不说明它写错了，也不影响成绩。",
        en=f"The challenge line was not judged: it could not be compiled and run to the end on this machine ({why}). That says nothing about the line and costs nothing.",
    )
    return Finding(code="challenge_not_judged", severity="info", message=message, where="challenge")
