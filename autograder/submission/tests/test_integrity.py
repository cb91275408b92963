"""Checks of every lesson: written in other words they are the same, each one deleted is a veto."""

from __future__ import annotations

import ast
import json
import re

import nbformat
import pytest

from autograder.lesson import list_lessons, load_lesson
from autograder.lint.execute import solved_notebook
from autograder.submission.integrity import find_changes
from autograder.submission.read import read_hand_in, released
from autograder.submission.read.notebook import MAX_CELLS

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
    return told(lesson, book)


def told(lesson, book):
    reading = read_hand_in(lesson, released(lesson), json.dumps(book).encode()).reading
    return [(f.code, f.severity) for f in find_changes(reading, None)]


def cells(solved, change):
    """The solved notebook; change: for each cell's id and text what stands there, None where it is gone."""
    changed = [(c, change(c["id"], "".join(c["source"]))) for c in solved["cells"]]
    return solved | {"cells": [c | {"source": text} for c, text in changed if text is not None]}


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
        assert findings(lesson, solved, text, release="00000000", lesson="lesson99_other") == [told], (
            "another lesson's release says nothing"
        )


@pytest.mark.parametrize(
    "how",
    [
        "try:\n    {}\nexcept Exception:\n    pass",
        "if 1 == 2:\n    {}",
        "def t(x):\n    {}",
        "class T:\n    def t(self):\n        {}",
        "while False:\n    {}",
        "{} or True",
        "lambda: print()\n# {}",
    ],
)
def test_what_does_not_run_or_may_fail_unseen_is_no_check(lesson, solved, how):
    before, after = parts(exercise(solved))
    last = next(s for s in reversed(after) if s.startswith("assert"))
    after[after.index(last)] = how.replace("{}", last)
    assert [s for _, s in findings(lesson, solved, "\n".join([*before, *after]))] == ["veto"]


# -- the own case ------------------------------------------------------------------------------------------------------------------


def own_case(solved, change):
    return cells(solved, lambda name, text: change(text) if name == "boundary-case" else text)


def test_the_own_case_without_its_assert_is_told(lesson, solved):
    for change in (
        lambda s: s[: s.index("\nassert")],
        lambda s: s.replace("\nassert ", "\n# assert "),
        lambda s: s[: s.index("\nassert")] + "\nassert True",
    ):
        assert told(lesson, own_case(solved, change)) == [("own_case_check", "info")]


def test_the_own_case_in_other_words_is_not(lesson, solved):
    assert told(lesson, solved) == []
    for change in (
        lambda s: s + ", 'my prediction'",
        lambda s: s + "\nprint(my_case)",
        lambda s: re.sub(r"\nassert (\w+\(\*\*my_case\)) == my_prediction$", r"\nassert my_prediction == \1", s),
        lambda s: re.sub(
            r"\nassert (\w+\(\*\*my_case\)) == my_prediction$", r"\nassert np.isclose(\1, my_prediction)", s
        ),
        lambda s: None,
    ):
        assert [f for f in told(lesson, own_case(solved, change)) if f[0] == "own_case_check"] == []


# -- a hand-in of parts --------------------------------------------------------------------------------------------------------------

OWN = ("exercise", "boundary-case", "challenge-1", "answer-explanation", "answer-q1", "answer-q2", "answer-q3")


@pytest.mark.parametrize("metadata", [True, False])
def test_only_the_students_own_cells_are_for_a_person(lesson, solved, metadata):
    book = cells(solved, lambda name, text: text if name in OWN else None)
    if not metadata:
        book = {
            "metadata": {},
            "cells": [
                {"cell_type": c["cell_type"], "metadata": {}, "source": c["source"], "outputs": []}
                for c in book["cells"]
            ],
        }
    assert told(lesson, book) == [("only_own_cells", "review")]


@pytest.mark.parametrize("left", ["title", "setup", "normal", "kernel-1"])
def test_where_any_other_cell_is_left_the_boundary_check_is_missed(lesson, solved, left):
    found = told(lesson, cells(solved, lambda name, text: text if name in (*OWN, left) else None))
    assert ("deleted_locked_check", "veto") in found and ("only_own_cells", "review") not in found


def test_deleted_asserts_are_a_veto_among_ones_own_cells_too(lesson, solved):
    before, after = parts(exercise(solved))
    found = told(
        lesson,
        cells(solved, lambda name, text: "\n".join(before) if name == "exercise" else text if name in OWN else None),
    )
    assert "veto" in [severity for _, severity in found]


# -- what was not read to its end ------------------------------------------------------------------------------------------------------

LONG = "\n".join(f"x{i} = {i} + 1000000" for i in range(12_000))
TEXT = "x = '" + "a" * 300_000 + "'"


@pytest.mark.parametrize(
    "more",
    [LONG, TEXT, "x = 1" + " + 1" * 900, "x = (\n" + "\n".join(f"assert {i} == {i}" for i in range(400))],
    ids=["statements", "text", "deep", "not python"],
)
def test_a_cell_that_was_not_read_to_its_end_accuses_nobody(lesson, solved, more):
    before, after = parts(exercise(solved))
    assert ("too_long", "review") in findings(lesson, solved, "\n".join([*before, more, *after]))
    assert not any(severity == "veto" for _, severity in findings(lesson, solved, "\n".join([*before, more, *after])))


def test_the_locked_check_may_stand_in_what_was_not_read(lesson, solved):
    book = cells(solved, lambda name, text: f"{TEXT}\n{text}" if name == "boundary" else text)
    assert told(lesson, book) == [("too_long", "review")]
    many = [{"cell_type": "markdown", "metadata": {}, "source": ""}] * MAX_CELLS
    assert told(lesson, solved | {"cells": [c for c in solved["cells"] if c["id"] != "boundary"] + many}) == [
        ("too_long", "review")
    ]


def test_a_long_cell_in_which_all_checks_were_read_is_only_told(lesson, solved):
    assert findings(lesson, solved, exercise(solved) + "\n" + TEXT) == [("too_long", "info")]
    assert findings(lesson, solved, exercise(solved) + "\n" + "\n".join(f"x{i}=1" for i in range(5000))) == []
