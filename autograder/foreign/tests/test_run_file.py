"""`course run FILE.cu`: in the jail, with checks; hostile kernels end in a sentence and leave nothing behind."""

from __future__ import annotations

import json
import shutil
import struct

import numpy as np
import pytest

from autograder import cli
from autograder.foreign import frames
from autograder.grading.challenge.frame import Malformed

needs_jail = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not here")
SAXPY = "#include <iostream>\n__constant__ float bias[1];\n__global__ void saxpy(float* y, const float* x, float a, int n) {\n  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) y[i] = a * x[i] + y[i] + bias[0];\n}\nint main() { std::cout << 1; }\n"
ARGS = [
    "--grid",
    "4",
    "--block",
    "32",
    "--arg",
    "y=float32[101]:random",
    "--arg",
    "x=float32[101]:random",
    "--arg",
    "a=2.5",
    "--arg",
    "n=101",
    "--set",
    "bias=float32[1]:1",
]


@pytest.fixture
def course(tmp_path, capfd):
    """Runs `course run k.cu ...`; gives (exit status, all output)."""

    def run(source: str, *more: str):
        (tmp_path / "k.cu").write_text(source)
        with pytest.raises(SystemExit) as ended:
            cli.run(["run", str(tmp_path / "k.cu"), *more])
        out, err = capfd.readouterr()
        return ended.value.code or 0, out + err

    return run


@needs_jail
def test_a_file_is_run_and_checked(course):
    status, right = course(SAXPY, *ARGS, "--check", "y = 2.5 * x + y + 1")
    assert status == 0 and "saxpy on the emulator" in right and "clean" in right and ": right" in right
    status, wrong = course(SAXPY, *ARGS, "--check", "y = 2.5 * x + y")
    assert status == 1 and "WRONG" in wrong
    status, listed = course(SAXPY)
    assert status == 1 and "saxpy(float * y, const float * x, float a, int n)" in listed and "k.cu:3" in listed


@needs_jail
@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("__global__ void f(int* x) { volatile int i = 0; for (;;) i = i + 1; }", "did not end within 1 s"),
        (
            "__device__ float big[1ull << 34];\n__global__ void f(int* x) { big[threadIdx.x] = 1; x[0] = (int)big[1]; }",
            "take more memory than a launch may have",
        ),
        ('__global__ void f(int* x) { auto o = &fopen; FILE* h = o("OUT", "w"); x[0] = h ? 5 : 6; }', "x changed: 6"),
        ("__global__ void f(int* x) {\n  x[0] = y;\n}", "course: k.cu:2: "),
        ("int x;", "course: k.cu has no kernel"),
    ],
)
def test_hostile_and_wrong_files(course, tmp_path, source, said):
    out = tmp_path / "written"
    _, output = course(
        source.replace("OUT", str(out)), "--grid", "1", "--block", "1", "--arg", "x=int32[3]:zeros", "--timeout", "1"
    )
    assert said in output, output
    assert not out.exists()


@pytest.mark.parametrize(
    "more",
    [["--backend", "gpu"], ["--bug", "x"], ["--grid", "a"], ["--arg", "x"], ["--define", "1=2"], ["--set", "b=3"]],
)
def test_options_that_do_not_fit(course, more):
    status, output = course(SAXPY, "--grid", "1", "--block", "1", *more)
    assert status == 1 and output.startswith("course: ") and output.count("\n") == 1


def framed(head, data=b"") -> bytes:
    body = json.dumps(head).encode()
    return struct.pack("!Q", len(body)) + body + data


REPORT = {"error": "", "status": "clean", "text": "t", "output": ""}


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\0" * 7,
        framed([]),
        framed({"error": 1}),
        framed({"error": ""}),
        framed(REPORT),
        framed(REPORT, b"\0" * 11),
        framed({"error": "", "kernels": [1]}),
        struct.pack("!Q", 1 << 40) + b"{}",
    ],
)
def test_a_frame_that_is_none(data):
    with pytest.raises(Malformed):
        frames.read(data, {"x": np.zeros(3, np.float32)})


def test_a_frame():
    x = np.zeros(3, np.float32)
    new = np.float32([1, 2, 3])
    assert frames.read(framed(REPORT, new.tobytes()), {"x": x, "n": 3}).status == "clean" and (x == new).all()
