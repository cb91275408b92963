"""What runs in the jail for `course run FILE.cu`: builds one kernel of the file and launches it on the emulator, or lists the file's kernels.

Reads a frame from standard input and writes one to standard output (frames.py beside this says which). The kernel's native code runs in the
emulator's runner, a process of its own with the limits that inside.py sets.
"""

import json
import os
import resource
import shutil
import struct
import sys

import inside  # the challenge lines': in the jail, beside this file

MEMORY = 8 << 30  # bytes of address space of the compiler and this process


def main() -> None:
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever is printed goes to standard error
    inside.close_off()
    data = sys.stdin.buffer.read()
    (length,) = struct.unpack_from("!Q", data)
    wanted, raw = json.loads(data[8 : 8 + length]), data[8 + length :]
    for name, value in {**inside.BYTES, "RLIMIT_AS": MEMORY, "RLIMIT_CPU": wanted["cpu"]}.items():
        resource.setrlimit(getattr(resource, name), (value, value))
    if os.path.isdir("/jail/zig"):
        shutil.copytree("/jail/zig", os.environ["ZIG_GLOBAL_CACHE_DIR"])  # zig writes to its cache

    import seccomp  # noqa: F401 - read from the file now: the runner's process only uses it

    from kernels.emulator import process
    from kernels.errors import KernelError

    process.BEFORE_RUNNER = inside.locked
    try:
        head, arrays = answer(wanted, raw)
    except KernelError as e:
        head, arrays = {"error": str(e)[:4000]}, []
    body = json.dumps(head).encode()
    out.write(struct.pack("!Q", len(body)) + body + b"".join(arrays))
    out.close()


def answer(wanted: dict, raw: bytes) -> tuple[dict, list[bytes]]:
    import ml_dtypes  # noqa: F401 - registers its types with NumPy
    import numpy as np

    from kernels.foreign import ForeignKernel, Program
    from kernels.tensormap import TensorMap

    program = Program(wanted["text"], wanted["name"], None, wanted["defines"])
    if wanted["list"]:
        kernels = [
            [e.name, e.template, [[p.type, p.name] for p in e.parameters], e.file, e.line]
            for e in program.entries[:100]
        ]
        return {"error": "", "kernels": kernels}, []
    at, values, arrays = 0, {}, []
    for name, a in [*wanted["args"], *(("=" + n, a) for n, a in wanted["initial"])]:
        if a["kind"] in ("array", "map"):
            dtype = np.dtype(getattr(ml_dtypes, a["dtype"], a["dtype"]))
            size = dtype.itemsize * int(np.prod(a["shape"]))
            array = np.frombuffer(raw, dtype, size // dtype.itemsize, at).reshape(a["shape"]).copy()
            at += size
            if not name.startswith("="):
                arrays.append(array)
            values[name] = TensorMap(array, tuple(a["box"]), swizzle=a["swizzle"]) if a["kind"] == "map" else array
        elif a["kind"] == "typed":
            values[name] = np.dtype(getattr(ml_dtypes, a["dtype"], a["dtype"])).type(a["value"])
        else:
            values[name] = a["value"]
    initial = {n[1:]: values.pop(n) for n in list(values) if n.startswith("=")}
    kernel = ForeignKernel(program, wanted["entry"], initial=initial)
    report = kernel(
        wanted["grid"],
        wanted["block"],
        values,
        shared=wanted["shared"],
        cluster=wanted["cluster"],
        raises=False,
        **wanted["options"],
    )
    head = {"error": "", "status": report.status, "text": str(report)[:12000], "output": report.output[:8000]}
    return head, [a.tobytes() for a in arrays]


if __name__ == "__main__":
    main()
