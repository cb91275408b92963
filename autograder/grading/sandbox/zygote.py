"""The warm parent inside the sandbox: it has NumPy loaded, knows nothing of the course, and forks one process a fill.

Run by launch.py as `python -c ... CONFIG`; CONFIG is JSON: {"fd", "isolate", "root", "modules", "uid"}.
It hides itself from the machine (launch.py's bubblewrap has done so already, or `isolate` asks for namespaces and an empty root),
says hello, then obeys one-byte commands on its control socket: b"f" with a descriptor forks a fill process that serves that
descriptor, b"t" forks one that tries to break out and reports, b"k" ends the process now running. End of file ends the zygote.
"""

import ctypes
import gc
import importlib
import json
import os
import resource
import select
import signal
import socket
import sys
import unicodedata  # noqa: F401 - the compiler imports it for a name that is not ASCII

import codec
import program
import seccomp

_NEWNS, _NEWUTS, _NEWIPC, _NEWUSER, _NEWPID, _NEWNET = 0x20000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000
_PR_SET_PDEATHSIG, _PR_SET_NO_NEW_PRIVS = 1, 38
_NOBODY = 65534


def _unshare(libc):
    """Own namespaces: with a user namespace where allowed, without one when already privileged. Returns the names that hold."""
    if not hasattr(libc, "unshare"):
        return []  # not Linux
    flags = _NEWNS | _NEWUTS | _NEWIPC | _NEWPID | _NEWNET
    if libc.unshare(_NEWUSER | flags) == 0 or libc.unshare(flags) == 0:
        return ["network", "processes", "mounts"]
    return []


def _enter_pid_namespace():
    """The first process forked after unshare is pid 1 of the new namespace; with it all others die. The outer one waits and leaves."""
    pid = os.fork()
    if pid:
        os.waitpid(pid, 0)
        os._exit(0)


def _die_with_parent(libc, parent):
    """From here on the kernel ends this process when its parent dies. parent: its number before the fork, None where it cannot be seen from
    here. After _drop(), which would undo it. Where there is no such call (not Linux) the grader's own look at the parent has to do."""
    if hasattr(libc, "prctl"):
        libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if parent is not None and os.getppid() != parent:  # it died before the call
            os._exit(0)


def _hide(root):
    """An empty, read-only directory as the only file system."""
    try:
        os.chroot(root)
        os.chdir("/")
        return True
    except (OSError, AttributeError):
        return False


def _drop(libc):
    """No privileges from here on: neither user 0 nor capabilities."""
    try:
        if os.geteuid() == 0:
            os.setgroups([])
            os.setresgid(_NOBODY, _NOBODY, _NOBODY)
            os.setresuid(_NOBODY, _NOBODY, _NOBODY)
    except (OSError, AttributeError):
        pass  # in a user namespace with no mapping there is nobody else to become
    try:
        header = (ctypes.c_uint32 * 2)(0x20080522, 0)
        libc.capset(header, (ctypes.c_uint32 * 6)())
        libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    except AttributeError:
        pass  # not Linux


def confine(config):
    """Do what bubblewrap has not done. Returns what holds, as names."""
    libc = ctypes.CDLL(None, use_errno=True)
    holds = []
    if config["isolate"]:
        holds = _unshare(libc)
        if holds:
            _enter_pid_namespace()
        if _hide(config["root"]):
            holds.append("files")
    _drop(libc)
    if (
        "processes" in holds
    ):  # in namespaces of its own the process that the grader started is the one outside, which only waits
        _die_with_parent(libc, None)
    return holds


def limit(limits):
    """Limits of one fill process. Memory counts what it allocates beyond the interpreter and NumPy."""
    cpu, memory = int(limits["cpu_s"]), int(limits["memory_mb"]) << 20
    wanted = {
        "RLIMIT_CPU": (cpu, cpu + 1),
        "RLIMIT_DATA": (memory + (64 << 20),) * 2,
        "RLIMIT_AS": (memory + (2 << 30),) * 2,
        "RLIMIT_FSIZE": (0, 0),
        "RLIMIT_NPROC": (0, 0),
        "RLIMIT_CORE": (0, 0),
        "RLIMIT_NOFILE": (8, 8),
    }
    held = []
    for name, value in wanted.items():
        try:
            resource.setrlimit(getattr(resource, name), value)
            held.append(name)
        except (AttributeError, ValueError, OSError):
            pass  # the self-test reports what is missing
    return held


