"""The trained reader: does an answer assert an item, deny it, or neither, and which words say so?

    v = shipped()
    asked = v.ask(slot)                  # once a slot: the items as the network sees them
    v.read(asked, text)                  # {item id: Seen(present, contradicted, marks)}

One answer is one pass of batch 1, so that what an answer gets cannot depend on its company. All products are made in float32 by
onnxruntime on one thread; between processors the last bits differ, which moves no probability by more than NOISE.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from autograder.answers.items import PREFIX, Item, items_of, language_of
from autograder.answers.tokens import END, START, Tokens
from autograder.errors import CourseError
from autograder.lesson.rubric import Slot

MODEL = Path(__file__).with_name("model")
NOISE = 1e-3
SMOOTHED = (
    0.02  # training's label smoothing over three classes: what is certain comes out as 1 - 2/3 of it, and is told as 1
)
_WIDTH, _BLOCK = 384, 18
_ITEM, _ANSWER, _OVERLAP, _POOL = (
    96,
    352,
    64,
    4,
)  # tokens: of an item at most, of an answer read at once, shared by neighbouring windows; made one
_PREFIX = "passage: "


@dataclass(frozen=True)
class Seen:
    """present, contradicted: probabilities.  marks: for each character of the text, how likely it belongs to what states the item."""

    present: float
    contradicted: float
    marks: np.ndarray


@dataclass(frozen=True)
class Asked:
    """A slot's items, worked out once: their states in both languages."""

    items: tuple[Item, ...]
    states: dict[str, np.ndarray]  # lang: (items, tokens, 384) float32
    masks: dict[str, np.ndarray]  # lang: (items, tokens) float32


class Verifier:
    """The network of one folder. Raises CourseError where a file is missing, damaged, or cannot be run here."""

    def __init__(self, folder: Path = MODEL):
        remedy = "Take the folder from the repository again (git checkout -- autograder/answers/model), or reinstall the course."
        try:
            told = json.loads((folder / "reader.json").read_text(encoding="utf-8"))
            for name, digest in told["sha256"].items():
                if hashlib.sha256((folder / name).read_bytes()).hexdigest() != digest:
                    raise CourseError(f"The reader's file {name} is damaged.", where=str(folder / name), remedy=remedy)
            self.told = told
            self._tokens = Tokens(folder / "vocabulary.json")
            with np.load(folder / "words.npz") as words:
                self._blocks, self._pos, self._typ = (
                    words["blocks"],
                    words["pos"].astype(np.float32),
                    words["typ"].astype(np.float32),
                )
        except OSError as e:
            raise CourseError(
                f"The reader's file cannot be read: {e.strerror or e}.", where=str(e.filename or folder), remedy=remedy
            ) from None
        except (ValueError, KeyError) as e:
            raise CourseError(
                f"The reader's files do not fit together: {e}.", where=str(folder), remedy=remedy
            ) from None
        self._session = _session(folder / "reader.onnx")

    def ask(self, slot: Slot) -> Asked:
        items = tuple(items_of(slot))
        states, masks = {}, {}
        for lang in ("zh", "en"):
            rows = [
                self._lower([START, *self._tokens(PREFIX[i.kind] + getattr(i, lang)).ids[: _ITEM - 2], END])
                for i in items
            ]
            longest = max(len(r) for r in rows)
            states[lang] = np.zeros((len(rows), longest, _WIDTH), np.float32)
            masks[lang] = np.zeros((len(rows), longest), np.float32)
            for n, r in enumerate(rows):
                states[lang][n, : len(r)] = r
                masks[lang][n, : len(r)] = 1
        return Asked(items, states, masks)

    def read(self, asked: Asked, text: str) -> dict[str, Seen]:
        """What a text (canonical form) says of each item. A long one is read in windows, and the strongest counts."""
        lang = language_of(text)
        encoded = self._tokens(_PREFIX + text)
        size = _ANSWER - 2
        starts = range(0, max(1, len(encoded.ids) - _OVERLAP), size - _OVERLAP)
        present, contradicted = np.zeros(len(asked.items)), np.zeros(len(asked.items))
        marks = np.zeros((len(asked.items), len(text)), np.float32)
        for start in starts:
            ids = [START, *encoded.ids[start : start + size], END]
            feed = {"words": self._embed(ids), "items": asked.states[lang], "item_mask": asked.masks[lang]}
            found, where = self._session.run(["found", "where"], feed)
            found = np.clip((found - SMOOTHED / 3) / (1 - SMOOTHED), 0, 1)
            present = np.maximum(present, found[:, 1])
            contradicted = np.maximum(contradicted, found[:, 2])
            for n, (a, b) in enumerate(encoded.at[start : start + size], 1):
                a, b = max(0, a - len(_PREFIX)), b - len(_PREFIX)
                if b > a:
                    marks[:, a:b] = np.maximum(marks[:, a:b], where[:, n : n + 1])
        return {i.id: Seen(float(present[n]), float(contradicted[n]), marks[n]) for n, i in enumerate(asked.items)}

    def _lower(self, ids: list[int]) -> np.ndarray:
        nobody = {"items": np.zeros((1, 1, _WIDTH), np.float32), "item_mask": np.ones((1, 1), np.float32)}
        states = self._session.run(["lower"], {"words": self._embed(ids), **nobody})[0][0]
        return np.stack([states[0], *(states[n : n + _POOL].mean(0) for n in range(1, len(states), _POOL))])

    def _embed(self, ids: list[int]) -> np.ndarray:
        """(1, len(ids), 384): word, position and type embeddings together. Words stand in blocks of 32 weights of 4 bits."""
        blocks = self._blocks[ids].reshape(len(ids), _WIDTH // 32, _BLOCK)
        scale = blocks[:, :, :2].copy().view("<f2").astype(np.float32)
        packed = blocks[:, :, 2:]
        words = (np.concatenate([packed & 15, packed >> 4], -1).astype(np.float32) - 8) * scale
        return (words.reshape(len(ids), _WIDTH) + self._pos[: len(ids)] + self._typ)[None]


def _session(path: Path):
    try:
        import onnxruntime
    except ImportError as e:
        raise CourseError(
            f"onnxruntime cannot be loaded: {e}.",
            remedy="Run: python -m pip install 'hopper-course[instructor]' (onnxruntime is pinned there).",
        ) from None
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = (
        1  # workers are processes; one thread adds in one order
    )
    options.log_severity_level = 3
    try:
        return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as e:  # onnxruntime's own errors have no common base
        raise CourseError(
            f"onnxruntime {onnxruntime.__version__} cannot run the reader: {str(e).splitlines()[0]}",
            where=str(path),
            remedy="Install the version that requirements.lock names.",
        ) from None


@lru_cache(maxsize=1)
def shipped() -> Verifier:
    """The reader that stands in the repository, loaded once a process."""
    return Verifier()
