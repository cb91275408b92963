"""Hostile and odd submissions made from the released notebook, as cases.yml describes them."""

from __future__ import annotations

import copy
import gzip
import io
import json
import os
import random
import re
import zipfile
from collections.abc import Callable
from pathlib import Path

import nbformat
from ruamel.yaml import YAML

from autograder.lesson import Lesson, load_lesson
from autograder.lesson.model import ANSWER_SLOTS, BLANK
from autograder.lint.execute import solved_notebook
from autograder.release.notebook import student_notebook

HERE = Path(__file__).parent
RIGHT = "alpha * acc if beta == 0 else alpha * acc + beta * c"
ANSWER = {"zh": "{slot} 的诚实回答：beta 为 0 时不读 c，因为条件先于读取。", "en": "An honest answer to {slot}: when beta is 0 c is not read, because the condition comes first."}


def cases() -> dict[str, dict]:
    """cases.yml: name -> case."""
    return YAML(typ="safe").load((HERE / "cases.yml").read_text(encoding="utf-8"))


def honest(lesson: Lesson, lang: str, fill: str = RIGHT) -> dict:
    """The released notebook, filled in by an honest student and run: the measure of the odd ones."""
    nb = json.loads(nbformat.writes(student_notebook(lesson, lang)))
    for cell in nb["cells"]:
        cell["source"] = "".join(cell["source"])
    exercise = part(nb, "exercise")
    exercise["source"] = put(exercise["source"], fill)
    case = part(nb, "boundary_case")
    case["source"] = case["source"].replace(f"dict(acc={BLANK}, alpha={BLANK}, beta={BLANK}, c={BLANK})", "dict(acc=3.0, alpha=-2.0, beta=0.0, c=None)").replace(f"my_prediction = {BLANK}", "my_prediction = -6.0")
    for slot in ANSWER_SLOTS:
        part(nb, slot)["source"] = ANSWER[lang].format(slot=slot)
    for n, cell in enumerate((c for c in nb["cells"] if c["cell_type"] == "code"), 1):
        cell["execution_count"] = n
    return nb


def put(source: str, fill: str) -> str:
    """An expression in the blank; several lines, or a statement, in place of the statement that holds it."""
    if "\n" not in fill and not fill.startswith(("return", "if ", "while", "for ", "import", "raise", "global", "try", "pass", "del ", "class", "def ", "from ", "assert", "acc", "yield", "np.")):
        return source.replace(BLANK, fill, 1)
    lines = []
    for line in source.split("\n"):
        indent = line[: len(line) - len(line.lstrip())]
        lines += [indent + x for x in fill.rstrip("\n").split("\n")] if BLANK in line else [line]
    return "\n".join(lines)


def part(nb: dict, name: str) -> dict:
    """The cell of a part, by the released metadata."""
    for cell in nb["cells"]:
        course, grade_id = cell["metadata"].get("course", {}), cell["metadata"].get("nbgrader", {}).get("grade_id")
        if name in (course.get("slot"), course.get("check"), grade_id, cell.get("id")):
            return cell
    raise KeyError(name)


def build(lesson: Lesson, case: dict, folder: Path) -> Path | bytes:
    """What a case hands in: bytes, or a path where the file system matters."""
    lang = case.get("lang", "en")
    nb = honest(lesson, lang, case.get("fill", RIGHT))
    released = json.loads(nbformat.writes(student_notebook(lesson, lang)))
    result: dict | Path | bytes = nb
    for step in case.get("do", []):
        (name, value), *_ = (step if isinstance(step, dict) else {step: None}).items()
        operation = OPERATIONS[name]
        result = operation(result, value, released, folder)
    return dump(result) if isinstance(result, dict) else result


def dump(nb: dict) -> bytes:
    return json.dumps(nb, ensure_ascii=False, indent=1).encode("utf-8", "surrogatepass")


def _markdown(source: str) -> dict:
    return {"cell_type": "markdown", "metadata": {}, "source": source}


def _code(source: str) -> dict:
    return {"cell_type": "code", "metadata": {}, "source": source, "outputs": [], "execution_count": None}


def _at(nb: dict, name: str) -> int:
    return next(i for i, c in enumerate(nb["cells"]) if c is part(nb, name))


def _source_of(released: dict, name: str) -> str:
    return "".join(part(released, name)["source"])


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
    nb["cells"].insert(0, _code(value))
    return nb


