"""Compile a CUDA source for sm_90a with NVRTC. Needs no GPU and no driver, only the packages cuda-bindings and nvidia-cuda-nvrtc.

    built = compile_source(load_source("gemm_epilogue.cu"), {"TILE_M": 128})
    built.resources["gemm_epilogue"].registers, built.image      # what ptxas used, and the cubin

The compiler's log is kept: registers, spills and shared memory per entry, and ptxas' remarks on lost performance (C7508
`setmaxnreg` ignored, C7510 wgmma serialised) as `remarks`.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass

from kernels.errors import BackendError, CompileError
from kernels.sources import CUDA_DIR, Source

ARCH = "sm_90a"


@dataclass(frozen=True)
class Resources:
    """What one entry uses. registers: a thread. spill_stores, spill_loads, stack: bytes a thread. smem: static bytes a block."""

    registers: int
    spill_stores: int
    spill_loads: int
    stack: int
    smem: int


@dataclass(frozen=True)
class Built:
    """A compiled source. image: cubin. resources: by entry name. remarks: ptxas' performance remarks. toolkit: "NVRTC 13.2"."""

    image: bytes
    resources: Mapping[str, Resources]
    remarks: tuple[str, ...]
    log: str
    toolkit: str


def available() -> tuple[bool, str]:
    """Whether NVRTC can be used here, and a sentence that says why or why not."""
    try:
        return True, f"{_version()} is here; it compiles for {ARCH} without a GPU."
    except BackendError as e:
        return False, str(e)


def compile_source(
    source: Source, defines: Mapping[str, object] | None = None, *, options: tuple[str, ...] = ()
) -> Built:
    """Compile for sm_90a as C++17. defines: name -> value, None or True for a bare name. options: further NVRTC options.

    The result is kept for the life of the process, by content. Raises CompileError with file, line and the line's text;
    BackendError where NVRTC is missing.
    """
    return _compile(source, tuple(sorted((k, _text(v)) for k, v in (defines or {}).items())), options)


def _text(value) -> str:
    return "1" if value is None or value is True else "0" if value is False else str(value)


@functools.cache
def _bindings():
    try:
        from cuda.bindings import nvrtc

        nvrtc.nvrtcVersion()
    except (
        Exception
    ) as e:  # the bindings raise their own errors where the library is missing, ImportError where they are
        raise BackendError(
            f"NVRTC cannot be used here ({type(e).__name__}: {e}). "
            "Install it with `pip install cuda-bindings nvidia-cuda-nvrtc` (Linux and Windows; NVIDIA ships none for macOS)."
        ) from e
    return nvrtc


def _version() -> str:
    _, major, minor = _bindings().nvrtcVersion()
    return f"NVRTC {major}.{minor}"


@functools.cache
def _compile(source: Source, defines: tuple[tuple[str, str], ...], options: tuple[str, ...]) -> Built:
    nvrtc = _bindings()
    opts = [f"--gpu-architecture={ARCH}", "--std=c++17", "--ptxas-options=-v", "-lineinfo", f"-I{CUDA_DIR}"]
    opts += [f"-D{k}={v}" for k, v in defines] + list(options)
    opts = [o.encode() for o in opts]
    program = _ok(nvrtc, nvrtc.nvrtcCreateProgram(source.text.encode(), source.name.encode(), 0, None, None))
    try:
        # A cubin from NVRTC's disk cache comes without ptxas' log, which holds registers and spills. Older ones know no such option.
        (status,) = nvrtc.nvrtcCompileProgram(program, len(opts) + 1, [*opts, b"--no-cache"])
        if status == nvrtc.nvrtcResult.NVRTC_ERROR_INVALID_OPTION:
            (status,) = nvrtc.nvrtcCompileProgram(program, len(opts), opts)
        buffer = bytearray(_ok(nvrtc, nvrtc.nvrtcGetProgramLogSize(program)))
        _ok(nvrtc, nvrtc.nvrtcGetProgramLog(program, buffer))
        log = buffer.decode(errors="replace").rstrip("\0\n ")
        if status != nvrtc.nvrtcResult.NVRTC_SUCCESS:
            raise compile_error(source, log or status.name)
        image = bytearray(_ok(nvrtc, nvrtc.nvrtcGetCUBINSize(program)))
        _ok(nvrtc, nvrtc.nvrtcGetCUBIN(program, image))
    finally:
        nvrtc.nvrtcDestroyProgram(program)
    resources, remarks = parse_log(log)
    return Built(bytes(image), resources, remarks, log, _version())


def _ok(nvrtc, result):
    status, *values = result
    if status != nvrtc.nvrtcResult.NVRTC_SUCCESS:
        raise BackendError(
            f"NVRTC answered {status.name}. Check that cuda-bindings and nvidia-cuda-nvrtc have the same major version."
        )
    return values[0] if values else None


_ERROR = re.compile(
    r"^(?P<file>[^\s(][^(\n]*)\((?P<line>\d+)\): (?:catastrophic )?error\s*(?:#[\w-]+)?\s*: (?P<what>.*)$", re.M
)


def compile_error(source: Source, log: str) -> CompileError:
    """The error that NVRTC's log tells of: its first error, with the line of source it stands on."""
    m = _ERROR.search(log)
    if not m:
        first = next(
            (l for l in log.splitlines() if "error" in l or "fatal" in l), log.splitlines()[0] if log else "no log"
        )
        return CompileError(f"{source.name} does not compile for {ARCH}: {first.strip()}", file=source.name, log=log)
    file, line, what = m["file"].rsplit("/", 1)[-1], int(m["line"]), m["what"].strip()
    text = (
        source.text
        if file == source.name
        else next((p.read_text(encoding="utf-8") for p in source.files if p.name == file), "")
    )
    lines = text.splitlines()
    quoted = f"\n    {lines[line - 1].strip()}" if 0 < line <= len(lines) else ""
    more = len(_ERROR.findall(log)) - 1
    tail = f"\n({more} more error{'s' if more > 1 else ''} in the log)" if more else ""
    return CompileError(f"{file} line {line}: {what}{quoted}{tail}", file=file, line=line, log=log)


def parse_log(log: str) -> tuple[dict[str, Resources], tuple[str, ...]]:
    """Resources by entry and the performance remarks, from a log of `--ptxas-options=-v`."""
    resources: dict[str, Resources] = {}
    blocks = re.split(r"Compiling entry function '([^']+)' for '[^']*'", log)
    for entry, body in zip(blocks[1::2], blocks[2::2]):

        def number(pattern, body=body):
            m = re.search(pattern, body)
            return int(m[1]) if m else 0

        resources[entry] = Resources(
            registers=number(r"Used (\d+) registers"),
            spill_stores=number(r"(\d+) bytes spill stores"),
            spill_loads=number(r"(\d+) bytes spill loads"),
            stack=number(r"(\d+) bytes stack frame"),
            smem=number(r"(\d+) bytes smem"),
        )
    remarks = tuple(dict.fromkeys(m.strip() for m in re.findall(r"\(C\d+\) .*", log)))
    return resources, remarks
