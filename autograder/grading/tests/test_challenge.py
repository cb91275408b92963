"""The challenge line of a submission: what is read, what is admitted, and what the judge makes of it."""

import time

import nbformat
import pytest

from autograder.grading.challenge.judge import ChallengeJudge
from autograder.submission.challenge_line import challenge_of, read_challenge, read_line, refusal, tokens
from kernels.compare import challenge_statement

KERNEL = "linear_epilogue"
RIGHT = "const bool read_c = beta != 0.0f;"


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
    cells = [
        'challenge("linear_epilogue", "one")',
        'challenge("linear_epilogue", "two")',
        'challenge("linear_epilogue", "______")',
    ]
    assert read_line(cells, KERNEL) == "two"
    assert (
        challenge_of(cells[0]) == KERNEL
        and challenge_of("challenge(name, x)") is None
        and challenge_of("x = 1") is None
    )


@pytest.mark.parametrize(
    "cells",
    [
        [f'my_line = "{RIGHT}"', 'challenge("linear_epilogue", my_line)'],
        [f'challenge("linear_epilogue", line="{RIGHT}")'],
        [f'challenge(kernel="linear_epilogue", line="{RIGHT}", count=24)'],
        [f'my_line: str = "{RIGHT}"\nresult = challenge("linear_epilogue", my_line)\nprint(result)'],
        ['challenge("linear_epilogue", "const bool read_c = " + "beta != 0.0f;")'],
        [
            'left = "const bool read_c"\nmy_line = left\nmy_line += " = beta != 0.0f;"\nchallenge("linear_epilogue", my_line)'
        ],
        [f'challenge("linear_epilogue", f"{RIGHT}")'],
        ['left = "const bool read_c"\nchallenge("linear_epilogue", f"{left} = beta != 0.0f;")'],
        [f'my_line = """\n    {RIGHT}\n"""\nchallenge("linear_epilogue", my_line.strip())'],
        [f'for line in ("true", "{RIGHT}"):\n    challenge("linear_epilogue", line)'],
        [f'name = "linear_epilogue"\nmy_line = "{RIGHT}"\nchallenge(name, my_line)'],
        [f'challenge("linear_epilogue", my_line := "{RIGHT}")'],
        [f'lines = ["true", "{RIGHT}"]\nchallenge("linear_epilogue", lines[-1])'],
        [f'import kernels\nkernels.challenge("linear_epilogue", "{RIGHT}")'],
        [f'%time challenge("linear_epilogue", "{RIGHT}")'],
        [f'try:\n    challenge("linear_epilogue", "{RIGHT}")\nexcept Exception as e:\n    print(e)'],
        [f'if True:\n    challenge("linear_epilogue", "{RIGHT}")\nelse:\n    challenge("linear_epilogue", "true")'],
        [
            f'challenge("linear_epilogue", "{RIGHT}")',
            'if False:\n    challenge("linear_epilogue", "true")',
            'challenge("linear_epilogue", unknown)',
        ],
    ],
)
def test_honest_ways_to_write_the_cell(cells):
    handed = read_challenge(cells, KERNEL)
    assert handed.line == RIGHT and handed.unread is None


@pytest.mark.parametrize(
    ("cell", "says"),
    [
        ('challenge("linear_epilogue", open("x").read())', "open('x').read()"),
        ('challenge("linear_epilogue", 12)', "12"),
        ('def go():\n    challenge("linear_epilogue", "true")\ngo()', "in a function"),
        ('[challenge("linear_epilogue", x) for x in lines]', "x is no text"),
        ('challenge("linear_epilogue", (', "not valid Python"),
        ('challenge("linear_epilogue", "\\ud800")', "control characters"),
        ('challenge("linear_epilogue", "\\x00")', "control characters"),
        ("a = 'x'\n" + "a = a + a\n" * 40 + 'challenge("linear_epilogue", a)', "a is no text"),
        ('challenge("linear_epilogue", ' + " + ".join(['"a"'] * 900) + ")", "is no text"),
    ],
)
def test_what_cannot_be_read_is_told(cell, says):
    handed = read_challenge([cell], KERNEL)
    assert (
        handed.line == ""
        and says in handed.unread.en
        and 'my_line = "..."' in handed.unread.en
        and "读不出来" in handed.unread.zh
    )
    handed.unread.model_dump_json()


def test_a_line_that_is_too_long_is_refused_as_such():
    line = read_line([f'challenge("linear_epilogue", "{"x" * 5000}")'], KERNEL)
    assert "too long" in refusal(KERNEL, line).en and len(line) < 1100


@pytest.mark.parametrize(
    "cells",
    [
        [],
        ["x = 1"],
        ['challenge("linear_epilogue", "______")'],
        ['challenge("other", "x")'],
        ['if False:\n    challenge("linear_epilogue", "true")'],
        ['challenge("linear_epilogue")'],
        ["not Python ("],
    ],
)
def test_no_attempt_is_no_message(cells):
    handed = read_challenge(cells, KERNEL)
    assert (handed.line, handed.unread) == ("", None)


