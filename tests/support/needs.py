"""What some tests need and a machine may lack: a marker each. A test so marked is skipped where its need is not there, and the end of a run
says for each what was not tested and how to get it."""

from __future__ import annotations

import contextlib
import functools
import os
import pwd
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
SKIP = "needs "  # how the reason of such a skip begins; the marker's name follows


@dataclass(frozen=True)
class Need:
    """here: whether this machine has it. name, get: for the line at the end. adds: what its tests look at."""

    name: str
    here: Callable[[], bool]
    get: str
    adds: str


def postgresql_binaries() -> Path | None:
    """The folder of PostgreSQL's server programs, where they can be used: they refuse to run as root, so root needs the user postgres."""
    if os.geteuid() == 0:
        try:
            pwd.getpwnam("postgres")
        except KeyError:
            return None
    places = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True) + [
        Path(p).parent for p in [shutil.which("initdb")] if p
    ]
    return next((p for p in places if (p / "initdb").exists() and (p / "pg_ctl").exists()), None)


def _gpu() -> bool:
    from kernels import gpu

    return gpu.probe().usable


def _emulator() -> bool:
    from kernels import emulator

    return emulator.available()[0]


def _nvrtc() -> bool:
    from kernels import nvrtc

    return nvrtc.available()[0]


def _psycopg() -> bool:
    with contextlib.suppress(ImportError):
        import psycopg  # noqa: F401

        return True
    return False


def _debian(package: str) -> str:
    return f"on Debian and Ubuntu: apt install {package}"


NEEDS = {
    "bubblewrap": Need(
        "bubblewrap",
        lambda: shutil.which("bwrap") is not None,
        _debian("bubblewrap"),
        "the jail that compiles challenge lines, and the stronger of the grader's two sandboxes",
    ),
    "browser": Need(
        "Chromium",
        lambda: CHROMIUM is not None,
        _debian("chromium fonts-noto-cjk"),
        "the website, the formgrader and the bundle in JupyterLab, as a browser shows them",
    ),
    "postgresql": Need(
        "PostgreSQL server",
        lambda: postgresql_binaries() is not None and _psycopg(),
        _debian("postgresql"),
        "a gradebook that several machines share",
    ),
    "gpu": Need(
        "GPU of compute capability 9.0",
        _gpu,
        "an H100 or H200 with its driver, and the extra packages of `gpu`",
        "every kernel on the chip it was written for",
    ),
    "system_compiler": Need(
        "system C++ compiler",
        lambda: shutil.which("g++") is not None,
        _debian("g++"),
        "a compiler other than zig's in the challenge jail",
    ),
    "emulator": Need("emulator", _emulator, "`course doctor` says why it cannot run", "every kernel on the CPU"),
    "nvrtc": Need(
        "NVRTC",
        _nvrtc,
        "pip install nvidia-cuda-nvrtc cuda-bindings (no wheel for macOS)",
        "that every kernel compiles for sm_90a, with its registers and without spills",
    ),
    "quarto": Need(
        "Quarto",
        lambda: shutil.which("quarto") is not None,
        "from quarto.org",
        "the sources and the website under Quarto itself",
    ),
}


@functools.cache
def is_here(need: str) -> bool:
    return NEEDS[need].here()


def lines(skipped: list[str]) -> list[str]:
    """Of the reasons for which tests were skipped: a line for each need, the one with most tests first, then one for each other reason."""
    known = {SKIP + key: need for key, need in NEEDS.items()}
    out = []
    for reason in sorted(set(skipped), key=lambda r: (r not in known, -skipped.count(r), r)):
        count = skipped.count(reason)
        tests = f"{count} test{'s' if count > 1 else ''} not run: "
        need = known.get(reason)
        out.append(tests + (f"no {need.name} here. It would add {need.adds} ({need.get})." if need else reason))
    return out
