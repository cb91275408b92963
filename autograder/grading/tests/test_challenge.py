"""The challenge line of a submission: what is read, what is admitted, and what the jail and the judge make of it."""

import json
import shutil
from pathlib import Path

import nbformat
import pytest

from autograder.errors import CourseError
from autograder.grading.challenge.jail import Jail, Stopped
from autograder.grading.challenge.judge import ChallengeJudge
from autograder.grading.challenge.line import challenge_of, read_line, refusal, tokens
from kernels.compare import challenge_statement

KERNEL = "linear_epilogue"
RIGHT = "const bool read_c = beta != 0.0f;"

needs_jail = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not here")


@pytest.mark.parametrize(
    ("source", "line"),
    [
        (f'my_line = "{RIGHT}"\n\nchallenge("linear_epilogue", my_line)', RIGHT),
        (f'challenge("linear_epilogue", "{RIGHT}")', RIGHT),
        ('my_line = "first"\nmy_line = "  second  "\nchallenge("linear_epilogue", my_line)', "second"),
        ('my_line = "const bool read_c = ______;"\nchallenge("linear_epilogue", my_line)', ""),
        ('my_line = "x"\nchallenge("other", my_line)', ""),
        ('my_line = open("/etc/passwd").read()\nchallenge("linear_epilogue", my_line)', ""),
        ('challenge("linear_epilogue", unknown)', ""),
        ("this is not Python (", ""),
    ],
)
def test_the_line_is_read_and_never_run(source, line):
    assert read_line([source], KERNEL) == line


def test_the_last_written_line_counts():
    cells = ['challenge("linear_epilogue", "one")', 'challenge("linear_epilogue", "two")', 'challenge("linear_epilogue", "______")']
    assert read_line(cells, KERNEL) == "two"
    assert challenge_of(cells[0]) == KERNEL and challenge_of("challenge(name, x)") is None and challenge_of("x = 1") is None


@pytest.mark.parametrize("line", [RIGHT, "beta != 0.0f", "bool read_c = !(beta == 0);  // -0.0 too", "const bool read_c = c != nullptr;", "const auto read_c = (beta < 0 || beta > 0) ? true : false;"])
def test_honest_lines_are_admitted(line):
    assert refusal(KERNEL, line) is None


@pytest.mark.parametrize(
    "line",
    [
        'bool read_c = system("ls");',
        "bool read_c = true; asm volatile(1);",
        "bool read_c = __builtin_trap(), true;",
        "bool read_c = true; /*",
        '#include "/etc/passwd"',
        "%:include <x>",
        "bool read_c = true; } int main() { exit(0);",
        "bool read_c = true; }",
        "bool read_c = (true;",
        "bool read_c = true; \\",
        "bool read_c = '/*' != 0;",
        "bool read_c = true; while (true);",
        "bool read_c = true; for (;;);",
        "bool read_c = true; goto x;",
        "bool read_c = fopen;",
        "bool read_c = true; @",
        "x" * 401,
        "bool read_c = true;\nint y;",
        "bool read_c = std::abs(beta) > 0;",
        "bool read_c = beta != 0.0f; ｘ",
    ],
)
def test_hostile_lines_are_refused_with_a_reason(line):
    why = refusal(KERNEL, line)
    assert why is not None and why.zh.strip() and why.en.strip()


def test_a_bare_expression_becomes_the_declaration():
    assert challenge_statement(KERNEL, "beta != 0.0f") == "bool read_c = beta != 0.0f;"
    assert challenge_statement(KERNEL, RIGHT) == challenge_statement(KERNEL, RIGHT[:-1]) == RIGHT
    assert challenge_statement(KERNEL, "beta != 0.0f // why") == challenge_statement(KERNEL, RIGHT + " // joins \\")[len("const ") :] == RIGHT[len("const ") :]


def test_lines_are_equal_by_tokens_and_not_by_letters():
    """A line that is no C++ without its blanks must not share an outcome with the right one, whichever is judged first."""
    assert tokens("bool  read_c=beta!=0.0f;// x") == tokens("bool read_c = beta != 0.0f;")
    assert tokens("boolread_c = beta != 0.0f;") != tokens("bool read_c = beta != 0.0f;")
    assert tokens("beta - -1") != tokens("beta --1")
    judge = ChallengeJudge(KERNEL)
    judge._jail = type("Never", (), {"run": lambda self, request: pytest.fail("a refused line ran")})()
    assert not judge.judge("boolread_c = beta != 0.0f;").passed and judge._known == {}


