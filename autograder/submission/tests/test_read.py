"""Reading what a person hands in: bytes, encodings, cells, parts."""

from __future__ import annotations

import gzip
import io
import json
import os
import re
import time
import zipfile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.lesson import load_lesson
from autograder.release.notebook import student_notebook
from autograder.release.tests.fixture_lesson import write_lesson
from autograder.submission.read import Unreadable, files, read_bytes, read_notebook, read_submission, released
from autograder.submission.read.files import MAX_BOOKS, MAX_BYTES, notebooks_in, unpack
from autograder.submission.read.notebook import MAX_CELLS, _without_last_commas, clean
from autograder.submission.read.prose import SOME, amount
from autograder.submission.read.released import plain


@pytest.fixture(scope="module")
def lesson(tmp_path_factory):
    return load_lesson(write_lesson(tmp_path_factory.mktemp("course")))


@pytest.fixture(scope="module")
def editions(lesson):
    return released(lesson)


def cells_of(lesson, lang="en"):
    return [
        {"cell_type": c.cell_type, "source": c.source, "metadata": dict(c.metadata), "id": c.id}
        for c in student_notebook(lesson, lang).cells
    ]


def notebook(cells, **more):
    return json.dumps(
        {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5, **more}, ensure_ascii=False
    ).encode()


def read(lesson, editions, cells, **more):
    return read_submission(lesson, editions, read_notebook(notebook(cells, **more)))


# -- files ------------------------------------------------------------------------------------------------------------------


def test_a_folder_with_one_notebook_or_with_the_lessons_own(tmp_path):
    (tmp_path / "notes.txt").write_text("x")
    with pytest.raises(Unreadable, match="no .ipynb"):
        read_bytes(tmp_path)
    (tmp_path / "a.ipynb").write_bytes(b"a")
    assert read_bytes(tmp_path) == b"a"
    (tmp_path / "lesson42_ring_index (1).ipynb").write_bytes(b"b")
    assert read_bytes(tmp_path, "lesson42_ring_index") == b"b"
    with pytest.raises(Unreadable, match="exactly one"):
        read_bytes(tmp_path)


def test_links_pipes_and_sizes_are_refused_at_once(tmp_path):
    os.symlink("/dev/zero", tmp_path / "zero.ipynb")
    os.mkfifo(tmp_path / "pipe.ipynb")
    with (tmp_path / "big.ipynb").open("wb") as file:
        file.truncate(MAX_BYTES + 1)
    for name in ("zero", "pipe", "big", "none"):
        with pytest.raises(Unreadable):
            read_bytes(tmp_path / f"{name}.ipynb")
    with pytest.raises(Unreadable):
        read_bytes(tmp_path / "a\0b")


def _zip(members, **options):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def test_archives():
    assert unpack(_zip({"x/a.ipynb": b"a", "__MACOSX/x/._a.ipynb": b"m", "x/.ipynb_checkpoints/a.ipynb": b"c"})) == b"a"
    assert unpack(gzip.compress(b"a")) == b"a"
    for data in (
        _zip({}),
        _zip({"a.txt": b"x"}),
        b"PK\x03\x04damaged",
        b"\x1f\x8bdamaged",
        _zip({"word/document.xml": b"x"}),
    ):
        with pytest.raises(Unreadable):
            unpack(data)


