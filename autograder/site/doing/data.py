"""What the page needs to let one do a lesson in it, as plain data. Nothing hidden: it is made of the released notebook and lesson.json's data."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import nbformat

from autograder.lesson.model import ANSWER_SLOTS, Lesson
from autograder.release.data import student_lesson
from autograder.release.notebook import student_notebook
from autograder.release.words import PLACEHOLDER
from autograder.site.downloads import bundle_of
from autograder.student import portable
from autograder.student.data import pack
from autograder.student.saved import FEW_WORDS
from autograder.student.visible import plan_of
from autograder.submission import names, plain
from autograder.submission.fill import has_blank

HERE = Path(__file__).parent


def lesson_data(lesson: Lesson, lang: str, bundles: bool = True) -> dict:
    """bundles: the site holds them. Of one page: the cells a reader fills, the plan of the visible checks, the hints (the full answer packed, as in lesson.json)."""
    told = student_lesson(lesson)
    exercise, case = (told.part(name, lang).source for name in ("exercise", "boundary_case"))
    hints = told.hints[lang]
    return {
        "slug": lesson.slug,
        "lang": lang,
        "points": told.points,
        "pass_mark": told.pass_mark,
        "few_words": FEW_WORDS,
        "placeholder": PLACEHOLDER[lang],
        "cells": {"exercise": _cell(exercise, told.function), "case": _cell(case)},
        "slots": list(ANSWER_SLOTS),
        "plan": plan_of(exercise, told.function),
        "hints": [*hints[:3], pack(hints[3])],
        "bundle": bundle_of(lesson.slug) if bundles else None,
    }


def _cell(source: str, function: str = "") -> dict[str, str]:
    """The released cell, and what stands before and after the student's part of it: the statements that hold blanks."""
    body = ast.parse(source).body
    if function:
        body = next(s for s in body if isinstance(s, ast.FunctionDef) and s.name == function).body
    blank = [s for s in body if has_blank(s)]
    lines = source.split("\n")
    return {
        "source": source,
        "before": "".join(f"{line}\n" for line in lines[: blank[0].lineno - 1]),
        "after": "".join(f"\n{line}" for line in lines[blank[-1].end_lineno :]),
    }


def notebook_data(lesson: Lesson, lang: str) -> dict:
    """The released notebook, as the bundle holds it."""
    return json.loads(nbformat.writes(student_notebook(lesson, lang)))


def program() -> str:
    """The Python program of the page: what check() runs, the little NumPy, and what drives them. Defines run(text)."""
    little = (HERE / "numpy_page.py").read_text(encoding="utf-8")
    parts = [
        *(Path(m.__file__).read_text(encoding="utf-8") for m in (plain, portable)),
        f"NUMPY = {{}}\nexec({little!r}, NUMPY)\nNotHere, ndarray, float64 = (NUMPY[n] for n in ('NotHere', 'ndarray', 'float64'))\n",
        (HERE / "page.py").read_text(encoding="utf-8"),
    ]
    return "\n".join(parts)


def allowed_names() -> dict[str, list[str]]:
    """What the grader lets a blank use: to tell what the page's Python lacks from what is wrong."""
    return {
        "attributes": sorted(names.ATTRIBUTES),
        "builtins": sorted(names.BUILTINS),
        "modules": sorted(names.MODULES),
    }