@needs_jail
def test_lines_are_judged_and_equal_ones_run_once():
    judge = ChallengeJudge(KERNEL, count=6)
    assert judge.judge(RIGHT).passed and judge.judge("beta != 0.0f").passed
    wrong = judge.judge("const bool read_c = c != nullptr;")
    assert not wrong.passed and "NaN" in wrong.message.en and wrong.kind == "challenge"
    assert not judge.judge("bool read_c = beta !=;").passed and "compile" in judge.judge("bool read_c = beta !=;").message.en
    ran = []
    judge._jail = type("Counted", (), {"run": lambda self, request: ran.append(request)})()
    assert judge.judge(RIGHT + "  // the same").passed and not ran


@needs_jail
def test_a_race_is_reported_with_its_place():
    judge = ChallengeJudge("mbarrier_handshake", count=6)
    assert judge.judge("uint32_t expected = 2 * HALF_BYTES;").passed
    half = judge.judge("uint32_t expected = HALF_BYTES;")
    assert not half.passed and "emulator reports" in half.message.en


@needs_jail
def test_the_jail_shows_neither_lessons_nor_network_nor_homes(tmp_path, monkeypatch):
    """The jail's own walls, with a program in place of inside.py that tries what native code could."""
    from autograder.grading.challenge import jail as module
    from autograder.paths import course_root

    secret = tmp_path / "gradebook.db"
    secret.write_text("scores")
    (tmp_path / "inside.py").write_text(
        "import json, os, socket, sys\n"
        "asked = json.load(sys.stdin)\n"
        "def seen(path):\n"
        "    try:\n        return bool(os.listdir(path) if os.path.isdir(path) else open(path).read(1))\n    except OSError:\n        return False\n"
        "def writes(path):\n"
        "    try:\n        open(path, 'w').close(); return True\n    except OSError:\n        return False\n"
        "def net():\n"
        "    try:\n        socket.create_connection(('192.0.2.1', 9), 1); return True\n    except OSError as e:\n        return e.errno not in (101, 99, 13, 1)\n"
        "print(json.dumps({'seen': [p for p in asked['paths'] if seen(p)], 'writes': [p for p in ('/usr/x', '/jail/kernels/x', '/jail/inside.py', '/etc/x') if writes(p)], 'net': net(), 'pids': [p for p in os.listdir('/proc') if p.isdigit()]}))\n"
    )
    monkeypatch.setattr(module, "HERE", tmp_path)
    paths = [str(course_root() / "lessons"), str(course_root() / "autograder"), str(secret), "/etc/shadow", "/home", *(str(p) for p in Path.home().iterdir() if p.is_file())]

    said = json.loads(Jail(20).run(json.dumps({"paths": paths}).encode()))
    assert said["seen"] == [] and said["writes"] == [] and said["net"] is False and len(said["pids"]) <= 2


@needs_jail
def test_a_line_that_never_ends_is_stopped(tmp_path, monkeypatch):
    from autograder.grading.challenge import jail as module

    (tmp_path / "inside.py").write_text("import time\ntime.sleep(60)\n")
    monkeypatch.setattr(module, "HERE", tmp_path)
    with pytest.raises(Stopped, match="stopped after"):
        Jail(1.0).run(b"{}")


@needs_jail
def test_a_class_with_challenges(tmp_path, monkeypatch):
    """The outcome reaches the result; points and state are those of a run without it."""
    from autograder.gradebook.run import _with_challenges
    from autograder.grading import grade_notebook
    from autograder.lesson import load_lesson
    from autograder.release.notebook import student_notebook

    lesson = load_lesson("7")
    results = {}
    for student, line in (("ann", RIGHT), ("ben", "bool read_c = true;"), ("cat", None)):
        book = student_notebook(lesson, "en")
        cell = next(c for c in book.cells if challenge_of(c.source) and c.cell_type == "code")
        if line:
            cell.source = f'my_line = "{line}"\n\nchallenge("linear_epilogue", my_line)'
        results[student] = grade_notebook(lesson, nbformat.writes(book).encode(), student)
    assert [r.challenge for r in results.values()] == [RIGHT, "bool read_c = true;", ""]
    told = {r.student: r for r in _with_challenges(lambda *_: iter(results.values()), lesson, [])}
    passed = {s: [c.passed for c in r.checks if c.kind == "challenge"] for s, r in told.items()}
    assert passed == {"ann": [True], "ben": [False], "cat": []}
    assert all(told[s].points == results[s].points and told[s].state == results[s].state for s in results)


def test_without_bubblewrap_it_says_what_to_do(monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda *_: None)
    with pytest.raises(CourseError, match="bubblewrap") as e:
        Jail()
    assert "--challenges" in e.value.remedy
