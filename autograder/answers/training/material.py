"""What the reader learns from: lessons' rubrics and labelled answers, as (answer, items, labels, marked words).

python -m autograder.answers.training.material OUT.json     # everything training needs, in one file that travels to a GPU machine
"""

from __future__ import annotations

import json
import random
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

ABSENT, PRESENT, CONTRADICTED, NOT_PRESENT, UNKNOWN = (
    0,
    1,
    2,
    3,
    -1,
)  # NOT_PRESENT: absent or contradicted, nobody said which
WRONG = "wrong"  # as autograder.answers.items has it; repeated since a GPU machine has none of the grader's libraries


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
    """Everything that training needs of a course: {"slots": {key: ...}, "lines": [...], "frames": ...}, all text in the grader's form."""
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
    return {"slots": slots, "lines": lines, "frames": read_frames()}


def read_frames() -> dict:
    from ruamel.yaml import YAML

    return YAML(typ="safe").load(FRAMES.read_text(encoding="utf-8"))


def example(row: dict) -> Example:
    segs = [
        Segment(s["text"], frozenset(s["has"]), frozenset(s.get("denies") or ()), s["wrong"])
        for s in row["segments"]
        if s["text"]
    ]
    return Example(row["key"], "zh" if row["lang"] == "zh" else "en", segs, row.get("only"))


FRAMES = Path(__file__).with_name("frames.yml")


class Frames:
    """frames.yml: general ways to take a text back, or to speak of it without doing so. Nothing of a lesson stands in them."""

    def __init__(self, data: dict):
        self.data = data

    def draw(self, kind: str, lang: str, r: random.Random) -> str:
        """A frame of taken_back, withdrawn or kept, with {X} for the text."""
        own = self.data[lang]
        frame = r.choice(own[kind])
        for name in ("who", "said", "verdict"):
            frame = frame.replace(f"{{{name.upper()}}}", r.choice(own[name]))
        return frame


class Epoch:
    """Examples of one epoch: the labelled answers as they are, and as many again made of their pieces."""

    def __init__(
        self, slots: dict, rows: list[dict], frames: Frames, seed: int, made: float = 1.3, withdrawn: float = 0.0,
        part: tuple[int, int] = (0, 1),
    ):  # fmt: skip
        """made: recombined answers a labelled one.  withdrawn: the share of labelled answers that are also taken back as a whole;
        half as many stand in a frame that takes nothing back.  part (k, n): only the k-th of n parts, for one process of several."""
        self.slots, self.made, self.withdrawn, self.frames, self.part = slots, made, withdrawn, frames, part
        self.random = random.Random(seed)
        self.whole = [e for e in map(example, rows) if e.segments]
        self.pieces: dict[tuple[str, str], list[Segment]] = defaultdict(list)
        for e in self.whole:
            if e.only is None and (len(e.segments) > 1 or len(e.segments[0].text) < 200):
                self.pieces[e.key, e.lang] += e.segments

    def __iter__(self) -> Iterator[Example]:
        r = self.random
        keys = list(self.slots)
        k, n = self.part
        for e in self.whole[k::n]:
            yield Example(e.key, e.lang, e.segments, e.only, self._foreign(keys, e.key))
            if e.only is None and r.random() < self.withdrawn:
                yield Example(e.key, e.lang, [self._all_taken_back(e)])
            if e.only is None and r.random() < self.withdrawn / 2:
                yield Example(e.key, e.lang, [self._kept(e)])
        for _ in range(int(self.made * len(self.whole[k::n]))):
            key, lang = r.choice(list(self.pieces))
            pool = self.pieces[key, lang]
            segments = [r.choice(pool) for _ in range(r.choice((1, 1, 2, 2, 3, 3, 4, 5)))]
            if r.random() < 0.15:
                n = r.randrange(len(segments))
                segments[n] = (
                    self._taken_back(segments[n], lang) if r.random() < 0.8 else self._kept_piece(segments[n], lang)
                )
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
        frame = self.frames.draw("withdrawn", e.lang, self.random)
        return Segment(frame.replace("{X}", e.text), frozenset(), links, wrong)

    def _kept(self, e: Example) -> Segment:
        """A whole answer in words that leave it as it is: its labels are those of its pieces together."""
        union = lambda what: frozenset(x for s in e.segments for x in getattr(s, what))
        flags = [s.wrong for s in e.segments]
        wrong = True if any(flags) else None if None in flags else False
        whole = Segment(e.text, union("has"), union("denies"), wrong)
        return self._kept_piece(whole, e.lang)

    def _kept_piece(self, s: Segment, lang: str) -> Segment:
        return replace(s, text=self.frames.draw("kept", lang, self.random).replace("{X}", s.text))

    def _taken_back(self, s: Segment, lang: str) -> Segment:
        """The piece as something that the writer does not hold. What was right is then denied; what was wrong is refuted."""
        frame = self.frames.draw("taken_back", lang, self.random)
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
