"""The blank: taken whole, alone, and only if it may run."""

from __future__ import annotations

import ast

import pytest

from autograder.errors import CourseError
from autograder.grading.sandbox import syntax
from autograder.submission import names
from autograder.submission.admit import outside_names, refusal
from autograder.submission.fill import extract, program, read_exercise
from autograder.submission.source import NotPython, key, parse

SOURCE = '''\
LIMIT = 3


def f(x, n, memory=None):
    """Doc."""
    # TODO
    y = x + 1
    return ______


assert f(1, 2) == 4
'''


@pytest.fixture(scope="module")
def exercise():
    return read_exercise(SOURCE, "f")


def run(tree, *args):
    space = {}
    exec(compile(syntax.loads(syntax.dumps(tree)), "<f>", "exec"), space)
    return space["f"](*args)


@pytest.mark.parametrize(
    ("fill", "text"),
    [
        ("return y * n", "y * n"),
        ("return (\n        y\n        * n\n    )", "y\n        * n"),
        ("z = y * n\n    return z", "z = y * n\n    return z"),
        ("if n:\n        return y * n\n    return 0", "if n:\n        return y * n\n    return 0"),
    ],
)
def test_expression_or_statements(exercise, fill, text):
    taken = extract(exercise, SOURCE.replace("return ______", fill))
    assert (taken.problem, taken.text, taken.changed) == ("", text, [])
    assert run(program(exercise, taken), 1, 2) == 4


def test_text_with_wide_characters_is_cut_at_characters(exercise):
    taken = extract(exercise, SOURCE.replace("______", "'变量' and y  # 注释"))
    assert taken.text == "'变量' and y"


def bold(text):
    """Letters that NFKC, and so Python, takes for ASCII ones."""
    return "".join(chr(0x1D41A + ord(c) - 97) for c in text)


@pytest.mark.parametrize("odd", ["\u3000", "\u00a0", "\u200d"])
def test_text_inside_an_f_strings_braces_is_no_fault_of_the_grader(exercise, odd):
    """Before Python 3.12 ast.unparse cannot write such a tree."""
    taken = extract(exercise, SOURCE.replace("______", f"y * n + 0 * len(f\"{{'{odd}'}}{{y}}\")"))
    assert run(program(exercise, taken), 1, 2) == 4


@pytest.mark.parametrize("name", ["in", "del", "return", "yield", "lambda"])
def test_what_runs_is_the_tree_that_was_admitted(exercise, name):
    """A name that NFKC turns into a keyword is a name, as in the student's notebook."""
    taken = extract(exercise, SOURCE.replace("return ______", f"{bold(name)} = y * n\n    return {bold(name)}"))
    assert run(program(exercise, taken), 1, 2) == 4
    called = extract(exercise, SOURCE.replace("return ______", f"{bold(name)}(y * n)\n    return 0"))
    with pytest.raises(NameError):
        run(program(exercise, called), 1, 2)


@pytest.mark.parametrize(
    "text",
    [
        "x = (1, 2.5, -1j, 1e999, b'\\xff', 's\\ud800', None, True, ...)",
        "def f(a, /, *b, c=1, **d):\n    'doc'\n    return [*b, {**d}]",
        "x: int = f'{y!r:>{w}}'",
        "match a:\n    case [1, *r] if r:\n        pass",
        "with a as b, c: pass\ntry:\n    pass\nexcept (A, B) as e:\n    raise e from None\nelse:\n    del x[1:2, ...]",
    ],
)
def test_a_tree_comes_back_from_its_text(text):
    tree = ast.parse(text)
    assert ast.dump(syntax.loads(syntax.dumps(tree))) == ast.dump(tree)
    assert syntax.dumps(ast.parse(text + "  # comment\n")) == syntax.dumps(tree)


def test_only_the_blank_is_taken(exercise):
    theirs = (
        SOURCE.replace("return ______", "return y * n")
        .replace("y = x + 1", "y = 99")
        .replace("LIMIT = 3", "LIMIT = 4\nx = 5")
        + "\nf = lambda *a: 4\n"
    )
    taken = extract(exercise, theirs)
    out = ast.unparse(program(exercise, taken))
    assert "LIMIT = 3" in out and "lambda" not in out and "assert" not in out
    assert taken.changed == ["y = x + 1"]


