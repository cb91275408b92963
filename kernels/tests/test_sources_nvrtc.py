"""Sources, hashes, and compiling every registered kernel for sm_90a without a driver."""

import numpy as np
import pytest

from kernels import CompileError, KernelError, nvrtc
from kernels.sources import CUDA_DIR, load_source
from kernels.spec import registry

BUILDS = [(name, i) for name, spec in registry().items() for i in range(len(spec.builds))]


def test_source_hash_follows_headers(tmp_path, monkeypatch):
    for name in ("linear_epilogue.cu", "epilogue.cuh", "hopper.cuh"):
        (tmp_path / name).write_text((CUDA_DIR / name).read_text(encoding="utf-8"), encoding="utf-8")
    monkeypatch.setattr("kernels.sources.CUDA_DIR", tmp_path)
    before = load_source("linear_epilogue.cu")
    assert [p.name for p in before.files] == ["linear_epilogue.cu", "epilogue.cuh", "hopper.cuh"]
    header = tmp_path / "hopper.cuh"
    header.write_text(header.read_text(encoding="utf-8") + "\n// one more line\n", encoding="utf-8")
    assert load_source("linear_epilogue.cu").sha256 != before.sha256


def test_unknown_source_lists_those_there_are():
    with pytest.raises(KernelError, match="linear_epilogue.cu"):
        load_source("no_such.cu")


@pytest.mark.nvrtc
@pytest.mark.parametrize("name,build", BUILDS, ids=[f"{n}-{i}" for n, i in BUILDS])
def test_compiles_within_limits(name, build):
    """Every kernel: registers within its spec's limit, no spills, no stack, no lost-performance remark of ptxas."""
    spec = registry()[name]
    built = nvrtc.compile_source(load_source(spec.source), spec.builds[build])
    assert built.resources, "ptxas' log names no entry"
    assert set(spec.entries) <= set(built.resources)
    for entry, r in built.resources.items():
        assert 0 < r.registers <= spec.max_registers, (entry, r)
        assert r.spill_stores == r.spill_loads == r.stack == 0, (entry, r)
    assert not built.remarks, built.remarks


@pytest.mark.nvrtc
def test_compile_error_has_file_line_and_text():
    source = load_source("linear_epilogue.cu")
    broken = source.text.replace("bool read_c = beta != 0.0f;", "bool read_c = beta != ;")
    line = broken[: broken.index("beta != ;")].count("\n") + 1
    with pytest.raises(CompileError) as e:
        nvrtc.compile_source(load_source("linear_epilogue.cu", broken))
    assert (e.value.file, e.value.line) == ("linear_epilogue.cu", line)
    assert f"linear_epilogue.cu line {line}" in str(e.value) and "bool read_c = beta != ;" in str(e.value)
    assert "error" in e.value.log


def test_error_in_a_header_is_quoted_from_the_header():
    source = load_source("linear_epilogue.cu")
    header = (CUDA_DIR / "epilogue.cuh").read_text(encoding="utf-8").splitlines()
    e = nvrtc.compile_error(
        source, '/some/where/epilogue.cuh(12): error: identifier "x" is undefined\n\n1 error detected'
    )
    assert (e.file, e.line) == ("epilogue.cuh", 12) and header[11].strip() in str(e)


def test_log_of_ptxas_is_read():
    log = """ptxas info    : (C7508) Potential Performance Loss: 'setmaxnreg' ignored; unable to determine register count at entry.
ptxas info    : 16 bytes gmem
ptxas info    : Compiling entry function 'a' for 'sm_90a'
ptxas info    : Function properties for a
ptxas         .     8 bytes stack frame, 4 bytes spill stores, 12 bytes spill loads
ptxas info    : Used 90 registers, used 1 barriers, 1040 bytes smem
ptxas info    : Compiling entry function 'b' for 'sm_90a'
ptxas info    : Function properties for b
ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 32 registers, used 0 barriers
"""
    resources, remarks = nvrtc.parse_log(log)
    assert resources["a"] == nvrtc.Resources(90, 4, 12, 8, 1040)
    assert resources["b"] == nvrtc.Resources(32, 0, 0, 0, 0)
    assert len(remarks) == 1 and "C7508" in remarks[0]


def test_every_spec_is_whole():
    """Each kernel says what it computes, has its source, and its example passes its own check."""
    for name, spec in registry().items():
        assert spec.computes and (CUDA_DIR / spec.source).is_file(), name
        arrays, params = spec.example(np.random.default_rng(0))
        spec.check(*arrays, **params)
        for bug in spec.bugs.values():
            assert bug.defines and bug.explains
