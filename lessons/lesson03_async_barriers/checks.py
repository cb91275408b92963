"""Hidden checks of lesson 3. Never released.

The exercise is `barrier_step(state, event)`: state = (pending, tx, phase, count), event = (arrivals, nbytes), nbytes above 0 expected and
below 0 landed. A phase completes when no arrival is pending and the transaction count is 0; the next one begins at once. Normal cases keep
the transaction count at 0 or above. Boundary cases have bytes that land before they are expected: the count is below 0, before or after.

Byte counts are mostly no multiples of 16: an st.async lands 4 or 8 bytes, and the rule knows of no unit. Counts of every size, up to the 20 bits
that a barrier has, stand in each draw, so that no tolerance, remainder or special case passes by luck; and so do states in which both counts
are missing and cancel in a weighted sum, for one such sum in place of the two conditions is right wherever one of the counts is 0.

Left open on purpose: what PTX leaves undefined (more arrivals than are pending, counts beyond 2**20 - 1), and a state with nothing
pending and nothing expected, which no barrier is ever in.
"""

from __future__ import annotations

from math import isqrt

FUNCTION = "barrier_step"
MOST = 2**20 - 1
RANGES = {
    "pending": (0, MOST),
    "tx": (-MOST, MOST),
    "phase": (0, 1),
    "count": (1, MOST),
    "arrivals": (0, MOST),
    "nbytes": (-MOST, MOST),
}
EQUIVALENT_FILLS = {
    "pending <= 0 and tx == 0": "pending is never below 0",
    "not (pending == 0 and tx == 0) if pending > count else (pending == 0 and tx == 0)": "no more arrivals are pending than a phase takes",
    "not (pending == 0 and tx == 0) if arrivals > count else (pending == 0 and tx == 0)": "no more arrive than a phase takes",
}
VISIBLE = [
    ((2, 0, 0, 2), (1, 0)),
    ((1, 0, 0, 1), (1, 1024)),
    ((0, 1024, 0, 1), (0, -1024)),
    ((1, 0, 0, 1), (0, -512)),
]  # of the asserts, which a student could copy


def reference(state, event):
    """The barrier after the event."""
    pending, tx, phase, count = state
    arrivals, nbytes = event
    pending, tx = pending - arrivals, tx + nbytes
    return (count, tx, phase ^ 1, count) if pending == 0 and tx == 0 else (pending, tx, phase, count)


def _integers(values, length: int) -> bool:
    return (
        isinstance(values, (list, tuple))
        and len(values) == length
        and all(isinstance(v, int) and not isinstance(v, bool) for v in values)
    )


def _legal(state, event) -> bool:
    """A state that a barrier can be in, and an event that PTX allows in it."""
    if not (_integers(state, 4) and _integers(event, 2)):
        return False
    (pending, tx, phase, count), (arrivals, nbytes) = state, event
    in_range = (
        1 <= count <= MOST
        and 0 <= pending <= count
        and phase in (0, 1)
        and abs(tx) <= MOST
        and abs(tx + nbytes) <= MOST
    )
    alive = pending > 0 or tx != 0
    possible = 0 <= arrivals <= pending and (arrivals or nbytes) and not (arrivals and nbytes < 0)
    return bool(in_range and alive and possible)


def _betrays(pending: int, tx: int, nbytes: int) -> bool:
    """Does one of the usual wrong conditions decide otherwise, with these counts after the event?"""
    right = pending == 0 and tx == 0
    wrong = (pending == 0, tx <= 0, pending == 0 and tx <= 0, pending + tx == 0, pending == tx, right and nbytes <= 0)
    return any(w != right for w in wrong)


def is_boundary(args: dict) -> bool:
    """A student's own input counts when bytes have landed that nobody has expected yet, before the event or after it, and a usual wrong
    condition gives itself away on it: none does where arrivals and bytes are both missing afterwards, unless they are as many. What a visible
    assert has does not count."""
    state, event = args.get("state"), args.get("event")
    if not _legal(state, event) or (tuple(state), tuple(event)) in VISIBLE:
        return False
    return (state[1] < 0 or state[1] + event[1] < 0) and _betrays(state[0] - event[0], state[1] + event[1], event[1])


