"""Hidden checks of lesson 5. Never released.

The exercise is `accumulator_coord(thread, register)`, the (row, column) of the 64 x N accumulator tile that a register of a thread holds.
Both numbers are mixed-radix: thread = 32 * warp + 4 * quad + place, register = 4 * group + 2 * half + side. Normal cases vary one digit at
a time and then all of them, for every thread and every register; boundary cases are the last threads and registers
of several widths, and the seams where one digit wraps and the next begins. N is no argument: a wider tile only has more registers.

Left open on purpose: threads beyond 127 and registers beyond 127, which no warpgroup and no instruction has.
"""

from __future__ import annotations

FUNCTION = "accumulator_coord"
RANGES = {"thread": (0, 127), "register": (0, 127), "warp": (0, 3), "lane": (0, 31)}
EQUIVALENT_FILLS = {
    "16 * warp + lane // 4 + 8 * (register // 2 % 2), 8 * (register // 4) + 2 * (thread % 4) + register % 2": "a warp has a multiple of 4 threads",
}
THREADS, WIDTHS = 128, tuple(range(8, 257, 8))
VISIBLE = 7  # the register of the last corner that an assert shows


def reference(thread, register):
    """(row, column) of matrix D (PTX ISA, register fragments of wgmma.mma_async, accumulator D)."""
    row = 16 * (thread // 32) + 8 * (register // 2 % 2) + thread % 32 // 4
    return row, 8 * (register // 4) + 2 * (thread % 4) + register % 2


def is_boundary(args: dict) -> bool:
    """A student's own input counts when it is the tile's last corner: thread 127 and the last register of some legal N, N / 2 - 1.

    N = 64 does not count: its corner is (63, 63), which a version with row and column exchanged gets right as well. N = 16 is the visible assert's.
    """
    thread, register = args.get("thread"), args.get("register")
    if set(args) != {"thread", "register"} or any(
        isinstance(x, bool) or not isinstance(x, int) for x in (thread, register)
    ):
        return False
    return thread == THREADS - 1 and 2 * (register + 1) in WIDTHS and register not in (31, VISIBLE)


def _case(zh: str, en: str, thread, register) -> dict:
    return {
        "name": {"zh": zh, "en": en},  # never the values: feedback shows the name
        "args": {"thread": int(thread), "register": int(register)},
        "expect": reference(int(thread), int(register)),
        "rtol": 0.0,
        "atol": 0.0,
    }


def _everywhere() -> list[tuple[int, int]]:
    """Each thread and each register once. A round takes one of each group of four threads and of each group of columns; in the first, of two
    neighbouring groups one has the last register, and of the others the middle two come in turn: each digit shows everywhere."""
    thread = lambda i, n: 4 * i + (i + i // 8 + n) % 4
    register = lambda i, n: 4 * ((13 * i + 6) % 32) + ((3 if i % 2 else 1 + i // 8 % 2) + n) % 4
    return [(thread((i + 9 * n) % 32, n), register(i, n)) for n in range(4) for i in range(32)]


def normal_cases(rng) -> list[dict]:
    """Each digit on its own, then all together, then drawn ones in every warp."""
    fixed = [
        ("原点", "the origin", 0, 0),
        ("四线程组里的位置", "place within a group of four threads", 3, 0),
        ("四线程组", "the group of four threads", 20, 0),
        ("warp", "the warp", 64, 0),
        ("一对里的第二个", "second of a pair", 0, 1),
        ("下面那一对", "the lower pair", 0, 2),
        ("列组", "the group of columns", 0, 20),
        ("各位都不为 0", "no digit is 0", 87, 23),
        (
            "公开检查的输入",
            "the input of a visible check",
            37,
            6,
        ),  # those of the other asserts are the origin and the corner of N = 16
        ("行小列大", "small row, large column", 5, 110),
        ("行大列小", "large row, small column", 118, 3),
    ]
    every = [_case("每个线程，每个寄存器", "every thread, every register", *x) for x in _everywhere()]
    drawn = [
        (warp, 32 * warp + int(rng.integers(1, 31)), int(rng.integers(4, 124))) for warp in range(4) for _ in range(2)
    ]
    return (
        [_case(*f) for f in fixed]
        + every
        + [_case(f"随机一点，warp {warp}", f"a drawn point, warp {warp}", t, r) for warp, t, r in drawn]
    )


def boundary_cases(rng) -> list[dict]:
    """The last thread and register of several widths, and the seams between digits."""
    corners = [
        (f"最后一个线程与寄存器，N = {n}", f"last thread and register, N = {n}", THREADS - 1, n // 2 - 1)
        for n in (8, 16, 24, 128, 248, 256)
    ]
    drawn = [4 * int(rng.integers(4, 31)) - 1 for _ in range(3)]  # N = 32 to 240
    seams = [
        ("第一个线程，最后一个寄存器", "first thread, last register", 0, 127),
        ("最后一个线程，第一个寄存器", "last thread, first register", 127, 0),
        ("warp 0 的最后一个线程", "last thread of warp 0", 31, 2),
        ("warp 1 的第一个线程", "first thread of warp 1", 32, 2),
        ("warp 3 的第一个线程", "first thread of warp 3", 96, 5),
        ("四线程组的末尾", "end of a group of four threads", 35, 7),
        ("四线程组的开头", "start of a group of four threads", 36, 7),
        ("列组的末尾", "end of a group of columns", 101, 7),
        ("列组的开头", "start of a group of columns", 101, 8),
        *(
            ("随机一个 N 的最后一个寄存器", "last register of a drawn N", thread, register)
            for thread, register in zip((95, 63, 127), drawn)
        ),
    ]
    return [_case(*c) for c in corners + seams]
