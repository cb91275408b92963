"""Which submitted cell is which part of the lesson, by content first, then by the names in its metadata, then by its place.

Metadata are a hint: they get lost (Colab, VS Code, Kaggle), are copied with a cell, and can be forged.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from autograder.lesson.model import ANSWER_SLOTS, Lesson
from autograder.submission.read.answers import find_answers, head_of
from autograder.submission.read.notebook import NbCell, Notebook
from autograder.submission.read.others import lines_of_lessons
from autograder.submission.read.released import Part, Released, likeness, plain, squeezed, words
from autograder.submission.read.text import refuse_lost
from autograder.submission.read.unreadable import Unreadable
from autograder.submission.source import as_run

MAX_LOOKED = 20_000  # characters of a cell that are compared
UNIQUE = 12  # words by which a released cell is this lesson's own: headings such as "Q1" are every lesson's
SAME = 0.6  # share of a released cell's words by which an edited copy of it is known
_LESSON = re.compile(r"\bstart\(\s*[\"'](lesson\d\d_\w+)")
_FENCE = re.compile(r"^\s*(```|~~~)[^\n]*\n(.*?)\n?[ \t]*\1\s*$", re.S)


@dataclass
class Reading:
    """A submission read against the lesson.

    cells: in their order, those that hold a code cell of the lesson as code. exercise: candidates for the exercise cell, in order. turned:
    parts whose code stood in a Markdown or raw cell. found: released parts that were seen again. other_release: None, or the id of the
    release that the notebook says it comes from where that is not today's ("" where it has none). unread: there is more in it than was
    looked at. missed: and text in that; then every slot is cut, for it may belong to any.
    answers, pictures, extra, moved, cut, doubtful: see answers.Answers.
    """

    released: Released
    cells: list[NbCell]
    exercise: list[NbCell] = field(default_factory=list)
    answers: dict[str, str] = field(default_factory=lambda: dict.fromkeys(ANSWER_SLOTS, ""))
    pictures: list[str] = field(default_factory=list)
    moved: list[str] = field(default_factory=list)
    cut: list[str] = field(default_factory=list)
    extra: list[str] = field(default_factory=list)
    doubtful: list[str] = field(default_factory=list)
    found: dict[str, list[NbCell]] = field(default_factory=dict)
    turned: list[str] = field(default_factory=list)
    other_release: str | None = None
    unread: bool = False
    missed: bool = False

    @property
    def lang(self) -> str:
        return self.released.lang

    @property
    def code(self) -> list[NbCell]:
        return [c for c in self.cells if c.kind == "code"]


def read_submission(lesson: Lesson, editions: dict[str, Released], notebook: Notebook) -> Reading:
    """Find the lesson's parts. Raises Unreadable where this is not the lesson's notebook."""
    if not notebook.cells:
        raise Unreadable(
            "笔记本里没有单元格；请提交你做过的那一份笔记本。",
            "The notebook has no cells; hand in the one that you worked in.",
            foreign=True,
        )
    if any("??" in c.source or "\ufffd" in c.source for c in notebook.cells):
        for book in editions.values():
            refuse_lost(_lines(notebook), book.chinese, book.shadows)
    book = _edition(editions, notebook)
    owner, exact = _assign(book, notebook.cells)
    reading = Reading(book, list(notebook.cells), unread=notebook.cut, missed=notebook.missed)
    _take_as_code(reading, owner)
    for cell, index in zip(reading.cells, owner, strict=True):
        if index is not None:
            reading.found.setdefault(book.parts[index].name, []).append(cell)
    reading.exercise = _exercise_cells(book.exercise.function, reading)
    _refuse_other_lessons(lesson, editions, notebook, reading, [book.parts[i] for i in exact])
    if (
        notebook.lesson == lesson.slug
        and book.release
        and notebook.release not in {b.release for b in editions.values()}
    ):
        reading.other_release = notebook.release
    found = find_answers(book, reading.cells, owner)
    reading.answers = found.texts
    for cell in found.told:
        cell.outputs = []  # what an answer prints is the answer again, and no evidence for it
    for name in ("pictures", "moved", "cut", "extra", "doubtful"):
        setattr(reading, name, getattr(found, name))
    if reading.missed:
        reading.cut = list(ANSWER_SLOTS)
    return reading


def _lines(notebook: Notebook) -> Iterator[str]:
    return (line for c in notebook.cells[:500] for line in c.source[:MAX_LOOKED].split("\n"))


def _edition(editions: dict[str, Released], notebook: Notebook) -> Released:
    """By content: the edition with more of its cells and lines in the notebook; the metadata decide a tie."""

    texts = {squeezed(c.source) for c in notebook.cells}
    exact = {lang: len(texts & book.by_text.keys()) for lang, book in editions.items()}
    best = max(exact, key=exact.get)
    if exact[best] >= 3 + sum(n for lang, n in exact.items() if lang != best):
        return editions[best]
    lines = [plain(x) for c in notebook.cells[:500] if c.kind != "code" for x in c.source[:MAX_LOOKED].split("\n")]
    score = {
        lang: exact[lang] + sum(x in book.lines for x in lines) + 0.5 * (lang == notebook.lang)
        for lang, book in editions.items()
    }
    best = max(score, key=score.get)
    if list(score.values()).count(score[best]) == 1:
        return editions[best]
    text = "".join(c.source[:2000] for c in notebook.cells[:200])
    return editions["zh" if len(re.findall(r"[\u3400-\u9fff]", text)) * 10 > len(text) else "en"]


def _assign(book: Released, cells: list[NbCell]) -> tuple[list[int | None], set[int]]:
    """For each submitted cell the released cell it is; and the released cells that are there word for word."""
    owner: list[int | None] = [None] * len(cells)
    for i, cell in enumerate(cells):
        index = book.by_text.get(squeezed(cell.source), book.by_text.get(squeezed(_unfenced(cell))))
        if index is not None and not book.parts[index].is_slot:
            owner[i] = index
    exact = {o for o in owner if o is not None}
    by_id = {name: n for n, part in enumerate(book.parts) for name in part.ids | {part.name}}
    for i, cell in enumerate(cells):
        if owner[i] is None:
            owner[i] = _by_name(book, cell, by_id, exact)
    for any_kind in (False, True):  # code in a Markdown cell only where no code cell is that part
        taken = {o for o in owner if o is not None}
        open_parts = [
            (n, p) for n, p in enumerate(book.parts) if n not in taken and p.words.total() >= 3 and not p.is_slot
        ]
        for i, cell in enumerate(cells):
            if owner[i] is None and cell.source.strip():
                owner[i] = _by_likeness(open_parts, cell, any_kind)
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
        if index not in taken and likeness(part.words, words(cell.source[:MAX_LOOKED])) >= SAME:
            return index
    return None


def _by_likeness(open_parts: list[tuple[int, Part]], cell: NbCell, any_kind: bool) -> int | None:
    mine = words(cell.source[:MAX_LOOKED])
    best, score = None, SAME
    for index, part in open_parts:
        if part.kind == cell.kind or part.kind == "markdown" or any_kind:
            value = likeness(part.words, mine)
            if value > score:
                best, score = index, value
    return best


# -- cells of code that are no code cells any more ------------------------------------------------------------------------------


def _take_as_code(reading: Reading, owner: list[int | None]) -> None:
    """A code cell of the lesson that became Markdown or raw (one stray key does it) is read as the code it holds, unless there is a code
    cell for that part too."""
    parts = reading.released.parts
    as_code = {o for c, o in zip(reading.cells, owner, strict=True) if o is not None and c.kind == "code"}
    defines = _defines(reading.released.exercise.function)
    if any(defines.search(as_run(c.source)) for c in reading.cells if c.kind == "code"):
        as_code |= {i for i, p in enumerate(parts) if p.name == "exercise"}
    for n, (cell, index) in enumerate(zip(reading.cells, owner, strict=True)):
        if index is not None and parts[index].kind == "code" and cell.kind != "code" and index not in as_code:
            reading.cells[n] = _as_code(cell)
            reading.turned += [parts[index].name] if parts[index].name not in reading.turned else []


def _as_code(cell: NbCell) -> NbCell:
    return replace(cell, kind="code", source=_unfenced(cell))


def _unfenced(cell: NbCell) -> str:
    """The text of a cell; of a Markdown cell that is one block of code, that code."""
    m = _FENCE.match(cell.source) if cell.kind != "code" and cell.source.lstrip()[:3] in ("```", "~~~") else None
    return m[2] if m else cell.source


def _defines(function: str) -> re.Pattern:
    return re.compile(rf"^[ \t]*(?:async[ \t]+)?def[ \t]+{re.escape(function)}[ \t]*\(", re.M)


def _exercise_cells(function: str, reading: Reading) -> list[NbCell]:
    """Code cells that define the exercise's function, else what is named so, else any other cell that was code."""
    defines = _defines(function)
    code = [c for c in reading.code if defines.search(as_run(c.source))]
    named = [c for c in reading.found.get("exercise", []) if c.kind == "code"]
    answers = [c.index for slot in ANSWER_SLOTS for c in reading.found.get(slot, [])]
    return (
        code
        or named
        or [
            _as_code(c)
            for c in reading.cells
            if c.kind != "code" and defines.search(c.source) and c.index not in answers
        ]
    )


