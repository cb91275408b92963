"""Back-end choice, argument rules, tensor maps and errors, without a GPU and without a launch."""

from types import SimpleNamespace

import ml_dtypes
import numpy as np
import pytest

import kernels
import kernels.sources
from kernels import ArgumentError, BackendError, ContextDeadError, KernelError, LaunchError, TensorMap, gpu
from kernels.arrays import require_sides
from kernels.backends import Context, choose
from kernels.spec import Launch
from kernels.specs.epilogue import check_gemm, check_linear, check_probe, plan_gemm, plan_linear

BF16 = ml_dtypes.bfloat16


# ---------------------------------------------------------------------------------------------- what GPU is here
def runtime(driver=13000, count=1, capability=(9, 0), error=None, name=b"NVIDIA H200"):
    """A stand-in for cupy.cuda.runtime."""

    def get_count():
        if error:
            raise RuntimeError(error)
        return count

    properties = {"name": name, "major": capability[0], "minor": capability[1], "multiProcessorCount": 132}
    return SimpleNamespace(
        driverGetVersion=lambda: driver,
        runtimeGetVersion=lambda: 13020,
        getDeviceCount=get_count,
        getDeviceProperties=lambda i: properties,
    )


def test_a_hopper_gpu_is_usable():
    d = gpu.describe(runtime())
    assert d.usable and d.capability == (9, 0) and d.driver == "13.0" and d.sms == 132 and "H200" in d.why


@pytest.mark.parametrize(
    "stand_in,words",
    [
        (runtime(driver=0), "No NVIDIA driver"),
        (runtime(driver=11080), "too old: it supports CUDA 11.8"),
        (runtime(count=0), "finds no GPU"),
        (runtime(error="cudaErrorNoDevice: no CUDA-capable device is detected"), "finds no GPU"),
        (
            runtime(driver=12020, error="cudaErrorInsufficientDriver: CUDA driver version is insufficient"),
            "CuPy was built for CUDA 13.2",
        ),
        (runtime(capability=(8, 0), name=b"NVIDIA A100"), "A100 has compute capability 8.0"),
        (runtime(capability=(10, 0), name=b"NVIDIA B200"), "need exactly 9.0"),
        (runtime(error="cudaErrorUnknown: unknown error"), "cudaErrorUnknown"),
    ],
)
def test_what_cannot_run_is_said(stand_in, words):
    d = gpu.describe(stand_in)
    assert not d.usable and words in d.why


def test_choice_of_back_end(monkeypatch):
    emulator = lambda usable, why="": monkeypatch.setattr("kernels.emulator.available", lambda: (usable, why))
    device = lambda d: monkeypatch.setattr(gpu, "probe", lambda: d)
    monkeypatch.delenv("KERNELS_BACKEND", raising=False)
    here, none = gpu.Device(True, "An H200 runs the kernels."), gpu.Device(False, "No NVIDIA driver is installed here.")
    emulator(True)
    device(here)
    assert choose(None).name == "gpu" and choose(None).why == here.why
    assert choose("emulator").name == "emulator"
    monkeypatch.setenv("KERNELS_BACKEND", "emulator")
    assert choose(None).name == "emulator" and "KERNELS_BACKEND=emulator" in choose(None).why
    assert choose("gpu").name == "gpu"  # the argument is nearer than the environment
    monkeypatch.setenv("KERNELS_BACKEND", "cuda")
    with pytest.raises(BackendError, match="KERNELS_BACKEND=cuda names no back end"):
        choose(None)
    monkeypatch.delenv("KERNELS_BACKEND")
    device(none)
    assert choose(None).name == "emulator" and "No NVIDIA driver" in choose(None).why
    with pytest.raises(BackendError, match="gpu was asked for, but it cannot run here: No NVIDIA driver"):
        choose("gpu")
    emulator(False, "There is no compiler.")
    with pytest.raises(BackendError, match="No back end can run the kernels.*No NVIDIA driver.*There is no compiler"):
        choose(None)
    with pytest.raises(BackendError, match="There is no compiler"):
        choose("emulator")


