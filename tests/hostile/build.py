"""Hostile and odd submissions made from the released notebook, as cases.yml describes them."""

from __future__ import annotations

import json
from pathlib import Path

import nbformat
from ruamel.yaml import YAML

from autograder.lesson import Lesson
from autograder.lesson.model import ANSWER_SLOTS, BLANK
from autograder.release.notebook import student_notebook
from tests.hostile.cells import dump, part, put
from tests.hostile.edits import EDITS
from tests.hostile.files import FILES

HERE = Path(__file__).parent
RIGHT = "alpha * acc if beta == 0 else alpha * acc + beta * c"
ANSWER = {
    "zh": "{slot} 的诚实回答：beta 为 0 时不读 c，因为条件先于读取。",
    "en": "An honest answer to {slot}: when beta is 0 c is not read, because the condition comes first.",
}


def cases() -> dict[str, dict]:
    """cases.yml: name -> case. libyaml refuses its unpaired surrogate."""
    return YAML(typ="safe", pure=True).load((HERE / "cases.yml").read_text(encoding="utf-8"))


def honest(lesson: Lesson, lang: str, fill: str = RIGHT) -> dict:
    """The released notebook, filled in by an honest student and run: the measure of the odd ones."""
    nb = json.loads(nbformat.writes(student_notebook(lesson, lang)))
    for cell in nb["cells"]:
        cell["source"] = "".join(cell["source"])
    exercise = part(nb, "exercise")
    exercise["source"] = put(exercise["source"], fill)
    case = part(nb, "boundary_case")
    case["source"] = (
        case["source"]
        .replace(
            f"dict(acc={BLANK}, alpha={BLANK}, beta={BLANK}, c={BLANK})", "dict(acc=3.0, alpha=-2.0, beta=0.0, c=None)"
        )
        .replace(f"my_prediction = {BLANK}", "my_prediction = -6.0")
    )
    for slot in ANSWER_SLOTS:
        part(nb, slot)["source"] = ANSWER[lang].format(slot=slot)
    for n, cell in enumerate((c for c in nb["cells"] if c["cell_type"] == "code"), 1):
        cell["execution_count"] = n
    return nb


def build(lesson: Lesson, case: dict, folder: Path) -> Path | bytes:
    """What a case hands in: bytes, or a path where the file system matters."""
    lang = case.get("lang", "en")
    nb = honest(lesson, lang, case.get("fill", RIGHT))
    released = json.loads(nbformat.writes(student_notebook(lesson, lang)))
    result: dict | Path | bytes = nb
    for step in case.get("do", []):
        (name, value), *_ = (step if isinstance(step, dict) else {step: None}).items()
        result = (EDITS | FILES)[name](result, value, released, folder)
    return dump(result) if isinstance(result, dict) else result
