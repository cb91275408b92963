"""What is right and what is missing in a student's work, as reports: used by check() in the notebook and by `course check`."""

from __future__ import annotations

import time
from pathlib import Path

from autograder.student.data import StudentLesson
from autograder.student.show import Item, Report
from autograder.student.visible import check_function, check_own_case
from autograder.student.words import say


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
    report.extend(
        check_own_case(
            space.get("my_case"),
            space.get("my_prediction"),
            space.get(lesson.function),
            lesson.function,
            exercise,
            lang,
            written=there,
        )
    )
    return report


def whole_report(lesson: StudentLesson, lang: str, space: dict, notebook: Path | None) -> Report:
    """Everything a student can see before handing in."""
    report = Report(say(lang, "title_all"), lang)
    report.extend(normal_report(lesson, lang, space).items)
    report.extend(boundary_report(lesson, lang, space).items)
    if notebook is None:
        report.add("note", say(lang, "answers_no_file", slug=lesson.slug), "answers")
    else:
        report.extend(_answers(lesson, lang, notebook))
        saved = time.strftime("%H:%M:%S", time.localtime(notebook.stat().st_mtime))
        report.foot.append(say(lang, "answers_saved", time=saved))
    report.foot.append(say(lang, "foot_unseen", total=sum(lesson.points.values()), pass_mark=lesson.pass_mark))
    return report


def _answers(lesson: StudentLesson, lang: str, notebook: Path) -> list[Item]:
    from autograder.student.reading import (
        read_saved,
    )  # the grader's reading is not needed before a student asks for this
    from autograder.student.saved import answer_items

    return answer_items(read_saved(notebook, lesson), lang)
