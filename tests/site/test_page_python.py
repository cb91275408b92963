"""The page's Python says what the notebook's check() says: of every lesson's right fill, of fills that are nearly right, of own cases.

Held to CPython, fill by fill: the same items in the same words, but for an exception's own wording. Where the page's Python lacks
something it says so ("unsure"), and never gives a verdict of its own.
"""

from __future__ import annotations

import functools
import importlib
import json
import re
from contextlib import suppress

import numpy as np
import pytest

from autograder.lint.hidden import equivalent_fills, solution_fill
from autograder.lint.mutants import wrong_fills
from autograder.release.data import student_lesson
from autograder.student.data import StudentLesson
from autograder.student.visible import OFFERED, check_function, check_own_case
from tests.lessons.lessons import SLUGS, lesson
from tests.site.bare import bare_site
from tests.support.browser import chromium, served

pytestmark = pytest.mark.browser
BLANK = "______"
_WORDING = re.compile(r"(\w+(?:Error|Exception|Iteration))(?:: [^\n]*?)?([.。]?)$")
RUN = """async ([cells, cases]) => {
  const out = [];
  for (const [i, cell] of cells.entries())
    out.push(await coursePython.run({cell, case: cases ? cases[i] : null, plan: courseDo.plan, words: courseWords}));
  return out;
}"""


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """open(slug, lang): a page in which coursePython is there; pages are kept for the module."""
    out = bare_site(tmp_path_factory.mktemp("bare"), [lesson(slug) for slug in SLUGS])
    with served(out) as address, chromium() as browser:
        kept = {}

        def opened(slug, lang="en"):
            if (slug, lang) not in kept:
                kept[slug, lang] = browser.new_page()
                kept[slug, lang].goto(f"{address}{lang}/{slug}/index.html")
            return kept[slug, lang]

        yield opened


@functools.cache
def released(slug: str) -> StudentLesson:
    return student_lesson(lesson(slug))


def _texts(value) -> list[str]:
    """The fills that a lesson's own tests list, in whatever form."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [t for v in value.values() for t in _texts(v)]
    if isinstance(value, (list, tuple)):
        return (
            _texts(value[0])
            if len(value) == 2 and not isinstance(value[1], str)
            else [t for v in value for t in _texts(v)]
        )
    return []


def fills(slug: str) -> list[str]:
    """The right fill, those of the lesson's tests, and those made by machine."""
    made = lesson(slug)
    exercise = released(slug).part("exercise", "en").source
    solution = made.edition("en").with_role("solution")[0].source
    right = solution_fill(exercise, solution, made.checks.function)
    listed = []
    with suppress(ModuleNotFoundError):
        own = importlib.import_module(f"tests.lesson{made.number:02d}.test_checks")
        listed = [t for name in ("RIGHT", "WRONG") for t in _texts(getattr(own, name, ()))]
    machine = wrong_fills(right, exercise, made.checks.function, equivalent_fills(made.checks))
    return list(dict.fromkeys([right, *listed, *machine]))


def cell(slug: str, lang: str, fill: str) -> str | None:
    """The released cell with the fill, None where that is no Python; statements stand in place of the line."""
    source = released(slug).part("exercise", lang).source
    line = next(x for x in source.split("\n") if BLANK in x)
    if "\n" in fill or fill.startswith(("return ", "if ", "try")):
        indent = line[: len(line) - len(line.lstrip())]
        body = "\n".join(x if i == 0 or x.startswith(indent) else indent + x for i, x in enumerate(fill.split("\n")))
        text = source.replace(line, indent + body)
    else:
        text = source.replace(BLANK, fill)
    try:
        compile(text, "<cell>", "exec")
    except SyntaxError:
        return None
    return text


def notebook_says(slug: str, lang: str, text: str) -> list[list[str]]:
    """What check("normal") lists after this cell was run."""
    told = released(slug)
    space: dict = {"__name__": "exercise", **OFFERED}
    with np.errstate(all="ignore"):
        with suppress(Exception):
            exec(compile(text, "<cell>", "exec"), space)
        items = check_function(space.get(told.function), told.function, told.part("exercise", lang).source, lang)
    return [[i.status, _same(i.text), i.code] for i in items]


def _same(text: str) -> str:
    """An exception's wording is the interpreter's own."""
    return _WORDING.sub(r"\1\2", text)


def _said(items: list) -> list[list[str]]:
    return [[status, _same(text), code] for status, text, code in items]


