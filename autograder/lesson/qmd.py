"""A .qmd page read into cells. jupytext's "Rmd" reader does the splitting and needs no Quarto."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from autograder.errors import CourseError
from autograder.lesson.model import Cell, Edition
from autograder.lesson.references import figures_of, fill

_SLOT = re.compile(
    r"^:::+ *\{(?=[^}]*\.answer\b)[^}]*#(?P<id>[\w-]+)[^}]*\}[ \t]*\n(?P<body>.*?)^:::+[ \t]*$", re.M | re.S
)


def read_edition(path: Path, lang: str, figures: Mapping[str, str] | None = None, as_written: bool = False) -> Edition:
    """Parse one page, with its figures in the place of their references. Raises CourseError with the line where it cannot be read.

    figures: those of lint, where an unknown one is a problem among others and raises nothing; as_written: references stay.
    """
    try:
        text = path.read_text(encoding="utf-8-sig").replace("\r\n", "\n")
    except FileNotFoundError:
        raise CourseError(
            f"The {lang} edition is missing.",
            where=str(path),
            remedy="Add the page; every lesson has zh.qmd and en.qmd.",
        ) from None
    except UnicodeDecodeError as e:
        raise CourseError(
            f"The page is not UTF-8 (byte {e.start}).", where=str(path), remedy="Save it as UTF-8."
        ) from None
    _check_fences(text, path)
    if not as_written:
        text = fill(text, figures_of(path.parent) if figures is None else figures, str(path), strict=figures is None)
    front: dict = {}
    cells: list[Cell] = []
    pos = 0
    for raw in _jupytext().reads(text, fmt="Rmd").cells:
        start = text.find(raw.source, pos)
        start = pos if start < 0 else start
        pos = start + len(raw.source)
        line = text.count("\n", 0, start) + 1
        if raw.cell_type == "raw":
            front = _yaml(raw.source.strip().strip("-"), path, line)
        elif raw.cell_type == "code":
            cells.append(_code(raw.source, path, line))
        else:
            cells += _markdown(raw.source, line)
    return Edition(lang, path, front, tuple(cells), text)


def _check_fences(text: str, path: Path) -> None:
    """An unclosed ``` or ::: swallows the rest of the page; say where it opens."""
    fence: tuple[str, int] | None = None
    divs: list[int] = []
    for n, line in enumerate(text.split("\n"), 1):
        mark = re.match(r"^\s*(`{3,}|~{3,})(.*)$", line)
        if fence:
            if mark and mark[1][0] == fence[0][0] and len(mark[1]) >= len(fence[0]) and not mark[2].strip():
                fence = None
        elif mark:
            fence = (mark[1], n)
        elif re.match(r"^:::+\s*[^\s:]", line):
            divs.append(n)
        elif re.match(r"^:::+\s*$", line):
            if not divs:
                raise CourseError(
                    "A ::: closes a div that was never opened.",
                    where=f"{path}:{n}",
                    remedy="Remove it or open the div.",
                )
            divs.pop()
    if fence:
        raise CourseError(
            "A code fence is never closed.", where=f"{path}:{fence[1]}", remedy=f"Close it with {fence[0]}."
        )
    if divs:
        raise CourseError(
            "A ::: div is never closed.", where=f"{path}:{divs[-1]}", remedy="Close it with ::: on a line of its own."
        )


@lru_cache(maxsize=1)
def _jupytext():
    """Imported when a page is read, and without the IRI grammar of jsonschema, which takes over a second and which no notebook needs."""
    grammar = "rfc3987_syntax"
    left_out = grammar not in sys.modules
    if left_out:
        sys.modules[grammar] = None
    try:
        import jupytext
    finally:
        if left_out:
            sys.modules.pop(grammar, None)
    return jupytext


def _yaml(text: str, path: Path, line: int) -> dict:
    try:
        data = YAML(typ="safe").load(text) or {}
    except YAMLError as e:
        raise CourseError(
            f"The YAML is not valid: {getattr(e, 'problem', e)}.",
            where=f"{path}:{line}",
            remedy="Mend it; quote a title that holds a colon.",
        ) from None
    if not isinstance(data, dict):
        raise CourseError("The YAML is not a mapping.", where=f"{path}:{line}", remedy="Write key: value lines.")
    return data


def _code(source: str, path: Path, line: int) -> Cell:
    lines = source.split("\n")
    head = [x for x in lines if x.startswith("#|")]
    options = _yaml("\n".join(x[2:].strip() for x in head), path, line) if head else {}
    body = "\n".join(x for x in lines if not x.startswith("#|")).strip("\n")
    return Cell("code", body, line, role=options.get("course_role"), options=options)


def _markdown(source: str, line: int) -> list[Cell]:
    """Split a run of text at its answer slots."""
    cells, pos = [], 0

    def add(kind: str, text: str, at: int, slot: str | None = None):
        if text.strip() or slot:  # an empty slot is still a place to write
            start = at + (len(text) - len(text.lstrip("\n")) if kind == "markdown" else 0)
            cells.append(Cell(kind, text.strip("\n"), line + source.count("\n", 0, start), slot=slot))

    for m in _SLOT.finditer(source):
        add("markdown", source[pos : m.start()], pos)
        add("answer", m["body"], m.start(), m["id"])
        pos = m.end()
    add("markdown", source[pos:], pos)
    return cells
