"""On a GPU of compute capability 9.0: every kernel against float64 and against the emulator, CuPy arrays, the sticky error."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import kernels
from kernels import arrays, emulator, gpu
from kernels.compare import relative_error
from kernels.spec import registry, tolerance

pytestmark = pytest.mark.gpu
ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("name", registry())
def test_gpu_and_emulator_against_float64(name):
    spec = registry()[name]
    given, params = spec.example(np.random.default_rng(5))
    bound = tolerance(spec, given, params)
    on_gpu = kernels.load(name, "gpu", poison=True)
    out = on_gpu(*given, **params)
    assert relative_error(out, spec.reference(*given, **params)) <= bound
    assert on_gpu.receipt.backend == "gpu" and on_gpu.receipt.device == gpu.probe().name and on_gpu.receipt.seed is None
    if emulator.available()[0]:
        emulated = kernels.load(name, "emulator")(*given, **params)
        assert relative_error(out, emulated) <= 2 * bound


def test_the_gpu_is_chosen_where_it_can_run(monkeypatch):
    monkeypatch.delenv("KERNELS_BACKEND", raising=False)
    assert kernels.load("linear_epilogue").backend == "gpu"
    assert kernels.load("linear_epilogue", seed=1).backend == "emulator"


@pytest.mark.parametrize("out", ["fp32", "fp16", "bf16"])
def test_cupy_in_cupy_out(out):
    import cupy

    kernel = kernels.load("linear_epilogue")
    acc = cupy.random.default_rng(1).standard_normal((37, 61), dtype=cupy.float32)
    d = kernel(acc, alpha=0.5, act="silu", out=out)
    assert arrays.is_cupy(d) and d.dtype == arrays.DTYPES[out]
    assert relative_error(d.get(), kernel.reference(acc, alpha=0.5, act="silu", out=out)) < 5e-3
    with pytest.raises(kernels.ArgumentError, match="NumPy and CuPy arrays together"):
        kernel(acc, beta=1.0, c=np.ones((37, 61), np.float32))


def test_compare_and_challenge():
    good = lambda acc, alpha, beta, c=None: alpha * acc if beta == 0 else alpha * acc + beta * c
    assert kernels.compare("linear_epilogue", good, backend="gpu").passed
    assert kernels.challenge("linear_epilogue", "bool read_c = beta != 0.0f;", backend="gpu").passed


def test_a_null_c_read_kills_the_context_but_not_the_process():
    code = (
        "import numpy as np, kernels\n"
        "k = kernels.load('linear_epilogue', 'gpu', bug='no_beta_guard')\n"
        "for call in (lambda: k(np.ones((64, 64), np.float32)), lambda: kernels.load('linear_epilogue', 'gpu')):\n"
        "    try: call()\n"
        "    except kernels.ContextDeadError as e: print(e.code)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, timeout=120)
    assert done.returncode == 0 and done.stdout.split() == ["cudaErrorIllegalAddress"] * 2, done.stderr
