"""Does a statement say the opposite of one that the rubric vouches for?

A rule is a set of expressions; a word between them that turns the sense round ("the shorter time decides", "TMA stores before the fence")
is read by none of them, and a sentence vector hardly moves for one word. So the words that have an opposite are read here: where the
rubric's own right statements have the opposite word among the same words, and none has this one, a person looks. It credits nothing and
costs no points.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from autograder.answers.normalise import Normal, Span, normalise
from autograder.answers.polarity import denials
from autograder.answers.segment import Sentence, sentences
from autograder.lesson.rubric import Slot

_AROUND = 8  # words (Chinese characters) on each side that make a word's surroundings
_ALIKE = 0.45  # cosine of two surroundings from which they speak of the same thing
_LEAD = 0.15  # by which the opposite must be nearer than the word itself
_SCOPE = 14  # characters before a word in which a denial reaches it
_FEW = 4  # words of surroundings below which a word is not judged
_SHARED = 2  # words that two surroundings must have in common

# Axes of opposites. Words of one axis vouch for one another ("more" and "larger"); only the two sides of one row are opposites.
_AXES = (
    (
        ("longer long lengthen lengthens 变长 更长 较长 更久 长", "shorter short shorten shortens 变短 更短 较短 短"),
        ("more most many much 变多 更多 太多 多", "fewer less few little 变少 更少 太少 少"),
        ("larger bigger large big largest 变大 更大 较大 偏大 太大 大", "smaller small smallest 变小 更小 较小 偏小 太小 小"),
        ("higher high highest above 变高 更高 较高 偏高 太高 高", "lower low lowest below 变低 更低 较低 偏低 太低 低"),
        (
            "increase increases increased increasing grow grows rise rises raise raises 增加 增大 增多 升高 上升 提高 增",
            "decrease decreases decreased shrink shrinks fall falls drop drops reduce reduces reduced 减少 减小 降低 下降 减 降",
        ),
        ("wide wider 变宽 更宽 宽", "narrow narrower 变窄 更窄 窄"),
        ("max maximum", "min minimum"),
        ("faster fast quicker 变快 更快 快", "slower slow 变慢 更慢 慢"),
    ),
    (("before earlier early 之前 以前 先 早 提前", "after later late 之后 以后 后 晚 推迟"),),
    (("full saturated busy 满 饱和", "empty idle free 空 空闲 闲"),),
    (("hidden hide hides 藏住 掩盖 隐藏", "exposed 露出来 暴露"),),
    (("same equal 相同 一样", "different 不同 不一样"),),
    (("right 右", "left 左"),),
    (("always 总是", "never 从不"),),
    (("producer producers 生产者", "consumer consumers 消费者"),),
    (("registers register 寄存器", "shared smem 共享内存"),),
    (("read reads load loads reading 读", "write writes store stores writing 写"),),
    (("memory-bound bandwidth-bound", "compute-bound"),),
    (("contiguous 连续", "scattered 分散"),),
    (("dependent 依赖", "independent 独立"),),
    (("outer 外层", "inner 内层"),),
    (("async asynchronous asynchronously 异步", "sync synchronous 同步"),),
    (("rs", "ss"),),
    (("saves save 省", "costs cost 多花"),),
    (("cheaper cheap 便宜", "dearer expensive 贵"),),
)
_SIDES = {w: (axis, row, sign) for axis, rows in enumerate(_AXES) for row, pair in enumerate(rows) for sign, side in zip((1, -1), pair) for w in side.split()}
# Longer words that hold one of them and have no opposite.
_OTHER = "大约 大半 大概 大致 大于 小于 大部分 多数 多半 多少 至少 至多 最多 最少 不少 减去 后面 后者 前后 先后 然后 其后 空间 空指针 满足 快照 低位 高位 省略 高效 长度 宽度 高度 大小 多个 多次 多级 多余 读写 写法 写成 写出 同一"
_TURN = re.compile(
    f"(?P<other>{'|'.join(_OTHER.split())})"
    + "|(?<![a-z])(?:"
    + "|".join(sorted((re.escape(w) for w in _SIDES if w.isascii()), key=len, reverse=True))
    + ")(?![a-z])|"
    + "|".join(sorted((w for w in _SIDES if not w.isascii()), key=len, reverse=True))
)
_WORD = re.compile(r"[a-z][a-z0-9_]+|\d+|[\u4e00-\u9fff]")
_STOP = frozenset(
    "the an of to is are was be it that this so and or in on at for as by with then which when one its you we they each than if not no does do will can only there from into but because would have has had".split()
)
_STOP_ZH = frozenset("的了是就在和也都会被把着得地它这那有为要到个不没")


@dataclass(frozen=True)
class _Turn:
    """One word with an opposite: its axis, row and side (a denial before it changes the side), the words around it, and its clause's place."""

    axis: int
    row: int
    sign: int
    around: frozenset[str]
    clause: Span