def test_an_archive_in_an_archive():
    inner = _zip({"x/a.ipynb": b"a"})
    assert unpack(_zip({"all.zip": inner, "__MACOSX/._all.zip": b"m", ".DS_Store": b""})) == b"a"
    assert (
        unpack(_zip({"a.ipynb": inner})) == b"a"
        and unpack(_zip({"a.ipynb.gz": gzip.compress(b"a")})) == b"a"
        and unpack(gzip.compress(inner)) == b"a"
    )
    assert unpack(_zip({"notes.zip": _zip({"notes.txt": b"x"}), "work.zip": inner})) == b"a", (
        "an archive without a notebook beside it does not matter"
    )
    assert unpack(_zip({"b.ipynb": b"b", "work.zip": inner})) == b"b", "the nearest"
    two = notebooks_in(_zip({"1.zip": inner, "2.zip": inner, "3.zip": b"PK\x03\x04damaged"}))
    assert [f.name for f in two] == ["1.zip/x/a.ipynb", "2.zip/x/a.ipynb", "3.zip"]


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (_zip({"all.zip": _zip({"deep.zip": _zip({"a.ipynb": b"a"})})}), "archives within archives"),
        (_zip({"all.zip": _zip({"notes.txt": b"x"})}), r"no \.ipynb file in the archive.*there is notes\.txt"),
        (_zip({"notes.txt": b"x"}), r"no \.ipynb file in the archive.*there is notes\.txt"),
        (_zip({"all.zip": b"PK\x03\x04damaged"}), "damaged"),
        (
            _zip({f"{n}.zip": _zip({"a.ipynb": b"a", "b.ipynb": b"b"}) for n in range(MAX_BOOKS)}),
            f"{2 * MAX_BOOKS} notebooks",
        ),
    ],
)
def test_an_archive_in_an_archive_that_cannot_be_read(data, why):
    with pytest.raises(Unreadable, match=why):
        unpack(data)


def test_archives_in_an_archive_share_its_bounds(monkeypatch):
    monkeypatch.setattr(files, "MAX_BYTES", 10_000)
    fits, large = _zip({"a.ipynb": b" " * 4000}), _zip({"a.ipynb": b" " * 9900})
    assert len(notebooks_in(_zip({"1.zip": fits, "2.zip": fits}))) == 2
    with pytest.raises(Unreadable, match="larger"):
        unpack(_zip({"1.zip": large}))
    assert [f.name for f in notebooks_in(_zip({f"{n}.zip": fits for n in range(4)}))] == [
        "0.zip/a.ipynb",
        "1.zip/a.ipynb",
        "2.zip",
        "3.zip",
    ]


# -- bytes to cells -----------------------------------------------------------------------------------------------------------


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=400))
def test_any_bytes_are_a_notebook_or_unreadable(data):
    try:
        read_notebook(unpack(data))
    except Unreadable as e:
        assert e.why.zh and e.why.en


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text('",[]{} \\\n', max_size=8),
        lambda x: st.lists(x, max_size=4) | st.dictionaries(st.text('",]}\\', max_size=5), x, max_size=4),
        max_leaves=15,
    )
)
def test_commas_after_last_items_are_read_past(value):
    text = json.dumps(value, indent=1)
    assert _without_last_commas(text) == text
    assert json.loads(_without_last_commas(re.sub(r"([^\s,\[{])(\s*\n\s*[\]}])", r"\1,\2", text))) == value


def test_commas_after_last_items_in_a_notebook():
    book = b'{"cells": [{"cell_type": "code", "source": ["a = [1, ]", ], "metadata": {}, "outputs": [],},\n], "metadata": {"a": "}, ]", }, }'
    (cell,) = read_notebook(book).cells
    assert cell.source == "a = [1, ]"


@pytest.mark.parametrize(
    "broken", ["," * 400_000 + "]", '"' + '\\"' * 200_000, "[1, " * 100_000, ", " * 200_000, '"a",' * 100_000 + "]"]
)
def test_broken_json_takes_no_longer_than_it_is_long(broken):
    start = time.monotonic()
    with pytest.raises(Unreadable) as told:
        read_notebook(b'{"cells": [1, ], "a": [' + broken.encode() + b"x")
    assert time.monotonic() - start < 5 and "open and save" not in told.value.why.en


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda x: st.lists(x, max_size=4) | st.dictionaries(st.text(max_size=5), x, max_size=4),
    max_leaves=15,
)
fields = st.sampled_from(
    [
        "cell_type",
        "source",
        "input",
        "metadata",
        "outputs",
        "id",
        "execution_count",
        "attachments",
        "level",
        "nbgrader",
        "course",
    ]
)
odd_cells = st.lists(
    st.dictionaries(
        fields,
        json_values
        | st.sampled_from(
            [
                "code",
                "markdown",
                "heading",
                [{"data": {"text/plain": ["a"]}}, 3],
                {"course": {"slot": 5}},
                {"nbgrader": []},
            ]
        ),
        max_size=6,
    )
    | json_values,
    max_size=5,
)


