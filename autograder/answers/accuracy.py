"""How right is the reader? `python -m autograder.answers.accuracy LESSON --write` measures it on answers that it never learnt from.

Harm is what counts: released points that are wrong, or a veto missed or wrongly raised where points are given, so that it could change
the verdict. `--lanes` fits the lanes anew (lanes.py) on the calibration writer of all lessons and writes model/lanes.json.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import typer

from autograder.answers.accuracy_words import WORDS
from autograder.answers.items import language_of
from autograder.answers.labelled import Gold, Labelled, read_labelled
from autograder.answers.lanes import Lanes, shipped_lanes
from autograder.answers.score import Assessment, conclude, scorer
from autograder.lesson import find_lesson
from autograder.lesson.rubric import Rubric, load_rubric

MEASURED = ("independent", "calibration")
HARM, NOTICED = (
    0.02,
    0.90,
)  # at most this share of what is released is harmed; at least this share of wrong claims beside credit is noticed
_LESSONS = Path(__file__).parents[2] / "lessons"

# Right answers taken back. None of these stands among the frames that training uses (training/material.py).
TAKEN_BACK = {
    "en": (
        "Bad example: {}",
        "{}\n\nNot a word of it is so.",
        "{}\nnope",
        "I doubt that {}",
        "{}\n\nThat was a lie.",
        "True or false? {}\nFalse.",
        "My neighbour's answer, not mine: {}",
    ),
    "zh": (
        "错误示范：{}",
        "{}以上皆非。",
        "{}\n\n一派胡言。",
        "我怀疑{}",
        "{}骗你的。",
        "判断题：{}答：错。",
        "邻座写的，不是我的：{}",
    ),
}
_EACH = 6  # right answers a lesson that are taken back, of each language


@dataclass(frozen=True)
class Read:
    """One labelled answer and what the reader made of it."""

    row: Labelled
    gold: Gold
    assessment: Assessment
    rubric: Rubric

    @property
    def lang(self) -> str:
        return language_of(self.row.answer)


@dataclass(frozen=True)
class Outcome:
    """gold, given: points.  released: lane auto.  harm: released wrongly.  noticed: something false was seen (veto or review)."""

    gold: int
    given: int
    top: int
    released: bool
    harm: bool
    wrong: bool | None
    veto: bool
    vetoed: bool


def read_all(rubric: Rubric, rows: Iterable[Labelled]) -> list[Read]:
    ready = scorer(rubric)
    return [Read(r, r.gold(rubric.slots[r.slot]), ready.assess(r.slot, r.answer), rubric) for r in rows]


def outcome(r: Read, lanes: Lanes) -> Outcome:
    score = conclude(r.assessment, r.rubric, r.row.answer, "en", lanes).score
    vetoed = any(m.veto and m.sure for m in score.misconceptions)
    released = score.lane == "auto"
    off = int(score.points) != r.gold.points
    decides = score.points > 0 or r.row.slot == "explanation"  # a question without a causal link fails, veto or not
    harm = released and (off or (vetoed != r.gold.veto and decides))
    return Outcome(
        r.gold.points, int(score.points), score.max_points, released, harm, r.gold.wrong, r.gold.veto, vetoed
    )


def kappa(truth: list[int], given: list[int], top: int = 2) -> float:
    """Quadratic weighted kappa of two lists of points 0..top. 1 is perfect agreement, 0 is chance."""
    n = top + 1
    seen = np.zeros((n, n))
    for t, g in zip(truth, given):
        seen[t, g] += 1
    weight = np.subtract.outer(np.arange(n), np.arange(n)) ** 2 / top**2
    chance = np.outer(seen.sum(1), seen.sum(0)) / max(seen.sum(), 1)
    return 1.0 if not (weight * chance).sum() else float(1 - (weight * seen).sum() / (weight * chance).sum())


def figures(outcomes: list[Outcome]) -> dict:
    """The figures of one set of answers. kappa: of those worth two points."""
    two = [o for o in outcomes if o.top == 2]
    released = [o for o in outcomes if o.released]
    beside = [o for o in outcomes if o.wrong and o.given > 0]
    return {
        "answers": len(outcomes),
        "kappa": _r(kappa([o.gold for o in two], [o.given for o in two])) if len({o.gold for o in two}) > 1 else None,
        "exact": _r(np.mean([o.gold == o.given for o in outcomes])) if outcomes else None,
        "released": len(released),
        "released_share": _r(len(released) / len(outcomes)) if outcomes else None,
        "harmed": sum(o.harm for o in released),
        "too_much": sum(o.given > o.gold for o in released),
        "wrong_beside_credit": len(beside),
        "wrong_noticed": sum(not o.released or o.vetoed for o in beside),
        "vetoes": sum(o.veto for o in outcomes),
        "vetoes_raised": sum(o.vetoed for o in outcomes),
        "vetoes_false": sum(o.vetoed and not o.veto for o in outcomes),
    }


def baselines(reads: list[Read]) -> dict:
    """Kappa of readers that read nothing: always 0 points; by length; by the share of the reference's words. Each with the best cuts there are."""
    two = [r for r in reads if r.rubric.slots[r.row.slot].points == 2]
    truth = [r.gold.points for r in two]
    if len(set(truth)) < 2:
        return {}

    def best(values: list[float]) -> float:
        cuts = sorted(set(np.quantile(values, np.linspace(0.05, 0.95, 19)).tolist()))
        return max(kappa(truth, [(v > a) + (v > b) for v in values]) for i, a in enumerate(cuts) for b in cuts[i:])

    def terms(r: Read) -> float:
        slot = r.rubric.slots[r.row.slot]
        grams = lambda t: {t[i : i + 2] for i in range(len(t) - 1)}
        wanted = grams((slot.reference.zh if r.lang == "zh" else slot.reference.en).lower())
        return len(wanted & grams(r.row.answer.lower())) / len(wanted)

    return {
        "zero": _r(kappa(truth, [0] * len(truth))),
        "length": _r(best([float(len(r.row.answer)) for r in two])),
        "terms": _r(best([terms(r) for r in two])),
    }


