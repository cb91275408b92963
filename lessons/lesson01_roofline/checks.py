"""Hidden checks of lesson 1. Never released.

The exercise is `attainable_flops(flops, bytes_moved, peak_flops, bandwidth)`: the most FLOP/s that the roofline model allows a
kernel of these counts. Normal cases lie on either side of the ridge, on it and close to it, on machines whose ridges differ by
orders of magnitude. Boundary cases have nothing moved, or so little that a guard set too wide would take it for nothing.

Counts and machines of every size stand in each draw, so that no cut, tolerance or order of two numbers passes by luck.

Left open on purpose: flops = 0 with bytes_moved = 0 (no work has no rate), and negative counts.
"""

from __future__ import annotations

FUNCTION = "attainable_flops"
RANGES = {
    "flops": (0.0, 1e18),
    "bytes_moved": (0.0, 1e16),
    "peak_flops": (1.0, 1e18),
    "bandwidth": (1.0, 1e14),
    "return": (0.0, 1e18),
}
EQUIVALENT_FILLS = {
    "peak_flops if bytes_moved <= 0 else min(peak_flops, flops / bytes_moved * bandwidth)": "bytes are never below 0",
    "(None if flops == 0 else peak_flops) if bytes_moved == 0 else min(peak_flops, flops / bytes_moved * bandwidth)": "no work and nothing moved is left open",
}

RTOL = 1e-9  # flops / max(flops / peak, bytes / bandwidth) rounds four times; nothing wrong comes this close
VISIBLE = [
    (8, 4, 60e12, 4e12),
    (60, 4, 60e12, 4e12),
    (256, 4, 60e12, 4e12),
    (8, 0, 60e12, 4e12),
]  # of the asserts, which a student could copy


def reference(flops, bytes_moved, peak_flops, bandwidth):
    """The lower of the two roofs; with nothing moved the memory sets none."""
    return peak_flops if bytes_moved == 0 else min(peak_flops, flops / bytes_moved * bandwidth)


def is_boundary(args: dict) -> bool:
    """A student's own input counts when it can betray a missing guard: work is done and nothing is moved. The visible assert's does not."""
    values = [args.get(k) for k in ("flops", "bytes_moved", "peak_flops", "bandwidth")]
    if any(isinstance(v, bool) or not isinstance(v, (int, float)) for v in values):
        return False
    flops, moved, peak, bandwidth = values
    return moved == 0 and all(0 < v < float("inf") for v in (flops, peak, bandwidth)) and tuple(values) not in VISIBLE


def _case(zh: str, en: str, flops, moved, peak, bandwidth) -> dict:
    return {
        "name": {"zh": zh, "en": en},
        "args": {"flops": flops, "bytes_moved": moved, "peak_flops": peak, "bandwidth": bandwidth},
        "expect": reference(flops, moved, peak, bandwidth),
        "rtol": RTOL,
        "atol": 0.0,
    }


def _machine(rng) -> tuple[float, float]:
    """A peak and a bandwidth whose ridge lies anywhere from 0.1 to 10,000 FLOP/byte."""
    bandwidth = 10.0 ** rng.uniform(10, 13)
    return 10.0 ** rng.uniform(-1, 4) * bandwidth, bandwidth


# (flops, bytes_moved, peak_flops, bandwidth), memory-bound: each number of each size, and each two of them in either order
MEMORY_BOUND = [
    (6.1, 2.3, 5.9e7, 4.1e6), (43.7, 71.3, 3.1e10, 8.9e9), (509.3, 137.9, 6.7e13, 3.35e12), (7919, 104729, 989 * 10**12, 4800 * 10**9), (8.3e7, 3.1e6, 2.9e15, 6.1e12),
    (4.7e10, 5.9e9, 1.3e13, 1.1e12), (3.1e13, 7.7e12, 979e12, 3.35e12), (6.7e16, 2.3e15, 989e12, 4.8e12),
    (8.3e7, 5.1e9, 17.3, 2.3), (3.1, 29.7, 5.3e11, 1.3e12), (5.9e4, 3.7e5, 613.7, 211.9), (7.7e9, 6.1e8, 7.9e4, 2.3e3), (2.9e4, 8.3e4, 47.1, 13.3), (1.9e3, 7.3e2, 331.7, 61.3), (0.0153, 2.8e11, 6.9e10, 6.6e8), (4.1e15, 2.9e10, 7.3e17, 1.9e12), (11.3, 5.9, 5.1, 2.6),
]  # fmt: skip
COMPUTE_BOUND = [
    (97.3, 3.1, 2.7, 1.9),
    (13.7, 9.3, 2.7, 1.9),
    (7.3e9, 11.9, 83.1, 37.7),
    (5.3e5, 2.9e3, 3.7e3, 2.3e2),
    (6.1e14, 3.7e9, 6.2e13, 4.1e12),
    (4099, 3, 5.1e11, 7.9e11),
]
LITTLE_MOVED = [
    (3.1e-291, 2.3e-290, 7.3, 1.9),
    (3.1e-17, 2.3e-16, 7.3, 1.9),
    (5.3e-14, 1.7e-13, 47.9, 13.1),
    (3.7e-9, 2.9e-8, 5.9e7, 4.1e6),
    (7.1e-5, 4.3e-4, 6.1e13, 3.9e12),
    (0.37, 0.059, 7.9e4, 2.3e3),
    (41.7, 0.83, 3.1e14, 1.7e12),
]
# (flops, peak_flops, bandwidth), nothing moved
NOTHING_MOVED = [
    (2.9e-290, 83.1, 37.7), (2.3e-17, 7.3, 1.9), (3.1e-9, 47.1, 13.3), (0.23, 613.7, 211.9), (3.7, 7.9e4, 2.3e3), (57.1, 5.9e7, 4.1e6), (331.9, 3.1e10, 8.9e9), (2.9e4, 6.7e13, 3.35e12), (7.3e7, 2.9e15, 6.1e12),
    (5.3e10, 83.7, 4.7e12), (2.3e13, 59.3, 17.1), (6.1e11, 4.3e8, 7.7e8),
]  # fmt: skip


