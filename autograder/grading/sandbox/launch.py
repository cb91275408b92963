"""Starting the sandbox and talking to it: the grader's side of zygote.py and program.py."""

from __future__ import annotations

import ast
import json
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import sysconfig
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from autograder.errors import CourseError
from autograder.grading.sandbox import codec, syntax
from autograder.grading.sandbox.protections import PROTECTIONS, Protections

HERE = Path(__file__).resolve().parent
UNSAFE_ENV = "COURSE_UNSAFE_SANDBOX"
_FILES = ("zygote.py", "program.py", "codec.py", "syntax.py", "seccomp.py")
# What a released exercise cell may import; the student's own imports are fewer (names.py).
_MODULES = [
    "numpy",
    "numpy.linalg",
    "numpy.fft",
    "ml_dtypes",
    "math",
    "cmath",
    "dataclasses",
    "typing",
    "collections",
    "itertools",
    "functools",
    "enum",
]
_MODULES += ["fractions", "operator", "sys", "warnings"]
# All of the environment. The hash seed: what hangs on the order of a set comes out the same in every sandbox, for every student.
_ENVIRONMENT = {n: "1" for n in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")} | {
    "PYTHONHASHSEED": "0"
}
_PYTHON = ["-s", "-P", "-S", "-B", "-c"]  # as -I, but that the environment above is read
_START = "import sys; sys.path[:0] = {paths!r}; import zygote; zygote.main()"


@dataclass(frozen=True)
class Limits:
    """Of one fill process. cpu_s, wall_s: seconds for all its calls together. memory_mb: MiB beyond interpreter and NumPy."""

    cpu_s: int = 2
    wall_s: float = 8.0
    memory_mb: int = 256


@dataclass(frozen=True)
class Reply:
    """What a call gave. kind: value, raised, not_plain, timeout, starved, killed, memory, crashed or violation (broke the protocol).

    starved: the time was up and the machine had given it less than half of its CPU seconds. killed: something else on the machine ended
    it (the system short of memory, say), for it may send no signal and had CPU seconds left. Neither says anything about the fill.

    detail: the exception's or type's name, never its text (a text could carry a hidden input out).
    touched: probes that were used. changed: arguments that the call wrote into.
    """

    kind: str
    value: object = None
    detail: str = ""
    touched: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()


@dataclass(frozen=True)
class Room:
    """How much a reply may hold: numbers, strings, arrays and containers together, and bytes. What is larger comes as "not_plain"."""

    items: int = codec.MAX_ITEMS
    bytes: int = codec.MAX_BYTES


class Broken(Exception):
    """The warm parent itself died or does not answer (start another), or the machine would not let the fill run."""


