"""When points are released without a person, and when a misconception is sure enough for a veto: thresholds, fitted and measured.

model/lanes.json is written by `python -m autograder.answers.accuracy --lanes`, from the answers of the split `calibration`, whose writers
the reader never learnt from. What the lanes are worth on other writers stands in each lesson's accuracy report.
"""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path

from autograder.errors import CourseError

FILE = Path(__file__).with_name("model") / "lanes.json"


@dataclass(frozen=True)
class Lanes:
    """weights, bias: of a logistic model of `signs` (Assessment.signs) -> is anything false asserted?  sure: least probability of the points.
    most_doubt: greatest doubt beside released points.  least_doubt: least doubt (something false was seen) where no points are released for an answer.
    veto_open: from this likelihood of a veto a person looks.  veto_sure, veto_doubt: for a veto."""

    weights: tuple[float, ...] = (4.0, 4.0, 2.0, 1.0)
    bias: float = -4.0
    sure: float = 0.9
    most_doubt: float = 0.2
    least_doubt: float = 0.5
    veto_open: float = 0.3
    veto_sure: float = 0.97
    veto_doubt: float = 0.9

    def doubt(self, signs: tuple[float, ...]) -> float:
        return 1 / (1 + math.exp(-self.bias - sum(w * s for w, s in zip(self.weights, signs))))

    def write(self, path: Path = FILE, **measured) -> None:
        data = {**asdict(self), "measured": measured}
        path.write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


@lru_cache(maxsize=1)
def shipped_lanes(path: Path = FILE) -> Lanes:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        data.pop("measured", None)
        return Lanes(**{**data, "weights": tuple(data["weights"])})
    except (OSError, ValueError, KeyError, TypeError) as e:
        remedy = "Take the file from the repository again (git checkout -- autograder/answers/model)."
        raise CourseError(f"The reader's lanes cannot be read: {e}.", where=str(path), remedy=remedy) from None
