"""What a notebook shows of runs: its outputs and receipts, less those that show nothing.

No cell is run for that. An output shows nothing where its cell calls nothing that could have given it, and a number shows nothing where
the cell's own code spells it out. A receipt is held against what the loader writes (kernels.Receipt). Whoever forges with more care than
that is not found here.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections import defaultdict
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import lru_cache

from autograder.lesson.rubric import Text
from autograder.submission.read import NbCell, Reading
from autograder.submission.read.released import squeezed
from autograder.submission.source import NotPython, as_run, parse

NUMBER = r"\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?"
_MOST = 1_000_000  # characters of outputs that are looked through
FIRST_DAY = datetime(2025, 1, 1, tzinfo=UTC)  # the loader that writes receipts is younger
_CLOCKS = timedelta(days=2)  # by which a student's clock may be ahead
_HOPPER = re.compile(
    r"NVIDIA\b.*\bG?H\d{2,3}\b"
)  # the kernels are compiled for sm_90a alone: H20, H100, H200, H800, GH200


@dataclass(frozen=True)
class Shown:
    """outputs: any output or picture at all. counted: any code cell has an execution count. backends: of the receipts that count. text: all
    output text and those receipts' figures, to look figures up in; computed: what of it came from cells that call something, where a time or
    a rate must stand. receipts: why some do not count. left_out: outputs that show nothing, each with the reason."""

    outputs: bool
    counted: bool
    backends: frozenset[str]
    text: str
    computed: str
    receipts: tuple[Text, ...] = ()
    left_out: tuple[tuple[str, Text], ...] = ()


def shown_by(reading: Reading) -> Shown:
    code = reading.code
    released = set(getattr(reading.released, "by_text", ()))
    cells = _Cells(code, released)
    text, computed, receipts, left_out, backends = [], [], [], [], set()
    outputs = False
    for cell in code:
        whole = [r for r in cell.receipts if _is_whole(r)]
        outputs = outputs or bool(whole or cell.outputs or cell.pictures)
        if not (cell.outputs or cell.receipts):
            continue
        wrong = next(filter(None, (_wrong_with(r, cell, cells) for r in cell.receipts)), None)
        if wrong is not None:  # what is printed beside it is the same receipt again
            receipts.append(wrong)
            continue
        printed, n = "\n".join(cell.outputs), cell.index + 1
        figures = "\n".join(str(r.get("figure", ""))[:2000] for r in whole)
        backends |= {r["backend"] for r in whole}
        said = _without(printed, cells.spelt(cell))
        text += [said, figures]
        if said != printed:
            left_out.append(
                (
                    printed,
                    Text(
                        zh=f"第 {n} 个单元格的代码里直接写着它输出的数字",
                        en=f"the code in cell {n} spells out the numbers that it prints",
                    ),
                )
            )
        if cells.computes(cell):
            computed += [said, figures]
        else:
            left_out.append(
                (
                    printed,
                    Text(
                        zh=f"第 {n} 个单元格的代码算不出它下面的输出",
                        en=f"the code in cell {n} cannot have given the output below it",
                    ),
                )
            )
    counted = any(c.executed is not None for c in code)
    return Shown(
        outputs,
        counted,
        frozenset(backends),
        "\n".join(text)[:_MOST],
        "\n".join(computed)[:_MOST],
        tuple(receipts),
        tuple(left_out),
    )


# -- receipts ----------------------------------------------------------------------------------------------------------------------


def _is_whole(receipt: dict) -> bool:
    """Has it what the loader writes into every receipt (kernels.Receipt)?"""
    texts = [receipt.get(name) for name in ("kernel", "backend", "device", "command", "time", "source_sha256")]
    return (
        all(isinstance(t, str) and t for t in texts)
        and receipt["backend"] in ("gpu", "emulator")
        and _time(receipt) is not None
        and bool(re.fullmatch("[0-9a-f]{64}", texts[-1]))
    )


def _time(receipt: dict) -> datetime | None:
    try:
        at = datetime.fromisoformat(receipt["time"])
    except ValueError:
        return None
    return at if at.tzinfo else at.replace(tzinfo=UTC)


def _wrong_with(receipt: dict, cell: NbCell, cells: _Cells) -> Text | None:
    """What the loader would not have written, None where nothing is wrong. The hash of an edited source (a challenge's) is any hash."""
    n = cell.index + 1
    if not _is_whole(receipt):
        return Text(
            zh=f"第 {n} 个单元格的收据不能算数：内容不完整",
            en=f"the receipt in cell {n} does not count: it lacks what every receipt has",
        )
    kernel, device = receipt["kernel"][:60], receipt["device"][:60]
    gpu = receipt["backend"] == "gpu"
    for wrong, zh, en in (
        (
            not set(receipt["kernel"].split(", ")) <= _kernels(),
            f"课程里没有名为 {kernel} 的 kernel",
            f"the course has no kernel named {kernel}",
        ),
        (not _is_hash(receipt["source_sha256"]), "源码哈希不是真的哈希", "its source hash is no hash"),
        (
            _time(receipt) < FIRST_DAY,
            f"时间 {receipt['time'][:40]} 早于课程",
            f"its time, {receipt['time'][:40]}, is before the course",
        ),
        (
            _time(receipt) > datetime.now(UTC) + _CLOCKS,
            f"时间 {receipt['time'][:40]} 还没有到",
            f"its time, {receipt['time'][:40]}, is yet to come",
        ),
        (
            gpu and not _HOPPER.match(device),
            f"{device} 不是能运行这些 kernel 的 GPU",
            f"{device} is no GPU that runs the kernels",
        ),
        (gpu and not re.search(r"\d\.\d", str(receipt.get("driver") or "")), "没有驱动版本", "it names no driver"),
        (
            receipt["kernel"].split(", ")[0] not in receipt["command"] and "course bench" not in receipt["command"],
            "命令里没有这个 kernel",
            "its command is not of that kernel",
        ),
        (not cells.computes(cell), "它所在的单元格没有启动任何东西", "the cell that holds it launches nothing"),
        (cells.writes_receipts, "笔记本的代码自己写出了收据", "code in the notebook writes receipts itself"),
    ):
        if wrong:
            return Text(zh=f"第 {n} 个单元格的收据不能算数：{zh}", en=f"the receipt in cell {n} does not count: {en}")
    return None


@lru_cache(maxsize=1)
def _kernels() -> frozenset[str]:
    from kernels.spec import registry

    return frozenset(registry())


def _is_hash(text: str) -> bool:
    """Of 64 digits at random fewer than 9 kinds hardly ever occur, and no part is repeated."""
    if len(set(text)) < 9 or any(text == text[:n] * (64 // n) for n in (8, 16, 32)):
        return False
    return "0123456789" not in text


# -- cells ---------------------------------------------------------------------------------------------------------------------------

# Modules that write down or lay out what they are given.
_LAYOUT = {
    "IPython",
    "math",
    "random",
    "decimal",
    "fractions",
    "json",
    "string",
    "textwrap",
    "pprint",
    "tabulate",
    "statistics",
    "itertools",
    "sys",
    "rich",
    "__future__",
}
_PLAIN = set(dir(builtins)) - {
    "open",
    "exec",
    "eval",
    "compile",
    "__import__",
    "input",
    "globals",
    "locals",
    "vars",
    "getattr",
} | {"display", "__name__"}
_SHELL = re.compile(
    r"^\s*(?:\w[\w, ]*=\s*)?[%!]+\s*(?!echo\b|printf\b|cat\b|matplotlib\b|load_ext\b|config\b|env\b|cd\b|pwd\b|pip\b|conda\b|capture\b|markdown\b|html\b|latex\b|svg\b|HTML\b|writefile\b)\S"
)
_RECEIPT_WRITTEN = re.compile(r"hopper-course\.receipt|\bReceipt\s*\(|source_sha256[\"']\s*[:=]")
_SPELT = 3  # significant digits from which a number in the code is that number and no count


@dataclass
class _Cell:
    """loads: names it reads; spelt: numbers that stand in its code; asks: it reads a name that is neither Python's own nor given in the cell."""

    loads: set[str] = field(default_factory=set)
    spelt: set[float] = field(default_factory=set)
    opaque: bool = False  # it could not be read, or runs a command: it may compute anything


class _Cells:
    """What the notebook's code cells compute, name by name. A cell computes something if it reads a name that stands for anything but
    constants, or runs a command."""

    def __init__(self, code: list[NbCell], released: set[str]):
        self._own = {c.index: squeezed(c.source) not in released for c in code}
        self._read = {c.index: _read(c.source) for c in code}
        self.writes_receipts = any(self._own[c.index] and _RECEIPT_WRITTEN.search(c.source) for c in code)
        bound: dict[str, list[tuple[set[str], bool]]] = defaultdict(list)
        self._given: dict[str, set[float]] = defaultdict(set)  # numbers spelt where a name is given its value
        given: set[str] = set()
        for c in code:
            for name, loads, live, spelt in _bindings(c.source):
                bound[name].append((loads, live))
                if spelt is not None:
                    given.add(name)
                    if self._own[c.index]:
                        self._given[name] |= spelt
        # A name is constant if all that it is ever given is; what no cell gives a value is not known, and may be anything.
        self._constant = given
        while changed := {
            n for n in self._constant if any(live or not self._are_constant(loads) for loads, live in bound[n])
        }:
            self._constant -= changed

    def _are_constant(self, names: set[str]) -> bool:
        return all(n in self._constant or (n in _PLAIN and n not in self._given) for n in names)

    def computes(self, cell: NbCell) -> bool:
        read = self._read[cell.index]
        return read.opaque or not self._are_constant(read.loads)

    def spelt(self, cell: NbCell) -> set[float]:
        """Numbers in its own code, and in what the names in it were given. The lesson's cells spell out nothing of his."""
        if not self._own[cell.index]:
            return set()
        read = self._read[cell.index]
        return read.spelt.union(*(self._given[n] for n in read.loads if n in self._given))


@lru_cache(maxsize=256)  # most cells of a class are the released ones
def _read(source: str) -> _Cell:
    try:
        tree = parse(source)
    except NotPython:
        commands = [x for x in as_run(source).split("\n") if x.strip() and not x.lstrip().startswith(("%%", "#"))]
        told = re.match(r"\s*%%(?:markdown|html|HTML|latex|svg|javascript|js|writefile)\b", source) or all(
            re.match(r"\s*(?:echo|printf|cat)\b", x) for x in commands
        )
        return _Cell(opaque=not told, spelt=_numbers_in(source))
    inner = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)} | _arguments(
        tree
    )
    given = {name for name, *_ in _bindings(source)}
    loads = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    live = any(_SHELL.match(x) for x in as_run(source).split("\n"))
    return _Cell(
        loads - (inner - given),
        _constants(tree)
        | {x for line in as_run(source).split("\n") if line.lstrip().startswith(("!", "%")) for x in _numbers_in(line)},
        live,
    )


@lru_cache(maxsize=256)
def _bindings(source: str) -> tuple[tuple[str, frozenset[str], bool, frozenset[float] | None], ...]:
    """(name, names that its value reads, whether it is alive by itself, numbers spelt in it) for every name that a cell
    gives a value; None for the numbers where a call may only have changed it."""
    try:
        tree = parse(source)
    except NotPython:
        return ()
    out, put = [], []
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            out.append((node.name, node, True))  # what a function gives depends on more than what it is written of
        elif isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.NamedExpr)) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            out += [(n.id, node.value, False) for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)]
        elif isinstance(node, (ast.For, ast.AsyncFor, ast.comprehension)):
            out += [(n.id, node.iter, False) for n in ast.walk(node.target) if isinstance(n, ast.Name)]
        elif isinstance(node, (ast.With, ast.AsyncWith)):
            out += [
                (n.id, i.context_expr, False)
                for i in node.items
                if i.optional_vars
                for n in ast.walk(i.optional_vars)
                if isinstance(n, ast.Name)
            ]
        elif isinstance(
            node, ast.Call
        ):  # what is called may put its result into what it is given, or into what it is a method of
            base = [node.func.value] if isinstance(node.func, ast.Attribute) else []
            put += [(n.id, node) for n in (*base, *node.args) if isinstance(n, ast.Name)]
        elif isinstance(node, ast.Import):
            out += [((a.asname or a.name).split(".")[0], None, a.name.split(".")[0] not in _LAYOUT) for a in node.names]
        elif isinstance(node, ast.ImportFrom):
            out += [(a.asname or a.name, None, (node.module or "").split(".")[0] not in _LAYOUT) for a in node.names]
    return tuple(
        (
            name,
            frozenset(n.id for n in ast.walk(value) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load))
            if value
            else frozenset(),
            live,
            (frozenset(_constants(value)) if value else frozenset()) if spells else None,
        )
        for name, value, live, spells in [
            *((*o, True) for o in out),
            *((name, call, False, False) for name, call in put),
        ]  # a call's numbers are not all for its names
    )


