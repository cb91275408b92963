"""Which submitted cell is which part of the lesson, by content first, then by the names in its metadata, then by its place.

Metadata are a hint: they get lost (Colab, VS Code, Kaggle), are copied with a cell, and can be forged.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field

from autograder.grading.read.files import Unreadable
from autograder.grading.read.notebook import NbCell, Notebook
from autograder.grading.read.released import Part, Released, likeness, plain, squeezed, statements, words
from autograder.lesson.model import ANSWER_SLOTS, Lesson

MAX_ANSWER = 20_000  # characters
MAX_EXTRA = 100_000
UNIQUE = 12  # words by which a released cell is this lesson's own: headings such as "Q1" are every lesson's
SAME = 0.6  # share of a released cell's words by which an edited copy of it is known
_HEADS = {"q1": r"Q\s*1|问题\s*[1一]", "q2": r"Q\s*2|问题\s*[2二]", "q3": r"Q\s*3|问题\s*[3三]", "explanation": r"explanation|explain(?: your implementation)?|解释(?:你的)?实现|实现解释"}
_HEAD = re.compile(rf"^[\s#>*_]*(?P<name>{'|'.join(f'(?P<{k}>{v})' for k, v in _HEADS.items())})[\s*_]*(?:[:：.、)）]|$)[\s*_]*(?P<rest>.*)$", re.I)
_LESSON = re.compile(r"\bstart\(\s*[\"'](lesson\d\d_\w+)")
_PICTURE = re.compile(r"!\[[^\]]{0,300}\]\(|<img\b", re.I)


@dataclass
class Reading:
    """A submission read against the lesson.

    exercise: candidates for the exercise cell, in order. code: every code cell. answers: slot -> the student's text.
    pictures: slots whose answer holds a picture. extra: Markdown the student added elsewhere. moved: slots read from another place.
    cut: slots whose answer was longer than MAX_ANSWER. found: released parts that were seen again.
    """

    released: Released
    cells: list[NbCell]
    exercise: list[NbCell] = field(default_factory=list)
    answers: dict[str, str] = field(default_factory=lambda: dict.fromkeys(ANSWER_SLOTS, ""))
    pictures: list[str] = field(default_factory=list)
    moved: list[str] = field(default_factory=list)
    cut: list[str] = field(default_factory=list)
    extra: list[str] = field(default_factory=list)
    found: dict[str, list[NbCell]] = field(default_factory=dict)

    @property
    def lang(self) -> str:
        return self.released.lang

    @property
    def code(self) -> list[NbCell]:
        return [c for c in self.cells if c.kind == "code"]


def read_submission(lesson: Lesson, editions: dict[str, Released], notebook: Notebook) -> Reading:
    """Find the lesson's parts. Raises Unreadable where this is not the lesson's notebook."""
    book = _edition(editions, notebook)
    owner, exact = _assign(book, notebook.cells)
    certain = [book.parts[i] for i in exact]
    reading = Reading(book, notebook.cells)
    for cell, index in zip(notebook.cells, owner, strict=True):
        if index is not None:
            reading.found.setdefault(book.parts[index].name, []).append(cell)
    reading.exercise = _exercise_cells(book.exercise.function, reading)
    _refuse_other_lessons(lesson, notebook, reading, certain)
    _Answers(reading, owner).read()
    return reading


def _edition(editions: dict[str, Released], notebook: Notebook) -> Released:
    """By content: the edition with more of its cells and lines in the notebook; the metadata decide a tie."""

    texts = {squeezed(c.source) for c in notebook.cells}
    exact = {lang: len(texts & book.by_text.keys()) for lang, book in editions.items()}
    best = max(exact, key=exact.get)
    if exact[best] >= 3 + sum(n for lang, n in exact.items() if lang != best):
        return editions[best]
    lines = [plain(x) for c in notebook.cells[:500] if c.kind != "code" for x in c.source[:20_000].split("\n")]
    score = {lang: exact[lang] + sum(x in book.lines for x in lines) + 0.5 * (lang == notebook.lang) for lang, book in editions.items()}
    best = max(score, key=score.get)
    if list(score.values()).count(score[best]) == 1:
        return editions[best]
    text = "".join(c.source[:2000] for c in notebook.cells[:200])
    return editions["zh" if len(re.findall(r"[\u3400-\u9fff]", text)) * 10 > len(text) else "en"]


def _assign(book: Released, cells: list[NbCell]) -> tuple[list[int | None], set[int]]:
    """For each submitted cell the released cell it is; and the released cells that are there word for word."""
    owner: list[int | None] = [None] * len(cells)
    for i, cell in enumerate(cells):
        index = book.by_text.get(squeezed(cell.source))
        if index is not None and not book.parts[index].is_slot:
            owner[i] = index
    exact = {o for o in owner if o is not None}
    by_id = {name: n for n, part in enumerate(book.parts) for name in part.ids | {part.name}}
    for i, cell in enumerate(cells):
        if owner[i] is None:
            owner[i] = _by_name(book, cell, by_id, exact)
    taken = {o for o in owner if o is not None}
    open_parts = [(n, p) for n, p in enumerate(book.parts) if n not in taken and p.words.total() >= 3 and not p.is_slot]
    for i, cell in enumerate(cells):
        if owner[i] is None and cell.source.strip():
            owner[i] = _by_likeness(open_parts, cell)
    return owner, exact


def _by_name(book: Released, cell: NbCell, by_id: dict[str, int], taken: set[int]) -> int | None:
    """What the metadata say, unless the content is that of no such part."""
    names = [n for n in (cell.slot, *cell.ids) if n]
    if cell.role in ("exercise", "normal"):
        names.append(cell.role)
    for name in names:
        index = by_id.get(name)
        if index is None:
            continue
        part = book.parts[index]
        if part.is_slot or part.kind == "code" and cell.kind == "code":
            return index
        if index not in taken and likeness(part.words, words(cell.source[:20_000])) >= SAME:
            return index
    return None


def _by_likeness(open_parts: list[tuple[int, Part]], cell: NbCell) -> int | None:
    mine = words(cell.source[:20_000])
    best, score = None, SAME
    for index, part in open_parts:
        if part.kind == cell.kind or part.kind == "markdown":
            value = likeness(part.words, mine)
            if value > score:
                best, score = index, value
    return best


def _exercise_cells(function: str, reading: Reading) -> list[NbCell]:
    """Cells that define the exercise's function. Code cells if there is one; else a Markdown or raw cell that was code."""
    defines = re.compile(rf"^[ \t]*(?:async[ \t]+)?def[ \t]+{re.escape(function)}[ \t]*\(", re.M)
    code = [c for c in reading.code if defines.search(c.source)]
    named = [c for c in reading.found.get("exercise", []) if c.kind == "code" and c not in code]
    if code or named:
        return code or named
    return [c for c in reading.cells if c.kind != "code" and defines.search(c.source) and not c.slot]