def attacks(rubric: Rubric, reads: list[Read], lanes: Lanes) -> dict:
    """What must not be released with points: {kind: {"tried", "released"}}. Released right answers are taken back; the rest are labelled as what they are."""
    out = {}
    ready = scorer(rubric)
    tried = []
    for lang in ("zh", "en"):
        right = [
            r
            for r in reads
            if r.lang == lang and r.gold.wrong is False and (o := outcome(r, lanes)).released and o.given == o.top
        ][:_EACH]
        tried += [(r.row.slot, frame.format(r.row.answer)) for r in right for frame in TAKEN_BACK[lang]]
    scores = [conclude(ready.assess(slot, text), rubric, text, "en", lanes).score for slot, text in tried]
    out["taken_back"] = {
        "tried": len(tried),
        "released": sum(s.lane == "auto" and s.points == s.max_points for s in scores),
    }
    for kind in ("stuffed", "terms_only", "injected"):
        some = [r for r in reads if r.row.kind == kind]
        got = [outcome(r, lanes) for r in some]
        out[kind] = {"tried": len(some), "released": sum(o.released and o.given > o.gold for o in got)}
    return out


def coverage(reads: list[Read]) -> list[dict]:
    """What a stricter or laxer lane would do: share released and harmed at several thresholds."""
    out = []
    base = shipped_lanes()
    for sure in (0.6, 0.7, 0.8, 0.9, 0.95, 0.98):
        o = [outcome(r, replace(base, sure=sure)) for r in reads]
        free = [x for x in o if x.released]
        out.append(
            {
                "sure": sure,
                "released": _r(len(free) / len(o)),
                "harmed": _r(sum(x.harm for x in free) / len(free)) if free else 0.0,
            }
        )
    return out


def report(rubric: Rubric, rows: list[Labelled]) -> dict:
    """All figures of a lesson, by split and language."""
    lanes = shipped_lanes()
    out: dict = {"lesson": rubric.lesson, "learnt_from": sum(r.split == "train" for r in rows), "splits": {}}
    everything: list[Read] = []
    for split in MEASURED:
        reads = read_all(rubric, [r for r in rows if r.split == split])
        if reads:
            by = {"all": reads, **{g: [r for r in reads if r.lang == g] for g in ("zh", "en")}}
            out["splits"][split] = {name: figures([outcome(r, lanes) for r in some]) for name, some in by.items()}
            everything += reads
    out["baselines"] = baselines(everything)
    out["coverage"] = coverage(everything)
    hostile = read_all(
        rubric, [r for r in rows if r.split == "train" and r.kind in ("stuffed", "terms_only", "injected")]
    )
    out["attacks"] = attacks(rubric, everything + hostile, lanes)
    return out


