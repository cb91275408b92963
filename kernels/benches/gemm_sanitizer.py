"""The GEMM ladder under compute-sanitizer: every rung at a small odd size, one process a tool."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

from kernels.bench import Bench, Session
from kernels.errors import KernelError
from kernels.specs.gemm import LADDER

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 50  # a tool
TOOLS = {"memcheck": ("--report-api-errors", "no"), "racecheck": (), "synccheck": (), "initcheck": ()}

RUN = r"""
import sys
import numpy as np
from kernels import kernel
from kernels.specs.gemm import LADDER
for rung in LADDER:
    k = kernel.load(rung.name, "gpu", poison=True)
    for size in ({"m": 67, "n": 59, "k": 71}, {"m": 197, "n": 331, "k": 457}):
        args, params = k.spec.example(np.random.default_rng(1), **size, out="bf16")
        exact = k.reference(*args)
        error = np.linalg.norm(k(*args, **params).astype(np.float64) - exact) / np.linalg.norm(exact)
        assert error < 4e-3, (rung.name, size, error)
    print("right:", rung.name, flush=True)
"""


def sanitizer(session: Session) -> list[dict]:
    """memcheck, racecheck, synccheck and initcheck over all rungs; a tool that does not support a kernel is noted as such."""
    tool = shutil.which("compute-sanitizer")
    if not tool:
        raise KernelError("compute-sanitizer is not on the PATH: it comes with the CUDA toolkit.")
    version = subprocess.run([tool, "--version"], capture_output=True, text=True, timeout=60).stdout.strip().splitlines()[-1]
    points = []
    for check, options in TOOLS.items():
        try:
            done = subprocess.run([tool, "--tool", check, *options, sys.executable, "-c", RUN], capture_output=True, text=True, cwd=ROOT, timeout=SECONDS)
            text, code = done.stdout + done.stderr, done.returncode
        except subprocess.TimeoutExpired as e:
            text, code = (e.stdout or b"").decode(errors="replace"), None
        summary = re.findall(r"(?:ERROR|RACECHECK) SUMMARY: .*", text)
        findings = [l.strip("= ") for l in text.splitlines() if re.search(r"Invalid __|Race reported|Barrier error|Uninitialized|not supported", l)]
        right = re.findall(r"^right: (\w+)", text, re.M)
        points.append({
            "tool": check, "version": version, "summary": summary[-1] if summary else f"no summary (exit code {code}, stopped after {SECONDS} s if none)",
            "findings": len(findings), "first_finding": findings[0] if findings else "", "right": right, "exit_code": code,
        })  # fmt: skip
        session.say(f"{check}: {points[-1]['summary']}; {len(right)} of {len(LADDER)} rungs right under it; {points[-1]['first_finding']}")
        if not right:
            session.say(text[-1500:])
    return points


BENCHES = (
    Bench(
        name="gemm_sanitizer",
        what="The GEMM ladder under compute-sanitizer: every rung at two small odd sizes, bf16 out.",
        kernels=tuple(r.name for r in LADDER),
        run=sanitizer,
        fields={
            "tool, version": "compute-sanitizer's tool and version",
            "summary": "the tool's summary line",
            "findings, first_finding": "lines that name a defect, or an instruction the tool does not support",
            "right": "rungs whose results were right while the tool watched",
        },
    ),
)
