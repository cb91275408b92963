"""Hidden checks of lesson 2. Never released.

The exercise is `bytes_in_flight(bandwidth, latency)`: Little's law in SI units, for numbers and for arrays that broadcast. The law is one
product, so the cases are about what surrounds it: quantities of every size (a product below one byte, a latency above the bandwidth),
whole numbers, shapes that only broadcasting gives. Boundary cases: no latency, where nothing need be in flight and where a
quotient, a sum, a floor of one load or a special case for zero gives itself away; alone, as an integer, -0.0, and among other latencies.

Quantities of every size and arrays of every rank, on either side, stand in each draw, so that no cut, tolerance or special case passes by luck.

Left open on purpose: negative, NaN and infinite inputs, quantities that are not numbers (the kernel refuses or never meets them), and empty
arrays, with which np.vectorize, right elsewhere, does nothing; whether whole numbers come back as integers or as floats.
"""

from __future__ import annotations

import numpy as np

FUNCTION = "bytes_in_flight"
RANGES = {"bandwidth": (0.0, 1e15), "latency": (0.0, 1e6), "return": (0.0, 1e18)}

F32 = float(np.finfo(np.float32).eps)
VISIBLE = [
    (2.0e12, 5.0e-7),
    (2.0e12, np.array([5.0e-7, 0.0])),
    (3.0e12, 0.0),
]  # of the asserts, which a student could copy


def reference(bandwidth, latency):
    """Bytes that must be on their way at any time: byte/s times s, elementwise."""
    return bandwidth * latency


