"""What grading says, as plain data that every later step reads: gradebook, feedback, report, export, JSON."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from autograder.lesson.rubric import Text

State = Literal["PASS", "FAIL", "REVIEW", "UNGRADED"]
Lane = Literal["auto", "review"]
MACHINE_FAULTS = (
    "grader_crashed",
    "grader_overran",
    "grader_error",
    "sandbox_failed",
    "challenge_not_judged",
)  # findings that blame no student: tried again at the next run
POINT_NAMES = ("normal", "boundary", "explanation", "q1", "q2", "q3")


class _Plain(BaseModel):
    model_config = ConfigDict(extra="forbid")


class LinkFound(_Plain):
    """A causal link seen in an answer. quote stands literally in the answer. layer: verifier, judge or person."""

    id: str
    quote: str
    layer: str
    confidence: float = 1.0


class MisconceptionFound(_Plain):
    """A wrong causal chain seen in an answer. sure: is it certain (None: as certain as the slot's lane)? Only a certain one is a veto."""

    id: str
    quote: str
    veto: bool
    sure: bool | None = None


class SlotScore(_Plain):
    """One answer slot scored. lane "review": the points are provisional and a person must look (why: reasons)."""

    slot: str
    points: float
    max_points: int
    lane: Lane
    links: list[LinkFound] = []
    missing: list[str] = []
    misconceptions: list[MisconceptionFound] = []
    discarded: list[str] = []  # passages that earn nothing (stuffing, injection, copied question), quoted
    reasons: list[str] = []  # in the notebook's language
    reasons_en: list[str] = []  # the same for the instructor
    answer_key: str = (
        ""  # equal for equal answers (review/decisions.py); "" where the text alone does not tell what was answered
    )


class Finding(_Plain):
    """Something seen beside the points. severity "veto" fails the submission, "review" asks for a person."""

    code: str  # e.g. "deleted_check", "claimed_not_run", "edited_locked_cell"
    severity: Literal["info", "review", "veto"]
    message: Text
    where: str = ""


class CheckOutcome(_Plain):
    """One hidden or visible check. message is safe to show: it names what was tried, never the hidden values."""

    name: Text
    kind: Literal["normal", "boundary", "own_case", "challenge"]  # a challenge earns no points
    passed: bool
    message: Text | None = None


class Record(_Plain):
    """The contract line of `course grade --json`: the instructor's, so findings and reasons are English."""

    student: str
    state: State
    total: float
    points: dict[str, float]
    veto: list[str]
    findings: list[str]
    reasons: list[str]


class Result(_Plain):
    """Everything known about one graded submission."""

    student: str
    lesson: str
    lang: Literal["zh", "en"]
    state: State
    total: float = 0.0
    points: dict[str, float] = Field(default_factory=lambda: dict.fromkeys(POINT_NAMES, 0.0))
    veto: list[str] = []
    findings: list[Finding] = []
    reasons: list[str] = []  # in the notebook's language, for the student
    reasons_en: list[str] = []  # the same in English, for the instructor; empty only where `reasons` is English
    checks: list[CheckOutcome] = []
    slots: dict[str, SlotScore] = {}
    fill: str = ""  # what the student wrote in the blank
    challenge: str = ""  # his line of CUDA C++, "" where there is none
    challenge_unread: Text | None = None  # why the line that he handed to challenge() could not be read
    source_hash: str = ""  # of the submitted bytes: a rerun grades nothing twice
    rubric_hash: str = ""  # of checks, rubric and the reader of answers: a change asks for a regrade

    @classmethod
    def ungraded(cls, student: str, lesson: str, why: Text, *, lang: Literal["zh", "en"] = "zh", **known) -> Result:
        """A submission that could not be graded. Its language is not known for sure, so the student's reason stands in both."""
        return cls(
            student=student,
            lesson=lesson,
            lang=lang,
            state="UNGRADED",
            reasons=[f"{why.zh} / {why.en}"],
            reasons_en=[why.en],
            **known,
        )

    @property
    def why(self) -> list[str]:
        """The reasons as the instructor's commands tell them, in English."""
        return self.reasons_en or self.reasons

    def record(self) -> Record:
        return Record(
            student=self.student,
            state=self.state,
            total=self.total,
            points=self.points,
            veto=self.veto,
            findings=[f.message.en for f in self.findings],
            reasons=self.why,
        )
