"""The Python side: building, arguments, errors, reports, and that no kernel can bring its caller down."""

import errno
import os
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from emulator_sources import compiled, line_of

from kernels import KernelError, TensorMap
from kernels.emulator import (
    EmulatorArgumentError,
    EmulatorCompileError,
    EmulatorCrash,
    EmulatorError,
    EmulatorMisuse,
    EmulatorOutOfBounds,
    EmulatorTimeout,
    EmulatorUnavailable,
    available,
    build,
    launch_folder,
    process,
    toolchain,
)
from kernels.emulator.lines import line_of as line_in_library

SOURCE = """#include "hopper.cuh"
extern "C" __global__ void mix(const float* x, float* y, int n, float scale, uint64_t big, double fine, uint8_t small, bool flag) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = flag ? x[i] * scale + (float)big + (float)fine + small : -1;
}
extern "C" __global__ void null_is_null(const float* c, float* out) { out[0] = c == nullptr; }
extern "C" __global__ void twice(float* x, float* y) { y[threadIdx.x] = x[threadIdx.x] * 2; }
extern "C" __global__ void takes_map(const __grid_constant__ TensorMap map, int n) {}
extern "C" __global__ void divides(int* x) { x[0] = x[1] / x[2]; }                       // divide
HOPPER_FN int deep(volatile int* p, int n) { volatile char big[4096]; big[n & 4095] = 1; return n ? deep(p, n - 1) + big[0] : *p; }   // recursion
extern "C" __global__ void recurses(int* x) { x[0] = deep(x + 1, 1000); }
extern "C" __global__ void traps() { __trap(); }                                         // trap
extern "C" __global__ void spins() { for (;;) {} }                                       // spin
extern "C" __global__ void dies(int* x) { *(volatile int*)(uintptr_t)x[0] = 1; }
"""
ENTRIES = ["mix", "null_is_null", "twice", "takes_map", "divides", "recurses", "traps", "spins", "dies"]


@pytest.fixture(scope="module")
def module():
    return compiled("launch", SOURCE, *ENTRIES)


def test_arguments_of_every_kind(module):
    x, y = np.arange(10, dtype=np.float32), np.zeros(10, np.float32)
    module.launch(
        "mix", 2, 8, [x, y, np.int32(9), np.float32(2), np.uint64(1), np.float64(0.5), np.uint8(3), np.bool_(True)]
    )
    np.testing.assert_array_equal(y, [*(x[:9] * 2 + 4.5), 0])
    module.launch("mix", 2, 8, [x, y, 10, 2.0, 1, 0.5, 3, True])  # Python numbers take the parameter's type
    np.testing.assert_array_equal(y, x * 2 + 4.5)
    out = np.zeros(1, np.float32)
    module.launch("mix", 2, 8, [x, y, 10, float("inf"), 1, float("nan"), 3, True])
    assert np.isnan(y).all()
    module.launch("null_is_null", 1, 1, [None, out])
    assert out[0] == 1


MAP = TensorMap(np.zeros((4, 4), np.float32), (4, 4), 0)


@pytest.mark.parametrize(
    "entry,args,message",
    [
        ("twice", [np.zeros(4, np.float32)], "2 parameters; the launch gives 1"),
        ("twice", [np.zeros(4, np.float32), 3], "parameter 2 is a pointer of 8 bytes; the argument is the int 3"),
        ("takes_map", [np.zeros((4, 4), np.float32), 3], "parameter 1 is a TensorMap"),
        (
            "takes_map",
            [TensorMap(np.zeros((4, 4), np.float32), (4, 4), 0), np.int64(3)],
            "parameter 2 is an integer of 4 bytes; the argument is int64",
        ),
        ("twice", [np.zeros((4, 4), np.float32).T, np.zeros(16, np.float32)], "not C-contiguous"),
        ("twice", ["text", None], "is a str"),
        ("takes_map", [TensorMap(np.zeros((2, 4, 4), np.float32), (1, 4, 4), 0), 3], "two-dimensional"),
        ("absent", [], "'absent' is not one of them"),
        ("takes_map", [MAP, 2**32], "parameter 2 is an integer of 4 bytes; the argument is the int 4294967296"),
        ("takes_map", [MAP, 2**63], "does not fit a signed 64-bit integer"),
        ("takes_map", [MAP, float("nan")], "the argument is the float nan"),
    ],
)
def test_arguments_that_do_not_fit(module, entry, args, message):
    with pytest.raises(EmulatorArgumentError, match=message):
        module.launch(entry, 1, 4, args)


