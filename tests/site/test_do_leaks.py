"""Nothing that a student is not to see is in the student edition: no solution, no hidden check, no reference answer, no rubric.

The full answer of hint 4 is there packed, as in a bundle's lesson.json, so that nobody reads it by accident.
"""

from __future__ import annotations

import ast
import json
import re
import zipfile

import pytest

from autograder.lesson.model import ANSWER_SLOTS, LANGS
from autograder.lint.hidden import solution_fill
from tests.lessons.lessons import SLUGS, lesson

TEXT = {".html", ".js", ".json", ".ipynb", ".svg", ".css", ".mjs", ".md", ".txt", ".py"}


def bare(text: str) -> str:
    """Without spaces, tags, quotes and escapes, so that neither markup nor JSON hides a match."""
    return re.sub(r"<[^>]+>|\\n|[\s\\\"'`*]|&\w+;", "", text)


@pytest.fixture(scope="module")
def published(built_site):
    """{path: its text, bare} of every text of the site, those inside the bundles too."""
    found = {}
    for path in sorted(p for p in built_site.rglob("*") if p.is_file()):
        name = path.relative_to(built_site).as_posix()
        if path.suffix in TEXT:
            found[name] = bare(path.read_text(encoding="utf-8"))
        elif path.suffix == ".zip":
            with zipfile.ZipFile(path) as z:
                inside = [n for n in z.namelist() if n.rpartition(".")[2] in {"ipynb", "json", "md", "txt"}]
                found |= {f"{name}:{n}": bare(z.read(n).decode()) for n in inside}
    assert sum(":" in n for n in found) >= 5 * len(SLUGS)
    return found


def secrets(slug: str) -> dict[str, str]:
    """What must stand nowhere: {what it is: its text}."""
    made = lesson(slug)
    cells = (made.edition("en").with_role(role)[0].source for role in ("exercise", "solution"))
    fill = solution_fill(*cells, made.checks.function)
    is_tuple = isinstance(ast.parse(fill, mode="eval").body, ast.Tuple)  # whose parentheses a page may leave out
    out = {"the solution": fill[1:-1] if is_tuple else fill}
    tree = ast.parse(made.checks.path.read_text(encoding="utf-8"))
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name in ("reference", "is_boundary"):
            returns = [ast.unparse(n) for n in ast.walk(node) if isinstance(n, ast.Return)]
            out |= {f"{node.name}(), {i}": r for i, r in enumerate(returns) if len(bare(r)) > 25}
    for lang in LANGS:
        for slot in ANSWER_SLOTS:
            sentences = re.split(r"(?<=[.。；;])\s*|\n", made.rubric.slots[slot].reference.get(lang))
            out |= {f"{lang} {slot}, {i}": s for i, s in enumerate(sentences) if len(bare(s)) > 30}
            out |= {f"rubric {lang} {link.id}": getattr(link, lang) for link in made.rubric.slots[slot].links}
            out |= {f"hint {lang} {link.id}": link.hint.get(lang) for link in made.rubric.slots[slot].links}
    return out


def test_the_student_edition_holds_no_answer_and_no_hidden_check(published):
    places = {}
    for slug in SLUGS:
        for what, text in secrets(slug).items():
            found = [name for name, page in published.items() if bare(text) in page]
            if found:
                places[f"{slug} {what}"] = (text, found[:3])
    assert not places, json.dumps(places, ensure_ascii=False, indent=1)


def test_the_secrets_looked_for_are_found_where_they_are(built_site):
    """The search itself: the packed answer opens to the solution, and would be found unpacked."""
    from autograder.student.data import unpack

    for slug in SLUGS:
        text = (built_site / "en" / slug / "do.js").read_text(encoding="utf-8")
        data = json.loads(text.split(" = ", 1)[1].rstrip(";\n"))
        assert bare(secrets(slug)["the solution"]) in bare(unpack(data["hints"][3]))
        assert len(secrets(slug)) > 20
