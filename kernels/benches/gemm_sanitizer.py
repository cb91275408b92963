"""The GEMM ladder under compute-sanitizer: every rung at a small odd size, one process a tool."""

from __future__ import annotations

import re

from kernels.bench import Bench, Session
from kernels.benches import sanitizing
from kernels.specs.gemm import LADDER

SECONDS = 50  # a tool
TOOLS = ("memcheck", "racecheck", "synccheck", "initcheck")

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
    tool = sanitizing.find_tool()
    version = sanitizing.version(tool)
    points = []
    for check in TOOLS:
        said = sanitizing.sanitize(tool, check, RUN, seconds=SECONDS)
        right = re.findall(r"^right: (\w+)", said.text, re.M)
        points.append({
            "tool": check, "version": version, "summary": said.summary, "findings": len(said.findings),
            "first_finding": said.first_finding, "right": right, "exit_code": said.exit_code,
        })  # fmt: skip
        session.say(
            f"{check}: {said.summary}; {len(right)} of {len(LADDER)} rungs right under it; {said.first_finding}"
        )
        if not right:
            session.say(said.text[-1500:])
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
