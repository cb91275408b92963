"""Fits model/remarks.npz: python -m autograder.answers.training.remarks     # a minute on a CPU

Positive windows lie mostly in a remark (remarks.yml, and the frames of material.py) that stands before, behind or around a right answer;
negative ones are those of right answers as they are. The line is where ALARM of the calibration writer's right answers have a window above it.
"""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import numpy as np
from ruamel.yaml import YAML

from autograder.answers.labelled import Labelled, read_labelled
from autograder.answers.normalise import normalise
from autograder.answers.remarks import BUCKETS, FILE, windows, words_of
from autograder.answers.training.material import Frames, read_frames
from autograder.lesson.rubric import load_rubric

ALARM = 0.10
USUAL = 15  # right answers that use a word, from which it is usual
_COPIES = 12  # answers around each remark
_DRAWN = 150  # frames of each kind, of which the equal ones count once
_MARK = "\ue000"


def right_answers(split: str) -> list[Labelled]:
    out = []
    for folder in sorted(p.parent for p in (Path(__file__).parents[3] / "lessons").glob("lesson*/answers.jsonl")):
        rubric = load_rubric(folder / "rubric.yml")
        rows = read_labelled(folder / "answers.jsonl")
        out += [r for r in rows if r.split == split and (g := r.gold(rubric.slots[r.slot])).wrong is False and g.points]
    return out


def frames() -> dict[str, list[str]]:
    listed = YAML(typ="safe").load(Path(__file__).with_name("remarks.yml").read_text(encoding="utf-8"))
    out: dict[str, list[str]] = {}
    kinds, r = Frames(read_frames()), random.Random(0)
    for lang, colon, stop in (("zh", "：", "。"), ("en", ": ", ". ")):
        own = {kinds.draw(kind, lang, r) for kind in ("taken_back", "withdrawn") for _ in range(_DRAWN)}
        out[lang] = sorted(own) + [
            t
            for x in listed[lang]
            for t in (f"{x}{colon}{{X}}", f"{{X}}{stop if lang == 'en' else ''}{x}{stop.strip()}", f"{{X}}\n{x}")
        ]
    return out


def fit(seed: int = 0) -> tuple[np.ndarray, float, frozenset[str]]:
    r = random.Random(seed)
    answers = right_answers("train")
    counts = Counter(w for a in answers for w in set(words_of(normalise(a.answer).text)))
    usual = frozenset(w for w, n in counts.items() if n >= USUAL)
    x: list[list[int]] = []
    y: list[float] = []
    for row in answers:
        for _, grams in windows(normalise(row.answer).text, usual):
            x.append(grams)
            y.append(0.0)
    for lang, some in frames().items():
        mine = [a.answer for a in answers if (a.lang == "zh") == (lang == "zh")]
        for frame in some:
            for _ in range(_COPIES):
                answer = normalise(r.choice(mine)).text
                answer = answer[: r.choice((40, 80, 200))]
                text = normalise(frame.replace("{X}", _MARK)).text
                before, _, behind = text.partition(_MARK)
                for span, grams in windows(before + answer + behind, usual):
                    inside = max(0, min(span.end, len(before)) - span.start) + max(
                        0, span.end - max(span.start, len(before) + len(answer))
                    )
                    share = inside / (span.end - span.start)
                    if share >= 0.6:
                        x.append(grams)
                        y.append(1.0)
    weights, bias = np.zeros(BUCKETS), 0.0
    square = np.full(BUCKETS, 1e-6)
    target = np.array(y)
    order = np.arange(len(x))
    generator = np.random.default_rng(seed)
    for _ in range(4):
        generator.shuffle(order)
        for i in order:
            g = x[i]
            z = weights[g].sum() + bias
            error = 1 / (1 + np.exp(-z)) - target[i]
            square[g] += error * error
            weights[g] -= 0.3 * error / np.sqrt(square[g]) + 1e-5 * weights[g]
            bias -= 0.01 * error
    return weights.astype(np.float16), float(bias), usual


def main() -> None:
    weights, bias, usual = fit()
    best = [
        max(float(weights[g].astype(np.float32).sum()) + bias for _, g in windows(normalise(a.answer).text, usual))
        for a in right_answers("calibration")
    ]
    line = float(np.quantile(best, 1 - ALARM))
    np.savez_compressed(
        FILE,
        weights=weights,
        bias=np.float32(bias),
        line=np.float32(line),
        usual=np.frombuffer("\n".join(sorted(usual)).encode(), np.uint8),
    )
    print(f"{len(best)} right answers of the calibration writer; line {line:.2f}")


if __name__ == "__main__":
    main()
