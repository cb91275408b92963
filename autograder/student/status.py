"""What is right and what is missing in a student's work, as reports: used by check() in the notebook and by `course check`."""

from __future__ import annotations

import time
from pathlib import Path

from autograder.student.data import StudentLesson
from autograder.student.reading import ANSWERS, Found, find_parts, read_notebook, word_count, written
from autograder.student.show import Item, Report
from autograder.student.visible import check_function, check_own_case
from autograder.student.words import say

FEW_WORDS = 15  # fewer can hardly name cause, mechanism and effect


def normal_report(lesson: StudentLesson, lang: str, space: dict) -> Report:
    exercise = lesson.part("exercise", lang).source
    report = Report(say(lang, "title_normal"), lang)
    report.extend(check_function(space.get(lesson.function), lesson.function, exercise, lang))
    if report.open:
        report.foot.append(say(lang, "foot_hint"))
    return report


def boundary_report(lesson: StudentLesson, lang: str, space: dict) -> Report:
    exercise = lesson.part("exercise", lang).source
    report = Report(say(lang, "title_boundary"), lang)
    there = "my_case" in space and "my_prediction" in space
    report.extend(check_own_case(space.get("my_case"), space.get("my_prediction"), space.get(lesson.function), lesson.function, exercise, lang, written=there))
    return report


def whole_report(lesson: StudentLesson, lang: str, space: dict, notebook: Path | None) -> Report:
    """Everything a student can see before handing in."""
    report = Report(say(lang, "title_all"), lang)
    report.extend(normal_report(lesson, lang, space).items)
    report.extend(boundary_report(lesson, lang, space).items)
    if notebook is None:
        report.add("note", say(lang, "answers_no_file", slug=lesson.slug), "answers")
    else:
        report.extend(answer_items(lesson, find_parts(read_notebook(notebook), lesson), lang))
        saved = time.strftime("%H:%M:%S", time.localtime(notebook.stat().st_mtime))
        report.foot.append(say(lang, "answers_saved", time=saved))
    report.foot.append(say(lang, "foot_unseen", total=sum(lesson.points.values()), pass_mark=lesson.pass_mark))
    return report


def answer_items(lesson: StudentLesson, found: Found, lang: str) -> list[Item]:
    items = []
    for slot in ANSWERS:
        name = say(lang, f"slot_{slot}")
        answer = found.answer(slot)
        if answer is None:
            continue  # a missing cell is reported as such by missing_items
        count = word_count(written(answer, lesson.part(slot, found.lang).source))
        if not count:
            items.append(Item("todo", say(lang, "answer_empty", slot=name, points=_points(lesson, slot, lang)), "answer"))
        else:
            items.append(Item("todo" if count < FEW_WORDS else "ok", say(lang, "answer_short" if count < FEW_WORDS else "answer_written", slot=name, count=count), "answer"))
    return items


def _points(lesson: StudentLesson, slot: str, lang: str) -> str:
    n = lesson.points[slot]
    return str(n) if lang == "zh" else f"{n} point" + ("s" if n != 1 else "")
