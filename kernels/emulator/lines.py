"""From an address in a kernel's library to file and line, by its DWARF 4 line table (no addr2line needed)."""

from __future__ import annotations

import bisect
import struct
from functools import lru_cache
from pathlib import Path


def _sections(elf: bytes) -> dict[str, bytes]:
    (offset,) = struct.unpack_from("<Q", elf, 0x28)
    size, count, names = struct.unpack_from("<HHH", elf, 0x3A)
    rows = [struct.unpack_from("<IIQQQQ", elf, offset + i * size) for i in range(count)]
    strings = rows[names][4]
    name = lambda at: elf[strings + at : elf.index(b"\0", strings + at)].decode()
    return {name(r[0]): elf[r[4] : r[4] + r[5]] for r in rows if r[1] != 8}  # 8: no bits in the file


class _Reader:
    def __init__(self, data: bytes, at: int = 0):
        self.data, self.at = data, at

    def take(self, form: str) -> int:
        (value,) = struct.unpack_from("<" + form, self.data, self.at)
        self.at += struct.calcsize("<" + form)
        return value

    def leb(self, signed: bool = False) -> int:
        value = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if not byte & 0x80:
                return value - (1 << shift) if signed and byte & 0x40 else value

    def text(self) -> str:
        end = self.data.index(b"\0", self.at)
        value = self.data[self.at : end].decode(errors="replace")
        self.at = end + 1
        return value


def _unit(data: bytes, at: int) -> tuple[list[tuple[int, str, int]], int]:
    """The rows (address, file, line) of one line-number program, and where the next begins. DWARF 4, chapter 6.2."""
    r = _Reader(data, at)
    end = r.take("I") + at + 4
    if r.take("H") != 4:
        return [], end
    program = r.take("I") + r.at
    minimum, _, _, line_base, line_range, opcode_base = (
        r.take("B"),
        r.take("B"),
        r.take("B"),
        r.take("b"),
        r.take("B"),
        r.take("B"),
    )
    operands = [r.take("B") for _ in range(opcode_base - 1)]
    while r.text():
        pass
    files = [""]
    while name := r.text():
        files.append(Path(name).name)
        r.leb(), r.leb(), r.leb()
    r.at = program
    rows = []
    address, file, line = 0, 1, 1

    def row():
        rows.append((address, files[file] if file < len(files) else "?", line))

    while r.at < end:
        op = r.take("B")
        if op >= opcode_base:
            op -= opcode_base
            address += op // line_range * minimum
            line += line_base + op % line_range
            row()
        elif op == 0:
            length = r.leb()
            after = r.at + length
            code = r.take("B")
            if code == 1:  # end of a sequence
                rows.append((address, "", 0))
                address, file, line = 0, 1, 1
            elif code == 2:
                address = r.take("Q")
            r.at = after
        elif op == 1:
            row()
        elif op == 2:
            address += r.leb() * minimum
        elif op == 3:
            line += r.leb(signed=True)
        elif op == 4:
            file = r.leb()
        elif op == 8:
            address += (255 - opcode_base) // line_range * minimum
        elif op == 9:
            address += r.take("H")
        else:
            for _ in range(operands[op - 1]):
                r.leb()
    return rows, end


@lru_cache(maxsize=64)
def _table(library: Path) -> list[tuple[int, str, int]]:
    data = _sections(library.read_bytes()).get(".debug_line", b"")
    rows, at = [], 0
    while at + 4 < len(data):
        more, at = _unit(data, at)
        rows += more
    return sorted(rows, key=lambda r: (r[0], r[2] != 0))


def line_of(library: Path, address: int) -> tuple[str, int]:
    """(file name, line) of the code at this offset in the library; ("?", 0) if unknown."""
    table = _table(library)
    i = bisect.bisect_right(table, address, key=lambda r: r[0]) - 1
    return (table[i][1], table[i][2]) if i >= 0 and table[i][2] else ("?", 0)
