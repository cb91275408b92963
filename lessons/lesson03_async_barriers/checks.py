"""Hidden checks of lesson 3. Never released.

The exercise is `barrier_step(state, event)`: state = (pending, tx, phase, count), event = (arrivals, nbytes), nbytes above 0 expected and
below 0 landed. A phase completes when no arrival is pending and the transaction count is 0; the next one begins at once. Normal cases keep
the transaction count at 0 or above. Boundary cases have bytes that land before they are expected: the count is below 0, before or after.

Left open on purpose: what PTX leaves undefined (more arrivals than are pending, counts beyond 2**20 - 1), and a state with nothing
pending and nothing expected, which no barrier is ever in.
"""

from __future__ import annotations

FUNCTION = "barrier_step"
EQUIVALENT_FILLS = ["pending <= 0 and tx == 0"]  # pending is never below 0
MOST = 2**20 - 1


def reference(state, event):
    """The barrier after the event."""
    pending, tx, phase, count = state
    arrivals, nbytes = event
    pending, tx = pending - arrivals, tx + nbytes
    return (count, tx, phase ^ 1, count) if pending == 0 and tx == 0 else (pending, tx, phase, count)


def _integers(values, length: int) -> bool:
    return isinstance(values, (list, tuple)) and len(values) == length and all(isinstance(v, int) and not isinstance(v, bool) for v in values)


def _legal(state, event) -> bool:
    """A state that a barrier can be in, and an event that PTX allows in it."""
    if not (_integers(state, 4) and _integers(event, 2)):
        return False
    (pending, tx, phase, count), (arrivals, nbytes) = state, event
    in_range = 1 <= count <= MOST and 0 <= pending <= count and phase in (0, 1) and abs(tx) <= MOST and abs(tx + nbytes) <= MOST
    alive = pending > 0 or tx != 0
    possible = 0 <= arrivals <= pending and (arrivals or nbytes) and not (arrivals and nbytes < 0)
    return bool(in_range and alive and possible)


def is_boundary(args: dict) -> bool:
    """A student's own input counts when bytes have landed that nobody has expected yet, before the event or after it."""
    state, event = args.get("state"), args.get("event")
    return _legal(state, event) and (state[1] < 0 or state[1] + event[1] < 0)


def _case(zh: str, en: str, state: tuple, event: tuple) -> dict:
    assert _legal(state, event), (state, event)
    return {"name": {"zh": zh, "en": en}, "args": {"state": state, "event": event}, "expect": reference(state, event), "rtol": 0.0, "atol": 0.0}


def _walk(rng, count: int, length: int, early: bool) -> list[tuple[tuple, tuple]]:
    """States and events of a random legal history; the count of bytes goes below 0 only where `early` allows it."""
    state, found = (count, 0, int(rng.integers(0, 2)), count), []
    while len(found) < length:
        nbytes = 16 * int(rng.integers(1, 512))
        events = [(0, nbytes), (0, -nbytes if early else -min(nbytes, max(state[1], 0)))]
        if state[0]:
            events += [(1, 0), (1, nbytes)]
        if state[1]:
            events += [(0, -state[1])] * 2
        event = events[int(rng.integers(len(events)))]
        if _legal(state, event):
            found.append((state, event))
            state = reference(state, event)
    return found


def _random(rng, early: bool, most: int) -> list[dict]:
    """Of random histories, steps that complete a phase and steps that do not, in equal parts."""
    done, open_ = [], []
    for count in (1, 2, 3, 5, 128):
        for state, event in _walk(rng, count, 160, early):
            if (state[1] < 0 or state[1] + event[1] < 0) == early:
                (done if reference(state, event)[2] != state[2] else open_).append((state, event))
    picked = [pool[int(i)] for pool in (done, open_) for i in rng.permutation(len(pool))[: most // 2]]
    return [_case(f"随机的一步，第 {i + 1} 个", f"a random step, number {i + 1}", *step) for i, step in enumerate(picked)]


def normal_cases(rng) -> list[dict]:
    """The transaction count stays at 0 or above."""
    c = int(rng.integers(3, 200))
    b = 16 * int(rng.integers(2, 1000))
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
        *_random(rng, False, 24),
    ]  # fmt: skip


def boundary_cases(rng) -> list[dict]:
    """Bytes land before they are expected."""
    c = int(rng.integers(3, 200))
    b = 16 * int(rng.integers(2, 1000))
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
        *_random(rng, True, 24),
    ]  # fmt: skip