def test_unknown_names_are_answered_with_the_known():
    with pytest.raises(KernelError, match="no kernel named 'nope'.*linear_epilogue"):
        kernels.load("nope")
    with pytest.raises(KernelError, match="no defect named 'nope'.*no_beta_guard"):
        kernels.load("linear_epilogue", bug="nope")
    with pytest.raises(KernelError, match="no option sede"):
        kernels.load("linear_epilogue", sede=3)


# ---------------------------------------------------------------------------------------------- errors of a launch
@pytest.fixture
def no_memory_of_death(monkeypatch):
    monkeypatch.setattr(gpu, "_dead", [])


@pytest.mark.parametrize(
    "said",
    [
        "cudaErrorIllegalAddress: an illegal memory access was encountered",
        "CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access was encountered",
    ],
)
def test_a_sticky_error_is_explained_and_remembered(no_memory_of_death, said):
    e = gpu.explain(RuntimeError(said), "linear_epilogue_fp32")
    assert isinstance(e, ContextDeadError) and e.code == said.split(":")[0]
    for words in ("not mapped", "context is dead", "Restart the process", "emulator"):
        assert words in str(e)
    with pytest.raises(ContextDeadError, match="linear_epilogue_fp32 failed"):
        gpu.require()


@pytest.mark.parametrize(
    "code",
    [
        "CUDA_ERROR_LAUNCH_FAILED",
        "cudaErrorLaunchFailure",
        "CUDA_ERROR_MISALIGNED_ADDRESS",
        "cudaErrorIllegalInstruction",
        "cudaErrorLaunchTimeout",
    ],
)
def test_the_other_sticky_errors(no_memory_of_death, code):
    assert isinstance(gpu.explain(RuntimeError(f"{code}: text"), "k"), ContextDeadError)


@pytest.mark.parametrize(
    "said,words",
    [
        ("CUDA_ERROR_INVALID_VALUE: invalid argument", "more than the device gives"),
        ("cudaErrorMemoryAllocation: out of memory", "memory is full"),
    ],
)
def test_errors_that_leave_the_context_alive(no_memory_of_death, said, words):
    e = gpu.explain(RuntimeError(said), "k")
    assert isinstance(e, LaunchError) and not isinstance(e, ContextDeadError) and words in str(e)
    assert not gpu._dead


@pytest.mark.parametrize("arg", [3, 2.5, np.ones(3), "x"])
def test_a_launch_takes_no_argument_whose_c_type_is_a_guess(arg):
    with pytest.raises(ArgumentError, match="np.int32"):
        gpu.pack(arg)


# ---------------------------------------------------------------------------------------------- argument rules
def acc(m=3, n=5):
    return np.ones((m, n), np.float32)


