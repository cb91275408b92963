"""Legal inputs of each exercise, by lesson number: what a wrong fill that hidden checks let pass is held against."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np

MANY = 700


def _sizes(rng, low: float, high: float) -> float:
    return float(10.0 ** rng.uniform(low, high))


def _roofline(rng) -> Iterator[dict]:
    for _ in range(MANY):
        bandwidth, moved = _sizes(rng, 0.3, 13), rng.choice([0.0, _sizes(rng, -16, 15), float(rng.integers(1, 10**6))])
        peak = bandwidth * _sizes(rng, -2, 4)
        flops = rng.choice([_sizes(rng, -16, 17), peak / bandwidth * moved * rng.uniform(0.5, 1.5) or 1.0])
        yield dict(flops=float(flops), bytes_moved=float(moved), peak_flops=max(1.0, peak), bandwidth=bandwidth)
        yield dict(
            flops=int(rng.integers(1, 10**6)),
            bytes_moved=int(rng.integers(0, 5)),
            peak_flops=int(rng.integers(1, 10**6)),
            bandwidth=int(rng.integers(1, 10**4)),
        )


def _little(rng) -> Iterator[dict]:
    shapes = [((), ()), ((3,), ()), ((), (2, 3)), ((4, 1), (5,)), ((2, 3, 4), (3, 1)), ((2, 3), (2, 3))]
    for i in range(MANY):
        draw = lambda shape, low, high: 10.0 ** rng.uniform(low, high, shape) * rng.choice([0.0, 1.0, 1.0], shape)  # noqa: E731
        rate, wait = (draw(s, *ends) for s, ends in zip(shapes[i % len(shapes)], ((-14, 14.9), (-22, 5.9))))
        yield dict(bandwidth=rate if np.ndim(rate) else float(rate), latency=wait if np.ndim(wait) else float(wait))


def _barrier(rng, most: int = 2**20 - 1) -> Iterator[dict]:
    near = lambda low, high: int(
        rng.choice(
            [low, high, min(high, low + 1), rng.integers(low, high + 1), rng.integers(low, min(high, low + 40) + 1)]
        )
    )  # noqa: E731
    made = 0
    while made < MANY:
        count = int(rng.choice([1, 2, 3, 17, 128, 1000, 65536, most]))
        pending, tx = near(0, count), int(rng.choice([0, near(0, most), -near(0, most), 65536, 256 * near(0, 99)]))
        arrivals = near(0, pending)
        nbytes = int(rng.choice([0, -tx, near(0, most), -near(0, most), near(0, 40) - tx]))
        if (
            (pending or tx)
            and (arrivals or nbytes)
            and not (arrivals and nbytes < 0)
            and abs(tx) <= most
            and abs(tx + nbytes) <= most
        ):
            made += 1
            yield dict(state=(pending, tx, int(rng.integers(0, 2)), count), event=(arrivals, nbytes))


def _epilogue(rng) -> Iterator[dict]:
    for i in range(MANY):
        shape = ((), (5,), (2, 3), (2, 3, 2))[i % 4]
        of = lambda: (
            rng.standard_normal(shape) * _sizes(rng, -6, 6)
            if shape
            else float(rng.standard_normal() * _sizes(rng, -6, 6))
        )  # noqa: E731
        factor = lambda: float(
            rng.choice(
                [0.0, 1.0, -1.0, rng.uniform(-9, 9), rng.uniform(-999, 999), -_sizes(rng, -14, 2), _sizes(rng, -14, 2)]
            )
        )  # noqa: E731
        acc, alpha, beta = of(), factor() or 1.5, factor()
        if shape and i % 3 == 0:
            acc.flat[0] = rng.choice([np.nan, np.inf, -np.inf])
        # a term that vanishes beside the other one tells nothing of it
        c = (
            of()
            if not beta
            else (
                alpha / beta * acc * rng.uniform(0.3, 0.9)
                if shape == () and acc
                else of() * min(1e6, abs(alpha / beta))
            )
        )
        yield dict(
            acc=acc,
            alpha=alpha,
            beta=beta,
            c=c if beta else (None, math.nan, np.full(shape, np.inf) if shape else math.inf)[i % 3],
        )


def _some(every: Iterator[dict], rng) -> Iterator[dict]:
    every = list(every)
    return (every[i] for i in rng.permutation(len(every))[: 3 * MANY])


LEGAL: dict[int, Callable[[np.random.Generator], Iterator[dict]]] = {
    1: _roofline,
    2: _little,
    3: _barrier,
    4: lambda rng: _some((dict(row=r, byte=b) for r in range(64) for b in range(128)), rng),
    5: lambda rng: _some((dict(thread=t, register=r) for t in range(128) for r in range(128)), rng),
    6: lambda rng: _some(
        (dict(index=i, phase=p, stages=s) for s in (*range(1, 31), 64, 257) for i in range(s) for p in (0, 1)), rng
    ),
    7: _epilogue,
    8: lambda rng: _some(
        (
            dict(tile_m=64 * g * a, tile_n=8 * k, consumer_warpgroups=g)
            for g in range(1, 8)
            for a in (*range(1, 20), 31)
            for k in range(1, 33)
        ),
        rng,
    ),
}
