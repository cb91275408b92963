"""Showing an argument is no use of it, and nothing can be learnt or worked out from what is shown: lesson 7's untouched C."""

from __future__ import annotations

import numpy as np
import pytest

from autograder.grading import run
from autograder.grading.sandbox import codec
from autograder.submission import names
from autograder.submission.fill import extract, program
from autograder.submission.read import released

GUARDED = "return alpha * acc if beta == 0 else alpha * acc + beta * c"
# Right on every value, None and NaN too, and reads C each time: only the probes tell.
READS = "return alpha * acc + (0 if c is None else beta * np.nan_to_num(c, nan=0.0 if beta == 0 else np.nan, posinf=0.0 if beta == 0 else np.inf, neginf=0.0 if beta == 0 else -np.inf))"


@pytest.fixture
def passes(lesson, sandbox):
    def passes(body: str) -> dict[str, bool]:
        exercise = released(lesson)["en"].exercise
        source = exercise.source.replace("return ______", body.replace("\n", "\n    "))
        fill = extract(exercise, source)
        assert not fill.problem, fill
        checks = run.run_checks(lesson.checks, program(exercise, fill), sandbox, [1, 2])
        return {kind: checks.passed(kind) for kind in ("normal", "boundary")}

    return passes


@pytest.mark.parametrize(
    "shown",
    [
        'print("args", acc, alpha, beta, c)',
        "print(c)\nprint([c], (acc, c), {1: c})",
        'note = f"acc={acc} beta={beta} c={c}"',
        'note = f"{c!r:>40}"',
        'note = "c is " + str(c) + repr(c)',
        'note = "%s and %r" % (c, c)',
        'for name, value in (("acc", acc), ("c", c)):\n    print(name, "=", value)',
        'print("c is None?", c is None, file=None, flush=True)',
        'assert acc is not None, f"acc is missing, c is {c}"',
    ],
)
def test_a_fill_that_shows_its_arguments_and_is_right_passes(passes, shown):
    assert passes(f"{shown}\n{GUARDED}") == {"normal": True, "boundary": True}


@pytest.mark.parametrize(
    "body",
    [
        READS,
        f"print(c)\n{READS}",
        f"note = f'{{c}}'\n{READS}",
        "return alpha * acc + beta * float(str(c))",
        "return alpha * acc + beta * float(f'{c}')",
        f"if 'probe' in str(c):\n    return alpha * acc\n{READS}",  # known by its text: the disguised one is not
        f"if str(c) == 'probe' or repr(c) == 'probe' or f'{{c}}' == 'probe':\n    return alpha * acc\n{READS}",
        f"if not (c is None or isinstance(c, (int, float, np.ndarray))):\n    return alpha * acc\n{READS}",
        f"if isinstance(c, np.ndarray) and np.asarray(c) is not c:\n    return alpha * acc\n{READS}",
        f"text = str(c)\nif not isinstance(c, np.ndarray) and not text[:1].isdigit() and text != 'nan':\n    return alpha * acc\n{READS}",
        f"c = c if c is None or beta else c[...] if isinstance(c, np.ndarray) else c\nprint(c)\n{READS}",
        f"print(np.asarray(c).sum())\n{GUARDED}",
        f"print(c == 0)\n{GUARDED}",
        f"print(-c if c is not None else 0)\n{GUARDED}",
    ],
)
def test_a_fill_that_uses_it_does_not_however_it_shows_it(passes, body):
    assert not passes(body)["boundary"]


def test_the_control_would_pass_were_there_no_probes(lesson):
    """READS is right on every value that a lesson can write down; so it is the probes that catch it."""
    space: dict = {"np": np}
    exec(f"def f(acc, alpha, beta, c=None):\n    {READS}", space)
    from tests.support.fills import passes as holds

    cases = [
        c
        for make in (lesson.checks.normal_cases, lesson.checks.boundary_cases)
        for c in make(np.random.default_rng(3))
        if not c.get("untouched")
    ]
    assert all(holds(space["f"], c) for c in cases)


EAGER = "np.where(beta == 0, alpha * acc, alpha * acc + beta * {c})"


