"""The folder of a new lesson. The pages' sections come from lint's own list, so that the two cannot differ."""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
from pathlib import Path

from autograder.errors import CourseError
from autograder.lesson.model import BLANK, LANGS
from autograder.lesson.store import list_lessons
from autograder.lint.form import SECTIONS
from autograder.new import files
from autograder.new.words import BELONGS, DESCRIPTION, EXPLAIN, EXPLANATION_QUESTION, FILL_HERE, FOLDED, REFERENCE

UNWRITTEN = {"zh": "TODO：", "en": "TODO: "}
_SLUG = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)*")
_NAME = re.compile(r"[a-z_][a-z0-9_]*")


def lay_out(lessons: Path, number: int, slug: str, function: str = "", parameters: str = "x") -> Path:
    """Write lessons/lessonNN_slug and return it. Raises CourseError where the name is no name or the number is taken; overwrites nothing."""
    function = function or slug
    if not 1 <= number <= 99:
        raise CourseError(f"A lesson's number is 1 to 99, not {number}.", remedy="Name another.")
    if not _SLUG.fullmatch(slug):
        raise CourseError(
            f"{slug!r} is no lesson name.", remedy="Small letters, digits and underscores, e.g. warp_specialization."
        )
    names = [p.strip() for p in parameters.split(",") if p.strip()]
    if not names or not all(_NAME.fullmatch(p) for p in (function, *names)):
        raise CourseError(
            "The function or a parameter is no Python name.",
            remedy="E.g. --function advance --parameters index,phase,stages.",
        )
    folder = lessons / f"lesson{number:02d}_{slug}"
    for other in list_lessons(lessons):
        if int(other.name[6:8]) == number:
            raise CourseError(
                f"Lesson {number} is there already: {other.name}.",
                where=str(other),
                remedy="Nothing was written. Write on in that folder, take another number, or remove the folder first to lay it out anew.",
            )
    if folder.exists():
        raise CourseError("The folder is there already.", where=str(folder), remedy="Nothing was written.")
    work = Path(tempfile.mkdtemp(prefix=".new-", dir=lessons))
    try:
        questions = {q: BELONGS[q] for q in ("q1", "q2", "q3")}
        texts = {f"{lang}.qmd": page(lang, number, function, names) for lang in LANGS}
        texts |= {
            "checks.py": files.checks(number, function, ", ".join(names)),
            "claims.yml": files.claims(f"lesson{number:02d}"),
            "rubric.yml": files.rubric(folder.name, questions),
            "reference.yml": files.reference(),
            "answers.jsonl": "",
        }
        for name, text in texts.items():
            (work / name).write_text(text, encoding="utf-8")
        work.chmod(0o755)
        os.rename(work, folder)  # the whole lesson or nothing
    except OSError as e:
        raise CourseError(
            f"The lesson cannot be written: {e.strerror}.", where=str(folder), remedy="Free the place and run it again."
        ) from None
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return folder


def page(lang: str, number: int, function: str, names: list[str]) -> str:
    at = LANGS.index(lang)
    todo = UNWRITTEN[lang]
    signature = f"def {function}({', '.join(names)}):\n    # {todo}{FILL_HERE[at]}\n"
    code = {
        "demonstration": _cell("experiment", 'print("...")'),
        "exercise": _cell(
            "exercise",
            f"{signature}    return {BLANK}\n\nassert {function}({', '.join('1' for _ in names)}) is not None",
        ),
        "kernel": _cell(
            "kernel",
            'import kernels\n\nkernel = kernels.load("KERNEL")  # `course run` lists the kernels\nprint(f"{kernel.backend}: {kernel.why}")',
        ),
        "challenge": _cell("challenge", f'my_line = "{BLANK}"\n\nchallenge("KERNEL", my_line)'),
    }
    code["check"] = "\n\n".join(
        [
            _cell(
                "boundary",
                f"my_case = dict({', '.join(f'{n}={BLANK}' for n in names)})\nmy_prediction = {BLANK}\n\nassert {function}(**my_case) == my_prediction",
            ),
            f"### {EXPLAIN[at]}",
            todo + EXPLANATION_QUESTION[at],
            _slot("explanation"),
        ]
    )
    code |= {q: _slot(q) for q in ("q1", "q2", "q3")}
    code["scoring"] = _folded(lang, _cell("solution", f"{signature}    return None"))
    title = f"第 {number} 课：TODO" if lang == "zh" else f"Lesson {number}: TODO"
    parts = [
        f"---\ntitle: {json.dumps(title, ensure_ascii=False)}\ndescription: {json.dumps(todo + DESCRIPTION[at], ensure_ascii=False)}\nlang: {lang}\njupyter: python3\nexecute:\n  enabled: false\n---"
    ]
    for section in SECTIONS:
        text = todo + BELONGS[section.key][at]
        parts += [
            f"{'#' * section.level} {section.example[at]}",
            f"- {text}" if section.key in ("goals", "sources", "neighbours") else text,
        ]
        if section.key in code:
            parts.append(code[section.key])
    return "\n\n".join(parts) + "\n"


def _cell(role: str, source: str) -> str:
    return f"```{{python}}\n#| course_role: {role}\n{source}\n```"


def _slot(name: str) -> str:
    return f"::: {{#{name} .answer}}\n:::"


def _folded(lang: str, solution: str) -> str:
    at = LANGS.index(lang)
    answers = "\n\n".join(
        f"**{EXPLAIN[at] if slot == 'explanation' else slot.upper()}**\n\n{UNWRITTEN[lang]}{text[at]}"
        for slot, text in REFERENCE.items()
    )
    return f':::: {{.content-visible when-profile="answer"}}\n\n::: {{.callout-tip collapse="true" title="{FOLDED[at]}"}}\n{solution}\n\n{answers}\n:::\n\n::::'
