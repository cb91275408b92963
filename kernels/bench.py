"""Measurements with receipts: what `course bench` runs and writes.

A family adds a measurement by a module kernels/benches/<name>.py that defines `BENCHES`, a tuple of Bench. Its `run(session)` returns
points, a list of flat dicts of numbers and strings; the bench writes DIR/<bench name>.json:

    {"name": "lesson07_beta_guard", "what": one sentence, "fields": {field: meaning and unit}, "points": [...], "receipt": {...}}

Rules of measurement: random data, warm-up, medians over many readings with their spread, what is compared is interleaved in one run,
and sizes or rotated inputs so large that the L2 does not flatter. `session.time` does the first four.
"""

from __future__ import annotations

import functools
import importlib
import json
import os
import pkgutil
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kernels import gpu
from kernels.errors import KernelError
from kernels.receipt import Receipt, git_commit, toolkit_versions, utc_now
from kernels.sources import load_source
from kernels.spec import get_spec


@dataclass(frozen=True)
class Bench:
    """One measurement. name: of the file it writes. kernels: those it measures. fields: what each field of a point means, with its unit."""

    name: str
    what: str
    kernels: Sequence[str]
    run: Callable[[Session], list[dict]]
    fields: Mapping[str, str] = field(default_factory=dict)


class Session:
    """What a bench is given. say(text): progress. time(calls): readings."""

    def __init__(self, say: Callable[[str], None] = print):
        self.say = say
        self.device = gpu.require()
        self.started = time.monotonic()

    def time(
        self, calls: Mapping[str, Callable[[], None]], repeats: int = 30, warmup: int = 3, inner: int = 1
    ) -> dict[str, dict]:
        """Device time of each call, interleaved: name -> {"ms": median, "ms_min", "ms_p10", "ms_p90", "readings"}."""
        readings = gpu.time_ms(list(calls.values()), repeats, warmup, inner)
        return {name: summary(r) for name, r in zip(calls, readings)}


def summary(readings: Sequence[float]) -> dict:
    """Median and spread of readings in milliseconds."""
    r = sorted(readings)
    at = lambda q: r[min(len(r) - 1, int(q * (len(r) - 1) + 0.5))]
    median = (r[(len(r) - 1) // 2] + r[len(r) // 2]) / 2
    return {"ms": median, "ms_min": r[0], "ms_p10": at(0.1), "ms_p90": at(0.9), "readings": len(r)}


@functools.cache
def benches() -> Mapping[str, Bench]:
    """All measurements by name, from the modules of kernels.benches."""
    import kernels.benches as package

    found = {}
    for info in sorted(pkgutil.iter_modules(package.__path__), key=lambda i: i.name):
        for bench in getattr(importlib.import_module(f"kernels.benches.{info.name}"), "BENCHES", ()):
            if bench.name in found:
                raise KernelError(f"Two benches are named {bench.name!r}.")
            found[bench.name] = bench
    return found


def select(names: Sequence[str]) -> list[Bench]:
    """The benches named, or those that measure a kernel named; all where names is empty. Raises KernelError for an unknown name."""
    known = benches()
    if not names:
        return list(known.values())
    chosen = {}
    for name in names:
        hits = [b for b in known.values() if name == b.name or name in b.kernels]
        if not hits:
            measured = sorted({k for b in known.values() for k in b.kernels})
            raise KernelError(
                f"Nothing measures {name!r}. Kernels: {', '.join(measured)}. Measurements: {', '.join(known)}."
            )
        chosen |= {b.name: b for b in hits}
    return list(chosen.values())


def driver_version(device: gpu.Device) -> str:
    """The driver's own version and its CUDA version, "580.159.04 (CUDA 13.0)"; only the latter where nvidia-smi does not answer."""
    try:
        out = subprocess.run(
            ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"],
            capture_output=True,
            text=True,
            timeout=20,
        )
        version = out.stdout.split()[0] if out.returncode == 0 else ""
    except (OSError, IndexError, subprocess.SubprocessError):
        version = ""
    return f"{version} (CUDA {device.driver})" if version else f"CUDA {device.driver}"


def receipt_of(bench: Bench, device: gpu.Device, seconds: float) -> dict:
    """The receipt of a bench, as plain data: a launch's receipt, with the sources of all kernels and the commit."""
    sources = {name: load_source(get_spec(name).source) for name in bench.kernels}
    receipt = Receipt(
        kernel=", ".join(bench.kernels),
        source_sha256=next(iter(sources.values())).sha256,
        backend="gpu",
        device=device.name,
        driver=driver_version(device),
        time=utc_now(),
        command=f"course bench {bench.name}",
        figure={"wall time of the bench": {"value": round(seconds, 2), "unit": "s"}},
        toolkit=toolkit_versions(),
    )
    return {
        **receipt.to_dict(),
        "sources": {name: s.sha256 for name, s in sources.items()},
        "commit": os.environ.get("COURSE_COMMIT") or git_commit(),
        "sms": device.sms,
    }


def run_bench(bench: Bench, out: Path, session: Session) -> Path:
    """Run one bench and write its JSON whole or not at all. Returns the file."""
    started = time.monotonic()
    points = bench.run(session)
    record = {
        "name": bench.name,
        "what": bench.what,
        "fields": dict(bench.fields),
        "points": points,
        "receipt": receipt_of(bench, session.device, time.monotonic() - started),
    }
    out.mkdir(parents=True, exist_ok=True)
    path = out / f"{bench.name}.json"
    partial = path.with_suffix(".partial")
    partial.write_text(json.dumps(record, indent=1, allow_nan=False) + "\n", encoding="utf-8")
    partial.replace(path)
    return path
