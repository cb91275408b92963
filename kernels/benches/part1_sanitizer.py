"""The kernels of lessons 1 to 6 and 8 under compute-sanitizer: small odd cases, one process a tool."""

from __future__ import annotations

import re

from kernels.bench import Bench, Session
from kernels.benches import sanitizing
from kernels.benches.part1_correctness import KERNELS

SECONDS = 40  # a tool
TOOLS = ("memcheck", "racecheck")

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
    tool = sanitizing.find_tool()
    points = []
    for check in TOOLS:
        said = sanitizing.sanitize(tool, check, RUN, seconds=SECONDS)
        right = re.findall(r"^right: (\w+)", said.text, re.M)
        points.append({"tool": check, "summary": said.summary, "first_finding": said.first_finding, "right": right, "exit_code": said.exit_code})
        session.say(f"{check}: {said.summary}; {len(right)} of {len(KERNELS)} kernels right under it; {said.first_finding}")
        if not right:
            session.say(said.text[-1500:])
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
