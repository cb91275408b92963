"""Compilers, the cache, and the build of the emulator's runner and of kernels.

The runner (runtime/*.cpp) is an executable built once a machine, or taken from `prebuilt/` when the wheel brings one. A kernel is
a shared library that the runner loads. Both are cached by the hash of everything they depend on, under $KERNELS_CACHE, or
$XDG_CACHE_HOME/hopper-course, or ~/.cache/hopper-course. $KERNELS_CXX names the compiler ("g++", "clang++", "zig").
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from kernels.emulator.bounds import bounds_lines
from kernels.emulator.errors import EmulatorCompileError, EmulatorUnavailable
from kernels.wording import told

HERE = Path(__file__).parent
RUNTIME = HERE / "runtime"
CUDA = HERE.parent / "cuda"
PREBUILT = HERE / "prebuilt"
RENEWED_S = 1.0  # seconds from one line of a build's progress to the next
KEPT_KERNELS = 1000  # in the cache; about 50 KB each
MACHINES = {"x86_64": "x86_64", "AMD64": "x86_64", "aarch64": "aarch64", "arm64": "aarch64"}


@dataclass(frozen=True)
class Compiler:
    """`command` starts a C++ compilation; `family` is gcc, clang or zig; `version` goes into cache keys."""

    command: tuple[str, ...]
    family: str
    version: str

    def __str__(self) -> str:
        return self.version


def cache_folder() -> Path:
    """Where built code is kept. Made if missing."""
    named = os.environ.get("KERNELS_CACHE")
    try:
        base = (
            Path(named) if named else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "hopper-course"
        )
        base.mkdir(parents=True, exist_ok=True)
    except (OSError, RuntimeError) as e:  # RuntimeError: no home folder is known
        raise EmulatorUnavailable(
            f"The emulator's cache folder cannot be made: {e}. Set KERNELS_CACHE to a folder of yours."
        ) from e
    return base.resolve()


def _scratch(cache: Path) -> tempfile.TemporaryDirectory:
    """A folder to build in, on the cache's file system, so that what was built moves into the cache in one step."""
    try:
        return tempfile.TemporaryDirectory(dir=cache)
    except OSError as e:
        raise EmulatorUnavailable(
            f"The emulator keeps compiled kernels in {cache}, where nothing can be written: {e}. Set KERNELS_CACHE to a folder of yours."
        ) from e


def machine() -> str:
    """x86_64 or aarch64; EmulatorUnavailable elsewhere."""
    if sys.platform != "linux" or platform.machine() not in MACHINES:
        raise EmulatorUnavailable(
            f"The emulator runs on Linux (x86-64 or aarch64); this is {platform.system()} on {platform.machine()}. "
            "Use a Linux container (for example `docker run -it python:3.12`), WSL on Windows, or a hosted notebook."
        )
    return MACHINES[platform.machine()]


def _version(command: tuple[str, ...]) -> str:
    done = subprocess.run([*command, "--version"], capture_output=True, text=True)
    return done.stdout.partition("\n")[0].strip() if done.returncode == 0 else ""


@lru_cache
def find_compiler(wanted: str = "") -> Compiler | None:
    """The compiler that $KERNELS_CXX or `wanted` names, otherwise the first of g++, clang++, c++, and zig (the ziglang wheel)."""
    names = [wanted] if wanted else ["g++", "clang++", "c++", "zig"]
    for name in names:
        if name == "zig":
            if importlib.util.find_spec("ziglang") is None:
                continue
            command = (sys.executable, "-m", "ziglang", "c++", "-mcpu=baseline")
            if version := _version(command):
                return Compiler(command, "zig", f"zig ({version})")
            continue
        path = shutil.which(name)
        if path and (version := _version((path,))):
            return Compiler((path,), "clang" if "clang" in version else "gcc", version)
    return None