def _code_after(nb, value, released, folder):
    for name, source in value.items():
        nb["cells"].insert(_at(nb, name) + 1, _code(source))
    return nb


def _markdown_after(nb, value, released, folder):
    for name, source in value.items():
        nb["cells"].insert(_at(nb, name) + 1, _markdown(source))
    return nb


def _flood(nb, value, released, folder):
    """A cell after Q1's: `first`, then `text` many times, then `then`."""
    source = value.get("first", "") + value["text"] * value["times"] + value.get("then", "")
    nb["cells"].insert(_at(nb, "q1") + 1, (_code if value["kind"] == "code" else _markdown)(source))
    return nb


def _double(nb, value, released, folder):
    for name in value:
        nb["cells"].insert(_at(nb, name) + 1, copy.deepcopy(part(nb, name)))
    return nb


def _double_with(nb, value, released, folder):
    for name, fill in value.items():
        twin = copy.deepcopy(part(nb, name))
        twin["source"] = put(_source_of(released, name), fill)
        nb["cells"].insert(_at(nb, name) + 1, twin)
    return nb


def _split_exercise(nb, value, released, folder):
    cell = part(nb, "exercise")
    head, _, tail = cell["source"].partition("\n\nassert")
    cell["source"] = head
    nb["cells"].insert(_at(nb, "exercise") + 1, _code("assert" + tail))
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
    for slot in ANSWER_SLOTS:
        text = part(nb, slot)["source"]
        part(nb, slot)["source"] = _source_of(released, slot)
        nb["cells"].insert(_at(nb, slot) + 1, _code(text) if value == "code" else _markdown(text))
    return nb


def _answers_beside(nb, value, released, folder):
    for slot in ANSWER_SLOTS:
        part(nb, slot)["source"] = _source_of(released, slot) + " " + part(nb, slot)["source"]
    return nb


def _answers_in_question(nb, value, released, folder):
    for slot in ANSWER_SLOTS:
        text = part(nb, slot)["source"]
        part(nb, slot)["source"] = _source_of(released, slot)
        nb["cells"][_at(nb, slot) - 1]["source"] += "\n\n" + text
    return nb


def _answers_headed_at_end(nb, value, released, folder):
    text = ""
    for slot, head in zip(ANSWER_SLOTS, ("Explanation", "Q1", "Q2", "Q3"), strict=True):
        text += f"## {head}\n\n{part(nb, slot)['source']}\n\n"
        nb["cells"].remove(part(nb, slot))
    nb["cells"].append(_markdown(text))
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
            cells.append({"cell_type": "code", "input": cell["source"], "prompt_number": 1, "outputs": [{"output_type": "pyout", "text": ["6.0"], "prompt_number": 1}], "language": "python", "collapsed": False, "metadata": {}})
        elif cell["source"].startswith("#") and "\n" not in cell["source"]:
            level = len(cell["source"]) - len(cell["source"].lstrip("#"))
            cells.append({"cell_type": "heading", "level": level, "source": [cell["source"].lstrip("# ")], "metadata": {}})
        else:
            cells.append({"cell_type": "markdown", "source": cell["source"].splitlines(True), "metadata": {}})
    return {"metadata": {"name": "x"}, "nbformat": 3, "nbformat_minor": 0, "worksheets": [{"cells": cells, "metadata": {}}]}


def _outputs(nb, value, released, folder):
    part(nb, "exercise")["outputs"] = value
    return nb


def _strip_outputs(nb, value, released, folder):
    for cell in nb["cells"]:
        if cell["cell_type"] == "code":
            cell.update(outputs=[], execution_count=None)
    return nb


def _many_cells(nb, value, released, folder):
    nb["cells"] += [_markdown("")] * value
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
    part(nb, "exercise")["outputs"] = [{"output_type": "display_data", "data": {"image/png": "A" * (value << 20)}, "metadata": {}}]
    return nb


def _big_commas(nb, value, released, folder):
    """Millions of commas in printed text are not millions of values."""
    part(nb, "exercise")["outputs"] = [{"output_type": "stream", "name": "stdout", "text": "," * (value << 20)}]
    return nb


# -- bytes and files --------------------------------------------------------------------------------------------------------


def _bytes(encode: Callable[[str], bytes]):
    return lambda nb, value, released, folder: encode(dump(nb).decode("utf-8", "surrogatepass"))


