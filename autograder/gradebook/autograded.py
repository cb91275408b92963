"""The notebook that formgrader shows: the released cells with the student's own text in them, and the rest of his notebook.

It is built anew, never copied: metadata, cell ids and locked cells are ours, so a submission with lost, doubled or forged
metadata has its score boxes where they belong, and nothing in it runs in the instructor's browser. Of the lesson's text only
what stands right above the student's cells is kept: the page is for grading him, not for reading the lesson.
"""

from __future__ import annotations

import json
from pathlib import Path

from autograder.gradebook import apart
from autograder.gradebook.course import CourseFolder, write_atomically
from autograder.gradebook.parts import Part, read_parts
from autograder.gradebook.rows import joined
from autograder.gradebook.safe import safe_markdown, safe_outputs
from autograder.gradebook.submissions import copy_side_files
from autograder.gradebook.taken import chosen_in
from autograder.lesson import Lesson
from autograder.records import Result
from autograder.submission.read import Unreadable
from autograder.submission.read.files import files_in

MAX_EXTRA = 100  # cells of the student's own that are shown
MAX_SOURCE = 100_000  # characters of one cell

_WORDS = {
    "zh": {
        "unread": "**未能批改。** {why}",
        "unshown": "**提交的笔记本太大或太复杂，这里没有显示学生写的内容；请打开 submitted/ 里他交的文件。**",
        "extra": "## 学生自己添加或改动的单元格",
        "check": "{mark} [{kind}] {name}{message}",
        "kind": {"normal": "正常", "boundary": "边界", "own_case": "学生自己的输入"},
        "verdict": "**批改结果：{state}，{total:g} 分。** {reasons}",
    },
    "en": {
        "unread": "**Not graded.** {why}",
        "unshown": "**The hand-in is too large or too complex to be shown here; open the student's file in submitted/.**",
        "extra": "## Cells that the student added or changed",
        "check": "{mark} [{kind}] {name}{message}",
        "kind": {"normal": "normal", "boundary": "boundary", "own_case": "the student's own input"},
        "verdict": "**Graded: {state}, {total:g} points.** {reasons}",
    },
}


def write_autograded(course: CourseFolder, lesson: Lesson, result: Result) -> Path:
    """Write autograded/<student>/<lesson>/<lesson>.ipynb from what stands in submitted/."""
    name = f"{lesson.slug}.ipynb"
    folder = course.step("submitted", result.student, lesson.slug)
    target = course.step("autograded", result.student, lesson.slug) / name
    write_atomically(target, shown_text(lesson, folder, result), mode=0o444)
    copy_side_files(folder, target.parent)
    return target


def shown_text(lesson: Lesson, folder: Path, result: Result) -> str:
    """The notebook as JSON text, of what stands in a student's folder. A large hand-in is read in a process of its own; where that fails the
    student's text is left out, and the page says so."""
    if result.state == "UNGRADED":
        return autograded_text(lesson, None, result)
    try:
        files = files_in(folder)
        if not apart.is_large(files):
            return autograded_text(lesson, chosen_in(lesson, folder, files), result)
    except Unreadable:
        return autograded_text(lesson, None, result)
    answer = apart.ask(lesson, show=str(folder), result=result.model_dump(mode="json"))
    return autograded_text(lesson, None, result, unshown=True) if answer is None else answer["text"]


def autograded_text(lesson: Lesson, source: Path | None, result: Result, *, unshown: bool = False) -> str:
    """The notebook as JSON text. source: the hand-in, None where there is none; an unreadable one gives the empty released notebook. unshown:
    there is one, but it is not shown."""
    notebook = json.loads(_released(lesson, result.lang))
    words = _WORDS[result.lang]
    if result.state == "UNGRADED":
        parts: list[Part] = []
        head = words["unread"].format(why=joined(result.reasons, result.lang))
    else:
        parts = read_parts(lesson, source, notebook["cells"]) if source else []
        head = words["verdict"].format(
            state=result.state, total=result.total, reasons=joined(result.reasons, result.lang)
        )
    head += "\n\n" + words["unshown"] if unshown else ""
    mine = {p.cell_id: p for p in parts if p.cell_id}
    cells = notebook["cells"] = _worth_showing(notebook["cells"], mine)
    for cell in cells:
        if cell["cell_type"] == "code":
            cell["outputs"] = []
        if part := mine.get(cell["id"]):
            _fill(cell, part)
    _show_checks(cells, result, words)
    cells.insert(1, _markdown("course-verdict", safe_markdown(head)))
    extra = [p for p in parts if not p.cell_id][:MAX_EXTRA]
    if extra:
        cells.append(_markdown("course-extra", words["extra"]))
        cells += [_extra_cell(n, p) for n, p in enumerate(extra, 1)]
    return (
        json.dumps(notebook, ensure_ascii=False) + "\n"
    )  # without indent: several times as fast, and nobody reads it as text


