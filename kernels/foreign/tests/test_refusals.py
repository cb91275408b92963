"""What a foreign CUDA file cannot have on the emulator: each refusal once, as one sentence with file and line and what to do."""

from __future__ import annotations

import numpy as np
import pytest

import kernels
from kernels.errors import ArgumentError, CompileError
from kernels.foreign import Program
from kernels.foreign.arguments import parse_all
from kernels.foreign.prepare import read

KERNEL = "#include <cuda_runtime.h>\n__global__ void f(int* x) {{\n  {}\n}}\n"


def run(body: str, before: str = ""):
    return kernels.run_source(
        before + KERNEL.format(body), grid=1, block=32, args={"x": np.zeros(32, np.int32)}, timeout=5.0
    )


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (
            'asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0}, {%0}, {%0}, {%0};" : "+r"(x[0]));',
            "PTX instruction `mma.sync.aligned",
        ),
        ("x[0] = tex2D<int>(1, 2, 3);", "textures and surfaces are not modelled"),
        ("x[0] = __shfl_down(x[0], 1);", "no warp operation without _sync"),
        ("int* p = (int*)malloc(4); x[0] = *p;", "cannot allocate"),
        ("int* p = new int[4]; x[0] = *p;", "cannot allocate"),
        ('FILE* o = fopen("x", "w");', "no files, sockets or processes"),
        ("f<<<1, 1>>>(x);", "cannot launch kernels"),
        ("__shared__ int s = 3;", "no initial value"),
        ("x[0] = nobody;", "`nobody`"),
        ("x[0] = x[0] +;", "expected"),
    ],
)
def test_one_sentence_with_its_line(body, said):
    with pytest.raises(CompileError) as e:
        run(body)
    assert (
        e.value.line == 3
        and str(e.value).startswith("source.cu:3: ")
        and said in str(e.value)
        and "\n" not in str(e.value)
    )


def test_a_failed_assertion_and_error_directives():
    with pytest.raises(kernels.KernelError, match=r"the assertion `x\[0\] == 7` does not hold. \(source.cu:3\)"):
        run("assert(x[0] == 7);")
    with pytest.raises(CompileError, match=r"source.cu:1: .*not for this device"):
        run("x[0] = 1;", "#error not for this device\n")


def test_a_kernel_must_be_named_if_there_are_several():
    program = Program(
        "__global__ void a(int* x) {}\ntemplate <int N> __global__ void b(int* x) {}\nnamespace n { __global__ void a(int* x) {} }\n",
        "two.cu",
    )
    for wanted, said in (
        (None, "has 3 kernels: a, b<N>, n::a"),
        ("c", "no kernel named 'c'"),
        ("b", "name an instantiation"),
        ("a", None),
        ("n::a", None),
    ):
        if said is None:
            assert program.find(wanted)[0].name == wanted
            continue
        with pytest.raises(ArgumentError, match=said):
            program.find(wanted)
    with pytest.raises(CompileError, match="has no kernel"):
        Program("int main() { return 0; }\n", "host.cu").find(None)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"\xff\xfe" + "__global__ void f() {}".encode("utf-16-le"), "is UTF-16"),
        (b"// one\n// caf\xe9\n__global__ void f() {}", r"bad.cu:2: byte 0xe9 is not UTF-8"),
        (b"__global__ void f() {}\n\0", "zero bytes"),
        (b"// x\n" * 2_000_000, r"10,000,000 bytes; a CUDA source may have 1,000,000"),
    ],
)
def test_files_that_are_no_source(tmp_path, data, said):
    (tmp_path / "bad.cu").write_bytes(data)
    with pytest.raises(CompileError, match=said):
        read(tmp_path / "bad.cu")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x", "not NAME=VALUE"),
        ("x=float31[4]", "no type 'float31'"),
        ("x=float32[4]:lots", "no fill 'lots'"),
        ("x=float32[0]", "at least one element"),
        ("x=float32[17179869184]:zeros", "68,719,476,736 bytes"),
        ("x=int32[4]:random(3,3)", "LOW below HIGH"),
        ("x=@nothing.npy", "cannot be read"),
        ("x=map:bfloat16[4,4]", "a tensor map is written"),
        ("x=hello", "neither an array nor a number"),
    ],
)
def test_arguments_that_cannot_be_read(text, said):
    with pytest.raises(ArgumentError, match=said):
        parse_all([text])


def test_arguments():
    a = parse_all(
        [
            "x=float32[3,5]:random",
            "i=int32[7]:random(2,4)",
            "n=7",
            "a=2.5",
            "h=float16:1.5",
            "p=null",
            "r=uint8[4]:arange",
            "e=bf16[3]:empty",
        ],
        seed=3,
    )
    assert (
        a["x"].shape == (3, 5)
        and a["x"].std() > 0
        and set(a["i"]) == {2, 3}
        and (a["n"], a["a"], a["p"]) == (7, 2.5, None)
    )
    assert (
        a["h"] == np.float16(1.5)
        and type(a["h"]) is np.float16
        and a["r"].tolist() == [0, 1, 2, 3]
        and np.isnan(a["e"].astype(np.float32)).all()
    )
    with pytest.raises(ArgumentError, match="given twice"):
        parse_all(["n=1", "n=2"])
