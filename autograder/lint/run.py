"""One lesson held to the form: every problem at once, not only the first."""

from __future__ import annotations

import json
import re
from pathlib import Path

from ruamel.yaml import YAML

from autograder.claims import Ledger, read_ledger
from autograder.claims.uses import LEDGER_FOLDER, claim_problems, page_problems
from autograder.claims.uses import pages as all_pages
from autograder.claims.write import drift
from autograder.errors import CourseError
from autograder.lesson.checks import load_checks
from autograder.lesson.model import LANGS
from autograder.lesson.qmd import read_edition
from autograder.lesson.rubric import load_rubric
from autograder.lesson.store import list_lessons
from autograder.lint.causes import lint_causes
from autograder.lint.hidden import lint_checks, solution_fill
from autograder.lint.marking import lint_answers, lint_rubric
from autograder.lint.page import lint_page, plain_page
from autograder.lint.pair import lint_pair
from autograder.lint.problem import Problem
from autograder.lint.quotes import lint_quotes
from autograder.lint.wording import lint_wording

__all__ = ["Problem", "lint_lesson", "lint_project"]


def lint_lesson(folder: Path, ledger: Ledger | None = None) -> list[Problem]:
    """All problems of a lesson folder, sorted by file and line. A file that cannot be read is one problem; the others are still looked at.

    ledger: all claims of the course, where they are known already.
    """
    out: list[Problem] = []
    ledger = ledger or read_ledger(folder.parent.parent)

    def load(read, *args, **kwargs):
        try:
            return read(*args, **kwargs)
        except CourseError as e:
            out.append(_problem(e, folder))
            return None

    editions = {lang: e for lang in LANGS if (e := load(read_edition, folder / f"{lang}.qmd", lang, ledger.figures))}
    checks = load(load_checks, folder / "checks.py")
    rubric = load(load_rubric, folder / "rubric.yml", ledger.figures)
    for edition in editions.values():
        written = read_edition(edition.path, edition.lang, as_written=True)
        out += lint_page(edition, written) + lint_causes(edition, written, folder)
        out += lint_quotes(written, folder.parent.parent)
        out += [_problem(e, folder) for e in page_problems(edition.path, ledger)]
    out += [_problem(e, folder) for e in claim_problems(folder, ledger)]
    if len(editions) == len(LANGS):
        out += lint_pair(*editions.values())
    fill = None
    if checks and editions:
        edition = next(iter(editions.values()))
        try:
            out += lint_checks(checks, edition)
            fill = _fill(edition, checks.function)
        except SyntaxError:
            pass  # lint_page has named the cell that is no Python
        except Exception as e:  # an author's code may raise anything, anywhere
            out.append(
                Problem(
                    checks.path,
                    0,
                    f"Trying the hidden checks failed: {type(e).__name__}: {e}.",
                    "Mend checks.py or the exercise and solution cells.",
                )
            )
    if rubric:
        out += lint_rubric(rubric, folder / "rubric.yml", folder.name, editions, fill)
        out += lint_answers(folder / "answers.jsonl", rubric)
    if checks:
        out += _imports(checks.path)
    out += _sidebar(folder) + lint_wording(folder)
    return sorted(set(out))


def lint_project(root: Path, ledger: Ledger) -> list[Problem]:
    """What belongs to no single lesson: the generated files of the ledger, and the pages that are no lessons."""
    lessons = root / "lessons"
    out = []
    for said in drift(ledger):
        name, _, what = said.partition(": ")
        out.append(Problem(root / name, 0, what, ""))
    known = set(list_lessons(lessons))
    others = [p for p in all_pages(lessons) if p.parent not in known]
    for path in others:
        try:
            out += plain_page(read_edition(path, path.stem, as_written=True))
            out += [_problem(e, path.parent) for e in page_problems(path, ledger)]
        except CourseError as e:
            out.append(_problem(e, path.parent))
    for folder in dict.fromkeys(p.parent for p in others):
        out += [_problem(e, folder) for e in claim_problems(folder, ledger)] + _sidebar(folder)
    out += _sidebar(lessons / LEDGER_FOLDER)
    return sorted(set(out))


def _problem(e: CourseError, folder: Path) -> Problem:
    file, _, line = e.where.rpartition(":")
    known = line.isdigit() and file
    return Problem(Path(file if known else e.where or folder), int(line) if known else 0, e.what, e.remedy)


def _fill(edition, function: str) -> str | None:
    cells = [edition.with_role(r) for r in ("exercise", "solution")]
    return solution_fill(cells[0][0].source, cells[1][0].source, function) if all(cells) else None


def _sidebar(folder: Path) -> list[Problem]:
    """The website lists the folder's pages, each in its language's sidebar."""
    path = folder.parent / "_quarto.yml"
    sidebars = (
        (YAML(typ="safe").load(path.read_text(encoding="utf-8")).get("website") or {}).get("sidebar", [])
        if path.is_file()
        else []
    )
    out = []
    for side in sidebars:
        page = f"{folder.name}/{side.get('id')}.qmd"
        if (folder.parent / page).is_file() and page not in json.dumps(side["contents"]):
            out.append(
                Problem(
                    path,
                    0,
                    f"The sidebar {side['id']} does not list {folder.name}.",
                    f'Add {{text: "...", href: {page}}} in lesson order.',
                )
            )
    return out


def _imports(path: Path) -> list[Problem]:
    """Arrows go one way: a lesson's checks know nothing of the grader."""
    for n, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if re.match(r"\s*(?:from|import)\s+autograder\b", line):
            return [
                Problem(
                    path,
                    n,
                    "The checks import autograder.",
                    "A lesson's checks.py imports nothing of it: write plain data and functions.",
                )
            ]
    return []
