"""Chinese text that a tool spoiled: brought back where it can be, told as lost where not, never read as an empty answer."""

from __future__ import annotations

import json

import nbformat
import pytest

from autograder.lint.execute import solved_notebook
from autograder.release.notebook import student_notebook
from autograder.submission.read import Unreadable, read_hand_in, released
from tests.lessons.lessons import EACH_LESSON, lesson


def text_of(nb) -> str:
    return json.dumps(json.loads(nbformat.writes(nb)), ensure_ascii=False, indent=1)


@EACH_LESSON
def test_lost_text_is_refused(slug):
    for book in (student_notebook(lesson(slug), "zh"), solved_notebook(lesson(slug), "zh")):
        for encoding in ("ascii", "cp1252", "shift_jis", "big5", "euc_kr", "koi8_r"):
            with pytest.raises(Unreadable, match="UTF-8"):
                read_hand_in(lesson(slug), released(lesson(slug)), text_of(book).encode(encoding, "replace"))
        bare = text_of(book).encode("ascii", "replace").replace(b'"lang": "zh"', b'"lang": "en"')
        with pytest.raises(Unreadable, match="UTF-8"):
            read_hand_in(lesson(slug), released(lesson(slug)), bare)


@EACH_LESSON
def test_text_in_another_encoding_or_read_in_a_wrong_one_comes_back(slug):
    text = text_of(solved_notebook(lesson(slug), "zh"))
    right = read_hand_in(lesson(slug), released(lesson(slug)), text.encode()).reading
    spoiled = {
        "gb18030": text.encode("gb18030"),
        "utf-16": text.encode("utf-16"),
        "latin-1": text.encode().decode("latin-1").encode(),
    }
    spoiled["escaped"] = json.dumps(json.loads(spoiled["latin-1"])).encode()
    spoiled["cp1252"] = "".join(
        bytes([b]).decode("cp1252", "replace") if b not in (0x81, 0x8D, 0x8F, 0x90, 0x9D) else chr(b)
        for b in text.encode()
    ).encode()
    for how, data in spoiled.items():
        found = read_hand_in(lesson(slug), released(lesson(slug)), data).reading
        assert (found.lang, found.answers, [c.source for c in found.exercise]) == (
            "zh",
            right.answers,
            [c.source for c in right.exercise],
        ), how


@EACH_LESSON
def test_an_older_release_with_other_words_and_questions_is_not_lost(slug):
    nb = solved_notebook(lesson(slug), "zh")
    for cell in nb.cells:
        if cell.id.startswith("text"):
            cell.source = cell.source.replace("的", "之").replace("？", "?")
    assert all(read_hand_in(lesson(slug), released(lesson(slug)), text_of(nb).encode()).reading.answers.values())