def test_signature_changes_are_listed_and_do_not_count(exercise):
    taken = extract(exercise, SOURCE.replace("______", "y * n").replace("memory=None", "memory=[7]"))
    assert taken.changed and "memory=None" in ast.unparse(program(exercise, taken))


def test_decorators_docstrings_and_hints(exercise):
    hinted = extract(
        exercise,
        SOURCE.replace("______", "y * n")
        .replace("def f(x, n,", "def f(x: int, n: 'int',")
        .replace('"""Doc."""', '"""Mine."""'),
    )
    assert hinted.changed == []
    assert extract(exercise, SOURCE.replace("______", "y").replace("def f", "@print\ndef f")).changed


@pytest.mark.parametrize(
    ("theirs", "problem"),
    [
        (SOURCE, "unfilled"),
        (SOURCE.replace("    return ______\n", ""), "deleted"),
        (SOURCE.replace("return ______", "return ______ + 1"), "unfilled"),
        (SOURCE.replace("def f", "def g"), "no_function"),
        (SOURCE.replace("______", "y *"), "not_python"),
        ("", "no_function"),
        ("\0", "not_python"),
        ("%%bash\n" + SOURCE, "not_python"),
    ],
)
def test_nothing_to_take(exercise, theirs, problem):
    assert extract(exercise, theirs).problem == problem


STEP = """def f(state, n):
    a, b = state
    a, b = a - n, b + n
    done = ______
    if done:
        return (0, b)
    return (a, b)
"""


@pytest.mark.parametrize(
    ("above", "fill", "left_out"),
    [
        ("total = b + n", "a == 0 and total == 2", []),
        ("'a note'\n    import math\n    total = b + n", "a == 0 and math.floor(total) == 2", []),
        ("def zero(b):\n        return b == 0\n    total = [b for b in (b + n,)][0]", "zero(a) and total == 2", []),
        ("done = False\n    total = b + n", "done or a == 0 and total == 2", []),
        ("if n > 5:\n        return (9, 9)", "a == 0", []),
        ("if n == 1:\n        return (0, b + n)\n    else:\n        return (7, 7)", "______", []),
        ("b = 50", "a == 0", ["b = 50"]),
        ("n, total = 7, b + n\n    k = 1", "a == k - 1", ["n, total = 7, b + n"]),
        ("state[0] = 5", "a == 0", ["state[0] = 5"]),
        ("for a in (1, 2):\n        pass", "a == 0", ["for a in (1, 2):"]),
        ("(a := 3)", "a == 0", ["(a := 3)"]),
    ],
)
def test_own_statements_above_the_blank_are_graded_where_they_stand(above, fill, left_out):
    exercise = read_exercise(STEP, "f")
    theirs = STEP.replace("    a, b = a - n", f"    {above}\n    a, b = a - n").replace("______", fill)
    taken = extract(exercise, theirs)
    assert (taken.problem, taken.changed, taken.left_out) == ("", [], left_out)
    assert refusal(exercise, taken.statements) is None and not outside_names(exercise, taken.statements)
    tree = program(exercise, taken)
    assert run(tree, (1, 1), 1) == (0, 2)
    if not left_out:
        assert above.split("\n")[-1].strip() in taken.text
        assert extract(exercise, theirs.replace(above, above + "\n    pass")).key != taken.key
        space = {}
        exec(theirs.replace("    done = ______\n", ""), space)
        for state, n in (((3, 1), 1), ((9, 1), 9)):
            assert run(tree, state, n) == space["f"](state, n), "it runs as in the student's notebook"


def test_what_is_added_elsewhere_is_said_to_be_left_out():
    exercise = read_exercise(STEP, "f")
    taken = extract(
        exercise,
        STEP.replace("______", "a == 0").replace("    return (a, b)", "    a = 5\n    return (a, b)\n    b = 6"),
    )
    assert taken.left_out == ["b = 6", "a = 5"] and run(program(exercise, taken), (1, 1), 1) == (0, 2)
    assert not extract(
        exercise, STEP.replace("______", "a == 0").replace("a, b = state", "a = state[0]\n    b = state[1]")
    ).left_out, "it is told as a change"


def test_a_function_put_under_a_condition_is_found(exercise):
    under = SOURCE.replace("______", "y * n").replace("\n\nassert f(1, 2) == 4", "")
    body = "if True:\n" + "\n".join("    " + x for x in under.split("\n")[3:]) + "\nassert f(1, 2) == 4\n"
    assert extract(exercise, body).text == "y * n"


