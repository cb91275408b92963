"""Hidden checks of lesson 9. Never released.

The exercise is `consumer_registers(threads, producer_registers, consumer_groups)`: what each consumer warpgroup may ask for by setmaxnreg, in
registers a thread, so that all of them get it. Normal cases have one or two consumers, of which every remainder of the division by
the number of consumers and by 8 occurs; boundary cases have three and more: three are what the kernel runs, four to seven are what a block of
640 to 1,024 threads would hold, where an SM's registers a thread are no multiple of 8 at launch either.

Left open on purpose: blocks that hold another number of warpgroups than consumers and one producer, gifts that are no multiple of 8, and
producers that keep more than they were launched with.
"""

from __future__ import annotations

FUNCTION = "consumer_registers"

RANGES = {"threads": (256, 1024), "producer_registers": (24, 168), "consumer_groups": (1, 7)}
_BLOCKS = "a block holds whole warpgroups, one more than there are consumers: 256 to 1,024 threads"
EQUIVALENT_FILLS = {
    "((threads + 1) // 128 * (65536 // threads // 8 * 8) - producer_registers) // consumer_groups // 8 * 8": _BLOCKS,
    "(threads // 127 * (65536 // threads // 8 * 8) - producer_registers) // consumer_groups // 8 * 8": _BLOCKS,
    "(threads // 128 * (65536 // (threads - 1) // 8 * 8) - producer_registers) // consumer_groups // 8 * 8": _BLOCKS,
    "(threads // 128 * (65536 // max(threads, 257) // 8 * 8) - producer_registers) // consumer_groups // 8 * 8": "256 "
    "threads meet the limit of 256 either way",
    "(threads // 128 * (65536 // threads // 8 * 8) - (producer_registers - 1)) // consumer_groups // 8 * 8": "pool and gift "
    "are multiples of 8, so one register more changes no multiple of 8",
    "(threads // 128 * (65537 // threads // 8 * 8) - producer_registers) // consumer_groups // 8 * 8": _BLOCKS,
}
GIFTS = range(24, 169, 8)


def launched(threads: int) -> int:
    """Registers a thread that a block of `threads` is launched with, one block an SM, in steps of 8."""
    return 65536 // threads // 8 * 8


def reference(threads, producer_registers, consumer_groups):
    """The pool less the producer's part, shared equally, in steps of 8, at most 256."""
    pool = threads // 128 * launched(threads)
    return min((pool - producer_registers) // consumer_groups // 8 * 8, 256)


def is_boundary(args: dict) -> bool:
    """Three consumers or more, and a division that leaves something: rounding decides there.

    One and two consumers do not count: whatever a producer keeps, their share comes out as a multiple of 4 or meets the limit of 256.
    """
    values = [args.get(name) for name in ("threads", "producer_registers", "consumer_groups")]
    if len(args) != 3 or any(isinstance(v, bool) or not isinstance(v, int) for v in values):
        return False
    threads, producer, consumers = values
    legal = 3 <= consumers <= 7 and threads == 128 * (consumers + 1)
    if not legal or producer % 8 or not 24 <= producer <= launched(threads):
        return False
    return (threads // 128 * launched(threads) - producer) % (8 * consumers) != 0


def _case(zh: str, en: str, producer: int, consumers: int) -> dict:
    args = {"threads": 128 * (consumers + 1), "producer_registers": producer, "consumer_groups": consumers}
    return {"name": {"zh": zh, "en": en}, "args": args, "expect": reference(**args), "rtol": 0.0, "atol": 0.0}


def _gifts(consumers: int) -> list[int]:
    return [g for g in GIFTS if g <= launched(128 * (consumers + 1))]


def normal_cases(rng) -> list[dict]:
    """One and two consumers, every gift that a producer can keep."""
    return [
        *(_case("两个消费者", "two consumers", g, 2) for g in _gifts(2)),
        *(_case("一个消费者：封顶", "one consumer: the limit", g, 1) for g in _gifts(1)),
    ]


def boundary_cases(rng) -> list[dict]:
    """Three consumers and more, every gift."""
    return [
        *(_case("三个消费者", "three consumers", g, 3) for g in _gifts(3)),
        *(_case("四个到七个消费者", "four to seven consumers", g, c) for c in (4, 5, 6, 7) for g in _gifts(c)),
    ]
