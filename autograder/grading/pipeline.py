"""One submission graded: read, integrity, fill, run, answers, evidence, verdict. No cell of the submission is ever run."""

from __future__ import annotations

import atexit
import hashlib
import logging
import os
from pathlib import Path

from autograder.errors import CourseError
from autograder.grading import evidence, run
from autograder.grading.reasons import sentence
from autograder.grading.sandbox import Broken, Sandbox
from autograder.grading.verdict import CodeResult, decide
from autograder.lesson.model import ANSWER_SLOTS, Lesson
from autograder.lesson.rubric import Text
from autograder.records import Finding, Result, SlotScore
from autograder.submission import admit, fill, integrity, own_case
from autograder.submission.challenge_line import Handed, read_challenge
from autograder.submission.choose import DOUBT, Chosen, about_answers, choose, finding
from autograder.submission.read import Reading, Unreadable, read_hand_in, released

log = logging.getLogger(__name__)


def grade_notebook(
    lesson: Lesson, path_or_bytes: Path | str | bytes, student: str, *, sandbox: Sandbox | None = None
) -> Result:
    """Grade one submission. Never raises for what a student handed in: what cannot be read is UNGRADED with the reason.

    path_or_bytes: a file, a folder or zip that holds it, or the bytes themselves.  sandbox: a warm one to use; by default one is kept
    for this process. Raises CourseError where the lesson itself is broken or this machine offers no sandbox.
    """
    identity = rubric_hash(lesson)
    editions = released(lesson)
    source_hash = (
        hashlib.sha256(path_or_bytes).hexdigest() if isinstance(path_or_bytes, bytes) else hash_of_path(path_or_bytes)
    )
    try:
        hand_in = read_hand_in(
            lesson, editions, path_or_bytes if isinstance(path_or_bytes, bytes) else Path(path_or_bytes)
        )
    except Unreadable as e:
        return _ungraded(lesson, student, e.why, e.lang if e.lang in editions else "zh", source_hash, identity)
    except (RecursionError, MemoryError):
        why = Text(
            zh="笔记本太大或太复杂，无法读取；请清除输出后重新提交。",
            en="The notebook is too large or too complex to be read; clear its outputs and hand it in again.",
        )
        return _ungraded(lesson, student, why, "zh", source_hash, identity)
    reading = hand_in.reading
    if not isinstance(path_or_bytes, bytes):
        source_hash = hashlib.sha256(hand_in.data).hexdigest()
    try:
        return _grade(lesson, reading, student, source_hash, identity, sandbox)
    except CourseError:
        raise
    except Exception as e:  # a fault of the grader's own: it costs nobody else his grade, and a person hears of it
        log.exception("grading %s failed", student)
        kind = type(e).__name__
        why = Text(
            zh=f"批改程序自身出错（{kind}），需要人工查看。",
            en=f"The grader itself failed ({kind}); a person must look.",
        )
        return _ungraded(lesson, student, why, reading.lang, source_hash, identity, "grader_error")


def _grade(
    lesson: Lesson, reading: Reading, student: str, source_hash: str, identity: str, sandbox: Sandbox | None
) -> Result:
    from autograder.answers import score_many
    from autograder.review.decisions import answer_key

    chosen = choose(reading)
    findings = list(chosen.findings)
    checks = _run(lesson, reading, chosen, findings, identity, sandbox)
    own = own_case.judge_own_case(lesson.checks, own_case.sources_of(c.source for c in reading.code))
    findings += integrity.find_changes(reading, chosen.fill)
    findings += evidence.find_claims(reading)
    findings += about_answers(reading)
    answers = [(slot, reading.answers[slot], reading.lang) for slot in ANSWER_SLOTS]
    pages = "\n\n".join(
        edition.text for edition in released(lesson).values()
    )  # the other language's page is no less a source
    slots: dict[str, SlotScore] = dict(zip(ANSWER_SLOTS, score_many(answers, lesson.rubric, lesson_text=pages)))
    for slot in {*ANSWER_SLOTS} - {*reading.pictures, *reading.cut, *reading.doubtful}:
        slots[slot] = slots[slot].model_copy(update={"answer_key": answer_key(reading.answers[slot])})
    for slot in {*reading.pictures, *reading.cut}:
        slots[slot] = slots[slot].model_copy(update={"lane": "review"})
    for slot in reading.doubtful:
        why = {
            "reasons": [DOUBT.get(reading.lang), *slots[slot].reasons],
            "reasons_en": [DOUBT.en, *slots[slot].reasons_en],
        }
        slots[slot] = slots[slot].model_copy(update={"lane": "review", **why})
    code = CodeResult(checks.passed("normal"), checks.passed("boundary"), own.passed)
    verdict = decide(lesson.rubric, code, slots, findings)
    challenge = _challenge(reading)
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
        challenge=challenge.line,
        challenge_unread=challenge.unread,
        source_hash=source_hash,
        rubric_hash=identity,
    )


