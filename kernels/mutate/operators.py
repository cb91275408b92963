"""The ways to break a kernel in one place: delete, move, swap, off by one, parity, count, predicate, scope."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from kernels.mutate.syntax import blocks, closing, code_of

# Statements that order something, issue something asynchronous, or stand for such a group in the course's headers.
ORDERS = re.compile(
    r"\b(mbarrier_\w+|fence_\w+|__sync\w+|__threadfence\w*|named_barrier_\w+|cluster_(?:sync|arrive|wait)|tma_(?:load|store)\w*|wgmma_(?!keep)\w+|reg_(?:inc|dec)|"
    r"init_ring|expect_stage|load_stage\w*|release\w*|hand_over|finish_stores|finish_tile|store_tile|multiply_stage|load|elect_one|state\.advance|advance)\s*[<(]"
)
CALL = re.compile(r"[A-Za-z_][\w.]*\s*(?:<[^;{}()]*>)?\s*\(")
CHANGE = re.compile(r"[\w.\[\]]+\s*(?:\^=|\+=|=)\s|\+\+|--")
DECLARES = re.compile(
    r"(?:const|constexpr|static_assert|auto|int|float|uint\w+|bool|long|Tile|RingState|Place|SHARED\w*|DYNAMIC_SHARED|union|Chunk&|OUT\*|vec128|return)\b"
)
# One word for another: of another scope, another proxy, another kind.
SCOPES = (
    (r"mbarrier_arrive_remote_read(\([^;]*?), t\)", r"mbarrier_arrive\1)"),
    (r"mbarrier_arrive_expect_tx\(", r"mbarrier_expect_tx("),
    (r"__syncthreads\(\)", "__syncwarp()"),
    (r"__syncwarp\(\)", "__syncthreads()"),
    (r"cluster_sync\(\)", "__syncthreads()"),
    (r"cluster_sync\(\)", "cluster_arrive()"),
    (r"cluster_sync\(\)", "__syncwarp()"),
    (r"fence_proxy_async\(\)", "fence_proxy_async_global()"),
    (r"fence_proxy_async\(\)", "__threadfence()"),
    (r"fence_proxy_async\(\)", "wgmma_fence()"),
    (r"fence_mbarrier_init\(\)", "fence_proxy_async()"),
    (r"wgmma_fence\(\)", "fence_proxy_async()"),
    (r"wgmma_fence\(\)", "wgmma_commit()"),
    (r"wgmma_commit\(\)", "wgmma_fence()"),
    (r"tma_store_commit\(\)", "wgmma_commit()"),
    (r"named_barrier_sync\(", "named_barrier_arrive("),
    (r"tma_load_2d_multicast(\([^;]*?),\s*\(1 << Cluster\) - 1\)", r"tma_load_2d\1)"),
    (r"__cluster_dims__\([^()]*\)", ""),
    (r"REGISTER_CAP\((?:[^()]|\([^()]*\))*\)", ""),
    (r"\bfull\[", "empty["),
    (r"\bempty\[", "full["),
    (r"\[MAINLOOP\]", "[EPILOGUE]"),
    (r"\[EPILOGUE\]", "[MAINLOOP]"),
)  # fmt: skip
OPERATORS = ("delete", "move", "swap", "off by one", "parity", "count", "predicate", "scope")


@dataclass(frozen=True)
class Mutant:
    """One change of one file. file, line: its place. operator: one of OPERATORS. was, becomes: the text there, on one line, and after."""

    file: str
    line: int
    operator: str
    was: str
    becomes: str
    text: str  # the whole file after the change

    @property
    def key(self) -> str:
        """Names it without its line number, which every edit above it changes."""
        return f"{self.file}: {self.operator}: {self.was} -> {self.becomes}"

    def __str__(self) -> str:
        return f"{self.file}:{self.line} {self.operator}: {self.was} -> {self.becomes}"


def mutants(file: str, text: str) -> list[Mutant]:
    """Every mutant of a source's text, each different text once; the defects that BUGGY(...) builds are left out."""
    code, found, seen = code_of(text), [], {text}
    doubled: dict[str, int] = {}
    for operator, start, end, becomes, *said in _changes(code, text):
        if "BUGGY(" in code[start:end] and operator == "predicate":
            continue
        changed = text[:start] + becomes + text[end:]
        if changed in seen:
            continue
        seen.add(changed)
        line = text.count("\n", 0, start) + 1
        one = lambda s: re.sub(r"\s+", " ", re.sub(r"//[^\n]*", "", s)).strip()
        around = one(text[code.rfind("\n", 0, start) + 1 : (code.find("\n", end - 1) + 1 or len(code))])
        was, now = said or (one(text[start:end]), one(becomes))
        m = Mutant(
            file, line, operator, f"{was} in `{around}`" if len(was) < 24 and was != around else was, now, changed
        )
        doubled[m.key] = doubled.get(m.key, 0) + 1
        if doubled[m.key] > 1:
            m = Mutant(file, line, operator, f"{m.was} (no. {doubled[m.key]})", now, changed)
        found.append(m)
    return found


def _changes(code: str, text: str) -> Iterator[tuple]:
    """(operator, start, end, replacement) of every change; for statements that change places also what to say of it, in two parts."""
    for block in blocks(code):
        yield from _of_statements(code, text, block)
    yield from _of_expressions(code)


