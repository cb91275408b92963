"""What this machine has: the probes behind `course doctor`. Each looks, and says what is missing and how to get it."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

PYTHON = (3, 11)
CHROMIUM = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_REQUIREMENT = re.compile(r"^([A-Za-z0-9._-]+)\s*(?:\[[^\]]*\])?\s*(?:\(?\s*>=\s*([\d.]+))?")


@dataclass(frozen=True)
class Look:
    """One thing looked at. state: "ok", "missing" (needed for this part) or "optional" (absent, and fine without)."""

    part: str
    name: str
    state: Literal["ok", "missing", "optional"]
    text: str
    remedy: str = ""


def looks() -> Iterator[Look]:
    """All probes, in the order a reader wants them. A probe that breaks is itself a finding."""
    probes: list[tuple[str, str, Callable[[], Look | list[Look]]]] = [
        ("student", "Python", _python),
        ("student", "packages", _packages),
        ("student", "kernels", _kernels),
        ("student", "GPU", _gpu),
        ("student", "emulator", _emulator),
        ("student", "system compiler", _compiler),
    ]
    if importlib.util.find_spec("autograder.grading"):  # not in a student's install
        probes += [
            ("instructor", "packages", _instructor_packages),
            ("instructor", "sandbox", _sandbox),
            ("instructor", "bubblewrap", _jail),
            ("instructor", "nbgrader", _nbgrader),
            ("instructor", "Quarto", _quarto),
            ("instructor", "Chromium", _chromium),
            ("instructor", "course folder", _course),
        ]
    for part, name, probe in probes:
        try:
            found = probe()
        except Exception as e:  # a doctor that dies tells nothing
            found = Look(
                part,
                name,
                "missing",
                f"looking for it failed: {type(e).__name__}: {e}",
                "Report this with the output of `course doctor`.",
            )
        yield from found if isinstance(found, list) else [found]


def _python() -> Look:
    text = f"{platform.python_version()} at {sys.executable} ({platform.system()} {platform.machine()})"
    if sys.version_info < PYTHON:
        return Look("student", "Python", "missing", text, "Python 3.11 or newer is needed.")
    return Look("student", "Python", "ok", text)


def _packages() -> Look:
    return _require(
        "student",
        "packages",
        [r for r in _requires() if "extra ==" not in r],
        "python -m pip install -r requirements.txt",
    )


def _instructor_packages() -> Look:
    wanted = [r for r in _requires() if re.search(r"extra == ['\"]instructor['\"]", r)]
    return _require("instructor", "packages", wanted, "python -m pip install -e '.[instructor]'")


def _requires() -> list[str]:
    try:
        return importlib.metadata.requires("hopper-course") or []
    except importlib.metadata.PackageNotFoundError:
        return []


def _require(part: str, name: str, requirements: list[str], remedy: str) -> Look:
    absent, old, present = [], [], []
    for line in requirements:
        m = _REQUIREMENT.match(line)
        try:
            have = importlib.metadata.version(m[1])
        except importlib.metadata.PackageNotFoundError:
            absent.append(m[1])
            continue
        present.append(f"{m[1]} {have}")
        if m[2] and _version(have) < _version(m[2]):
            old.append(f"{m[1]} {have} (needs {m[2]})")
    if not requirements:
        return Look(part, name, "missing", "hopper-course itself is not installed", remedy)
    if absent or old:
        return Look(
            part,
            name,
            "missing",
            "; ".join(filter(None, [absent and "missing: " + ", ".join(absent), old and "too old: " + ", ".join(old)])),
            remedy,
        )
    return Look(part, name, "ok", ", ".join(present))


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(x) for x in re.match(r"[\d.]*", text)[0].strip(".").split(".") if x)


def _kernels() -> Look:
    import kernels
    from kernels.backends import choose

    try:
        choice = choose(None)
    except kernels.BackendError as e:
        return Look(
            "student",
            "kernels",
            "missing",
            str(e),
            "python -m pip install ziglang (a compiler in a package) is enough for the emulator.",
        )
    return Look("student", "kernels", "ok", f"run on the {choice.name}: {choice.why}")


def _gpu() -> Look:
    from kernels import gpu

    device = gpu.probe()
    capability = f", compute capability {device.capability[0]}.{device.capability[1]}" if device.capability else ""
    driver = f", driver for CUDA {device.driver}" if device.driver else ""
    if device.usable:
        return Look("student", "GPU", "ok", f"{device.name}{capability}{driver}")
    return Look(
        "student",
        "GPU",
        "optional",
        f"{device.why}{' Found: ' + device.name + capability + driver + '.' if device.name else ''}",
        "Not needed: the emulator runs the same kernels. For a Hopper GPU: python -m pip install -r requirements-gpu.txt",
    )


def _emulator() -> Look:
    from kernels import emulator

    usable, why = emulator.available()
    return Look(
        "student",
        "emulator",
        "ok" if usable else "missing",
        why,
        "" if usable else "python -m pip install ziglang; on Windows or macOS see the README for what runs there.",
    )


def _compiler() -> Look:
    found = next((p for name in ("c++", "g++", "clang++") if (p := shutil.which(name))), None)
    if found:
        return Look("student", "system compiler", "ok", f"{found} ({_first_line([found, '--version'])})")
    return Look(
        "student",
        "system compiler",
        "optional",
        "none",
        "Not needed: the ziglang package compiles too, a little slower.",
    )


def _sandbox() -> Look:
    from autograder.errors import CourseError
    from autograder.grading.sandbox import PROTECTIONS, Sandbox

    try:
        with Sandbox() as sandbox:
            held = sandbox.protections
    except CourseError as e:
        return Look("instructor", "sandbox", "missing", e.what, e.remedy)
    kept = "; ".join(PROTECTIONS[n] for n, holds in held.measured.items() if holds and n in PROTECTIONS)
    return Look("instructor", "sandbox", "ok", f"{held.method}, tested just now: {kept}")


def _jail() -> Look:
    """What `course grade --challenges` and `course run FILE.cu` need beside a compiler."""
    how = "Debian, Ubuntu: apt install bubblewrap; without it grade without --challenges."
    path = shutil.which("bwrap")
    if path is None:
        return Look(
            "instructor", "bubblewrap", "optional", "not installed; --challenges and course run FILE.cu need it", how
        )
    done = subprocess.run(
        [path, "--ro-bind", "/", "/", "--unshare-all", "true"], capture_output=True, text=True, timeout=20
    )
    if done.returncode:
        told = " ".join(done.stderr.split())[:120]
        return Look("instructor", "bubblewrap", "optional", f"{path} does not work here ({told})", how)
    return Look("instructor", "bubblewrap", "ok", f"{path}, tested just now, for --challenges and course run FILE.cu")


def _nbgrader() -> list[Look]:
    out = []
    for tool, why in (
        ("nbgrader", "its own commands and formgrader"),
        ("alembic", "nbgrader calls it by name to make the gradebook"),
    ):
        beside = Path(sys.executable).parent / tool
        if path := shutil.which(tool):
            out.append(Look("instructor", tool, "ok", path))
        elif beside.exists():  # `course` puts its own environment on PATH; nbgrader's commands do not
            out.append(
                Look(
                    "instructor",
                    tool,
                    "optional",
                    f"{beside}, not on PATH ({why})",
                    "`course` finds it there; for nbgrader's own commands activate the environment.",
                )
            )
        else:
            out.append(
                Look(
                    "instructor", tool, "missing", f"not installed ({why})", "python -m pip install -e '.[instructor]'"
                )
            )
    return out


def _quarto() -> Look:
    path = shutil.which("quarto")
    if path:
        return Look("instructor", "Quarto", "ok", f"{path} ({_first_line([path, '--version'])})")
    return Look(
        "instructor",
        "Quarto",
        "optional",
        "not installed; `course site` renders with smalldocs",
        "For Quarto's own look install it from quarto.org.",
    )


def _chromium() -> Look:
    path = next((p for name in CHROMIUM if (p := shutil.which(name))), None)
    if path:
        return Look("instructor", "Chromium", "ok", f"{path} ({_first_line([path, '--version', '--no-sandbox'])})")
    return Look(
        "instructor",
        "Chromium",
        "optional",
        "not installed; browser tests are skipped",
        "Debian, Ubuntu: apt install chromium",
    )


def _course() -> Look:
    from autograder.errors import CourseError
    from autograder.lesson import list_lessons
    from autograder.paths import course_root

    try:
        root = course_root()
        return Look("instructor", "course folder", "ok", f"{root}, {len(list_lessons(root / 'lessons'))} lesson(s)")
    except CourseError as e:
        return Look("instructor", "course folder", "optional", e.what, e.remedy)


def _first_line(command: list[str]) -> str:
    try:
        out = subprocess.run(command, capture_output=True, text=True, timeout=20)
    except (OSError, subprocess.SubprocessError) as e:
        return f"does not run: {type(e).__name__}"
    return next((x.strip() for x in (out.stdout + out.stderr).splitlines() if x.strip()), "no version")
