"""A hand-in as parts: which text stands in which released cell. The reading is the grader's own."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

from autograder.gradebook.safe import hints_seen
from autograder.grading.fill import extract
from autograder.grading.read import NbCell, Reading, Unreadable, read_bytes, read_notebook, read_submission, released
from autograder.lesson import Lesson
from autograder.lesson.model import ANSWER_SLOTS


@dataclass(frozen=True)
class Part:
    """One cell of the student's. cell_id: the released cell it belongs to, "" for one of his own. kind: code or markdown."""

    cell_id: str
    kind: str
    source: str
    outputs: object = None
    execution_count: int | None = None
    hints: list[int] = field(default_factory=list)


def read_parts(lesson: Lesson, path: Path) -> list[Part]:
    """The parts in the order of the hand-in; an empty list where the grader cannot read it."""
    editions = released(lesson)
    try:
        data = read_bytes(path, lesson.slug)
        notebook = read_notebook(data, [line for book in editions.values() for line in book.lines])
        reading = read_submission(lesson, editions, notebook)
    except Unreadable:
        return []
    raw = _raw_outputs(data)
    owner = _owners(reading)
    parts = [Part(f"answer-{slot}", "markdown", text) for slot, text in reading.answers.items() if text]
    extra = set(reading.extra)
    for cell in reading.cells:
        name = owner.get(cell.index, "")
        if name in ANSWER_SLOTS or (cell.kind != "code" and cell.source not in extra):
            continue  # an answer is shown in its slot, a text of the lesson as it was released
        outputs = raw.get(cell.index, [{"output_type": "stream", "name": "stdout", "text": text} for text in cell.outputs])
        parts.append(Part(_cell_id(name), cell.kind, cell.source, outputs, cell.executed, hints_seen(outputs)))
    return parts


def _owners(reading: Reading) -> dict[int, str]:
    """Cell index -> the part it is shown as. Of several cells for one part the first; the others are shown as the student's own."""
    owner: dict[int, str] = {}
    taken: set[str] = set()

    def take(name: str, cell: NbCell) -> None:
        if cell.index not in owner and (name not in taken or name in ANSWER_SLOTS):
            owner[cell.index] = name
            taken.add(name)

    filled = [c for c in reading.exercise if not extract(reading.released.exercise, c.source).problem]
    for cell in (filled or reading.exercise)[-1:]:  # the one that was graded
        take("exercise", cell)
    for name, cells in reading.found.items():
        for cell in cells:
            take(name, cell)
    return owner


def _cell_id(name: str) -> str:
    return "boundary-case" if name == "boundary_case" else name


def _raw_outputs(data: bytes) -> dict[int, object]:
    """Outputs by cell index, with pictures, where the file is plain JSON of nbformat 4."""
    try:
        cells = json.loads(data)["cells"]
        return {i: c["outputs"] for i, c in enumerate(cells) if isinstance(c, dict) and c.get("outputs")}
    except (ValueError, KeyError, TypeError, RecursionError):
        return {}
