"""A jail for native code: bubblewrap with the system, Python, the compiler and the kernels package read-only, no network, and a scratch folder
of bounded size that ends with it.

The fill sandbox (grading/sandbox) has no files at all, so no compiler runs in it; this one has a compiler, and neither the course's lessons
nor submissions nor the gradebook. Walls, from the outside in: the grammar of a line (kernels.line) has no way to native code of the student's
own; should some run all the same, it runs in the emulator's runner, with a limit of memory and no way to start, trace or join a process or to
open the pipe to the grader (inside.py); and what comes through that pipe is read strictly and to a bounded length (frame.py).

What still holds if native code runs: it sees nothing of the course and reaches no network; it can make its own line look right or wrong, for
it can compute the outputs; it can use one CPU until the jail's time is up, its share of memory, and what the folders hold. It cannot touch
another student's line: each runs in a jail of its own. A hole in the kernel's system calls is not shut but for those that forbid() names.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import selectors
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import kernels
from autograder.errors import CourseError
from autograder.grading.challenge.frame import clean
from autograder.grading.sandbox import seccomp
from autograder.paths import course_root

HERE = Path(__file__).resolve().parent
MAX_OUT = 64 << 20  # bytes of an answer, where the caller names no fewer
ERRORS = 4096  # bytes of standard error that are kept, the last
SIZES = {"/tmp": 1 << 30, "/dev/shm": 512 << 20, "/jail/cache": 256 << 20}
PROBE_SECONDS = 30
COLD_SECONDS = 900.0  # zig's first build of its runtime, on a busy machine
_SYSTEM = ("/usr", "/bin", "/lib", "/lib64", "/etc/ld.so.cache", "/etc/alternatives")
_WITHOUT = "or grade without --challenges."


class Stopped(Exception):
    """The jail's process ended without a result: at its time limit, or killed. The text says which."""


