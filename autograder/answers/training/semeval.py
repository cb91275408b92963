"""The reader on real students: SemEval-2013 task 7, three ways (correct, contradictory, incorrect), trained and tested as its authors split it.

    python -m autograder.answers.training.semeval DATA BASE [--start OUT.npz] [--steps 2000]

DATA: the unzipped `semeval-3way` of the public repository myrosia/semeval-2013-task7 (CC BY-SA 3.0), the folder that holds `training` and
`test`. Nothing of it is copied into this repository, and nothing learnt here is shipped. BASE: the folder that `base` wrote. --start: weights
that `train` wrote, to see what the course's own answers are worth to other students' ones.

An item is a question with one of its reference answers; an answer states it (correct), states its contrary (contradictory), or
neither (incorrect): the network's own three classes. A question with several references is judged by the one that is stated most surely.
Prints accuracy, macro-averaged F1 and weighted F1 for each test set.
"""

from __future__ import annotations

import argparse
import json
import random
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from autograder.answers.tokens import Tokens
from autograder.answers.training import base
from autograder.answers.training.batches import Batch, Encoder, Prepared, batch_of, shuffled
from autograder.answers.training.train import Schedule, forward, learn, unpacked

CLASSES = ("incorrect", "correct", "contradictory")  # the network's absent, present, contradicted
MOST_REFERENCES = 3  # of a question: the best ones


@dataclass(frozen=True)
class Answer:
    """A student's answer. key: its question. label: index in CLASSES."""

    key: str
    text: str
    label: int


def read_question(path: Path) -> tuple[str, list[str], list[Answer]]:
    """(key, items, answers) of one file. Raises ValueError for a label that the three-way task does not have."""
    root = ET.parse(path).getroot()
    key = f"{path.parent.name}/{root.attrib['id']}"
    question = " ".join((root.findtext("questionText") or "").split())
    rank = {"BEST": 0, "GOOD": 1, "MINIMAL": 2, "KEYWORD": 3}
    references = sorted(
        root.iterfind("referenceAnswers/referenceAnswer"), key=lambda r: rank.get(r.get("category", "BEST"), 4)
    )
    items = [f"{' '.join((r.text or '').split())} ({question})" for r in references[:MOST_REFERENCES]]
    answers = []
    for a in root.iterfind("studentAnswers/studentAnswer"):
        if a.attrib["accuracy"] not in CLASSES:
            raise ValueError(
                f"{path}: the label {a.attrib['accuracy']!r} is none of {', '.join(CLASSES)}; use semeval-3way."
            )
        answers.append(Answer(key, " ".join((a.text or "").split()), CLASSES.index(a.attrib["accuracy"])))
    return key, items, answers


def read_set(folder: Path) -> tuple[dict[str, list[str]], list[Answer]]:
    """All questions of a folder: ({key: items}, answers)."""
    files = sorted(folder.glob("*.xml"))
    if not files:
        raise SystemExit(f"There is no question in {folder}: DATA is the folder that holds `training` and `test`.")
    items, answers = {}, []
    for path in files:
        key, some, told = read_question(path)
        items[key] = some
        answers += told
    return items, answers


def slots_of(items: dict[str, list[str]]) -> dict:
    """Slots as the encoder takes them."""
    item = lambda n, text: {"id": str(n), "kind": "link", "en": text, "zh": text}
    return {key: {"items": [item(n, t) for n, t in enumerate(some)]} for key, some in items.items()}


def asked(answer: Answer, enc: Encoder) -> Prepared:
    ids, _ = enc.answer([answer.text], "en")
    return Prepared(ids, [((answer.key, i["id"], "en"), answer.label, None) for i in enc.slots[answer.key]["items"]])


def source(answers: list[Answer], enc: Encoder, size: int, seed: int) -> Iterator[Batch]:
    r = random.Random(seed)
    ready = [asked(a, enc) for a in answers if a.text]
    while True:
        for some in shuffled(ready, size, r):
            yield batch_of(some, enc)


@torch.no_grad()
def judged(net, answers: list[Answer], enc: Encoder, device: str, size: int = 256) -> list[int]:
    """The class of each answer, by the item that is stated most surely."""
    net.eval()
    out = []
    for i in range(0, len(answers), size):
        batch = batch_of([asked(a, enc) for a in answers[i : i + size]], enc)
        p = forward(net, batch, device)[0].float().softmax(-1).cpu().numpy()
        for n in range(len(answers[i : i + size])):
            mine = p[batch.owner == n]
            out.append(int(mine[mine[:, 1].argmax()].argmax()))
    return out


def scores(gold: list[int], given: list[int]) -> dict[str, float]:
    """Accuracy, macro-averaged F1 over the classes that occur, and F1 weighted by how often each occurs."""
    g, h = np.array(gold), np.array(given)
    f1, weight = [], []
    for c in sorted(set(gold)):
        hit = int(((g == c) & (h == c)).sum())
        f1.append(2 * hit / max(1, int((g == c).sum() + (h == c).sum())))
        weight.append(float((g == c).mean()))
    rounded = lambda x: round(float(x), 3)
    return {
        "answers": len(gold),
        "accuracy": rounded((g == h).mean()),
        "macro_f1": rounded(np.mean(f1)),
        "weighted_f1": rounded(np.dot(f1, weight)),
    }


def main() -> None:
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("data", type=Path)
    a.add_argument("base", type=Path)
    a.add_argument("--start", type=Path, help="weights that train wrote")
    a.add_argument("--steps", type=int, default=2000)
    a.add_argument("--seconds", type=float, default=1e9)
    a.add_argument("--size", type=int, default=96)
    a.add_argument("--rate", type=float, default=1.2e-4)
    a.add_argument("--seed", type=int, default=0)
    a.add_argument("--out", type=Path, help="write the figures there as JSON")
    o = a.parse_args()
    torch.manual_seed(o.seed)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.backends.cuda.enable_cudnn_sdp(False)  # it makes a plan for each new shape (train.py)
    told = {}
    for corpus in ("sciEntsBank", "beetle"):
        items, train = read_set(o.data / "training" / "3way" / corpus)
        tests = {t.name: read_set(t) for t in sorted((o.data / "test" / "3way" / corpus).iterdir()) if t.is_dir()}
        everything = items | {k: v for found, _ in tests.values() for k, v in found.items()}
        enc = Encoder(Tokens(o.base / "vocabulary.json"), slots_of(everything))
        net = base.load(o.base / "base.npz", 8, 4)
        if o.start:
            net.load_state_dict(unpacked(o.start), strict=False)
        net = net.to(device)
        net.word.weight.requires_grad_(False)
        net.dropout(0.1)
        steps, seconds = learn(
            net, source(train, enc, o.size, o.seed), Schedule(o.steps, o.rate, 0.0, o.seconds), device
        )
        print(
            f"{corpus}: {len(train)} answers to {len(items)} questions learnt from, {steps} steps, {seconds:.0f} s",
            flush=True,
        )
        for name, (_, answers) in tests.items():
            told[f"{corpus} {name}"] = scores([x.label for x in answers], judged(net, answers, enc, device))
            print(f"{corpus} {name}: {told[f'{corpus} {name}']}", flush=True)
    if o.out:
        o.out.write_text(
            json.dumps({"seed": o.seed, "steps": o.steps, "start": str(o.start or ""), "sets": told}, indent=1)
        )


if __name__ == "__main__":
    main()