@settings(max_examples=150, deadline=None)
@given(odd_cells)
def test_any_cells_are_read_or_refused_and_never_an_error(lesson, editions, cells):
    good = cells_of(lesson)
    try:
        read(lesson, editions, cells)
    except Unreadable:
        pass
    reading = read(lesson, editions, good + cells)
    assert reading.lang == "en" and len(reading.exercise) >= 1


def test_more_cells_than_anyone_writes_are_not_looked_at(lesson):
    book = read_notebook(notebook([{"cell_type": "markdown", "source": "x", "metadata": {}}] * (MAX_CELLS + 10)))
    assert len(book.cells) == MAX_CELLS


@given(st.text(alphabet=st.characters(codec=None, categories=["Cs", "Cc", "L", "P"]), max_size=20))
def test_cleaned_text_can_be_stored_anywhere(text):
    out = clean(text)
    out.encode("utf-8")
    assert "\0" not in out and "\r" not in out


def test_outputs_of_every_kind_are_read(lesson):
    outputs = [
        {"output_type": "stream", "name": "stdout", "text": ["a\n", "b"]},
        {"output_type": "execute_result", "data": {"text/plain": "c", "image/png": "AAAA"}, "metadata": {}},
        {
            "output_type": "display_data",
            "data": {"application/vnd.hopper-course.receipt+json": {"kernel": "k", "backend": "gpu"}},
            "metadata": {},
        },
        {"output_type": "error", "ename": "ValueError", "evalue": "d", "traceback": ["x"]},
        {"output_type": "pyout", "text": "e", "png": "AAAA"},
    ]
    (cell,) = read_notebook(
        notebook([{"cell_type": "code", "source": "1", "metadata": {}, "outputs": outputs, "execution_count": 3}])
    ).cells
    assert cell.outputs == ["a\nb", "c", "ValueError: d", "e"]
    assert cell.pictures == 2 and cell.receipts == [{"kernel": "k", "backend": "gpu"}] and cell.executed == 3


# -- cells to parts -------------------------------------------------------------------------------------------------------------


def answer(cells, **texts):
    for cell in cells:
        slot = cell["metadata"].get("course", {}).get("slot")
        if slot in texts:
            cell["source"] = texts[slot]
    return cells


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_the_released_notebook_has_no_answers(lesson, editions, lang):
    reading = read(lesson, editions, cells_of(lesson, lang))
    assert reading.lang == lang and set(reading.answers.values()) == {""} and not reading.extra


def test_metadata_is_believed_for_answers_only_where_content_does_not_speak(lesson, editions):
    cells = answer(cells_of(lesson), q1="one", q2="two")
    text = next(c for c in cells if c["id"] == "text-1")
    q1 = next(c for c in cells if c["id"] == "answer-q1")
    text["metadata"], q1["metadata"] = q1["metadata"], text["metadata"]
    reading = read(lesson, editions, cells)
    assert reading.answers["q1"] == "one" and reading.answers["q2"] == "two"


def test_a_merged_cell_is_taken_apart_by_its_headings(lesson, editions):
    cells = [c for c in cells_of(lesson) if not c["metadata"].get("course", {}).get("slot", "").startswith("q")]
    merged = "\n\n".join(["### Q1\n\nWhy is there a phase?", "one", "### Q2", "two\nmore", "### Q3", "three"])
    cells = [c for c in cells if not c["source"].startswith("### Q")]
    cells.append({"cell_type": "markdown", "source": merged, "metadata": {}})
    reading = read(lesson, editions, cells)
    assert {k: reading.answers[k] for k in ("q1", "q2", "q3")} == {"q1": "one", "q2": "two\nmore", "q3": "three"}


