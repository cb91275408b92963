"""Edits of a notebook's cells and metadata. Each takes (notebook, value from cases.yml, released notebook, folder) and returns the notebook."""

from __future__ import annotations

import copy
import json
import random
import re
from collections.abc import Callable

import nbformat

from autograder.lesson import load_lesson
from autograder.lesson.model import ANSWER_SLOTS
from autograder.lint.execute import solved_notebook
from autograder.release.notebook import student_notebook
from tests.hostile.cells import at, code, markdown, part, put, source_of

# -- edits of cells ---------------------------------------------------------------------------------------------------------


def _replace(nb, value, released, folder):
    for name, (old, new) in value.items():
        cell = part(nb, name)
        if old not in cell["source"]:
            raise AssertionError(f"{old!r} is not in {name}")
        cell["source"] = cell["source"].replace(old, new)
    return nb


def _edit(nb, value, released, folder):
    for name, source in value.items():
        part(nb, name)["source"] = source
    return nb


def _append(nb, value, released, folder):
    for name, text in value.items():
        part(nb, name)["source"] += "\n" + text
    return nb


def _prepend(nb, value, released, folder):
    for name, text in value.items():
        part(nb, name)["source"] = text + "\n" + part(nb, name)["source"]
    return nb


def _delete(nb, value, released, folder):
    for name in value:
        nb["cells"].remove(part(nb, name))
    return nb


def _code_first(nb, value, released, folder):
    nb["cells"].insert(0, code(value))
    return nb


def _code_after(nb, value, released, folder):
    for name, source in value.items():
        nb["cells"].insert(at(nb, name) + 1, code(source))
    return nb


def _markdown_after(nb, value, released, folder):
    for name, source in value.items():
        nb["cells"].insert(at(nb, name) + 1, markdown(source))
    return nb


def _flood(nb, value, released, folder):
    """A cell after Q1's: `first`, then `text` many times, then `then`."""
    source = value.get("first", "") + value["text"] * value["times"] + value.get("then", "")
    nb["cells"].insert(at(nb, "q1") + 1, (code if value["kind"] == "code" else markdown)(source))
    return nb


def _double(nb, value, released, folder):
    for name in value:
        nb["cells"].insert(at(nb, name) + 1, copy.deepcopy(part(nb, name)))
    return nb


def _double_with(nb, value, released, folder):
    for name, fill in value.items():
        twin = copy.deepcopy(part(nb, name))
        twin["source"] = put(source_of(released, name), fill)
        nb["cells"].insert(at(nb, name) + 1, twin)
    return nb


def _split_exercise(nb, value, released, folder):
    cell = part(nb, "exercise")
    head, _, tail = cell["source"].partition("\n\nassert")
    cell["source"] = head
    nb["cells"].insert(at(nb, "exercise") + 1, code("assert" + tail))
    return nb


def _merge(nb, value, released, folder):
    first, *others = value
    for name in others:
        other = part(nb, name)
        part(nb, first)["source"] += "\n\n" + other["source"]
        nb["cells"].remove(other)
    return nb


def _to_kind(nb, value, released, folder):
    for name, kind in value.items():
        cell = part(nb, name)
        cell["cell_type"] = kind
        for key in ("outputs", "execution_count"):
            cell.pop(key, None)
        if kind == "code":
            cell.update(outputs=[], execution_count=None)
    return nb


def _shuffle(nb, value, released, folder):
    random.Random(7).shuffle(nb["cells"])
    return nb


def _move_first(nb, value, released, folder):
    for name in value:
        cell = part(nb, name)
        nb["cells"].remove(cell)
        nb["cells"].insert(0, cell)
    return nb


def _answers_below(nb, value, released, folder):
    """value: markdown, code, or the code around each answer's text."""
    for slot in ANSWER_SLOTS:
        text = part(nb, slot)["source"]
        part(nb, slot)["source"] = source_of(released, slot)
        nb["cells"].insert(
            at(nb, slot) + 1,
            markdown(text) if value == "markdown" else code(value.replace("TEXT", text) if "TEXT" in value else text),
        )
    return nb