@pytest.mark.parametrize(
    "call,rule",
    [
        (lambda: check_linear([[1.0]]), "must be a NumPy or CuPy array; it is list"),
        (lambda: check_linear(np.ones((3, 5))), "must hold fp32; it holds float64.*astype"),
        (lambda: check_linear(np.ones(5, np.float32)), "must have 2 axes"),
        (lambda: check_linear(np.ones((0, 5), np.float32)), "at least one element"),
        (lambda: check_linear(acc(4, 6)[:, ::2]), "row-major contiguous"),
        (lambda: check_linear(acc(4, 6).T), "row-major contiguous"),
        (lambda: check_linear(np.ones(26, np.float32)[1:].reshape(5, 5)), "multiple of 16 bytes"),
        (lambda: check_linear(acc(), beta=0.5), "beta is 0.5 but C is None.*Nothing was launched"),
        (lambda: check_linear(acc(), beta=float("nan")), "C is None"),
        (lambda: check_linear(acc(), beta=0.5, c=acc(5, 3)), r"c must have shape \(3, 5\)"),
        (lambda: check_linear(acc(), beta=0.5, c=acc().astype(np.float16)), "c must hold fp32"),
        (lambda: check_linear(acc(), bias=np.ones(3, np.float32)), r"bias must have shape \(5,\)"),
        (lambda: check_linear(acc(), act="tanh"), "act must be one of.*'gelu'"),
        (lambda: check_linear(acc(), out="fp8"), "out must be one of"),
        (lambda: check_linear(acc(), alpha="2"), "alpha must be a number"),
        (lambda: check_linear(acc(), alpha=1e39), "alpha must fit fp32"),
        (lambda: check_linear(acc(), alpha=10**400), "alpha must fit fp32"),
        (lambda: check_linear(acc(), act=np.array(["relu", "gelu"])), "act must be one of"),
        (lambda: check_gemm(np.ones((2, 8), BF16), np.ones((3, 9), BF16)), "last axes differ"),
        (lambda: check_gemm(np.ones((2, 8), np.float32), np.ones((3, 8), BF16)), "a must hold bf16; it holds fp32"),
        (
            lambda: check_probe(np.ones((64, 96), BF16), np.ones((64, 96), BF16), accumulator="bf16"),
            "multiple of 64 elements",
        ),
    ],
)
def test_what_breaks_a_rule_is_refused(call, rule):
    with pytest.raises(ArgumentError, match=rule):
        call()


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -np.float32("inf"), -0.0, np.int8(-128)])
def test_any_fp32_number_is_a_scalar(value):
    check_linear(acc(), alpha=value)


@pytest.mark.parametrize(
    "args,params,said",
    [
        ((), {}, "missing a required argument: 'acc'.*It takes linear_epilogue.acc, alpha=1.0"),
        ((acc(),), {"aplha": 2.0}, "unexpected keyword argument 'aplha'"),
        ((acc(),), {"acc": acc()}, "multiple values for argument 'acc'"),
    ],
)
def test_a_call_that_does_not_fit_says_what_the_kernel_takes(args, params, said):
    with pytest.raises(ArgumentError, match=said):
        kernels.load("linear_epilogue", "emulator")(*args, **params)


@pytest.mark.parametrize(
    "options,rule",
    [
        ({"seed": "x"}, "seed is a whole number"),
        ({"policy": "fair"}, "policy is one of friendly"),
        ({"timeout": float("inf")}, "seconds above 0"),
        ({"timeout": 0}, "seconds above 0"),
        ({"sms": 0}, "sms is a whole number, 1 or more"),
    ],
)
def test_options_that_no_launch_can_have(options, rule):
    with pytest.raises(ArgumentError, match=rule):
        kernels.load("linear_epilogue", "emulator", **options)


def test_sizes_beyond_what_the_kernels_and_a_launch_count():
    with pytest.raises(ArgumentError, match="a: each side may be 2,147,482,624 at most"):
        require_sides("a", SimpleNamespace(shape=(2**31 - 1, 1)))
    with pytest.raises(ArgumentError, match="gemm_naive would need a grid of 1 x 65536 blocks"):
        Launch("gemm_naive", (1, 65536), (16, 16), [])


def test_null_c_with_beta_zero_is_allowed_and_passed_as_null():
    check_linear(acc(), beta=0.0)
    check_linear(acc(), beta=-0.0)
    plan = plan_linear(Context("emulator", 8, True, np), acc())
    assert plan.launches[0].args[1] is None


def test_outputs_are_poisoned():
    d = Context("emulator", 8, True, np).empty((2, 3), "bf16")
    assert np.isnan(d.astype(np.float32)).all()


