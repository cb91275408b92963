"""What the reader is asked about an answer: a slot's causal links, its misconceptions, and whether anything false is asserted."""

from __future__ import annotations

from dataclasses import dataclass

from autograder.answers.normalise import normalise
from autograder.lesson.rubric import Slot

WRONG = "wrong"  # the item of each slot that no rubric lists: the answer asserts something false
PREFIX = {"link": "query: ", "misconception": "claim: ", "wrong": "claim: "}


@dataclass(frozen=True)
class Item:
    """kind: link, misconception or wrong.  zh, en: its text in canonical form."""

    id: str
    kind: str
    zh: str
    en: str


def items_of(slot: Slot) -> list[Item]:
    """A slot's items, links first, then misconceptions, then WRONG. The same in training and in grading."""
    names = {"zh": ("因", "机制", "果"), "en": ("cause", "mechanism", "effect")}

    def chain(link, lang: str) -> str:
        return "; ".join(
            f"{n}: {part.get(lang)}" for n, part in zip(names[lang], (link.cause, link.mechanism, link.effect))
        )

    out = [Item(x.id, "link", *(_plain(chain(x, g)) for g in ("zh", "en"))) for x in slot.links]
    out += [Item(m.id, "misconception", *(_plain(m.says.get(g)) for g in ("zh", "en"))) for m in slot.misconceptions]
    asked = slot.question
    return [
        *out,
        Item(
            WRONG,
            "wrong",
            _plain(f"回答里有错误的断言。问题: {asked.zh}"),
            _plain(f"something false is asserted. question: {asked.en}"),
        ),
    ]


def language_of(text: str) -> str:
    """zh where a text holds Chinese characters enough, else en."""
    return "zh" if 8 * sum("\u3400" <= c <= "\u9fff" for c in text) > len(text) else "en"


def _plain(text: str) -> str:
    return " ".join(normalise(text).text.split())