def test_policy_and_extent_are_checked(module):
    with pytest.raises(EmulatorArgumentError, match="policy is one of friendly"):
        module.launch("traps", 1, 1, [], policy="fair")
    for grid in ((1, 1, 1, 1), "x", (1, 1.5), -1):
        with pytest.raises(EmulatorArgumentError, match="one to three whole numbers"):
            module.launch("traps", grid, 1, [])
    for option in ({"smem": -1}, {"registers": 1.5}, {"seed": None}, {"sms": 0}, {"timeout": float("nan")}):
        with pytest.raises(EmulatorArgumentError, match=next(iter(option))):
            module.launch("traps", 1, 1, [], **option)
    with pytest.raises(EmulatorMisuse, match="A grid of 1 x 65536 x 1 blocks: CUDA allows"):
        module.launch("traps", (np.int64(1), 65536), 1, [])
    with pytest.raises(EmulatorMisuse, match="A block of 65536 x 65536 x 1 threads"):
        module.launch("traps", 1, (65536, 65536), [])


def test_aliases_share_memory(module):
    x = np.arange(8, dtype=np.float32)
    module.launch("twice", 1, 4, [x[:4], x[4:]])
    np.testing.assert_array_equal(x, [0, 1, 2, 3, 0, 2, 4, 6])
    module.launch("twice", 1, 8, [x, x])
    np.testing.assert_array_equal(x, [0, 2, 4, 6, 0, 4, 8, 12])
    x.flags.writeable = False
    y = np.zeros(8, np.float32)
    module.launch("twice", 1, 8, [x, y])
    np.testing.assert_array_equal(y, 2 * x)
    with pytest.raises(EmulatorMisuse, match="writes to argument 2 .*read-only: pass a copy"):
        module.launch("twice", 1, 8, [y, x])


def test_arrays_that_do_not_fit_the_shared_folder(module, monkeypatch):
    """A container's /dev/shm is small, and a page that finds no room there would be a bus error in this process."""
    x, y = np.ones(8, np.float32), np.zeros(8, np.float32)
    there = Path(tempfile.gettempdir())
    assert launch_folder._parent(2**60) == there
    monkeypatch.setattr(launch_folder, "_parent", lambda size: there)
    module.launch("twice", 1, 8, [x, y])
    assert (y == 2).all()

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(EmulatorUnavailable, match="do not fit .*No space left.*TMPDIR"):
        module.launch("twice", 1, 8, [x, y])


def test_compile_errors_name_the_line_of_the_kernel():
    text = '#include "hopper.cuh"\nextern "C" __global__ void f(int* x) {\n  x[0] = undeclared;\n}\n'
    with pytest.raises(EmulatorCompileError, match="bad.cu:3:.*undeclared") as e:
        compiled("bad", text, "f")
    assert (e.value.file, e.value.line) == ("bad.cu", 3) and "undeclared" in e.value.log
    with pytest.raises(EmulatorCompileError, match=r"write SHARED\(T, name"):
        compiled("bad", text.replace("x[0] = undeclared", "__shared__ int s[4]; x[0] = s[1]"), "f")
    with pytest.raises(EmulatorCompileError, match="bad.cu has no kernel named 'g'"):
        compiled("bad", text.replace("undeclared", "1"), "f", "g")
    with pytest.raises(EmulatorCompileError, match="no kernel source nowhere.cu"):
        build("nowhere.cu", ["f"])
    with pytest.raises(EmulatorArgumentError, match="entries is a list"):
        build(__file__, "f")


@pytest.mark.parametrize(
    "entry,args,kind,marker",
    [
        ("divides", [np.array([0, 1, 0], np.int32)], EmulatorCrash, "// divide"),
        ("traps", [], EmulatorError, "// trap"),
        ("spins", [], EmulatorTimeout, "// spin"),
        ("recurses", [np.array([0, 3], np.int32)], EmulatorOutOfBounds, "// recursion"),
    ],
)
@pytest.mark.parametrize("instrument", [True, False])
def test_a_crash_is_a_report(entry, args, kind, marker, instrument):
    module = compiled("launch", SOURCE, *ENTRIES, instrument=instrument)
    with pytest.raises(kind) as e:
        module.launch(entry, 1, 1, args, timeout=0.3)
    assert e.value.report.findings[-1].places[0].line == line_of(SOURCE, marker)
    assert isinstance(e.value, KernelError)


