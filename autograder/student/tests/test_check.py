"""`course check`: what a student reads before handing in."""

from dataclasses import replace

import nbformat
import pytest

from autograder.commands.check import check_notebook
from autograder.errors import CourseError
from autograder.release.data import student_lesson
from autograder.release.tests.fixture_lesson import SLUG
from autograder.student.data import from_json, to_json
from autograder.student.tests.work import cell, filled, save


@pytest.fixture
def desk(tmp_path, lesson, monkeypatch):
    """A student's folder: lesson.json beside the notebook, no course checkout."""
    (tmp_path / "lesson.json").write_text(to_json(student_lesson(lesson)), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def codes(report, status):
    return [i.code for i in report.items if i.status == status]


def check(nb, desk, **kw):
    return check_notebook(save(nb, desk, f"{SLUG}.ipynb"), **kw)


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_a_finished_notebook_is_ready(lesson, desk, lang):
    report = check(filled(lesson, lang), desk)
    assert report.open == 0, str(report)
    assert report.foot[0] == {"zh": "可以交卷了。", "en": "Ready to hand in."}[lang]


def test_the_released_notebook_lists_all_that_is_to_do(lesson, desk):
    report = check(filled(lesson, fill=None, case=None, answers=None), desk)
    assert codes(report, "bad") == []
    assert codes(report, "todo") == ["blank", "own_case", "answer", "answer", "answer", "answer"]


def test_a_wrong_fill_shows_what_it_gave(lesson, desk):
    report = check(filled(lesson, "en", fill="(step % stages, 0)"), desk)
    text = str(report)
    assert "ring_index(4, 3) == (1, 1): got (1, 0)" in text
    assert "✔ ring_index(2, 3) == (2, 0)" in text
    assert "You predict (0, 1), your function gives (0, 0)" in text


def test_a_fill_that_raises_shows_the_error(lesson, desk):
    assert "ZeroDivisionError" in str(check(filled(lesson, "en", fill="1 // 0"), desk))


def test_a_fill_that_is_not_python_is_one_item(lesson, desk):
    report = check(filled(lesson, "en", fill="(step %"), desk)
    assert any("line 3 is not valid Python" in i.text for i in report.items if i.status == "bad") and codes(
        report, "bad"
    ) == ["blank"]


def test_an_endless_loop_is_stopped(lesson, desk):
    report = check(filled(lesson, "en", fill="[0 for _ in iter(int, 1)]"), desk, seconds=2)
    assert any("did not finish within 2 seconds" in i.text for i in report.items)


def test_a_crash_is_reported_and_prints_do_not_disturb(lesson, desk):
    report = check(filled(lesson, "en", fill="__import__('os').abort()"), desk)
    assert any("SIGABRT" in i.text for i in report.items)
    assert check(filled(lesson, "en", fill="print('noise') or (step % stages, step // stages % 2)"), desk).open == 0


def test_a_deleted_or_loosened_check_is_named(lesson, desk):
    nb = filled(lesson, "en")
    cell(nb, "exercise").source = cell(nb, "exercise").source.replace("assert ring_index(2, 3) == (2, 0)", "")
    report = check(nb, desk)
    assert codes(report, "bad") == ["assert"] and "ring_index(2, 3) == (2, 0)" in str(report)


def test_other_edits_are_named(lesson, desk):
    """As the grader sees them: a line added outside the blank is nothing, the locked check's loss is a person's work, the setup's is told."""
    nb = filled(lesson, "en")
    cell(nb, "exercise").source = "import os\n" + cell(nb, "exercise").source
    cell(nb, "normal").source = "pass"
    cell(nb, "setup").source = "pass"
    report = check(nb, desk)
    text = str(report)
    assert codes(report, "bad") == ["edited"] and report.open == 1
    assert (
        "The locked check cell for normal inputs was edited. Put it right before you hand in, or it waits for a person"
        in text
    )
    assert "The locked setup cell was edited; the score does not depend on it" in text
    cell(nb, "boundary").source = "pass"
    assert "check cell for boundary inputs was edited. That is a veto: restore it" in str(check(nb, desk))


def test_several_lines_in_the_blanks_place_and_comments_are_fine(lesson, desk):
    nb = filled(lesson, "en")
    cell(nb, "exercise").source = (
        cell(nb, "exercise")
        .source.replace("    return ", "    # mine\n    rounds = step // stages\n    return ")
        .replace("step // stages % 2)", "rounds % 2)")
    )
    assert check(nb, desk).open == 0


def test_a_fill_that_leans_on_another_cell_is_told_that_it_is_run_alone(lesson, desk):
    report = check(filled(lesson, "en", fill="(step % stages, helper(step, stages))"), desk)
    assert "name 'helper' is not defined" in str(report)


def test_numpy_and_math_are_there_as_in_the_grader(lesson, desk):
    assert (
        check(filled(lesson, "en", fill="(int(np.mod(step, stages)), math.floor(step / stages) % 2)"), desk).open == 0
    )


@pytest.mark.parametrize(
    ("case", "literal"),
    [
        ("dict(step=5, stages=1)", True),
        ("dict(step=2 + 3, stages=int(1))", True),
        ("{'step': 5, 'stages': 1}", True),
        ("dict(step=n, stages=1)", False),
        ("dict(step=ring_index(5, 1)[0], stages=1)", False),
    ],
)
def test_the_own_case_is_plain_values(lesson, desk, case, literal):
    report = check(filled(lesson, "en", case=case), desk)
    assert ("as plain values; this one cannot be read" in str(report)) is not literal
    assert report.open == (0 if literal else 1)


def test_missing_and_doubled_cells_are_named(lesson, desk):
    nb = filled(lesson, "en")
    nb.cells = [c for c in nb.cells if c.id != "answer-q2"] + [dict(cell(nb, "answer-q1"), id="again")]
    nb = nbformat.from_dict(nb)
    text = str(check(nb, desk))
    assert "Missing: the answer slot Q2" in text and "2 copies of the answer slot Q1" in text
    del nb.cells[-1:]
    assert codes(check(nb, desk), "bad") == ["missing"]


def test_an_answer_in_a_new_cell_below_its_slot_counts(lesson, desk):
    nb = filled(lesson, "en", answers=None)
    for slot in ("explanation", "q1", "q2", "q3"):
        at = next(i for i, c in enumerate(nb.cells) if c.id == f"answer-{slot}")
        nb.cells[at + 1 : at + 1] = [
            nbformat.v4.new_markdown_cell("因为下标绕回时相位翻转，所以能分辨"),
            nbformat.v4.new_markdown_cell("这一圈和上一圈的数据。"),
        ]
    report = check(nb, desk)
    assert report.open == 0, str(report)


def test_lost_metadata_is_no_obstacle(lesson, desk):
    nb = filled(lesson, "en")
    nb.metadata = nbformat.from_dict({})
    for n, c in enumerate(nb.cells):
        c.metadata = nbformat.from_dict({})
        c.id = f"x{n}"
    report = check(nb, desk)
    assert report.open == 0, str(report)


NOT_A_NOTEBOOK = [
    (b"", "文件是空的", "The file is empty"),
    (b"PK\x03\x04", "压缩包已损坏", "The archive is damaged"),
    (b"%PDF-1.7\n\xe2\xe3", "这是 PDF", "This is a PDF"),
    (b"<html>", "这是网页", "This is a web page"),
    (b"[1]", "不是笔记本", "not a notebook"),
    (b'{"cells": [', "文件不完整", "The file is cut off"),
]


@pytest.mark.parametrize(("content", "zh", "en"), NOT_A_NOTEBOOK)
def test_a_file_that_cannot_be_read_is_one_clear_sentence_in_its_language(desk, content, zh, en):
    """Its folder tells the language in a bundle; elsewhere nothing does, and it is said in both."""
    for folder, says, silent in (("zh", [zh], en), ("en", [en], zh), (".", [zh, en], "Traceback")):
        path = desk / folder / f"{SLUG}.ipynb"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
        with pytest.raises(CourseError) as e:
            check_notebook(path)
        assert all(x in e.value.what for x in says) and silent not in e.value.what
        assert e.value.where == str(path)


def test_what_is_not_there_or_belongs_nowhere_is_said_in_the_notebooks_language(
    lesson, desk, tmp_path_factory, monkeypatch
):
    with pytest.raises(CourseError, match="没有这个文件"):
        check_notebook(desk / "zh" / "nothing.ipynb")
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    monkeypatch.setenv("COURSE_ROOT", str(elsewhere))
    nb = filled(lesson, "zh")
    nb.metadata = nbformat.from_dict({})
    (elsewhere / "zh").mkdir()
    with pytest.raises(CourseError, match="看不出这是哪一课的笔记本") as e:
        check_notebook(save(nb, elsewhere / "zh", "Untitled1.ipynb"))
    assert "cannot be told" not in str(e.value)
    with pytest.raises(CourseError, match="没有找到 lesson42_ring_index 这一课的数据"):
        check_notebook(save(nb, elsewhere / "zh", f"{SLUG}.ipynb"))


def test_byte_order_mark_and_crlf_are_read(lesson, desk):
    path = save(filled(lesson, "en"), desk, f"{SLUG}.ipynb")
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
    assert check_notebook(path).open == 0


def test_the_release_it_was_checked_against_is_named_and_changes_with_the_page(lesson, desk):
    told = student_lesson(lesson)
    report = check(filled(lesson, "en"), desk)
    assert f"Checked against {SLUG}, release {told.release('en')} (lesson.json" in report.foot[1] and codes(
        report, "note"
    )[:-1] == ["own_case"]
    cells = told.released["en"]
    newer = replace(
        told, released={**told.released, "en": (*cells[:-1], replace(cells[-1], source=cells[-1].source + " "))}
    )
    assert newer.release("en") != told.release("en") == from_json(to_json(told)).release("en") and newer.release(
        "zh"
    ) == told.release("zh")
    (desk / "lesson.json").write_text(to_json(newer), encoding="utf-8")
    report = check(filled(lesson, "en"), desk)
    assert (
        f"comes from release {told.release('en')}, the lesson.json beside it is of release {newer.release('en')}"
        in str(report)
        and report.open == 0
    )


def test_an_answer_of_which_nothing_shows_where_it_belongs_is_to_be_put_right(lesson, desk):
    """It would wait for a person."""
    nb = filled(lesson, "en")
    texts = [cell(nb, f"answer-{slot}").source.split("\n\n")[-1] for slot in ("q1", "q2", "q3")]
    nb.cells = [c for c in nb.cells if c.id not in ("answer-q1", "answer-q2", "answer-q3")]
    nb.cells.append(nbformat.v4.new_markdown_cell("\n\n".join(f"{n}. {text}" for n, text in enumerate(texts, 1))))
    report = check(nb, desk)
    assert codes(report, "bad") == [
        "answer"
    ] * 3 and "Write each answer in its own slot, or it waits for a person" in str(report)


def test_a_notebook_without_name_and_metadata_is_known_by_the_bundle_it_lies_in(lesson, desk):
    nb = filled(lesson, "en")
    nb.metadata = nbformat.from_dict({})
    (desk / "en").mkdir()
    assert check_notebook(save(nb, desk / "en", "Untitled1.ipynb")).open == 0
    assert check_notebook(desk / "en").open == 0  # the folder itself, as it could be zipped and handed in


def test_of_several_bundles_beside_it_the_notebooks_own_is_taken(lesson, desk):
    other = replace(student_lesson(lesson), slug="lesson01_other", function="other_function")
    swap = lambda cells: tuple(
        replace(c, source=c.source.replace("ring_index", "other_function") if c.part else f"other words {c.id}")
        for c in cells
    )  # noqa: E731
    other = replace(other, released={lang: swap(cells) for lang, cells in other.released.items()})
    for data in (other, student_lesson(lesson)):
        (desk / data.slug).mkdir()
        (desk / data.slug / "lesson.json").write_text(to_json(data), encoding="utf-8")
    (desk / "lesson.json").unlink()
    assert "Lesson 42" in check(filled(lesson, "en"), desk).title
