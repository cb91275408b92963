"""The kernels of lessons 1 to 6 and 8 under compute-sanitizer: small odd cases, one process a tool."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys

from kernels.bench import Bench, Session
from kernels.benches.gemm_sanitizer import ROOT
from kernels.benches.part1_correctness import KERNELS
from kernels.errors import KernelError

SECONDS = 40  # a tool
TOOLS = {"memcheck": ("--report-api-errors", "no"), "racecheck": ()}

RUN = """
import numpy as np
from kernels import arrays
from kernels.benches.part1_correctness import KERNELS
from kernels.compare import relative_error
from kernels.kernel import load
from kernels.spec import cases, tolerance
for name in KERNELS:
    k = load(name, "gpu", poison=True)
    for case in cases(k.spec, np.random.default_rng(5), 3):
        error = relative_error(arrays.to_numpy(k(*case.arrays, **case.params)), k.reference(*case.arrays, **case.params))
        assert error <= tolerance(k.spec, case.arrays, case.params), (name, case.label, error)
    print("right:", name, flush=True)
"""


def sanitizer(session: Session) -> list[dict]:
    """memcheck and racecheck over three cases of every kernel."""
    tool = shutil.which("compute-sanitizer")
    if not tool:
        raise KernelError("compute-sanitizer is not on the PATH: it comes with the CUDA toolkit.")
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
        points.append({"tool": check, "summary": summary[-1] if summary else f"no summary: exit code {code}, stopped after {SECONDS} s if none",
                       "first_finding": findings[0] if findings else "", "right": right, "exit_code": code})  # fmt: skip
        session.say(f"{check}: {points[-1]['summary']}; {len(right)} of {len(KERNELS)} kernels right under it; {points[-1]['first_finding']}")
        if not right:
            session.say(text[-1500:])
    return points


BENCHES = (
    Bench(
        "part1_sanitizer",
        "The kernels of lessons 1 to 6 and 8 under compute-sanitizer: three odd cases of each",
        KERNELS,
        sanitizer,
        {
            "tool": "compute-sanitizer's tool",
            "summary": "its summary line",
            "first_finding": "the first line that names a defect",
            "right": "kernels whose results were right while the tool watched",
            "exit_code": "of the run",
        },
    ),
)