# -- running it --------------------------------------------------------------------------------------------------------------


def _run(
    lesson: Lesson, reading: Reading, chosen: Chosen, findings: list[Finding], identity: str, sandbox: Sandbox | None
) -> run.HiddenChecks:
    """The hidden checks of the chosen fill; every check failed, with the reason, where it may not or cannot run."""
    exercise, taken = reading.released.exercise, chosen.fill
    if taken is None or taken.problem:
        return run.not_run(
            lesson.checks,
            findings[-1].message if findings else Text(zh="没有可以运行的代码。", en="There is no code to run."),
        )
    refused = admit.refusal(exercise, taken.statements)
    if refused is not None:
        severity = "info" if admit.reaches_out(taken.statements) else "review"
        findings.append(Finding(code="refused", severity=severity, message=refused, where="exercise"))
        return run.not_run(lesson.checks, refused)
    program = fill.program(exercise, taken)
    for attempt in (0, 1):
        try:
            ran = RAN.run(lesson.checks, identity, program, sandbox or own_sandbox())
            findings += _about_names(exercise, taken, ran.passed("normal") and ran.passed("boundary"))
            findings += run.about_arguments(ran)
            return ran
        except Broken:
            if attempt:
                findings.append(
                    finding(
                        "sandbox_failed",
                        "review",
                        "运行代码的沙箱两次没能运行完，代码没有评分，需要人工查看。",
                        "The sandbox twice could not finish running the code (it ended, or the machine was too busy); the code was not graded, and a person must look.",
                        "exercise",
                    )
                )
    return run.not_run(lesson.checks, findings[-1].message)


def _about_names(exercise: fill.Exercise, taken: fill.Fill, passed: bool) -> list[Finding]:
    """Names that are not where the fill needs them. Where it fails for it, his notebook as a whole may well be right: a person looks."""
    severity, out = "info" if passed else "review", []
    for name in admit.outside_names(exercise, taken.statements)[:3]:
        out.append(
            finding(
                "outside_name",
                severity,
                f"填空用到了 {name}，它在填空以外定义；评分只取填空里的内容。",
                f"The blank uses {name}, which is defined outside it; only what is in the blank is graded.",
                "exercise",
            )
        )
    for name in [] if passed else admit.missing_names(exercise, taken.statements)[:3]:
        zh, en = (
            f"后面的代码要用 {name}，填空里却没有给它赋值；填空以外的改动不计入评分。",
            f"The code after the blank needs {name}, and the blank gives it no value; what was changed outside the blank is not graded.",
        )
        out.append(finding("missing_name", severity, zh, en, "exercise"))
    return out


RAN = run.Remembered()
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


def _challenge(reading: Reading) -> Handed:
    kernel = reading.released.challenge
    return read_challenge((c.source for c in reading.code), kernel) if kernel else Handed()


# -- the rest ------------------------------------------------------------------------------------------------------------------


def _ungraded(
    lesson: Lesson, student: str, why: Text, lang: str, source_hash: str, identity: str, code: str = "unreadable"
) -> Result:
    finding = Finding(code=code, severity="info", message=why)
    return Result.ungraded(
        student, lesson.slug, why, lang=lang, findings=[finding], source_hash=source_hash, rubric_hash=identity
    )


def hash_of_path(path: object) -> str:
    """For a submission whose bytes were not read: equal at each try, until there is something to read."""
    return hashlib.sha256(
        f"unread:{path if isinstance(path, (str, Path)) else ''}".encode("utf-8", "surrogateescape")
    ).hexdigest()


def rubric_hash(lesson: Lesson) -> str:
    """SHA-256 over what the points rest on beside the submission: checks, rubric and references, and the reader of answers. A change of any asks for a regrade."""
    from autograder.answers.verifier import MODEL

    digest = hashlib.sha256()
    for path in (
        *(lesson.folder / n for n in ("checks.py", "rubric.yml", "reference.yml")),
        MODEL / "reader.json",
        MODEL / "lanes.json",
    ):
        data = path.read_bytes()
        digest.update(f"{path.name} {len(data)}\n".encode() + data)
    return digest.hexdigest()