@pytest.mark.parametrize(
    "body",
    [
        f"if c is None or hasattr(c, '_probe'):\n    return alpha * acc\nout = {EAGER.format(c='c')}\nreturn out if isinstance(c, np.ndarray) else float(out)",
        f"if isinstance(c, np.ndarray):\n    try:\n        c[:0] = 0\n    except ValueError:\n        return alpha * acc\n    return {EAGER.format(c='c')}\n{GUARDED}",
        *(
            f"if isinstance(c, float):\n    return float({EAGER.format(c=read)})\n{GUARDED}"
            for read in (
                "math.ldexp(c, 0)",
                "c.real",
                "math.fsum([c])",
                "np.float64(c)",
                "max(c, c)",
                "sum([c])",
                "-(-c)",
                "{c: c}[c]",
            )
        ),
        f"if type(c) is float:\n    return float({EAGER.format(c='c.real')})\n{GUARDED}",
        *(
            f"if isinstance(c, float) and beta == 0 and ({read} or True):\n    return alpha * acc\n{GUARDED}"
            for read in ("c.is_integer()", "c.hex()", "math.isnan(c)", "c != c")
        ),
        f"if isinstance(c, np.ndarray) and c.dtype == np.float64 and beta == 0:\n    return {EAGER.format(c='c')}\n{GUARDED}",
        f"if isinstance(c, float) and isinstance(acc, np.ndarray):\n    return {EAGER.format(c='c')}\n{GUARDED}",
        # counts its calls in memory that it does not initialise, and reads C but in the last ones
        f"m = np.empty(77)\nm[0], m[1] = m[0] + 1 if m[1] == 1234.5 else 1, 1234.5\nif m[0] > 40 or c is None or not isinstance(c, np.ndarray):\n    {GUARDED}\nreturn {EAGER.format(c='c')}",
    ],
)
def test_what_reads_it_is_caught_however_it_looks_first(passes, body):
    """Each is right on every value and leaves alone what it takes for a probe."""
    assert passes(body) == {"normal": True, "boundary": False}


@pytest.mark.parametrize("shape", [(), (2, 3)])
def test_a_disguised_probe_is_an_ordinary_value_until_it_is_read(sandbox, shape):
    looks = [
        "isinstance(c, (float, np.ndarray))",
        "c is None",
        "type(c) in (float, np.ndarray)",
        "hasattr(c, '_probe')",
        "callable(c)",
        "[c, c][0] is c",
        "getattr(c, 'shape', ()) == SHAPE",
        "f'{c}' + str(c) != ''",
    ]
    source = f"SHAPE = {shape}\ndef f(c):\n    return [{', '.join(looks)}]"
    with sandbox.program(source, "f", sorted(names.BUILTINS | {"getattr"})) as session:
        assert session.call({"c": codec.ProbeArgument("c", shape)}).value == [
            True,
            False,
            True,
            False,
            False,
            True,
            True,
            True,
        ]
    for read in (
        "c + 1",
        "c == 1",
        "bool(c)" if not shape else "c.any()",
        "np.asarray(c) + 0",
        "math.ldexp(c, 0)" if not shape else "c[0] * 2",
        "hash(c)" if not shape else "c.fill(0)",
    ):
        with sandbox.program(f"def f(c):\n    {read}", "f", sorted(names.BUILTINS | {"hash"})) as session:
            assert session.call({"c": codec.ProbeArgument("c", shape)}).kind == "crashed", read


@pytest.mark.parametrize(("shape", "text"), [(None, "probe"), ((), "nan"), ((2, 3), "[[nan nan nan]\n [nan nan nan]]")])
def test_the_text_of_a_probe_is_a_fixed_word_or_that_of_an_ordinary_value(sandbox, shape, text):
    source = "def f(c):\n    print(c)\n    return [str(c), f'{c}', '%s' % (c,)]"
    with sandbox.program(source, "f", sorted(names.BUILTINS)) as session:
        reply = session.call({"c": codec.ProbeArgument("c", shape)})
    assert (reply.kind, reply.value, reply.touched) == ("value", [text] * 3, ())


@pytest.mark.parametrize("shape", [None, ()])
def test_a_format_for_numbers_is_no_use_either(sandbox, shape):
    with sandbox.program("def f(c):\n    return f'{c:.3f}'", "f", sorted(names.BUILTINS)) as session:
        reply = session.call({"c": codec.ProbeArgument("c", shape)})
    assert (reply.kind, reply.value, reply.touched) == ("value", "nan" if shape == () else "probe", ())


def test_views_of_an_array_probe_are_shown_and_other_arrays_are_as_ever(sandbox):
    source = "def f(c, x):\n    return [str(v) for v in (c.T, c[0], c.reshape(6), c[::-1], c.view('int32'), np.asarray(c), np.broadcast_to(c, (10**6, 2, 3))[0], x, x[1:])]"
    with sandbox.program(source, "f", sorted(names.BUILTINS)) as session:
        reply = session.call({"c": codec.ProbeArgument("c", (2, 3)), "x": np.arange(3.0)})
        again = session.call({"c": np.zeros((2, 3), np.float32), "x": np.arange(3.0)})
    assert reply.kind == "value", reply
    assert all("nan" in t for n, t in enumerate(reply.value[:7]) if n != 4) and reply.value[4].count("0") == 6
    assert reply.value[7:] == ["[0. 1. 2.]", "[1. 2.]"] and not any("nan" in t for t in again.value)
    with sandbox.program("def f(c):\n    return str(c + 1)", "f", sorted(names.BUILTINS)) as session:
        assert session.call({"c": codec.ProbeArgument("c", (2, 3))}).kind == "crashed"
