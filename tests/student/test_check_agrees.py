"""`course check` and `course grade` say the same of one notebook: ready is what earns all code points, loses no answer and waits for nobody.

Honest edits, as tools and people make them, and edits that cost something. A difference here is a student who is told to mend what is
right, or sent off with what is not.
"""

from __future__ import annotations

import copy
import gzip
import io
import json
import re
import unicodedata
import zipfile

import pytest

import autograder.answers
from autograder.commands.check import check_notebook
from autograder.errors import CourseError
from autograder.grading import grade_notebook
from autograder.lesson.model import ANSWER_SLOTS
from autograder.records import LinkFound, SlotScore
from autograder.release.data import student_lesson
from autograder.student.data import to_json
from tests.hostile.build import ANSWER, RIGHT, dump, honest, part, put

EDITS: dict[str, tuple] = {}  # name -> (what is made of the honest notebook, is it ready)


def edit(name: str, ready: bool = True):
    def keep(function):
        EDITS[name] = (function, ready)
        return function

    return keep


def code(name: str, change, ready: bool = True) -> None:
    """An edit of the exercise cell's text."""

    def made(nb):
        part(nb, "exercise")["source"] = change(part(nb, "exercise")["source"])
        return nb

    EDITS[name] = (made, ready)


def fill(name: str, text: str, ready: bool = True) -> None:
    code(name, lambda s: put(s.replace(f"return {RIGHT}", "return ______", 1), text), ready)


def answers(name: str, change, ready: bool = True) -> None:
    """An edit of each answer's cell."""

    def made(nb):
        for slot in ANSWER_SLOTS:
            change(part(nb, slot))
        return nb

    EDITS[name] = (made, ready)


def own_case(name: str, text: str, ready: bool = True) -> None:
    def made(nb):
        part(nb, "boundary_case")["source"] = text
        return nb

    EDITS[name] = (made, ready)


def file(name: str, change, ready: bool = True) -> None:
    EDITS[name] = (lambda nb: change(dump(nb)), ready)


def at(nb: dict, name: str) -> int:
    return nb["cells"].index(part(nb, name))


def cell(kind: str, source: str) -> dict:
    return {"cell_type": kind, "metadata": {}, "source": source} | (
        {"outputs": [], "execution_count": None} if kind == "code" else {}
    )


