"""Hidden checks of lesson 4. Never released.

The exercise is `swizzled_offset(row, byte)`: where byte `byte` (0..127) of row `row` (0..63) of a tile lies in shared memory after
a TMA load with the 128-byte swizzle, in bytes from the tile's start (a multiple of 1024). Normal cases lie in the first eight rows, where
row and row mod 8 are the same; boundary cases lie beyond, in the last 16-byte chunk and at the tile's two ends.

Every row, every chunk and every byte stands in each draw, so that none is right by luck; most bytes lie inside a chunk rather than at its start,
and each of the three bits of the row and of the chunk occurs alone and with the others. Drawn places come on top.
"""

from __future__ import annotations

FUNCTION = "swizzled_offset"
RANGES = {"row": (0, 63), "byte": (0, 127), "return": (0, 8191)}

ROWS, ROW_BYTES, CHUNK = 64, 128, 16
VISIBLE = [(0, 37), (1, 0), (5, 24), (7, 20)]  # of the asserts; none is a boundary


def reference(row, byte):
    """Chunk index XOR row mod 8, within the row; the byte's place within its chunk stays."""
    return row * ROW_BYTES + (byte // CHUNK ^ row % 8) * CHUNK + byte % CHUNK


def is_boundary(args: dict) -> bool:
    """A student's own input counts when it can betray a wrong version that the visible asserts let pass.

    Row 8 and beyond betrays a row that was not taken modulo 8 (row 8 itself too: its chunks would leave the row). The last chunk of a row
    that does swizzle betrays an addition in place of the XOR, which runs over the row's end.
    """
    row, byte = args.get("row"), args.get("byte")
    if any(isinstance(v, bool) or not isinstance(v, int) for v in (row, byte)):
        return False
    if not (0 <= row < ROWS and 0 <= byte < ROW_BYTES):
        return False
    return row >= 8 or (row > 0 and byte >= ROW_BYTES - CHUNK)


def _case(zh: str, en: str, row: int, byte: int) -> dict:
    row, byte = int(row), int(byte)
    return {
        "name": {"zh": zh, "en": en},  # never the values: feedback shows the name
        "args": {"row": row, "byte": byte},
        "expect": reference(row, byte),
        "rtol": 0.0,
        "atol": 0.0,
    }


def _place(row: int) -> int:
    """A byte for each row: all chunks in turn, and all places within one."""
    return CHUNK * ((5 * row + row // 8 + 3) % 8) + (7 * row + 4) % CHUNK


def _other_bytes() -> list[tuple[int, int]]:
    """(row, byte) for the bytes that _place() gives to no row. Those of the last chunk are boundaries, in rows that swizzle."""
    placed = {_place(row) for row in range(8, ROWS)}
    return [(1 + byte % 7, byte) for byte in range(ROW_BYTES) if byte not in placed]


def normal_cases(rng) -> list[dict]:
    """The first eight rows: each once in a fixed place, then in a drawn chunk, inside the chunk."""
    cases = [
        *(_case("公开检查的输入", "the input of a visible check", *x) for x in VISIBLE),
        _case("第 0 行不动", "row 0 stays", 0, rng.integers(17, 112)),
        _case("块的第一个字节", "first byte of a chunk", 5, 16 * rng.integers(1, 7)),
        _case("第 0 块", "chunk 0", 6, rng.integers(1, 16)),
    ]
    for row in range(8):
        cases += [
            _case("前八行", "in the first eight rows", row, byte)
            for byte in (_place(row) % 112, 16 * rng.integers(0, 7) + rng.integers(1, 16))
        ]
    return cases + [
        _case("前八行，每个字节", "every byte, in the first eight rows", *x)
        for x in _other_bytes()
        if not is_boundary({"row": x[0], "byte": x[1]})
    ]


def boundary_cases(rng) -> list[dict]:
    """Row 8 and beyond, each of them; the last chunk; the ends of the tile."""
    inside = lambda: int(rng.integers(1, 16))
    chunk = lambda: 16 * int(rng.integers(1, 7)) + inside()
    return [
        _case("第 8 行又从头开始", "row 8 starts again", 8, chunk()),
        _case("第 8 行，第 0 字节", "row 8, byte 0", 8, 0),
        _case("第 9 行与第 1 行同样排列", "row 9 is laid as row 1", 9, chunk()),
        *(_case("第 8 行及以后，逐行", "row 8 and beyond, row by row", row, _place(row)) for row in range(8, ROWS)),
        *(
            _case("最后一块，每个字节", "last chunk, every byte", *x)
            for x in _other_bytes()
            if is_boundary({"row": x[0], "byte": x[1]})
        ),
        *(_case("第 8 行之后的随机一行", "a random row beyond 8", rng.integers(9, ROWS), chunk()) for _ in range(4)),
        _case("最后一块，第 1 行：不能越过行尾", "last chunk of row 1: does not run over the row's end", 1, 113),
        _case("最后一块，第 7 行：回到第 0 块", "last chunk of row 7: comes to chunk 0", 7, 122),
        _case("最后一块，第 4 行", "last chunk of row 4", 4, 117),
        _case("最后一块，随机一行", "last chunk of a random row", rng.integers(1, ROWS), 112 + inside()),
        _case("tile 的第一个字节", "the tile's first byte", 0, 0),
        _case("第 0 行的最后一个字节", "last byte of row 0", 0, 127),
        _case("最后一行的第一个字节", "first byte of the last row", 63, 0),
        _case("最后一行的最后一个字节", "last byte of the last row", 63, 127),
    ]