@pytest.mark.parametrize(
    "cell",
    [
        'challenge("linear_epilogue", x)\n' * 6400,
        "".join(" " * i + "for i in [1, 2, 3, 4, 5, 6, 7, 8, 9]:\n" for i in range(12))
        + " " * 12
        + 'challenge("linear_epilogue", x)',
        "a = 'x' * 1\n" + "a = 'xxxxxxxx'.replace('x', 'xxxxxxxx')\n" * 3000 + 'challenge("linear_epilogue", a)',
    ],
)
def test_reading_takes_little_time_for_any_cell(cell):
    began = time.perf_counter()
    read_challenge([cell], KERNEL)
    assert time.perf_counter() - began < 8


@pytest.mark.parametrize(
    "line",
    [
        RIGHT,
        "beta != 0.0f",
        "bool read_c = !(beta == 0);  // -0.0 too",
        "const bool read_c = c != nullptr;",
        "const auto read_c = (beta < 0 || beta > 0) ? true : false;",
    ],
)
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


@pytest.mark.parametrize(
    "line",
    [
        "const bool zero = beta == 0; bool read_c = not zero;",
        "bool read_c = fabsf(beta) > 0.0f /* C */;",
        "const bool zero = beta == 0; not zero",
    ],
)
def test_own_names_words_and_comments_are_admitted(line):
    assert refusal(KERNEL, line) is None


def test_several_statements_need_no_final_semicolon():
    assert (
        challenge_statement(KERNEL, "const bool zero = beta == 0; bool read_c = !zero")
        == "const bool zero = beta == 0; bool read_c = !zero;"
    )
    assert (
        challenge_statement(KERNEL, "const bool zero = beta == 0; !zero")
        == "const bool zero = beta == 0; bool read_c = !zero;"
    )


def test_the_notebook_refuses_what_the_grader_refuses():
    from autograder.student.kernel import try_line

    for line in ("bool read_c = system(1);", "bool read_c = *c;", "bool read_c = true; //\r x"):
        why = refusal(KERNEL, line)
        for lang in ("zh", "en"):
            report, _ = try_line(KERNEL, line, lang, count=1)
            assert report.open == 1 and why.get(lang) in str(report)


def test_a_bare_expression_becomes_the_declaration():
    assert challenge_statement(KERNEL, "beta != 0.0f") == "bool read_c = beta != 0.0f;"
    assert challenge_statement(KERNEL, RIGHT) == challenge_statement(KERNEL, RIGHT[:-1]) == RIGHT
    assert (
        challenge_statement(KERNEL, "beta != 0.0f // why")
        == challenge_statement(KERNEL, RIGHT + " // joins \\")[len("const ") :]
        == RIGHT[len("const ") :]
    )


def test_lines_are_equal_by_tokens_and_not_by_letters():
    """A line that is no C++ without its blanks must not share an outcome with the right one, whichever is judged first."""
    assert tokens("bool  read_c=beta!=0.0f;// x") == tokens("bool read_c = beta != 0.0f;")
    assert tokens("boolread_c = beta != 0.0f;") != tokens("bool read_c = beta != 0.0f;")
    assert tokens("beta - -1") != tokens("beta --1")
    judge = ChallengeJudge(KERNEL)
    judge._jail = type("Never", (), {"run": lambda self, request: pytest.fail("a refused line ran")})()
    assert not judge.judge("boolread_c = beta != 0.0f;").passed and judge._known == {}


@pytest.mark.bubblewrap
def test_lines_are_judged_and_equal_ones_run_once():
    judge = ChallengeJudge(KERNEL, count=6)
    assert judge.judge(RIGHT).passed and judge.judge("beta != 0.0f").passed
    wrong = judge.judge("const bool read_c = c != nullptr;")
    assert not wrong.passed and "NaN" in wrong.message.en and wrong.kind == "challenge"
    assert (
        not judge.judge("bool read_c = beta !=;").passed
        and "compile" in judge.judge("bool read_c = beta !=;").message.en
    )
    ran = []
    judge._jail = type("Counted", (), {"run": lambda self, request: ran.append(request)})()
    assert judge.judge(RIGHT + "  // the same").passed and not ran


@pytest.mark.bubblewrap
def test_a_race_is_reported_with_its_place():
    judge = ChallengeJudge("mbarrier_handshake", count=6)
    assert judge.judge("uint32_t expected = 2 * HALF_BYTES;").passed
    half = judge.judge("uint32_t expected = HALF_BYTES;")
    assert not half.passed and "emulator reports" in half.message.en


@pytest.mark.bubblewrap
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


def test_a_cell_that_was_split_is_graded_with_its_line():
    from autograder.grading import grade_notebook
    from autograder.lesson import load_lesson
    from autograder.release.notebook import student_notebook

    lesson = load_lesson("7")
    book = student_notebook(lesson, "zh")
    cell = next(c for c in book.cells if c.cell_type == "code" and challenge_of(c.source))
    cell.source = f'my_line = "{RIGHT}"'
    book.cells.insert(book.cells.index(cell) + 1, nbformat.v4.new_code_cell('challenge("linear_epilogue", my_line)'))
    assert grade_notebook(lesson, nbformat.writes(book).encode(), "ann").challenge == RIGHT
    cell.source = "my_line = input()"
    result = grade_notebook(lesson, nbformat.writes(book).encode(), "ann")
    assert result.challenge == "" and "读不出来" in result.challenge_unread.zh
