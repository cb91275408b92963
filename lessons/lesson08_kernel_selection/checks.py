"""Hidden checks of lesson 8. Never released.

The exercise is `accumulator_registers(tile_m, tile_n, consumer_warpgroups)`: the FP32 accumulators that each thread of a consumer
warpgroup holds, tile_m * tile_n elements shared evenly by 128 threads a warpgroup. It is what the tile needs, so it may exceed 255.

Every case is a tile that wgmma can make: tile_n a multiple of 8 up to 256, tile_m a multiple of 64 for each warpgroup, and at most seven
warpgroups beside the producer's in a block of 1024 threads. Every height up to 4096, every width and every number of warpgroups stands in
each draw, so that no cut or special case of one of them passes by luck. Left open on purpose: tiles that cannot be shared so (192 rows by two
warpgroups), where a kernel would round up, and types other than FP32.
"""

from __future__ import annotations

FUNCTION = "accumulator_registers"
RANGES = {"tile_m": (64, 4096), "tile_n": (8, 256), "consumer_warpgroups": (1, 7), "return": (4, 8192)}
EQUIVALENT_FILLS = {
    "tile_m * tile_n / (WARPGROUP * consumer_warpgroups)": "the tile is shared evenly, and a whole number may come as a float",
}

THREADS, ADDRESSABLE, OTHERS, SLAB, WIDEST = 128, 255, 26, 64, 256
VISIBLE = [
    (64, 256, 1),
    (256, 128, 2),
    (128, 192, 2),
    (128, 224, 1),
    (128, 232, 1),
    (256, 192, 2),
    (256, 224, 2),
]  # of the asserts, also through fits()
OF_SM, PRODUCER = 65536, 24  # registers of an SM; what the producer keeps


def reference(tile_m, tile_n, consumer_warpgroups):
    """Elements of the tile over the threads that hold them: one FP32 element is one 32-bit register."""
    return tile_m * tile_n // (THREADS * consumer_warpgroups)


