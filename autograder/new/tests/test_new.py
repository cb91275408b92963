"""A new lesson is complete in form, nothing in it is finished, and lint says each thing that is not."""

import re

import pytest

from autograder import cli
from autograder.errors import CourseError
from autograder.lesson import load_lesson
from autograder.lesson.model import LANGS
from autograder.lint import lint_lesson
from autograder.lint.form import SECTIONS
from autograder.new import lay_out
from autograder.new.words import BELONGS
from autograder.release.notebook import student_notebook

# What lint may say of a lesson that was just laid out; anything else would be a fault of the layout.
EXPECTED = r"is not written|not written yet|There is no labelled|gives no case|says no to every boundary|The page has \d+ words|No misconception is a veto|cannot be found in a|hint 4 is not the full answer|There is no kernel named 'KERNEL'"


@pytest.fixture
def lessons(tmp_path):
    (tmp_path / "lessons").mkdir()
    (tmp_path / "lessons" / "_quarto.yml").write_text(
        "website: {sidebar: [{id: zh, contents: []}, {id: en, contents: []}]}\n"
    )
    return tmp_path / "lessons"


def found(folder):
    return [p.text(folder.parent) for p in lint_lesson(folder)]


def test_every_file_and_section_is_there_and_lint_names_what_is_not_written(lessons):
    folder = lay_out(lessons, 9, "warp_specialization", "consumer_registers", "threads, producer_registers")
    assert sorted(p.name for p in folder.iterdir()) == [
        "answers.jsonl",
        "checks.py",
        "claims.yml",
        "en.qmd",
        "reference.yml",
        "rubric.yml",
        "zh.qmd",
    ]
    problems = found(folder)
    assert [p for p in problems if not re.search(EXPECTED + "|sidebar", p)] == []
    for lang in LANGS:
        unwritten = [p for p in problems if p.startswith(f"{folder.name}/{lang}.qmd") and "not written yet" in p]
        assert len(unwritten) == len(SECTIONS) + 5  # and the explanation's question, four reference answers
        assert any("sidebar " + lang in p for p in problems)


def test_every_section_of_the_form_has_its_sentence():
    assert set(BELONGS) == {s.key for s in SECTIONS}
    assert len({x for pair in BELONGS.values() for x in pair}) == 2 * len(SECTIONS)


def test_it_loads_and_its_notebook_has_all_parts(lessons):
    lesson = load_lesson(lay_out(lessons, 12, "rasterization", "tile_coord", "linear,tiles_m"))
    for lang in LANGS:
        ids = [c.id for c in student_notebook(lesson, lang).cells]
        assert {
            "exercise",
            "normal",
            "boundary-case",
            "boundary",
            "kernel-1",
            "challenge-1",
            "answer-q1",
            "answer-q2",
            "answer-q3",
            "answer-explanation",
        } <= set(ids)
    assert lesson.number == 12 and lesson.checks.function == "tile_coord"
    with pytest.raises(NotImplementedError):
        lesson.checks.reference(1, 2)


def test_a_written_part_is_no_problem_any_more(lessons):
    folder = lay_out(lessons, 9, "x1")
    page = folder / "en.qmd"
    before = len(found(folder))
    page.write_text(
        page.read_text(encoding="utf-8").replace(
            "TODO: " + BELONGS["how"][1], "The index wraps, and the phase bit flips."
        ),
        encoding="utf-8",
    )
    assert len(found(folder)) == before - 1


def test_nothing_is_overwritten(lessons):
    folder = lay_out(lessons, 9, "first")
    (folder / "zh.qmd").write_text("weeks of work", encoding="utf-8")
    for slug in ("first", "second"):
        with pytest.raises(CourseError, match="Lesson 9 is there already: lesson09_first.*Nothing was written"):
            lay_out(lessons, 9, slug)
    assert (folder / "zh.qmd").read_text(encoding="utf-8") == "weeks of work"
    assert sorted(p.name for p in lessons.iterdir()) == ["_quarto.yml", "lesson09_first"]
    (lessons / "lesson10_taken").write_text("a file")
    with pytest.raises(CourseError, match="already"):
        lay_out(lessons, 10, "taken")


@pytest.mark.parametrize(
    ("args", "says"),
    [
        ((0, "a"), "1 to 99"),
        ((100, "a"), "1 to 99"),
        ((9, "Upper"), "no lesson name"),
        ((9, "a/../b"), "no lesson name"),
        ((9, "a__b"), "no lesson name"),
        ((9, ""), "no lesson name"),
        ((9, "a", "f(x)"), "no Python name"),
        ((9, "a", "f", "x y"), "no Python name"),
        ((9, "a", "f", ","), "no Python name"),
    ],
)
def test_names_that_are_none_are_refused(lessons, args, says):
    with pytest.raises(CourseError, match=says):
        lay_out(lessons, *args)
    assert [p.name for p in lessons.iterdir()] == ["_quarto.yml"]


def test_the_command(lessons, monkeypatch, capsys):
    monkeypatch.setenv("COURSE_ROOT", str(lessons.parent))
    with pytest.raises(SystemExit) as e:
        cli.run(["new", "9", "warp_specialization", "--function", "f", "--parameters", "a,b"])
    shown = capsys.readouterr()
    assert (
        not e.value.code
        and "lessons/lesson09_warp_specialization/zh.qmd" in shown.out
        and "course lint 9" in shown.err
        and "f(a, b)" in shown.err
        and "--function" not in shown.err
    )
    with pytest.raises(SystemExit) as e:
        cli.run(["new", "8", "plain"])
    assert "plain(x)" in (err := capsys.readouterr().err) and "--function" in err
    with pytest.raises(SystemExit) as e:
        cli.run(["new", "9", "again"])
    assert e.value.code == 1 and "is there already" in capsys.readouterr().err
