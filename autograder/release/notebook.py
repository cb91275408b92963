"""The student's notebook: a pure, deterministic function of the lesson.

Grading compares a submission with what this module makes, so the same lesson gives the same bytes on every machine.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from autograder.errors import CourseError
from autograder.lesson.model import ANSWER_SLOTS, Cell, Edition, Lesson
from autograder.lesson.qmd import read_edition
from autograder.release.divs import Div, Text, parse
from autograder.release.markdown import callout_title, companion, render
from autograder.release.words import HINT, PLACEHOLDER, SETUP, TESTS
from autograder.student.data import release_id

FORMAT = 1
_URL = re.compile(r"^(?:[a-z][a-z0-9+.-]*:|#|//)")


def student_notebook(lesson: Lesson, lang: str) -> NotebookNode:
    """The released notebook of one edition: nbformat 4.5, no solution, no reference answer, nbgrader metadata of schema 3.

    Cells: title, setup (locked), the page's text and code in order; after the exercise the locked test cell `normal` and
    a cell that gives hints, after the student's boundary case the locked test cell `boundary`; the answer slots as Markdown cells. Metadata: also the release's id,
    by which grading tells an older one.
    Raises CourseError where the page lacks the exercise, the boundary case or an answer slot.
    """
    edition = lesson.edition(lang)
    _require_parts(edition)
    cells = [_text_cell("title", f"# {edition.title}"), _setup_cell(lesson, lang)]
    names = _Names()
    for piece in _pieces(parse(edition.cells), lang, asset_map(edition).__getitem__):
        if isinstance(piece, str):
            cells += [_text_cell(names.next("text"), part) for part in _split_at_headings(piece)]
        elif piece.kind == "answer":
            cells.append(_answer_cell(lesson, piece, lang))
        else:
            cells += _code_cells(lesson, piece, lang, names)
    release = release_id((c.cell_type, c.metadata.get("nbgrader", {}).get("grade_id", ""), c.source) for c in cells)
    nb = new_notebook(cells=cells)
    nb.metadata = nbformat.from_dict(
        {
            "course": {"lesson": lesson.slug, "lang": lang, "format": FORMAT, "release": release},
            "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        }
    )
    nb.nbformat, nb.nbformat_minor = 4, 5
    return nb


def _require_parts(edition: Edition) -> None:
    """What grading counts on: one exercise, one boundary case, each answer slot once."""
    for role in ("exercise", "boundary"):
        if (count := len(edition.with_role(role))) != 1:
            raise CourseError(
                f"The page has {count} cells with the role {role}.",
                where=str(edition.path),
                remedy=f"It must have one, which begins with `#| course_role: {role}`; `course lint` lists all that is missing.",
            )
    for slot in ANSWER_SLOTS:
        if (count := sum(c.slot == slot for c in edition.cells)) != 1:
            raise CourseError(
                f"The answer slot {slot} stands on the page {count} times.",
                where=str(edition.path),
                remedy=f"Write `::: {{#{slot} .answer}}` and `:::` once; `course lint` lists all that is missing.",
            )


def notebook_assets(lesson: Lesson, lang: str) -> dict[str, Path]:
    """Files that stand beside the notebook: {"assets/name.svg": the file in the lesson or elsewhere in the Quarto project}."""
    edition = lesson.edition(lang)
    project = lesson.folder.parent  # a path that starts with / is relative to the Quarto project
    local = {p: t for p, t in asset_map(edition).items() if not _URL.match(p)}
    return {t: (project / p.lstrip("/") if p.startswith("/") else edition.path.parent / p) for p, t in local.items()}


def companion_pages(lesson: Lesson, lang: str) -> dict[str, str]:
    """Pages handed out beside the notebook because it links to them: {"glossary.md": Markdown}."""
    out = {}
    for path in re.findall(r"\]\(([^)\s#]+\.qmd)", lesson.edition(lang).text):
        source = lesson.edition(lang).path.parent / path
        if (name := companion(path)) and source.is_file():
            page = read_edition(source, lang)
            out[name] = f"# {page.title}\n\n{render(parse(page.cells).children, lang, str)}\n"
    return out


def asset_map(edition: Edition) -> dict[str, str]:
    """Each image path of the page -> its path beside the notebook; addresses on the web stay as they are."""
    paths: list[str] = []
    for _ in _pieces(parse(edition.cells), edition.lang, lambda p: paths.append(p) or p):
        pass
    out: dict[str, str] = {}
    for path in dict.fromkeys(paths):
        name = path if _URL.match(path) else f"assets/{Path(path).name}"
        if name in out.values():
            name = f"assets/{Path(path).parent.name}-{Path(path).name}"
        out[path] = name
    return out


class _Names:
    """Deterministic cell ids: text-1, text-2, experiment-1, ..."""

    def __init__(self):
        self.count: dict[str, int] = {}

    def next(self, kind: str) -> str:
        self.count[kind] = self.count.get(kind, 0) + 1
        return f"{kind}-{self.count[kind]}"


def _pieces(div: Div, lang: str, asset: Callable[[str], str]) -> Iterator[str | Cell]:
    """Runs of Markdown and the cells between them. A div with cells inside gives its title, then what it holds."""
    run: list[Div | Text] = []

    def text() -> Iterator[str]:
        if markdown := render(run, lang, asset):
            yield markdown
        run.clear()

    for child in div.children:
        if isinstance(child, Text):
            run.append(child)
        elif isinstance(child, Cell):
            if child.role != "solution":
                yield from text()
                yield child
        elif not child.in_notebook:
            continue
        elif any(isinstance(n, Cell) for n in child.walk()):
            yield from text()
            if child.callout and child.attrs.values.get("title"):
                yield f"**{callout_title(child, '', lang)[0]}**"
            yield from _pieces(child, lang, asset)
        else:
            run.append(child)
    yield from text()


def _split_at_headings(markdown: str) -> list[str]:
    """One cell a section: easier to find, to fold and to compare."""
    parts: list[list[str]] = [[]]
    fence = None
    for line in markdown.split("\n"):
        if m := re.match(r"^(`{3,}|~{3,})", line):
            fence = m[1] if fence is None else (None if line.strip() == fence else fence)
        if fence is None and re.match(r"^#{1,3} ", line) and any(x.strip() for x in parts[-1]):
            parts.append([])
        parts[-1].append(line)
    return ["\n".join(p).strip("\n") for p in parts]


def _text_cell(name: str, source: str) -> NotebookNode:
    return new_markdown_cell(source, id=name, metadata={"course": {"role": "text"}})


def _nbgrader(
    grade_id: str, *, grade: bool, solution: bool, locked: bool, cell_type: str, points: int | None = None
) -> dict:
    data = {
        "cell_type": cell_type,
        "grade": grade,
        "grade_id": grade_id,
        "locked": locked,
        "schema_version": 3,
        "solution": solution,
        "task": False,
    }
    return data if points is None else data | {"points": points}


def _locked(name: str, source: str, course: dict, *, points: int | None = None) -> NotebookNode:
    nbgrader = _nbgrader(name, grade=points is not None, solution=False, locked=True, cell_type="code", points=points)
    return new_code_cell(
        source, id=name, metadata={"course": course, "deletable": False, "editable": False, "nbgrader": nbgrader}
    )


def _setup_cell(lesson: Lesson, lang: str) -> NotebookNode:
    return _locked("setup", SETUP[lang].format(slug=lesson.slug, lang=lang), {"role": "setup"})


def _code_cells(lesson: Lesson, cell: Cell, lang: str, names: _Names) -> list[NotebookNode]:
    role = cell.role or "experiment"
    points = lesson.rubric.points
    if role == "exercise":
        meta = {
            "course": {"role": role},
            "deletable": False,
            "nbgrader": _nbgrader("exercise", grade=False, solution=True, locked=False, cell_type="code"),
        }
        test = _locked(
            "normal", TESTS["normal"][lang].format(points=points.normal), {"check": "normal"}, points=points.normal
        )
        ask = new_code_cell(HINT[lang], id="hint", metadata={"course": {"role": "hint"}})
        return [new_code_cell(cell.source, id="exercise", metadata=meta), test, ask]
    if role == "boundary":
        meta = {
            "course": {"role": role},
            "deletable": False,
            "nbgrader": _nbgrader("boundary_case", grade=False, solution=True, locked=False, cell_type="code"),
        }
        test = _locked(
            "boundary",
            TESTS["boundary"][lang].format(points=points.boundary),
            {"check": "boundary"},
            points=points.boundary,
        )
        return [new_code_cell(cell.source, id="boundary-case", metadata=meta), test]
    metadata: dict = {"course": {"role": role}}
    if str(cell.options.get("echo", "true")).lower() == "false":
        metadata["jupyter"] = {"source_hidden": True}
    return [new_code_cell(cell.source, id=names.next(role), metadata=metadata)]


def _answer_cell(lesson: Lesson, cell: Cell, lang: str) -> NotebookNode:
    slot = cell.slot
    source = cell.source.strip() or PLACEHOLDER[lang]
    metadata: dict = {"course": {"slot": slot}, "deletable": False}
    if slot in ANSWER_SLOTS:
        metadata["nbgrader"] = _nbgrader(
            slot,
            grade=True,
            solution=True,
            locked=False,
            cell_type="markdown",
            points=getattr(lesson.rubric.points, slot),
        )
    return new_markdown_cell(source, id=f"answer-{slot}", metadata=metadata)