_RELEASED: dict[tuple[int, str], tuple[Lesson, str]] = {}


def _released(lesson: Lesson, lang: str) -> str:
    """The released notebook as JSON, made once a lesson object and edition."""
    import nbformat

    from autograder.release.notebook import student_notebook

    kept = _RELEASED.get((id(lesson), lang))
    if kept is None or kept[0] is not lesson:
        kept = _RELEASED[id(lesson), lang] = (lesson, nbformat.writes(student_notebook(lesson, lang)))
    return kept[1]


def _worth_showing(cells: list[dict], mine: dict[str, Part]) -> list[dict]:
    """The title, what belongs to the gradebook, code that was run or changed, and the text right above any of them."""
    keep = [n == 0 or _scored(c) or _touched(c, mine.get(c["id"])) for n, c in enumerate(cells)]
    above = [c["cell_type"] == "markdown" and n + 1 < len(cells) and keep[n + 1] for n, c in enumerate(cells)]
    return [c for n, c in enumerate(cells) if keep[n] or above[n]]


def _scored(cell: dict) -> bool:
    nbgrader = cell["metadata"].get("nbgrader", {})
    return bool(nbgrader.get("grade") or nbgrader.get("solution"))


def _touched(cell: dict, part: Part | None) -> bool:
    return (
        part is not None
        and cell["cell_type"] == "code"
        and bool(part.outputs or part.source.strip() != _text(cell).strip())
    )


def _text(cell: dict) -> str:
    return cell["source"] if isinstance(cell["source"], str) else "".join(cell["source"])


def _fill(cell: dict, part: Part) -> None:
    locked = cell["metadata"].get("nbgrader", {}).get("locked")
    if cell["cell_type"] == "markdown":
        if cell["metadata"].get("course", {}).get("slot"):
            cell["source"] = safe_markdown(part.source[:MAX_SOURCE])
    else:
        if not locked:
            cell["source"] = part.source[:MAX_SOURCE]
            cell["outputs"] = safe_outputs(part.outputs)
        cell["execution_count"] = part.execution_count
    if part.hints:
        cell["metadata"].setdefault("course", {})["hints"] = part.hints


def _show_checks(cells: list[dict], result: Result, words: dict) -> None:
    """What the hidden checks said, as the output of the locked test cells."""
    for cell in cells:
        name = cell["metadata"].get("nbgrader", {}).get("grade_id")
        if name not in ("normal", "boundary"):
            continue
        lines = []
        for c in result.checks:
            if c.kind == name or (name == "boundary" and c.kind == "own_case"):
                message = f": {c.message.get(result.lang)}" if c.message else ""
                lines.append(
                    words["check"].format(
                        mark="✓" if c.passed else "✗",
                        kind=words["kind"][c.kind],
                        name=c.name.get(result.lang),
                        message=message,
                    )
                )
        cell["outputs"] = (
            [{"output_type": "stream", "name": "stdout", "text": "\n".join(lines) + "\n"}] if lines else []
        )


def _extra_cell(n: int, part: Part) -> dict:
    if part.kind == "code":
        cell = {
            "cell_type": "code",
            "id": f"extra-{n}",
            "metadata": {},
            "source": part.source[:MAX_SOURCE],
            "outputs": safe_outputs(part.outputs),
            "execution_count": part.execution_count,
        }
        if part.hints:
            cell["metadata"] = {"course": {"hints": part.hints}}
        return cell
    return _markdown(f"extra-{n}", safe_markdown(part.source[:MAX_SOURCE]))


def _markdown(cell_id: str, source: str) -> dict:
    return {"cell_type": "markdown", "id": cell_id, "metadata": {}, "source": source}