def _become_fill_process(fd, limits, parent):
    """In the child: it ends with its parent; own session, no descriptor but `fd` (moved to 3) and /dev/null, limits, system-call filter."""
    _die_with_parent(ctypes.CDLL(None), parent)
    os.setsid()
    os.dup2(fd, 3)
    os.closerange(4, 256)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    held = limit(limits)
    locked = False
    if seccomp.supported():
        try:
            seccomp.lock()
            locked = True
        except OSError:
            pass
    return held, locked


def _attempt(action):
    """True if the action was refused."""
    try:
        action()
    except (OSError, MemoryError, ValueError):
        return True
    return False


def self_test(paths, limits, parent):
    """In a fill process: try what a hostile fill would, and report what was refused."""
    held, locked = _become_fill_process(3, limits, parent)

    def start_process():
        if os.fork() == 0:
            os._exit(0)

    def reach_network():
        s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        s.connect(("192.0.2.1", 9))  # documentation address: no packet is sent, but a route must exist

    def write_file():
        os.close(os.open("/tmp/sandbox-self-test", os.O_CREAT | os.O_WRONLY, 0o600))
        os.unlink("/tmp/sandbox-self-test")

    return {
        "files": all(
            _attempt(lambda p=p: os.stat(p)) and _attempt(lambda p=p: os.close(os.open(p, os.O_RDONLY))) for p in paths
        ),
        "network": _attempt(reach_network),
        "processes": _attempt(start_process),
        "signals": _attempt(lambda: os.kill(os.getppid(), 0)),
        "writing": _attempt(write_file),
        "memory": _attempt(lambda: bytearray((int(limits["memory_mb"]) << 20) + (256 << 20))),
        "cpu": "RLIMIT_CPU" in held,
        "syscalls": locked,
    }


def _wait(control, pid):
    """Wait for the child; b"k" or end of file on the control socket ends it. Returns (status, usage)."""
    pidfd = os.pidfd_open(pid) if hasattr(os, "pidfd_open") else None
    try:
        while True:
            if pidfd is None:
                done, status, usage = os.wait4(pid, os.WNOHANG)
                if done:
                    return status, usage
                ready = select.select([control], [], [], 0.005)[0]
            else:
                ready = select.select([control, pidfd], [], [])[0]
            if control in ready:
                control.recv(1)  # b"k", or b"" when the grader is gone
                _kill(pid)
                return os.wait4(pid, 0)[1:]
            if pidfd in ready:
                return os.wait4(pid, 0)[1:]
    finally:
        if pidfd is not None:
            os.close(pidfd)


def _kill(pid):
    for end in (os.killpg, os.kill):
        try:
            end(pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass  # not yet a group leader, or already gone


def serve(control, config):
    """Obey commands until the grader closes the socket."""
    while True:
        command, fds, _, _ = socket.recv_fds(control, 1, 1)
        if not command:
            return
        if command not in (b"f", b"t") or not fds:
            continue  # a late b"k": its process is already gone
        parent, pid = os.getpid(), os.fork()
        if pid == 0:
            try:
                control.close()
                os.dup2(fds[0], 3)
                if command == b"t":
                    program.write_frame(3, codec.encode(self_test(config["paths"], config["limits"], parent)))
                else:
                    _become_fill_process(3, config["limits"], parent)
                    program.run(3)
            finally:
                os._exit(0)
        os.close(fds[0])
        status, usage = _wait(control, pid)
        report = {
            "signal": os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0,
            "cpu_s": usage.ru_utime + usage.ru_stime,
            "rss": usage.ru_maxrss,
        }
        control.sendall(json.dumps(report).encode() + b"\n")


def main():
    config = json.loads(sys.argv[1])
    control = socket.socket(fileno=config["fd"])
    for name in config["modules"]:
        try:
            importlib.import_module(name)
        except ImportError:
            pass
    program.MODULES.update((n, sys.modules[n]) for n in config["modules"] if n in sys.modules)
    holds = confine(config)
    os.dup2(0, 2)  # /dev/null, opened for reading and writing: nothing that is printed goes anywhere
    gc.collect()
    gc.freeze()  # shared pages stay shared after fork
    control.sendall(json.dumps({"holds": holds}).encode() + b"\n")
    try:
        serve(control, config)
    finally:
        os._exit(0)