def compiler() -> Compiler:
    """The compiler to use; EmulatorUnavailable with what to do if there is none."""
    machine()
    wanted = os.environ.get("KERNELS_CXX", "")
    found = find_compiler(wanted)
    if found is None:
        what = f"KERNELS_CXX names {wanted!r}, which is not here" if wanted else "there is no C++ compiler here"
        raise EmulatorUnavailable(
            f"The emulator compiles kernels, and {what}. Install one: `pip install ziglang`, or `apt install g++`."
        )
    return found


def available() -> tuple[bool, str]:
    """Whether the emulator can run here, and a sentence that says why (which compiler) or why not. Builds nothing."""
    try:
        return True, f"CPU emulator, kernels compiled by {compiler()}"
    except EmulatorUnavailable as e:
        return False, str(e)


def digest(*parts) -> str:
    h = hashlib.sha256()
    for part in parts:
        h.update(part if isinstance(part, bytes) else repr(part).encode())
        h.update(b"\0")
    return h.hexdigest()[:24]


def _sources() -> list[Path]:
    return sorted(RUNTIME.glob("*.cpp")) + sorted(RUNTIME.glob("*.h"))


@lru_cache
def runtime_digest() -> str:
    """Hash of the runner's sources: what a prebuilt runner must have been built from."""
    return digest(*[p.name.encode() + b"\0" + p.read_bytes() for p in _sources()])


def build_runner(
    target: Path,
    with_compiler: Compiler,
    extra: tuple[str, ...] = (),
    done: Callable[[int, int], None] = lambda n, of: None,
) -> None:
    """Compile the runner to `target`. zig's first build of its C++ library takes about a minute. done(n, of): how many files are."""
    flags = ["-std=c++17", "-w", "-fno-strict-aliasing", "-ffp-contract=off", *extra]

    def run(*arguments: str) -> None:
        done = subprocess.run([*with_compiler.command, *arguments], capture_output=True, text=True)
        if done.returncode:
            raise EmulatorUnavailable(
                f"The emulator's runtime could not be built with {with_compiler}:\n{done.stderr[-4000:]}"
            )

    sources, objects = sorted(RUNTIME.glob("*.cpp")), []

    def compile_one(source: Path) -> str:
        made = target.with_name(source.stem + ".o")
        run(*flags, "-O3" if source.stem == "matrix" else "-O2", "-c", str(source), "-o", str(made))
        return str(made)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for made in as_completed([pool.submit(compile_one, source) for source in sources]):
            objects.append(made.result())
            done(len(objects), len(sources))
    libraries = [] if with_compiler.family == "zig" else ["-static-libstdc++", "-static-libgcc", "-ldl"]
    run("-rdynamic", *sorted(objects), "-o", str(target), *extra, *libraries)


def runner() -> Path:
    """The runner's executable: prebuilt, cached, or built now."""
    prebuilt = PREBUILT / machine()
    if (
        (prebuilt / "digest").is_file()
        and (prebuilt / "digest").read_text().strip() == runtime_digest()
        and os.access(prebuilt / "runner", os.X_OK)
    ):
        return prebuilt / "runner"
    c = compiler()
    target = cache_folder() / f"runner-{digest(runtime_digest(), c.version)}"
    if target.exists():
        return target
    with _scratch(target.parent) as folder, _alone(target.parent / "building"):
        if not target.exists():  # another process may have built it while this one waited
            wait = "one to two minutes" if c.family == "zig" else "about 20 s"
            with _Progress(wait) as progress:
                build_runner(Path(folder) / "runner", c, done=progress.done)
            os.replace(Path(folder) / "runner", target)
    return target