def test_of_two_functions_in_a_cell_the_last_counts(exercise):
    both = SOURCE.replace("______", "1") + "\n" + SOURCE.replace("______", "2")
    assert extract(exercise, both).text == "2"


@pytest.mark.parametrize(
    ("released", "theirs", "fill"),
    [
        (
            "def f(x):\n    if ______:\n        return 1\n    return 0\n",
            "def f(x):\n    if x > 2:\n        return 1\n    return 0\n",
            "x > 2",
        ),
        (
            "def f(x):\n    for i in range(3):\n        x += ______\n    return x\n",
            "def f(x):\n    for i in range(3):\n        x += i\n    return x\n",
            "i",
        ),
        ("def f(x):\n    return g(1, ______)\n", "def f(x):\n    return g(1, x)\n", "x"),
        (
            "def f(x):\n    while ______:\n        x -= 1\n    return x\n",
            "def f(x):\n    while x > 5:\n        x = 0\n    return x\n",
            "x > 5",
        ),
    ],
)
def test_blanks_elsewhere(released, theirs, fill):
    exercise = read_exercise(released, "f")
    taken = extract(exercise, theirs)
    assert (taken.problem, taken.text) == ("", fill)
    assert "______" not in ast.unparse(program(exercise, taken))


def test_a_block_under_the_blank_stays_the_released_one():
    exercise = read_exercise("def f(x):\n    while ______:\n        x -= 1\n    return x\n", "f")
    taken = extract(exercise, "def f(x):\n    while x > 5:\n        x = 0\n    return x\n")
    assert run(program(exercise, taken), 9) == 5 and taken.changed


@pytest.mark.parametrize(
    "source",
    [
        "def f(x):\n    return x\n",
        "def f(x):\n    return ______ + ______\n    y = ______\n",
        "def g(x):\n    return ______\n",
        "x = ______\ndef f(): pass\n",
        "def f(:\n",
    ],
)
def test_a_released_cell_without_exactly_one_blank_in_the_function_is_an_authors_error(source):
    with pytest.raises(CourseError):
        read_exercise(source, "f")


def admitted(exercise, fill):
    taken = extract(
        exercise, SOURCE.replace("    return ______", fill if fill.startswith("    ") else f"    return {fill}")
    )
    assert not taken.problem, taken.why
    return refusal(exercise, taken.statements)


@pytest.mark.parametrize(
    "fill",
    [
        "y * n if n else y", "max(y, n, LIMIT)", "np.where(n == 0, y, y * n)", "math.sqrt(y)", "numpy.float32(y).astype(np.float64)", "[y * v for v in range(n)]", "(lambda k: k + 1)(y)",
        "    import numpy as np\n    return np.exp(y)", "    from math import exp, nan as missing\n    return exp(y)", "    with np.errstate(all='ignore'):\n        return y / n",
        "    try:\n        return y / n\n    except (ZeroDivisionError, TypeError):\n        return 0", "    if not isinstance(n, int):\n        raise ValueError(f'{n:.3f}')\n    return y",
        "    out = np.zeros_like(y)\n    out[0] = n\n    return out", "    while n:\n        n -= 1\n    return y", "y @ n", "{**{'a': 1}}['a']", "(z := y) + z", "    match n:\n        case 0 | 1:\n            return y\n        case _:\n            return n",
        "    k = y\n    del k\n    return y", "    for __ in range(n):\n        y += 1\n    my__y = y\n    return my__y", "    match n:\n        case int() | float():\n            return y\n        case np.ndarray():\n            return n",
        "y if type(n) is int else n", "int(bin(n), 2) + len(hex(n) + oct(n))", "    import operator\n    from operator import xor\n    return operator.mul(xor(y, 1), n)", "np.ravel_multi_index((n, y), (8, 16))",
        "    from functools import reduce\n    from itertools import repeat\n    return reduce(lambda a, b: a * b, repeat(y, n), 1)", "    from typing import Tuple\n    from collections import Counter\n    return y",
        "    import sys\n    return min(y, sys.float_info.max)", "    from fractions import Fraction\n    return float(Fraction(y, n))", "np.vectorize(lambda a: a + 1)(y)",
        "    import warnings\n    with warnings.catch_warnings():\n        warnings.simplefilter('ignore')\n        return y / n",
    ],
)  # fmt: skip
def test_honest_fills_are_admitted(exercise, fill):
    assert admitted(exercise, fill) is None


