"""A system-call allow-list for the process that runs a student's fill (Linux on x86-64 and aarch64).

After `lock()` the process can compute, use memory, and read and write the descriptors it already holds; it cannot open a file,
make a socket, start a process or thread, signal another process, or load a program. Refused calls fail with EPERM.
The sandbox loads this file on its own: standard library only. Call numbers: the kernel's syscall tables.
"""

import ctypes
import errno
import platform
import struct

# architecture -> (AUDIT_ARCH value, allowed calls)
_X86_64 = {
    "read": 0,
    "write": 1,
    "close": 3,
    "lseek": 8,
    "mmap": 9,
    "mprotect": 10,
    "munmap": 11,
    "brk": 12,
    "rt_sigaction": 13,
    "rt_sigprocmask": 14,
    "rt_sigreturn": 15,
    "mremap": 25,
    "madvise": 28,
    "sched_yield": 24,
    "getpid": 39,
    "exit": 60,
    "getrusage": 98,
    "gettimeofday": 96,
    "sigaltstack": 131,
    "gettid": 186,
    "futex": 202,
    "clock_gettime": 228,
    "exit_group": 231,
    "getrandom": 318,
}
_AARCH64 = {
    "read": 63,
    "write": 64,
    "close": 57,
    "lseek": 62,
    "mmap": 222,
    "mprotect": 226,
    "munmap": 215,
    "brk": 214,
    "rt_sigaction": 134,
    "rt_sigprocmask": 135,
    "rt_sigreturn": 139,
    "mremap": 216,
    "madvise": 233,
    "sched_yield": 124,
    "getpid": 172,
    "exit": 93,
    "getrusage": 165,
    "gettimeofday": 169,
    "sigaltstack": 132,
    "gettid": 178,
    "futex": 98,
    "clock_gettime": 113,
    "exit_group": 94,
    "getrandom": 278,
}
_ARCHES = {"x86_64": (0xC000003E, _X86_64), "aarch64": (0xC00000B7, _AARCH64)}
# What forbid() takes away: starting, tracing and joining processes, sockets, and the parts of the kernel that attacks go through.
_FORBIDDEN = {
    "x86_64": {
        "clone": 56, "fork": 57, "vfork": 58, "clone3": 435, "ptrace": 101, "process_vm_readv": 310, "process_vm_writev": 311, "pidfd_open": 434, "pidfd_getfd": 438, "socket": 41,
        "socketpair": 53, "unshare": 272, "setns": 308, "mount": 165, "pivot_root": 155, "open_by_handle_at": 304, "bpf": 321, "perf_event_open": 298, "userfaultfd": 323, "io_uring_setup": 425,
        "add_key": 248, "request_key": 249, "keyctl": 250,
    },
    "aarch64": {
        "clone": 220, "clone3": 435, "ptrace": 117, "process_vm_readv": 270, "process_vm_writev": 271, "pidfd_open": 434, "pidfd_getfd": 438, "socket": 198, "socketpair": 199, "unshare": 97,
        "setns": 268, "mount": 40, "pivot_root": 41, "open_by_handle_at": 265, "bpf": 280, "perf_event_open": 241, "userfaultfd": 282, "io_uring_setup": 425, "add_key": 217, "request_key": 218,
        "keyctl": 219,
    },
}  # fmt: skip

_LOAD, _JUMP_EQ, _JUMP_GE, _RETURN = 0x20, 0x15, 0x35, 0x06
_ALLOW, _ERRNO, _KILL = 0x7FFF0000, 0x00050000, 0x80000000
_PR_SET_NO_NEW_PRIVS, _PR_SET_SECCOMP, _MODE_FILTER = 38, 22, 2


def supported():
    """Is there a filter for this machine's architecture?"""
    return platform.system() == "Linux" and platform.machine() in _ARCHES


def _program(audit_arch, calls, allow=True):
    """The filter: wrong architecture -> kill, x32 numbers -> EPERM; of the rest the calls are allowed and no others, or (not allow) the reverse."""
    deny = _ERRNO | errno.EPERM
    listed, others = (_ALLOW, deny) if allow else (deny, _ALLOW)
    numbers = sorted(calls.values())
    ops = [
        (_LOAD, 0, 0, 4),
        (_JUMP_EQ, 1, 0, audit_arch),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, 0),
        (_JUMP_GE, 0, 1, 0x40000000),
        (_RETURN, 0, 0, deny),
    ]
    for i, number in enumerate(numbers):
        ops.append(
            (_JUMP_EQ, len(numbers) - i, 0, number)
        )  # forward to the last verdict, past the remaining tests and the other one
    ops += [(_RETURN, 0, 0, others), (_RETURN, 0, 0, listed)]
    return b"".join(struct.pack("HBBI", *op) for op in ops), len(ops)


class _Prog(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_void_p)]


def lock():
    """Apply the filter to this process for good. Raises OSError where the kernel refuses it."""
    arch, calls = _ARCHES[platform.machine()]
    _apply(_program(arch, calls))


def forbid():
    """The other way round, for a program that needs files: all calls but those of _FORBIDDEN, for this process and what it becomes. Raises OSError."""
    _apply(_program(_ARCHES[platform.machine()][0], _FORBIDDEN[platform.machine()], allow=False))


def _apply(program):
    code, length = program
    buffer = ctypes.create_string_buffer(code)
    prog = _Prog(length, ctypes.cast(buffer, ctypes.c_void_p))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or libc.prctl(
        _PR_SET_SECCOMP, _MODE_FILTER, ctypes.byref(prog), 0, 0
    ):
        code = ctypes.get_errno()
        raise OSError(code, "seccomp: " + errno.errorcode.get(code, "?"))
