"""A challenge line judged: results from the jail against the float64 reference, in the grader's own process."""

from __future__ import annotations

import io
import json
import struct

import numpy as np

from autograder.grading.challenge.jail import Jail, Stopped
from autograder.grading.challenge.line import refusal, tokens
from autograder.lesson.rubric import Text
from autograder.records import CheckOutcome
from kernels.compare import challenge_statement, relative_error
from kernels.spec import cases, get_spec, tolerance

COUNT, SEED = 12, 7  # inputs; the notebook's own challenge() uses the same count and another seed for its inputs
_SHOWN = 600  # characters of a compiler's or the emulator's message


class ChallengeJudge:
    """Judges lines of one kernel. Lines of the same tokens are compiled and run once."""

    def __init__(self, kernel: str, *, seed: int = SEED + 1, count: int = COUNT):
        self.kernel, self.seed, self.count = kernel, seed, count
        self._jail: Jail | None = None
        self._known: dict[str, Text | None] = {}

    def judge(self, line: str) -> CheckOutcome:
        """The outcome for a line, kind "challenge". Raises CourseError where this machine has no jail."""
        why = refusal(self.kernel, line)
        if why is None:
            key = tokens(line)
            if key not in self._known:
                self._known[key] = self._run(challenge_statement(self.kernel, line))
            why = self._known[key]
        name = Text(zh=f"挑战：{self.kernel} 里的一行", en=f"Challenge: the line in {self.kernel}")
        return CheckOutcome(name=name, kind="challenge", passed=why is None, message=why)

    def _run(self, line: str) -> Text | None:
        """None where the kernel is right with this line, else what went wrong."""
        if self._jail is None:
            self._jail = Jail()
        request = json.dumps({"kernel": self.kernel, "line": line, "count": self.count, "seed": self.seed}).encode()
        try:
            answer = self._jail.run(request)
            (length,) = struct.unpack("!Q", answer[:8])
            said = json.loads(answer[8 : 8 + length])
            with np.load(io.BytesIO(answer[8 + length :]), allow_pickle=False) as held:
                arrays = {name: held[name] for name in held.files}
            rows, error = list(said["rows"]), str(said["error"])
        except (Stopped, ValueError, KeyError, TypeError, struct.error, OSError) as e:
            return Text(zh=f"带着这一行的 kernel 没有运行完（{e}）。", en=f"The kernel with this line did not run to its end ({e}).")
        if error:
            return Text(zh=f"没有编译通过：{error[:_SHOWN]}", en=f"It does not compile: {error[:_SHOWN]}")
        return self._compare(rows, arrays)

    def _compare(self, rows: list, arrays: dict[str, np.ndarray]) -> Text | None:
        spec = get_spec(self.kernel)
        for i, case in enumerate(cases(spec, np.random.default_rng(self.seed), self.count)):
            if i >= len(rows):
                return Text(zh="有输入没有运行。", en="Some inputs were not run.")
            if rows[i]["error"]:
                return Text(zh=f"{case.label}：模拟器报告 {rows[i]['error'][:_SHOWN]}", en=f"{case.label}: the emulator reports {rows[i]['error'][:_SHOWN]}")
            got = [arrays.get(f"{i}_{j}") for j in range(int(rows[i]["arrays"]))]
            exact = spec.reference(*case.arrays, **case.params)
            wanted = exact if isinstance(exact, tuple) else (exact,)
            if len(got) != len(wanted) or any(g is None or g.shape != np.shape(w) for g, w in zip(got, wanted)):
                return Text(zh=f"{case.label}：结果的形状不对。", en=f"{case.label}: the result has the wrong shape.")
            error = max(relative_error(g, w) for g, w in zip(got, wanted))
            if not error <= tolerance(spec, case.arrays, case.params):
                return Text(zh=f"{case.label}：结果不对，相对误差 {error:.2g}。", en=f"{case.label}: wrong result, relative error {error:.2g}.")
        return None
