"""The form of a lesson page, as data: the sections in their order, with the words by which each edition's heading is known."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Section:
    """level: of the heading. zh, en: regular expressions, matched without case. example: headings to write where it is missing."""

    key: str
    level: int
    zh: str
    en: str
    example: tuple[str, str]

    def known_by(self, heading: str, lang: str) -> bool:
        return bool(re.search(self.zh if lang == "zh" else self.en, heading, re.I))


SECTIONS = (
    Section(
        "goals",
        2,
        "学完|目标",
        r"able to do|goals",
        ("学完你能做什么，怎样算通过", "What you will be able to do, and how you pass"),
    ),
    Section("route", 2, "路线|前置", r"where .*(stands|fits)|route", ("在路线中的位置", "Where this lesson stands")),
    Section("model", 2, "心智模型", r"mental model", ("心智模型", "The mental model")),
    Section("what", 3, "是什么", r"what it is|what .* (is|are)\b", ("它是什么", "What it is")),
    Section("how", 3, "怎样工作|如何工作|怎么工作", r"how it works|how .* works?", ("它怎样工作", "How it works")),
    Section(
        "correctness",
        3,
        "正确性|误区",
        r"correctness|mistakes",
        ("正确性条件与常见误区", "Correctness conditions and common mistakes"),
    ),
    Section("tradeoffs", 3, "取舍", r"trade-?offs?", ("性能与取舍", "Performance and trade-offs")),
    Section("demonstration", 2, "演示", r"demonstration|worked example", ("演示", "Demonstration")),
    Section("exercise", 2, "练习|填空", r"exercise", ("练习", "Exercise")),
    Section("check", 2, "检查", r"check", ("怎样检查", "How to check")),
    Section(
        "kernel",
        2,
        "(运行|真正).*kernel|kernel.*运行",
        r"(run|real).*kernel",
        ("运行真正的 kernel", "Run the real kernel"),
    ),
    Section(
        "challenge", 2, "挑战", r"challenge", ("挑战：kernel 里的同一行", "Challenge: the same line in the kernel")
    ),
    Section("questions", 2, "思考题|问题|问答", r"questions", ("思考题", "Questions")),
    Section("q1", 3, r"^Q1\b", r"^Q1\b", ("Q1", "Q1")),
    Section("q2", 3, r"^Q2\b", r"^Q2\b", ("Q2", "Q2")),
    Section("q3", 3, r"^Q3\b", r"^Q3\b", ("Q3", "Q3")),
    Section("scoring", 2, "评分|通过规则", r"scoring|grading|points", ("评分与通过规则", "Scoring")),
    Section("sources", 2, "资料|来源|文献", r"sources|references|further reading", ("资料来源", "Sources")),
    Section("neighbours", 2, "上一课|下一课", r"previous|next", ("上一课与下一课", "Previous and next")),
)

# role -> (at least, at most) cells of that role on a page
ROLE_COUNTS = {
    "exercise": (1, 1),
    "boundary": (1, 1),
    "kernel": (1, 99),
    "experiment": (1, 99),
    "challenge": (1, 1),
    "solution": (1, 1),
}
# The order in which a student meets them.
ROLE_ORDER = ("exercise", "boundary", "kernel", "challenge", "solution")

WORDS = (1500, 2500)
WORDS_PER_CHARACTER = 0.6  # a Chinese character carries about 0.6 of an English word
