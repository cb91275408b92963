"""What ships to students imports nothing that does not: the boundary between `submission`, `student` and the grader."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from autograder.release.wheel import COMMANDS, LESSON, MODULES, PACKAGES

ROOT = Path(__file__).parents[1] / "autograder"
# These shipped modules name what is not shipped, at a place that a student's install does not reach or asks for first.
ASKS_FIRST = {
    "lesson/__init__.py",  # load_lesson and list_lessons, for those who have lessons
    "submission/read/released.py",  # the released notebook made from a lesson; a student's install reads lesson.json
    "commands/run.py",
    "student/machine.py",
    "student/data.py",
}


def shipped() -> dict[str, Path]:
    """Module name -> file, of everything of autograder that the wheel holds."""
    files = [ROOT / m for m in MODULES] + [ROOT / "lesson" / f"{n}.py" for n in LESSON]
    files += [ROOT / "commands" / f"{n}.py" for n in COMMANDS]
    for package in PACKAGES:
        files += [p for p in (ROOT / package).rglob("*.py") if "tests" not in p.parts]
    name = lambda p: ".".join(p.relative_to(ROOT.parent).with_suffix("").parts).removesuffix(".__init__")
    return {name(p): p for p in files}


def imported(path: Path) -> set[str]:
    """Modules of autograder that a file imports, at its start or later; what only a type checker reads is left out."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    checked = [n for n in ast.walk(tree) if isinstance(n, ast.If) and "TYPE_CHECKING" in ast.unparse(n.test)]
    skipped = {id(n) for block in checked for n in ast.walk(block)}
    out = set()
    for node in ast.walk(tree):
        if id(node) in skipped:
            continue
        if isinstance(node, ast.Import):
            out |= {a.name for a in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            out |= {f"{node.module}.{a.name}" for a in node.names}
    return {m for m in out if m.split(".")[0] == "autograder"}


def known(module: str, modules: dict[str, Path]) -> bool:
    """Is it a shipped module, or a name in one?"""
    place = ROOT.parent.joinpath(*module.split("."))
    if place.is_dir() or place.with_suffix(".py").is_file():
        return module in modules
    return module.rpartition(".")[0] in modules


@pytest.mark.parametrize("name", sorted(shipped()))
def test_a_shipped_module_imports_shipped_modules_only(name):
    modules = shipped()
    path = modules[name]
    beyond = {m for m in imported(path) if not known(m, modules)}
    if str(path.relative_to(ROOT).as_posix()) in ASKS_FIRST:
        assert beyond, f"{name} asks for nothing of the grader any more: take it out of ASKS_FIRST"
        return
    assert not beyond, f"{name} imports {sorted(beyond)}, which no student's install has"


def test_the_rule_would_notice():
    """A module that imports the pipeline is caught, whichever way it writes it."""
    modules = shipped()
    for line in (
        "from autograder.grading.pipeline import grade_notebook",
        "from autograder import grading",
        "import autograder.answers.score",
    ):
        found = {m for n in ast.walk(ast.parse(line)) for m in _names(n)}
        assert any(not known(m, modules) for m in found), line


def _names(node: ast.AST) -> set[str]:
    if isinstance(node, ast.Import):
        return {a.name for a in node.names}
    if isinstance(node, ast.ImportFrom):
        return {f"{node.module}.{a.name}" for a in node.names}
    return set()
