"""What the grader's reading says about a saved notebook, as items for the student. Nothing of the student's is run here."""

from __future__ import annotations

import ast

from autograder.lesson.model import ANSWER_SLOTS
from autograder.records import Finding
from autograder.student.reading import Saved, word_count
from autograder.student.show import Item
from autograder.student.words import say
from autograder.submission import admit, integrity
from autograder.submission.choose import about_answers
from autograder.submission.fill import program
from autograder.submission.own_case import NoCase, read_own_case, sources_of

FEW_WORDS = 15  # fewer can hardly name cause, mechanism and effect
_WRITTEN = ("exercise", "boundary_case", *ANSWER_SLOTS)  # cells that a student writes in
_CHECKS = ("deleted_check", "loosened_check")
_SAID_ELSEWHERE = ("no_exercise", "unfilled", "not_python", "deleted", "no_function")


def finding_items(saved: Saved, lang: str) -> list[Item]:
    """What was changed outside the blanks: what would be a veto or wait for a person is to be put right, the rest is told."""
    findings = integrity.find_changes(saved.reading, saved.chosen.fill)
    findings += [f for f in saved.chosen.findings if f.code not in _SAID_ELSEWHERE]
    return [_item(f, lang) for f in findings] or [Item("ok", say(lang, "intact"), "intact")]


def _item(finding: Finding, lang: str) -> Item:
    said = finding.message.get(lang)
    code = "assert" if finding.code in _CHECKS else "fill" if finding.code == "several_fills" else "edited"
    if finding.severity == "info":
        return Item("note", said, code)
    return Item("bad", say(lang, f"is_{finding.severity}", said=said), code)


def other_release_items(saved: Saved, lang: str) -> list[Item]:
    theirs = saved.reading.other_release
    return (
        []
        if not theirs
        else [
            Item("note", say(lang, "other_release", theirs=theirs, release=saved.reading.released.release), "release")
        ]
    )


def doubled_items(saved: Saved, lang: str) -> list[Item]:
    """Parts that stand there more than once. The grader says which one counts; it is no fault."""
    found = saved.reading.found | {"exercise": saved.reading.exercise}
    return [
        Item("note", say(lang, "part_doubled", part=say(lang, f"name_{name}"), n=len(found[name])), "doubled")
        for name in _WRITTEN
        if len(found.get(name, [])) > 1
    ]


def fill_items(saved: Saved, lang: str) -> tuple[list[Item], ast.Module | None]:
    """(what is wrong with the fill, the program that would be graded). The program is None where there is none to run."""
    exercise, fill = saved.reading.released.exercise, saved.chosen.fill
    if fill is None:
        return [_missing("exercise", lang)], None
    if fill.problem == "unfilled":
        return [Item("todo", say(lang, "blank_empty", function=exercise.function), "blank")], None
    if fill.problem == "not_python" and fill.why is not None:
        return [Item("bad", say(lang, "no_parse", why=fill.why.get(lang)), "blank")], None
    if fill.problem:
        said = next(f.message.get(lang) for f in saved.chosen.findings if f.code == fill.problem)
        return [Item("bad", say(lang, "fill_lost", said=said), "blank")], None
    refused = admit.refusal(exercise, fill.statements)
    return [Item("bad", refused.get(lang), "blank")] if refused is not None else [], program(exercise, fill)


def own_case_sources(saved: Saved) -> list[str]:
    return sources_of(c.source for c in saved.reading.code)


def own_case_items(saved: Saved, lang: str) -> list[Item]:
    """Why there is no boundary case to try; nothing where there is one."""
    try:
        read_own_case(own_case_sources(saved))
    except NoCase as e:
        if (
            e.empty
            and "boundary_case" not in saved.reading.found
            and not any("my_" in source for source in own_case_sources(saved))
        ):
            return [_missing("boundary_case", lang)]
        return [
            Item("todo", say(lang, "case_empty"), "own_case") if e.empty else Item("bad", e.why.get(lang), "own_case")
        ]
    return []


def answer_items(saved: Saved, lang: str) -> list[Item]:
    """Each slot's answer as the grader reads it, wherever it was written."""
    items = []
    for slot in ANSWER_SLOTS:
        name, count = say(lang, f"slot_{slot}"), word_count(saved.reading.answers[slot])
        if not count and slot not in saved.reading.found:
            items.append(_missing(slot, lang))
        elif not count:
            items.append(
                Item(
                    "todo",
                    say(lang, "answer_empty", slot=name, points=_points(saved.lesson.points[slot], lang)),
                    "answer",
                )
            )
        else:
            items.append(
                Item(
                    "todo" if count < FEW_WORDS else "ok",
                    say(lang, "answer_short" if count < FEW_WORDS else "answer_written", slot=name, count=count),
                    "answer",
                )
            )
    uncertain = saved.reading.doubtful
    items += [Item("bad", say(lang, "answer_place", slot=say(lang, f"slot_{slot}")), "answer") for slot in uncertain]
    return items + [
        Item("note", f.message.get(lang), "answer") for f in about_answers(saved.reading) if f.where not in uncertain
    ]


def has_outputs(saved: Saved) -> bool:
    return any(c.outputs or c.pictures or c.receipts for c in saved.reading.code)


def _missing(name: str, lang: str) -> Item:
    return Item("bad", say(lang, "part_missing", part=say(lang, f"name_{name}")), "missing")


def _points(n: int, lang: str) -> str:
    return str(n) if lang == "zh" else f"{n} point" + ("s" if n != 1 else "")