def zipped(name: str, data: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as z:
        z.writestr(name, data)
        z.writestr("__MACOSX/._" + name, b"\0\5")
    return out.getvalue()


# -- the exercise cell ------------------------------------------------------------------------------------------------------

code("as it is", lambda s: s)
code("an assert's message", lambda s: re.sub(r"assert (.*)", r'assert \1, "failed"', s))
code("an assert in brackets", lambda s: re.sub(r"assert (.*)", r"assert (\1)", s))
code("6 for 6.0", lambda s: s.replace("== 6.0", "== 6").replace("== 8.0", "== 8"))
code(
    "asserts in another order",
    lambda s: "\n".join(sorted(s.split("\n"), key=lambda x: x.startswith("assert") and -len(x))),
)
code("one assert more", lambda s: s + "\nassert linear_epilogue(1.0, 1.0, 1.0, 1.0) == 2.0")
code("an assert less", lambda s: re.sub(r"assert .*\n", "", s, count=1), ready=False)
code("an assert loosened", lambda s: s.replace("== 6.0", ">= 6.0"), ready=False)
code("an assert as a comment", lambda s: re.sub(r"^assert", "# assert", s, count=1, flags=re.M), ready=False)
code(
    "type hints",
    lambda s: s.replace(
        "(acc, alpha, beta, c=None):", "(acc: float, alpha: float, beta: float, c: float | None = None) -> float:"
    ),
)
code("a print at the end", lambda s: s + '\nprint("ok", linear_epilogue(1.0, 1.0, 1.0, 1.0))')
code("a call at the end", lambda s: s + "\nlinear_epilogue(1.0, 2.0, 3.0, 4.0)")
code("import numpy", lambda s: "import numpy as np\n" + s)
code("help", lambda s: s + "\nlinear_epilogue?")
code("%%time", lambda s: "%%time\n" + s)
code("!pip", lambda s: "!pip install numpy\n" + s)
code("tabs", lambda s: s.replace("    ", "\t"))
code("CRLF in the source", lambda s: s.replace("\n", "\r\n"))
code("a docstring", lambda s: s.replace("c=None):\n", 'c=None):\n    """Epilogue."""\n'))
code(
    "an old attempt as a comment",
    lambda s: s.replace("    return", "    # return alpha * acc + beta * c\n    return", 1),
)
code("a bracket open", lambda s: s.replace(f"return {RIGHT}", f"return ({RIGHT}"), ready=False)
code("the blank as it was", lambda s: s.replace(RIGHT, "______"), ready=False)
code("the statement gone", lambda s: s.replace(f"return {RIGHT}", "pass"), ready=False)
fill("two returns", "if beta == 0:\n    return alpha * acc\nreturn alpha * acc + beta * c")
fill("a local function", "def read():\n    return beta * c\nreturn alpha * acc if beta == 0 else alpha * acc + read()")
fill("a print of the arguments", f'print("args", acc, alpha, beta, c)\nreturn {RIGHT}')
fill("a note of the arguments", f'note = f"{{acc}} {{c}}"\nreturn {RIGHT}')
fill("no guard", "alpha * acc + beta * c", ready=False)
fill("a file opened", "open('x') or acc", ready=False)
fill("a name from another cell", "_combine(acc, alpha, beta, c)", ready=False)


@edit("asserts in the next cell")
def _(nb):
    exercise = part(nb, "exercise")
    first, asserts = exercise["source"].split("\n\n", 1)
    exercise["source"] = first
    nb["cells"].insert(at(nb, "exercise") + 1, cell("code", asserts))
    return nb


@edit("a second exercise cell that differs", ready=False)
def _(nb):
    other = copy.deepcopy(part(nb, "exercise"))
    other["source"] = other["source"].replace(RIGHT, "alpha * acc + (beta * c if beta else 0)")
    nb["cells"].insert(at(nb, "exercise") + 1, other | {"id": "other"})
    return nb


# -- cells ------------------------------------------------------------------------------------------------------------------


@edit("every cell twice")
def _(nb):
    nb["cells"] = [d for c in nb["cells"] for d in (c, copy.deepcopy(c) | {"id": c["id"] + "-2"})]
    return nb


@edit("no metadata and no ids")
def _(nb):
    nb["metadata"] = {}
    for c in nb["cells"]:
        c["metadata"] = {}
        c.pop("id")
    return nb


@edit("metadata and outputs that are null")
def _(nb):
    for c in nb["cells"]:
        c["metadata"] = None
        c.update({"outputs": None} if c["cell_type"] == "code" else {})
    return nb


@edit("metadata of the other language")
def _(nb):
    nb["metadata"]["course"]["lang"] = "zh" if nb["metadata"]["course"]["lang"] == "en" else "en"
    return nb


@edit("no format version")
def _(nb):
    return {"cells": nb["cells"]}


@edit("the setup cell gone")
def _(nb):
    nb["cells"].remove(part(nb, "setup"))
    return nb


@edit("a comment in the locked checks")
def _(nb):
    for name in ("normal", "boundary"):
        part(nb, name)["source"] = "# mine\n" + part(nb, name)["source"]
    return nb


@edit("the boundary check gone", ready=False)
def _(nb):
    nb["cells"].remove(part(nb, "boundary"))
    return nb


@edit("the normal check emptied", ready=False)
def _(nb):
    part(nb, "normal")["source"] = "pass"
    return nb


@edit("the exercise gone", ready=False)
def _(nb):
    nb["cells"].remove(part(nb, "exercise"))
    return nb


# -- the own case -----------------------------------------------------------------------------------------------------------

own_case("a dict", "my_case = {'acc': 3, 'alpha': -2.0, 'beta': 0.0, 'c': None}\nmy_prediction = -2.0 * 3")
own_case(
    "types and a print",
    "my_case: dict = dict(acc=3.0, alpha=-2.0, beta=0.0, c=np.nan)\nmy_prediction: float = -6\nprint(linear_epilogue(**my_case))",
)
own_case("arrays", "my_case = dict(acc=np.ones(3), alpha=2.0, beta=0.0, c=None)\nmy_prediction = [2.0, 2.0, 2.0]")
own_case("one number for an array", "my_case = dict(acc=np.ones(3), alpha=2.0, beta=0.0, c=None)\nmy_prediction = 2.0")
own_case(
    "a variable", "x = 3.0\nmy_case = dict(acc=x, alpha=-2.0, beta=0.0, c=None)\nmy_prediction = -6.0", ready=False
)
own_case(
    "worked out by the function",
    "my_case = dict(acc=3.0, alpha=-2.0, beta=0.0, c=None)\nmy_prediction = linear_epilogue(**my_case)",
    ready=False,
)
own_case(
    "a wrong prediction", "my_case = dict(acc=3.0, alpha=-2.0, beta=0.0, c=None)\nmy_prediction = 6.0", ready=False
)
own_case("a blank left", "my_case = dict(acc=3.0, alpha=-2.0, beta=0.0, c=______)\nmy_prediction = -6.0", ready=False)


@edit("the own case in two cells")
def _(nb):
    case = part(nb, "boundary_case")
    first, rest = case["source"].split("\nmy_prediction", 1)
    case["source"] = first
    nb["cells"].insert(at(nb, "boundary_case") + 1, cell("code", "my_prediction" + rest))
    return nb


# -- answers ----------------------------------------------------------------------------------------------------------------

answers("raw cells", lambda c: c.update(cell_type="raw"))
answers(
    "comments in a code cell", lambda c: c.update(cell("code", "\n".join("# " + x for x in c["source"].split("\n"))))
)
answers("a string in a code cell", lambda c: c.update(cell("code", f'"""\n{c["source"]}\n"""')))
answers("bare words in a code cell", lambda c: c.update(cell("code", c["source"])))
answers(
    "full width",
    lambda c: c.update(source="".join(chr(ord(x) + 0xFEE0) if "!" <= x <= "~" else x for x in c["source"])),
)
answers("quoted and bold", lambda c: c.update(source="> **" + c["source"] + "**"))
answers("empty", lambda c: c.update(source=""), ready=False)


@edit("answers in the questions' cells")
def _(nb):
    for slot in ANSWER_SLOTS:
        i = at(nb, slot)
        nb["cells"][i - 1]["source"] += "\n\n" + nb["cells"].pop(i)["source"]
    return nb


@edit("answers below the question's text, again")
def _(nb):
    for slot in ANSWER_SLOTS:
        i = at(nb, slot)
        nb["cells"][i]["source"] = (
            re.sub(r"[*`#$]", "", nb["cells"][i - 1]["source"]) + "\n\n" + nb["cells"][i]["source"]
        )
    return nb


@edit("answers in one headed cell")
def _(nb):
    text = ["**" + slot.upper() + "**\n\n" + nb["cells"].pop(at(nb, slot))["source"] for slot in ("q1", "q2", "q3")]
    nb["cells"].append(cell("markdown", "\n\n".join(text)))
    return nb


@edit("an answer's cell gone", ready=False)
def _(nb):
    nb["cells"].remove(part(nb, "q2"))
    return nb


@edit("three questions written over")
def _(nb):
    for slot in ("q1", "q2", "q3"):
        i = at(nb, slot)
        nb["cells"][i - 1]["source"], nb["cells"][i]["source"] = nb["cells"][i]["source"], ""
    return nb


# -- the file ---------------------------------------------------------------------------------------------------------------

file("UTF-16", lambda b: b.decode().encode("utf-16"))
file("GB18030", lambda b: b.decode().encode("gb18030"))
file("BOM and CRLF", lambda b: b"\xef\xbb\xbf" + b.replace(b"\n", b"\r\n"))
file("gzip", gzip.compress)
file("zip", lambda b: zipped("hw.ipynb", b))
file("nbformat 5 to come", lambda b: json.dumps(json.loads(b) | {"nbformat": 5}).encode())
file("cut off", lambda b: b[: len(b) // 2], ready=False)
file("a PDF", lambda b: b"%PDF-1.7\n\xe2\xe3", ready=False)


# -- both ways --------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def bundle(lesson, tmp_path_factory):
    folder = tmp_path_factory.mktemp("bundle")
    (folder / "lesson.json").write_text(to_json(student_lesson(lesson)), encoding="utf-8")
    for lang in ("zh", "en"):
        (folder / lang).mkdir()
    return folder


def squeeze(text: str) -> str:
    return re.sub(r"\W", "", unicodedata.normalize("NFKC", text)).casefold()


@pytest.fixture(autouse=True)
def text_scorer(monkeypatch):
    """Scoring is tested elsewhere. Here full points go to a text that holds the honest answer of that very slot."""

    def score_slot(slot, rubric, text, lang):
        found = squeeze(ANSWER[lang].format(slot=slot)) in squeeze(text)
        most = rubric.slots[slot].points
        links = [LinkFound(id=link.id, quote="", layer="rules") for link in rubric.slots[slot].links] if found else []
        return SlotScore(slot=slot, points=most if found else 0, max_points=most, lane="auto", links=links)

    monkeypatch.setattr(
        autograder.answers,
        "score_many",
        lambda items, rubric, **_: [score_slot(slot, rubric, text, lang) for slot, text, lang in items],
    )


@pytest.mark.parametrize(("number", "name"), list(enumerate(EDITS)), ids=list(EDITS))
def test_check_and_grade_agree(number, name, lesson, sandbox, bundle):
    make, ready = EDITS[name]
    lang = ("en", "zh")[number % 2]
    made = make(honest(lesson, lang))
    data = dump(made) if isinstance(made, dict) else made
    result = grade_notebook(lesson, data, "s", sandbox=sandbox)
    full = all(result.points[p] == n for p, n in lesson.rubric.points.model_dump().items())
    graded = (
        full
        and not result.veto
        and result.state != "UNGRADED"
        and not any(f.severity == "review" for f in result.findings)
    )
    assert graded is ready, (result.state, result.points, result.findings)
    path = bundle / lang / "Untitled1.ipynb"
    path.write_bytes(data)
    try:
        report = check_notebook(path)
    except CourseError as e:
        assert not ready and result.reasons[0].split(" / ")[lang == "en"] in str(e), e
    else:
        assert (report.open == 0) is ready, str(report)
        assert report.lang == lang and lesson.edition(lang).title in report.title
