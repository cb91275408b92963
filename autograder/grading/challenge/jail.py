"""A jail for native code: bubblewrap with the system, Python and the kernels package read-only, no network, an empty scratch folder.

The fill sandbox (grading/sandbox) has no files at all, so no compiler runs in it; this one has a compiler, and neither the course's
lessons nor submissions nor the gradebook.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import kernels
from autograder.errors import CourseError

HERE = Path(__file__).resolve().parent
MAX_OUT = 256 << 20


class Stopped(Exception):
    """The jail's process ended without a result: at its time limit, or killed. The text says which."""


class Jail:
    """Runs inside.py once a call. Raises CourseError where the machine has no bubblewrap that works."""

    def __init__(self, seconds: float = 150.0):
        self.seconds = seconds
        self._bwrap = shutil.which("bwrap")
        if self._bwrap is None:
            raise CourseError("Challenge lines are compiled and run in bubblewrap, which is not here.", remedy="Install it (Debian, Ubuntu: apt install bubblewrap), or grade without --challenges.")
        from kernels.emulator.toolchain import runner

        self._runner = runner()  # built outside, once
        probe = subprocess.run([*self._command(), sys.executable, "-c", "print('in')"], capture_output=True, text=True, timeout=60)
        if probe.stdout.strip() != "in":
            raise CourseError(f"bubblewrap does not start here: {probe.stderr.strip()[-300:]}", remedy="Let it make namespaces (in a container: --privileged or a seccomp profile that allows unshare), or grade without --challenges.")

    def run(self, request: bytes) -> bytes:
        """What inside.py answers to a request. Raises Stopped."""
        command = [*self._command(), sys.executable, "-B", "/jail/inside.py"]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True) as process:
            try:
                out, errors = process.communicate(request, timeout=self.seconds)
            except subprocess.TimeoutExpired:
                process.kill()  # all that runs in its process namespace ends with it
                process.communicate()
                raise Stopped(f"stopped after {self.seconds:.0f} s") from None
        if process.returncode or not out or len(out) > MAX_OUT:
            raise Stopped(errors.decode(errors="replace").strip()[-300:] or f"exit status {process.returncode}")
        return out

    def _command(self) -> list[str]:
        """The beginning of a bubblewrap command line."""
        package = Path(kernels.__file__).resolve().parent
        args = [self._bwrap, "--unshare-all", "--die-with-parent", "--new-session", "--clearenv", "--uid", "65534", "--gid", "65534", "--proc", "/proc", "--dev", "/dev"]
        for path in ("/usr", "/bin", "/lib", "/lib64", "/etc/ld.so.cache", "/etc/alternatives"):
            if os.path.islink(path):
                args += ["--symlink", os.readlink(path), path]
            elif os.path.exists(path):
                args += ["--ro-bind", path, path]
        args += ["--tmpfs", "/tmp", "--dir", "/jail/cache"]
        for path in dict.fromkeys(str(Path(p)) for p in (sys.base_prefix, sys.prefix, os.path.dirname(os.path.realpath(sys.executable)), sysconfig.get_config_var("LIBDIR") or "") if p):
            if os.path.isdir(path) and not path.startswith("/usr/"):
                args += ["--ro-bind", path, path]
        args += ["--tmpfs", "/jail/cache", "--ro-bind", str(self._runner), f"/jail/cache/{self._runner.name}"]
        args += ["--ro-bind", str(HERE / "inside.py"), "/jail/inside.py", "--ro-bind", str(package), "/jail/kernels"]
        named = {"PATH": os.defpath + ":/usr/local/bin", "HOME": "/tmp", "KERNELS_CACHE": "/jail/cache", "KERNELS_BACKEND": "emulator", "OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": "/jail", "LC_ALL": "C.UTF-8"}
        if os.environ.get("KERNELS_CXX"):
            named["KERNELS_CXX"] = os.environ["KERNELS_CXX"]
        for name, value in named.items():
            args += ["--setenv", name, value]
        return [*args, "--remount-ro", "/", "--chdir", "/tmp"]
