"""Answers in JSON lines, in and out: the work behind `course score-answers`."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path

from autograder.answers.items import language_of
from autograder.answers.judge import Judge
from autograder.answers.score import score_slot
from autograder.errors import CourseError
from autograder.lesson.rubric import Rubric, load_rubric
from autograder.records import SlotScore

_PARALLEL_FROM = 400  # answers; below it a second process costs more than it saves
_CHUNK = 32
_JUDGE_THREADS = 8
SLOTS = {"Q1": "q1", "Q2": "q2", "Q3": "q3", "EXPLANATION": "explanation"}


@dataclass(frozen=True)
class Line:
    """One line of the input: an answer, or what is wrong with the line."""

    number: int
    id: str = ""
    slot: str = ""
    answer: str = ""
    problem: str = ""


def read_lines(path: Path, rubric: Rubric) -> list[Line]:
    """Every non-blank line, the bad ones with their problem. Raises CourseError where the file itself cannot be read."""
    try:
        raw = path.read_bytes()
    except OSError as e:
        raise CourseError(
            f"The answers cannot be read: {e.strerror}.",
            where=str(path),
            remedy='Give a file of lines {"id","question","answer"}.',
        ) from None
    rows = raw.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    return [_line(n, row, rubric) for n, row in enumerate(rows, 1) if row.strip()]


def _line(number: int, raw: bytes, rubric: Rubric) -> Line:
    try:
        data = json.loads(raw.decode("utf-8"))
    except UnicodeDecodeError as e:
        return Line(number, problem=f"not UTF-8 (byte {e.start})")
    except (json.JSONDecodeError, RecursionError) as e:
        return Line(number, problem=f"not JSON: {getattr(e, 'msg', 'nested too deep')}")
    if not isinstance(data, dict):
        return Line(number, problem="not a JSON object")
    for name in ("id", "question", "answer"):
        if name not in data:
            return Line(number, problem=f"{name!r} is missing")
    if not isinstance(data["id"], str | int) or isinstance(data["id"], bool):
        return Line(number, problem="'id' is not a string")
    if not isinstance(data["answer"], str):
        return Line(number, problem="'answer' is not a string")
    slot = SLOTS.get(data["question"].strip().upper()) if isinstance(data["question"], str) else None
    if slot not in rubric.slots:
        return Line(number, problem=f"there is no question {data['question']!r}; it is one of Q1, Q2, Q3")
    return Line(number, data["id"], slot, data["answer"])


def score_lines(
    lines: list[Line],
    rubric_path: Path,
    *,
    lesson_text: str = "",
    judge: Judge | None = None,
    jobs: int | None = None,
    step: Callable[[], None] = lambda: None,
) -> Iterator[SlotScore]:
    """Scores of the good lines, in order. lesson_text: the lesson's pages, to find copied text.  step: called once a scored answer, for a progress bar.

    Reasons are in English: the command is the instructor's. Offline, many answers are spread over `jobs` processes (by default
    one a core); with a judge, over threads, which wait for the endpoint.
    """
    rubric = load_rubric(rubric_path)
    todo = [(line.slot, line.answer) for line in lines if not line.problem]
    if judge:
        with ThreadPoolExecutor(_JUDGE_THREADS) as threads:
            for score in threads.map(partial(_judged, judge, rubric, lesson_text), todo):
                step()
                yield score
        return
    jobs = jobs or (os.cpu_count() or 1 if len(todo) >= _PARALLEL_FROM else 1)
    if jobs == 1:
        for slot, answer in todo:
            yield _offline(rubric, lesson_text, slot, answer)
            step()
        return
    with ProcessPoolExecutor(
        jobs, mp_context=get_context("spawn"), initializer=_start, initargs=(rubric_path, lesson_text)
    ) as pool:
        for score in pool.map(_in_worker, todo, chunksize=_CHUNK):
            step()
            yield score


def _judged(judge: Judge, rubric: Rubric, lesson_text: str, item: tuple[str, str]) -> SlotScore:
    return judge.score_slot(item[0], rubric, item[1], language_of(item[1]), lesson_text=lesson_text, reasons_lang="en")


def _offline(rubric: Rubric, lesson_text: str, slot: str, answer: str) -> SlotScore:
    return score_slot(slot, rubric, answer, language_of(answer), lesson_text=lesson_text, reasons_lang="en")


_worker: list[tuple[Rubric, str]] = []


def _start(rubric_path: Path, lesson_text: str) -> None:
    _worker[:] = [(load_rubric(rubric_path), lesson_text)]


def _in_worker(item: tuple[str, str]) -> SlotScore:
    return _offline(*_worker[0], *item)


def record(line: Line, score: SlotScore) -> dict:
    """One line of the output (contract). veto: a misconception that is certain and that the rules of the lesson veto."""
    return {
        "id": line.id,
        "points": int(score.points) if float(score.points).is_integer() else score.points,
        "veto": any(m.veto and (m.sure is not False) for m in score.misconceptions),
        "lane": score.lane,
        "links": [{"id": x.id, "quote": x.quote} for x in score.links],
        "reasons": score.reasons,
    }


def _json(data: dict) -> str:
    text = json.dumps(data, ensure_ascii=False)
    return (
        json.dumps(data) if any("\ud800" <= c <= "\udfff" for c in text) else text
    )  # half a surrogate pair has no UTF-8


def write_lines(path: Path, records: Iterator[dict]) -> int:
    """Write all records or nothing. Returns how many. Raises CourseError where the place cannot be written."""
    n = 0
    try:
        handle = tempfile.NamedTemporaryFile(
            "w", dir=path.parent, prefix=path.name + ".", suffix=".part", delete=False, encoding="utf-8"
        )
    except OSError as e:
        raise CourseError(
            f"The scores cannot be written: {e.strerror}.",
            where=str(path),
            remedy="Give --out a file in a folder that exists and can be written.",
        ) from None
    part = Path(handle.name)
    try:
        with handle:
            for r in records:
                handle.write(_json(r) + "\n")
                n += 1
        part.chmod(0o644)
        part.replace(path)
    except OSError as e:
        raise CourseError(
            f"The scores cannot be written: {e.strerror}.",
            where=str(path),
            remedy="Make room or give --out another place, and run it again.",
        ) from None
    finally:
        part.unlink(missing_ok=True)
    return n
