"""A student's saved notebook, read against the released one: which cell is which part, and what was written in it.

Metadata may be lost (Colab, copy and paste), so a part is looked for by grade_id, then by cell id, then by content.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from autograder.errors import CourseError
from autograder.student.data import ReleasedCell, StudentLesson

MAX_BYTES = 100_000_000
ANSWERS = ("explanation", "q1", "q2", "q3")
_CJK = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]")


@dataclass(frozen=True)
class Found:
    """cells: what the notebook has for each released part, in reading order (empty: missing; two: doubled)."""

    lang: str
    cells: dict[str, list[NotebookNode]]
    has_outputs: bool
    below: dict[str, list[str]]  # answer slot -> texts of Markdown cells that the student added below it

    def source(self, part: str) -> str | None:
        return self.cells[part][0].source if self.cells[part] else None

    def answer(self, slot: str) -> str | None:
        """The slot's text and what was added below it; None where the slot's cell is gone."""
        source = self.source(slot)
        return None if source is None else "\n\n".join([source, *self.below.get(slot, [])])


def read_notebook(path: Path) -> NotebookNode:
    """A notebook of any nbformat, as 4.x. Raises CourseError that says why a file cannot be read."""
    where = str(path)
    try:
        if path.stat().st_size > MAX_BYTES:
            raise CourseError("The notebook is larger than 100 MB.", where=where, remedy="Clear its outputs (Edit, Clear Outputs of All Cells) and save.")
        raw = path.read_bytes()
    except FileNotFoundError:
        raise CourseError("There is no such file.", where=where, remedy="Check the name; the notebook ends in .ipynb.") from None
    except IsADirectoryError:
        raise CourseError("This is a folder.", where=where, remedy="Give the notebook inside it.") from None
    except OSError as e:
        raise CourseError(f"The file cannot be opened: {e.strerror}.", where=where, remedy="Check its permissions.") from None
    if not raw.strip():
        raise CourseError("The file is empty.", where=where, remedy="Save the notebook again.")
    if raw.startswith(b"PK"):
        raise CourseError("This is a zip archive, not a notebook.", where=where, remedy="Unzip it and give the .ipynb inside.")
    try:
        data = json.loads(raw.decode("utf-8-sig"))
    except UnicodeDecodeError as e:
        raise CourseError(f"The file is not UTF-8 (byte {e.start}).", where=where, remedy="Save it from JupyterLab again.") from None
    except json.JSONDecodeError as e:
        raise CourseError(f"The file is not a notebook: invalid JSON at line {e.lineno}.", where=where, remedy="It may be a broken download; save it from JupyterLab again.") from None
    if not isinstance(data, dict) or not isinstance(data.get("cells", data.get("worksheets")), list):
        raise CourseError("The file is JSON, but not a notebook.", where=where, remedy="Give the .ipynb that JupyterLab saved.")
    try:
        nb = nbformat.reads(json.dumps(data), as_version=4)
        if not all(isinstance(c.get("source"), str) for c in nb.cells):
            raise ValueError("a cell without text")
    except Exception as e:  # nbformat raises many kinds on malformed cells
        raise CourseError(f"The notebook is malformed: {type(e).__name__}: {e}.", where=where, remedy="Open it in JupyterLab and save it again.") from None
    return nb


def lesson_name_of(nb: NotebookNode, path: Path) -> str:
    """The lesson's slug, from the notebook's metadata or, where that was lost, the file's or its folders' names."""
    slug = nb.metadata.get("course", {}).get("lesson") if isinstance(nb.metadata.get("course"), dict) else None
    if isinstance(slug, str):
        return slug
    for name in (path.stem, path.parent.name, path.parent.parent.name):
        if m := re.search(r"lesson\d\d_[a-z0-9_]+", name):
            return m[0]
    raise CourseError("It cannot be told which lesson this notebook belongs to.", where=str(path), remedy="Rename it to the lesson's name, e.g. lesson07_mixed_precision_epilogue.ipynb.")


def find_parts(nb: NotebookNode, lesson: StudentLesson) -> Found:
    """Match the notebook's cells with the released parts."""
    lang = _language(nb, lesson)
    parts = [c for c in lesson.released[lang] if c.part]
    found: dict[str, list[NotebookNode]] = {c.part: [] for c in parts}
    left = list(nb.cells)

    def take(match) -> None:
        for released in parts:
            if not found[released.part]:
                found[released.part] = [c for c in left if match(c, released)]
        taken = {id(c) for cells in found.values() for c in cells}
        left[:] = [c for c in left if id(c) not in taken]

    take(lambda c, r: _grade_id(c) == r.part and c.cell_type == r.kind)
    take(lambda c, r: c.get("id") == r.id and c.cell_type == r.kind)
    take(lambda c, r: c.cell_type == r.kind and _looks_like(c.source, r, lesson.function))
    _answers_by_place(nb, lesson.released[lang], found)
    outputs = any(c.get("outputs") for c in nb.cells if c.cell_type == "code")
    return Found(lang, found, outputs, _added_below(nb, lesson.released[lang], found))


