"""Claims of having run or measured something, held against what the notebook shows: outputs, execution counts, receipts.

Sure of the claim (claimed.py) and nothing at all to show for it: a veto. Anything short of sure: a person looks, as he does at a figure
that is told as seen (told.py) and stands nowhere.
"""

from __future__ import annotations

import re

from autograder.grading.claimed import (
    _RUN_WORDS,
    BESIDE,
    CLOCKED,
    FIGURE,
    NUMBER,
    OWN,
    PLAIN_NUMBER,
    REFERENCE,
    TOOL,
    Claim,
    claim_of,
    claims_in,
    declares_static_review,
    quotes,
    supposed,
)
from autograder.grading.lookup import among, in_page, last_digit, numbers
from autograder.grading.sentences import sentences
from autograder.grading.shown import Shown, shown_by
from autograder.grading.told import Figure, Told, told_in
from autograder.lesson.rubric import Text
from autograder.records import Finding
from autograder.submission.read import Reading

__all__ = ["_RUN_WORDS", "claims_in", "declares_static_review", "find_claims"]


def find_claims(reading: Reading) -> list[Finding]:
    """Claims with nothing to show for them. At most one veto and one review finding a slot: the first says enough."""
    shown: Shown | None = None  # worked out for the first claim; most notebooks make none
    texts = [*reading.answers.items(), *(("", t) for t in reading.extra)]
    static = declares_static_review("\n".join(t for _, t in texts))
    lesson = reading.released.text if reading.released else ""
    given = "\n".join(c.source for c in reading.found.get("boundary_case", ()))
    findings: dict[tuple[str, str], Finding] = {}
    for slot, text in texts:
        for sentence in sentences(text):
            claim, told = claim_of(sentence, slot), told_in(sentence)
            if claim is None and told is None:
                continue
            shown = shown or shown_by(reading)
            finding = _judge(claim, shown, static, lesson) if claim else None
            if told is not None and (claim is None or not claim.figure and finding is None):
                finding = _judge_told(told, slot, shown, lesson, given)
            if finding is not None:
                findings.setdefault((slot, finding.severity), finding)
    return list(findings.values())


def _judge(claim: Claim, shown: Shown, static: bool, lesson: str) -> Finding | None:
    """lesson: the released text. Its own figures without an "I" may be a quotation that forgot its source."""
    doubt = _Doubt(claim.quote, claim.slot, shown)
    if not shown.outputs:
        if not claim.figure and shown.counted and not claim.told and not claim.on_gpu:
            return None  # cells were run; a run without output leaves nothing else
        if claim.told and not claim.own and _all_shown(claim.sentence, lesson):
            return None  # the lesson's own words, as a rule
        if _is_sure(claim, lesson) and not static and not shown.counted:
            message = Text(
                zh=f"答案说运行或测量过，但笔记本里没有任何输出或运行记录：“{doubt.quote}”",
                en=f'The answer claims a run or a measurement, but the notebook shows no output and no receipt: "{doubt.quote}"',
            )
            return Finding(code="claimed_not_run", severity="veto", message=message, where=claim.slot)
        return doubt(
            "claim_without_output",
            "答案说运行或测量过，但笔记本里没有对应的输出",
            "The answer claims a run or a measurement, but no output in the notebook shows it",
        )
    if claim.told and not _tool_shown(claim.sentence, shown.text, "" if claim.own else lesson):
        return doubt(
            "figure_not_in_outputs",
            "答案说工具报告的内容在笔记本的输出里找不到",
            "What the answer says a tool reports is in no output of the notebook",
        )
    if claim.on_gpu and not claim.figure and "gpu" not in shown.backends:
        return doubt(
            "claim_without_receipt",
            "答案说在 GPU 上运行过，但笔记本里没有 GPU 的运行凭据",
            "The answer says that it was run on a GPU, but the notebook holds no receipt of a run on one",
        )
    if not claim.figure or claim.told:
        return None
    if claim.gpu and "gpu" not in shown.backends:  # a printed figure alone is no measurement
        return doubt(
            "claim_without_receipt",
            "答案给出在 GPU 上测得的数字，但笔记本里没有 GPU 的运行凭据",
            "The answer gives a figure measured on a GPU, but the notebook holds no receipt of a run on one",
        )
    if not _figures_shown(claim.sentence, shown.text) or not _clock_shown(claim.sentence, shown.computed, lesson):
        return doubt(
            "figure_not_in_outputs",
            "答案说测得的数字在笔记本的输出里找不到",
            "The figure that the answer says was measured is in no output of the notebook",
        )
    return None