def test_wild_pointers():
    for instrument in (True, False):
        module = compiled("launch", SOURCE, *ENTRIES, instrument=instrument)
        with pytest.raises(EmulatorOutOfBounds, match="no array of the launch|null pointer"):
            module.launch("dies", 1, 1, [np.array([8], np.int32)])
        with pytest.raises(EmulatorOutOfBounds):
            module.launch("dies", 1, 1, [np.array([0x7FFF0000], np.int32)])


def test_a_runner_that_dies_or_hangs_is_reported(module, monkeypatch, tmp_path):
    def replaced(script: str):
        path = tmp_path / "runner"
        path.write_text("#!/bin/sh\n" + script)
        path.chmod(0o755)
        monkeypatch.setattr("kernels.emulator.module.runner", lambda: path)
        return module.launch("traps", 1, 1, [], raises=False, timeout=0.2)

    assert "SIGKILL" in replaced("kill -9 $$").findings[0].message
    assert replaced("exit 3").status == "crash"
    monkeypatch.setattr(process, "GRACE", 0.2)
    began = time.perf_counter()
    assert replaced("exec sleep 60").status == "timeout"
    assert time.perf_counter() - began < 10


def test_an_interrupt_leaves_no_process(module, tmp_path):
    """As in a notebook: the launch runs, the student presses stop."""
    source = tmp_path / "long.cu"
    source.write_text(
        '#include "hopper.cuh"\nextern "C" __global__ void f(volatile int* x) { while (*x == 0) __nanosleep(1), atomicAdd((int*)x + 1, 1); }\n'
    )
    ready = "import signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"  # a job in a shell's background begins with SIGINT ignored
    code = f"{ready}import numpy as np\nfrom kernels.emulator import build\nm = build({str(source)!r}, ['f'])\nprint('go', flush=True)\nm.launch('f', 1, 1, [np.zeros(2, np.int32)])\n"
    child = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True
    )
    child.stdout.readline()
    time.sleep(0.5)
    runners = lambda: [
        p for p in Path("/proc").glob("[0-9]*/stat") if _session(p) == child.pid and p.parent.name != str(child.pid)
    ]
    assert runners()
    child.send_signal(signal.SIGINT)
    child.wait(10)
    child.stdout.close()
    deadline = time.monotonic() + 5
    while runners() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not runners()


def _session(stat: Path) -> int:
    try:
        return int(stat.read_text().rpartition(")")[2].split()[3])
    except OSError:
        return -1


def test_the_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("KERNELS_CACHE", str(tmp_path / "cache"))
    text = '#include "hopper.cuh"\nextern "C" __global__ void f(int* x) { x[0] = VALUE; }\n'
    first = compiled("cached", text, "f", VALUE=1)
    assert first.build_seconds > 0 and first.library.parent == tmp_path / "cache"
    assert compiled("cached", text, "f", VALUE=1).build_seconds == 0
    others = [
        compiled("cached", text, "f", VALUE=2),
        compiled("cached", text + "// other\n", "f", VALUE=1),
        compiled("cached", text, "f", VALUE=1, instrument=False),
    ]
    assert len({first.library, *(m.library for m in others)}) == 4
    monkeypatch.setattr(toolchain, "KEPT_KERNELS", 2)
    assert compiled("cached", text, "f", VALUE=1).build_seconds == 0  # used last: kept
    compiled("cached", text, "f", VALUE=3)
    assert len(list((tmp_path / "cache").glob("*.so"))) == 2 and first.library.exists()
    for folder in ("/proc/no/such", "/proc", __file__):  # cannot be made, cannot be written to, is a file
        monkeypatch.setenv("KERNELS_CACHE", folder)
        with pytest.raises(EmulatorUnavailable, match="KERNELS_CACHE"):
            compiled("cached", text, "f", VALUE=1)


