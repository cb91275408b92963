"""One submission graded: read, integrity, fill, run, answers, evidence, verdict. No cell of the submission is ever run."""

from __future__ import annotations

import atexit
import hashlib
import logging
import os
from dataclasses import dataclass
from pathlib import Path

from autograder.errors import CourseError
from autograder.grading import admit, evidence, fill, integrity, own_case, run
from autograder.grading.challenge.line import read_line
from autograder.grading.read import NbCell, Reading, Released, Unreadable, read_bytes, read_notebook, read_submission, released
from autograder.grading.read.files import unpack
from autograder.grading.reasons import sentence
from autograder.grading.sandbox import Broken, Sandbox
from autograder.grading.verdict import CodeResult, decide
from autograder.lesson.model import ANSWER_SLOTS, Lesson
from autograder.lesson.rubric import Text
from autograder.records import Finding, Result, SlotScore

log = logging.getLogger(__name__)


def grade_notebook(lesson: Lesson, path_or_bytes: Path | str | bytes, student: str, *, sandbox: Sandbox | None = None) -> Result:
    """Grade one submission. Never raises for what a student handed in: what cannot be read is UNGRADED with the reason.

    path_or_bytes: a file, a folder or zip that holds it, or the bytes themselves.  sandbox: a warm one to use; by default one is kept
    for this process. Raises CourseError where the lesson itself is broken or this machine offers no sandbox.
    """
    identity = rubric_hash(lesson)
    try:
        data = path_or_bytes if isinstance(path_or_bytes, bytes) else read_bytes(Path(path_or_bytes), lesson.slug)
    except Unreadable as e:
        return _ungraded(lesson, student, e.why, "zh", hash_of_path(path_or_bytes), identity)
    source_hash = hashlib.sha256(data).hexdigest()
    editions = released(lesson)
    lang = "zh"
    try:
        notebook = read_notebook(unpack(data, lesson.slug), _hints(editions))
        lang = notebook.lang if notebook.lang in editions else lang
        reading = read_submission(lesson, editions, notebook)
    except Unreadable as e:
        return _ungraded(lesson, student, e.why, lang, source_hash, identity)
    except (RecursionError, MemoryError):
        why = Text(zh="笔记本太大或太复杂，无法读取；请清除输出后重新提交。", en="The notebook is too large or too complex to be read; clear its outputs and hand it in again.")
        return _ungraded(lesson, student, why, lang, source_hash, identity)
    try:
        return _grade(lesson, reading, student, source_hash, identity, sandbox)
    except CourseError:
        raise
    except Exception as e:  # a fault of the grader's own: it costs nobody else his grade, and a person hears of it
        log.exception("grading %s failed", student)
        kind = type(e).__name__
        why = Text(zh=f"批改程序自身出错（{kind}），需要人工查看。", en=f"The grader itself failed ({kind}); a person must look.")
        return _ungraded(lesson, student, why, reading.lang, source_hash, identity, "grader_error")


def _grade(lesson: Lesson, reading: Reading, student: str, source_hash: str, identity: str, sandbox: Sandbox | None) -> Result:
    from autograder.answers import score_many

    chosen = _choose(reading)
    findings = list(chosen.findings)
    checks = _run(lesson, reading, chosen, findings, identity, sandbox)
    own = own_case.judge_own_case(lesson.checks, [c.source for c in reading.code if "my_" in c.source])
    findings += integrity.find_changes(reading, chosen.fill)
    findings += evidence.find_claims(reading)
    findings += _about_answers(reading)
    answers = [(slot, reading.answers[slot], reading.lang) for slot in ANSWER_SLOTS]
    slots: dict[str, SlotScore] = dict(zip(ANSWER_SLOTS, score_many(answers, lesson.rubric, lesson_text=reading.released.text)))
    for slot in {*reading.pictures, *reading.cut}:
        slots[slot] = slots[slot].model_copy(update={"lane": "review"})
    code = CodeResult(checks.passed("normal"), checks.passed("boundary"), own.passed)
    verdict = decide(lesson.rubric, code, slots, findings)
    return Result(
        student=student,
        lesson=lesson.slug,
        lang=reading.lang,
        state=verdict.state,
        total=verdict.total,
        points=verdict.points,
        veto=verdict.veto,
        findings=findings,
        reasons=[sentence(code, detail, reading.lang, slots, lesson.rubric) for code, detail in verdict.reasons],
        reasons_en=[sentence(code, detail, "en", slots, lesson.rubric) for code, detail in verdict.reasons],
        checks=[*checks.outcomes, own],
        slots=slots,
        fill=chosen.fill.text[:4000] if chosen.fill else "",
        challenge=_challenge_line(reading),
        source_hash=source_hash,
        rubric_hash=identity,
    )


