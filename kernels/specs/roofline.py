"""Lesson 1's kernel: loads with a chosen number of fused multiply-adds each.

    sums, roof = kernels.load("roofline_probe")(x, fmas=32)            # 16 FLOP/byte
    sums, roof = kernels.load("roofline_probe")(x, fmas=32, resident=True)   # the same arithmetic, nothing loaded

x: n floats. sums: one a warp of 512 elements. roof: (1,), what the roofline model allows this launch at most, in FLOP/s.
"""

from __future__ import annotations

import numpy as np

from kernels.arrays import require_array, require_number
from kernels.errors import ArgumentError
from kernels.spec import Case, KernelSpec, Launch, Plan, Work, ceil_div

THREADS, PER_THREAD = 256, 16
PER_BLOCK = THREADS * PER_THREAD
SCALE, SHIFT = 1.0 - 2.0**-10, 2.0**-11  # f(v) = SCALE * v + SHIFT: after 1024 of them a third of v is left
PEAK, BANDWIDTH = 6.0e13, 4.2e12  # FLOP/s and byte/s, about an H200's: the roof's defaults


def check(x, fmas=8, resident=False, peak=PEAK, bandwidth=BANDWIDTH) -> None:
    require_array("x", x, dtype="fp32", ndim=1)
    if isinstance(fmas, bool) or not isinstance(fmas, int) or not 1 <= fmas <= 65536:
        raise ArgumentError(
            f"fmas is a whole number, 1 to 65536: the fused multiply-adds of each element; it is {fmas!r}."
        )
    for name, value in (("peak", peak), ("bandwidth", bandwidth)):
        require_number(name, value)
        if not value > 0:
            raise ArgumentError(f"{name} must be above 0 (FLOP/s, byte/s); it is {value!r}.")


def counts(x, fmas=8, resident=False) -> Work:
    """What the model counts: two operations a fused multiply-add, four bytes an element, none where nothing is loaded."""
    return Work(flops=2.0 * fmas * x.size, bytes=0.0 if resident else 4.0 * x.size)


def plan(ctx, x, fmas=8, resident=False, peak=PEAK, bandwidth=BANDWIDTH) -> Plan:
    blocks = ceil_div(x.size, PER_BLOCK)
    sums, roof, f, work = (
        ctx.empty((blocks * THREADS // 32,), "fp32"),
        ctx.empty((1,), "fp32"),
        np.float32,
        counts(x, fmas, resident),
    )
    args = [
        None if resident else x,
        sums,
        roof,
        np.uint64(x.size),
        f(SCALE),
        f(SHIFT),
        f(work.flops),
        f(work.bytes),
        f(peak),
        f(bandwidth),
    ]
    return Plan([Launch("roofline_probe", (blocks,), (THREADS,), args, defines={"FMAS": fmas})], (sums, roof))


def reference(x, fmas=8, resident=False, peak=PEAK, bandwidth=BANDWIDTH):
    """(sums, roof) in float64: f applied `fmas` times is SCALE^fmas v + SHIFT (1 - SCALE^fmas) / (1 - SCALE)."""
    n = x.size
    v = np.arange(n) % 256 / 256.0 if resident else x.astype(np.float64)
    v = SCALE**fmas * v + SHIFT * (1 - SCALE**fmas) / (1 - SCALE)
    blocks = ceil_div(n, PER_BLOCK)
    padded = np.zeros(blocks * PER_BLOCK)
    padded[:n] = v
    sums = (
        padded.reshape(blocks, PER_THREAD // 4, THREADS // 32, 128).sum(axis=(1, 3)).reshape(-1)
    )  # block, vector, warp, lane and element
    return sums, np.array([attainable(*_question(x, fmas, resident, peak, bandwidth))])


def attainable(flops: float, bytes_moved: float, peak_flops: float, bandwidth: float) -> float:
    """The roofline model: FLOP/s that a kernel of these counts can reach at most."""
    return peak_flops if bytes_moved == 0 else min(peak_flops, flops / bytes_moved * bandwidth)


def _question(x, fmas, resident, peak, bandwidth):
    work = counts(x, fmas, resident)
    return work.flops, work.bytes, float(np.float32(peak)), float(np.float32(bandwidth))


def exercise(function, result, /, x, fmas=8, resident=False, peak=PEAK, bandwidth=BANDWIDTH):
    """attainable_flops(flops, bytes_moved, peak_flops, bandwidth) against the kernel's own roof."""
    return [function(*_question(x, fmas, resident, peak, bandwidth))], result[1]


def example(rng, n: int = 10007, fmas: int = 8, resident: int = 0):
    return (rng.standard_normal(n, dtype=np.float32),), dict(fmas=fmas, resident=bool(resident))


def cases(rng, count: int):
    """Sizes that no vector divides; both sides of the ridge, near it, ridges elsewhere, and nothing moved."""
    for i in range(count):
        n = int(rng.choice([1, 3, 5, 1021, 4093, 4099, 9973]))
        fmas = int(rng.choice([1, 8, 32, 256]))
        peak, bandwidth = float(np.float32(10.0 ** rng.uniform(12, 15))), float(np.float32(10.0 ** rng.uniform(11, 13)))
        resident = i % 4 == 3
        x = (rng.standard_normal(n) * 10.0 ** rng.uniform(-1, 1)).astype(np.float32)
        what = "nothing moved" if resident else f"{fmas / 2:g} FLOP/byte, ridge {peak / bandwidth:.3g}"
        yield Case(f"n = {n}, {what}", (x,), dict(fmas=fmas, resident=resident, peak=peak, bandwidth=bandwidth))


SPECS = (
    KernelSpec(
        name="roofline_probe",
        source="roofline_probe.cu",
        computes="sums of elements after FMAS fused multiply-adds each, loaded or made in registers, and the roofline's word on it",
        plan=plan,
        check=check,
        reference=reference,
        example=example,
        cases=cases,
        exercise=exercise,
        work=lambda x, fmas=8, resident=False, **_: counts(x, fmas, resident),
        tolerance=3e-5,
        max_registers=40,
        builds=({"FMAS": 1}, {"FMAS": 1024}),
        entries=("roofline_probe",),
    ),
)