def test_slots_merged_into_the_first_one(lesson, editions):
    cells = answer(cells_of(lesson), q1="one\n\n### Q2\n\ntwo\n\n### Q3\n\nthree")
    cells = [c for c in cells if c["id"] not in ("answer-q2", "answer-q3") and c["source"] not in ("### Q2", "### Q3")]
    assert {k: v for k, v in read(lesson, editions, cells).answers.items() if k != "explanation"} == {
        "q1": "one",
        "q2": "two",
        "q3": "three",
    }


@pytest.mark.parametrize("head", ["Q{n}", "Q{n}:", "**Q{n}.**", "## Q {n}", "问题{n}：", "> Q{n})"])
def test_headings_in_any_form(lesson, editions, head):
    cells = [
        c
        for c in cells_of(lesson)
        if "slot" not in c["metadata"].get("course", {}) and not c["source"].startswith("### ")
    ]
    text = "\n".join(f"{head.format(n=n)}\nanswer {n}" for n in (1, 2, 3))
    reading = read(lesson, editions, [*cells, {"cell_type": "markdown", "source": text, "metadata": {}}])
    assert [reading.answers[f"q{n}"] for n in (1, 2, 3)] == ["answer 1", "answer 2", "answer 3"]
    assert reading.moved == ["q1", "q2", "q3"]


def test_a_heading_word_inside_an_answer_moves_nothing(lesson, editions):
    reading = read(lesson, editions, answer(cells_of(lesson), q3="As in Q1: the index wraps.\nQ2 says more."))
    assert reading.answers["q3"] == "As in Q1: the index wraps.\nQ2 says more." and reading.answers["q1"] == ""


def test_a_picture_is_told(lesson, editions):
    reading = read(lesson, editions, answer(cells_of(lesson), q1="![x](attachment:image.png)"))
    assert reading.pictures == ["q1"]


def test_a_note_of_ones_own_is_no_answer(lesson, editions):
    cells = cells_of(lesson)
    cells.insert(3, {"cell_type": "markdown", "source": "My note.", "metadata": {}})
    reading = read(lesson, editions, cells)
    assert reading.extra == ["My note."] and set(reading.answers.values()) == {""}


def test_an_exercise_cell_that_became_markdown_is_still_found(lesson, editions):
    cells = cells_of(lesson)
    next(c for c in cells if c["id"] == "exercise")["cell_type"] = "markdown"
    assert len(read(lesson, editions, cells).exercise) == 1


def test_a_code_block_in_an_answer_is_not_the_exercise(lesson, editions):
    cells = answer(cells_of(lesson), q1="```python\ndef ring_index(step, stages):\n    return 1\n```")
    assert [c.ids[0] for c in read(lesson, editions, cells).exercise] == ["exercise"]


def test_the_edition_is_told_by_content_when_metadata_lie(lesson, editions):
    reading = read(lesson, editions, cells_of(lesson, "zh"), metadata={"course": {"lesson": lesson.slug, "lang": "en"}})
    assert reading.lang == "zh"


@pytest.mark.parametrize(
    "cells",
    [
        [],
        [{"cell_type": "code", "source": "print(1)", "metadata": {}}],
        [{"cell_type": "markdown", "source": "# Shopping list", "metadata": {}}],
    ],
)
def test_what_is_not_the_lesson_is_refused(lesson, editions, cells):
    with pytest.raises(Unreadable):
        read(lesson, editions, cells)


def test_a_released_block_of_code_in_markdown_stays_what_it_is(lesson, editions):
    cells = cells_of(lesson)
    assert not any(c["source"].startswith("```") and c["cell_type"] == "markdown" for c in cells)
    for kind in ("markdown", "raw"):
        turned = cells_of(lesson)
        for cell in turned:
            if cell["id"] in ("exercise", "boundary-case", "boundary"):
                cell["cell_type"] = kind
        reading = read(lesson, editions, turned)
        assert (
            reading.turned == ["exercise", "boundary_case", "boundary"]
            and [c.kind for c in reading.exercise] == ["code"]
            and len(reading.code) == len([c for c in cells if c["cell_type"] == "code"])
        )