def _numbers(value) -> np.ndarray | None:
    """A finite number or an array of them; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, (int, float, np.ndarray)):
        return None
    try:
        array = np.asarray(value)
        return array.astype(float) if array.dtype.kind in "iuf" and np.isfinite(array.astype(float)).all() else None
    except (ValueError, TypeError, OverflowError):
        return None


def is_boundary(args: dict) -> bool:
    """A student's own input counts when somewhere the latency is 0 and the bandwidth is not. What a visible assert has does not.

    bandwidth = 0 does not count: bandwidth / latency and bandwidth * latency are both 0 then.
    """
    bandwidth, latency = _numbers(args.get("bandwidth")), _numbers(args.get("latency"))
    if bandwidth is None or latency is None:
        return False
    try:
        betrays = ((bandwidth > 0) & (latency == 0)).any() and (bandwidth >= 0).all() and (latency >= 0).all()
    except ValueError:  # shapes that do not broadcast
        return False
    return bool(betrays) and not any(np.array_equal(bandwidth, b) and np.array_equal(latency, w) for b, w in VISIBLE)


def _case(zh: str, en: str, bandwidth, latency, rtol: float = 1e-12) -> dict:
    return {
        "name": {"zh": zh, "en": en},
        "args": {"bandwidth": bandwidth, "latency": latency},
        "expect": reference(bandwidth, latency),
        "rtol": rtol,
        "atol": 0.0,
    }


def _uneven(shape, low: float, high: float) -> np.ndarray:
    """The same numbers in each draw, no two alike."""
    return np.random.default_rng([7, *np.atleast_1d(shape)]).uniform(low, high, shape)


# (bandwidth, latency): each number of each size
ANY_SIZE = [
    (3.7, 5.3e-3),
    (59.3, 4.3e5),
    (613.7, 7.9),
    (7.3e4, 83.1),
    (4.1e9, 331.9),
    (3.35e12, 2.9e3),
    (6.1e12, 3.7e-7),
    (23.9, 0.71),
    (2.9e3, 47.3),
]
# (shape of the bandwidth, shape of the latency); () is a number
SHAPES = [
    ((), (5, 3)),
    ((4, 7), ()),
    ((), (3, 2, 5)),
    ((2, 3, 4), ()),
    ((3, 1, 5), (4, 1)),
    ((7,), (2, 3, 7)),
    ((3, 5), (5,)),
    ((2, 5, 3), (2, 5, 3)),
    ((2, 1, 3), (1, 3)),
    ((4, 1), (1,)),
]
# (bandwidth, latency): no more than some bytes in flight
NEARLY_NONE = [
    (7.3e14, 4.7e-22),
    (3.7e12, 2.9e-15),
    (5.3e9, 8.3e-14),
    (2.3e-14, 3.1e-7),
    (4.1e-7, 0.37),
    (0.59, 6.7e-10),
    (7.1e-5, 97.1),
]


def normal_cases(rng) -> list[dict]:
    """Numbers of every size, then arrays. No two factors are alike, and no product is a round number of anything."""
    rates, waits = rng.uniform(1e12, 5e12, (5, 13)), rng.uniform(2e-8, 9e-7, (5, 13))
    column, row = rng.uniform(2e11, 5e12, (7, 1)), rng.uniform(1e-7, 2e-6, 11)
    narrow = rng.uniform(1e12, 5e12, 17).astype(np.float32), rng.uniform(2e-8, 9e-7, 17).astype(np.float32)
    of = lambda shape, low, high: _uneven(shape, low, high) if shape else float(_uneven(1, low, high)[0])
    return [
        _case("公开检查的输入", "the input of a visible check", *VISIBLE[0], rtol=0.0),
        _case(
            "显存：TB/s 与几百纳秒",
            "device memory: TB/s and hundreds of nanoseconds",
            float(rng.uniform(1.1e12, 4.7e12)),
            float(rng.uniform(3.1e-7, 8.9e-7)),
        ),
        _case(
            "L2：更快，也更近",
            "L2: faster and nearer",
            float(rng.uniform(5.1e12, 7.9e12)),
            float(rng.uniform(1.1e-7, 1.9e-7)),
        ),
        _case(
            "主机链路：慢，也更远",
            "the link to the host: slower and farther",
            float(rng.uniform(2.1e10, 5.9e10)),
            float(rng.uniform(1.1e-6, 2.9e-6)),
        ),
        _case("乘积不到一个字节", "less than one byte", 3.1e6, 1.3e-8),
        _case(
            "很慢的链路，很远的对端：延迟的数值比带宽大",
            "a very slow and very long link: the latency is the larger number",
            20.5,
            float(rng.uniform(7.1e4, 8.3e4)),
        ),
        _case("正好一秒", "exactly one second", float(rng.uniform(2, 9)), 1.0),
        *(_case("各种大小的数", "numbers of every size", *x) for x in ANY_SIZE),
        _case("整数", "whole numbers", 3_350_000_000_000, 3),
        _case("很大的整数", "large whole numbers", 1_234_567_890_123_457, 1_001),
        _case("NumPy 的数", "NumPy's own numbers", np.float64(3.7e12), np.float64(4.3e-7)),
        _case("非方阵，逐元素", "non-square arrays, elementwise", rates, waits),
        _case("一个带宽，多个延迟", "one bandwidth, many latencies", float(rng.uniform(1e12, 4e12)), waits[0]),
        _case("多个带宽，一个延迟", "many bandwidths, one latency", rates[:, 0], float(rng.uniform(3e-7, 9e-7))),
        _case(
            "一列带宽配一行延迟：广播成表",
            "a column of bandwidths with a row of latencies: broadcast to a table",
            column,
            row,
        ),
        *(
            _case(
                "一维到三维，靠广播配对",
                "one to three dimensions, paired by broadcasting",
                of(a, 1e12, 5e12),
                of(b, 1e-7, 9e-7),
            )
            for a, b in SHAPES
        ),
        _case(
            "带宽是整数数组",
            "an array of whole bandwidths",
            np.array([3_000_017, 1_700_003, 29]),
            np.array([3.7, 0.7, 1001.3]),
        ),
        _case("float32 数组（kernel 里的类型）", "float32 arrays (the kernel's type)", *narrow, rtol=4 * F32),
    ]


def boundary_cases(rng) -> list[dict]:
    """No latency: nothing need be in flight. And what is nearly none must not be taken for none."""
    rate = float(rng.uniform(1e12, 5e12))
    waits = rng.uniform(1e-7, 9e-7, 9)
    waits[[0, 4, 8]] = 0.0
    rates = rng.uniform(1e12, 5e12, 6)
    table = _uneven((3, 5), 1e-7, 9e-7)
    table[1, 2] = table[0, 0] = 0.0
    return [
        *(
            _case("公开检查的输入：有延迟为 0", "the input of a visible check: latencies of 0", *x, rtol=0.0)
            for x in VISIBLE[1:]
        ),
        _case("延迟为 0.0", "latency 0.0", rate, 0.0),
        _case("延迟为整数 0", "latency the integer 0", 3_350_000_000_000, 0),
        _case("延迟为 -0.0", "latency -0.0", rate, -0.0),
        _case("延迟为 0，带宽有大有小", "latency 0, bandwidths large and small", 5.9e3, 0.0),
        _case("延迟为 0，带宽有大有小", "latency 0, bandwidths large and small", 4.3e12, np.float64(0.0)),
        _case("一部分延迟为 0", "some of the latencies are 0", rate, waits),
        _case("表里有的延迟为 0", "some of a table's latencies are 0", _uneven((3, 1), 1e12, 5e12), table),
        _case("全部延迟为 0，形状不变", "all latencies are 0, the shape stays", rates, np.zeros(6)),
        _case(
            "标量 0 延迟配一组带宽：仍是一组 0",
            "a scalar latency 0 with an array of bandwidths: an array of zeros",
            rates,
            0.0,
        ),
        _case(
            "带宽为 0：没有流量，也就没有在途字节",
            "bandwidth 0: no traffic, nothing in flight",
            0.0,
            float(rng.uniform(1e-7, 9e-7)),
        ),
        _case("带宽为 0：没有流量，也就没有在途字节", "bandwidth 0: no traffic, nothing in flight", 0.0, 3.7e-7),
        *(_case("极小但不是 0 的延迟与带宽", "tiny latencies and bandwidths are not none", *x) for x in NEARLY_NONE),
    ]