def _refuse_other_lessons(lesson: Lesson, notebook: Notebook, reading: Reading, certain: list[Part]) -> None:
    if not notebook.cells:
        raise Unreadable("笔记本里没有单元格；请在 Jupyter 里打开、保存后重新提交。", "The notebook has no cells; open and save it in Jupyter and hand it in again.")
    defined = any(f"def {reading.released.exercise.function}" in c.source for c in reading.exercise)
    if defined or any(p.words.total() >= UNIQUE and not p.name.startswith("setup") for p in certain):
        return
    named = {notebook.lesson, *(m for c in reading.code for m in _LESSON.findall(c.source))} - {""}
    if lesson.slug in named:
        return
    if named:
        other = sorted(named)[0][:80]
        raise Unreadable(f"这是 {other} 的笔记本，不是 {lesson.slug}；请交这一课的笔记本。", f"This is the notebook of {other}, not of {lesson.slug}; hand in this lesson's notebook.")
    if any(_HEAD.match(line) for c in notebook.cells if c.kind != "code" and c.index < 500 for line in c.source[:MAX_ANSWER].split("\n")):
        return
    raise Unreadable(
        f"这不是 {lesson.slug} 的笔记本：找不到这一课的任何部分；请交这一课的笔记本。",
        f"This is not the notebook of {lesson.slug}: none of the lesson's parts is in it; hand in this lesson's notebook.",
    )