class Sandbox:
    """A warm parent that runs one program at a time, each in a fresh process. Use as a context manager, or close() it.

    method: "bubblewrap", "own" (namespaces and an empty root made here, as far as the machine allows), "filter" (limits and the
    system-call filter only) or None for the first of them that works. Raises CourseError where the machine cannot keep a fill away from files, network, processes, memory and
    time, unless allow_unsafe (or the environment's COURSE_UNSAFE_SANDBOX=1) says to go on.
    """

    def __init__(
        self,
        method: str | None = None,
        limits: Limits = Limits(),
        *,
        allow_unsafe: bool | None = None,
        hidden: tuple[Path, ...] = (),
    ):
        if not hasattr(os, "fork"):
            raise CourseError(
                "Grading needs a Unix system: this one cannot fork a process.",
                remedy="Grade on Linux, macOS, or in WSL on Windows.",
            )
        self.limits, self._hidden = limits, hidden
        self._process: subprocess.Popen | None = None
        self._control: socket.socket | None = None
        self._running = False
        self._link: socket.socket | None = None  # to the process that runs or ran last
        unsafe = os.environ.get(UNSAFE_ENV) == "1" if allow_unsafe is None else allow_unsafe
        failures = []
        for name in (
            [method] if method else ["bubblewrap", "own"]
        ):  # "own" comes down to "filter" where the machine allows no more
            try:
                self._start(name)
                self.protections = self._self_test(name)
            except (Broken, OSError) as e:
                failures.append(f"{name}: {e}")
                self.close()
                continue
            if self.protections.sufficient or (unsafe and name in (method, "own")):
                self._method = name
                return
            failures.append(f"{name}: no protection of {', '.join(self.protections.missing)}")
            self.close()
        raise CourseError(
            f"This machine offers no sandbox for students' code ({'; '.join(failures)}).",
            remedy=f"Install bubblewrap (Debian, Ubuntu: apt install bubblewrap) or grade on Linux x86-64 or aarch64. {UNSAFE_ENV}=1 grades without it: only for submissions you trust.",
        )

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the warm parent and whatever it runs."""
        if self._control is not None:
            self._control.close()
            self._control = None
        if self._process is not None:
            try:
                self._process.wait(1)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
            self._process = None
        self._running, self._link = False, None

    def program(self, program: ast.Module | str, function: str, builtins: list[str], room: Room = Room()) -> Session:
        """A fresh process that holds `function` of the program (its tree, or its source). A dead warm parent is started anew once."""
        tree = ast.parse(program) if isinstance(program, str) else program
        for attempt in (0, 1):
            try:
                return Session(
                    self,
                    self._fork(b"f"),
                    {
                        "program": syntax.dumps(tree),
                        "function": function,
                        "builtins": builtins,
                        "room": [room.items, room.bytes],
                    },
                )
            except (Broken, OSError) as e:
                self.close()
                if attempt:
                    raise Broken(str(e)) from e
                self._start(self._method)
        raise AssertionError  # the loop returns or raises

    # -- the warm parent ------------------------------------------------------------------------------------------------

    def _start(self, method: str) -> None:
        ours, theirs = socket.socketpair()
        root = tempfile.mkdtemp(prefix="course-sandbox-") if method == "own" else ""
        config = {
            "fd": theirs.fileno(),
            "isolate": method == "own",
            "root": root,
            "modules": _MODULES,
            "paths": [str(p) for p in (HERE, *_files_at_home(), Path("/etc/passwd"), *self._hidden)],
            "limits": {"cpu_s": self.limits.cpu_s, "memory_mb": self.limits.memory_mb},
        }
        command, environment = _bubblewrap(json.dumps(config)) if method == "bubblewrap" else _own(json.dumps(config))
        with tempfile.TemporaryFile() as errors:
            try:
                self._process = subprocess.Popen(
                    command,
                    env=environment,
                    cwd="/",
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=errors,
                    pass_fds=[theirs.fileno()],
                    start_new_session=True,
                )
            finally:
                theirs.close()
            self._control = ours
            try:
                self._holds = self._report(20.0)["holds"]
            except Broken:
                errors.seek(0)
                text = errors.read(4000).decode(errors="replace").strip().split("\n")[-1]
                raise Broken(text or "it did not start") from None
            finally:
                if root:
                    os.rmdir(
                        root
                    )  # the sandbox stands in it: a directory that exists no more and in which nothing can be made

    def _report(self, timeout: float) -> dict:
        """One line of JSON from the warm parent."""
        self._control.settimeout(timeout)
        data = b""
        try:
            while not data.endswith(b"\n"):
                part = self._control.recv(4096)
                if not part:
                    raise Broken("the sandbox ended")
                data += part
            return json.loads(data)
        except (TimeoutError, OSError, ValueError) as e:
            raise Broken(f"the sandbox does not answer ({type(e).__name__})") from None

    def _fork(self, command: bytes) -> socket.socket:
        if self._control is None or self._process.poll() is not None:
            raise Broken("closed")
        self.finish()
        ours, theirs = socket.socketpair()
        try:
            socket.send_fds(self._control, [command], [theirs.fileno()])
        except OSError as e:
            ours.close()
            raise Broken(str(e)) from None
        finally:
            theirs.close()
        self._running, self._link = True, ours
        return ours

    def serves(self, link: socket.socket) -> bool:
        """Whether the process behind this link is the one that runs now, under a warm parent that is alive."""
        return link is self._link and self._process.poll() is None

    def finish(self, kill: bool = False) -> dict:
        """Wait for the running process to end (it does when its descriptor is closed), by force if it lingers. Returns its report, with
        "forced" where force was used. Raises Broken."""
        if not self._running:
            return {}
        if self._control is None:
            raise Broken("closed")
        for timeout in (5.0,) if kill else (0.5, 5.0):
            try:
                if kill:
                    self._control.sendall(b"k")
                report = self._report(timeout)
                self._running = False
                return report | {"forced": kill}
            except (Broken, OSError) as e:
                if kill:
                    raise Broken(str(e)) from None
                kill = True
        raise Broken("the running process cannot be ended")

    def _self_test(self, method: str) -> Protections:
        with self._fork(b"t") as link:
            data = _receive(link, time.monotonic() + 20.0)
        report = self.finish()
        if not isinstance(data, bytes):
            raise Broken(f"the self-test gave nothing (signal {report.get('signal')})")
        held = codec.decode(data)
        return Protections(method, tuple(self._holds), {n: bool(held.get(n)) for n in PROTECTIONS})


@dataclass
class Session:
    """One fill process. Its time runs while it is waited for: what the grader does with a reply is not the fill's doing."""

    sandbox: Sandbox
    link: socket.socket
    spec: dict
    dead: Reply | None = field(default=None, init=False)

    def __post_init__(self):
        self._left = self.sandbox.limits.wall_s
        reply = self._exchange(codec.encode(self.spec))
        if reply is not None and reply[0] == "raised":
            self.dead = _raised(reply[1])
        elif reply != ("ready",) and self.dead is None:
            self._end("violation")

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.link.close()

    def call(self, args: dict) -> Reply:
        """Call the function with these arguments. Once the process has died, every later call gives the same Reply.

        Raises Broken, then and at every later call, where the warm parent has died: its processes die with it, so that an end says
        nothing about the fill."""
        if self.dead is not None:
            return self.dead
        if not self.sandbox.serves(self.link):
            raise Broken("its warm parent ended")
        reply = self._exchange(codec.encode(args))
        if reply is None:
            return self.dead
        match reply:
            case ("value", value, list(touched), list(changed)):
                return Reply("value", value, touched=_names(touched), changed=_names(changed))
            case ("raised", str(name), list(touched), list(changed)):
                return _raised(name, _names(touched), _names(changed))
            case ("not_plain", str(what), list(touched), list(changed)):
                return Reply("not_plain", detail=what[:80], touched=_names(touched), changed=_names(changed))
        self._end("violation")
        return self.dead

    def _exchange(self, data: bytes) -> tuple | None:
        """Send one frame and read one; None, with `dead` set, when the process does not play by the rules."""
        began = time.monotonic()
        deadline = began + self._left
        try:
            self.link.settimeout(max(0.0, self._left) or 0.001)
            self.link.sendall(struct.pack("!I", len(data)) + data)
        except OSError:
            self._end("crashed")
            return None
        got = _receive(self.link, deadline)
        self._left -= time.monotonic() - began
        if isinstance(got, str):
            self._end(got)
            return None
        try:
            reply = codec.decode(got, max_items=self.spec["room"][0])
        except codec.BadData:
            self._end("violation")
            return None
        return reply if isinstance(reply, tuple) and reply else ("",)

    def _end(self, kind: str) -> None:
        self.link.close()
        try:
            if not self.sandbox.serves(self.link):
                raise Broken("its warm parent ended")
            report = self.sandbox.finish(kill=kind != "crashed")
        except Broken:
            self.sandbox.close()
            raise
        used, limit = report["cpu_s"], self.sandbox.limits.cpu_s
        match kind, report["signal"]:
            case "crashed", signal.SIGXCPU:
                kind = "timeout"
            case "crashed", signal.SIGKILL | signal.SIGTERM if not report[
                "forced"
            ]:  # SIGKILL is also the CPU limit's hard end, a second later
                kind = "timeout" if used >= limit else "killed"
            case "timeout", _ if used < limit / 2:
                kind = "starved"
        self.dead = Reply(kind)


