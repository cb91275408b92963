"""Checks of every lesson: written in other words they are the same, each one deleted is a veto."""

from __future__ import annotations

import ast
import json
import re

import nbformat
import pytest

from autograder.grading.integrity import find_changes
from autograder.grading.read import read_hand_in, released
from autograder.lesson import list_lessons, load_lesson
from autograder.lint.execute import solved_notebook

SLUGS = [p.name for p in list_lessons()]


@pytest.fixture(scope="module", params=SLUGS)
def lesson(request):
    return load_lesson(request.param)


@pytest.fixture(scope="module")
def solved(lesson):
    return json.loads(nbformat.writes(solved_notebook(lesson, "en")))


def findings(lesson, solved, source: str, /, **metadata):
    book = json.loads(json.dumps(solved))
    next(c for c in book["cells"] if c["id"] == "exercise")["source"] = source
    book["metadata"]["course"] |= metadata
    reading = read_hand_in(lesson, released(lesson), json.dumps(book).encode()).reading
    return [(f.code, f.severity) for f in find_changes(reading, None)]


def exercise(solved) -> str:
    return "".join(next(c for c in solved["cells"] if c["id"] == "exercise")["source"])


def parts(source: str) -> tuple[list[str], list[str]]:
    """(what stands before the first assert, the statements from there on), as text."""
    body = [ast.unparse(s) for s in ast.parse(source).body]
    first = next(i for i, s in enumerate(body) if s.startswith("assert"))
    return body[:first], body[first:]


def block(head: str, lines: list[str]) -> str:
    return head + "\n" + "\n".join("    " + x for line in lines for x in line.split("\n"))


REWRITTEN = {
    "as it is": lambda before, after: [*before, *after],
    "indented": lambda before, after: ["\n".join("  " + x for line in (*before, *after) for x in line.split("\n"))],
    "under main": lambda before, after: [*before, block("if __name__ == '__main__':", after)],
    "in a function that is called": lambda before, after: [*before, block("def test_all():", after), "print(test_all())"],
    "in nested functions": lambda before, after: [*before, block("def a():", after), "def b(n=1):\n    a()", "_ = b()"],
    "in a quiet context": lambda before, after: [*before, block("with np.errstate(all='ignore'):", after)],
    "raised again": lambda before, after: [*before, block("try:", after), "except AssertionError:\n    print('no')\n    raise"],
    "with a message": lambda before, after: [*before, *(f"{s}, 'no'" if s.startswith("assert") else s for s in after)],
    "one by one": lambda before, after: [*before, *(x for s in after for x in (s, "print('ok')"))],
    "sides exchanged": lambda before, after: [*before, *(re.sub(r"^assert (\w+\(.*\)) == (\S+|\(.*\))$", r"assert \2 == \1", s) for s in after)],
}  # fmt: skip


@pytest.mark.parametrize("how", REWRITTEN)
def test_the_same_checks_in_other_words(lesson, solved, how):
    text = "\n".join(REWRITTEN[how](*parts(exercise(solved))))
    assert findings(lesson, solved, text) == []


def test_arguments_by_name(lesson, solved):
    tree = ast.parse(exercise(solved))
    names = {s.name: [a.arg for a in s.args.args] for s in tree.body if isinstance(s, ast.FunctionDef)}
    for node in (n for s in tree.body if isinstance(s, ast.Assert) for n in ast.walk(s)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names:
            node.keywords += [ast.keyword(name, value) for name, value in zip(names[node.func.id], node.args)][::-1]
            node.args = []
    assert findings(lesson, solved, ast.unparse(tree)) == []


def test_each_check_that_is_deleted_is_a_veto_unless_it_is_of_another_release(lesson, solved):
    before, after = parts(exercise(solved))
    for i, line in enumerate(after):
        text = "\n".join([*before, *after[:i], *after[i + 1 :]])
        if not line.startswith("assert"):
            continue
        (told,) = findings(lesson, solved, text)
        assert told in (("deleted_check", "veto"), ("loosened_check", "veto")), line
        assert findings(lesson, solved, text, release="00000000") == [("other_release", "review")]
        assert findings(lesson, solved, text, release="00000000", lesson="lesson99_other") == [told], "another lesson's release says nothing"


@pytest.mark.parametrize("how", ["try:\n    {}\nexcept Exception:\n    pass", "if 1 == 2:\n    {}", "def t(x):\n    {}", "class T:\n    def t(self):\n        {}", "while False:\n    {}", "{} or True", "lambda: print()\n# {}"])
def test_what_does_not_run_or_may_fail_unseen_is_no_check(lesson, solved, how):
    before, after = parts(exercise(solved))
    last = next(s for s in reversed(after) if s.startswith("assert"))
    after[after.index(last)] = how.replace("{}", last)
    assert [s for _, s in findings(lesson, solved, "\n".join([*before, *after]))] == ["veto"]