@pytest.mark.parametrize("slug", SLUGS)
def test_every_fill_is_told_as_in_the_notebook(pages, slug, capsys):
    texts = [t for t in (cell(slug, "en", f) for f in fills(slug)) if t is not None]
    answers = pages(slug).evaluate(RUN, [texts, None])
    unsure, different = [], []
    for text, got in zip(texts, answers, strict=True):
        if any(code == "unsure" for _, _, code in got.get("items", ())):
            unsure.append(text)
        elif _said(got["items"]) != (wanted := notebook_says(slug, "en", text)):
            different.append((text, got["items"], wanted))
    with capsys.disabled():
        print(
            f"\n  {slug}: {len(texts)} fills, {len(texts) - len(unsure)} told, {len(unsure)} not tried in the page",
            end="",
        )
    assert not different, json.dumps(different[:3], indent=1)
    assert texts[0] not in unsure  # the lesson's own solution
    assert len(texts) >= 20 and len(unsure) < len(texts) / 2


@pytest.mark.parametrize("slug", SLUGS)
@pytest.mark.parametrize("lang", ["zh", "en"])
def test_the_solution_and_the_empty_blank_in_both_languages(pages, slug, lang):
    right = cell(slug, lang, fills(slug)[0])
    empty = released(slug).part("exercise", lang).source
    solved, blank = pages(slug, lang).evaluate(RUN, [[right, empty], None])
    assert _said(solved["items"]) == notebook_says(slug, lang, right)
    assert {status for status, _, _ in solved["items"]} == {"ok"}
    assert _said(blank["items"]) == notebook_says(slug, lang, empty)


def _cases(slug: str) -> list[str]:
    """Texts of the own case's cell: the lesson's own boundary inputs with the right and a wrong prediction, inputs that an assert shows,
    and cells that are no case."""
    checks, empty = lesson(slug).checks, released(slug).part("boundary_case", "en").source
    plain = lambda v: v is None or isinstance(v, (int, float, str, tuple)) and not isinstance(v, np.generic)  # noqa: E731
    spell = lambda v: f'float("{v}")' if isinstance(v, float) and not np.isfinite(v) else repr(v)  # noqa: E731
    out = [
        empty,
        "my_case = 3\nmy_prediction = 4",
        "my_case = dict(nobody=1)\nmy_prediction = 4",
        "my_case = dict(",
        "my_case = dict(a=1)",
    ]
    for case in checks.boundary_cases(np.random.default_rng(5)) + checks.normal_cases(np.random.default_rng(5)):
        if all(map(plain, case["args"].values())):
            given = ", ".join(f"{k}={spell(v)}" for k, v in case["args"].items())
            with np.errstate(all="ignore"):
                result = checks.reference(**case["args"])
            result = result.item() if isinstance(result, np.generic) else result
            for predicted in (result, [result], None, 17, result if isinstance(result, tuple) else result * (1 + 1e-9)):
                out.append(f"my_case = dict({given})\nmy_prediction = {spell(predicted)}")
    return out


def _notebook_case(slug: str, lang: str, exercise: str, text: str) -> list[list[str]]:
    """What check("boundary") lists after both cells were run."""
    told = released(slug)
    space: dict = {"__name__": "exercise", **OFFERED}
    exec(exercise, space)
    with suppress(Exception):
        exec(text, space)
    there = "my_case" in space and "my_prediction" in space
    names = (space.get("my_case"), space.get("my_prediction"), space[told.function], told.function)
    items = check_own_case(*names, told.part("exercise", lang).source, lang, written=there)
    return [[i.status, _same(i.text), i.code] for i in items]


@pytest.mark.parametrize("slug", SLUGS)
def test_own_cases_are_told_as_in_the_notebook(pages, slug):
    exercise = cell(slug, "en", fills(slug)[0])
    cases = _cases(slug)
    answers = pages(slug).evaluate(RUN, [[exercise] * len(cases), cases])
    for text, got in zip(cases, answers, strict=True):
        if not text.startswith("my_case = dict(nobody") and text not in ("my_case = dict(", "my_case = dict(a=1)"):
            assert _said(got["case"]) == _notebook_case(slug, "en", exercise, text), text
        assert not any(status == "ok" for status, _, _ in got["case"]), text  # no tick for what may earn no point
    assert len(cases) > 20