@pytest.mark.parametrize(
    "fill",
    [
        "open('x')", "exec('1')", "eval('1')", "getattr(x, 'y')", "setattr(x, 'y', 1)", "globals()", "locals()", "vars()", "compile('1', '', 'eval')", "__import__('os')", "object()", "super()", "input()",
        "breakpoint()", "exit()", "memoryview(b'')", "bytearray(9)", "delattr(x, 'a')", "dir()", "id(x)", "hash(x)", "classmethod(x)", "BaseException()", "SystemExit", "KeyboardInterrupt",
        "x.__class__", "x.__dict__", "x._private", "x.f_back", "x.gi_frame", "x.tb_frame", "x.mro", "x.format(y)", "x.format_map(y)", "np.load('x')", "np.save('x', y)", "np.fromfile('x')", "np.memmap('x')",
        "np.frombuffer(x)", "np.ctypeslib", "np.lib", "np.core", "np.random", "np.testing", "np.f2py", "np.distutils", "np.frompyfunc(x, 1, 1)", "x.tofile('y')", "x.dump('y')", "x.dumps()", "x.ctypes",
        "x.data", "x.base", "x.setflags()", "math.__loader__", "(yield y)", "(yield from y)", "__name__", "__builtins__", "__debug__", "'x' * 1 if 0 else '" + "y" * 3000 + "'", str(1 << 5000), "[a for b in x for c in x for d in x for e in x for a in x]",
        "+".join(["y"] * 800), "    global LIMIT\n    LIMIT = 4\n    return y", "    class A: pass\n    return y", "    del x[0]\n    return y", "    del x.y\n    return y", "    import sys\n    return sys.modules", "    from sys import path\n    return y", "    import operator\n    return operator.attrgetter('x')(y)", "    from operator import methodcaller\n    return y", "    import os\n    return y", "    from os import path\n    return y", "    from numpy import load\n    return y",
        "    from math import *\n    return y", "    from . import x\n    return y", "    import numpy.lib\n    return y", "    x.shape = 3\n    return y", "    np.where = 3\n    return y", "    for np.pi in x: pass\n    return y",
        "    @print\n    def g(): pass\n    return y", "    async def g(): pass\n    return y", "    def __g__(): pass\n    return y", "    match n:\n        case int(real=z):\n            return z", "f'{y:>{n}}'", "f'{y:999999999999}'",
        "    try:\n        pass\n    except ValueError as __e:\n        pass\n    return y", "    import numpy as __np\n    return y", "x.__init_subclass__", "    x.__class__ = y\n    return y", "    with open('x') as g:\n        return y",
    ],
)  # fmt: skip
def test_everything_else_is_refused_in_plain_words(exercise, fill):
    why = admitted(exercise, fill)
    assert why is not None and why.zh and why.en


def test_names_from_elsewhere_are_told(exercise):
    taken = extract(exercise, SOURCE.replace("______", "helper(y) + LIMIT + np.pi + max(n, len([memory]))"))
    assert outside_names(exercise, taken.statements) == ["helper"] and refusal(exercise, taken.statements) is None


def test_no_allowed_name_opens_a_module_or_a_file():
    import importlib
    import types

    import numpy as np

    offered = [np, np.linalg, *map(importlib.import_module, names.MODULES)]
    opened = {n for o in offered for n in names.ATTRIBUTES if isinstance(getattr(o, n, None), types.ModuleType)}
    assert opened == {"linalg"}
    assert not any("__" in n for n in names.ATTRIBUTES | names.BUILTINS)
    dangerous = {
        "open",
        "exec",
        "eval",
        "compile",
        "getattr",
        "setattr",
        "delattr",
        "globals",
        "locals",
        "vars",
        "object",
        "super",
        "input",
        "breakpoint",
        "memoryview",
    }
    assert not dangerous & names.BUILTINS
    files = {
        "load",
        "save",
        "fromfile",
        "tofile",
        "memmap",
        "loadtxt",
        "savetxt",
        "genfromtxt",
        "dump",
        "dumps",
        "ctypes",
        "data",
        "base",
        "format",
        "format_map",
        "frombuffer",
        "setflags",
        "attrgetter",
        "methodcaller",
        "modules",
    }
    assert not files & names.ATTRIBUTES


