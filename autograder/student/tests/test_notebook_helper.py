"""check(), hint() as called in cells, without a Jupyter front end."""

import pytest

from autograder import notebook as helper
from autograder.release.data import student_lesson
from autograder.release.tests.fixture_lesson import SLUG, SOLUTION
from autograder.student.data import from_json, load_student_lesson, to_json
from autograder.student.tests.work import filled, save


@pytest.fixture
def desk(tmp_path, lesson, monkeypatch):
    (tmp_path / "lesson.json").write_text(to_json(student_lesson(lesson)), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("JPY_SESSION_NAME", raising=False)
    return tmp_path


def session(lesson, lang="en", **names):
    space = dict(names)
    helper.start(lesson.slug, lang, space)
    return space


def right(step, stages):
    return (step % stages, step // stages % 2)


def test_the_check_cell_raises_where_something_is_wrong_and_only_then(lesson, desk, capsys):
    session(lesson, ring_index=right)
    helper.check("normal")
    assert "✔ ring_index(4, 3) == (1, 1)" in capsys.readouterr().out
    session(lesson, ring_index=lambda step, stages: (step % stages, 0))
    with pytest.raises(helper.CheckFailed, match="1 not right yet"):
        helper.check("normal")
    assert "got (1, 0)" in capsys.readouterr().out


def test_before_the_exercise_is_run_it_says_so(lesson, desk, capsys):
    session(lesson, "zh")
    with pytest.raises(helper.CheckFailed):
        helper.check("normal")
    assert "先运行填空单元格" in capsys.readouterr().out


def test_a_function_that_leans_on_another_cell_is_told_that_it_is_graded_alone(lesson, desk, capsys):
    space = session(lesson)
    exec(
        "helper = lambda step, stages: step // stages % 2\ndef ring_index(step, stages):\n    return [(step % s, helper(step, s)) for s in [stages]][0]",
        space,
    )
    with pytest.raises(helper.CheckFailed):
        helper.check("normal")
    assert "uses helper, defined elsewhere" in capsys.readouterr().out


def test_an_unfilled_blank_is_not_a_name_error(lesson, desk, capsys):
    space = session(lesson)
    exec("def ring_index(step, stages):\n    return ______", space)
    with pytest.raises(helper.CheckFailed):
        helper.check("normal")
    assert "The blank is still empty" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("case", "prediction", "says"),
    [
        (dict(step=5, stages=1), (0, 1), "as you predicted"),
        (dict(step=5, stages=1), (0, 0), "You predict (0, 0), your function gives (0, 1)"),
        ([5, 1], (0, 1), "my_case should be dict"),
        (dict(step=5, stages=0), (0, 0), "ZeroDivisionError"),
        (dict(step=4, stages=3), (1, 1), "one of the visible checks"),
        (dict(step=5, stages=1), (0, True), "You predict (0, True)"),  # as the grader compares: True is no number
        (dict(step=5, stages=1), [0, 1.0], "as you predicted"),
        (dict(step=5, stages=1), [0, 1.0 + 1e-9], "You predict [0, 1.0"),  # an integer is predicted exactly
    ],
)
def test_the_own_case(lesson, desk, capsys, case, prediction, says):
    session(lesson, ring_index=right, my_case=case, my_prediction=prediction)
    try:
        helper.check("boundary")
    except helper.CheckFailed:
        assert "predicted" not in says
    told = capsys.readouterr().out
    assert says in told
    assert "✔" not in told  # whether it earns its point is not known here


def test_no_hint_is_pressed_on_who_needs_none(lesson, desk, capsys):
    session(lesson, ring_index=right)
    helper.hint()  # as when all cells of a finished notebook are run
    assert "no hint is needed" in capsys.readouterr().out
    helper.hint(1)
    assert "look at the remainder" in capsys.readouterr().out


def test_the_kernels_speak_the_notebooks_language(lesson, desk):
    import kernels

    session(lesson, "zh")
    with pytest.raises(kernels.KernelError, match="没有名为 'nope' 的 kernel"):
        kernels.load("nope")
    session(lesson, "en")
    with pytest.raises(kernels.KernelError, match="There is no kernel named 'nope'"):
        kernels.load("nope")


def test_check_before_handing_in_reads_the_saved_answers(lesson, desk, capsys):
    save(filled(lesson, "en", answers=None), desk, f"{SLUG}.ipynb")
    session(lesson, ring_index=right, my_case=dict(step=5, stages=1), my_prediction=(0, 1))
    helper.check()
    out = capsys.readouterr().out
    assert out.count("still empty") == 4 and "8 to pass" in out
    save(filled(lesson, "en"), desk, f"{SLUG}.ipynb")
    helper.check()
    assert "still empty" not in capsys.readouterr().out


def test_hints_come_in_order_and_the_answer_last(lesson, desk, capsys):
    session(lesson)
    helper.hint(3)
    assert "in order: look at hint(1) first" in capsys.readouterr().out
    helper.hint(4)
    assert SOLUTION not in capsys.readouterr().out
    for _ in range(3):
        helper.hint()
    assert "floor division" in capsys.readouterr().out
    helper.hint(4)
    assert SOLUTION in capsys.readouterr().out


def test_the_answer_can_be_asked_for_at_once_and_odd_levels_are_refused(lesson, desk, capsys):
    session(lesson, "zh")
    helper.hint(4, confirm=True)
    assert SOLUTION in capsys.readouterr().out
    for level in (0, 5, "2", True):
        helper.hint(level)
        assert "1 到 4 级" in capsys.readouterr().out


def test_what_a_student_wrote_is_escaped_in_html(lesson):
    from autograder.student.show import Report

    report = Report("t", "en")
    report.add("bad", "<script>alert(1)</script>")
    report.add("note", "write `x < y`")
    shown = report._repr_html_()
    assert "<script>" not in shown and "&lt;script&gt;" in shown and "<code>x &lt; y</code>" in shown


def test_lesson_json_holds_no_secret_in_the_clear_and_survives_a_round_trip(lesson):
    text = to_json(student_lesson(lesson))
    assert SOLUTION not in text and "31337" not in text and "秘密" not in text
    assert from_json(text) == student_lesson(lesson)


def test_without_lesson_data_the_error_says_what_to_do(tmp_path, monkeypatch):
    from autograder.errors import CourseError

    monkeypatch.setenv("COURSE_ROOT", str(tmp_path))
    with pytest.raises(CourseError, match="Keep the notebook in the folder"):
        load_student_lesson("lesson42_ring_index", tmp_path)
    with pytest.raises(CourseError) as e:
        load_student_lesson("lesson42_ring_index", tmp_path, "zh")
    assert "没有找到" in e.value.what and "Keep" not in str(e.value)
