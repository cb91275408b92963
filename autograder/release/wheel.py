"""The student's wheel: kernels and the student's part of autograder. No lesson, nothing hidden.

Of the grader it holds the reading alone, so that a student's own check reads a notebook as grading does; what runs, compares with
hidden checks or scores stays out.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

from autograder.errors import CourseError

SOURCE = Path(__file__).resolve().parents[2]
# The student's part of autograder; kernels goes whole, but for its tests. tests/test_boundary.py holds PACKAGES to import nothing beyond.
PACKAGES = ("student", "submission")
MODULES = ("__init__.py", "cli.py", "errors.py", "paths.py", "notebook.py", "records.py")
LESSON = ("__init__", "model", "references", "rubric")  # of autograder.lesson: what a lesson is, not how one is loaded
COMMANDS = ("__init__", "check", "doctor", "hint", "run", "races", "bench")
_SKIP = shutil.ignore_patterns("__pycache__", "tests", "*.pyc", ".*")
EPOCH = "315532800"  # 1980-01-01, the first time a zip can hold: the same sources give the same bytes

_PROJECT = """\
[build-system]
requires = ["setuptools>=77"]
build-backend = "setuptools.build_meta"

[project]
name = "{name}"
version = "{version}+{content}"
description = "{description} (the student's part)"
requires-python = "{python}"
license = "MIT"
license-files = ["LICENSE"]
dependencies = {dependencies}

[project.optional-dependencies]
gpu = {gpu}

[project.scripts]
course = "autograder.cli:main"

[tool.setuptools.packages.find]
include = ["kernels*", "autograder*"]

[tool.setuptools.package-data]
"*" = ["**/*"]
"""


def build_wheel(work: Path, prebuild: bool = False) -> Path:
    """Build the wheel in the empty folder `work`; no network. Returns its path. Raises CourseError where it cannot be built.

    prebuild: also compile the emulator's runner for Linux on x86-64 and aarch64, so that a student's first launch need not
    (with zig that takes a minute or two here, and spares each student as much).
    """
    if not (SOURCE / "pyproject.toml").is_file():
        raise CourseError(
            "The student's wheel is built from a checkout of the course.",
            where=str(SOURCE),
            remedy="Install the course with `pip install -e .` in a checkout.",
        )
    work = work.resolve()  # the build runs in another folder
    stage, out = work / "stage", work / "wheel"
    out.mkdir(parents=True)
    stage_sources(stage, prebuild)
    command = [
        sys.executable,
        "-c",
        "import sys; from setuptools import build_meta; print(build_meta.build_wheel(sys.argv[1]))",
        str(out),
    ]
    done = subprocess.run(
        command, cwd=stage, env={**os.environ, "SOURCE_DATE_EPOCH": EPOCH}, capture_output=True, text=True
    )
    wheels = list(out.glob("*.whl"))
    if done.returncode or len(wheels) != 1:
        tail = " ".join(done.stderr.strip().splitlines()[-1:]) or "no wheel came out"
        raise CourseError(
            f"The student's wheel was not built: {tail}.",
            where=str(SOURCE),
            remedy="Install the dev extra (`pip install -e .[dev]`) and try again.",
        )
    return wheels[0]


def stage_sources(stage: Path, prebuild: bool = False) -> None:
    """Copy what the wheel holds, with a pyproject.toml of its own, into the new folder `stage`."""
    stage.mkdir(parents=True)
    shutil.copytree(SOURCE / "kernels", stage / "kernels", ignore=_SKIP)
    if prebuild:
        _prebuild(stage)
    package = stage / "autograder"
    (package / "commands").mkdir(parents=True)
    for name in (*MODULES, *(f"lesson/{n}.py" for n in LESSON)):
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(SOURCE / "autograder" / name, package / name)
    for name in COMMANDS:
        shutil.copy2(SOURCE / "autograder" / "commands" / f"{name}.py", package / "commands")
    for name in PACKAGES:
        shutil.copytree(SOURCE / "autograder" / name, package / name, ignore=_SKIP)
    shutil.copy2(SOURCE / "LICENSE", stage / "LICENSE")
    project = tomllib.loads((SOURCE / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    text = _PROJECT.format(
        name=project["name"],
        version=project["version"],
        content=_fingerprint(stage),
        description=project["description"],
        python=project["requires-python"],
        dependencies=_array(project["dependencies"]),
        gpu=_array(project["optional-dependencies"]["gpu"]),
    )
    (stage / "pyproject.toml").write_text(text, encoding="utf-8")


def _prebuild(stage: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "kernels.emulator.prebuild"], cwd=stage, capture_output=True, text=True
    )
    if done.returncode:
        tail = " ".join(done.stderr.strip().splitlines()[-1:])
        raise CourseError(
            f"The emulator's runner was not built: {tail}.",
            where="kernels.emulator.prebuild",
            remedy="Mend that, or release with --no-prebuild: students' machines then build it once.",
        )
    for cache in stage.rglob("__pycache__"):
        shutil.rmtree(cache)


def _fingerprint(stage: Path) -> str:
    """A local version by content: pip takes a wheel of the same version for installed and would keep last term's."""
    h = hashlib.sha256()
    for path in sorted(p for p in stage.rglob("*") if p.is_file()):
        h.update(path.relative_to(stage).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return h.hexdigest()[:12]


def _array(values: list[str]) -> str:
    """A TOML array; requirement strings hold single quotes only."""
    return "[" + ", ".join(f'"{v}"' for v in values) + "]"