def _is_sure(claim: Claim, lesson: str) -> bool:
    """Does it present a result as measured, and one that is his own? Who only says that he ran it may have cleared the outputs before he
    handed it in."""
    return (
        claim.sure
        and bool(claim.figure or _MEASURES.search(claim.sentence))
        and (claim.own or not _figures_shown(claim.sentence, lesson))
    )


_MEASURES = re.compile(
    r"measur|\btim(?:ed|ings?)\b|benchmark|profil|clocked|recorded|[实實]测|實測|[测測量][得到出了过過下]|跑分|测量|测试结果|實驗|实验",
    re.I,
)


def _judge_told(told: Told, slot: str, shown: Shown, lesson: str, given: str) -> Finding | None:
    """given: code with the inputs that the student chose."""
    missing = [f for f in told.figures if not _stands(f, told, shown, lesson, given)]
    counts = [
        pair for pair in told.counts if not _counted(pair, shown.text) and (told.own or not _counted(pair, lesson))
    ]
    if told.own and told.gpu and "gpu" not in shown.backends:  # a printed figure alone is no measurement
        missing = missing or [f for f in told.figures if f.clocked and not f.quoted]
    if not missing and not counts:
        return None
    doubt = _Doubt(told.quote, slot, shown)
    if not shown.outputs:
        return doubt(
            "claim_without_output",
            "答案给出的数字像是运行或测量得来的，但笔记本里没有对应的输出",
            "The answer gives a figure as one that was run or measured, but no output in the notebook shows it",
        )
    if told.own and told.gpu and "gpu" not in shown.backends:
        return doubt(
            "claim_without_receipt",
            "答案给出在 GPU 上得到的数字，但笔记本里没有 GPU 的运行凭据",
            "The answer gives a figure from a GPU, but the notebook holds no receipt of a run on one",
        )
    return doubt(
        "figure_not_in_outputs",
        "答案给出的数字像是运行或测量得来的，但课文和笔记本的输出里都没有",
        "The answer gives a figure as one that was run or measured, but it stands neither in the lesson nor in an output of the notebook",
    )


def _stands(figure: Figure, told: Told, shown: Shown, lesson: str, given: str) -> bool:
    """In the outputs; in the lesson or among the inputs, where it is not said to be the writer's own; or worked out of what stands there."""
    have = numbers(shown.computed if figure.clocked else shown.text)
    ours = not told.own or figure.quoted

    def stands(number: str, unit: str) -> bool:
        return among(number, have, clocked=True) or (ours and in_page(number, unit, lesson, given, known=told.loose))

    if stands(figure.number, figure.unit):
        return True
    known = [
        float(f.number.replace(",", ""))
        for f in told.figures[:20]
        if f is not figure and f.unit == figure.unit and stands(f.number, f.unit)
    ]
    if not figure.clocked:
        known += [float(f.number.replace(",", "")) for f in told.figures[:20] if f.clocked and stands(f.number, f.unit)]
    pairs = [(a, b) for a in known for b in known if a > b > 0]
    made = sorted(
        x
        for a, b in pairs
        for x in (
            (a - b, a + b) if figure.clocked else (100 * (a - b) / a, 100 * (a - b) / b, 100 * b / a, a / b, b / a)
        )
    )
    return among(figure.number, made) or (not figure.clocked and not told.own and _is_simple(figure.number))


