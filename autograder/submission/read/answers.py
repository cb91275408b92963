"""Which text of a notebook answers which question, and where that is not sure."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from itertools import pairwise

from autograder.lesson.model import ANSWER_SLOTS
from autograder.submission.read.notebook import NbCell
from autograder.submission.read.prose import SOME, amount, prose_beside, prose_of, unquoted
from autograder.submission.read.released import HEADING, Part, Released, likeness, plain, words

MAX_ANSWER = 20_000  # characters
MAX_EXTRA = 100_000
RUN = 3  # short lines of the lesson's in its order: nobody writes them anew
REWORDED = 0.3  # share of a released cell's words by which a text is an edit of it
_HEADS = {
    "q1": r"Q\s*1|问题\s*[1一]",
    "q2": r"Q\s*2|问题\s*[2二]",
    "q3": r"Q\s*3|问题\s*[3三]",
    "explanation": r"explanation|explain(?: your implementation)?|解释(?:你的)?实现|实现解释",
}
HEAD = re.compile(
    rf"^[\s#>*_]*(?P<name>{'|'.join(f'(?P<{k}>{v})' for k, v in _HEADS.items())})[\s*_]*(?:[:：.、)）]|$)[\s*_]*(?P<rest>.*)$",
    re.I,
)
_NUMBER = re.compile(r"^[\s>*_]*[(（]?(?P<n>[1-3])[.、)）:：]\s*(?P<rest>.*)$")
_PICTURE = re.compile(r"!\[[^\]]{0,300}\]\(|<img\b", re.I)


@dataclass
class Answers:
    """texts: slot -> the student's text. pictures: slots whose answer holds a picture. extra: text the student added elsewhere. moved: slots
    read from another place. told: code cells that were read as text. cut: slots whose answer was longer than MAX_ANSWER. doubtful: slots
    that were given a text by guess, or none though there is text that may be theirs."""

    texts: dict[str, str] = field(default_factory=lambda: dict.fromkeys(ANSWER_SLOTS, ""))
    pictures: list[str] = field(default_factory=list)
    extra: list[str] = field(default_factory=list)
    moved: list[str] = field(default_factory=list)
    told: list[NbCell] = field(default_factory=list)
    cut: list[str] = field(default_factory=list)
    doubtful: list[str] = field(default_factory=list)


def find_answers(book: Released, cells: list[NbCell], owner: list[int | None]) -> Answers:
    """owner: for each cell the released part that it is (match.py)."""
    return _Reader(book, cells, owner).read()


def head_of(line: str) -> str:
    """The slot that a heading such as "Q1:" names, "" of any other line."""
    m = HEAD.match(line)
    return next(k for k in _HEADS if m[k]) if m else ""


class _Reader:
    """Collects each slot's text: from its own cell and the cells the student added below it; failing that, from the question's cell and
    what follows it; failing that, from a cell anywhere that is headed Q1, Q2, ..."""

    def __init__(self, book: Released, cells: list[NbCell], owner: list[int | None]):
        self.book, self.cells, self.owner = book, cells, owner
        self.own: dict[str, list[str]] = {s: [] for s in ANSWER_SLOTS}  # in the slot's cell and below it
        self.near: dict[str, list[str]] = {s: [] for s in ANSWER_SLOTS}  # in and below the question's cell
        self.headed: dict[str, list[str]] = {s: [] for s in ANSWER_SLOTS}
        self.blocks: Counter[str] = Counter()  # cells with text of the student's own in a slot's region
        self.beside: set[str] = set()  # slots in whose question's cell there is text beside the question
        self.seen: set[str] = set()
        self.lead_of = {i: slot for slot, leads in book.leads.items() for i in leads}
        self.taken_over = _overwritten(book, cells, owner)
        self.below = ""  # the slot below which we are, with nothing but the student's cells between
        self.code: Counter[str] = Counter()  # words of prose in cells of code below a slot
        self.ends = _ends(book)
        self.out = Answers()

    def read(self) -> Answers:
        place: tuple[str, dict] | None = None  # the slot whose region we are in, and where its text goes
        for n, (cell, index) in enumerate(zip(self.cells, self.owner, strict=True)):
            part = self.book.parts[index] if index is not None else None
            if part is not None and part.is_slot:
                place = (part.name, self.own)
                self._lines(cell, place, own=True)
            elif index in self.lead_of:
                place = self._question(cell, self.lead_of[index], part)
            elif n in self.taken_over:
                place = self._lines(cell, (self.taken_over[n], self.near))
            elif part is not None:
                place = None
            elif (text := _text(cell)) is None:
                if self.below and self.code[self.below] < SOME:
                    self.code[self.below] += prose_beside(self.book, cell.source)
                place = place if place and place[1] is self.own else None
            else:
                place = self._added(cell, text, place)
                self.out.told += [cell] if cell.kind == "code" else []
            self.below = place[0] if place else self.below if part is None else ""
        self._settle()
        return self.out

    def _question(self, cell: NbCell, slot: str, part: Part):
        """A question's cell; what stands beside the question, whole as it is, is the student's."""
        before = amount("\n".join(self.near[slot]))
        place = self._lines(cell, (slot, self.near), counted=False)
        whole = {plain(x) for x in part.source.split("\n")} <= {plain(x) for x in cell.source.split("\n")}
        if whole and amount("\n".join(self.near[slot])) - before >= SOME:
            self.beside.add(slot)
            self.blocks[slot] += 1
        return place

    def _added(self, cell: NbCell, text: str, place):
        """A cell the student added: part of the slot above it, or headed Q1, Q2, ... or a note of his own; or a piece of a released one."""
        if text.strip():
            lines = text.split("\n")
            heads = [h for line in lines if (h := head_of(line))]
            prompts = {self.book.prompt_lines.get(plain(line)) for line in lines} - {None, ""}
            if prompts or (heads and (place is None or len(heads) > 1)):
                return self._lines(cell, place, merged=True)
            released, headings = _released_lines(self.book, lines, cell.kind == "markdown")
            mine = "\n".join(line for n, line in enumerate(lines) if n not in released)
            if not mine.strip() and headings & self.ends.get(self.below, frozenset()):
                self.below = ""  # the lesson goes on
                return None
            if place is None:
                mine = "\n".join(
                    x for x in mine.split("\n") if plain(x) not in self.book.lines
                )  # a short line too: here it is no answer
                if plain(mine) and sum(map(len, self.out.extra)) < MAX_EXTRA:
                    self.out.extra.append(mine[:MAX_ANSWER])
                return None
        return self._lines(cell, place) or place

    def _lines(self, cell: NbCell, place, own: bool = False, merged: bool = False, counted: bool = True):
        """Hand out a cell's lines. Prompt lines are dropped; another slot's prompt, and in a merged cell a line headed Q1, say whose
        answer follows. The lesson's other lines are dropped too; own: in a slot's own cell only where another cell was merged into it, so
        that a copied answer is told as one."""
        if cell.source in self.seen and place is not None and len(cell.source) > 20:
            return place  # a doubled cell says nothing new
        self.seen.add(cell.source)
        given: dict[str, list[str]] = {}

        def give(line: str) -> None:
            place[1][place[0]].append(line)
            given.setdefault(place[0], []).append(line)

        lines = _as_text(cell).split("\n")
        released, headings = _released_lines(self.book, lines, cell.kind == "markdown")
        if own and not headings:
            released = set()
        for n, line in enumerate(lines):
            known = self.book.prompt_lines.get(plain(line))
            head = HEAD.match(line) if merged else None
            if known is not None:
                if known and (place is None or known != place[0]):
                    place = (known, self.near)
            elif head:
                place = (head_of(line), self.headed)
                if head["rest"].strip():
                    give(head["rest"])
            elif place is not None and n not in released:
                give(self._without_placeholder(line))
        if place is not None:
            place[1][place[0]].append("")
            if cell.attachments or _PICTURE.search(cell.source):
                self.out.pictures.append(place[0])
        for slot, lines in given.items():
            self.blocks[slot] += counted and amount("\n".join(lines)) >= SOME
        return place

    def _without_placeholder(self, line: str) -> str:
        for text in self.book.placeholders:
            if text in line:
                line = line.replace(text, "").replace("**", "").strip(" *")
        return line

    # -- what each slot gets in the end

    def _settle(self) -> None:
        texts, by_place = {}, set()
        for slot in ANSWER_SLOTS:
            groups = [(_tidy(group[slot]), group) for group in (self.own, self.near, self.headed)]
            texts[slot], group = next(((t, g) for t, g in groups if t), ("", self.own))
            if group is not self.own and texts[slot]:
                self.out.moved.append(slot)
            if group is self.near and texts[slot]:
                by_place.add(slot)
            elif group is self.own and texts[slot] and slot in self.beside:
                self._doubt({slot})
        before = dict(texts)
        self._part_at_heads(texts)
        self._part_at_numbers(texts)
        self.out.moved += [s for s in ANSWER_SLOTS if texts[s] and not before[s] and s not in self.out.moved]
        without = {s for s in ANSWER_SLOTS if amount(texts[s]) < SOME}
        if without and (self._is_loose() or any(n > 1 for s, n in self.blocks.items() if texts[s] == before[s])):
            self._doubt(without | by_place)
        self._doubt({s for s in without if self.code[s] >= SOME})
        for slot, text in texts.items():
            if len(text) > MAX_ANSWER:
                self.out.cut.append(slot)
            self.out.texts[slot] = text[:MAX_ANSWER]

    def _doubt(self, slots: set[str]) -> None:
        self.out.doubtful += [s for s in ANSWER_SLOTS if s in slots and s not in self.out.doubtful]

    def _is_loose(self) -> bool:
        """Is there text that was given to no slot and could be an answer?"""
        return any(amount(text) >= SOME and not self._is_reworded(text) for text in self.out.extra)

    def _is_reworded(self, text: str) -> bool:
        mine = words(text)
        return any(
            p.words.total() >= SOME and likeness(p.words, mine) >= REWORDED
            for p in self.book.parts
            if p.kind == "markdown" and not p.is_slot
        )

    def _part_at_heads(self, texts: dict[str, str]) -> None:
        """Answers written into one slot under headings: those of slots that have no text of their own go there."""
        for slot in ANSWER_SLOTS:
            lines = texts[slot].split("\n")
            heads = [head_of(line) for line in lines]
            empty = {h for h in heads if h and h != slot and not texts[h]}
            if not empty:
                continue
            pieces: dict[str, list[str]] = {slot: []}
            at = slot
            for line, head in zip(lines, heads, strict=True):
                if head == slot or head in empty:
                    at, line = head, HEAD.match(line)["rest"]
                pieces.setdefault(at, []).append(line)
            texts |= {s: _tidy(p) for s, p in pieces.items()}
            if len([h for h in heads if h]) == 1:  # a single "Q2:" may also be a remark on Q2
                self._doubt(set(pieces))

    def _part_at_numbers(self, texts: dict[str, str]) -> None:
        """A text of its own with the points 1, 2, 3 where no question has an answer: by guess one point for each."""
        questions = [s for s in ANSWER_SLOTS if s != "explanation"]
        if any(texts[s] for s in questions):
            return
        for text in self.out.extra:
            pieces: list[list[str]] = []
            for line in text.split("\n"):
                m = _NUMBER.match(line)
                if m and int(m["n"]) == len(pieces) + 1:
                    pieces.append([m["rest"]])
                elif pieces:
                    pieces[-1].append(line)
            if len(pieces) == len(questions) and all(amount(_tidy(p)) >= SOME for p in pieces):
                texts |= {s: _tidy(p) for s, p in zip(questions, pieces, strict=True)}
                self.out.extra.remove(text)
                self._doubt(set(questions))
                return


def _overwritten(book: Released, cells: list[NbCell], owner: list[int | None]) -> dict[int, str]:
    """Cells by place that have the name of a question's cell and another text: the answer was written over the question. -> the slot."""
    found = {o for o in owner if o is not None}
    names = {
        name: (slot, leads[-1]) for slot, leads in book.leads.items() if leads for name in book.parts[leads[-1]].ids
    }
    claims: dict[int, list[int]] = {}
    slot_of = {}
    for n, cell in enumerate(cells):
        for name in cell.ids if owner[n] is None and cell.kind != "code" else ():
            if name in names and names[name][1] not in found:
                claims.setdefault(names[name][1], []).append(n)
                slot_of[n] = names[name][0]
    return {places[0]: slot_of[places[0]] for places in claims.values() if len(places) == 1}


