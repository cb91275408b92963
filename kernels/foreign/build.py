"""Build one kernel of a foreign CUDA file for the emulator, and run it."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from kernels.emulator import toolchain
from kernels.emulator.module import Module
from kernels.emulator.report import Finding, LaunchReport
from kernels.errors import ArgumentError, CompileError
from kernels.foreign.arguments import in_order
from kernels.foreign.prepare import COMPAT, Entry, Program, read


def _with_headers(unit: str, options: list[str], error) -> bytes:
    """The unit for the compiler. zig puts C++'s library before C's as soon as -fsanitize=thread is given, so its headers are read without."""
    c = toolchain.compiler()
    if c.family != "zig":
        return unit.encode()
    command = [
        *c.command,
        "-E",
        "-x",
        "c++",
        "-std=c++17",
        "-nostdinc++",
        "-w",
        *(o for o in options if o.startswith("-I")),
        "-",
    ]
    done = subprocess.run(command, input=unit, capture_output=True, text=True, errors="replace")
    if done.returncode:
        raise error(done.stderr)
    return done.stdout.encode()


class ForeignKernel:
    """A kernel of a CUDA file that knows nothing of this course, built for the emulator.

    entry: its name, parameters and place.  cluster: what __cluster_dims__ says.  module: as kernels.emulator.build gives it.
    """

    def __init__(
        self,
        program: Program,
        entry: str | None = None,
        *,
        initial: Mapping[str, np.ndarray] | None = None,
        instrument: bool = True,
    ):
        data = {name: np.ascontiguousarray(v).tobytes() for name, v in (initial or {}).items()}
        if (size := sum(map(len, data.values()))) > 1 << 16:
            raise ArgumentError(
                f"The values for __constant__ and __device__ variables have {size:,} bytes; 65,536 may be given."
            )
        self.entry, unit, self.cluster = program.unit(entry, data)
        self.name, self.file = entry or self.entry.name, program.name
        options = [
            *toolchain.compile_options(instrument),
            f"-I{COMPAT}",
            f"-I{toolchain.CUDA}",
            f"-I{toolchain.RUNTIME}",
        ]
        headers = [
            p.read_bytes()
            for p in (
                *sorted(COMPAT.glob("*.h")),
                toolchain.RUNTIME / "api.h",
                toolchain.RUNTIME / "foreign.h",
                toolchain.RUNTIME / "numbers.h",
                *sorted(toolchain.CUDA.glob("hopper*")),
            )
        ]
        stem = re.sub(r"\W", "_", Path(program.name).stem)[:40] or "kernel"
        library, there = toolchain.library_path(stem, unit, options, *headers)
        error = lambda log: _error(program.name, log, self.entry)
        seconds = (
            0.0
            if there
            else toolchain.compile_library(_with_headers(unit, options, error), library, options, instrument, error)
        )
        self.module = Module(Path(program.name), ("entry",), library, seconds, instrument)

    def __call__(
        self,
        grid,
        block,
        args: Mapping[str, Any] | Sequence[Any],
        *,
        shared: int = 0,
        cluster=None,
        raises: bool = True,
        **options,
    ) -> LaunchReport:
        """Launch it; arrays are changed in place. args by parameter name or in order. options: as kernels.emulator.Module.launch takes them.

        Raises what Module.launch raises.
        """
        values = in_order(self.entry.parameters, args, self.entry.name) if isinstance(args, Mapping) else list(args)
        given = [_fit(p.type, v) for p, v in zip(self.entry.parameters, values)] + values[len(self.entry.parameters) :]
        report = self.module.launch(
            "entry", grid, block, given, smem=shared, cluster=cluster or self.cluster or 1, raises=False, **options
        )
        report.kernel = self.name
        report.findings = [_load_error(f, self.file) for f in report.findings]
        if raises and not report.clean:
            from kernels.backends import emulator_error

            raise emulator_error(report)
        return report


def _load_error(finding: Finding, file: str) -> Finding:
    """What the system says of a library that it cannot load, so that the file's author understands it."""
    if finding.rule != "library":
        return finding
    if name := re.search(r"undefined symbol: (\S+)", finding.message):
        mangled = re.match(r"_Z(\d+)(\w+)", name[1])
        plain = mangled[2][: int(mangled[1])] if mangled else name[1]
        return replace(
            finding,
            message=f"{file} declares and uses {plain}, and does not define it: a kernel is one file with what it includes by quotes.",
        )
    if "map segment" in finding.message or "memory" in finding.message:
        return replace(
            finding,
            message=f"The __device__ variables of {file} take more memory than a launch may have: make them smaller, or pass arrays.",
        )
    return finding