def _of_statements(code: str, text: str, block) -> Iterator[tuple]:
    brief = lambda s: re.sub(r"\s+", " ", code[s.start : s.end]).strip()[:70]
    orders = [bool(ORDERS.search(code, s.start, s.end)) for s in block]
    for i, s in enumerate(block):
        said = code[s.start : s.end]
        declared = bool(DECLARES.match(said))
        if not s.compound and not declared and (CALL.match(said) or CHANGE.match(said)) and "wgmma_keep" not in said:
            yield "delete", s.start, s.end, ";"
        for later in block[i + 1 : i + 2]:
            if declared or DECLARES.match(code, later.start) or not (orders[i] or orders[i + 1]):
                continue
            between = text[s.end : later.start]
            yield (
                "swap",
                s.start,
                later.end,
                text[later.start : later.end] + between + text[s.start : s.end],
                brief(s),
                f"after {brief(later)}",
            )
        if orders[i] and not s.compound and not declared and len(block) > 2:
            first, last = block[0], block[-1]
            if i < len(block) - 2 and not DECLARES.match(code, last.start):
                yield (
                    "move",
                    s.start,
                    last.end,
                    text[s.end : last.end] + " " + text[s.start : s.end],
                    brief(s),
                    "last in its block",
                )
            movable = [j for j in range(i) if not DECLARES.match(code, block[j].start)]
            if movable and movable[0] < i - 1:
                first = block[movable[0]]
                yield (
                    "move",
                    first.start,
                    s.end,
                    text[s.start : s.end] + " " + text[first.start : s.start],
                    brief(s),
                    f"before {brief(first)}",
                )


def _arguments(code: str, at: int) -> list[tuple[int, int]]:
    """[start, end) of each argument of the call whose `(` is at `at`."""
    end, depth, starts, found = closing(code, at) - 1, 0, at + 1, []
    for i in range(at + 1, end + 1):
        if i == end or (code[i] == "," and depth == 0):
            found.append((starts, i))
            starts = i + 1
        elif code[i] in "([{":
            depth += 1
        elif code[i] in ")]}":
            depth -= 1
    strip = lambda a, b: (a + len(code[a:b]) - len(code[a:b].lstrip()), b - len(code[a:b]) + len(code[a:b].rstrip()))
    return [strip(*a) for a in found]


def _of_expressions(code: str) -> Iterator[tuple[str, int, int, str]]:
    for m in re.finditer(r" (<|<=|>|>=) ", code):
        other = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}[m[1]]
        yield "off by one", m.start(1), m.end(1), other
    for m in re.finditer(r"(?<=[\w)\]]) ([+-]) 1\b(?![.\w])", code):
        yield "off by one", m.start(), m.end(), ""
        yield "off by one", m.start(), m.end(), f" {m[1]} 2"
    for m in re.finditer(r" \^ 1\b", code):
        yield "parity", m.start(), m.end(), ""
    for m in re.finditer(r"\bmbarrier_(?:\w*wait\w*)\(", code):
        arguments = _arguments(code, m.end() - 1)
        if len(arguments) == 2 and "mbarrier*" not in code[arguments[0][0] : arguments[0][1]]:
            a, b = arguments[1]
            yield "parity", a, b, f"({code[a:b]}) ^ 1"
    for m in re.finditer(r"\b(?:full|empty|turn\[\w+\])\[([^\[\]]+)\]", code):
        if not re.search(r"mbarrier\s+$", code[: m.start()]):
            yield "parity", m.start(1), m.end(1), f"({m[1]}) ^ 1"
    for m in re.finditer(
        r"\b(?:mbarrier_init|mbarrier_arrive_expect_tx|mbarrier_expect_tx|named_barrier_sync|init_ring)\(", code
    ):
        arguments = _arguments(code, m.end() - 1)
        if len(arguments) > 1 and not re.search(r"HOPPER_FN[^;{}]*$", code[: m.start()]):
            a, b = arguments[1]
            for more in {
                "named": (" + 32", " - 32"),
                "mbarrier_init": (" + 1", " - 1"),
                "init_ring": (" + 1", " - 1"),
            }.get(m[0].split("_barrier")[0].rstrip("("), (" + 128", " - 128")):
                yield "count", a, b, f"({code[a:b]}){more}"
    for m in re.finditer(r"\b(?:wgmma_wait|tma_store_wait_read|tma_store_wait)<([^<>;]+)>\(", code):
        yield "count", m.start(1), m.end(1), f"{m[1]} + 1"
        if m[1].strip() != "0":
            yield "count", m.start(1), m.end(1), "0"
    for m in re.finditer(r"\b(?:reg_dec|reg_inc)<([^<>;]+)>\(", code):
        yield "count", m.start(1), m.end(1), f"{m[1]} + 8"
        yield "count", m.start(1), m.end(1), f"{m[1]} - 8"
    for m in re.finditer(r"\bif \(", code):
        a, b = m.end(), closing(code, m.end() - 1) - 1
        yield "predicate", a, b, "true"
        yield "predicate", a, b, "false"
        parts = re.split(r" && ", code[a:b])
        for i in range(len(parts)):
            if len(parts) > 1:
                yield "predicate", a, b, " && ".join(parts[:i] + parts[i + 1 :])
    for m in re.finditer(r"\bthreadIdx\.x == 0\b|\bthreadIdx\.x % WARPGROUP == 0\b|\blane == 0\b", code):
        yield "predicate", m.start(), m.end(), m[0].replace("== 0", "< 2")
        yield "predicate", m.start(), m.end(), m[0].replace("== 0", "== 1")
    for m in re.finditer(r"(?<=[,(] )?\b\w+(?: \+ \w+)? > 0(?: \|\| \w+ > 0)*(?=[,)])", code):
        yield "predicate", m.start(), m.end(), "true"
        yield "predicate", m.start(), m.end(), "false"
    for pattern, replacement in SCOPES:
        for m in re.finditer(pattern, code):
            if replacement in ("empty[", "full[") and re.search(r"mbarrier\s+$", code[: m.start()]):
                continue
            yield "scope", m.start(), m.end(), m.expand(replacement)
