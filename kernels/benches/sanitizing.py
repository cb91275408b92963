"""compute-sanitizer, driven: one tool over one Python program in a process of its own, and what it said."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from kernels.errors import KernelError

ROOT = Path(__file__).resolve().parents[2]
USUAL = "/usr/local/cuda/bin/compute-sanitizer"
# cuda-bindings asks the driver for entry points that an older driver does not have; those answers are no defect of a kernel.
OPTIONS = {"memcheck": ("--report-api-errors", "no")}
_FINDING = re.compile(r"Invalid __|Race reported|Barrier error|Uninitialized|not supported")


@dataclass(frozen=True)
class Said:
    """text: all that was printed.  exit_code: None where it was stopped at the limit.  findings: lines that name a defect, or an
    instruction that the tool does not support.  where: the first source line named, "" for none."""

    text: str
    exit_code: int | None
    summary: str
    findings: list[str]
    where: str

    @property
    def first_finding(self) -> str:
        return self.findings[0] if self.findings else ""


def find_tool() -> str:
    """The path of compute-sanitizer. Raises KernelError where there is none."""
    tool = shutil.which("compute-sanitizer") or (USUAL if Path(USUAL).exists() else None)
    if not tool:
        raise KernelError("compute-sanitizer is not on the PATH: it comes with the CUDA toolkit.")
    return tool


def version(tool: str) -> str:
    """The version line of compute-sanitizer."""
    return (
        subprocess.run([tool, "--version"], capture_output=True, text=True, timeout=60).stdout.strip().splitlines()[-1]
    )


def sanitize(tool: str, check: str, program: str, *args: str, seconds: int) -> Said:
    """Run `python -c program args` under the tool's `check` (memcheck, racecheck, synccheck, initcheck), for at most `seconds`."""
    command = [tool, "--tool", check, *OPTIONS.get(check, ()), sys.executable, "-c", program, *args]
    try:
        done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=seconds)
        text, code = done.stdout + done.stderr, done.returncode
    except subprocess.TimeoutExpired as e:
        text, code = (e.stdout or b"").decode(errors="replace"), None
    summary = re.findall(r"(?:ERROR|RACECHECK) SUMMARY: .*", text)
    without = f"no summary: exit code {code}" if code is not None else f"stopped after {seconds} s"
    findings = [line.strip("= ") for line in text.splitlines() if _FINDING.search(line)]
    where = next((m[0] for m in re.finditer(r"\w+\.cuh?:\d+", text)), "")
    return Said(text, code, summary[-1] if summary else without, findings, where)
