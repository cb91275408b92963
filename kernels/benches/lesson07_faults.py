"""Lesson 7, what goes wrong: the null C read without the guard, call by call, and the kernels under compute-sanitizer."""

from __future__ import annotations

import json
import subprocess
import sys

from kernels.bench import Bench, Session
from kernels.benches import sanitizing
from kernels.errors import KernelError

SECONDS = 75  # a sanitizer run

STICKY = r"""
import json, sys
import cupy, numpy as np
from kernels import gpu
module = gpu.Module("linear_epilogue.cu", {"NO_BETA_GUARD": 1})
acc = cupy.ones((1024, 1024), cupy.float32)
d = cupy.empty_like(acc)
steps = []
def step(what, call):
    try:
        call()
        steps.append({"call": what, "error": ""})
    except Exception as e:
        code = getattr(e, "code", "") or str(e).split(":")[0]
        steps.append({"call": what, "error": code, "message": str(e)})
args = [acc, None, None, d, np.float32(1), np.float32(0), np.int32(0), np.uint32(1024), np.uint64(acc.size)]
step("launch linear_epilogue, unguarded, beta = 0, C = null", lambda: module.launch("linear_epilogue_fp32", (1024,), (256,), args))
step("synchronize", lambda: gpu.synchronize("linear_epilogue"))
step("allocate 1 MB", lambda: cupy.cuda.runtime.malloc(1 << 20))
step("synchronize again", cupy.cuda.runtime.deviceSynchronize)
step("copy to the host", acc.get)
step("load another kernel through the course's loader", lambda: gpu.Module("linear_epilogue.cu"))
step("plain Python: 2 + 2", lambda: 2 + 2)
print(json.dumps(steps))
sys.stdout.flush()
"""

CHECK = r"""
import sys
import numpy as np
from kernels import kernel
rng = np.random.default_rng(1)
name, bug = sys.argv[1], sys.argv[2] or None
k = kernel.load(name, "gpu", bug=bug)
sizes = [{"m": 127, "n": 129}, {"m": 197, "n": 131}]
for size in sizes:
    for out in ("fp32", "bf16"):
        for beta in ((0.0,) if bug else (0.0, 0.5)):
            args, params = (k.spec.bugs[bug].example(rng, **size, out=out) if bug else k.spec.example(rng, **size, out=out, beta=beta))
            k(*args, **params)
print("ran to the end")
"""


def sticky(session: Session) -> list[dict]:
    """A process of its own reads a null C without the guard; what each later call answers, and how the process ends."""
    done = subprocess.run(
        [sys.executable, "-c", STICKY], capture_output=True, text=True, cwd=sanitizing.ROOT, timeout=120
    )
    lines = [l for l in done.stdout.splitlines() if l.startswith("[")]
    if not lines:
        raise KernelError(
            f"The process that shows the sticky error printed no result (exit code {done.returncode}): {done.stderr[-500:]}"
        )
    steps = json.loads(lines[-1])
    if not any("IllegalAddress" in s["error"] or "ILLEGAL_ADDRESS" in s["error"] for s in steps[:2]):
        raise KernelError(f"The null C was not read: {steps[:2]}")
    points = [{"step": i + 1, **s} for i, s in enumerate(steps)]
    points.append({"step": len(steps) + 1, "call": "the process ends", "error": "", "exit_code": done.returncode})
    session.say(f"null C: {steps[1]['error'] or steps[0]['error']}; the process exits with {done.returncode}")
    return points


def sanitizer(session: Session) -> list[dict]:
    """compute-sanitizer over both kernels, and over the defect that it must find."""
    tool = sanitizing.find_tool()
    version = sanitizing.version(tool)
    points = []
    runs = [
        (check, name, "")
        for check in ("memcheck", "racecheck", "initcheck", "synccheck")
        for name in ("linear_epilogue", "gemm_epilogue")
    ]
    runs.append(("memcheck", "linear_epilogue", "no_beta_guard"))
    for check, name, bug in runs:
        said = sanitizing.sanitize(tool, check, CHECK, name, bug, seconds=SECONDS)
        points.append(
            {
                "tool": check,
                "version": version,
                "kernel": name,
                "bug": bug,
                "summary": said.summary,
                "first_finding": said.first_finding,
                "where": said.where,
                "ran_to_the_end": "ran to the end" in said.text,
                "exit_code": said.exit_code,
            }
        )
        session.say(f"{check} {name} {bug}: {said.summary} {said.first_finding} {said.where}")
        if not bug and not points[-1]["ran_to_the_end"]:
            raise KernelError(
                f"{check} {name} did not run to its end, so that its summary says nothing: {said.text[-600:]}"
            )
        if bug and not said.findings:
            raise KernelError(f"{check} did not find the defect {bug} of {name}: {said.text[-600:]}")
    return points


BENCHES = (
    Bench(
        "lesson07_sticky_error",
        "A null C read without the beta guard: what that launch and every later call of the same process answer, and the process's exit code",
        ("linear_epilogue",),
        sticky,
        {
            "step": "order",
            "call": "what was called",
            "error": "the CUDA error's name, empty for success",
            "message": "the error as the course's loader or CuPy says it",
            "exit_code": "of the process",
        },
    ),
    Bench(
        "lesson07_sanitizer",
        "compute-sanitizer over the two kernels on odd sizes, and over the defect no_beta_guard",
        ("linear_epilogue", "gemm_epilogue"),
        sanitizer,
        {
            "tool": "compute-sanitizer's tool",
            "summary": "its summary line",
            "first_finding": "its first finding",
            "where": "first source line it names",
            "exit_code": "of the run",
        },
    ),
)