def _added_below(nb: NotebookNode, released: tuple[ReleasedCell, ...], found: dict[str, list[NotebookNode]]) -> dict[str, list[str]]:
    """Markdown cells between a slot and the next released cell: an answer may be written in a cell of its own."""
    slots = {id(found[s][0]): s for s in ANSWERS if found.get(s)}
    parts = {id(c) for cells in found.values() for c in cells}
    known = {c.source.strip() for c in released}
    out: dict[str, list[str]] = {}
    slot = None
    for cell in nb.cells:
        if id(cell) in slots:
            slot = slots[id(cell)]
        elif id(cell) in parts or cell.source.strip() in known:
            slot = None
        elif slot and cell.cell_type == "markdown":
            out.setdefault(slot, []).append(cell.source)
    return out


def _grade_id(cell: NotebookNode) -> str | None:
    meta = cell.metadata.get("nbgrader")
    return meta.get("grade_id") if isinstance(meta, dict) else None


def _language(nb: NotebookNode, lesson: StudentLesson) -> str:
    course = nb.metadata.get("course")
    lang = course.get("lang") if isinstance(course, dict) else None
    if lang in lesson.released:
        return lang
    # Without metadata: the edition that shares more cells.
    texts = {c.source.strip() for c in nb.cells}
    return max(lesson.released, key=lambda x: sum(c.source.strip() in texts for c in lesson.released[x]))


def _looks_like(source: str, released: ReleasedCell, function: str) -> bool:
    if released.part == "exercise":
        return bool(re.search(rf"^\s*def\s+{re.escape(function)}\s*\(", source, re.M))
    if released.part == "boundary_case":
        return bool(re.search(r"^\s*my_case\s*=", source, re.M))
    return source.strip() == released.source.strip()


def _answers_by_place(nb: NotebookNode, released: tuple[ReleasedCell, ...], found: dict[str, list[NotebookNode]]) -> None:
    """A slot whose metadata was lost is the first Markdown cell after the text that stands before it in the release."""
    sources = [c.source.strip() for c in nb.cells]
    for before, slot in zip(released, released[1:]):
        if slot.part in ANSWERS and not found[slot.part] and before.source.strip() in sources:
            at = sources.index(before.source.strip()) + 1
            known = any(c.source.strip() == sources[at] for c in released if c.part not in ANSWERS) if at < len(sources) else True
            if not known and nb.cells[at].cell_type == "markdown":
                found[slot.part] = [nb.cells[at]]


def written(source: str, released: str) -> str:
    """What the student added to a slot: its text without the lines that were released."""
    given = {x.strip() for x in released.split("\n") if x.strip()}
    return "\n".join(x for x in source.split("\n") if x.strip() not in given).strip()


def word_count(text: str) -> int:
    """Chinese characters and words of other scripts."""
    return len(_CJK.findall(text)) + len(re.findall(r"[A-Za-z0-9_]+(?:[.'-][A-Za-z0-9_]+)*", text))
