"""What runs in the jail: builds a kernel with the student's line and launches it on the emulator, once an input.

Reads JSON {"kernel", "line", "count", "seed", "cpu"} from standard input and writes one frame (frame.py) to standard output. It compares
nothing: that is the grader's part. The line's native code runs in the emulator's runner, a process of its own that close_off() and locked()
keep from this one: it cannot open this process's descriptors (so not the pipe to the grader), and cannot start, trace or join another.
"""

import ctypes
import json
import os
import resource
import shutil
import struct
import sys
import time

BYTES = {"RLIMIT_FSIZE": 1 << 30, "RLIMIT_CORE": 0, "RLIMIT_AS": 4 << 30}
RUNNER_AS = 2 << 30  # bytes of address space; the lessons' kernels take 0.3 GB
_PR_SET_DUMPABLE = 4


def close_off() -> None:
    """No other process of the jail may look into this one: /proc/1/fd, /proc/1/mem, ptrace. The compiler and the runner start anew."""
    ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)


def locked() -> None:
    """In the runner's process, before it is the runner."""
    import seccomp

    resource.setrlimit(resource.RLIMIT_AS, (RUNNER_AS, RUNNER_AS))
    if seccomp.supported():
        try:
            seccomp.forbid()
        except OSError:  # a kernel without filters: the other walls stand
            pass


def main() -> None:
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever is printed goes to standard error
    close_off()
    wanted = json.load(sys.stdin)
    for name, value in {**BYTES, "RLIMIT_CPU": wanted["cpu"]}.items():
        resource.setrlimit(getattr(resource, name), (value, value))
    if os.path.isdir("/jail/zig"):
        shutil.copytree("/jail/zig", os.environ["ZIG_GLOBAL_CACHE_DIR"])  # zig writes to its cache

    import numpy as np
    import seccomp  # noqa: F401 - read from the file now: the runner's process only uses it

    from kernels.compare import challenge_launches
    from kernels.emulator import EmulatorTimeout, process
    from kernels.errors import KernelError

    process.BEFORE_RUNNER = locked
    rows, numbers, error, busy = [], [], "", False
    began = time.monotonic(), _cpu()
    try:
        for _, _, result in challenge_launches(wanted["kernel"], wanted["line"], wanted["count"], wanted["seed"]):
            if isinstance(result, KernelError):
                busy = isinstance(result, EmulatorTimeout) and _cpu() - began[1] < (time.monotonic() - began[0]) / 2
                rows.append(str(result)[:3000])
                break
            rows.append("")
            numbers += [
                np.asarray(array).astype("<f8").tobytes()
                for array in (result if isinstance(result, tuple) else (result,))
            ]
            began = time.monotonic(), _cpu()
    except KernelError as e:
        error = str(e)[:3000]
    head = json.dumps({"rows": rows, "error": error, "busy": busy}).encode()
    out.write(struct.pack("!Q", len(head)) + head + b"".join(numbers))
    out.close()


def _cpu() -> float:
    """CPU seconds of the compilers and runners that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