_SMALL = {"half": np.float16, "__half": np.float16}


def _fit(type_: str, value: Any) -> Any:
    """A Python number as the parameter's 16-bit type, which is a struct for the compiler."""
    bare = type_.replace("const", "").strip()
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        if bare in _SMALL:
            return _SMALL[bare](value)
        if bare in ("__nv_bfloat16", "nv_bfloat16"):
            import ml_dtypes

            return np.asarray(value, ml_dtypes.bfloat16)[()]
    return value


def run_source(
    source: str | Path,
    entry: str | None = None,
    *,
    grid,
    block,
    args: Mapping[str, Any] | Sequence[Any],
    shared: int = 0,
    cluster=None,
    defines: Mapping[str, object] | None = None,
    initial: Mapping[str, np.ndarray] | None = None,
    raises: bool = True,
    **options: Any,
) -> LaunchReport:
    """Run a kernel of a CUDA file, or of a source text, that knows nothing of this course on the emulator; arrays are changed in place.

    source: the file's path, or the text itself (a str with a line break).  entry: the kernel where there are several, with template
    arguments where it is a template: "reduce<float, 256>".  grid, block, cluster: n or (x,), (x, y), (x, y, z).
    args: by parameter name or in order: NumPy arrays, numbers, None, kernels.TensorMap.  shared: bytes of dynamic shared memory.
    defines: macros.  initial: values of __constant__ and __device__ variables by name, 65,536 bytes at most.
    options: seed, policy, checks, trace, timeout, sms, registers as kernels.emulator.Module.launch takes them.

    The code runs in a process of its own with a time limit, with your rights; `course run FILE.cu` runs it in a jail.
    Raises CompileError (file, line), ArgumentError, EmulatorError (with the report), BackendError.
    """
    kernel = load_source_kernel(source, entry, defines=defines, initial=initial)
    return kernel(grid, block, args, shared=shared, cluster=cluster, raises=raises, **options)


def load_source_kernel(source: str | Path, entry: str | None = None, *, defines=None, initial=None) -> ForeignKernel:
    """The kernel of a CUDA file or text, built; call it as often as needed."""
    if isinstance(source, str) and "\n" in source:
        program = Program(source, "source.cu", None, defines)
    else:
        path = Path(source)
        program = Program(read(path), path.name, path.resolve().parent, defines)
    return ForeignKernel(program, entry, initial=initial)


_UNKNOWN = re.compile(
    r"was not declared|undeclared|does not name a type|unknown type|is not a member|no member named|not been declared"
)
_QUOTED = re.compile(r"[‘'\"](\w+)[’'\"]")


def _error(name: str, log: str, entry: Entry) -> CompileError:
    m = toolchain._ERROR.search(log)
    if not m:
        last = log.strip().splitlines()[-1:] or ["no message"]
        return CompileError(f"{name} does not compile for the emulator: {last[0][-300:]}", file=name, log=log)
    file, line, message = Path(m["file"]).name, int(m["line"]), m["message"]
    if file == "exports":
        return CompileError(
            f"{entry.file}:{entry.line}: the kernel {entry.name} cannot be built as asked: {message}.",
            file=entry.file,
            line=entry.line,
            log=log,
        )
    if (COMPAT / file).is_file():  # in a header of ours: the line that used it
        used = [
            (Path(f).name, int(n))
            for f, n in re.findall(r"^([^\s:][^:\n]*):(\d+):\d+:\s+(?:required from|note: in instantiation)", log, re.M)
        ]
        here = next(((f, n) for f, n in used if not (COMPAT / f).is_file() and f != "exports"), None)
        file, line = here or (entry.file, entry.line)
    name = _QUOTED.search(message) if _UNKNOWN.search(message) else None
    hint = (
        f"The emulator has no `{name[1]}`, or it is the host's: write what it does in CUDA C++, or define it in the file."
        if name
        else ""
    )
    return CompileError(f"{file}:{line}: {message}." + (f" {hint}" if hint else ""), file=file, line=line, log=log)