def _ends(book: Released) -> dict[str, frozenset[str]]:
    """For each slot the headings of the cell right below it."""
    return {
        p.name: frozenset(t for x in below.source.split("\n") if (t := plain(x)) in book.headings)
        for p, below in pairwise(book.parts)
        if p.is_slot
    }


def _released_lines(book: Released, lines: list[str], markdown: bool) -> tuple[set[int], set[str]]:
    """Which of these lines are the lesson's own, and which headings are among them. A line that could as well be the student's is the
    lesson's only as a heading in both, or beside its neighbours there."""
    found: set[int] = set()
    headings: set[str] = set()
    run: list[int] = []
    sure = False
    before = ""
    for n, line in enumerate([*lines, ""]):
        text = plain(line)
        if not text and n < len(lines):
            continue
        heading = markdown and text in book.headings and bool(HEADING.match(line))
        if not run or (before, text) not in book.followers:
            found |= set(run) if sure or len(run) >= RUN else set()
            run, sure = [], False
        if text in book.lines:
            run.append(n)
            sure |= heading or amount(line) >= SOME
            headings |= {text} if heading else set()
        before = text
    return found, headings


def _text(cell: NbCell) -> str | None:
    """What a cell says; None of a code cell that is no prose."""
    return prose_of(cell.source) if cell.kind == "code" else cell.source


def _as_text(cell: NbCell) -> str:
    """The text of a cell that answers stand in, whatever it is."""
    text = _text(cell)
    return unquoted(cell.source) if text is None else text


def _tidy(lines: list[str]) -> str:
    return re.sub(r"\n{3,}", "\n\n", "\n".join(line.rstrip() for line in lines)).strip()