def _split_markdown(nb, value, released, folder):
    """Each paragraph and heading a cell of its own, without metadata: as Deepnote keeps a notebook."""
    cells = []
    for cell in nb["cells"]:
        cells += map(markdown, re.split(r"\n\n+", cell["source"])) if cell["cell_type"] == "markdown" else [cell]
    return _strip_metadata(nb | {"cells": cells}, value, released, folder)


def _answers_beside(nb, value, released, folder):
    for slot in ANSWER_SLOTS:
        part(nb, slot)["source"] = source_of(released, slot) + " " + part(nb, slot)["source"]
    return nb


def _answers_in_question(nb, value, released, folder):
    for slot in ANSWER_SLOTS:
        text = part(nb, slot)["source"]
        part(nb, slot)["source"] = source_of(released, slot)
        nb["cells"][at(nb, slot) - 1]["source"] += "\n\n" + text
    return nb


def _answers_headed_at_end(nb, value, released, folder):
    text = ""
    for slot, head in zip(ANSWER_SLOTS, ("Explanation", "Q1", "Q2", "Q3"), strict=True):
        text += f"## {head}\n\n{part(nb, slot)['source']}\n\n"
        nb["cells"].remove(part(nb, slot))
    nb["cells"].append(markdown(text))
    return nb


def _indent(nb, value, released, folder):
    for name in value:
        part(nb, name)["source"] = "\n".join("    " + line for line in part(nb, name)["source"].split("\n"))
    return nb


def _prompts(nb, value, released, folder):
    """As pasted from a session: Python's or IPython's prompts before each line."""
    for name, first, more in (
        (n, *(("In [3]: ", "   ...: ") if style == "ipython" else (">>> ", "... "))) for n, style in value.items()
    ):
        lines = part(nb, name)["source"].split("\n")
        part(nb, name)["source"] = "\n".join((more if line[:1] in (" ", "") else first) + line for line in lines)
    return nb


def _fence(nb, value, released, folder):
    """Markdown with the code in a block."""
    _to_kind(nb, dict.fromkeys(value, "markdown"), released, folder)
    for name in value:
        part(nb, name)["source"] = "```python\n" + part(nb, name)["source"] + "\n```"
    return nb


def _answers_over_questions(nb, value, released, folder):
    """Each answer typed over its question; the slot below stays as it was released."""
    for slot in ("q1", "q2", "q3"):
        nb["cells"][at(nb, slot) - 1]["source"] = part(nb, slot)["source"]
        part(nb, slot)["source"] = source_of(released, slot)
    return nb


def _answers_above_questions(nb, value, released, folder):
    for slot in ("q1", "q2", "q3"):
        n = at(nb, slot)
        nb["cells"][n - 1], nb["cells"][n] = nb["cells"][n], nb["cells"][n - 1]
    return nb


def _answers_in_one_slot(nb, value, released, folder):
    """All three in the slot `value`, each headed Q1: and so on."""
    text = "\n\n".join(f"{slot.upper()}: " + part(nb, slot)["source"] for slot in ("q1", "q2", "q3"))
    for slot in ("q1", "q2", "q3"):
        part(nb, slot)["source"] = text if slot == value else source_of(released, slot)
    return nb


def _answers_numbered_at_end(nb, value, released, folder):
    text = "\n\n".join(f"{n}. " + part(nb, slot)["source"] for n, slot in enumerate(("q1", "q2", "q3"), 1))
    nb["cells"] = [c for c in nb["cells"] if c["metadata"].get("course", {}).get("slot") not in ("q1", "q2", "q3")] + [
        code("1 + 1"),
        markdown(text),
    ]
    return nb


def _answers_far_below(nb, value, released, folder):
    """The text of these slots at the end of the notebook, without a heading."""
    texts = [part(nb, slot)["source"] for slot in value]
    for slot in value:
        part(nb, slot)["source"] = source_of(released, slot)
    nb["cells"] += [code("1 + 1"), *map(markdown, texts)]
    return nb