# -- which cell holds the answer -------------------------------------------------------------------------------------------


@dataclass
class _Chosen:
    """The fill that is graded, None where there is no exercise cell; what must be said about the choice."""

    fill: fill.Fill | None
    findings: list[Finding]


def _choose(reading: Reading) -> _Chosen:
    """Of several exercise cells the last filled one counts, as it does when the notebook runs from top to bottom.

    A cell that only defines the function again, without the exercise's asserts or name, counts where no exercise cell is filled.
    Where filled ones differ a person must look: neither the better nor the worse one is silently taken.
    """
    exercise = reading.released.exercise
    fills: list[tuple[NbCell, fill.Fill]] = [(c, fill.extract(exercise, c.source)) for c in reading.exercise[:50]]
    if not fills:
        return _Chosen(None, [_finding("no_exercise", "info", "找不到填空单元格，代码没有评分。", "The exercise cell was not found; there is no code to grade.", "exercise")])
    proper = [f for c, f in fills if "exercise" in (c.role, *c.ids) or integrity.holds_released_assert(exercise, c.source)]
    written = [f for f in proper if not f.problem] or [f for _, f in fills if not f.problem]
    counted = written[-1] if written else next((f for _, f in reversed(fills) if f.problem == "not_python"), fills[-1][1])
    findings = []
    if counted.repeated:
        findings.append(_finding("several_fills", "review", "填空单元格里的函数定义了不止一次，写法不同；评分取最后一个。", "The exercise cell defines the function more than once, in different ways; the last one was graded.", "exercise"))
    elif len({f.key for f in written}) > 1:
        findings.append(
            _finding(
                "several_fills",
                "review",
                f"有 {len(written)} 个填空单元格，写法不同；评分取最后一个。",
                f"There are {len(written)} exercise cells with different answers; the last one was graded.",
                "exercise",
            )
        )
    if counted.problem:
        findings.append(_problem(counted))
    return _Chosen(counted, findings)


def _problem(found: fill.Fill) -> Finding:
    if found.problem == "not_python" and found.why is not None:
        return _finding("not_python", "info", f"填空不是合法的 Python，代码没有评分：{found.why.zh}", f"The blank is not valid Python, so the code was not graded: {found.why.en}", "exercise")
    zh, en = _PROBLEMS[found.problem]
    return _finding(found.problem, "info", zh, en, "exercise")


_PROBLEMS = {
    "unfilled": ("填空还没有填。", "The blank is not filled in."),
    "deleted": ("填空所在的语句被删掉了。", "The statement with the blank was removed."),
    "no_function": ("填空所在的函数找不到了。", "The function with the blank is not there any more."),
    "not_python": ("填空不是合法的 Python。", "The blank is not valid Python."),
}


def _finding(code: str, severity: str, zh: str, en: str, where: str = "") -> Finding:
    return Finding(code=code, severity=severity, message=Text(zh=zh, en=en), where=where)


# -- running it --------------------------------------------------------------------------------------------------------------


