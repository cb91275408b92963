"""What the reader learns from: lessons' rubrics and labelled answers, as (answer, items, labels, marked words).

python -m autograder.answers.training.material OUT.json     # everything training needs, in one file that travels to a GPU machine
"""

from __future__ import annotations

import json
import random
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

ABSENT, PRESENT, CONTRADICTED, NOT_PRESENT, UNKNOWN = (
    0,
    1,
    2,
    3,
    -1,
)  # NOT_PRESENT: absent or contradicted, nobody said which
WRONG = "wrong"  # as autograder.answers.items has it; repeated since a GPU machine has none of the grader's libraries

# A right statement taken back, or reported as somebody's mistake. They are general: nothing of a lesson stands in them.
TAKEN_BACK = {
    "zh": (
        "有人说：{X}这个说法是错误的。", "“{X}”——并不是这样。", "我不同意下面这句话：{X}", "{X}以上说法不成立。", "认为{X}是一种误解。", "错误观点：{X}",
        "{X}不对，划掉，刚才写反了。", "下面这段是网上抄来的，其实是错的：{X}", "很多人以为{X}事实恰好相反。", "{X}——这是假的。", "如果你觉得{X}那你就错了。",
        "{X}(更正：上面全部作废。)", "常见误区是{X}", "{X}呵呵，才怪。", "书上写{X}我认为书错了。", "并非{X}", "谣言：{X}", "{X}这句话站不住脚。",
    ),
    "en": (
        "it is not true that {X}", 'some claim: "{X}" this is wrong.', "{X} no, that is a myth.", "i disagree with the statement that {X}", "the following is false: {X}",
        "{X} wrong!", "{X} scratch that, it is the other way round.", "people often believe this, mistakenly: {X}", "myth: {X}", "contrary to what one reads, it is not the case that {X}",
        "{X} (correction: none of the above holds.)", "a common error is to say: {X}", "{X} at least that is what the slides say, and they are mistaken.", "nobody should believe that {X}",
        "{X} just kidding, the opposite.", "it would be wrong to write: {X}", "{X} this reasoning does not hold up.", "false: {X}",
    ),
}  # fmt: skip


# A whole answer taken back: before it, behind it, or on a line of its own.
WITHDRAWN = {
    "zh": (
        "以下全是错的：{X}", "{X}\n全部不对。", "下面这些话我一句也不信：{X}", "{X}\n以上都是反话。", "{X}\n不对，划掉重来。", "错误答案：{X}", "{X}\n(以上是我瞎编的)", "这是同桌的答案，我不同意：{X}",
        "请指出下面的错误：{X}", "{X}\n真的吗？不是。", "我原来是这样想的，后来发现错了：{X}", "{X}\n——这种说法纯属误会。", "假设有人答：{X}那他一分也不该得。", "{X}\n×", "❌{X}", "判断正误：{X}\n答案：错误。",
        "{X}\n上面写的不算。", "网传：{X}辟谣：并非如此。", "{X}\n……才不是呢。", "如果世界是反的：{X}",
    ),
    "en": (
        "all of the following is wrong: {X}", "{X}\nall wrong.", "i do not believe a word of this: {X}", "{X}\nthe opposite of all that is true.", "{X}\nno, cross that out.", "wrong answer: {X}", "{X}\n(i invented everything above)",
        "this is what my friend wrote and i disagree: {X}", "find the mistakes: {X}", "{X}\nreally? no.", "i used to think so, then i found it was wrong: {X}", "{X}\nthat is a misunderstanding from start to end.",
        "suppose somebody answers: {X} then he deserves nothing.", "{X}\nx", "❌ {X}", "right or wrong: {X}\nanswer: wrong.", "{X}\ndisregard what i wrote.", "rumour: {X} fact check: untrue.", "{X}\n... not.", "in a world upside down: {X}",
    ),
}  # fmt: skip


@dataclass(frozen=True)
class Segment:
    text: str
    has: frozenset[str]
    denies: frozenset[str] = frozenset()
    wrong: bool | None = None


@dataclass
class Example:
    """An answer in pieces, with a label for each of its slot's items. `only`: items whose labels are known (None: all)."""

    key: str  # "lesson03/q1"
    lang: str
    segments: list[Segment]
    only: str | None = None
    other: list[tuple[str, str]] = field(default_factory=list)  # (key, item) of other slots, which are absent

    @property
    def text(self) -> str:
        return joined([s.text for s in self.segments], self.lang)

    def label(self, item: str, links: set[str]) -> int:
        if self.only is not None and item != self.only:
            return UNKNOWN
        if item == WRONG:
            known = [s.wrong for s in self.segments]
            return PRESENT if any(known) else UNKNOWN if None in known else ABSENT
        has, denied = (any(item in getattr(s, what) for s in self.segments) for what in ("has", "denies"))
        if has and denied:
            return UNKNOWN
        if has or denied:
            return PRESENT if has else CONTRADICTED
        return NOT_PRESENT if item in links and any(s.wrong is not False for s in self.segments) else ABSENT


def joined(texts: list[str], lang: str) -> str:
    return ("" if lang == "zh" else " ").join(texts)


EXEMPLARS = Path(__file__).with_name(
    "exemplars.jsonl"
)  # sentences of which one label is known: does it state this item?