@pytest.mark.parametrize(
    ("one", "two"),
    [("x == 6.", "x == 6"), ("assert x, 'm'", "assert x"), ("x:int=1", "x=1"), ("f( 1,2 )", "f(1, 2)"), ("'a'", '"a"')],
)
def test_keys_are_equal_where_the_meaning_is(one, two):
    assert key(parse(one).body[0]) == key(parse(two).body[0])


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("x == 6", "x != 6"),
        ("x == 1", "x == True"),
        ("x == 6", "x == '6'"),
        ("f(a)", "f(b)"),
        ("assert x", "assert x or 1"),
        ("x = 1", "x += 1"),
    ],
)
def test_keys_differ_where_the_meaning_does(one, two):
    assert key(parse(one).body[0]) != key(parse(two).body[0])


@pytest.mark.parametrize(
    "bomb",
    [
        "(" * 100_000,
        "-" * 100_000 + "1",
        "not " * 50_000 + "1",
        "lambda: " * 20_000 + "1",
        "x" + ".a" * 50_000,
        "[" * 59,
        "1" + "+1" * 90_000,
        "f(" * 59 + "1",
        "{a:" * 50 + "1",
        "9" * 100_000,
        "x = '" + "a" * 300_000,
    ],
)
def test_the_parser_survives_bombs(bomb):
    try:
        tree = parse(bomb)
    except NotPython as e:
        assert e.why.en and e.why.zh
    else:
        assert isinstance(tree, ast.Module) and key(tree.body[0])


def test_ipythons_own_lines_are_no_error():
    assert len(parse("%matplotlib inline\n!pip install x\nfiles = !ls\nprint?\nx = 5 % 2\n").body) == 5
    assert [type(s) for s in parse("%%time\nx = 1").body] == [ast.Assign]


def test_full_width_punctuation_is_named():
    with pytest.raises(NotPython) as e:
        parse("y = f（1，2）")
    assert "FULLWIDTH" in e.value.why.en and "半角" in e.value.why.zh


@pytest.mark.parametrize(
    "fill",
    [
        "result: object = y * n\n    return result",
        'result: "np.ndarray | Anything[0]" = y * n\n    return result',
        "result: open('/etc/passwd') = y * n\n    return result",
        "result: float\n    result = y * n\n    return result",
        "def inner(a: object, /, b: Any = 1, *c: list[object], d: vars() = 0, **e: object) -> object:\n        k: object = a\n        return k * n\n    return inner(y)",
        "if n:\n        for i in [1]:\n            with np.errstate():\n                try:\n                    r: object = y * n\n                except ValueError as e:\n                    r: object = 0\n    match n:\n        case 2:\n            return r\n    return (q := (lambda z: z)(0))",
    ],
)
def test_annotations_mean_nothing_and_are_not_run(exercise, fill):
    taken = extract(exercise, SOURCE.replace("return ______", fill))
    assert refusal(exercise, taken.statements) is None and outside_names(exercise, taken.statements) == []
    tree = program(exercise, taken)
    assert not any(
        isinstance(n, ast.AnnAssign) or getattr(n, "annotation", None) or getattr(n, "returns", None)
        for n in ast.walk(tree)
    )
    import numpy as np

    space = {"np": np}
    exec(compile(syntax.loads(syntax.dumps(tree)), "<f>", "exec"), space)
    assert space["f"](1, 2) == 4


def test_annotations_above_the_blank_are_taken_off_and_nothing_else_is(exercise):
    taken = extract(exercise, SOURCE.replace("y = x + 1", "k: object = n\n    y = x + 1").replace("______", "y * k"))
    assert refusal(exercise, taken.statements) is None and run(program(exercise, taken), 1, 2) == 4
    shown = extract(exercise, SOURCE.replace("return ______", "r: object = eval('1')\n    return r"))
    assert "eval" in refusal(exercise, shown.statements).en
    assert (
        "______" in SOURCE
        and extract(exercise, SOURCE.replace("return ______", "r: ______ = 1\n    return ______")).problem == "unfilled"
    )
    deep = (
        "if n == 0:\n        r: int = 0\n"
        + "".join(f"    elif n == {i}:\n        r: int = {i}\n" for i in range(1, 700))
        + "    return y * n"
    )
    assert "too long" in refusal(exercise, extract(exercise, SOURCE.replace("return ______", deep)).statements).en