def _run(lesson: Lesson, reading: Reading, chosen: _Chosen, findings: list[Finding], identity: str, sandbox: Sandbox | None) -> run.HiddenChecks:
    """The hidden checks of the chosen fill; every check failed, with the reason, where it may not or cannot run."""
    exercise, taken = reading.released.exercise, chosen.fill
    if taken is None or taken.problem:
        return run.not_run(lesson.checks, findings[-1].message if findings else Text(zh="没有可以运行的代码。", en="There is no code to run."))
    refused = admit.refusal(exercise, taken.statements)
    if refused is not None:
        findings.append(Finding(code="refused", severity="info", message=refused, where="exercise"))
        return run.not_run(lesson.checks, refused)
    for name in admit.outside_names(exercise, taken.statements)[:3]:
        findings.append(
            _finding("outside_name", "info", f"填空用到了 {name}，它在填空以外定义；评分只取填空里的内容。", f"The blank uses {name}, which is defined outside it; only what is in the blank is graded.", "exercise")
        )
    program = fill.program(exercise, taken)
    for attempt in (0, 1):
        try:
            return _RAN.run(lesson.checks, identity, program, sandbox or own_sandbox())
        except Broken:
            if attempt:
                findings.append(_finding("sandbox_failed", "review", "运行代码的沙箱两次没能运行完，代码没有评分，需要人工查看。", "The sandbox twice could not finish running the code (it ended, or the machine was too busy); the code was not graded, and a person must look.", "exercise"))
    return run.not_run(lesson.checks, findings[-1].message)


_RAN = run.Remembered()
_SANDBOX: list[tuple[int, Sandbox]] = []


def own_sandbox() -> Sandbox:
    """The warm sandbox of this process, started when first needed. A forked process does not share its parent's."""
    if _SANDBOX and _SANDBOX[0][0] == os.getpid():
        return _SANDBOX[0][1]
    made = Sandbox()
    _SANDBOX[:] = [(os.getpid(), made)]
    atexit.register(close_sandbox)
    return made


def close_sandbox() -> None:
    """End this process's warm sandbox."""
    if _SANDBOX and _SANDBOX[0][0] == os.getpid():
        _SANDBOX.pop()[1].close()


def _challenge_line(reading: Reading) -> str:
    kernel = reading.released.challenge
    return read_line((c.source for c in reading.code if "challenge" in c.source), kernel)[:1000] if kernel else ""


# -- the rest ------------------------------------------------------------------------------------------------------------------


def _about_answers(reading: Reading) -> list[Finding]:
    findings = []
    for slot in reading.moved:
        findings.append(_finding("answer_elsewhere", "info", f"{slot} 的答案写在别的单元格里，已从那里读取。", f"The answer to {slot} stands in another cell and was read from there.", slot))
    for slot in dict.fromkeys(reading.pictures):
        findings.append(_finding("picture", "info", f"{slot} 的答案里有图片，程序看不懂图片，需要人工查看。", f"The answer to {slot} holds a picture, which no program reads; a person must look.", slot))
    for slot in reading.cut:
        findings.append(_finding("too_long", "info", f"{slot} 的答案过长，只读了前面的部分。", f"The answer to {slot} is very long; only its beginning was read.", slot))
    return findings


def _hints(editions: dict[str, Released]) -> list[str]:
    """Lines by which an unmarked encoding is told."""
    return [line for book in editions.values() for part in book.parts for line in part.source.split("\n")[:3] if line]


def _ungraded(lesson: Lesson, student: str, why: Text, lang: str, source_hash: str, identity: str, code: str = "unreadable") -> Result:
    """Its language is not known for sure, so the reason stands in both."""
    finding = Finding(code=code, severity="info", message=why)
    return Result(
        student=student, lesson=lesson.slug, lang=lang, state="UNGRADED", findings=[finding], reasons=[f"{why.zh} / {why.en}"], source_hash=source_hash, rubric_hash=identity
    )


def hash_of_path(path: object) -> str:
    """For a submission whose bytes were not read: equal at each try, until there is something to read."""
    return hashlib.sha256(f"unread:{path if isinstance(path, (str, Path)) else ''}".encode("utf-8", "surrogateescape")).hexdigest()


def rubric_hash(lesson: Lesson) -> str:
    """SHA-256 over checks.py and rubric.yml: a change of either asks for a regrade."""
    digest = hashlib.sha256()
    for name in ("checks.py", "rubric.yml"):
        data = (lesson.folder / name).read_bytes()
        digest.update(f"{name} {len(data)}\n".encode() + data)
    return digest.hexdigest()