def _release(nb, value, released, folder):
    """The metadata name this release, or none."""
    nb["metadata"]["course"].pop("release")
    if value:
        nb["metadata"]["course"]["release"] = value
    return nb


# -- edits of metadata ------------------------------------------------------------------------------------------------------


def _strip_metadata(nb, value, released, folder):
    nb["metadata"] = {}
    for cell in nb["cells"]:
        cell["metadata"] = {}
        cell.pop("id", None)
    return nb


def _colab(nb, value, released, folder):
    _strip_metadata(nb, None, released, folder)
    nb["metadata"] = {"colab": {"provenance": []}, "kernelspec": {"name": "python3"}}
    nb["nbformat_minor"] = 0
    for n, cell in enumerate(nb["cells"]):
        cell["metadata"] = {"id": f"x{n}Qz", "colab": {"base_uri": "https://localhost:8080/"}}
    return nb


def _vscode(nb, value, released, folder):
    _strip_metadata(nb, None, released, folder)
    for cell in nb["cells"]:
        cell["metadata"] = {"vscode": {"languageId": "python"}}
        cell["source"] = cell["source"].splitlines(True)
    return nb


def _kaggle(nb, value, released, folder):
    _strip_metadata(nb, None, released, folder)
    nb["metadata"] = {"kaggle": {"accelerator": "none"}, "language_info": {"name": "python"}}
    for cell in nb["cells"]:
        cell["metadata"] = {"_uuid": "8f2839f25d086af736a60e9eeb907d3b93b6e0e5", "trusted": True}
    return nb


def _no_ids(nb, value, released, folder):
    for cell in nb["cells"]:
        cell.pop("id", None)
    nb["nbformat_minor"] = 2
    return nb


def _same_ids(nb, value, released, folder):
    for cell in nb["cells"]:
        cell["id"] = "exercise"
    return nb


def _same_grade_ids(nb, value, released, folder):
    for cell in nb["cells"]:
        if "nbgrader" in cell["metadata"]:
            cell["metadata"]["nbgrader"]["grade_id"] = "q1"
    return nb


def _swap_metadata(nb, value, released, folder):
    first, second = (part(nb, name) for name in value)
    first["metadata"], second["metadata"] = second["metadata"], first["metadata"]
    first["id"], second["id"] = second["id"], first["id"]
    return nb


def _set_metadata(nb, value, released, folder):
    for name, changes in value.items():
        part(nb, name)["metadata"]["nbgrader"].update(changes)
    return nb


def _nbformat3(nb, value, released, folder):
    cells = []
    for cell in nb["cells"]:
        if cell["cell_type"] == "code":
            cells.append(
                {
                    "cell_type": "code",
                    "input": cell["source"],
                    "prompt_number": 1,
                    "outputs": [{"output_type": "pyout", "text": ["6.0"], "prompt_number": 1}],
                    "language": "python",
                    "collapsed": False,
                    "metadata": {},
                }
            )
        elif cell["source"].startswith("#") and "\n" not in cell["source"]:
            level = len(cell["source"]) - len(cell["source"].lstrip("#"))
            cells.append(
                {"cell_type": "heading", "level": level, "source": [cell["source"].lstrip("# ")], "metadata": {}}
            )
        else:
            cells.append({"cell_type": "markdown", "source": cell["source"].splitlines(True), "metadata": {}})
    return {
        "metadata": {"name": "x"},
        "nbformat": 3,
        "nbformat_minor": 0,
        "worksheets": [{"cells": cells, "metadata": {}}],
    }


def _outputs(nb, value, released, folder):
    part(nb, "exercise")["outputs"] = value
    return nb


def _strip_outputs(nb, value, released, folder):
    for cell in nb["cells"]:
        if cell["cell_type"] == "code":
            cell.update(outputs=[], execution_count=None)
    return nb


