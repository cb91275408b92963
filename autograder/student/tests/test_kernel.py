"""The kernel against the student's function, and the challenge, on the emulator."""

import pytest

from autograder import notebook as helper
from autograder.student.kernel import run_and_compare, try_line

pytestmark = pytest.mark.emulator


def right(acc, alpha, beta, c=None):
    return alpha * acc if beta == 0 else alpha * acc + beta * c


def unguarded(acc, alpha, beta, c=None):
    return alpha * acc + beta * c


def codes(report):
    return {(i.status, i.code) for i in report.items}


def test_the_right_function_agrees_and_the_receipt_comes_along():
    report, receipt = run_and_compare("linear_epilogue", right, "en", count=6, backend="emulator")
    assert report.open == 0 and "right: 6 of 6 inputs agree" in str(report)
    (data,) = receipt.values()
    assert list(receipt) == ["application/vnd.hopper-course.receipt+json"]
    assert (
        data["kernel"] == "linear_epilogue"
        and data["backend"] == "emulator"
        and data["figure"]["agree"]["value"] == "6 of 6"
    )


def test_a_function_without_the_guard_is_shown_where_it_fails():
    report, _ = run_and_compare("linear_epilogue", unguarded, "zh", count=6, backend="emulator")
    text = str(report)
    assert report.open == 2 and "C is NaN" in text and "TypeError" in text and "6 组输入中 4 组一致" in text


def test_an_unknown_kernel_is_said_not_raised():
    report, receipt = run_and_compare("no_such_kernel", right, "en", count=1, backend=None)
    assert receipt is None and "There is no kernel named 'no_such_kernel'" in str(report)


def test_an_empty_challenge_shows_the_place():
    report, _ = try_line("linear_epilogue", "______", "en", count=1)
    assert codes(report) == {("todo", "challenge")}
    assert "bool read_c = ______;" in str(report) and "beta != 0.0f;" not in str(report)


@pytest.mark.parametrize(
    "line",
    [
        "beta != 0.0f",
        "bool read_c = !(beta == 0.0f);",
        "bool read_c = !(beta == 0.0f)",
        "const bool read_c = beta != 0.0f",
    ],
)
def test_a_right_line_passes_as_expression_and_as_statement_also_without_its_semicolon(line):
    report, receipt = try_line("linear_epilogue", line, "en", count=4)
    assert report.open == 0 and "correct results on all 4 inputs" in str(report) and receipt


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("c != nullptr", "C is NaN: NaN in the result"),
        ("true", "a null pointer"),
        ("beta > 0.0f", "relative error"),
        ("beta !=", "It does not compile"),
        ("beta;\nreturn;", "exactly one line"),
    ],
)
def test_a_wrong_line_is_told_why(line, says):
    report, _ = try_line("linear_epilogue", line, "en", count=12)
    assert report.open and says in str(report)


def test_the_cells_show_and_return_nothing(lesson, tmp_path, monkeypatch, capsys):
    from autograder.release.data import student_lesson
    from autograder.student.data import to_json

    (tmp_path / "lesson.json").write_text(to_json(student_lesson(lesson)), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    helper.start(lesson.slug, "en", {lesson.checks.function: right})
    assert helper.run_kernel("linear_epilogue", count=3) is None
    assert helper.challenge("linear_epilogue", "______") is None
    assert "3 of 3 inputs agree" in capsys.readouterr().out
