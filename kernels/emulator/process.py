"""One launch in a process of its own: arrays through a shared file, the description as text, the result as JSON."""

from __future__ import annotations

import ctypes
import json
import mmap
import os
import re
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from kernels.emulator.errors import EmulatorArgumentError, EmulatorUnavailable
from kernels.emulator.launch_folder import launch_folder
from kernels.emulator.lines import line_of
from kernels.emulator.report import POLICIES, STATUSES, Event, Finding, LaunchReport, Place
from kernels.tensormap import TensorMap
from kernels.wording import told

PAGE = mmap.PAGESIZE
ALIGN = 256  # what cudaMalloc promises
BEFORE_RUNNER: Callable[[], None] | None = (
    None  # runs in the launch's process before it is the runner: limits that a grader sets
)
GRACE = 5.0  # seconds beyond the time limit before the runner, which keeps its own time, is killed


@dataclass
class Launch:
    """What the runner needs to know; the meaning of each is in Module.launch."""

    library: Path
    entry: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    cluster: tuple[int, int, int]
    args: tuple[Any, ...]
    smem: int
    registers: int
    seed: int
    policy: str
    checks: bool
    trace: bool
    timeout: float
    fp8_reduced: bool
    sms: int


@dataclass
class _Region:
    """Memory of the caller that the launch shares: one array, or several that overlap."""

    low: int
    high: int
    names: list[str] = field(default_factory=list)
    writable: bool = True
    offset: int = 0  # in the shared file
    pages: int = 0

    @property
    def bytes(self) -> int:
        return self.high - self.low

    @property
    def start(self) -> int:
        """Where the bytes begin in their pages: they end flush with the guard page that follows, but for the alignment."""
        return self.pages - -(-self.bytes // ALIGN) * ALIGN


def _bounds(array: np.ndarray) -> tuple[int, int]:
    return np.lib.array_utils.byte_bounds(array)


def _describe(array: np.ndarray) -> str:
    return f"{array.dtype} {' x '.join(map(str, array.shape))}"


def _regions(args: tuple[Any, ...]) -> list[_Region]:
    found = []
    for i, a in enumerate(args):
        array = a.array if isinstance(a, TensorMap) else a
        if not isinstance(array, np.ndarray):
            if isinstance(a, TensorMap):
                raise EmulatorArgumentError(
                    f"Argument {i + 1}: the emulator's tensor maps are of NumPy arrays, not {type(array).__name__}."
                )
            continue
        if not isinstance(a, TensorMap) and not array.flags.c_contiguous:
            raise EmulatorArgumentError(
                f"Argument {i + 1} ({_describe(array)}) is not C-contiguous; pass np.ascontiguousarray(...)."
            )
        low, high = _bounds(array)
        found.append(
            _Region(low, max(high, low + 1), [f"argument {i + 1} ({_describe(array)})"], array.flags.writeable)
        )
    found.sort(key=lambda r: r.low)
    merged: list[_Region] = []
    for r in found:
        if merged and r.low < merged[-1].high:  # the same array twice, or views of one
            last = merged[-1]
            last.high, last.writable = max(last.high, r.high), last.writable or r.writable
            last.names += [n for n in r.names if n not in last.names]
        else:
            merged.append(r)
    offset = 0
    for r in merged:
        r.pages = -(-r.bytes // PAGE) * PAGE
        r.offset, offset = offset, offset + r.pages
    return merged


def _argument(i: int, a: Any, regions: list[_Region]) -> str:
    def place(address: int) -> str:
        k = next(k for k, r in enumerate(regions) if r.low <= address < r.high)
        return f"{k} {address - regions[k].low}"

    if a is None:
        return "argument null None"
    if isinstance(a, np.ndarray):
        return f"argument array {place(a.ctypes.data)} an array of {a.dtype}"
    if isinstance(a, TensorMap):
        x = a.array
        if x.ndim != 2:
            raise EmulatorArgumentError(
                f"Argument {i + 1}: the kernels' copies are two-dimensional; this tensor map has {x.ndim} axes."
            )
        return f"argument map {place(x.ctypes.data)} {x.shape[1]} {x.shape[0]} {x.strides[0]} {a.box[1]} {a.box[0]} {x.itemsize} {a.swizzle} a TensorMap"
    if isinstance(a, np.generic):
        kind = {"f": "floatbytes", "i": "intbytes", "u": "intbytes", "b": "intbytes"}.get(a.dtype.kind, "bytes")
        return f"argument {kind} {a.tobytes().hex()} {a.dtype}"
    if isinstance(a, (bool, int)):
        if not -(2**63) <= a < 2**63:
            raise EmulatorArgumentError(
                f"Argument {i + 1}: {a} does not fit a signed 64-bit integer. For an unsigned one pass np.uint64(...)."
            )
        return f"argument int {int(a) % 2**64} the int {a}"
    if isinstance(a, float):
        return f"argument float {np.float64(a).view(np.uint64)} the float {a!r}"
    raise EmulatorArgumentError(
        f"Argument {i + 1} is a {type(a).__name__}; a kernel takes NumPy arrays and scalars, TensorMaps, numbers and None."
    )


def _lines(launch: Launch, regions: list[_Region], data: Path, result: Path) -> str:
    triple = lambda t: " ".join(map(str, t))
    out = [
        f"library {launch.library}", f"result {result}", f"entry {launch.entry}", f"grid {triple(launch.grid)}", f"block {triple(launch.block)}",
        f"cluster {triple(launch.cluster)}", f"shared {launch.smem}", f"registers {launch.registers}", f"sms {launch.sms}", f"seed {launch.seed % 2**64}",
        f"timeout {launch.timeout}", f"checks {int(launch.checks)}", f"trace {int(launch.trace)}", f"fp8_reduced {int(launch.fp8_reduced)}",
        f"policy {triple(POLICIES[launch.policy])}", f"data {data}",
    ]  # fmt: skip
    out += [f"array {r.offset} {r.pages} {r.start} {r.bytes} {', '.join(r.names)}" for r in regions]
    out += [_argument(i, a, regions) for i, a in enumerate(launch.args)]
    return "\n".join(out) + "\n"


def _finding(raw: dict, locate) -> Finding:
    places = tuple(Place(p["file"], p["line"]) if "file" in p else Place(*locate(p["pc"])) for p in raw["places"])
    said = lambda file, line: f"{file}:{line}" if line else "an unknown line"  # code of a library, say
    message = re.sub(r"<pc:(\d+)>", lambda m: said(*locate(int(m[1]))), raw["message"])
    return Finding(raw["kind"], raw["rule"], told(message), places, raw["count"])


def _event(raw: dict) -> Event:
    file, _, line = raw["at"].rpartition(":")
    return Event(raw["time"], raw["end"], raw["kind"], raw["who"], raw["what"], file, int(line or 0), raw["data"])


def run(runner: Path, launch: Launch) -> LaunchReport:
    """Run it, wait, bring the arrays back. Never raises for what the kernel did: that is in the report."""
    report = LaunchReport(launch.entry, "clean", launch.seed, launch.policy, launch.checks)
    began = time.perf_counter()
    regions = _regions(launch.args)
    size = max(PAGE, sum(r.pages for r in regions))
    with launch_folder(size) as folder:
        data, result, description = folder / "arrays", folder / "result.json", folder / "launch"
        description.write_text(_lines(launch, regions, data, result))
        with open(data, "w+b") as file:
            try:  # a page that the file system has no room for would be a bus error in this process
                os.posix_fallocate(file.fileno(), 0, size)
            except OSError as e:
                raise EmulatorUnavailable(
                    f"The launch's arrays ({size:,} bytes) do not fit {folder.parent}: {e}. Set TMPDIR to a folder with room."
                ) from e
            with mmap.mmap(file.fileno(), 0) as shared:
                _copy_in(regions, shared)
                code, report.output = _wait([str(runner), str(description)], launch.timeout)
                lost = _copy_back(regions, shared)
        raw = _read_result(result)
    report.seconds = time.perf_counter() - began
    if raw is None:
        kind, why = (
            ("timeout", f"did not end within {launch.timeout:g} s and did not answer")
            if code is None
            else ("crash", _death(code))
        )
        report.status = kind
        report.findings = [Finding(kind, "no-result", f"The launch's process {why}.")]
        return report
    base = next((int(n.split()[1]) for n in raw["notes"] if n.startswith("base ")), 0)
    # A hook's return address is behind its call: the call itself is one byte before.
    locate = lambda pc: line_of(launch.library, pc - base - 1)
    report.notes = [n for n in raw["notes"] if not n.startswith("base ")]
    report.findings = [_finding(f, locate) for f in raw["findings"]]
    report.findings += [
        Finding("misuse", "read-only-array", f"The kernel writes to {n}, which NumPy holds read-only: pass a copy.")
        for n in lost
    ]
    report.steps, report.switches = raw["steps"], raw["switches"]
    report.trace = [_event(e) for e in raw.get("trace", [])]
    kinds = {f.kind for f in report.findings}
    report.status = "argument" if "argument" in kinds else next((s for s in STATUSES if s in kinds), "clean")
    return report


def _both(region: _Region, shared: mmap.mmap) -> tuple[np.ndarray, np.ndarray]:
    """A region's bytes in the caller's memory and in the shared file, in place. (No map can be closed while such views live.)"""
    ours = np.frombuffer((ctypes.c_ubyte * region.bytes).from_address(region.low), np.uint8)
    return ours, np.frombuffer(shared, np.uint8, region.bytes, region.offset + region.start)


def _copy_in(regions: list[_Region], shared: mmap.mmap) -> None:
    for r in regions:
        ours, theirs = _both(r, shared)
        theirs[:] = ours


def _copy_back(regions: list[_Region], shared: mmap.mmap) -> list[str]:
    """Bring back what may be written; the names of read-only arrays that the kernel wrote to."""
    lost = []
    for r in regions:
        ours, theirs = _both(r, shared)
        if r.writable:
            ours[:] = theirs
        elif not np.array_equal(ours, theirs):
            lost += r.names
    return lost


def _read_result(path: Path) -> dict | None:
    try:
        return json.loads(path.read_text())
    except (OSError, ValueError):
        return None


def _death(code: int) -> str:
    return (
        f"died of signal {signal.Signals(-code).name}" if code < 0 else f"ended with status {code} and left no result"
    )


def _wait(command: list[str], timeout: float) -> tuple[int | None, str]:
    """(exit status, output); status None if it had to be killed. The runner keeps its own time: this is the second line."""
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, preexec_fn=BEFORE_RUNNER
    )
    try:
        output, _ = process.communicate(timeout=timeout + GRACE)
        return process.returncode, output.decode(errors="replace")
    except subprocess.TimeoutExpired:
        process.kill()
        output, _ = process.communicate()
        return None, output.decode(errors="replace")
    except BaseException:  # an interrupted notebook cell must not leave the process behind
        process.kill()
        process.wait()
        raise