def _receive(link: socket.socket, deadline: float) -> bytes | str:
    """One frame, or "timeout", "crashed" (end of file) or "violation" (a length above the limit)."""
    parts: list[bytes] = []
    have, need = 0, 0  # bytes; need: of the whole frame, 0 until its head is there
    try:
        while True:
            left = deadline - time.monotonic()
            if left <= 0:
                return "timeout"
            link.settimeout(left)
            part = link.recv(1 << 16)
            if not part:
                return "crashed"
            have += len(part)
            parts.append(part)
            if not need and have >= 4:
                parts = [b"".join(parts)]
                need = 4 + struct.unpack("!I", parts[0][:4])[0]
                if not 4 < need <= 4 + codec.MAX_BYTES:
                    return "violation"
            if need and have >= need:
                return b"".join(parts)[4:] if have == need else "violation"
    except TimeoutError:
        return "timeout"
    except OSError:
        return "crashed"


def _raised(name: object, touched: tuple[str, ...] = (), changed: tuple[str, ...] = ()) -> Reply:
    return Reply("memory" if name == "MemoryError" else "raised", detail=_name(name), touched=touched, changed=changed)


def _name(text: object) -> str:
    return text[:40] if isinstance(text, str) and text.isidentifier() else "Exception"


def _names(touched: list) -> tuple[str, ...]:
    return tuple(t for t in touched[:16] if isinstance(t, str))


