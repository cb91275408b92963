"""A cell's source read as a syntax tree."""

import ast
import time

import pytest

from autograder.submission import source as module


def test_a_fault_of_the_interpreter_is_tried_once_more(monkeypatch):
    real, calls = module.ast.parse, []

    def faulty(text, *args, **kwargs):
        calls.append(text)
        if len(calls) == 1:
            raise SystemError("AST constructor recursion depth mismatch (before=63, after=66)")
        return real(text, *args, **kwargs)

    monkeypatch.setattr(module.ast, "parse", faulty)
    assert module._parse("x = 1").body and len(calls) == 2


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("    x = 1\n    if x:\n        y = 2", ["x = 1", "if x:\n    y = 2"]),
        (">>> def f(x):\n...     return x  # 变量\n...\n>>> f(1)", ["def f(x):\n    return x", "f(1)"]),
        ("In [3]: def f(x):\n   ...:     return x\n   ...: \nIn [4]: f(1)", ["def f(x):\n    return x", "f(1)"]),
        ("%%time\n\n  x = 1\n  y = 2", ["x = 1", "y = 2"]),
        ("\n\n  x = '''\n  a'''\n", ["x = '''\na'''"]),  # IPython takes the indent off what stands inside a text too
    ],
)
def test_a_cell_is_read_as_ipython_runs_it(text, pieces):
    """Indent of the whole cell and prompts of a pasted session come off, and what is quoted is quoted from where it stands."""
    tree = module.parse(text)
    assert [module.segment(text, [s]) for s in tree.body] == pieces
    assert module.as_run(module.as_run(text)) == module.as_run(text) and module.as_run(text).count("\n") == text.count(
        "\n"
    )


@pytest.mark.parametrize(
    ("text", "runs"),
    [
        ("%time check('a')", "pass\ncheck('a')"),
        ("r = %timeit -n 10 -r3 f(2)", "r = f(2)"),
        ("x = 1\n%matplotlib inline", "x = 1\npass"),
        ("%time if x: pass", "pass"),
    ],
)
def test_what_a_timing_magic_runs_is_there(text, runs):
    tree = module.parse(text)
    assert ast.unparse(tree) == runs
    call = next((n for n in ast.walk(tree) if isinstance(n, ast.Call)), None)
    assert call is None or text[call.col_offset :].startswith(ast.unparse(call.func))


@pytest.mark.parametrize(
    "text", ["def f(:", "    x = 1\n  y = 2", ">>> f()\nprinted text", "In [1]: x\nOut[1]: two words"]
)
def test_what_ipython_does_not_run_either_is_not_python(text):
    with pytest.raises(module.NotPython) as told:
        module.parse(text)
    assert told.value.why.zh and told.value.why.en


@pytest.mark.parametrize(
    "text",
    [
        ")\n" + " " * 190_000 + "x",
        "%time" + " -a 1" * 30_000,
        "%%time\n" * 25_000,
        ">>> " * 40_000,
        "\n" * 190_000,
        "...: " * 30_000,
    ],
)
def test_odd_long_cells_are_read_in_linear_time(text):
    start = time.perf_counter()
    try:
        module.parse(text)
    except module.NotPython:
        pass
    assert time.perf_counter() - start < 5