class Jail:
    """Runs inside.py once a call. Raises CourseError where the machine has no compiler or no bubblewrap that works."""

    def __init__(
        self, seconds: float = 150.0, script: Path | None = None, work: str = "Challenge lines", without: str = _WITHOUT
    ):
        """script: what runs in the jail, a file that imports inside.py; None: inside.py.  work, without: for messages: what runs, and how to do without."""
        self.seconds, self._script, self._without = seconds, script, without
        self._bwrap = shutil.which("bwrap")
        if self._bwrap is None:
            raise CourseError(
                f"{work} are compiled and run in bubblewrap, which is not here.",
                remedy=f"Install it (Debian, Ubuntu: apt install bubblewrap), {self._without}",
            )
        from kernels.emulator import toolchain
        from kernels.errors import KernelError

        try:
            self._compiler = toolchain.compiler()
            self._runner = toolchain.runner()  # built outside, once
            kept = toolchain.cache_folder()
        except KernelError as e:
            raise CourseError(
                f"{work} cannot be compiled here: {e}", remedy=f"Do what it says, {self._without}"
            ) from None
        self._zig = (
            kept / f"challenge-zig-{hashlib.sha256(self._compiler.version.encode()).hexdigest()[:16]}"
            if self._compiler.family == "zig"
            else None
        )
        self._sized = "--size" in self._probe([self._bwrap, "--help"])
        if self._probe([*self._command(), sys.executable, "-c", "print('in')"]).strip() != "in":
            raise CourseError(
                "bubblewrap does not start Python here.",
                remedy=f"Give Python a place under /usr or a virtual environment, {self._without}",
            )

    def _probe(self, command: list[str]) -> str:
        try:
            done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=PROBE_SECONDS)
        except (OSError, subprocess.TimeoutExpired) as e:
            why = f"it did not answer within {PROBE_SECONDS} s" if isinstance(e, subprocess.TimeoutExpired) else str(e)
            raise CourseError(
                f"bubblewrap does not work here: {why}.",
                where=self._bwrap,
                remedy=f"See why `bwrap --help` does not end, {self._without}",
            ) from None
        if done.returncode:
            raise CourseError(
                f"bubblewrap does not start here: {clean(done.stderr.strip()[-300:])}.",
                where=self._bwrap,
                remedy=f"Let it make namespaces (in a container: --privileged or a seccomp profile that allows unshare), {self._without}",
            )
        return done.stdout

    def run(self, request: bytes, most: int = MAX_OUT) -> bytes:
        """What inside.py answers to a request, `most` bytes at most. Raises Stopped."""
        warm = ["--ro-bind", str(self._zig), "/jail/zig"] if self._zig and self._zig.is_dir() else []
        return self._run(warm, request, self.seconds, most)

    @property
    def cold(self) -> bool:
        """Whether the first run must build zig's runtime: warm() with a request of one's own, since what it builds is kept."""
        return self._zig is not None and not self._zig.is_dir()

    def warm(self, request: bytes, most: int = MAX_OUT) -> bytes:
        """The same for a request that holds nothing of a student's. With zig the first on a machine builds zig's runtime and keeps it."""
        if not self.cold:
            return self.run(request, most)
        print(
            "Building zig's runtime once for the challenges (one to several minutes) ...", file=sys.stderr, flush=True
        )
        with tempfile.TemporaryDirectory(dir=self._zig.parent, ignore_cleanup_errors=True) as folder:
            built = Path(folder) / "zig"
            built.mkdir()
            answer = self._run(["--bind", str(built), "/tmp/zig"], request, COLD_SECONDS, most)
            with contextlib.suppress(OSError):  # another run was first
                os.rename(built, self._zig)
        return answer

    def _run(self, more: list[str], request: bytes, seconds: float, most: int) -> bytes:
        command = [
            *self._command(more),
            sys.executable,
            "-B",
            f"/jail/{self._script.name if self._script else 'inside.py'}",
        ]
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
        )
        try:
            out, errors = _read(process, request, time.monotonic() + seconds, most)
            code = process.wait(timeout=5)
        except (TimeoutError, subprocess.TimeoutExpired):
            raise Stopped(f"stopped after {seconds:.0f} s") from None
        finally:
            process.kill()  # all that runs in its process namespace ends with it
            for pipe in (process.stdin, process.stdout, process.stderr):
                with contextlib.suppress(OSError):
                    pipe.close()
            process.wait()
        if code or not out:
            raise Stopped(clean(errors.decode(errors="replace").strip()[-300:]) or f"exit status {code}")
        return out

    def _command(self, more: Sequence[str] = ()) -> list[str]:
        """The beginning of a bubblewrap command line. more: further arguments, after the scratch folders are there."""
        package = Path(kernels.__file__).resolve().parent
        args = [
            self._bwrap,
            "--unshare-all",
            "--die-with-parent",
            "--new-session",
            "--as-pid-1",
            "--clearenv",
            "--uid",
            "65534",
            "--gid",
            "65534",
            "--proc",
            "/proc",
            "--dev",
            "/dev",
        ]
        for path in _SYSTEM:
            if os.path.islink(path):
                args += ["--symlink", os.readlink(path), path]
            elif os.path.exists(path):
                args += ["--ro-bind", path, path]
        for path, size in SIZES.items():
            args += [*(["--size", str(size)] if self._sized else []), "--tmpfs", path]
        for path in dict.fromkeys([*self._python(), *self._compilers()]):
            args += ["--ro-bind", path, path]
        args += ["--ro-bind", str(self._runner), f"/jail/cache/{self._runner.name}"]
        args += [
            "--ro-bind",
            str(HERE / "inside.py"),
            "/jail/inside.py",
            "--ro-bind",
            seccomp.__file__,
            "/jail/seccomp.py",
            "--ro-bind",
            str(package),
            "/jail/kernels",
        ]
        if self._script:
            args += ["--ro-bind", str(self._script), f"/jail/{self._script.name}"]
        args += [*more, "--remount-ro", "/dev"]
        named = {
            "PATH": os.environ.get("PATH", os.defpath),
            "HOME": "/tmp",
            "KERNELS_CACHE": "/jail/cache",
            "KERNELS_BACKEND": "emulator",
            "OPENBLAS_NUM_THREADS": "1",
            "PYTHONPATH": "/jail",
            "LC_ALL": "C.UTF-8",
        }
        named |= {
            "KERNELS_CXX": "zig" if self._zig else str(Path(self._compiler.command[0]).absolute()),
            "ZIG_GLOBAL_CACHE_DIR": "/tmp/zig",
            "ZIG_LOCAL_CACHE_DIR": "/tmp/zig",
        }
        for name, value in named.items():
            args += ["--setenv", name, value]
        return [*args, "--remount-ro", "/", "--chdir", "/tmp"]

    def _python(self) -> list[str]:
        places = (
            sys.base_prefix,
            sys.prefix,
            os.path.dirname(os.path.realpath(sys.executable)),
            sysconfig.get_config_var("LIBDIR") or "",
        )
        return [str(Path(p)) for p in places if p and os.path.isdir(p) and not p.startswith("/usr/")]

    def _compilers(self) -> list[str]:
        """Folders of a compiler that is not the system's: its own, and the tree around it where that is a compiler's."""
        if self._zig:
            return []
        named = Path(self._compiler.command[0]).absolute()
        real = named.resolve()
        trees = [
            p
            for p in (named.parent.parent, real.parent.parent)
            if any((p / x).is_dir() for x in ("lib/gcc", "lib64/gcc", "libexec/gcc", "lib/clang"))
        ]
        inside = lambda p, tree: Path(p).is_relative_to(tree)  # noqa: E731
        private = (Path.home(), course_root())
        return [
            str(p)
            for p in (named.parent, real.parent, *trees)
            if not any(inside(p, s) for s in _SYSTEM) and not any(inside(own, p) for own in private)
        ]


def _read(process: subprocess.Popen, request: bytes, until: float, most: int) -> tuple[bytes, bytes]:
    """Standard output whole, and the end of standard error. Raises TimeoutError, and Stopped where it says more than `most`."""
    out, errors = bytearray(), bytearray()
    with contextlib.suppress(BrokenPipeError), process.stdin:
        process.stdin.write(request)  # shorter than a pipe holds
    with selectors.DefaultSelector() as waiting:
        waiting.register(process.stdout, selectors.EVENT_READ, out)
        waiting.register(process.stderr, selectors.EVENT_READ, errors)
        while waiting.get_map():
            if (left := until - time.monotonic()) <= 0:
                raise TimeoutError
            for key, _ in waiting.select(left):
                chunk = os.read(key.fd, 1 << 16)
                if not chunk:
                    waiting.unregister(key.fileobj)
                key.data.extend(chunk)
            if len(out) > most:
                raise Stopped(f"it answered more than {most} bytes")
            del errors[:-ERRORS]
    return bytes(out), bytes(errors)