class Vouched:
    """The words with an opposite in all that a slot's rubric states as right."""

    def __init__(self, slot: Slot):
        self._known: list[_Turn] = []
        self._holding: dict[tuple[int, str], list[int]] = defaultdict(list)  # those of an axis that have a word around them
        for text in _statements(slot):
            normal = normalise(text)
            for turn in _turns(normal.text, sentences(normal)):
                for word in turn.around:
                    self._holding[turn.axis, word].append(len(self._known))
                self._known.append(turn)

    def turned(self, normal: Normal, sents: list[Sentence]) -> str:
        """The first clause that says the opposite of what is vouched for, as the student wrote it, "" where there is none."""
        return next((normal.quote(t.clause.start, t.clause.end) for t in _turns(normal.text, sents) if self._opposed(t)), "")

    def _opposed(self, turn: _Turn) -> bool:
        same = opposite = 0.0
        if len(turn.around) < _FEW:  # "还少一次启动": too little is said to know of what
            return False
        common = Counter(n for word in turn.around for n in self._holding.get((turn.axis, word), ()))
        for n, shared in common.items():
            if shared < _SHARED:
                continue
            known = self._known[n]
            alike = shared / (len(turn.around) * len(known.around)) ** 0.5
            if known.sign == turn.sign:
                same = max(same, alike)
            elif known.row == turn.row:
                opposite = max(opposite, alike)
        return opposite >= _ALIKE and opposite > same + _LEAD


def _statements(slot: Slot) -> Iterator[str]:
    for lang in ("zh", "en"):
        yield slot.reference.get(lang)
        for link in slot.links:
            yield from (link.cause.get(lang), link.mechanism.get(lang), link.effect.get(lang), *link.exemplars.get(lang))


def _turns(text: str, sents: Iterable[Sentence]) -> Iterator[_Turn]:
    for clause in (c for s in sents for c in s.clauses):
        said = text[clause.start : clause.end]
        found = [m for m in _TURN.finditer(said) if not m["other"]]
        words = [(m.start(), m.end(), m[0]) for m in _WORD.finditer(said)] if found else []
        for m in found:
            axis, row, sign = _SIDES[m[0]]
            denied = denials(said[max(0, m.start() - _SCOPE) : m.start()]) % 2
            before = [w for _, end, w in words if end <= m.start()][-_AROUND:]
            after = [w for start, _, w in words if start >= m.end()][:_AROUND]
            yield _Turn(axis, row, -sign if denied else sign, frozenset(_units(before)) | frozenset(_units(after)), clause)


def _units(words: list[str]) -> Iterator[str]:
    """English words without their plural, and pairs of neighbouring Chinese characters."""
    for w, following in zip(words, [*words[1:], ""]):
        if w.isascii():
            if w not in _STOP:
                yield w.rstrip("s")
        elif following and not following.isascii() and not (w in _STOP_ZH and following in _STOP_ZH):
            yield w + following
