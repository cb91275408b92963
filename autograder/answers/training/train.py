"""Trains the reader: python -m autograder.answers.training.train MATERIAL.json BASE OUT [--leave-lesson lesson03] [--steps 4000]

MATERIAL: from `material`. BASE: the folder that `base` wrote. Writes OUT.npz (weights) and OUT.json (what was measured, seeds, versions).
One H200, 3 to 5 minutes. Lines of the split `train` are learnt from; calibration and independent lines are only read.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import time
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F

from autograder.answers.tokens import Tokens
from autograder.answers.training import base
from autograder.answers.training.batches import Batch, Encoder, Plan, Prepared, batch_of, batches, language_of
from autograder.answers.training.material import NOT_PRESENT, PRESENT, WRONG, gold_points, joined, points_of


def forward(net, batch: Batch, device: str):
    """Logits (n, 3) and (n, a) of a batch's questions."""
    on = lambda a: torch.from_numpy(a).to(device, non_blocking=True)
    with torch.autocast(device, torch.bfloat16, enabled=device == "cuda"):
        lower, item_mask = net.lower(net.embed(on(batch.item_ids)), on(batch.item_mask))
        which = on(batch.which)
        return net(
            net.embed(on(batch.ids)), on(batch.mask), lower.index_select(0, which), item_mask[which], on(batch.owner)
        )


def loss_of(found, where, batch: Batch, device: str, pointer: float):
    y = torch.from_numpy(batch.label).to(device)
    logp = F.log_softmax(found.float(), -1)
    sure = y != NOT_PRESENT
    target = torch.where(sure, y, torch.zeros_like(y))
    smooth = 0.02
    ce = -(1 - smooth) * logp.gather(1, target[:, None])[:, 0] - smooth * logp.mean(-1)
    either = -torch.log1p(-logp[:, PRESENT].exp().clamp(max=1 - 1e-6))
    loss = torch.where(sure, ce, either).mean()
    marks = torch.from_numpy(batch.marks).to(device)
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
        asked = [((row["key"], i["id"], spoken), 0, None) for i in slots[row["key"]]["items"]]
        todo.append((Prepared(ids, asked), n, piece))
    todo.sort(key=lambda t: len(t[0].ids))
    out: list[dict] = [{} for _ in rows]
    for i in range(0, len(todo), size):
        some = todo[i : i + size]
        batch = batch_of([p for p, *_ in some], enc)
        found, where = forward(net, batch, device)
        p = found.float().softmax(-1).cpu().numpy()
        w = where.float().sigmoid().cpu().numpy() * batch.mask[batch.owner]
        k = 0
        for prepared, n, piece in some:
            for (_, item, _), *_ in prepared.asked:
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


@dataclass(frozen=True)
class Schedule:
    """steps and seconds: training ends at whichever comes first, and the learning rate falls to it. pointer: weight of the marked words."""

    steps: int
    rate: float
    pointer: float
    seconds: float = 1e9


def learn(net, source: Iterable[Batch], schedule: Schedule, device: str) -> tuple[int, float]:
    """Train `net` in place, which ends with the running average of its weights. Gives (steps, seconds)."""
    weights = [p for p in net.parameters() if p.requires_grad]
    groups = [{"params": [p for p in weights if (p.dim() > 1) == w], "weight_decay": 0.01 * w} for w in (True, False)]
    optimiser = torch.optim.AdamW(groups, lr=schedule.rate, betas=(0.9, 0.98), fused=device == "cuda")
    average = {k: v.detach().clone() for k, v in net.state_dict().items() if not k.startswith("word")}
    start, step = time.time(), 0
    for batch in source:
        progress = max(step / schedule.steps, (time.time() - start) / schedule.seconds)
        if progress >= 1:
            break
        for g in optimiser.param_groups:
            g["lr"] = schedule.rate * min(1.0, (step + 1) / 100) * max(0.01, 1 - progress)
        net.train()
        found, where = forward(net, batch, device)
        loss = loss_of(found, where, batch, device, schedule.pointer)
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
            print(f"step {step}, loss {loss.item():.3f}, {time.time() - start:.0f} s", flush=True)
    net.load_state_dict(average, strict=False)
    return step, time.time() - start


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
    a.add_argument(
        "--processes", type=int, default=min(14, os.cpu_count() or 1), help="that make batches beside the GPU"
    )
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
    print(len(train), "lines to learn from,", len(slots), "slots", flush=True)
    plan = Plan(o.size, o.made, o.withdrawn, o.seed)
    source = batches(plan, slots, train, data["frames"], o.base / "vocabulary.json", o.processes)
    step, seconds = learn(net, source, Schedule(o.steps, o.rate, o.pointer, o.seconds), device)
    source.close()
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
        "seconds": round(seconds),
        "torch": torch.__version__,
        "measured": measured,
    }
    told["device"] = torch.cuda.get_device_name() if device == "cuda" else "cpu"
    o.out.with_suffix(".json").write_text(json.dumps(told, indent=1), encoding="utf-8")
    print(f"{step} steps, {seconds:.0f} s", flush=True)


if __name__ == "__main__":
    main()