def _many_cells(nb, value, released, folder):
    nb["cells"] += [markdown("")] * value
    return nb


def _long_answer(nb, value, released, folder):
    part(nb, "q3")["source"] += "\n" + "word " * (value // 5)
    return nb


def _other_lesson(nb, value, released, folder):
    """The notebook of another lesson of the course. value: its number; released: as it was handed out, else solved."""
    other, lang = load_lesson(str(value["number"])), nb["metadata"]["course"]["lang"]
    book = student_notebook(other, lang) if value.get("released") else solved_notebook(other, lang)
    nb = json.loads(nbformat.writes(book))
    for cell in nb["cells"]:
        cell["source"] = "".join(cell["source"])
    return nb


def _claim_lesson(nb, value, released, folder):
    """The metadata and the setup cell say it is another lesson's."""
    nb["metadata"].setdefault("course", {})["lesson"] = value
    setup = next(c for c in nb["cells"] if "start(" in c["source"])
    setup["source"] = re.sub(r'start\("\w+"', f'start("{value}"', setup["source"])
    return nb


def _big_outputs(nb, value, released, folder):
    part(nb, "exercise")["outputs"] = [
        {"output_type": "display_data", "data": {"image/png": "A" * (value << 20)}, "metadata": {}}
    ]
    return nb


def _big_commas(nb, value, released, folder):
    """Millions of commas in printed text are not millions of values."""
    part(nb, "exercise")["outputs"] = [{"output_type": "stream", "name": "stdout", "text": "," * (value << 20)}]
    return nb


def _keep_own(nb, value, released, folder):
    """Nothing but the cells that a student writes in."""
    own = [part(nb, name) for name in ("exercise", "boundary_case", *ANSWER_SLOTS)]
    nb["cells"] = [c for c in nb["cells"] if any(c is o for o in own)]
    return nb


def _long_text(nb, value, released, folder):
    """5 MB of text in a variable of the exercise cell, above its asserts or below."""
    cell, text = part(nb, "exercise"), "x = '" + "a" * 5_000_000 + "'"
    cell["source"] = (
        f"{cell['source']}\n{text}" if value == "below" else cell["source"].replace("\nassert", f"\n{text}\nassert", 1)
    )
    return nb


EDITS: dict[str, Callable] = {
    "replace": _replace, "edit": _edit, "append": _append, "prepend": _prepend, "delete": _delete, "code_first": _code_first,
    "code_after": _code_after, "markdown_after": _markdown_after, "flood": _flood, "double": _double, "double_with": _double_with,
    "split_exercise": _split_exercise, "merge": _merge, "to_kind": _to_kind, "shuffle": _shuffle, "move_first": _move_first,
    "answers_below": _answers_below, "answers_beside": _answers_beside, "answers_in_question": _answers_in_question,
    "answers_headed_at_end": _answers_headed_at_end, "strip_metadata": _strip_metadata, "colab": _colab, "vscode": _vscode, "kaggle": _kaggle,
    "no_ids": _no_ids, "same_ids": _same_ids, "same_grade_ids": _same_grade_ids, "swap_metadata": _swap_metadata, "set_metadata": _set_metadata,
    "nbformat3": _nbformat3, "outputs": _outputs, "strip_outputs": _strip_outputs, "many_cells": _many_cells, "long_answer": _long_answer,
    "other_lesson": _other_lesson, "claim_lesson": _claim_lesson, "big_outputs": _big_outputs, "big_commas": _big_commas, "indent": _indent,
    "prompts": _prompts, "fence": _fence, "answers_over_questions": _answers_over_questions, "answers_above_questions": _answers_above_questions,
    "answers_in_one_slot": _answers_in_one_slot, "answers_numbered_at_end": _answers_numbered_at_end, "answers_far_below": _answers_far_below,
    "release": _release, "split_markdown": _split_markdown, "keep_own": _keep_own, "long_text": _long_text,
}  # fmt: skip
