"""A hand-in as parts: which text stands in which released cell. The reading is the grader's own."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from pathlib import Path

from autograder.gradebook.safe import hints_seen
from autograder.lesson import Lesson
from autograder.lesson.model import ANSWER_SLOTS
from autograder.submission.fill import extract
from autograder.submission.read import NbCell, Reading, Unreadable, read_hand_in, released
from autograder.submission.read.files import notebooks_in


@dataclass(frozen=True)
class Part:
    """One cell of the student's. cell_id: the released cell it belongs to, "" for one of his own. kind: code or markdown."""

    cell_id: str
    kind: str
    source: str
    outputs: object = None
    execution_count: int | None = None
    hints: list[int] = field(default_factory=list)


def read_parts(lesson: Lesson, path: Path, released_cells: list[dict]) -> list[Part]:
    """The parts in the order of the hand-in; an empty list where the grader cannot read it.

    released_cells: the cells of the released notebook in the language of the result.
    """
    try:
        found = notebooks_in(path)
        if len(found) == 1 and (plain := _untouched(lesson, found[0].data, released_cells)) is not None:
            return plain
        hand_in = read_hand_in(lesson, released(lesson), path)
    except Unreadable:
        return []
    reading = hand_in.reading
    raw = _raw_outputs(hand_in.data)
    owner = _owners(reading)
    parts = [Part(f"answer-{slot}", "markdown", text) for slot, text in reading.answers.items() if text]
    extra = set(reading.extra)
    for cell in reading.cells:
        name = owner.get(cell.index, "")
        if name in ANSWER_SLOTS or (cell.kind != "code" and cell.source not in extra):
            continue  # an answer is shown in its slot, a text of the lesson as it was released
        outputs = raw.get(
            cell.index, [{"output_type": "stream", "name": "stdout", "text": text} for text in cell.outputs]
        )
        parts.append(Part(_cell_id(name), cell.kind, cell.source, outputs, cell.executed, hints_seen(outputs)))
    return parts


def _untouched(lesson: Lesson, data: bytes, released_cells: list[dict]) -> list[Part] | None:
    """The quick way for a notebook whose cells are the released ones in their order, as most are; None for any other."""
    try:
        cells = json.loads(data)["cells"]
        if [c["id"] for c in cells] != [c["id"] for c in released_cells] or any(
            c["cell_type"] != r["cell_type"] for c, r in zip(cells, released_cells, strict=True)
        ):
            return None
        sources = [c["source"] if isinstance(c["source"], str) else "".join(c["source"]) for c in cells]
        defines = re.compile(rf"def\s+{re.escape(lesson.checks.function)}\s*\(")
        if sum(bool(defines.search(text)) for text in sources) != 1:
            return None  # which of several is graded is for the grader's reading to say
        return [
            Part(
                c["id"],
                c["cell_type"],
                text,
                c.get("outputs"),
                c.get("execution_count") if isinstance(c.get("execution_count"), int) else None,
                hints_seen(c.get("outputs")),
            )
            for c, text in zip(cells, sources, strict=True)
            if c["cell_type"] == "code" or c["id"].startswith("answer-")
        ]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


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