def _case(zh: str, en: str, state: tuple, event: tuple) -> dict:
    assert _legal(state, event), (state, event)
    return {
        "name": {"zh": zh, "en": en},
        "args": {"state": state, "event": event},
        "expect": reference(state, event),
        "rtol": 0.0,
        "atol": 0.0,
    }


def _walk(rng, count: int, length: int, early: bool) -> list[tuple[tuple, tuple]]:
    """States and events of a random legal history; the count of bytes goes below 0 only where `early` allows it."""
    state, found = (count, 0, int(rng.integers(0, 2)), count), []
    for size, kind in rng.random((length, 2)).tolist():
        nbytes = 1 + int(8192 * size)
        events = [(0, nbytes), (0, -nbytes if early else -min(nbytes, max(state[1], 0)))]
        if state[0]:
            events += [(1, 0), (1, nbytes)]
        if state[1]:
            events += [(0, -state[1])] * 2
        event = events[int(len(events) * kind)]
        if _legal(state, event):
            found.append((state, event))
            state = reference(state, event)
    return found


def _random(rng, early: bool, most: int) -> list[dict]:
    """Of random histories, steps that complete a phase and steps that do not, in equal parts."""
    done, open_ = [], []
    for count in (1, 2, 3, 5, 128):
        for state, event in _walk(rng, count, 60, early):
            if is_boundary({"state": state, "event": event}) if early else state[1] >= 0 and state[1] + event[1] >= 0:
                (done if reference(state, event)[2] != state[2] else open_).append((state, event))
    picked = [pool[int(i)] for pool in (done, open_) for i in rng.permutation(len(pool))[: most // 2]]
    return [
        _case(f"随机的一步，第 {i + 1} 个", f"a random step, number {i + 1}", *step) for i, step in enumerate(picked)
    ]


SIZES = (
    (23, 47),
    (211, 691),
    (7919, 50021),
    (81799, 400009),
    (1000003, 1040021),
)  # w < v, of the same order; the last near the most
SMALL = range(1, 8)


def _fixed(early: bool) -> list[dict]:
    """Counts of every size, the same in each draw; phase 0 and 1 in turn."""
    cases = []
    for i, (w, v) in enumerate(SIZES):
        phase = 1 - i % 2
        if early:
            cases += [
                _case(
                    "各种大小的计数：字节先到又补齐，人没到齐",
                    "counts of every size: early bytes are made up for, arrivals are missing",
                    (w, -v, phase, w),
                    (0, v),
                ),
                _case(
                    "各种大小的计数：人齐了，字节先到的还多",
                    "counts of every size: all have arrived, more bytes landed than are expected",
                    (w, -v, phase, w),
                    (w, v - w),
                ),
                _case(
                    "各种大小的计数：只差声明，声明到了就完成",
                    "counts of every size: only the expectation was missing, done",
                    (0, -v, phase, w),
                    (0, v),
                ),
                _case(
                    "各种大小的计数：最后到达补齐声明，完成",
                    "counts of every size: the last arrivals expect what landed, done",
                    (w, -v, phase, w),
                    (w, v),
                ),
            ]
        else:
            cases += [
                _case(
                    "各种大小的计数：字节清零，人没到齐",
                    "counts of every size: the bytes are all there, arrivals are missing",
                    (w, v, phase, w + 1),
                    (0, -v),
                ),
                _case(
                    "各种大小的计数：人齐了，又多了字节",
                    "counts of every size: all have arrived and expect more bytes",
                    (w, v - w, phase, w),
                    (w, w),
                ),
                _case(
                    "各种大小的计数：到了一批，还差一个",
                    "counts of every size: many arrive, one is missing",
                    (w + 1, 0, phase, w + 1),
                    (w, 0),
                ),
                _case(
                    "各种大小的计数：人齐了，字节没全落地",
                    "counts of every size: all have arrived, some bytes have not landed",
                    (0, v, phase, w),
                    (0, -w),
                ),
                _case(
                    "各种大小的计数：最后一批字节落地，完成",
                    "counts of every size: the last bytes land, done",
                    (0, v, phase, w),
                    (0, -v),
                ),
            ]
    for s in SMALL:
        phase = s % 2
        if early:
            cases += [
                _case(
                    "人齐了，只差几个字节没声明",
                    "all have arrived, a few bytes are not expected",
                    (1, -2 * s, phase, 2),
                    (1, s),
                )
            ]
        else:
            cases += [
                _case("几个人一起到齐：完成", "a few arrive together, all of them: done", (s, 0, phase, s), (s, 0)),
                _case(
                    "人齐了，只差几个字节", "all have arrived, a few bytes are missing", (0, 2 * s, phase, 3), (0, -s)
                ),
                _case("没有字节，还差几个人", "no bytes, a few arrivals are missing", (s + 2, 0, phase, s + 5), (2, 0)),
            ]
    many = 3 * 65536
    if early:
        return cases + [
            _case(
                "人齐了，先到的字节正好是几个 64 KiB",
                "all have arrived, whole multiples of 64 KiB are not expected",
                (1, -2 * many, 0, 1),
                (1, many),
            ),
            _case(
                "人还差很多，字节先到很多",
                "many arrivals are missing, many bytes landed first",
                (1040021, -1040021, 1, MOST),
                (2, 37),
            ),
            _case(
                "字节补齐，没到的人正好是 65536 的倍数",
                "the bytes are made up for, a multiple of 65536 arrivals is missing",
                (many, -24, 1, many),
                (0, 24),
            ),
        ]
    return cases + [
        _case(
            "人齐了，没到的字节正好是几个 64 KiB",
            "all have arrived, whole multiples of 64 KiB are missing",
            (0, many + 8, 1, 2),
            (0, -8),
        ),
        _case(
            "没有字节，没到的人正好是 65536 的倍数",
            "no bytes, a multiple of 65536 arrivals is missing",
            (many + 1, 0, 0, many + 1),
            (1, 0),
        ),
        _case(
            "人与字节都还差很多", "many arrivals and many bytes are missing", (1040021, 1000003, 1, MOST), (3, 40001)
        ),
        _case("计数的最大值：到齐，完成", "the largest count: all arrive, done", (MOST, 0, 1, MOST), (MOST, 0)),
    ]


# tx = +-k * pending, and pending = +-k * tx: what is small, powers of two, sizes of boxes and stages, round numbers; then simple ratios
TX_TIMES = (*range(2, 18), 20, 24, 32, 48, 64, 96, 100, 128, 192, 256, 512, 1000, 1024, *(2**n for n in range(11, 20)))
PENDING_TIMES = (*range(2, 13), 16, 32, 64, 100, 128, 256, 512, 1000, 1024, 4096, 65536)
RATIOS = [(a, b) for a in range(2, 6) for b in range(2, 6) if a != b and (a, b) not in ((2, 4), (4, 2))]  # tx : pending


def _step(pending: int, tx: int, phase: int, count: int, arrivals: int = 0, nbytes: int = 0) -> tuple[tuple, tuple]:
    """The step that ends with these counts."""
    return (pending + arrivals, tx - nbytes, phase, count), (arrivals, nbytes)


def _tx_times(k: int, sign: int, way: int) -> tuple[tuple, tuple]:
    """A step to tx = sign * k * pending, where k is at the same time another number of the step: a weight need be no constant."""
    phase = k % 2  # k = phase + 2, of 2 and 3
    if k > 1023:  # pending = k would take tx beyond its range
        return (
            _step(1, sign * k, way // 2 % 2, k, nbytes=sign * k)
            if way % 2
            else _step(1, sign * k, way // 2 % 2, k + 1, arrivals=k)
        )
    if (root := isqrt(k)) ** 2 == k:  # the cube of pending
        return _step(root, sign * k * root, phase, root + 1, nbytes=-sign * 7)
    if way % 4 == 0:  # pending, count and the bytes of the event
        return _step(k, sign * k * k, phase, k, nbytes=k if way % 8 else -k)
    if way % 4 == 1:  # the arrivals, count - 1
        return _step(1, sign * k, phase, k + 1, arrivals=k)
    if way % 4 == 2:  # pending + 1, count + 1
        return _step(k - 1, sign * k * (k - 1), phase, k - 1, nbytes=-sign * 3)
    if k % 2 == 0:  # twice the count
        return _step(k // 2, sign * k * (k // 2), phase, k // 2, nbytes=sign * 5)
    return _step(k - 1, sign * k * (k - 1), phase, k + 5, arrivals=1)  # what was pending before


def _pending_times(k: int, sign: int, way: int) -> tuple[tuple, tuple]:
    """A step to pending = k * abs(tx), likewise."""
    if k > 1023:
        return _step(k, sign, way % 2, k + 1, nbytes=-sign * 9)
    if (root := isqrt(k)) ** 2 == k:  # the cube of tx
        return _step(root**3, sign * root, k % 2, root**3 + 2, nbytes=-sign * 5)
    if way % 3 == 0:  # the square
        return _step(k * k, sign * k, k % 2, k * k, nbytes=-sign)
    if way % 3 == 1:  # count and the bytes of the event
        return _step(k, sign, k % 2, k, nbytes=-sign * k)
    return _step(3 * k, sign * 3, k % 2, 4 * k + 1, arrivals=k)


def _cancelling(early: bool, rng) -> list[dict]:
    """Both counts are missing, and a weighted sum of them is 0: those of TX_TIMES, PENDING_TIMES and RATIOS in each draw, and drawn ones."""
    sign = -1 if early else 1
    after = ("，字节先到", ", bytes landed first") if early else ("", "")
    named = lambda zh, en, steps: [_case(zh + after[0], en + after[1], *step) for step in steps]
    drawn = []
    for n in range(1, 4):
        k, s = 1 + int(1024 ** rng.uniform(0.1, 1)), int(rng.integers(2, 900))
        drawn += [
            _step(s, sign * k * s, n % 2, s + k + 3, arrivals=n),
            _step(s * k, sign * s, n % 2, s * k + n, nbytes=-sign * k),
        ]
    return [
        *named(
            "人和字节都没齐，字节数是人数的整数倍",
            "both are missing, the bytes are a multiple of the arrivals",
            (_tx_times(k, sign, i) for i, k in enumerate(TX_TIMES)),
        ),
        *named(
            "人和字节都没齐，人数是字节数的整数倍",
            "both are missing, the arrivals are a multiple of the bytes",
            (_pending_times(k, sign, i) for i, k in enumerate(PENDING_TIMES)),
        ),
        *named(
            "人和字节都没齐，两数成简单比例",
            "both are missing, in a simple ratio",
            (_step(b * (i + 1), sign * a * (i + 1), i % 2, b * (i + 2), arrivals=b) for i, (a, b) in enumerate(RATIOS)),
        ),
        *named("人和字节都没齐，随机的比例", "both are missing, in a drawn ratio", drawn),
    ]


def normal_cases(rng) -> list[dict]:
    """The transaction count stays at 0 or above."""
    c = int(rng.integers(3, 200))
    b = 2 * int(rng.integers(16, 8000)) + 1
    return [
        _case("到达一次，还差别人", "one arrives, others are missing", (c, 0, 0, c), (1, 0)),
        _case("最后一个到达，没有字节：完成", "the last arrives, no bytes: done", (1, 0, 0, c), (1, 0)),
        _case("相位 1 的最后一个到达：翻回 0", "the last arrives in phase 1: back to 0", (1, 0, 1, c), (1, 0)),
        _case("一次到达就完成的屏障", "a barrier of one arrival", (1, 0, 1, 1), (1, 0)),
        _case("几次到达并成一个事件，恰好到齐", "several arrivals in one event, all of them", (3, 0, 1, c), (3, 0)),
        _case("到达并声明字节：人到齐了，字节没有", "arrives and expects: all have arrived, the bytes have not", (1, 0, 0, 1), (1, b)),
        _case("只声明字节，没有人到达", "bytes expected, nobody arrives", (c, 0, 0, c), (0, b)),
        _case("最后一批字节落地：完成", "the last bytes land: done", (0, b, 0, 2), (0, -b)),
        _case("相位 1，最后一批字节落地：翻回 0", "the last bytes land in phase 1: back to 0", (0, b, 1, c), (0, -b)),
        _case("落地一半", "half of the bytes land", (0, 2 * b, 0, 2), (0, -b)),
        _case("字节清零了，人还没到齐", "the bytes are all there, an arrival is missing", (1, b, 0, 2), (0, -b)),
        _case("字节早已清零，最后一个到达：完成", "the bytes came before, the last arrives: done", (1, 0, 1, 4), (1, 0)),
        _case("声明分两次", "expected in two parts", (2, b, 0, 2), (1, b)),
        _case("还差 16 字节", "16 bytes are missing", (0, 1024, 0, 1), (0, -1008)),
        _case("人数与字节数恰好相等，都不是 0", "as many arrivals as bytes, neither 0", (17, 0, 0, 17), (1, 16)),
        *(_case("公开检查的输入", "the input of a visible check", *step) for step in VISIBLE[:3]),
        *_fixed(False),
        *_random(rng, False, 8),
        *_cancelling(False, rng),
    ]  # fmt: skip


def boundary_cases(rng) -> list[dict]:
    """Bytes land before they are expected."""
    c = int(rng.integers(3, 200))
    b = 2 * int(rng.integers(16, 8000)) + 1
    return [
        _case("字节先落地：计数变负，阶段不完成", "bytes land first: the count is negative, nothing completes", (1, 0, 0, 1), (0, -b)),
        _case("先落地的再多一批", "more bytes land first", (1, -b, 0, 1), (0, -b)),
        _case("补上声明并到达，恰好为 0：完成", "then they are expected on arrival, to exactly 0: done", (1, -b, 0, 1), (1, b)),
        _case("相位 1 里同样完成", "the same in phase 1", (1, -b, 1, 1), (1, b)),
        _case("先到一半，声明全部", "half landed first, then all are expected", (1, -b, 0, 1), (1, 2 * b)),
        _case("声明得太少：人齐了，计数仍为负", "too few are expected: all arrived, the count stays negative", (1, -2 * b, 0, 1), (1, b)),
        _case("先到的字节，没声明就到达", "bytes landed first, an arrival expects none", (1, -b, 1, 2), (1, 0)),
        _case("计数越过 0：还是不完成", "the count passes 0 without stopping: nothing completes", (0, 16, 0, 1), (0, -32)),
        _case("计数回到 0，人还没到齐", "the count is back at 0, arrivals are missing", (c, -b, 0, c), (0, b)),
        _case("最后缺的是声明：声明一到就完成", "only the expectation was missing: it completes the phase", (0, -b, 0, c), (0, b)),
        _case("人数与字节数之和为 0", "arrivals and bytes add up to 0", (16, 0, 1, 40), (0, -16)),
        _case("差 16 字节没声明", "16 bytes are not expected", (1, -b, 1, 1), (1, b - 16)),
        _case("公开检查的输入：字节先落地", "the input of a visible check: bytes land first", *VISIBLE[3]),
        *_fixed(True),
        *_random(rng, True, 8),
        *_cancelling(True, rng),
    ]  # fmt: skip
