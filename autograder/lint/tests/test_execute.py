"""The released notebooks run from top to bottom with the reference in the blank."""

import pytest

from autograder.commands.check import check_notebook
from autograder.lesson import load_lesson
from autograder.lint.execute import _with_values, own_case, run_notebook, solved_notebook
from autograder.release.data import student_lesson
from autograder.release.tests.fixture_lesson import SLUG, write_lesson
from autograder.student.data import to_json
from autograder.student.tests.work import save


def outputs(nb, name):
    return "\n".join(
        str(o.get("text") or o.get("data", {}).get("text/plain", ""))
        for o in next(c for c in nb.cells if c.id == name).outputs
    )


@pytest.fixture(scope="module")
def fixture_lesson(tmp_path_factory):
    return load_lesson(write_lesson(tmp_path_factory.mktemp("course")))


def test_the_fixture_lesson_runs_and_its_checks_speak_its_language(fixture_lesson):
    nb, problems = run_notebook(fixture_lesson, "zh")
    assert problems == []
    assert "✔ ring_index(4, 3) == (1, 1)" in outputs(nb, "normal")
    assert outputs(nb, "experiment-2") == "下标 [0, 1, 2, 0, 1, 2, 0]\n"  # what the widget drew first
    assert "与你的预测一致" in outputs(nb, "boundary")
    assert not any(
        "text/plain" in o.get("data", {}) and o.data["text/plain"].replace(".", "").isdigit()
        for c in nb.cells
        for o in c.get("outputs", [])
    )


def test_a_cell_that_fails_is_named(tmp_path):
    folder = write_lesson(tmp_path)
    for lang in ("zh", "en"):
        page = folder / f"{lang}.qmd"
        page.write_text(
            page.read_text(encoding="utf-8").replace("print(ring_index(5, 3))", "print(ring_index(5, 0))"),
            encoding="utf-8",
        )
    _, problems = run_notebook(load_lesson(folder), "en")
    assert (
        len(problems) == 1
        and "ZeroDivisionError" in problems[0].what
        and "print(ring_index(5, 0))" in problems[0].remedy
    )


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("range(7)]}", "range(1 // 0)]}", "A widget of the solved notebook fails: ZeroDivisionError"),
        (
            "def show(stages=3):\n",
            "def show(stages=3):\n    import sys; sys.stderr.write('oh dear')\n",
            "writes to stderr: 'oh dear'",
        ),
    ],
)
def test_what_goes_wrong_inside_a_widget_is_seen(tmp_path, old, new, says):
    folder = write_lesson(tmp_path)
    page = folder / "en.qmd"
    text = page.read_text(encoding="utf-8")
    assert old in text
    page.write_text(text.replace(old, new), encoding="utf-8")
    _, problems = run_notebook(load_lesson(folder), "en")
    assert len(problems) == 1 and says in problems[0].what


def test_a_solved_notebook_passes_course_check(fixture_lesson, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lesson.json").write_text(to_json(student_lesson(fixture_lesson)), encoding="utf-8")
    report = check_notebook(save(solved_notebook(fixture_lesson, "en"), tmp_path, f"{SLUG}.ipynb"))
    assert [i for i in report.items if i.status == "bad"] == [], str(report)


def test_the_own_case_counts_and_is_right(fixture_lesson):
    case, prediction = own_case(fixture_lesson)
    assert fixture_lesson.checks.is_boundary(case) and fixture_lesson.checks.reference(**case) == prediction


def test_values_are_put_in_whatever_lines_an_assignment_takes():
    source = "# literals only\nmy_case = dict(\n    x=______,\n    y=______,\n)\nmy_prediction = ______\n\nassert f(**my_case) == my_prediction"
    out = _with_values(source, {"my_case": "dict(x=1, y=2)", "my_prediction": "3"})
    assert out == "# literals only\nmy_case = dict(x=1, y=2)\nmy_prediction = 3\n\nassert f(**my_case) == my_prediction"