def test_code_that_only_looks_like_the_exercise_in_an_answer_is_the_answer(lesson, editions):
    said = "```python\ndef ring_index(step, stages):\n    return step % stages\n```\nThis is right because the index wraps around."
    cells = [c for c in answer(cells_of(lesson), q1=said) if c["id"] != "exercise"]
    reading = read(lesson, editions, cells)
    assert reading.exercise == [] and reading.answers["q1"] == said


@pytest.mark.parametrize(("where", "doubtful"), [("end", True), ("slot", False)])
def test_text_that_may_be_an_answer_is_for_a_person(lesson, editions, where, doubtful):
    text = "The index wraps around, because the remainder forgets how many rounds there were before."
    cells = answer(
        cells_of(lesson),
        explanation="The remainder keeps the index below the number of stages, always.",
        q1=text.upper(),
        q3="A third answer that is long enough to be one.",
    )
    if where == "slot":
        cells = answer(cells, q2=text)
    else:
        cells += [
            {"cell_type": "code", "source": "1 + 1", "metadata": {}},
            {"cell_type": "markdown", "source": text, "metadata": {}},
        ]
    reading = read(lesson, editions, cells)
    assert reading.doubtful == (["q2"] if doubtful else []) and (text in reading.extra) == doubtful


def test_a_reworded_text_of_the_lesson_is_no_lost_answer(lesson, editions):
    cells = cells_of(lesson)
    prose = max((c for c in cells if c["id"].startswith("text")), key=lambda c: len(c["source"]))
    words = prose["source"].split(" ")
    prose["source"] = " ".join(w if n % 2 else "other" for n, w in enumerate(words))
    prose["metadata"] = {}
    prose["id"] = "zzz"
    assert read(lesson, editions, cells).doubtful == []


# -- released text in pieces, answers in code cells ------------------------------------------------------------------------------

SAID = "Because the remainder forgets how many rounds there were before, the index stays below it."


def split(cells):
    """Each paragraph and heading a cell of its own, without metadata."""
    out = []
    for cell in cells:
        pieces = re.split(r"\n\n+", cell["source"]) if cell["cell_type"] == "markdown" else [cell["source"]]
        out += [{"cell_type": cell["cell_type"], "source": x, "metadata": {}} for x in pieces]
    return out


@pytest.mark.parametrize("number", ["1", "5"])
@pytest.mark.parametrize("lang", ["zh", "en"])
def test_pieces_of_released_cells_are_no_text_of_the_students(number, lang):
    lesson = load_lesson(number)
    said = {slot: f"{SAID} {slot}" for slot in ("explanation", "q1", "q2", "q3")}
    reading = read(lesson, released(lesson), split(answer(cells_of(lesson, lang), **said)))
    assert reading.answers == said and not reading.doubtful
    assert reading.extra == []


@pytest.mark.parametrize("number", ["1", "5"])
def test_a_missing_answer_is_missing_whatever_pieces_there_are(number):
    lesson = load_lesson(number)
    reading = read(lesson, released(lesson), split(answer(cells_of(lesson, "zh"), q1=SAID)))
    assert {s for s, text in reading.answers.items() if text} == {"q1"} and not reading.doubtful


def test_a_released_line_among_the_students_own_is_left_out_and_a_short_word_is_not(lesson, editions):
    book = editions["en"]
    line = next(
        x
        for p in book.parts
        if p.kind == "markdown" and not p.is_slot
        for x in p.source.split("\n")
        if amount(x) >= SOME and plain(x) not in book.prompt_lines
    )
    heading = next(
        x
        for p in book.parts
        if p.kind == "markdown"
        for x in p.source.split("\n")
        if x.startswith("## ") and 0 < amount(x) < SOME
    )
    cells = cells_of(lesson)
    at = next(i for i, c in enumerate(cells) if c["id"] == "answer-q1")
    cells.insert(
        at + 1,
        {"cell_type": "markdown", "source": "\n".join([line, SAID, heading, heading.lstrip("# ")]), "metadata": {}},
    )
    assert read(lesson, editions, cells).answers["q1"] == f"{SAID}\n{heading.lstrip('# ')}"