# -- the two ways to start it -----------------------------------------------------------------------------------------------


def _files_at_home() -> list[Path]:
    """One file of the home folder, to be looked for from inside; the folder's name alone says nothing."""
    try:
        return [p for p in sorted(Path.home().iterdir()) if p.is_file()][:1]
    except (OSError, RuntimeError):
        return []


def _packages() -> list[Path]:
    """NumPy and what it needs beside it."""
    found = [Path(np.__file__).resolve().parent]
    found += [p for p in found[0].parent.glob("numpy.libs") if p.is_dir()]
    if codec._NARROW:
        import ml_dtypes

        found.append(Path(ml_dtypes.__file__).resolve().parent)
    return found


def _own(config: str) -> tuple[list[str], dict[str, str]]:
    python = os.path.realpath(sys.executable)
    paths = [str(HERE), *dict.fromkeys(str(p.parent) for p in _packages())]
    return [python, *_PYTHON, _START.format(paths=paths), config], dict(_ENVIRONMENT)


def _bubblewrap(config: str) -> tuple[list[str], dict[str, str]]:
    bwrap = shutil.which("bwrap")
    if bwrap is None:
        raise Broken("not installed")
    python = os.path.realpath(sys.executable)
    stdlib = Path(sysconfig.get_path("stdlib")).resolve()
    visible = [Path(p) for p in ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/etc/ld.so.cache") if Path(p).exists()]
    libdir = Path(sysconfig.get_config_var("LIBDIR") or stdlib.parent).resolve()
    visible += [p for p in (libdir, stdlib) if p.is_dir()]
    args = [
        bwrap,
        "--unshare-all",
        "--die-with-parent",
        "--new-session",
        "--as-pid-1",
        "--clearenv",
        "--uid",
        "65534",
        "--gid",
        "65534",
    ]
    for path in visible:
        args += ["--ro-bind", str(path), str(path)]
    for packages in (stdlib / "site-packages", stdlib / "dist-packages"):
        if packages.is_dir():
            args += ["--tmpfs", str(packages)]
    course = HERE.parents[2]
    if any(course.is_relative_to(p) for p in visible):
        args += ["--tmpfs", str(course)]
    args += ["--ro-bind", python, python, "--dev-bind", "/dev/null", "/dev/null", "--dir", "/empty"]
    for name in _FILES:
        args += ["--ro-bind", str(HERE / name), f"/sandbox/{name}"]
    for package in _packages():
        args += ["--ro-bind", str(package), f"/packages/{package.name}"]
    for name, value in _ENVIRONMENT.items():
        args += ["--setenv", name, value]
    args += [
        "--remount-ro",
        "/",
        "--chdir",
        "/empty",
        python,
        *_PYTHON,
        _START.format(paths=["/sandbox", "/packages"]),
        config,
    ]
    return args, {"PATH": os.defpath}
