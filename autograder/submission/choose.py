"""Which of a submission's cells holds the fill, and what must be said about the places where code and answers were found. Pure, so that
a student's own check (autograder.student) chooses as the grader does."""

from __future__ import annotations

from dataclasses import dataclass

from autograder.lesson.rubric import Text
from autograder.records import Finding
from autograder.submission import integrity
from autograder.submission.fill import Fill, extract
from autograder.submission.read import NbCell, Reading

MOST = 50  # exercise cells that are read
DOUBT = Text(
    zh="笔记本里有一段文字不能确定是哪道题的答案，需要人工查看。",
    en="The notebook holds text of which it does not show what question it answers; a person must look.",
)


@dataclass
class Chosen:
    """The fill that is graded, None where there is no exercise cell; what must be said about the choice."""

    fill: Fill | None
    findings: list[Finding]


def choose(reading: Reading) -> Chosen:
    """Of several exercise cells the last filled one counts, as it does when the notebook runs from top to bottom.

    A cell that only defines the function again, without the exercise's asserts or name, counts where no exercise cell is filled.
    Where filled ones differ a person must look: neither the better nor the worse one is silently taken.
    """
    chosen = _choose(reading)
    if (
        reading.missed
        or any(c.cut for c in reading.found.get("boundary_case", []))
        or (any(c.cut for c in reading.exercise) and (chosen.fill is None or chosen.fill.problem))
    ):
        zh, en = (
            "笔记本太长，没有读完；填空或边界用例可能在没有读到的部分，需要人工查看。",
            "The notebook is too long and was not read to its end; the blank or the boundary case may stand in what was not read, so a person must look.",
        )
        chosen.findings.append(finding("unread_code", "review", zh, en, "exercise"))
    return chosen


def _choose(reading: Reading) -> Chosen:
    exercise = reading.released.exercise
    fills: list[tuple[NbCell, Fill]] = [(c, extract(exercise, c.source)) for c in reading.exercise[-MOST:]]
    if not fills:
        return Chosen(
            None,
            [
                finding(
                    "no_exercise",
                    "info",
                    "找不到填空单元格，代码没有评分。",
                    "The exercise cell was not found; there is no code to grade.",
                    "exercise",
                )
            ],
        )
    proper = [
        f for c, f in fills if "exercise" in (c.role, *c.ids) or integrity.holds_released_assert(exercise, c.source)
    ]
    written = [f for f in proper if not f.problem] or [f for _, f in fills if not f.problem]
    counted = (
        written[-1] if written else next((f for _, f in reversed(fills) if f.problem == "not_python"), fills[-1][1])
    )
    findings = []
    if len(reading.exercise) > MOST:
        zh, en = (
            f"笔记本里有 {len(reading.exercise)} 个填空单元格，只读了最后 {MOST} 个。",
            f"There are {len(reading.exercise)} exercise cells; only the last {MOST} were read.",
        )
        findings.append(finding("several_fills", "review", zh, en, "exercise"))
    if counted.repeated:
        findings.append(
            finding(
                "several_fills",
                "review",
                "填空单元格里的函数定义了不止一次，写法不同；评分取最后一个。",
                "The exercise cell defines the function more than once, in different ways; the last one was graded.",
                "exercise",
            )
        )
    elif len({f.key for f in written}) > 1:
        findings.append(
            finding(
                "several_fills",
                "review",
                f"有 {len(written)} 个填空单元格，写法不同；评分取最后一个。",
                f"There are {len(written)} exercise cells with different answers; the last one was graded.",
                "exercise",
            )
        )
    if counted.problem:
        findings.append(_problem(counted))
    return Chosen(counted, findings)


def _problem(found: Fill) -> Finding:
    if found.problem == "not_python" and found.why is not None:
        return finding(
            "not_python",
            "info",
            f"填空不是合法的 Python，代码没有评分：{found.why.zh}",
            f"The blank is not valid Python, so the code was not graded: {found.why.en}",
            "exercise",
        )
    zh, en = _PROBLEMS[found.problem]
    return finding(found.problem, "info", zh, en, "exercise")


_PROBLEMS = {
    "unfilled": ("填空还没有填。", "The blank is not filled in."),
    "deleted": ("填空所在的语句被删掉了。", "The statement with the blank was removed."),
    "no_function": ("填空所在的函数找不到了。", "The function with the blank is not there any more."),
    "not_python": ("填空不是合法的 Python。", "The blank is not valid Python."),
}


def finding(code: str, severity: str, zh: str, en: str, where: str = "") -> Finding:
    return Finding(code=code, severity=severity, message=Text(zh=zh, en=en), where=where)


def about_answers(reading: Reading) -> list[Finding]:
    findings = []
    for slot in reading.moved:
        findings.append(
            finding(
                "answer_elsewhere",
                "info",
                f"{slot} 的答案写在别的单元格里，已从那里读取。",
                f"The answer to {slot} stands in another cell and was read from there.",
                slot,
            )
        )
    for slot in dict.fromkeys(reading.pictures):
        findings.append(
            finding(
                "picture",
                "info",
                f"{slot} 的答案里有图片，程序看不懂图片，需要人工查看。",
                f"The answer to {slot} holds a picture, which no program reads; a person must look.",
                slot,
            )
        )
    for slot in reading.doubtful:
        findings.append(finding("answer_place", "info", f"{slot}：{DOUBT.zh}", f"{slot}: {DOUBT.en}", slot))
    for slot in reading.cut:
        if reading.missed:
            findings.append(
                finding(
                    "too_long",
                    "info",
                    f"{slot}：笔记本太长，没有读完；答案可能还有没有读到的部分。",
                    f"{slot}: the notebook is too long and was not read to its end; there may be more of the answer in what was not read.",
                    slot,
                )
            )
            continue
        findings.append(
            finding(
                "too_long",
                "info",
                f"{slot} 的答案过长，只读了前面的部分。",
                f"The answer to {slot} is very long; only its beginning was read.",
                slot,
            )
        )
    return findings