def fit(reads: list[Read]) -> Lanes:
    """Lanes that release most at HARM and NOTICED on these answers, with some room: the weights by logistic regression, then a search over the thresholds."""
    known = [r for r in reads if r.gold.wrong is not None and not r.assessment.gate.empty]
    x = np.array([[*r.assessment.signs, 1.0] for r in known])
    y = np.array([float(r.gold.wrong) for r in known])
    w = np.zeros(x.shape[1])
    ridge = np.diag([0.5] * (x.shape[1] - 1) + [0.0])
    for _ in range(50):
        p = 1 / (1 + np.exp(-x @ w))
        w += np.linalg.solve((x.T * (p * (1 - p))) @ x + ridge, x.T @ (y - p) - ridge @ w)
    weights, bias = tuple(round(float(v), 3) for v in w[:-1]), round(float(w[-1]), 3)
    start = Lanes(weights, bias)
    clean = [start.doubt(r.assessment.signs) for r in known if r.gold.wrong is False]
    best, most = replace(start, sure=0.995, most_doubt=0.0, least_doubt=0.9), -1
    for doubt in sorted({round(float(q), 4) for q in np.quantile(clean, np.linspace(0.4, 0.9, 11))}):
        for sure in (0.6, 0.7, 0.8, 0.9, 0.94, 0.96, 0.97, 0.98, 0.985, 0.99, 0.995):
            for least in (0.0, 0.15, 0.4):
                lanes = replace(start, sure=sure, most_doubt=doubt, least_doubt=least)
                f = figures([outcome(r, lanes) for r in reads])
                noticed = f["wrong_noticed"] / max(1, f["wrong_beside_credit"])
                if f["released"] > most and f["harmed"] <= 0.9 * HARM * f["released"] and noticed >= NOTICED + 0.015:
                    best, most = lanes, f["released"]
    return best


def page(data: dict, lang: str = "en") -> str:
    """The report as Markdown, for the website and for people."""
    w = WORDS[lang]
    lines = [
        f"# {w['title']} {data['lesson']}",
        "",
        w["intro"].format(lesson=data["lesson"], learnt=data["learnt_from"]),
        "",
    ]
    for split, sets in data["splits"].items():
        title = w[split][:1].upper() + w[split][1:]
        lines += [f"## {title}", "", "| | " + " | ".join(w[n] for n in sets) + " |", "| --- |" + " --- |" * len(sets)]
        lines += [
            f"| {label} | " + " | ".join(_cell(sets[n][key]) for n in sets) + " |" for key, label in w["rows"].items()
        ] + [""]
    lines.pop()
    lines += ["", f"## {w['coverage']}", "", w["coverage_intro"], "", w["coverage_head"], "| --- | --- | --- |"]
    lines += [
        f"| {c['sure']} | {c['released']:.2f} {'█' * round(20 * c['released'])} | {c['harmed']:.3f} {'█' * round(200 * c['harmed'])} |"
        for c in data["coverage"]
    ]
    lines += ["", f"## {w['baselines']}", "", w["baselines_intro"], ""]
    lines += [f"- {w['baseline_rows'][k]}: {v:.3f}" for k, v in data["baselines"].items()]
    lines += ["", f"## {w['attacks']}", "", w["attacks_intro"], "", w["attacks_head"], "| --- | --- | --- |"]
    lines += [f"| {w['attack_rows'][k]} | {v['tried']} | {v['released']} |" for k, v in data["attacks"].items()]
    return "\n".join(lines) + "\n"


def _cell(x) -> str:
    return "" if x is None else f"{x:.3f}" if isinstance(x, float) else str(x)


def _r(x) -> float:
    return round(float(x), 3)


def lesson_folders() -> list[Path]:
    return sorted(p.parent for p in _LESSONS.glob("lesson*/answers.jsonl"))


def main(
    lessons: list[str] = typer.Argument(None, help="Lessons; all by default."),
    write: bool = typer.Option(False, help="Write accuracy.json and accuracy.md into the lesson's folder."),
    lanes: bool = typer.Option(
        False, help="First fit the lanes on the calibration writer of all lessons, and write model/lanes.json."
    ),
) -> None:
    """Measure the reader on labelled answers that it did not learn from."""
    if lanes:
        reads = []
        for folder in lesson_folders():
            rubric = load_rubric(folder / "rubric.yml")
            reads += read_all(
                rubric, [r for r in read_labelled(folder / "answers.jsonl", rubric) if r.split == "calibration"]
            )
        found = fit(reads)
        measured = figures([outcome(r, found) for r in reads])
        found.write(calibration=measured)
        shipped_lanes.cache_clear()
        typer.echo(f"{found}\n{json.dumps(measured)}")
    for folder in [find_lesson(x) for x in lessons or ()] or ([] if lanes and not write else lesson_folders()):
        rubric = load_rubric(folder / "rubric.yml")
        data = report(rubric, read_labelled(folder / "answers.jsonl", rubric))
        for name in ("answers.jsonl", "rubric.yml"):
            data[name.split(".")[0] + "_sha256"] = hashlib.sha256((folder / name).read_bytes()).hexdigest()
        typer.echo(page(data))
        if write:
            for name, text in (
                ("accuracy.json", json.dumps(data, indent=1, ensure_ascii=False) + "\n"),
                ("accuracy.md", page(data)),
            ):
                part = folder / (name + ".part")
                part.write_text(text, encoding="utf-8")
                part.replace(folder / name)


if __name__ == "__main__":
    typer.run(main)