def _raw(nb, value, released, folder):
    return value.encode("utf-8")


def _repeat(nb, value, released, folder):
    return (value["text"] * value["times"] + value.get("then", "")).encode()


def _truncate(nb, value, released, folder):
    data = dump(nb)
    return data[: len(data) * value // 100]


def _bad_byte(nb, value, released, folder):
    data = bytearray(dump(nb))
    data[data.index(b"honest") + 2] = 0xFF
    return bytes(data)


def _nan(nb, value, released, folder):
    return dump(nb).replace(b'"nbformat": 4', b'"loss": NaN, "best": -Infinity, "nbformat": 4')


def _zip(nb, value, released, folder):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in value or ["homework/my notebook.ipynb"]:
            archive.writestr(name, dump(nb))
        archive.writestr("__MACOSX/._my notebook.ipynb", b"\x00\x05")
    return buffer.getvalue()


def _zip_of_two(nb, value, released, folder):
    """The notebook, and beside it one with another fill, or one that is as it was released. value: that fill, by file name."""
    (name, fill), = value.items()
    other = copy.deepcopy(nb) if fill else released
    if fill:
        part(other, "exercise")["source"] = put(_source_of(released, "exercise"), fill)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, dump(other))
        archive.writestr("work/mine.ipynb", dump(nb))
    return buffer.getvalue()


def _zip_bomb(nb, value, released, folder):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive, archive.open("a.ipynb", "w") as member:
        for _ in range(value):
            member.write(b" " * (1 << 20))
    return buffer.getvalue()


def _in_folder(nb, value, released, folder):
    target = folder / "handed in"
    target.mkdir()
    (target / (value or "final (2).ipynb")).write_bytes(dump(nb))
    return target


def _symlink(nb, value, released, folder):
    link = folder / "link.ipynb"
    os.symlink(value, link)
    return link


def _fifo(nb, value, released, folder):
    path = folder / "pipe.ipynb"
    os.mkfifo(path)
    return path


def _missing(nb, value, released, folder):
    return folder / "not there.ipynb"


def _sparse(nb, value, released, folder):
    path = folder / "sparse.ipynb"
    with path.open("wb") as file:
        file.truncate(value << 20)
    return path


OPERATIONS: dict[str, Callable] = {
    "replace": _replace, "edit": _edit, "append": _append, "prepend": _prepend, "delete": _delete, "code_first": _code_first,
    "code_after": _code_after, "markdown_after": _markdown_after, "flood": _flood, "double": _double, "double_with": _double_with, "split_exercise": _split_exercise,
    "merge": _merge, "to_kind": _to_kind, "shuffle": _shuffle, "move_first": _move_first, "answers_below": _answers_below,
    "answers_beside": _answers_beside, "answers_in_question": _answers_in_question, "answers_headed_at_end": _answers_headed_at_end,
    "strip_metadata": _strip_metadata, "colab": _colab, "vscode": _vscode, "kaggle": _kaggle, "no_ids": _no_ids, "same_ids": _same_ids,
    "same_grade_ids": _same_grade_ids, "swap_metadata": _swap_metadata, "set_metadata": _set_metadata, "nbformat3": _nbformat3,
    "outputs": _outputs, "strip_outputs": _strip_outputs, "many_cells": _many_cells, "long_answer": _long_answer, "other_lesson": _other_lesson,
    "claim_lesson": _claim_lesson, "zip_of_two": _zip_of_two,
    "big_outputs": _big_outputs, "big_commas": _big_commas, "bom": _bytes(lambda t: b"\xef\xbb\xbf" + t.encode()),
    "crlf": _bytes(lambda t: t.replace("\n", "\r\n").encode()), "utf16": _bytes(lambda t: t.encode("utf-16")),
    "utf16_no_bom": _bytes(lambda t: t.encode("utf-16-le")), "gbk": _bytes(lambda t: t.encode("gbk", "replace")),
    "utf32": _bytes(lambda t: t.encode("utf-32")), "gzip": _bytes(lambda t: gzip.compress(t.encode())), "raw": _raw, "repeat": _repeat,
    "truncate": _truncate, "bad_byte": _bad_byte, "nan": _nan, "zip": _zip, "zip_bomb": _zip_bomb, "in_folder": _in_folder,
    "symlink": _symlink, "fifo": _fifo, "missing": _missing, "sparse": _sparse,
}  # fmt: skip