class _Answers:
    """Collects each slot's text: from its own cell and the cells the student added below it; failing that, from the question's cell and
    what follows it; failing that, from a cell anywhere that is headed Q1, Q2, ..."""

    def __init__(self, reading: Reading, owner: list[int | None]):
        self.reading, self.owner, self.book = reading, owner, reading.released
        self.own: dict[str, list[str]] = {s: [] for s in ANSWER_SLOTS}  # in the slot's cell and below it
        self.near: dict[str, list[str]] = {s: [] for s in ANSWER_SLOTS}  # in and below the question's cell
        self.headed: dict[str, list[str]] = {s: [] for s in ANSWER_SLOTS}
        self.seen: set[str] = set()
        self.lead_of = {i: slot for slot, leads in self.book.leads.items() for i in leads}

    def read(self) -> None:
        place: tuple[str, dict] | None = None  # the slot whose region we are in, and where its text goes
        for cell, index in zip(self.reading.cells, self.owner, strict=True):
            part = self.book.parts[index] if index is not None else None
            if part is not None and part.is_slot:
                place = (part.name, self.own)
                self._lines(cell, place)
            elif index in self.lead_of:
                place = (self.lead_of[index], self.near)
                place = self._lines(cell, place)
            elif part is not None:
                place = None
            elif cell.kind == "code" and not _is_prose(cell):
                place = place if place and place[1] is self.own else None
            else:
                place = self._added(cell, place)
        self._settle()

    def _added(self, cell: NbCell, place):
        """A cell the student added: part of the slot above it, or headed Q1, Q2, ... or a note of his own."""
        if cell.source.strip():
            heads = [m.lastgroup for line in cell.source.split("\n") if (m := _HEAD.match(line))]
            prompts = {self.book.prompt_lines.get(plain(line)) for line in cell.source.split("\n")} - {None, ""}
            if prompts or (heads and (place is None or len(heads) > 1)):
                return self._lines(cell, place, merged=True)
            if place is None:
                if sum(map(len, self.reading.extra)) < MAX_EXTRA:
                    self.reading.extra.append(cell.source[:MAX_ANSWER])
                return None
        return self._lines(cell, place) or place

    def _lines(self, cell: NbCell, place, merged: bool = False):
        """Hand out a cell's lines. Prompt lines are dropped; another slot's prompt, and in a merged cell a line headed Q1, say whose
        answer follows."""
        if cell.source in self.seen and place is not None and len(cell.source) > 20:
            return place  # a doubled cell says nothing new
        self.seen.add(cell.source)
        for line in _prose(cell).split("\n"):
            known = self.book.prompt_lines.get(plain(line))
            head = _HEAD.match(line) if merged else None
            if known is not None:
                if known and (place is None or known != place[0]):
                    place = (known, self.near)
            elif head:
                place = (next(k for k in _HEADS if head[k]), self.headed)
                if head["rest"].strip():
                    place[1][place[0]].append(head["rest"])
            elif place is not None:
                place[1][place[0]].append(self._without_placeholder(line))
        if place is not None:
            place[1][place[0]].append("")
            if cell.attachments or _PICTURE.search(cell.source):
                self.reading.pictures.append(place[0])
        return place

    def _without_placeholder(self, line: str) -> str:
        for text in self.book.placeholders:
            if text in line:
                line = line.replace(text, "").replace("**", "").strip(" *")
        return line

    def _settle(self) -> None:
        for slot in ANSWER_SLOTS:
            texts = [(_tidy(group[slot]), group) for group in (self.own, self.near, self.headed)]
            text, group = next(((t, g) for t, g in texts if t), ("", self.own))
            if group is not self.own and text:
                self.reading.moved.append(slot)
            if len(text) > MAX_ANSWER:
                self.reading.cut.append(slot)
            self.reading.answers[slot] = text[:MAX_ANSWER]


def _is_prose(cell: NbCell) -> bool:
    """A code cell that holds an answer: only comments or strings, or words that are not Python."""
    if not cell.source.strip():
        return True
    body = statements(cell.source)
    if body:
        return all(isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant) and isinstance(s.value.value, str) for s in body)
    lines = [x for x in cell.source.split("\n") if x.strip()]
    return all(x.lstrip().startswith("#") for x in lines) or len(re.findall(r"[\u3400-\u9fff]|[A-Za-z]{2} [A-Za-z]{2}", cell.source)) >= 3


def _prose(cell: NbCell) -> str:
    """The text of an answer cell; comment signs and string quotes of a code cell taken off."""
    if cell.kind != "code":
        return cell.source
    return "\n".join(re.sub(r"^\s*#+ ?|^\s*[\"']{1,3}|[\"']{1,3}\s*$", "", line) for line in cell.source.split("\n"))


def _tidy(lines: list[str]) -> str:
    return re.sub(r"\n{3,}", "\n\n", "\n".join(line.rstrip() for line in lines)).strip()
