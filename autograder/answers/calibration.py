"""From what the layers saw to a probability: one small logistic model for all links of all lessons.

Its numbers stand in calibration.json, fitted by `python -m autograder.answers.calibrate` on labelled answers of the
development split. A new lesson needs no fit of its own: the features say how strongly rules and exemplars speak, not which link.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources

from autograder.answers.embed import Likeness
from autograder.answers.rules import Reading

FEATURES = ("bias", "hit", "contradicted", "part", "near", "margin", "lead", "flipped", "hit_near", "open", "open_probe", "probe", "hit_probe")
_OPEN_FULL = 120  # width of unexplained text (some 60 Chinese characters) that counts as much as any more


@dataclass(frozen=True)
class Seen:
    """What the layers saw of one link in one answer. open_text, unexplained: see embed.Comparison."""

    reading: Reading
    likeness: Likeness
    open_text: int = 0
    unexplained: float = -1.0


def features(seen: Seen) -> list[float]:
    """One row for the model, in the order of FEATURES. Cosines are clipped to where they say something."""
    reading, likeness = seen.reading, seen.likeness
    hit = 1.0 if reading.hit else 0.0
    near = min(max(likeness.near, 0.0), 0.9)
    open_text = min(seen.open_text / _OPEN_FULL, 1.0) * (1 - hit)
    return [
        1.0,
        hit,
        1.0 if reading.contradicted else 0.0,
        reading.part * (1 - hit),
        near,
        min(max(likeness.margin, -0.3), 0.3),
        min(max(likeness.lead, -0.3), 0.1),
        1.0 if likeness.flipped else 0.0,
        hit * near,
        open_text,
        open_text * _clip(seen.unexplained),
        _clip(likeness.probe),
        hit * _clip(likeness.probe),
    ]


def _clip(probe: float) -> float:
    return min(max(probe, -1.0), 1.0)


@dataclass(frozen=True)
class Calibration:
    """weights: per kind, one number a feature.  auto: probability of the points above which they may be released.
    misconception_low/high: between them a veto is neither found nor excluded, and a person looks."""

    weights: dict[str, tuple[float, ...]]
    auto: float
    misconception_low: float
    misconception_high: float

    def probability(self, kind: str, seen: Seen) -> float:
        z = sum(w * x for w, x in zip(self.weights[kind], features(seen)))
        return round(1 / (1 + math.exp(-max(-30.0, min(30.0, z)))), 4)


@lru_cache(maxsize=1)
def load() -> Calibration:
    data = json.loads(resources.files("autograder.answers").joinpath("calibration.json").read_text(encoding="utf-8"))
    weights = {kind: tuple(row.get(name, 0.0) for name in FEATURES) for kind, row in data["weights"].items()}
    return Calibration(weights, data["auto"], data["misconception_low"], data["misconception_high"])