# -- other lessons ----------------------------------------------------------------------------------------------------------------


def _refuse_other_lessons(
    lesson: Lesson, editions: dict[str, Released], notebook: Notebook, reading: Reading, certain: list[Part]
) -> None:
    """Whoever defines the exercise's function works on this lesson. Else the lines tell that one lesson alone has; else what the notebook
    says of itself; else headings."""
    defines = _defines(reading.released.exercise.function)
    if any(defines.search(as_run(c.source)) for c in reading.exercise):
        return
    lines = lines_of_lessons(lesson.folder, lesson.slug, editions, _lines(notebook))
    best = max(lines, key=lines.get, default="")
    named = {notebook.lesson, *(m for c in reading.code for m in _LESSON.findall(c.source))} - {""}
    if lines.get(best):
        other = (
            best if 2 * lines[lesson.slug] < lines[best] else ""
        )  # notes from another lesson beside this one's are no other lesson
    else:
        other = "" if lesson.slug in named else min(named, default="")
    if other:
        raise Unreadable(
            f"这是 {other[:80]} 的笔记本，不是 {lesson.slug}；请交这一课的笔记本。",
            f"This is the notebook of {other[:80]}, not of {lesson.slug}; hand in this lesson's notebook.",
            foreign=True,
        )
    if (
        lines.get(lesson.slug)
        or lesson.slug in named
        or any(
            head_of(line)
            for c in notebook.cells[:500]
            if c.kind != "code"
            for line in c.source[:MAX_LOOKED].split("\n")
        )
    ):
        return
    if not lines and any(p.words.total() >= UNIQUE and p.name not in ("setup", "normal", "boundary") for p in certain):
        return
    if notebook.missed:  # where the lesson is, if it is there, nobody knows
        raise Unreadable(
            f"笔记本太长，没有读完，读到的部分里没有 {lesson.slug} 的内容；请删去不属于这一课的单元格后重新提交。",
            f"The notebook is too long to be read to its end, and the part that was read holds nothing of {lesson.slug}; delete the cells that do not belong to the lesson and hand it in again.",
        )
    raise Unreadable(
        f"这不是 {lesson.slug} 的笔记本：找不到这一课的任何部分；请交这一课的笔记本。",
        f"This is not the notebook of {lesson.slug}: none of the lesson's parts is in it; hand in this lesson's notebook.",
        foreign=True,
    )