def _is_simple(number: str) -> bool:
    """Half, a third, 1.5 times: a share or factor of small counts, as one works it out."""
    if len(number) >= 40:
        return False
    value, near = float(number.replace(",", "")), 0.501 * last_digit(number)
    return any(
        abs(value - whole * p / q) <= near
        for whole in (1, 100)
        for q in (1, 2, 3, 4, 5, 6, 8)
        for p in range(1, 4 * q + 1)
    )


def _counted(pair: tuple[str, str], text: str) -> bool:
    """Does one line speak of runs and hold both counts?"""
    return any(
        _SEEDS.search(line) and all(re.search(rf"(?<![\d.]){n}(?!\d|\.\d)", line) for n in pair)
        for line in text.split("\n")[:5000]
    )


_SEEDS = re.compile(r"seed|\bruns?\b|种子|次", re.I)


class _Doubt:
    """Makes the finding about one sentence; it says too which output or receipt does not count, and why."""

    def __init__(self, quote: str, slot: str, shown: Shown):
        self.quote = quote if len(quote) <= 120 else quote[:117] + "..."
        self._numbers = {n for n in re.findall(PLAIN_NUMBER, quote) if len(n) > 1}
        self._slot, self._shown = slot, shown

    def __call__(self, code: str, zh: str, en: str) -> Finding:
        why = (
            self._shown.receipts[:1]
            or tuple(reason for text, reason in self._shown.left_out if any(n in text for n in self._numbers))[:1]
        )
        zh, en = (zh + "".join(f"（{w.zh}）" for w in why), en + "".join(f" ({w.en})" for w in why))
        return Finding(
            code=code,
            severity="review",
            message=Text(zh=f"{zh}：“{self.quote}”", en=f'{en}: "{self.quote}"'),
            where=self._slot,
        )


def _figures_shown(sentence: str, text: str) -> bool:
    """Is at least one of the sentence's figures in the outputs, to the digits the student gave?"""
    have = numbers(text)
    return any(among(m[0], have) for m in re.finditer(NUMBER, " ".join(m[0] for m in FIGURE.finditer(sentence))))


def _clock_shown(sentence: str, text: str, lesson: str) -> bool:
    """Is each time and rate that the sentence gives as its own in the outputs? In another unit, or as the difference or sum of two that it
    gives, too. One beside it that is expected, quoted or what the hardware could do is not its own; nor is one of the lesson's in a
    sentence that names the lesson."""
    have = numbers(text)
    if quotes(sentence):
        have = tuple(sorted(have + numbers(lesson)))
    wanted = [
        n
        for part in BESIDE.split(sentence)
        if not _of_another(part)
        for m in CLOCKED.finditer(part)
        for n in [m["first"] or m["figure"]]
    ]
    shown = [float(n.replace(",", "")) for n in wanted if among(n, have, clocked=True)]
    derived = sorted(x for i, a in enumerate(shown[:20]) for b in shown[:i] for x in (abs(a - b), a + b))
    return all(among(n, have, clocked=True) or among(n, derived) for n in wanted)


def _of_another(part: str) -> bool:
    return bool(quotes(part) and not OWN.search(part)) or bool(REFERENCE.search(part)) or supposed(part)


def _tool_shown(sentence: str, text: str, lesson: str) -> bool:
    """Are the numbers that a tool is said to report in the outputs or the lesson? Where it gives none, is the tool itself in the outputs?"""
    named = {m[0].lower() for m in re.finditer(TOOL, sentence, re.I)}
    return _all_shown(sentence, f"{text}\n{lesson}") or (
        not re.search(PLAIN_NUMBER, sentence) and any(n in text.lower() for n in named)
    )


def _all_shown(sentence: str, text: str) -> bool:
    """Does the sentence give numbers, and is each of them in the text? A number in a name (H100, sm_90a) is none."""
    wanted, have = re.findall(PLAIN_NUMBER, sentence), numbers(text)
    return bool(wanted) and all(among(n, have) for n in wanted)
