"""Lesson 8's measured times, packed with the kernels: what each configuration of gemm_dispatch took at shapes of D.

    for shape in measured("grid"):            # 28 shapes of powers of two, K = 4096; "unseen": 60 random ones
        shape.m, shape.n, shape.k, shape.times["128x256"], shape.times["cublas"]      # microseconds
    receipt("grid")["device"]

dispatch_table.json is made from figures/data by `python -m figures.dispatch_table`, and a test holds the two together.
"""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from kernels.errors import KernelError

FILE = Path(__file__).with_suffix(".json")
CUBLAS = "cublas"


@dataclass(frozen=True)
class Shape:
    """A product D = A B^T, D m by n. times: microseconds by configuration, cuBLAS's under "cublas"."""

    m: int
    n: int
    k: int
    times: Mapping[str, float]

    @property
    def best(self) -> str:
        """The fastest configuration, cuBLAS apart."""
        return min((c for c in self.times if c != CUBLAS), key=self.times.__getitem__)

    def loss(self, config: str) -> float:
        """The time of `config` over the fastest configuration's: 1 is the best choice."""
        return self.times[config] / self.times[self.best]


@functools.cache
def _tables() -> dict:
    return json.loads(FILE.read_text(encoding="utf-8"))


def measured(name: str = "grid") -> tuple[Shape, ...]:
    """The measured shapes of a table, "grid" or "unseen"."""
    if name not in _tables():
        raise KernelError(f"There is no table named {name!r}. There are: {', '.join(_tables())}.")
    return tuple(Shape(m, n, k, times) for m, n, k, times in _tables()[name]["shapes"])


def receipt(name: str = "grid") -> dict:
    """Where a table comes from: the device, the time and the command of the measurement."""
    measured(name)
    return dict(_tables()[name]["receipt"])


def mean_loss(pick: Callable[[int, int], str], name: str = "grid") -> tuple[float, Shape]:
    """(geometric mean of the loss of a rule of dispatch over a table's shapes, the shape where it is worst). pick(m, n): a configuration's name."""
    shapes = measured(name)
    losses = [shape.loss(pick(shape.m, shape.n)) for shape in shapes]
    return math.exp(math.fsum(map(math.log, losses)) / len(losses)), shapes[losses.index(max(losses))]