def budget(groups: int) -> int:
    """Registers of a consumer thread, one block an SM: all it can address, or what setmaxnreg gives it of the block's share."""
    at_launch = OF_SM // ((1 + groups) * THREADS) // 8 * 8
    return ADDRESSABLE if at_launch > ADDRESSABLE else (at_launch + (at_launch - PRODUCER) // groups) // 8 * 8


def _legal(m, n, groups) -> bool:
    whole = all(isinstance(x, int) and not isinstance(x, bool) and x > 0 for x in (m, n, groups))
    return whole and m % (SLAB * groups) == 0 and n % 8 == 0 and n <= WIDEST


def is_boundary(args: dict) -> bool:
    """A student's own input counts when it lies at the limit: a tile that wgmma can make and that does not fit, or only just does.

    It does not fit when its accumulators and the kernel's 26 other registers pass the budget of these warpgroups (255 for one, 240 for
    two); it only just fits when 8 more columns, wgmma's step, would not. A tile well below the limit does not count, nor does one of a visible
    assert.
    """
    m, n, groups = args.get("tile_m"), args.get("tile_n"), args.get("consumer_warpgroups")
    return _legal(m, n, groups) and _at_limit(m, n, groups) and (m, n, groups) not in VISIBLE


def _at_limit(m: int, n: int, groups: int) -> bool:
    return reference(m, n + 8, groups) + OTHERS > budget(groups)


def _case(zh: str, en: str, m: int, n: int, groups: int) -> dict:
    return {
        "name": {"zh": zh, "en": en},
        "args": {"tile_m": m, "tile_n": n, "consumer_warpgroups": groups},
        "expect": reference(m, n, groups),
        "rtol": 0.0,
        "atol": 0.0,
    }


def _drawn(rng, groups: int, count: int) -> list[tuple[int, int, int]]:
    """Random tiles that wgmma can make and that fit with room for 8 more columns; tile_m and tile_n differ."""
    out: list[tuple[int, int, int]] = []
    while len(out) < count:
        m, n = SLAB * groups * int(rng.integers(1, 5)), 8 * int(rng.integers(3, WIDEST // 8 + 1))
        if m != n and not _at_limit(m, n, groups) and (m, n, groups) not in out:
            out.append((m, n, groups))
    return out


# (tile_m, tile_n, consumer_warpgroups)
TALL = [(1088, 8, 1), (1472, 8, 1), (2176, 16, 2), (2048, 8, 2), (1344, 24, 3), (1600, 16, 5)]
GROUPS = [
    (256, 40, 4),
    (320, 64, 5),
    (640, 40, 5),
    (384, 72, 6),
    (768, 24, 6),
    (448, 56, 7),
    (896, 24, 7),
    (192, 104, 3),
    (576, 48, 3),
]
WIDTHS = [(128, n, 1) for n in (88, 112, 136, 152, 168, 184, 200, 216)] + [
    (64, 232, 1),
    (64, 248, 1),
    (320, 56, 1),
    (448, 40, 1),
]


def _every(at_limit: bool) -> list[tuple[int, int, int]]:
    """Each height once and each width twice, by a number of warpgroups that divides the slabs: those at the limit, or the others."""
    tiles = []
    for slabs in range(1, 65):
        shares = [g for g in range(1, 8) if slabs % g == 0]
        tiles.append((SLAB * slabs, 8 + 8 * (11 * slabs % 32), shares[slabs // 2 % len(shares)]))
    return [tile for tile in tiles if _at_limit(*tile) == at_limit]


def normal_cases(rng) -> list[dict]:
    """Tiles that fit, by one to seven warpgroups."""
    cases = [
        _case("公开检查的输入", "the input of a visible check", *VISIBLE[5]),  # others come below
        _case("64×64，一个 warpgroup", "64x64 by one warpgroup", 64, 64, 1),
        _case("64×256：矮而宽", "64x256: low and wide", 64, 256, 1),
        _case("256×64：高而窄，与 64×256 同样多", "256x64: tall and narrow, as many as 64x256", 256, 64, 1),
        _case("128×192，两个 warpgroup", "128x192 by two warpgroups", 128, 192, 2),
        _case("256×128，两个 warpgroup", "256x128 by two warpgroups", 256, 128, 2),
        _case("192×128，三个 warpgroup", "192x128 by three warpgroups", 192, 128, 3),
        _case("256×128，四个 warpgroup", "256x128 by four warpgroups", 256, 128, 4),
    ]
    cases += [_case("很高、很窄的 tile", "tall and narrow tiles", *x) for x in TALL]
    cases += [_case("三到七个 warpgroup", "three to seven warpgroups", *x) for x in GROUPS]
    cases += [_case("各种宽度，一个 warpgroup", "all sorts of widths, one warpgroup", *x) for x in WIDTHS]
    cases += [_case("每一种高度与宽度", "every height and every width", *x) for x in _every(False)]
    for groups, count in ((1, 2), (2, 2), (3, 2), (4, 2)):
        for i, (m, n, g) in enumerate(_drawn(rng, groups, count), 1):
            cases.append(
                _case(
                    f"随机 tile，{groups} 个 warpgroup（{i}）", f"a random tile, {groups} warpgroup(s) ({i})", m, n, g
                )
            )
    return cases


def boundary_cases(rng) -> list[dict]:
    """Tiles at the limit and beyond it, and the least that wgmma can make."""
    n = 8 * int(rng.integers(21, WIDEST // 8))  # 168 to 248
    return [
        _case("256×128，一个 warpgroup：超过 255", "256x128 by one warpgroup: beyond 255", 256, 128, 1),
        _case("128×256，一个 warpgroup：超过 255", "128x256 by one warpgroup: beyond 255", 128, 256, 1),
        _case("256×256，两个 warpgroup：超过 255", "256x256 by two warpgroups: beyond 255", 256, 256, 2),
        _case(
            "192×160，一个 warpgroup：不到 255，但仍会溢出",
            "192x160 by one warpgroup: below 255, and spills all the same",
            192,
            160,
            1,
        ),
        _case(
            "128×224，一个 warpgroup：还放得下的最大一个", "128x224 by one warpgroup: the most that fits", 128, 224, 1
        ),
        _case("128×248，一个 warpgroup", "128x248 by one warpgroup", 128, 248, 1),
        _case(
            "随机宽度，256 行，一个 warpgroup：需要的远超上限",
            "256 rows of a random width by one warpgroup: needs far beyond the limit",
            256,
            n,
            1,
        ),
        _case("512×256，一个 warpgroup", "512x256 by one warpgroup", 512, 256, 1),
        *(
            _case("公开检查的输入，恰好放不下", "the input of a visible check, which just does not fit", *x)
            for x in (VISIBLE[4], VISIBLE[6])
        ),
        *(
            _case("每一种高度与宽度，在上限附近和超过上限", "every height and every width, at the limit and beyond", *x)
            for x in _every(True)
        ),
        _case("64×8：wgmma 的最小一步", "64x8: the smallest step of wgmma", 64, 8, 1),
        _case("64×24：12 个，不是 8 的倍数", "64x24: 12, no multiple of 8", 64, 24, 1),
        _case("192×8，三个 warpgroup", "192x8 by three warpgroups", 192, 8, 3),
        _case("320×24，五个 warpgroup", "320x24 by five warpgroups", 320, 24, 5),
    ]