def collect(lessons: Path) -> dict:
    """Everything that training needs of a course: {"slots": {key: ...}, "lines": [...]}, all text in the grader's canonical form."""
    from autograder.answers.items import items_of
    from autograder.answers.normalise import normalise
    from autograder.lesson.rubric import load_rubric

    slots, lines = {}, []
    for folder in sorted(p.parent for p in lessons.glob("lesson*/rubric.yml")):
        name = folder.name[:8]
        rubric = load_rubric(folder / "rubric.yml")
        for s, slot in rubric.slots.items():
            veto = [m.id for m in slot.misconceptions if m.veto]
            slots[f"{name}/{s}"] = {
                "items": [vars(i) for i in items_of(slot)], "points": slot.points, "some": slot.some, "full": slot.full, "required": slot.required_for_full, "veto": veto,
            }  # fmt: skip
        for raw in (folder / "answers.jsonl").read_text(encoding="utf-8").splitlines():
            row = json.loads(raw)
            for s in row["segments"]:
                s["text"] = normalise(s["text"]).text.strip()
            row["key"] = f"{name}/{row['slot']}"
            lines.append(row)
    for raw in EXEMPLARS.read_text(encoding="utf-8").splitlines():
        x = json.loads(raw)
        seg = {
            "text": normalise(x["text"]).text.strip(),
            "has": [x["item"]] if x["states"] else [],
            "denies": [],
            "wrong": None,
        }
        lines.append(
            {
                "key": x["key"],
                "lang": x["lang"],
                "writer": "exemplar",
                "split": "train",
                "only": x["item"],
                "segments": [seg],
            }
        )
    return {"slots": slots, "lines": lines}


def example(row: dict) -> Example:
    segs = [
        Segment(s["text"], frozenset(s["has"]), frozenset(s.get("denies") or ()), s["wrong"])
        for s in row["segments"]
        if s["text"]
    ]
    return Example(row["key"], "zh" if row["lang"] == "zh" else "en", segs, row.get("only"))


class Epoch:
    """Examples of one epoch: the labelled answers as they are, and as many again made of their pieces."""

    def __init__(self, slots: dict, rows: list[dict], seed: int, made: float = 1.3, withdrawn: float = 0.0):
        """made: recombined answers a labelled one.  withdrawn: the share of labelled answers that are also taken back as a whole."""
        self.slots, self.made, self.withdrawn = slots, made, withdrawn
        self.random = random.Random(seed)
        self.whole = [e for e in map(example, rows) if e.segments]
        self.pieces: dict[tuple[str, str], list[Segment]] = defaultdict(list)
        for e in self.whole:
            if e.only is None and (len(e.segments) > 1 or len(e.segments[0].text) < 200):
                self.pieces[e.key, e.lang] += e.segments

    def __iter__(self) -> Iterator[Example]:
        r = self.random
        keys = list(self.slots)
        for e in self.whole:
            yield Example(e.key, e.lang, e.segments, e.only, self._foreign(keys, e.key))
            if e.only is None and r.random() < self.withdrawn:
                yield Example(e.key, e.lang, [self._all_taken_back(e)])
        for _ in range(int(self.made * len(self.whole))):
            key, lang = r.choice(list(self.pieces))
            pool = self.pieces[key, lang]
            segments = [r.choice(pool) for _ in range(r.choice((1, 1, 2, 2, 3, 3, 4, 5)))]
            if r.random() < 0.12:
                n = r.randrange(len(segments))
                segments[n] = self._taken_back(segments[n], lang)
            yield Example(key, lang, segments, None, self._foreign(keys, key))

    def _foreign(self, keys: list[str], key: str) -> list[tuple[str, str]]:
        out = []
        for _ in range(2):
            k = self.random.choice(keys)
            if k.split("/")[0] != key.split("/")[0]:
                items = self.slots[k]["items"]
                out.append((k, items[self.random.randrange(len(items) - 1)]["id"]))  # never WRONG, which stands last
        return out

    def _all_taken_back(self, e: Example) -> Segment:
        """A whole answer that its writer does not stand by. Of one that is wrong in part nobody can say whether the whole is."""
        links = frozenset(x for s in e.segments for x in s.has if ".m." not in x)
        flags = [s.wrong for s in e.segments]
        wrong = bool(links) if flags and all(f is False for f in flags) else None
        return Segment(self.random.choice(WITHDRAWN[e.lang]).replace("{X}", e.text), frozenset(), links, wrong)

    def _taken_back(self, s: Segment, lang: str) -> Segment:
        """The piece as something that the writer does not hold. What was right is then denied; what was wrong is refuted."""
        frame = self.random.choice(TAKEN_BACK[lang])
        links = frozenset(x for x in s.has if ".m." not in x)
        body = s.text.rstrip("。.") if frame.endswith("{X}") or "{X}”" in frame else s.text
        if s.wrong is None:
            return Segment(frame.replace("{X}", body), frozenset(), links, None)
        return Segment(frame.replace("{X}", body), frozenset(), links, bool(links) and not s.wrong)


def gold_points(slot: dict, segments: list[dict]) -> tuple[int, set[str], bool]:
    """What a person's labels give: (points, links stated, is anything false asserted)."""
    has = set().union(*(s["has"] for s in segments))
    denied = set().union(*(s.get("denies") or () for s in segments))
    links = {i["id"] for i in slot["items"] if i["kind"] == "link"} & has - denied
    return points_of(slot, links), links, any(s["wrong"] for s in segments)


def points_of(slot: dict, links: set[str]) -> int:
    if len(links) >= slot["full"] and set(slot["required"]) <= links:
        return slot["points"]
    return slot["points"] // 2 if len(links) >= slot["some"] else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m autograder.answers.training.material OUT.json")
    data = collect(Path(__file__).parents[3] / "lessons")
    Path(sys.argv[1]).write_text(json.dumps(data, ensure_ascii=False), encoding="utf-8")
    print(len(data["slots"]), "slots,", len(data["lines"]), "labelled answers")
