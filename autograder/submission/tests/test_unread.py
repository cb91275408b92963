"""A notebook that is not read to its end: what was not read is never a zero, it waits for a person."""

from __future__ import annotations

import json

import pytest

from autograder.grading import grade_notebook
from autograder.lesson import load_lesson
from autograder.lesson.model import ANSWER_SLOTS
from autograder.release.notebook import student_notebook
from autograder.release.tests.fixture_lesson import SOLUTION, write_lesson
from autograder.submission.read import notebook


@pytest.fixture(scope="module")
def lesson(tmp_path_factory):
    return load_lesson(write_lesson(tmp_path_factory.mktemp("course")))


@pytest.fixture
def solved(lesson, monkeypatch):
    """The cells of a notebook with the blank filled in. What is looked at is a little more than it has."""
    import nbformat

    nb = student_notebook(lesson, "en")
    for cell in nb.cells:
        cell.source = cell.source.replace("______", SOLUTION) if cell.id == "exercise" else cell.source
    cells = json.loads(nbformat.writes(nb))["cells"]
    monkeypatch.setattr(notebook, "MAX_CELLS", len(cells) + 5)
    monkeypatch.setattr(notebook, "MAX_TEXT", sum(len("".join(c["source"])) for c in cells) + 5000)
    return cells


def graded(lesson, cells, metadata=None):
    book = {
        "cells": cells,
        "metadata": {"course": {"lesson": lesson.slug, "lang": "en"}} if metadata is None else metadata,
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return grade_notebook(lesson, json.dumps(book).encode(), "ann")


CELLS = [{"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": "1"}] * 200
TEXT = [{"cell_type": "markdown", "metadata": {}, "source": "word " * 8000}]


@pytest.mark.parametrize("more", [CELLS, TEXT], ids=["cells", "text"])
@pytest.mark.parametrize("at", ["start", "exercise", "q1", "q3", "end"])
def test_every_slot_and_the_code_wait(lesson, solved, more, at):
    place = {"start": 0, "end": len(solved)}.get(at)
    place = next(i for i, c in enumerate(solved) if c["id"] in (at, f"answer-{at}")) if place is None else place
    found = graded(lesson, solved[:place] + more + solved[place:])
    assert found.state == "REVIEW", found.reasons_en
    assert [s.lane for s in found.slots.values()] == ["review"] * len(ANSWER_SLOTS)
    assert ("unread_code", "review") in [(f.code, f.severity) for f in found.findings]
    assert any("not read" in r for r in found.reasons_en) and not found.veto


def test_what_was_read_to_its_end_does_not_wait_for_that(lesson, solved):
    found = graded(lesson, solved)
    assert found.points["normal"] == 2 and not {"unread_code", "too_long"} & {f.code for f in found.findings}


def test_empty_cells_that_were_not_read_are_nothing(lesson, solved):
    found = graded(lesson, solved + [{"cell_type": "markdown", "metadata": {}, "source": " \n"}] * 200)
    assert found.points["normal"] == 2 and not {"unread_code", "too_long"} & {f.code for f in found.findings}


def test_nobody_is_told_that_it_is_another_notebook(lesson, solved):
    found = graded(lesson, CELLS + solved, metadata={})
    assert (
        found.state == "UNGRADED"
        and "too long to be read to its end" in found.reasons_en[0]
        and "没有读完" in found.reasons[0]
    )