@pytest.mark.parametrize(
    "out,c_type,entry",
    [
        ("fp32", np.float32, "fp32"),
        ("fp16", np.float16, "fp16"),
        ("fp16", np.float32, "fp16_c32"),
        ("bf16", BF16, "bf16"),
        ("bf16", np.float32, "bf16_c32"),
    ],
)
def test_the_entry_follows_the_types(out, c_type, entry):
    plan = plan_linear(Context("emulator", 8, True, np), acc(), beta=1.0, c=acc().astype(c_type), out=out)
    assert plan.launches[0].entry == f"linear_epilogue_{entry}"


def test_rows_that_tma_cannot_take_are_padded():
    a, b = np.arange(6, dtype=np.float32).reshape(2, 3).astype(BF16), np.ones((4, 3), BF16)
    args = plan_gemm(Context("emulator", 8, True, np), a, b).launches[0].args
    assert args[0].array.shape == (2, 8) and args[-1] == 8
    assert (args[0].array[:, :3] == a).all() and (args[0].array[:, 3:].astype(np.float32) == 0).all()


# ---------------------------------------------------------------------------------------------- tensor maps
@pytest.mark.parametrize(
    "array,box,options,rule",
    [
        (np.ones((8, 64), np.float16), (8,), {}, "a box of as many"),
        (np.ones((8, 64), np.float16), (300, 64), {}, "1 to 256 elements"),
        (np.ones((8, 64), np.float16), (8, 4), {}, "multiple of 16 bytes"),
        (np.ones((8, 128), np.float16), (8, 128), {}, "128 B at most; it is 256 B"),
        (np.ones((8, 64), np.float16), (8, 64), {"swizzle": 100}, "swizzle is one of"),
        (np.ones((8, 65), np.float16), (8, 64), {}, "stride of axis 0 is 130 B.*Pad the rows"),
        (np.ones((8, 64), np.float16).T, (64, 8), {}, "last axis must be contiguous"),
        (np.ones(8 * 64 + 1, np.float16)[1:].reshape(8, 64), (8, 64), {}, "address must be a multiple of 16 B"),
        (np.ones((8, 64), np.complex64), (8, 8), {}, "no element type complex64"),
    ],
)
def test_tensor_map_rules(array, box, options, rule):
    with pytest.raises(ArgumentError, match=rule):
        TensorMap(array, box, **options)


def test_a_box_over_the_edge_counts_its_full_bytes():
    assert TensorMap(np.ones((100, 64), BF16), (128, 64)).box_bytes == 16384


def test_an_edited_source_may_be_a_file(tmp_path):
    own = (kernels.sources.CUDA_DIR / "mbarrier_handshake.cu").read_text(encoding="utf-8")
    edited = tmp_path / "mine.cu"
    edited.write_text(own.replace("2.0f * v", "3.0f * v"), encoding="utf-8")
    x = np.arange(11 * 7, dtype=np.float32).reshape(11, 7)
    for path in (edited, str(edited)):
        np.testing.assert_array_equal(kernels.load("mbarrier_handshake", "emulator", source=path)(x), 3 * x)


@pytest.mark.parametrize("wrong", ["missing.cu", "", "folder", "latin.cu", 7])
def test_a_source_that_is_none_says_so(tmp_path, wrong):
    (tmp_path / "folder").mkdir()
    (tmp_path / "latin.cu").write_bytes("// \xe9\n".encode("latin-1"))
    with pytest.raises(KernelError, match="cannot be read|not UTF-8|not int"):
        kernels.load("gemm_naive", "emulator", source=tmp_path / wrong if isinstance(wrong, str) else wrong)


def test_a_driver_that_does_not_load_the_module_is_told_in_a_sentence():
    """An old driver under a new NVRTC; CuPy raises its own error for it."""
    told = gpu._refused(RuntimeError("CUDA_ERROR_INVALID_IMAGE: device kernel image is invalid"), "gemm_ring.cu")
    assert isinstance(told, BackendError)
    assert "does not load gemm_ring.cu (CUDA_ERROR_INVALID_IMAGE" in str(told) and "KERNELS_BACKEND=emulator" in str(
        told
    )
