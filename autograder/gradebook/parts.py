"""A hand-in as parts: which text stands in which released cell. The reading is the grader's own."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from autograder.gradebook.safe import hints_seen
from autograder.lesson import Lesson


@dataclass(frozen=True)
class Part:
    """One cell of the student's. cell_id: the released cell it belongs to, "" for one of his own. kind: code or markdown."""

    cell_id: str
    kind: str
    source: str
    outputs: object = None
    execution_count: int | None = None
    hints: list[int] = field(default_factory=list)


def read_parts(lesson: Lesson, path: Path, lang: str) -> list[Part]:
    """The parts in the order of the hand-in; an empty list where the grader cannot read it."""
    import json

    ids = {"boundary_case": "boundary-case", **{n: f"answer-{n}" for n in ("explanation", "q1", "q2", "q3")}}
    try:
        cells = json.loads(path.read_bytes())["cells"]
    except (ValueError, KeyError):
        return []
    parts = []
    for cell in cells:
        name = cell.get("metadata", {}).get("nbgrader", {}).get("grade_id", "")
        source = cell["source"] if isinstance(cell["source"], str) else "".join(cell["source"])
        parts.append(Part(ids.get(name, name), cell["cell_type"], source, cell.get("outputs"), cell.get("execution_count"), hints_seen(cell.get("outputs"))))
    return parts
