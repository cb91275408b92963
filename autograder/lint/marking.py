"""rubric.yml and answers.jsonl: what a page needs of them, beyond their schema."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

from pydantic import ValidationError

from autograder.answers.labelled import Labelled, misfit, problem
from autograder.lesson.model import ANSWER_SLOTS, LANGS, Edition
from autograder.lesson.rubric import Rubric
from autograder.lint.problem import Problem

TOTAL = {"normal": 2, "boundary": 1, "explanation": 1, "q1": 2, "q2": 2, "q3": 2}


def lint_rubric(rubric: Rubric, path: Path, slug: str, editions: dict[str, Edition], fill: str | None) -> list[Problem]:
    """fill: the solution's expression, where it is known."""
    text = path.read_text(encoding="utf-8")
    out: list[Problem] = []

    def say(key: str, what: str, remedy: str) -> None:
        found = re.search(rf"^[ \t-]*(?:id: *)?{re.escape(key)}\b", text, re.M)
        out.append(Problem(path, text.count("\n", 0, found.start()) + 1 if found else 0, what, remedy))

    for m in re.finditer(r"TODO[:：] ?([^\"\n]*).*", text):  # one a line
        out.append(
            Problem(path, text.count("\n", 0, m.start()) + 1, f"This is not written yet: {m[1].strip()}", "Write it.")
        )
    if rubric.lesson != slug:
        say("lesson", f"The rubric names the lesson {rubric.lesson}.", f"Write `lesson: {slug}`.")
    if rubric.points.model_dump() != TOTAL or rubric.pass_mark != 8:
        say("points", "The points are not the course's.", "Code 2 + 1 + 1 and three questions of 2; 8 of 10 pass.")
    ids = [link.id for slot in rubric.slots.values() for link in slot.links]
    for twice in sorted({i for i in ids if ids.count(i) > 1}):
        say(twice, f"The link {twice} stands in two slots.", "Give each its own id.")
    kinds = {link.kind for name, slot in rubric.slots.items() for link in slot.links if name != "explanation"}
    for kind, name in (("correctness", "correctness boundary"), ("tradeoff", "performance trade-off")):
        if kind not in kinds:
            say(
                "slots",
                f"No link of Q1 to Q3 is a {name}, so nobody could pass.",
                f"Mark at least one with `kind: {kind}`.",
            )
    if not any(m.veto for slot in rubric.slots.values() for m in slot.misconceptions):
        say("slots", "No misconception is a veto.", "Name the lesson's wrong core chain and mark it `veto: true`.")
    for name, slot in rubric.slots.items():
        for lang in LANGS:
            if not slot.reference.get(lang).strip():
                say(name, f"The slot {name} has no {lang} reference answer.", "Write it.")
    _hints(rubric, fill, say)
    _references(rubric, editions, out)
    return out


def _hints(rubric: Rubric, fill: str | None, say) -> None:
    for lang in LANGS:
        texts = [h.get(lang) for h in rubric.hints]
        for i, text in enumerate(texts):
            if text in texts[:i]:
                say(
                    "hints",
                    f"The {lang} hints {texts.index(text) + 1} and {i + 1} are the same.",
                    "Each level goes one step further.",
                )
            if fill and i < 3 and _code(fill) in _code(text):
                say("hints", f"The {lang} hint {i + 1} gives the full answer away.", "Only level 4 does.")
        if fill and _code(fill) not in _code(texts[3]):
            say(
                "hints", f"The {lang} hint 4 is not the full answer.", f"It must hold the solution's expression: {fill}"
            )


def _code(text: str) -> str:
    return re.sub(r"[\s()]", "", text)


def _references(rubric: Rubric, editions: dict[str, Edition], out: list[Problem]) -> None:
    """The answer edition prints the rubric's reference answers: word for word, so that they cannot drift apart."""
    worked = re.compile(r"\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\{\.worked\}")
    squeeze = lambda t: re.sub(r"[\s>`*$\\-]", "", worked.sub(r"\1", t))
    for lang, edition in editions.items():
        page = squeeze(edition.text)
        for name, slot in rubric.slots.items():
            missing = next(
                (p for p in re.split(r"\n\s*\n", slot.reference.get(lang)) if squeeze(p) and squeeze(p) not in page),
                None,
            )
            if missing:
                out.append(
                    Problem(
                        edition.path,
                        0,
                        f"The reference answer of {name} is not that of reference.yml (it lacks {missing.strip()[:40]!r}...).",
                        f"Copy {name} of reference.yml into the folded answer, or the page's text into reference.yml.",
                    )
                )


def lint_answers(path: Path, rubric: Rubric) -> list[Problem]:
    """answers.jsonl: every line readable, in a known slot, with known ids, and enough of them to learn from and to measure on."""
    if not path.is_file():
        return [
            Problem(
                path,
                0,
                "The labelled answers are missing.",
                "Add answers.jsonl: the reader of answers learns from it and is measured on it.",
            )
        ]
    out: list[Problem] = []
    seen: set[str] = set()
    rows: list[Labelled] = []
    for n, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip():
            continue
        try:
            row = Labelled.model_validate_json(line)
        except ValidationError as e:
            out.append(
                Problem(
                    path,
                    n,
                    f"The line is no labelled answer: {misfit(e)}.",
                    "The page 'Write a lesson' shows a whole line.",
                )
            )
            continue
        if why := problem(row, rubric):
            out.append(Problem(path, n, why, "Mend the label, or the rubric."))
            continue
        if row.id in seen:
            out.append(Problem(path, n, f"The id {row.id} stands here twice.", "Give each answer its own."))
        seen.add(row.id)
        rows.append(row)
    for slot in ANSWER_SLOTS:
        for lang in LANGS:
            if not any(r.slot == slot and r.lang == lang for r in rows):
                out.append(
                    Problem(
                        path,
                        0,
                        f"There is no labelled {lang} answer for {slot}.",
                        "Add some, right and wrong, by several writers.",
                    )
                )
        if rows and not any(r.slot == slot and r.split != "train" for r in rows):
            out.append(
                Problem(
                    path,
                    0,
                    f"All answers for {slot} are learnt from, so nothing says how right the reader is there.",
                    "Keep one writer aside: split `calibration`.",
                )
            )
    return out + (_accuracy(path) if rows else [])


def _accuracy(answers: Path) -> list[Problem]:
    """The published accuracy is of these answers and this rubric (that it is of this code, a test measures)."""
    published = answers.with_name("accuracy.json")
    remedy = f"Run `python -m autograder.answers.accuracy {answers.parent.name.split('_')[0]} --write`."
    if not published.is_file():
        return [Problem(published, 0, "The scorer's accuracy on the labelled answers is not measured.", remedy)]
    data = json.loads(published.read_text(encoding="utf-8"))
    for file, key in ((answers, "answers_sha256"), (answers.with_name("rubric.yml"), "rubric_sha256")):
        if data.get(key) != hashlib.sha256(file.read_bytes()).hexdigest():
            return [Problem(published, 0, f"The accuracy was measured with another {file.name}.", remedy)]
    return []