def test_a_copied_answer_stays_what_it_is(lesson, editions):
    line = next(
        x
        for p in editions["en"].parts
        if p.kind == "markdown" and not p.is_slot
        for x in p.source.split("\n")
        if amount(x) >= SOME and x[0] != "#" and plain(x) not in editions["en"].prompt_lines
    )
    assert read(lesson, editions, answer(cells_of(lesson), q1=line)).answers["q1"] == line


def below_q1(lesson, editions, *sources, **said):
    cells = answer(cells_of(lesson), **said)
    at = next(i for i, c in enumerate(cells) if c["id"] == "answer-q1") + 1
    cells[at:at] = [{"cell_type": "code", "source": s, "metadata": {}, "outputs": []} for s in sources]
    return read(lesson, editions, cells)


@pytest.mark.parametrize(
    ("source", "text"),
    [
        (f"print({SAID!r})", SAID),
        (f"print('''{SAID}\n{SAID}''');", f"{SAID}\n{SAID}"),
        (f"import IPython\nIPython.display.display(IPython.display.Markdown({SAID!r}))", SAID),
        (f"from textwrap import dedent\nprint(dedent('''\n  {SAID}'''.strip()))", SAID),
        (f"print('So:')\nprint({SAID!r}, 'Truly.', end='')", f"So:\n{SAID} Truly."),
        (f"print('Because ' + f'the rest' ' of it', {SAID!r}, sep=': ')", f"Because the rest of it: {SAID}"),
        (f"a = {SAID!r}\nprint(a)", SAID),
        (f"%%markdown\n{SAID}", SAID),
        (f"# {SAID}\nprint('That is all.')", f"{SAID}\nThat is all."),
    ],
)
def test_a_cell_that_only_shows_text_is_prose(lesson, editions, source, text):
    reading = below_q1(lesson, editions, source)
    assert reading.answers["q1"] == text and not reading.doubtful


@pytest.mark.parametrize(
    "sources",
    [
        [f"answer = {SAID!r}"],
        [f"x = 1\nprint(f'{SAID} {{x}}')"],
        [f"# {SAID}\nx = 1"],
        [f"def why():\n    '''{SAID}'''"],
        [f"!echo {SAID}"],
        ["x = = 'a b c d e f g h i j k'"],
        ["x = 1", f"if True:\n    print({SAID!r})"],
        [f"print('{' '.join(SAID.split()[i : i + 5])}')" for i in (0, 5, 10)],
        [
            "a = 'Because it wraps, yes.'\n"
            + "".join(f"a = a + a + 'x{n}'\n" for n in range(60))
            + f"print(a, {SAID!r})"
        ],
    ],
)
def test_prose_in_other_code_below_an_empty_slot_is_for_a_person(lesson, editions, sources):
    reading = below_q1(lesson, editions, *sources)
    assert reading.answers["q1"] == "" and reading.doubtful == ["q1"]
    answered = below_q1(lesson, editions, *sources, q1=SAID.upper())
    assert answered.answers["q1"] == SAID.upper() and not answered.doubtful


def test_code_below_an_empty_slot_is_no_lost_answer(lesson, editions):
    code = [
        "import matplotlib.pyplot as plt\nplt.title('the index')\nplt.xlabel('step')",
        "print('ok')",
        next(c["source"] for c in cells_of(lesson) if c["id"] == "exercise"),
    ]
    assert below_q1(lesson, editions, *code).doubtful == []


def test_what_an_answer_prints_is_no_output_that_proves_it(lesson, editions):
    claim = "I ran it on my laptop and measured 2.7 ms, because nothing was in the cache."
    cells = cells_of(lesson)
    at = next(i for i, c in enumerate(cells) if c["id"] == "answer-q1") + 1
    shown = [{"output_type": "stream", "name": "stdout", "text": claim}]
    cells[at:at] = [
        {"cell_type": "code", "source": s, "metadata": {}, "outputs": shown} for s in (f"print({claim!r})", "time_it()")
    ]
    reading = read(lesson, editions, cells)
    assert reading.answers["q1"] == claim and [c.outputs for c in reading.code if c.outputs] == [[claim]]