def _arguments(tree: ast.AST) -> set[str]:
    return {
        a.arg
        for n in ast.walk(tree)
        if isinstance(n, ast.arguments)
        for a in (*n.posonlyargs, *n.args, *n.kwonlyargs, *filter(None, (n.vararg, n.kwarg)))
    }


def _constants(tree: ast.AST) -> set[float]:
    found: set[float] = set()
    for n in ast.walk(tree):
        if isinstance(n, ast.Constant) and isinstance(n.value, str):
            found |= _numbers_in(n.value)
        elif (
            isinstance(n, ast.Constant)
            and isinstance(n.value, (int, float))
            and not isinstance(n.value, bool)
            and len(f"{abs(n.value):.12g}".replace(".", "").strip("0")) >= _SPELT
        ):
            found.add(float(n.value))
    return found


def _numbers_in(text: str) -> set[float]:
    return {
        float(n.replace(",", ""))
        for n in re.findall(NUMBER, text)[:2000]
        if len(n) < 40 and len(n.replace(",", "").replace(".", "").strip("0")) >= _SPELT
    }


def _without(text: str, spelt: set[float]) -> str:
    """An output without the numbers that its cell's code spells out."""
    if not spelt:
        return text
    return re.sub(NUMBER, lambda m: "" if len(m[0]) < 40 and float(m[0].replace(",", "")) in spelt else m[0], text)
