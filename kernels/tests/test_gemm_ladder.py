"""The GEMM ladder on the emulator: right at sizes no tile divides, clean at every seed and policy, every named defect caught."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels import ArgumentError, emulator, nvrtc
from kernels.compare import relative_error
from kernels.kernel import load
from kernels.sources import load_source
from kernels.spec import get_spec
from kernels.specs.gemm import BUGS, CUDA_CORES, LADDER, RUNGS, TILE_K, example, tolerance

TENSOR_CORES = [r.name for r in LADDER if r.name not in CUDA_CORES]
RINGS = [name for name in TENSOR_CORES if name != "gemm_wgmma"]
POLICIES = ("friendly", "rr", "random", "pct", "late", "lazy_mma")


def run(name, size, out="fp32", **options):
    """A call on the emulator with checks on (a finding raises); the result's error against float64."""
    (a, b), params = example(np.random.default_rng(sum(size)), *size, out)
    kernel = load(name, "emulator", **options)
    d = kernel(a, b, **params)
    assert d.shape == (size[0], size[1]) and kernel.report.clean
    return relative_error(d, kernel.reference(a, b)), tolerance(a, b, out=out)


@pytest.mark.emulator
@pytest.mark.parametrize("out", ["fp32", "bf16"])
@pytest.mark.parametrize("name", RUNGS)
def test_right_at_prime_sizes(name, out):
    """M, N and K prime: every edge hangs over, and neither K nor N obeys TMA's stride rule, so the plan pads."""
    for size in [(1, 1, 1), (67, 59, 71)] if name in CUDA_CORES else [(1, 1, 1), (131, 269, 331)]:
        error, bound = run(name, size, out)
        assert error < bound, size


@pytest.mark.emulator
@pytest.mark.parametrize("name", TENSOR_CORES)
def test_clean_and_right_under_every_policy(name):
    """K of eleven blocks and one element; two SMs, so that a persistent block has several tiles and the ring goes on across them."""
    for seed, policy in enumerate(POLICIES):
        error, bound = run(name, (300, 270, 11 * TILE_K + 1), seed=seed, policy=policy, sms=2)
        assert error < bound, (seed, policy)


@pytest.mark.emulator
@pytest.mark.parametrize("name", ["gemm_store", "gemm_pingpong"])
def test_clean_at_many_seeds(name):
    for seed in range(8):
        error, bound = run(name, (197, 331, 457), seed=seed, policy="pct", sms=2)
        assert error < bound, seed


@pytest.mark.emulator
def test_the_wide_pingpong_tile():
    """180 columns: one wide tile (192) instead of two narrow ones (256), so the loader takes the wide form."""
    size = (300, 180, 11 * TILE_K)
    assert RUNGS["gemm_pingpong"].choose(*size[:2], 2).tile == (128, 192)
    for seed, policy in enumerate(("friendly", "late")):
        error, bound = run("gemm_pingpong", size, ("fp32", "bf16")[seed], seed=seed, policy=policy, sms=2)
        assert error < bound


@pytest.mark.emulator
@pytest.mark.parametrize("name,bug", [(n, b) for n in BUGS for b in BUGS[n]])
def test_every_defect_is_caught(name, bug):
    """With checks on a defect is found also under the schedule that hides it, and the report names a line."""
    arrays, params = get_spec(name).bugs[bug].example(np.random.default_rng(1))
    for seed, policy in ((0, "friendly"), (1, "pct")):
        kernel = load(name, "emulator", bug=bug, seed=seed, policy=policy, timeout=20)
        with pytest.raises(emulator.EmulatorError):
            kernel(*arrays, **params)
        assert kernel.report.findings, (seed, policy)
        assert ".cu" in str(kernel.report)


@pytest.mark.emulator
@pytest.mark.parametrize("bug", BUGS["gemm_pingpong"])
def test_every_defect_is_caught_at_every_seed(bug):
    """The kernel with all of the defects, over seeds and policies."""
    arrays, params = get_spec("gemm_pingpong").bugs[bug].example(np.random.default_rng(2))
    for seed in range(2):
        for policy in POLICIES:
            with pytest.raises(emulator.EmulatorError):
                load("gemm_pingpong", "emulator", bug=bug, seed=seed, policy=policy, timeout=20)(*arrays, **params)


@pytest.mark.emulator
def test_a_defect_that_numbers_do_not_show():
    """Without checks and under the friendly schedule the ring without its EMPTY wait gives right numbers: why the checks exist."""
    arrays, params = get_spec("gemm_ring").bugs["empty_before_wgmma_wait"].example(np.random.default_rng(3))
    kernel = load("gemm_ring", "emulator", bug="empty_before_wgmma_wait", policy="friendly", checks=False)
    assert relative_error(kernel(*arrays, **params), kernel.reference(*arrays)) < 2e-5


@pytest.mark.nvrtc
def test_without_a_register_cap_setmaxnreg_is_ignored():
    """The compiler's own word on the defect no_register_cap; the right kernel draws no remark (test_sources_nvrtc)."""
    for name in RINGS[1:]:
        built = nvrtc.compile_source(load_source(f"{name}.cu"), {"BUG": "no_register_cap"})
        assert any("setmaxnreg" in r for r in built.remarks), name


@pytest.mark.emulator
def test_refusals_state_the_rule():
    (a, b), _ = example(np.random.default_rng(0), 8, 8, 16)
    kernel = load("gemm_store", "emulator")
    for args, params, rule in (
        ((a.astype(np.float32), b), {}, "bf16"),
        ((a, b[:, :8].copy()), {}, "same K"),
        ((a[:, ::2], b[:, ::2]), {}, "contiguous"),
        ((a, b), {"out": "fp16"}, "out must be"),
    ):
        with pytest.raises(ArgumentError, match=rule):
            kernel(*args, **params)


@settings(max_examples=100, deadline=None)
@given(
    st.sampled_from([r.name for r in LADDER if r.persistent]),
    st.integers(1, 20000),
    st.integers(1, 20000),
    st.integers(2, 200),
)
def test_a_persistent_grid_is_the_smallest_that_is_as_fast(name, m, n, sms):
    """The blocks fit the device, need no more rounds than all SMs would, and one cluster fewer would need one more."""
    rung = RUNGS[name]
    (blocks,) = rung.grid(m, n, sms)
    clusters, (patches, rounds) = blocks // rung.cluster, rung.rounds(m, n, sms)
    assert blocks % rung.cluster == 0 and 1 <= clusters <= max(1, sms // rung.cluster)
    assert -(-patches // clusters) == rounds
    assert clusters == 1 or -(-patches // (clusters - 1)) > rounds
