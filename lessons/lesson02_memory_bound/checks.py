"""Hidden checks of lesson 2. Never released.

The exercise is `bytes_in_flight(bandwidth, latency)`: Little's law in SI units, for numbers and for arrays that broadcast. The law is one
product, so the cases are about what surrounds it: quantities of every size (a product below one byte, a latency above the bandwidth),
whole numbers, shapes that only broadcasting gives. Boundary cases: no latency, where nothing need be in flight and where a
quotient, a sum, a floor of one load or a special case for zero gives itself away; alone, as an integer, -0.0, and among other latencies.

Left open on purpose: negative, NaN and infinite inputs, and quantities that are not numbers (the kernel refuses or never meets them);
whether whole numbers come back as integers or as floats.
"""

from __future__ import annotations

import numpy as np

FUNCTION = "bytes_in_flight"

F32 = float(np.finfo(np.float32).eps)


def reference(bandwidth, latency):
    """Bytes that must be on their way at any time: byte/s times s, elementwise."""
    return bandwidth * latency


def _is_number(value) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and np.isfinite(value)


def is_boundary(args: dict) -> bool:
    """A student's own input counts when the latency is 0 and the bandwidth is not.

    bandwidth = 0 does not count: bandwidth / latency and bandwidth * latency are both 0 then.
    """
    bandwidth, latency = args.get("bandwidth"), args.get("latency")
    return _is_number(bandwidth) and bandwidth > 0 and _is_number(latency) and latency == 0


def _case(zh: str, en: str, bandwidth, latency, rtol: float = 1e-12) -> dict:
    return {
        "name": {"zh": zh, "en": en},
        "args": {"bandwidth": bandwidth, "latency": latency},
        "expect": reference(bandwidth, latency),
        "rtol": rtol,
        "atol": 0.0,
    }


def normal_cases(rng) -> list[dict]:
    """Numbers of every size, then arrays. No two factors are alike, and no product is a round number of anything."""
    rates, waits = rng.uniform(1e12, 5e12, (5, 13)), rng.uniform(2e-8, 9e-7, (5, 13))
    column, row = rng.uniform(2e11, 5e12, (7, 1)), rng.uniform(1e-7, 2e-6, 11)
    narrow = rng.uniform(1e12, 5e12, 17).astype(np.float32), rng.uniform(2e-8, 9e-7, 17).astype(np.float32)
    return [
        _case("显存：TB/s 与几百纳秒", "device memory: TB/s and hundreds of nanoseconds", float(rng.uniform(1.1e12, 4.7e12)), float(rng.uniform(3.1e-7, 8.9e-7))),
        _case("L2：更快，也更近", "L2: faster and nearer", float(rng.uniform(5.1e12, 7.9e12)), float(rng.uniform(1.1e-7, 1.9e-7))),
        _case("主机链路：慢，也更远", "the link to the host: slower and farther", float(rng.uniform(2.1e10, 5.9e10)), float(rng.uniform(1.1e-6, 2.9e-6))),
        _case("乘积不到一个字节", "less than one byte", 3.1e6, 1.3e-8),
        _case("很慢的链路，很远的对端：延迟的数值比带宽大", "a very slow and very long link: the latency is the larger number", 20.5, float(rng.uniform(7.1e4, 8.3e4))),
        _case("正好一秒", "exactly one second", float(rng.uniform(2, 9)), 1.0),
        _case("整数", "whole numbers", 3_350_000_000_000, 3),
        _case("很大的整数", "large whole numbers", 1_234_567_890_123_457, 1_001),
        _case("非方阵，逐元素", "non-square arrays, elementwise", rates, waits),
        _case("一个带宽，多个延迟", "one bandwidth, many latencies", float(rng.uniform(1e12, 4e12)), waits[0]),
        _case("多个带宽，一个延迟", "many bandwidths, one latency", rates[:, 0], float(rng.uniform(3e-7, 9e-7))),
        _case("一列带宽配一行延迟：广播成表", "a column of bandwidths with a row of latencies: broadcast to a table", column, row),
        _case("float32 数组（kernel 里的类型）", "float32 arrays (the kernel's type)", *narrow, rtol=4 * F32),
    ]


def boundary_cases(rng) -> list[dict]:
    """No latency: nothing need be in flight. And what is nearly none must not be taken for none."""
    rate = float(rng.uniform(1e12, 5e12))
    waits = rng.uniform(1e-7, 9e-7, 9)
    waits[[0, 4, 8]] = 0.0
    rates = rng.uniform(1e12, 5e12, 6)
    return [
        _case("延迟为 0.0", "latency 0.0", rate, 0.0),
        _case("延迟为整数 0", "latency the integer 0", 3_350_000_000_000, 0),
        _case("延迟为 -0.0", "latency -0.0", rate, -0.0),
        _case("一部分延迟为 0", "some of the latencies are 0", rate, waits),
        _case("全部延迟为 0，形状不变", "all latencies are 0, the shape stays", rates, np.zeros(6)),
        _case("标量 0 延迟配一组带宽：仍是一组 0", "a scalar latency 0 with an array of bandwidths: an array of zeros", rates, 0.0),
        _case("带宽为 0：没有流量，也就没有在途字节", "bandwidth 0: no traffic, nothing in flight", 0.0, float(rng.uniform(1e-7, 9e-7))),
        _case("延迟极小但不是 0", "a tiny latency is not none", rate, 1e-15),
        _case("带宽极小但不是 0", "a tiny bandwidth is not none", 1e-9, float(rng.uniform(1e-7, 9e-7))),
        _case("空数组", "empty arrays", np.zeros(0), np.zeros(0)),
    ]
