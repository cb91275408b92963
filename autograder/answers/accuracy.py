"""How right is the scorer? `python -m autograder.answers.accuracy LESSON` measures it on the lesson's labelled answers.

Development answers shaped the rules, the probabilities and the lane's threshold. The held-out split (`test`) is new wording of
the scorer's author, the `independent` one that of a writer who knows neither rubric nor scorer: only the last says what to
expect of a class. Each is reported under its own name.

answers.jsonl of a lesson, one object a line: id, lang (zh|en), slot, category (full, partial, terms_only, misconception, negated,
stuffed, injected, off_topic), answer, links (ids that the answer states), points (what the rubric gives for them), veto,
misconceptions (ids, optional), split (dev|test|independent), writer. accuracy_readings.json beside it keeps, round by round, what was
measured when the scorer read new answers for the first time: later figures on the same answers are no longer held out.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
import typer

from autograder.answers import calibration, probes
from autograder.answers.accuracy_words import WORDS
from autograder.answers.score import score_slot, scorer
from autograder.errors import CourseError
from autograder.lesson import find_lesson
from autograder.lesson.rubric import Rubric, load_rubric
from autograder.records import SlotScore

SPLITS = ("independent", "test", "dev")  # an independent writer's; held out by the scorer's author; development
NO_CREDIT = ("terms_only", "stuffed", "off_topic")  # categories that can earn nothing
NEEDED = ("id", "lang", "slot", "category", "answer", "points", "links", "veto", "split", "writer")


def read_answers(path: Path) -> list[dict]:
    """The labelled answers of a lesson. Raises CourseError with the line that cannot be used."""
    items = []
    if not path.is_file():
        raise CourseError("The lesson has no labelled answers.", where=str(path), remedy="Add answers.jsonl; its fields are listed in autograder/answers/accuracy.py.")
    for n, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        try:
            item = json.loads(line)
            missing = [k for k in NEEDED if k not in item]
        except json.JSONDecodeError as e:
            raise CourseError(f"The line is not JSON: {e.msg}.", where=f"{path}:{n}", remedy="Write one JSON object a line.") from None
        if missing:
            raise CourseError(f"The labelled answer lacks {', '.join(missing)}.", where=f"{path}:{n}", remedy="Add them.")
        items.append(item)
    return items


def kappa(truth: list[int], given: list[int], top: int = 2) -> float:
    """Quadratic weighted kappa of two lists of points 0..top. 1 is perfect agreement, 0 is chance."""
    n = top + 1
    seen = np.zeros((n, n))
    for t, g in zip(truth, given):
        seen[t, g] += 1
    weight = np.subtract.outer(np.arange(n), np.arange(n)) ** 2 / top**2
    chance = np.outer(seen.sum(1), seen.sum(0)) / max(seen.sum(), 1)
    return 1.0 if not (weight * chance).sum() else float(1 - (weight * seen).sum() / (weight * chance).sum())


def measure(items: list[dict], scores: list[SlotScore]) -> dict:
    """All figures for one set of labelled answers and their scores."""
    pairs = list(zip(items, scores))
    out = _figures(pairs)
    out["by_language"] = _grouped(pairs, lambda i: i["lang"])
    out["by_slot"] = _grouped(pairs, lambda i: i["slot"])
    out["by_category"] = _grouped(pairs, lambda i: i["category"])
    out["by_writer"] = _grouped(pairs, lambda i: i["writer"])
    out["links"] = _links(pairs)
    out["auto_errors"] = [_error(i, s) for i, s in pairs if s.lane == "auto" and _wrong(i, s)]
    return out


def _grouped(pairs, key: Callable[[dict], str]) -> dict:
    names = sorted({key(i) for i, _ in pairs})
    return {name: _figures([(i, s) for i, s in pairs if key(i) == name]) for name in names}


def _vetoed(score: SlotScore) -> bool:
    return any(m.veto and m.sure for m in score.misconceptions)


def _wrong(item: dict, score: SlotScore) -> bool:
    """Released though points are off by one or more, or a veto is missed or wrongly raised."""
    return abs(item["points"] - score.points) >= 1 or item["veto"] != _vetoed(score)


def _figures(pairs: list[tuple[dict, SlotScore]]) -> dict:
    truth, given = [i["points"] for i, _ in pairs], [int(s.points) for _, s in pairs]
    auto = [(i, s) for i, s in pairs if s.lane == "auto"]
    wrong = [1 for i, s in auto if _wrong(i, s)]
    points_off = [1 for i, s in auto if abs(i["points"] - s.points) >= 1]
    vetoes = [(i["veto"], _vetoed(s)) for i, s in pairs]
    return {
        "answers": len(pairs),
        "kappa": _r(kappa(truth, given)) if len(set(truth)) > 1 else None,
        "exact": _r(np.mean([t == g for t, g in zip(truth, given)])),
        "auto_share": _r(len(auto) / len(pairs)),
        "auto_answers": len(auto),
        "auto_wrong": len(wrong),
        "auto_points_off": len(points_off),
        "auto_error": _r(len(wrong) / len(auto)) if auto else None,
        "auto_error_95": _r(_upper(len(wrong), len(auto))) if auto else None,
        "credited_nothing_due_auto": sum(1 for i, s in auto if i["points"] == 0 and s.points > 0),
        "vetoes": sum(t for t, _ in vetoes),
        "vetoes_found": sum(t and g for t, g in vetoes),
        "vetoes_false": sum(g and not t for t, g in vetoes),
    }


def _upper(wrong: int, n: int) -> float:
    """One-sided 95 % upper bound (Clopper-Pearson) of an error rate, by bisection on the binomial tail."""
    if wrong >= n:
        return 1.0
    from math import comb

    lo, hi = wrong / n, 1.0
    for _ in range(60):
        p = (lo + hi) / 2
        tail = sum(comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(wrong + 1))
        lo, hi = (p, hi) if tail > 0.05 else (lo, p)
    return hi


def _links(pairs) -> dict:
    out = {}
    for name in sorted({x for i, s in pairs for x in (*i["links"], *(f.id for f in s.links))}):
        tp = sum(1 for i, s in pairs if name in i["links"] and name in [f.id for f in s.links])
        said = sum(1 for i, s in pairs if name in [f.id for f in s.links])
        true = sum(1 for i, _ in pairs if name in i["links"])
        out[name] = {"true": true, "found": said, "precision": _r(tp / said) if said else None, "recall": _r(tp / true) if true else None}
    return out


def _error(item: dict, score: SlotScore) -> dict:
    return {
        "id": item["id"], "category": item["category"], "points": item["points"], "given": score.points, "links": item["links"],
        "given_links": [f.id for f in score.links], "veto": item["veto"], "given_veto": _vetoed(score),
    }  # fmt: skip


def _r(x) -> float:
    return round(float(x), 3)


def report(rubric: Rubric, answers: list[dict], splits: Iterable[str] = SPLITS) -> dict:
    """Score every labelled answer and measure each split."""
    out = {"lesson": rubric.lesson, "auto_threshold": calibration.load().auto, "splits": {}}
    for split in splits:
        items = [i for i in answers if i["split"] == split]
        if items:
            out["splits"][split] = measure(items, [score_slot(i["slot"], rubric, i["answer"], i["lang"]) for i in items])
    return out


def page(data: dict, readings: list[dict] = (), lang: str = "en") -> str:
    """The report as Markdown, for the website and for people. readings: first readings of each round, see the module."""
    w = WORDS[lang]
    splits = [w[s] for s in data["splits"]]
    lines = [f"# {w['title']} {data['lesson']}", "", w["intro"].format(lesson=data["lesson"]), ""]
    lines += ["| | " + " | ".join(splits) + " |", "| --- |" + " --- |" * len(splits)]
    for key, label in w["rows"].items():
        lines.append(f"| {label} | " + " | ".join(_cell(d[key]) for d in data["splits"].values()) + " |")
    first = next(iter(data["splits"]))
    groups = data["splits"][first]
    lines += ["", w["writers"].format(split=splits[0], writers="; ".join(sorted(groups["by_writer"])))]
    if "probes" in data:
        lines += ["", f"## {w['probes']}", "", w["probes_intro"], "", w["probes_head"], "| --- | --- | --- |"]
        lines += [f"| {label} | {data['probes'][kind]['tried']} | {data['probes'][kind]['released']} |" for kind, label in w["probe_rows"].items()]
    if readings:
        lines += ["", f"## {w['first']}", "", w["first_intro"], "", w["first_head"], "| --- | --- | --- | --- | --- | --- | --- |"]
        note = "note" if lang == "en" else f"note_{lang}"
        lines += [f"| {r['round']} | {r['answers']} | {_cell(r['kappa'])} | {_cell(r['exact'])} | {_cell(r['auto_share'])} | {r['auto_wrong']} / {r['auto_answers']} | {r[note]} |" for r in readings]
    for key, title in w["groups"].items():
        lines += ["", f"## {title} ({splits[0]})", "", w["group_head"], "| --- | --- | --- | --- | --- | --- |"]
        for name, d in groups[key].items():
            lines.append(f"| {name} | {d['answers']} | {_cell(d['kappa'])} | {_cell(d['exact'])} | {_cell(d['auto_share'])} | {d['auto_wrong']} / {d['auto_answers']} |")
    lines += ["", f"## {w['links']} ({splits[0]})", "", w["links_head"], "| --- | --- | --- | --- | --- |"]
    for name, d in groups["links"].items():
        lines.append(f"| {name} | {d['true']} | {d['found']} | {_cell(d['precision'])} | {_cell(d['recall'])} |")
    return "\n".join(lines) + "\n"


def _cell(x) -> str:
    return "" if x is None else f"{x:.3f}" if isinstance(x, float) else str(x)


def main(
    lesson: str,
    answers: Path = typer.Option(None, help="Other labelled answers than the lesson's own."),
    write: bool = typer.Option(False, help="Write accuracy.json and accuracy.md into the lesson's folder."),
    errors: bool = typer.Option(False, help="List what was released wrongly."),
) -> None:
    """Measure the offline scorer on labelled answers."""
    folder = find_lesson(lesson)
    rubric = load_rubric(folder / "rubric.yml")
    path = answers or folder / "answers.jsonl"
    items = read_answers(path)
    for slot in rubric.slots:
        scorer(rubric).vectors(slot)  # loading the encoder is not scoring
    start = time.perf_counter()
    data = report(rubric, items)
    seconds = time.perf_counter() - start
    data["probes"] = probes.measure(rubric, items)
    data["answers_sha256"] = hashlib.sha256(path.read_bytes()).hexdigest()
    data["rubric_sha256"] = hashlib.sha256((folder / "rubric.yml").read_bytes()).hexdigest()
    diary = folder / "accuracy_readings.json"
    readings = json.loads(diary.read_text(encoding="utf-8")) if diary.is_file() else []
    typer.echo(page(data, readings))
    typer.echo(f"{len(items)} answers in {seconds:.1f} s, {1000 * seconds / len(items):.1f} ms an answer.")
    if errors:
        for d in data["splits"].values():
            for e in d["auto_errors"]:
                typer.echo(json.dumps(e, ensure_ascii=False))
    if write:
        for name, text in (("accuracy.json", json.dumps(data, indent=1, ensure_ascii=False) + "\n"), ("accuracy.md", page(data, readings))):
            part = folder / (name + ".part")
            part.write_text(text, encoding="utf-8")
            part.replace(folder / name)
            typer.echo(f"wrote {name}")


if __name__ == "__main__":
    typer.run(main)
