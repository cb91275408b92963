"""The kernels of lessons 1 to 6 and 8 under compute-sanitizer: small odd cases, one process a tool."""

from __future__ import annotations

import re

from kernels.bench import Bench, Session
from kernels.benches import sanitizing
from kernels.benches.part1_correctness import KERNELS
from kernels.specs.barrier_cost import MEETINGS

SECONDS = 40  # a tool
TOOLS = ("memcheck", "racecheck")

RUN = """
import numpy as np
from kernels import arrays
from kernels.benches.part1_correctness import KERNELS
from kernels.compare import relative_error
from kernels.kernel import load
from kernels.spec import cases, tolerance
for name in (n for n in KERNELS if n != "barrier_cost"):  # which comes in three builds of its own
    k = load(name, "gpu", poison=True)
    for case in cases(k.spec, np.random.default_rng(5), 3):
        error = relative_error(arrays.to_numpy(k(*case.arrays, **case.params)), k.reference(*case.arrays, **case.params))
        assert error <= tolerance(k.spec, case.arrays, case.params), (name, case.label, error)
    print("right:", name, flush=True)
"""


MEET = """
import sys
import numpy as np
from kernels import arrays
from kernels.kernel import load
k = load("barrier_cost", "gpu", poison=True)
x = np.random.default_rng(5).integers(0, 1 << 32, 160, dtype=np.uint32)
how = dict(meeting=sys.argv[1], rounds=6, slow=3, work=5)
assert (arrays.to_numpy(k(x, **how)) == k.reference(x, **how)).all()
print("right:", "barrier_cost", flush=True)
"""


def sanitizer(session: Session) -> list[dict]:
    """memcheck and racecheck over three cases of every kernel.

    racecheck reports a write after read in barrier_cost where each warp arrives once: it follows an arrival for the thread that makes it,
    not for the lanes whose reads __syncwarp put before it. The order is there (bar.warp.sync, then arrive with release, then a wait with
    acquire), so the report stands in the data as what it is, a limit of the tool.
    """
    tool = sanitizing.find_tool()
    points = []
    for check in TOOLS:
        said = sanitizing.sanitize(tool, check, RUN, seconds=SECONDS)
        right = re.findall(r"^right: (\w+)", said.text, re.M)
        points.append(
            {
                "tool": check,
                "summary": said.summary,
                "first_finding": said.first_finding,
                "right": right,
                "exit_code": said.exit_code,
            }
        )
        session.say(
            f"{check}: {said.summary}; {len(right)} of {len(KERNELS) - 1} kernels right under it; {said.first_finding}"
        )
        if not right:
            session.say(said.text[-1500:])
    for check in TOOLS:
        for meeting in MEETINGS:
            said = sanitizing.sanitize(tool, check, MEET, meeting, seconds=SECONDS)
            right = re.findall(r"^right: (\w+)", said.text, re.M)
            points.append(
                {
                    "tool": check,
                    "meeting": meeting,
                    "summary": said.summary,
                    "first_finding": said.first_finding,
                    "where": said.where,
                    "right": right,
                    "exit_code": said.exit_code,
                }
            )
            session.say(f"{check}, barrier_cost by {meeting}: {said.summary}; {said.first_finding} {said.where}")
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
            "meeting": "of barrier_cost alone: how its threads meet",
            "where": "the first source line that the tool names",
            "summary": "its summary line",
            "first_finding": "the first line that names a defect",
            "right": "kernels whose results were right while the tool watched",
            "exit_code": "of the run",
        },
    ),
)
