"""Hidden checks of lesson 6. Never released.

The exercise is `advance(index, phase, stages)`, which returns the next place (index, phase) of a ring of `stages`: the index
counts 0 .. stages - 1, and the phase bit flips when it wraps. Normal cases are places of a ring of two stages or more;
boundary cases are those that tell a flip from what looks like one: a ring of one stage, where every step wraps, and the end of
an odd lap, where the bit has to come back to 0. Every ring of up to 16 stages (within a lap and both wraps), every one of up to 32 (both
wraps) and some of each larger size stand in each draw, so that no ring is right by luck.

Left open on purpose: places that a ring never has (index >= stages, a phase that is neither 0 nor 1, no stage at all).
"""

from __future__ import annotations

FUNCTION = "advance"

RANGES = {"index": (0, 4095), "phase": (0, 1), "stages": (1, 4096)}
EQUIVALENT_FILLS = {
    "((index + 1) % stages, phase ^ (index + 1 >= stages))": "the index is below the number of stages",
    "((index + 1) % stages, phase ^ ((index + 1 - stages) // 16 == 0))": "what is left of a lap is not above 0, and -1 // 16 is -1",
    "None if index > stages else ((index + 1) % stages, phase ^ (index + 1 == stages))": "the index is below the number of stages",
}
MOST = 64  # stages of an input that counts as the student's own boundary


def reference(index, phase, stages):
    """(index + 1, phase), or (0, the other phase) where the index wraps."""
    return (0, phase ^ 1) if index + 1 == stages else (index + 1, phase)


def is_boundary(args: dict) -> bool:
    """A legal place that a wrong bit cannot pass unseen: the only stage of a ring, or the last stage of an odd lap.

    The end of lap 0 does not count: there the bit goes from 0 to 1, and a version that sets it, or counts laps, passes too.
    """
    values = [args.get(name) for name in ("index", "phase", "stages")]
    if len(args) != 3 or any(isinstance(v, bool) or not isinstance(v, int) for v in values):
        return False
    index, phase, stages = values
    legal = 1 <= stages <= MOST and 0 <= index < stages and phase in (0, 1)
    return legal and index == stages - 1 and (stages == 1 or phase == 1)


def _case(zh: str, en: str, index: int, phase: int, stages: int) -> dict:
    return {
        "name": {"zh": zh, "en": en},
        "args": {"index": index, "phase": phase, "stages": stages},
        "expect": reference(index, phase, stages),
        "rtol": 0.0,
        "atol": 0.0,
    }


SMALL, MIDDLE, LARGE = range(2, 17), range(17, 33), (64, 97, 256, 1021, 4096)
RINGS = (*SMALL, *MIDDLE, *LARGE, 48, 100, 128, 512, 1000, 2048)


def _inside(stages: int) -> tuple[int, int]:
    """A step within a lap that does not wrap, of either phase."""
    return stages // 2 - stages % 2, stages % 2


def _drawn_rings(rng) -> list[int]:
    """Three large rings of odd size."""
    return [2 * int(rng.integers(least, least + 8)) + 1 for least in (16, 24, 130)]


def normal_cases(rng) -> list[dict]:
    """Steps within a lap and the wrap of lap 0, in rings of 2 stages and more."""
    large = _drawn_rings(rng)
    return [
        _case("公开检查的输入", "the input of a visible check", 0, 0, 3),  # those of the other asserts come below
        _case("环的起点", "the start of the ring", 0, 0, 4),
        _case("环的起点，奇数圈", "the start of the ring, odd lap", 0, 1, 4),
        _case("圈中间，phase 为 0", "within a lap, phase 0", 1, 0, 3),
        _case("圈中间，phase 为 1：不能变", "within a lap, phase 1: it must stay", 1, 1, 3),
        _case("绕回前一步：还不绕", "one step before the wrap: no wrap yet", 2, 0, 4),
        _case("绕回前一步，奇数圈", "one step before the wrap, odd lap", 5, 1, 7),
        _case("离绕回还差 256 步", "256 steps before the wrap", 511, 1, 768),
        _case("离绕回还差几步", "some steps before the wrap", 10, 0, 19),
        *(
            _case("圈中间，各种大小的环", "within a lap, rings of every size", *_inside(n), n)
            for n in (*SMALL, 29, *LARGE)
            if n > 4
        ),
        *(_case("第 0 圈绕回，各种大小的环", "lap 0 wraps, rings of every size", n - 1, 0, n) for n in RINGS),
        _case("两个 stage，第一步", "two stages, first step", 0, 0, 2),
        *(
            _case("大环的中间", "within a large ring", int(rng.integers(1, n - 2)), int(rng.integers(0, 2)), n)
            for n in large
        ),
        *(_case("大环绕回", "a large ring wraps", n - 1, 0, n) for n in large),
    ]


def boundary_cases(rng) -> list[dict]:
    """A ring of one stage, and odd laps that end: the bit comes back to 0."""
    return [
        _case("只有一个 stage，phase 为 0", "one stage, phase 0", 0, 0, 1),
        _case("只有一个 stage，phase 为 1", "one stage, phase 1", 0, 1, 1),
        *(_case("奇数圈绕回，各种大小的环", "an odd lap wraps, rings of every size", n - 1, 1, n) for n in RINGS),
        *(_case("大环的奇数圈绕回", "an odd lap of a large ring wraps", n - 1, 1, n) for n in _drawn_rings(rng)),
        _case("两个 stage，奇数圈的第一步：不绕", "two stages, first step of an odd lap: no wrap", 0, 1, 2),
        _case("奇数圈，离绕回还差几步", "an odd lap, some steps before the wrap", 20, 1, 37),
    ]