def test_the_runner_is_built_once(monkeypatch, tmp_path, capfd):
    """By whoever comes first: the workers of a class all start at once."""
    monkeypatch.setenv("KERNELS_CACHE", str(tmp_path))
    monkeypatch.setattr(toolchain, "PREBUILT", tmp_path / "none")
    monkeypatch.setattr(toolchain, "RENEWED_S", 600.0)  # on a busy machine too, one line a build
    built = []

    def build_runner(target, compiler, done=None):
        built.append(target)
        time.sleep(0.2)
        target.write_text("")

    monkeypatch.setattr(toolchain, "build_runner", build_runner)
    with ThreadPoolExecutor(3) as pool:
        assert len({f.result() for f in [pool.submit(toolchain.runner) for _ in range(3)]}) == 1
    assert len(built) == 1 and capfd.readouterr().err.count("Building") == 1


def test_headers_are_part_of_the_key(tmp_path):
    (tmp_path / "part.cuh").write_text("#define VALUE 1\n")
    source = tmp_path / "main.cu"
    source.write_text(
        '#include "hopper.cuh"\n#include "part.cuh"\nextern "C" __global__ void f(int* x) { x[0] = VALUE; }\n'
    )
    x = np.zeros(1, np.int32)
    build(source, ["f"]).launch("f", 1, 1, [x])
    (tmp_path / "part.cuh").write_text("#define VALUE 2\n")
    build(source, ["f"]).launch("f", 1, 1, [x])
    assert x[0] == 2


def test_says_whether_it_can_run(monkeypatch):
    usable, why = available()
    assert usable and "compiled by" in why
    monkeypatch.setenv("KERNELS_CXX", "no-such-compiler")
    usable, why = available()
    assert not usable and "no-such-compiler" in why and "pip install ziglang" in why
    monkeypatch.setattr(sys, "platform", "darwin")
    with pytest.raises(EmulatorUnavailable, match="runs on Linux"):
        toolchain.machine()


def test_line_table_needs_no_tools(module):
    """Every line that the kernel's code comes from is found, by the library's own DWARF table."""
    from kernels.emulator.lines import _table

    lines = {line for _, file, line in _table(module.library) if file == "launch.cu"}
    assert {line_of(SOURCE, "if (i < n)"), line_of(SOURCE, "// divide"), line_of(SOURCE, "// recursion")} <= lines
    assert line_in_library(module.library, 0) == ("?", 0)


def test_reports_are_json_and_readable(module):
    import json

    x, y = np.arange(4, dtype=np.float32), np.zeros(4, np.float32)
    report = module.launch("twice", 1, 4, [x, y], seed=5, policy="rr")
    assert str(report).startswith("twice on the emulator, seed 5, policy rr, checks on: clean")
    assert json.loads(json.dumps(report.to_dict()))["status"] == "clean"
    broken = module.launch("traps", 1, 1, [], raises=False)
    assert broken.status == "misuse" and "[trap]" in str(broken)


def test_a_killed_launch_leaves_its_folder_only_until_the_next(module, tmp_path, monkeypatch):
    """A process that is killed cannot clean up; the next launch does, and leaves the folders of those that still run."""
    parent = tmp_path / "launches"
    parent.mkdir()
    monkeypatch.setattr(launch_folder, "_parent", lambda size: parent)
    code = (
        "import sys, time\nfrom pathlib import Path\nfrom kernels.emulator import launch_folder\n"
        "launch_folder._parent = lambda size: Path(sys.argv[1])\n"
        "with launch_folder.launch_folder(1) as folder:\n    print(folder, flush=True)\n    time.sleep(600)"
    )
    start = lambda: subprocess.Popen([sys.executable, "-c", code, str(parent)], stdout=subprocess.PIPE, text=True)
    with start() as killed, start() as alive:
        try:
            left, kept = (Path(p.stdout.readline().strip()) for p in (killed, alive))
            killed.kill()
            killed.wait()
            assert left.is_dir() and kept.is_dir()
            x, y = np.arange(4, dtype=np.float32), np.zeros(4, np.float32)
            assert module.launch("twice", 1, 4, [x, y]).status == "clean"
            assert list(parent.iterdir()) == [kept]
        finally:
            killed.kill()
            alive.kill()
