"""Cells of a notebook as JSON, for the edits that the cases ask for."""

from __future__ import annotations

import json

from autograder.lesson.model import BLANK


def put(source: str, fill: str) -> str:
    """An expression in the blank; several lines, or a statement, in place of the statement that holds it."""
    if "\n" not in fill and not fill.startswith(
        (
            "return",
            "if ",
            "while",
            "for ",
            "import",
            "raise",
            "global",
            "try",
            "pass",
            "del ",
            "class",
            "def ",
            "from ",
            "assert",
            "acc",
            "yield",
            "np.",
        )
    ):
        return source.replace(BLANK, fill, 1)
    lines = []
    for line in source.split("\n"):
        indent = line[: len(line) - len(line.lstrip())]
        lines += [indent + x for x in fill.rstrip("\n").split("\n")] if BLANK in line else [line]
    return "\n".join(lines)


def part(nb: dict, name: str) -> dict:
    """The cell of a part, by the released metadata."""
    for cell in nb["cells"]:
        course, grade_id = cell["metadata"].get("course", {}), cell["metadata"].get("nbgrader", {}).get("grade_id")
        if name in (course.get("slot"), course.get("check"), grade_id, cell.get("id")):
            return cell
    raise KeyError(name)


def dump(nb: dict) -> bytes:
    return json.dumps(nb, ensure_ascii=False, indent=1).encode("utf-8", "surrogatepass")


def markdown(source: str) -> dict:
    return {"cell_type": "markdown", "metadata": {}, "source": source}


def code(source: str) -> dict:
    return {"cell_type": "code", "metadata": {}, "source": source, "outputs": [], "execution_count": None}


def at(nb: dict, name: str) -> int:
    return next(i for i, c in enumerate(nb["cells"]) if c is part(nb, name))


def source_of(released: dict, name: str) -> str:
    return "".join(part(released, name)["source"])