def normal_cases(rng) -> list[dict]:
    """Something is moved. Of the drawn ones the intensity is set by the machine's own ridge, so each case knows its side."""
    cases = []
    for zh, en, share in (
        ("远在拐点左边：访存受限", "far left of the ridge: memory-bound", 0.003),
        ("拐点左边一点", "a little left of the ridge", 0.97),
        ("拐点右边一点", "a little right of the ridge", 1.03),
        ("远在拐点右边：计算受限", "far right of the ridge: compute-bound", 400.0),
    ):
        for _ in range(2):
            peak, bandwidth = _machine(rng)
            moved = 10.0 ** rng.uniform(3, 11)
            cases.append(_case(zh, en, share * peak / bandwidth * moved, moved, peak, bandwidth))
    cases += [
        _case("各种大小的计数与机器：访存受限", "counts and machines of every size: memory-bound", *x)
        for x in MEMORY_BOUND
    ]
    cases += [
        _case("各种大小的计数与机器：计算受限", "counts and machines of every size: compute-bound", *x)
        for x in COMPUTE_BOUND
    ]
    peak, bandwidth = _machine(rng)
    k = int(rng.integers(3, 9))
    return cases + [
        *(_case("公开检查的输入", "the input of a visible check", *x) for x in VISIBLE[:3]),
        _case("恰好在拐点上", "exactly on the ridge", 15 * 4096, 4096, 60e12, 4e12),
        _case("整数，强度不到 1", "integers, intensity below 1", 3 * k, 8 * k, 60 * 10**12, 4 * 10**12),
        _case(
            "整数，强度不是整数", "integers, an intensity that is no integer", 7 * k, 4 * k, 989 * 10**12, 4800 * 10**9
        ),
        _case("拐点小于 1 的机器", "a machine whose ridge is below 1", 6e9, 1e10, 2e11, 1e12),
        _case("只搬运，不计算", "bytes moved, nothing computed", 0, 2.0**30, peak, bandwidth),
        _case("只搬运，不计算", "bytes moved, nothing computed", 0, 2.0**31, 989e12, 3.35e12),
        _case("大 GEMM，整数计数", "a large GEMM, counted in integers", 2 * 8192**3, 6 * 8192**2, 989e12, 3.35e12),
    ]


def boundary_cases(rng) -> list[dict]:
    """Nothing moved, with counts large and small; and a little moved, which must not be taken for nothing."""
    peak, bandwidth = _machine(rng)
    return [
        _case("公开检查的输入：什么都没搬", "the input of a visible check: nothing moved", *VISIBLE[3]),
        _case(
            "什么都没搬（整数 0），大运算量",
            "nothing moved (the integer 0), much work",
            2 * 8192**3,
            0,
            peak,
            bandwidth,
        ),
        _case("什么都没搬（0.0）", "nothing moved (0.0)", 10.0 ** rng.uniform(9, 14), 0.0, peak, bandwidth),
        _case(
            "什么都没搬，按每个元素计数：只有 2 次运算",
            "nothing moved, counted per element: 2 operations",
            2,
            0,
            989e12,
            4.8e12,
        ),
        _case(
            "什么都没搬，只有 1 次运算，峰值很高", "nothing moved, one operation, a very high peak", 1.0, 0.0, 1e18, 1e9
        ),
        _case("什么都没搬，带宽也很小", "nothing moved, and little bandwidth", 5e6, 0, 6e13, 1.0),
        *(
            _case(
                "什么都没搬，各种大小的计数与机器",
                "nothing moved, counts and machines of every size",
                flops,
                (0, 0.0)[i % 2],
                peak_,
                width,
            )
            for i, (flops, peak_, width) in enumerate(NOTHING_MOVED)
        ),
        _case(
            "按每个元素计数：搬四分之一字节，访存受限",
            "counted per element: a quarter of a byte moved, memory-bound",
            0.5,
            0.25,
            60e12,
            4e12,
        ),
        _case(
            "按每个元素计数：搬千分之一字节，访存受限",
            "counted per element: a thousandth of a byte moved, memory-bound",
            0.005,
            0.001,
            60e12,
            4e12,
        ),
        *(
            _case(
                "搬的远不到 1 字节，但不是 0：访存受限", "far less than one byte moved, and not none: memory-bound", *x
            )
            for x in LITTLE_MOVED
        ),
        _case(
            "搬的远不到 1 字节，运算也不到 1 次：计算受限",
            "far less than one byte moved, less than one operation: compute-bound",
            0.41,
            5.9e-4,
            3.7e12,
            2.3e11,
        ),
        _case(
            "搬的远不到 1 字节，运算也不到 1 次：计算受限",
            "far less than one byte moved, less than one operation: compute-bound",
            2.7e-15,
            1.3e-14,
            2.9e11,
            2.3e12,
        ),
        _case("搬 1 字节，运算很多：计算受限", "one byte moved, much work: compute-bound", 1e15, 1, 60e12, 4e12),
        _case("只搬，不算，字节数不到 1", "bytes moved, nothing computed, less than one byte", 0.0, 0.5, 60e12, 4e12),
    ]
