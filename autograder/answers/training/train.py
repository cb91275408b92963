"""Trains the reader: python -m autograder.answers.training.train MATERIAL.json BASE OUT [--leave-lesson lesson03] [--steps 4000]

MATERIAL: from `material`. BASE: the folder that `base` wrote. Writes OUT.npz (weights) and OUT.json (what was measured, seeds, versions).
One H200, 3 to 5 minutes. Lines of the split `train` are learnt from; calibration and independent lines are only read.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F

from autograder.answers.tokens import END, PAD, START, Tokens
from autograder.answers.training import base
from autograder.answers.training.material import (
    NOT_PRESENT,
    PRESENT,
    UNKNOWN,
    WRONG,
    Epoch,
    gold_points,
    joined,
    points_of,
)

ITEM, ANSWER = 96, 352  # as autograder.answers.verifier reads them: tokens at most
PREFIX = {"link": "query: ", "misconception": "claim: ", "wrong": "claim: "}


def language_of(text: str) -> str:
    return "zh" if 8 * sum("\u3400" <= c <= "\u9fff" for c in text) > len(text) else "en"


class Encoder:
    """Texts as ids, each text once."""

    def __init__(self, tokens: Tokens, slots: dict):
        self.tokens, self.slots = tokens, slots
        self.known: dict = {}
        self.kind = {(key, i["id"]): i for key, slot in slots.items() for i in slot["items"]}

    def ids(self, text: str, most: int) -> list[int]:
        if text not in self.known:
            self.known[text] = self.tokens(text).ids
        return [START, *self.known[text][: most - 2], END]

    def item(self, key: str, item: str, lang: str) -> list[int]:
        i = self.kind[key, item]
        return self.ids(PREFIX[i["kind"]] + i[lang], ITEM)

    def answer(self, segments, lang: str) -> tuple[list[int], list[int]]:
        """(ids, for each id the number of the piece that it stands in, -1 for none)."""
        texts = [s if isinstance(s, str) else s.text for s in segments]
        whole = "passage: " + joined(texts, lang)
        found = self.tokens(whole)
        ends, at = [], len("passage: ")
        for t in texts:
            at += len(t) + (lang != "zh")
            ends.append(at)
        piece = [
            -1 if b <= len("passage: ") else next((n for n, e in enumerate(ends) if a < e), len(ends) - 1)
            for a, b in found.at
        ]
        keep = ANSWER - 2
        return [START, *found.ids[:keep], END], [-1, *piece[:keep], -1]


def pad(rows: list[list[int]], device: str, value: int = PAD):
    n = (max(map(len, rows)) + 7) // 8 * 8
    ids, mask = np.full((len(rows), n), value), np.zeros((len(rows), n), np.float32)
    for i, r in enumerate(rows):
        ids[i, : len(r)] = r
        mask[i, : len(r)] = 1
    return torch.from_numpy(ids).to(device), torch.from_numpy(mask).to(device)


def prepare(example, enc: Encoder, r: random.Random, slots: dict):
    """An example as numbers: (ids, [(item's ids, label, piece labels or None), ...])."""
    ids, piece = enc.answer(example.segments, example.lang)
    spoken = language_of(example.text)
    items = slots[example.key]["items"]
    links = {i["id"] for i in items if i["kind"] == "link"}
    out = []
    several = example.only is None and (len(example.segments) > 1 or len(example.text) < 120)
    for i in items:
        y = example.label(i["id"], links)
        if y == UNKNOWN:
            continue
        lang = spoken if r.random() < 0.85 else ("en" if spoken == "zh" else "zh")
        marks = None
        if several:
            if i["id"] == WRONG:
                flags = [s.wrong for s in example.segments]
            else:
                flags = [i["id"] in s.has for s in example.segments]
            if None not in flags:
                marks = np.array([-1 if p < 0 else int(flags[p]) for p in piece], np.int8)
        out.append(((example.key, i["id"], lang), y, marks))
    for key, item in example.other:
        out.append(((key, item, spoken), 0, None))
    return ids, out


def batches(prepared: list, size: int, r: random.Random):
    r.shuffle(prepared)
    out = []
    for i in range(0, len(prepared), size * 16):
        window = sorted(prepared[i : i + size * 16], key=lambda p: len(p[0]))
        some = [window[j : j + size] for j in range(0, len(window), size)]
        r.shuffle(some)
        out += some
    return out


def forward(net, enc: Encoder, batch: list, device: str):
    ids, mask = pad([p[0] for p in batch], device)
    names = list(dict.fromkeys(name for p in batch for name, *_ in p[1]))
    number = {n: k for k, n in enumerate(names)}
    item_ids, item_mask = pad([enc.item(*n) for n in names], device)
    owner = torch.tensor([k for k, p in enumerate(batch) for _ in p[1]], device=device)
    which = torch.tensor([number[name] for p in batch for name, *_ in p[1]], device=device)
    with torch.autocast(device, torch.bfloat16, enabled=device == "cuda"):
        lower, item_mask = net.lower(net.embed(item_ids), item_mask)
        return (*net(net.embed(ids), mask, lower.index_select(0, which), item_mask[which], owner), mask)


def loss_of(found, where, batch: list, device: str, pointer: float):
    y = torch.tensor([label for p in batch for _, label, _ in p[1]], device=device)
    logp = F.log_softmax(found.float(), -1)
    sure = y != NOT_PRESENT
    target = torch.where(sure, y, torch.zeros_like(y))
    smooth = 0.02
    ce = -(1 - smooth) * logp.gather(1, target[:, None])[:, 0] - smooth * logp.mean(-1)
    either = -torch.log1p(-logp[:, PRESENT].exp().clamp(max=1 - 1e-6))
    loss = torch.where(sure, ce, either).mean()
    rows = [marks for p in batch for _, _, marks in p[1]]
    marks = np.full(where.shape, -1, np.int8)
    for i, m in enumerate(rows):
        if m is not None:
            marks[i, : len(m)] = m
    marks = torch.from_numpy(marks).to(device)
    known = marks >= 0
    if pointer and known.any():
        bce = F.binary_cross_entropy_with_logits(where.float(), marks.clamp(min=0).float(), reduction="none")
        loss = loss + pointer * (bce * known).sum() / known.sum()
    return loss


@torch.no_grad()
def predict(net, enc: Encoder, rows: list[dict], slots: dict, device: str, size: int = 256):
    """For each labelled line {item: (p present, p contradicted, greatest mark of a piece)}."""
    net.eval()
    todo = []
    for n, row in enumerate(rows):
        texts = [s["text"] for s in row["segments"]]
        lang = "zh" if row["lang"] == "zh" else "en"
        ids, piece = enc.answer(texts, lang)
        spoken = language_of(joined(texts, lang))
        todo.append((ids, [((row["key"], i["id"], spoken), 0, None) for i in slots[row["key"]]["items"]], n, piece))
    todo.sort(key=lambda t: len(t[0]))
    out: list[dict] = [{} for _ in rows]
    for i in range(0, len(todo), size):
        some = todo[i : i + size]
        found, where, mask = forward(net, enc, some, device)
        p = found.float().softmax(-1).cpu().numpy()
        w = (
            (where.float().sigmoid() * mask[torch.tensor([k for k, t in enumerate(some) for _ in t[1]], device=device)])
            .cpu()
            .numpy()
        )
        k = 0
        for _, items, n, piece in some:
            for (_, item, _), *_ in items:
                out[n][item] = (float(p[k, 1]), float(p[k, 2]), _strongest(w[k], piece))
                k += 1
    return out


def _strongest(marks: np.ndarray, piece: list[int]) -> float:
    by = defaultdict(list)
    for m, p in zip(marks, piece):
        by[p].append(m)
    return max((float(np.mean(v)) for p, v in by.items() if p >= 0), default=0.0)


def qwk(pairs: list[tuple[int, int]], k: int = 3) -> float:
    n, seen = len(pairs), Counter(pairs)
    a, b = (Counter(p[i] for p in pairs) for i in (0, 1))
    w = lambda i, j: (i - j) ** 2
    top = sum(w(i, j) * seen[i, j] for i in range(k) for j in range(k))
    return 1 - top / max(1e-9, sum(w(i, j) * a[i] * b[j] / n for i in range(k) for j in range(k)))


def report(rows: list[dict], probs: list[dict], slots: dict, line: float = 0.4) -> dict:
    """Agreement, wrong claims found beside credit, and what the surest are worth."""
    seen = []
    for row, p in zip(rows, probs):
        slot = slots[row["key"]]
        gold, _, wrong = gold_points(slot, row["segments"])
        unknown = any(s["wrong"] is None for s in row["segments"])
        links = [i["id"] for i in slot["items"] if i["kind"] == "link"]
        given = points_of(slot, {i for i in links if p[i][0] > line})
        contra = max(p[i][1] for i in links)
        mis = max((p[i["id"]][0] for i in slot["items"] if i["kind"] == "misconception"), default=0.0)
        doubt = max(p[WRONG][0], contra, mis)
        margin = min(max(p[i][0], 1 - p[i][0]) for i in links)
        seen.append((gold, given, wrong, unknown, doubt, margin, p[WRONG][0], p[WRONG][2], row))
    out = {"answers": len(seen)}
    for name, some in (
        ("all", seen),
        *(
            (g, [s for s in seen if language_of(joined([x["text"] for x in s[8]["segments"]], "en")) == g])
            for g in ("zh", "en")
        ),
    ):
        two = [s for s in some if slots[s[8]["key"]]["points"] == 2]
        if two:
            out[f"qwk_{name}"] = round(qwk([s[:2] for s in two]), 3)
            out[f"exact_{name}"] = round(float(np.mean([s[0] == s[1] for s in two])), 3)
    known = [s for s in seen if not s[3]]
    beside = [s for s in known if s[2] and s[1] > 0]
    clean = [s for s in known if not s[2] and s[1] > 0]
    for name, of in (("doubt", lambda s: s[4]), ("wrong", lambda s: s[6]), ("mark", lambda s: s[7])):
        got = {
            t: [round(float(np.mean([of(s) > t for s in group])), 3) if group else None for group in (beside, clean)]
            for t in (0.1, 0.2, 0.35, 0.5)
        }
        out[f"noticed_and_false_{name}"] = got
    out["with_wrong_beside_credit"], out["clean_with_credit"] = len(beside), len(clean)
    return out


def packed(state: dict) -> dict[str, np.ndarray]:
    """Weights as they are shipped: layers' matrices in 8 bits with a half-precision scale a row, everything else in half precision."""
    out = {}
    for name, value in state.items():
        v = value.float().cpu().numpy()
        if name.startswith("layers.") and v.ndim == 2:
            scale = np.maximum(np.abs(v).max(1, keepdims=True) / 127, 1e-8).astype(np.float16)
            out[name + ".scale"] = scale
            out[name] = np.clip(np.rint(v / scale.astype(np.float32)), -127, 127).astype(np.int8)
        elif not name.startswith("word"):
            out[name] = v.astype(np.float16)
    return out


def unpacked(path: Path) -> dict:
    """The inverse of `packed`, as tensors in float32."""
    stored = dict(np.load(path))
    plain = {k: v.astype(np.float32) for k, v in stored.items() if not k.endswith(".scale")}
    return {
        k: torch.tensor(v * stored[k + ".scale"].astype(np.float32) if k + ".scale" in stored else v)
        for k, v in plain.items()
    }


def main() -> None:
    a = argparse.ArgumentParser()
    a.add_argument("material", type=Path)
    a.add_argument("base", type=Path)
    a.add_argument("out", type=Path)
    a.add_argument("--layers", type=int, default=8)
    a.add_argument("--apart", type=int, default=4)
    a.add_argument("--steps", type=int, default=4000)
    a.add_argument("--size", type=int, default=96)
    a.add_argument("--rate", type=float, default=1.2e-4)
    a.add_argument("--pointer", type=float, default=0.3)
    a.add_argument("--made", type=float, default=1.3)
    a.add_argument("--withdrawn", type=float, default=0.5, help="share of answers that are also taken back as a whole")
    a.add_argument("--freeze", type=int, default=0, help="lower layers that learn nothing")
    a.add_argument("--seed", type=int, default=0)
    a.add_argument("--leave-lesson", default="")
    a.add_argument("--leave-writer", default="")
    a.add_argument(
        "--own-lines", type=int, default=0, help="of a left-out lesson, learn from this many lines all the same"
    )
    a.add_argument("--start", type=Path, help="go on from these trained weights instead of the base's")
    a.add_argument("--seconds", type=float, default=1e9, help="end the schedule so that training fits into this time")
    o = a.parse_args()
    torch.manual_seed(o.seed)
    r = random.Random(o.seed)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.backends.cuda.enable_cudnn_sdp(
        False
    )  # it makes a plan for each new shape: 310 ms a step and not 31 (measured, one H200)
    data = json.loads(o.material.read_text(encoding="utf-8"))
    slots, rows = data["slots"], data["lines"]
    left = lambda x: (
        bool(o.leave_lesson)
        and x["key"].startswith(o.leave_lesson)
        or bool(o.leave_writer)
        and o.leave_writer in x["writer"]
    )
    train = [x for x in rows if x["split"] == "train" and not left(x)]
    if o.own_lines:
        own = [x for x in rows if x["split"] == "train" and left(x) and x["writer"] != "exemplar"]
        r.shuffle(own)
        train += own[: o.own_lines]
    enc = Encoder(Tokens(o.base / "vocabulary.json"), slots)
    net = base.load(o.base / "base.npz", o.layers, o.apart)
    if o.start:
        net.load_state_dict(unpacked(o.start), strict=False)
    net = net.to(device)
    net.word.weight.requires_grad_(False)
    for part in (net.pos, net.typ, net.ln, *net.layers[: o.freeze]) if o.freeze else ():
        part.requires_grad_(False)
    net.dropout(0.1)
    weights = [p for p in net.parameters() if p.requires_grad]
    groups = [{"params": [p for p in weights if (p.dim() > 1) == w], "weight_decay": 0.01 * w} for w in (True, False)]
    optimiser = torch.optim.AdamW(groups, lr=o.rate, betas=(0.9, 0.98), fused=device == "cuda")
    average = {k: v.detach().clone() for k, v in net.state_dict().items() if not k.startswith("word")}
    start, step, epoch = time.time(), 0, 0
    print(len(train), "lines to learn from,", len(slots), "slots", flush=True)
    while step < o.steps:
        ready = [prepare(e, enc, r, slots) for e in Epoch(slots, train, 1000 * o.seed + epoch, o.made, o.withdrawn)]
        todo = batches([p for p in ready if p[1]], o.size, r)
        epoch += 1
        for batch in todo:
            spent = time.time() - start
            progress = max(step / o.steps, spent / o.seconds)
            if progress >= 1:
                break
            for g in optimiser.param_groups:
                g["lr"] = o.rate * min(1.0, (step + 1) / 100) * max(0.01, 1 - progress)
            net.train()
            found, where, _ = forward(net, enc, batch, device)
            loss = loss_of(found, where, batch, device, o.pointer)
            optimiser.zero_grad(set_to_none=True)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(weights, 1.0)
            optimiser.step()
            step += 1
            if step % 10 == 0:
                keep = min(0.995**10, step / (step + 50.0))
                for k, v in net.state_dict().items():
                    if k in average:
                        average[k].lerp_(v, 1 - keep)
            if step % 500 == 0:
                print(f"step {step}, epoch {epoch}, loss {loss.item():.3f}, {time.time() - start:.0f} s", flush=True)
        else:
            continue
        break
    net.load_state_dict(average, strict=False)
    measured = {}
    sets = {s: [x for x in rows if x["split"] == s and not left(x)] for s in ("independent", "calibration")}
    if o.leave_lesson or o.leave_writer:
        sets["left_out"] = [x for x in rows if left(x) and x["writer"] != "exemplar"]
    for name, some in sets.items():
        if some:
            measured[name] = report(some, predict(net, enc, some, slots, device), slots)
            print(name, json.dumps(measured[name]), flush=True)
    np.savez(o.out.with_suffix(".npz"), **packed(net.state_dict()))
    told = {
        "options": {k: str(v) for k, v in vars(o).items() if not isinstance(v, Path)},
        "lines": len(train),
        "steps": step,
        "seconds": round(time.time() - start),
        "torch": torch.__version__,
        "measured": measured,
    }
    told["device"] = torch.cuda.get_device_name() if device == "cuda" else "cpu"
    o.out.with_suffix(".json").write_text(json.dumps(told, indent=1), encoding="utf-8")
    print(f"{step} steps, {epoch} epochs, {time.time() - start:.0f} s", flush=True)


if __name__ == "__main__":
    main()
