"""How blind is the scorer? Released right answers are taken back, or one word in them is turned round, and scored again.

What is still released with its points was not read for what it says. The figures stand in a lesson's accuracy report beside those of
labelled answers, since no collection of ordinary answers shows them: `python -m autograder.answers.accuracy LESSON`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from autograder.answers.score import score_many
from autograder.lesson.rubric import Rubric

_EACH = 4  # answers a language and lesson

TAKEN_BACK = {
    "en": ("Myth: {}", "❌ {}", "{}\n\nWrong!", "{}\nnope", "I doubt that {}", "{}\n\nI made all of this up.", "True or false? {}\nFalse.", "My neighbour's answer, not mine: {}", "{} Or so they say."),
    "zh": ("错误示范：{}", "× {}", "{}以上作废。", "{}\n\n全错。", "我怀疑{}", "{}骗你的。", "判断题：{}答：错。", "邻座写的，不是我的：{}", "{}信不信由你。"),
}
TURNED = {
    "en": "longer/shorter more/fewer larger/smaller higher/lower before/after faster/slower first/last full/empty same/different left/right producer/consumer registers/shared_memory reads/writes min/max can/cannot early/late".split(),
    "zh": "长/短 多/少 大/小 高/低 之前/之后 快/慢 先/后 满/空 相同/不同 左/右 生产者/消费者 寄存器/共享内存 读/写 能/不能 早/晚".split(),
}


def measure(rubric: Rubric, answers: list[dict]) -> dict:
    """Counts of both kinds: {"taken_back": {"tried", "released"}, "turned": {"tried", "released"}}.

    answers: labelled ones as in answers.jsonl; used are full ones of the held-out splits that are released with all their points, the
    first few of each language in the order of the file. Some turned words say the same or nothing: the rate is an upper bound of blindness.
    """
    full = [a for a in answers if a["split"] != "dev" and a["category"] == "full" and a["points"] == rubric.slots[a["slot"]].points]
    scores = score_many([(a["slot"], a["answer"], a["lang"]) for a in full], rubric)
    out = {kind: {"tried": 0, "released": 0} for kind in ("taken_back", "turned")}
    for lang in ("zh", "en"):
        released = [a for a, s in zip(full, scores) if a["lang"] == lang and s.lane == "auto" and s.points == s.max_points][:_EACH]
        for kind, make in (("taken_back", _taken_back), ("turned", _turned)):
            tried = [(a["slot"], text, lang) for a in released for text in make(a["answer"], lang)]
            again = score_many(tried, rubric)
            out[kind]["tried"] += len(tried)
            out[kind]["released"] += sum(s.lane == "auto" and s.points == s.max_points and not any(m.sure and m.veto for m in s.misconceptions) for s in again)
    return out


def _taken_back(answer: str, lang: str) -> Iterator[str]:
    return (frame.format(answer) for frame in TAKEN_BACK[lang])


def _turned(answer: str, lang: str) -> Iterator[str]:
    """The answer with one word turned round, once for each such word in it."""
    for pair in TURNED[lang]:
        one, other = (w.replace("_", " ") for w in pair.split("/"))
        for word, opposite in ((one, other), (other, one)):
            pattern = rf"(?<![a-z]){word}(?![a-z])" if lang == "en" else word
            for m in re.finditer(pattern, answer, re.I):
                yield answer[: m.start()] + opposite + answer[m.end() :]
