"""A lesson's notebook handed in as another lesson's is told as what it is, whatever has become of its metadata."""

from __future__ import annotations

import json

import nbformat
import pytest

from autograder.lesson import list_lessons, load_lesson
from autograder.lesson.model import LANGS
from autograder.lint.execute import solved_notebook
from autograder.release.notebook import student_notebook
from autograder.submission.read import Unreadable, read_hand_in, released


@pytest.fixture(scope="module")
def lessons():
    return {p.name: load_lesson(p.name) for p in list_lessons()}


def handed_in(nb, *, bare: bool = False) -> bytes:
    book = json.loads(nbformat.writes(nb))
    if bare:
        book["metadata"] = {}
        book["cells"] = [
            {k: v for k, v in c.items() if k != "id"} | {"metadata": {}}
            for c in book["cells"]
            if "start(" not in "".join(c["source"])
        ]
    return json.dumps(book, ensure_ascii=False).encode()


@pytest.mark.parametrize("lang", LANGS)
@pytest.mark.parametrize("kind", ["released", "solved", "bare"])
def test_every_other_lessons_notebook_is_refused_by_name(lessons, lang, kind):
    """bare: solved, and metadata and the setup cell are lost."""
    books = {
        slug: handed_in(
            student_notebook(lesson, lang) if kind == "released" else solved_notebook(lesson, lang), bare=kind == "bare"
        )
        for slug, lesson in lessons.items()
    }
    for mine, lesson in lessons.items():
        for slug, data in books.items():
            if slug == mine:
                assert read_hand_in(lesson, released(lesson), data).reading.lang == lang
                continue
            with pytest.raises(Unreadable, match=f"the notebook of {slug}, not of {mine}") as told:
                read_hand_in(lesson, released(lesson), data)
            assert told.value.foreign


@pytest.mark.parametrize("lang", LANGS)
def test_the_lessons_text_without_its_exercise_is_still_the_lessons(lessons, lang):
    for lesson in lessons.values():
        nb = student_notebook(lesson, lang)
        nb.cells = [c for c in nb.cells if c.id != "exercise"]
        nb.metadata.course.lesson = "lesson99_foreign"
        assert read_hand_in(lesson, released(lesson), handed_in(nb, bare=True)).reading.exercise == []
        assert read_hand_in(lesson, released(lesson), handed_in(nb)).reading.exercise == []