class _Progress(threading.Thread):
    """One line on stderr that says how far the build is, renewed every second while it runs."""

    def __init__(self, wait: str):
        super().__init__(daemon=True)
        self._wait, self._began, self._over, self._files = wait, time.perf_counter(), threading.Event(), (0, 0)

    def done(self, n: int, of: int) -> None:
        self._files = (n, of)

    def run(self) -> None:
        while not self._over.wait(RENEWED_S):
            n, of = self._files
            seconds = time.perf_counter() - self._began
            self._show(
                f"Building the kernel emulator (once on this machine, {self._wait}): {n} of {of or '?'} files, {seconds:.0f} s"
            )

    def _show(self, text: str, end: str = "") -> None:
        print(f"\r{told(text)}", end=end, file=sys.stderr, flush=True)

    def __enter__(self) -> _Progress:
        self._show(f"Building the kernel emulator (once on this machine, {self._wait}): 0 of ? files, 0 s")
        self.start()
        return self

    def __exit__(self, kind: type | None, *_: object) -> None:
        self._over.set()
        self.join()
        seconds = time.perf_counter() - self._began
        if kind is None:
            self._show(f"The kernel emulator is built ({seconds:.0f} s).".ljust(90), "\n")
        else:
            print(file=sys.stderr)


@contextlib.contextmanager
def _alone(lock: Path):
    """One process at a time: the workers of a class all want the runner at once. The kernel frees the lock of one that dies."""
    import fcntl

    with open(lock, "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


# What the two compilers call the same things. The hooks that -fsanitize=thread plants are the runner's own (hooks.cpp): the
# sanitizer itself is not linked; -fsanitize=alignment and bounds call some there as well.
_COMMON = [
    "-O2",
    "-gdwarf-4",
    "-std=c++17",
    "-fPIC",
    "-nostdinc++",
    "-fno-exceptions",
    "-fno-rtti",
    "-fno-strict-aliasing",
    "-ffp-contract=off",
    "-w",
]
_FAMILY = {
    "gcc": ["-g1", "-Wno-psabi", "-fsanitize=alignment,bounds"],
    "clang": ["-gline-tables-only", "-fsanitize=alignment,array-bounds"],
    "zig": [
        "-gline-tables-only",
        "-fno-sanitize=undefined",
        "-fsanitize=alignment,array-bounds",
        "-fno-sanitize-trap=alignment,array-bounds",
    ],
}
_INSTRUMENT = {
    "gcc": [
        "-fsanitize=thread",
        "--param",
        "tsan-distinguish-volatile=1",
        "--param",
        "tsan-instrument-func-entry-exit=0",
    ],
    "clang": [
        "-fsanitize=thread",
        "-mllvm",
        "-tsan-distinguish-volatile=1",
        "-mllvm",
        "-tsan-instrument-func-entry-exit=0",
    ],
}
_INSTRUMENT["zig"] = _INSTRUMENT["clang"]
_LINK = ["-shared", "-Wl,--as-needed"]
_BARE = ["-nostdlib++", "-fno-sanitize=undefined"]  # zig would build its C++ library first, and link its own sanitizer
_WRAP = [f"-Wl,--wrap={f}" for f in ("memcpy", "memmove", "memset")]
_ERROR = re.compile(r"^(?P<file>[^\s:][^:\n]*):(?P<line>\d+)(?::\d+)?: (?:fatal )?error: (?P<message>.*)$", re.M)


EXPORTS = "exports"  # the lines after a kernel's own: one for each entry


def _compile_error(name: str, log: str, entries: list[str]) -> EmulatorCompileError:
    m = _ERROR.search(log)
    if not m:
        return EmulatorCompileError(f"{name} does not compile for the emulator:\n{log[-3000:]}", log=log)
    file, line = Path(m["file"]).name, int(m["line"])
    if file == EXPORTS:
        return EmulatorCompileError(
            f'{name} has no kernel named {entries[line - 1]!r}, or not as extern "C" __global__ void. (compiling for the emulator: {m["message"]})',
            file=name,
            log=log,
        )
    return EmulatorCompileError(
        f"{file}:{line}: {m['message']} (compiling {name} for the emulator)", file=file, line=line, log=log
    )


def headers(source: Path) -> list[Path]:
    """Every header a kernel source may include: those beside it, the vocabulary, and the runtime's two."""
    folders = dict.fromkeys([source.parent.resolve(), CUDA.resolve()])
    found = [p for f in folders for pattern in ("*.cuh", "*.h") for p in sorted(f.glob(pattern))]
    return found + [RUNTIME / "api.h", RUNTIME / "numbers.h"]


def build_kernel(source: Path, entries: list[str], defines: dict, instrument: bool) -> tuple[Path, float]:
    """The shared library of a kernel source, and the seconds it took to build (0 from the cache)."""
    c = compiler()
    text = source.read_bytes()
    options = [*_COMMON, *_FAMILY[c.family], *(_INSTRUMENT[c.family] if instrument else [])]
    macros = [
        f"-D{k}={int(v) if isinstance(v, bool) else v}" if v is not None else f"-D{k}"
        for k, v in sorted(defines.items())
    ]
    bounds = bounds_lines(text.decode(errors="replace"), entries)
    key = digest(
        text,
        bounds,
        source.name,
        entries,
        macros,
        options,
        c.version,
        *[p.name.encode() + b"\0" + p.read_bytes() for p in headers(source)],
    )
    target = cache_folder() / f"{source.stem}-{key}.so"
    if target.exists():
        with contextlib.suppress(OSError):  # a cache that may only be read
            os.utime(target)  # used: the last to be pruned
        return target, 0.0
    exports = "".join(f"HOPPER_EXPORT({e})\n" for e in entries)
    unit = f'#line 1 "{source.name}"\n'.encode() + text + f'\n#line 1 "{EXPORTS}"\n{exports}{bounds}'.encode()
    include = [f"-I{source.parent}", f"-I{CUDA}", f"-I{RUNTIME}"]
    return target, compile_library(
        unit, target, [*options, *macros, *include], instrument, lambda log: _compile_error(source.name, log, entries)
    )


def compile_library(
    unit: bytes, target: Path, options: list[str], instrument: bool, error: Callable[[str], Exception]
) -> float:
    """Compile and link one unit to a kernel's library in the cache; the seconds that took. error: makes an exception of a compiler's log."""
    c = compiler()
    began = time.perf_counter()
    with _scratch(target.parent) as name:
        folder = Path(name)
        (folder / "kernel.cpp").write_bytes(unit)
        run = lambda *arguments: subprocess.run(
            [*c.command, *arguments], capture_output=True, text=True, errors="replace"
        )
        compiled = run(*options, "-c", str(folder / "kernel.cpp"), "-o", str(folder / "kernel.o"))
        if compiled.returncode:
            raise error(compiled.stderr)
        bare = _BARE if c.family == "zig" else []
        linked = run(
            *_LINK,
            *bare,
            *(_WRAP if instrument else []),
            str(folder / "kernel.o"),
            "-o",
            str(folder / "kernel.so"),
            "-lm",
        )
        if linked.returncode:
            raise error(linked.stderr)
        os.replace(folder / "kernel.so", target)
    _prune(target.parent)
    return time.perf_counter() - began


def compile_options(instrument: bool) -> list[str]:
    """The compiler's options for a kernel."""
    family = compiler().family
    return [*_COMMON, *_FAMILY[family], *(_INSTRUMENT[family] if instrument else [])]


def library_path(stem: str, *parts) -> tuple[Path, bool]:
    """Where the library made of these parts is kept, and whether it is there already."""
    target = cache_folder() / f"{stem}-{digest(compiler().version, *parts)}.so"
    if there := target.exists():
        with contextlib.suppress(OSError):  # a cache that may only be read
            os.utime(target)  # used: the last to be pruned
    return target, there


def _prune(folder: Path) -> None:
    """Keep the newest kernels: every edit of a source makes another."""
    age = lambda p: p.stat().st_mtime if p.exists() else 0.0  # another process may be pruning as well
    for old in sorted(folder.glob("*.so"), key=age)[:-KEPT_KERNELS]:
        old.unlink(missing_ok=True)