EXPRESSIONS = """
np.ceil(14.2) | np.ceil(-0.5) | np.ceil(0.0) | np.ceil(-0.0) | np.ceil(float("inf")) | np.floor(-2.5) | np.ceil([1.5, -1.5]).tolist()
np.array([1, 2.5]).tolist() | np.array([1, 2]).tolist() | (np.array([1, 2]) * 2).tolist() | (np.array([1, 2]) * 2.0).tolist() | (np.array([1, 2]) / 2).tolist()
(3e12 * np.array([5e-7, 0.0])).tolist() | (np.array([5e-7, 0.0]) * 3e12).tolist() | (1.0 - np.array([1.0, 3.0])).tolist() | (-np.array([1.0, -0.0])).tolist()
(1 / np.array([2.0, 0.0, -0.0])).tolist() | (0 / np.array([0.0, 1.0])).tolist() | (np.array([1.0, 2.0]) + np.array([10.0])).tolist()
np.float64(2.5) * 3 | np.float64(2.5) / 0 | 1 / np.float64(0.0) | -np.float64(0.0) | np.float64(1e22) | np.float64(0.1) + 0.2 | abs(np.float64(-3.0)) | 2 - np.float64(0.5)
np.ceil(3.7) == 4 | np.ceil(3.7) < 4 | (np.array([1.0, 2.0]) == 1).tolist() | (np.array([1.0, 2.0]) > np.array([0.0, 3.0])).tolist()
np.where(np.array([1.0, 0.0]) == 0, 7.0, np.array([3.0, 4.0])).tolist() | np.where(np.equal(np.array([0.0, 2.0]), 0), 0, 5).tolist()
np.maximum(np.array([1.0, np.nan, 3.0]), 2.0).tolist() | np.minimum(1.5, 2.5) | np.maximum(np.nan, 1.0) | np.sqrt(2.0) | np.sqrt(-1.0) | np.sqrt(np.array([4.0, 9.0])).tolist()
np.multiply(2.0e12, 5.0e-7) | np.multiply(2.0, np.array([1.5, -0.0])).tolist() | np.add(1.0, 2.5) | np.divide(1.0, 0.0) | np.subtract(1.5, np.array([1.0])).tolist()
np.asarray([1, 2], dtype=float).tolist() | len(np.array([1.0, 2.0])) | np.array([1.0, 2.0]).shape | np.array([4.0, 5.0])[1] | np.array([4.0, 5.0])[()].tolist()
np.ceil(1.5).item() | np.ceil(1.5).tolist() | np.ceil(1.5)[()] | [x for x in np.array([1.5, 2.5])] | np.ndim(3.0) | np.ndim(np.array([1.0])) | np.isscalar(2.0)
np.array([3.0, 4.0])[:1].tolist() | np.array([0.0, 1.0]).all() | np.array([0.0, 1.0]).any() | np.pi | np.inf | np.array([2**62, 1]).tolist()
""".replace("\n", "|").split("|")


def test_the_little_numpy_gives_what_numpy_gives(pages):
    texts = [t for x in EXPRESSIONS if (t := x.strip())]
    assert len(texts) > 60
    plan = {
        "function": "f",
        "prelude": "import numpy as np",
        "checks": [{"text": "False", "left": t} for t in texts],
        "shown": [],
    }
    run = "([plan, cell]) => coursePython.run({cell, case: null, plan, words: courseWords})"
    got = pages(SLUGS[0]).evaluate(run, [plan, "def f():\n    pass"])
    for text, (_, said, _) in zip(texts, got["items"], strict=True):
        with np.errstate(all="ignore"):
            value = eval(text, {"np": np})
        wanted = repr(bool(value)) if isinstance(value, np.bool) else repr(value)
        assert said == f"False: got {wanted}.", text


@pytest.mark.parametrize(
    "text",
    ["np.fft.fft([1.0])", "np.array([[1.0]])", "np.array([2**62]) * 2", "np.zeros(3)",
        "np.ceil(5)", "np.array([1])[0]", "np.array([1.0])[np.array([0])]",
     "np.float32(1.5)", "2 < np.array([1.0, 3.0])", "np.where(True, 1.0, 2.0)", "math.fsum([0.1] * 10)", "round(2.675, 2)", "(5).bit_length()"],
)  # fmt: skip
def test_what_the_page_lacks_is_said_and_never_judged(pages, text):
    plan = {"function": "f", "prelude": "", "checks": [{"text": "f() == 1", "left": "f()"}], "shown": []}
    run = "([plan, cell]) => coursePython.run({cell, case: null, plan, words: courseWords})"
    got = pages(SLUGS[0]).evaluate(run, [plan, f"def f():\n    return {text}"])
    assert [(status, code) for status, _, code in got["items"]] == [("note", "unsure")]
    assert "see what the notebook says" in got["items"][0][1]


def test_floats_are_written_as_python_writes_them(pages):
    rng = np.random.default_rng(11)
    drawn = [
        float(f"{m:.{d}g}")
        for m, d in zip(10.0 ** rng.uniform(-320, 308, 300) * rng.choice([-1, 1], 300), rng.integers(1, 18, 300))
    ]
    edges = [
        0.1 + 0.2,
        64.000000064,
        0.0006423,
        1e16,
        1e15,
        9999999999999998.0,
        1e-4,
        9.9e-5,
        5e-324,
        1.7976931348623157e308,
        1e22,
        -0.0,
        100.0,
    ]
    values = [*edges, *drawn]
    plan = {"function": "f", "prelude": "", "shown": [], "checks": [{"text": "False", "left": repr(v)} for v in values]}
    run = "([plan, cell]) => coursePython.run({cell, case: null, plan, words: courseWords})"
    got = pages(SLUGS[0]).evaluate(run, [plan, "def f():\n    pass"])
    assert [said for _, said, _ in got["items"]] == [f"False: got {v!r}." for v in values]
