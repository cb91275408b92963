"""The frame of the command `course`: exit statuses and messages."""

import io
import sys

import pytest

from autograder import cli


def call(capsys, *argv):
    with pytest.raises(SystemExit) as e:
        cli.run(list(argv))
    out = capsys.readouterr()
    return e.value.code, out.out, out.err


def test_a_mistyped_command_is_named_with_the_nearest(capsys):
    code, _, err = call(capsys, "lits")
    assert code == 1 and "no command 'lits'" in err and "Did you mean list" in err


def test_help_is_status_0_and_no_arguments_is_2(capsys):
    assert call(capsys, "--help")[0] == 0
    code, out, _ = call(capsys)
    assert code == 2 and "Usage: course" in out


def test_a_course_error_is_one_line_and_status_1(capsys):
    code, _, err = call(capsys, "hint", "99", "1")
    assert code == 1 and err.startswith("course: ") and "Traceback" not in err


@pytest.mark.parametrize("argv", [("hint", "7", "5"), ("hint", "7", "1", "--lang", "fr"), ("check",)])
def test_bad_arguments_are_status_2(capsys, argv):
    code, _, err = call(capsys, *argv)
    assert code == 2 and "Traceback" not in err


def test_a_command_of_the_instructors_part_is_refused_in_a_students_install(capsys, monkeypatch):
    monkeypatch.setitem(cli.COMMANDS, "no-such-module", "for the test")
    code, _, err = call(capsys, "no-such-module")
    assert code == 1 and "student's install" in err
    assert "no-such-module" not in call(capsys, "--help")[1]


@pytest.mark.parametrize(
    ("encoding", "shown"), [("gbk", "[ok] [!!] ○ 学 ?"), ("ascii", "[ok] [!!] [ ] ? ?"), ("utf-8", "✔ ✘ ○ 学 ✂")]
)
def test_a_console_that_lacks_a_character_shows_the_rest(monkeypatch, encoding, shown):
    console = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    monkeypatch.setattr(sys, "stdout", console)
    with pytest.raises(SystemExit):
        cli.run(["--help"])
    print("✔ ✘ ○ 学 ✂")
    console.flush()
    assert console.buffer.getvalue().decode(encoding).splitlines()[-1] == shown
