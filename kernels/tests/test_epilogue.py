"""Lesson 7's kernels on the back end that is here, against float64: odd sizes, types, activations, the beta guard, saturation."""

import json

import ml_dtypes
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import kernels
from kernels import ArgumentError, KernelError
from kernels.arrays import DTYPES
from kernels.compare import BLANK, relative_error
from kernels.receipt import MIME
from kernels.spec import cases, get_spec, tolerance
from kernels.specs.epilogue import ACTIVATIONS, OUTPUTS

BF16 = ml_dtypes.bfloat16


@pytest.fixture(scope="module")
def linear():
    return kernels.load("linear_epilogue", "emulator")


@pytest.fixture(scope="module")
def gemm():
    return kernels.load("gemm_epilogue", "emulator")


def check(kernel, *operands, **params):
    out = kernel(*operands, **params)
    assert out.dtype == DTYPES[params.get("out", "fp32")]
    error = relative_error(out, kernel.reference(*operands, **params))
    assert error <= tolerance(kernel.spec, operands, params), (error, params)
    return out


# ---------------------------------------------------------------------------------------------- linear_epilogue
@pytest.mark.parametrize("out", OUTPUTS)
@pytest.mark.parametrize("act", ACTIVATIONS)
@pytest.mark.parametrize("m,n,c", [(1, 1, "same"), (3, 5, "fp32"), (13, 31, "none"), (37, 61, "same")])
def test_linear_against_float64(linear, out, act, m, n, c):
    rng = np.random.default_rng(m * n)
    acc = (rng.standard_normal((m, n)) * 10.0 ** rng.uniform(-1, 1, (m, 1))).astype(np.float32)
    c = None if c == "none" else rng.standard_normal((m, n)).astype(DTYPES["fp32" if c == "fp32" else out])
    bias = rng.standard_normal(n).astype(np.float32) if n % 2 else None
    check(linear, acc, alpha=1.25, beta=0.0 if c is None else -0.75, c=c, bias=bias, act=act, out=out)


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    m=st.integers(1, 40),
    n=st.integers(1, 40),
    out=st.sampled_from(OUTPUTS),
    act=st.sampled_from(list(ACTIVATIONS)),
    beta=st.sampled_from([0.0, -0.0, 0.5, -2.0]),
    biased=st.booleans(),
    seed=st.integers(0, 99),
)
def test_linear_any_size(linear, m, n, out, act, beta, biased, seed):
    rng = np.random.default_rng(seed)
    acc = rng.standard_normal((m, n)).astype(np.float32) * 3
    c = rng.standard_normal((m, n)).astype(np.float32)
    check(
        linear,
        acc,
        alpha=0.5,
        beta=beta,
        c=c,
        bias=rng.standard_normal(n).astype(np.float32) if biased else None,
        act=act,
        out=out,
    )


@pytest.mark.parametrize("beta", [0.0, -0.0])
def test_beta_zero_neither_needs_nor_reads_c(linear, beta):
    rng = np.random.default_rng(5)
    acc = rng.standard_normal((7, 9)).astype(np.float32)
    absent = linear(acc, alpha=2.0, beta=beta, c=None)
    nan = linear(acc, alpha=2.0, beta=beta, c=np.full((7, 9), np.nan, np.float32))
    inf = linear(acc, alpha=2.0, beta=beta, c=np.full((7, 9), np.inf, np.float32))
    assert (absent == 2 * acc).all() and (nan == absent).all() and (inf == absent).all()


def test_beta_not_zero_takes_c_as_it_is(linear):
    acc, c = np.ones((2, 3), np.float32), np.array([[1, np.nan, 3], [4, 5, np.inf]], np.float32)
    d = linear(acc, beta=0.5, c=c)
    assert np.isnan(d[0, 1]) and d[0, 0] == 1.5 and np.isnan(d).sum() == 1
    assert d[1, 2] == np.finfo(np.float32).max  # infinity saturates


def test_a_missing_c_is_refused_before_anything_runs(linear):
    linear(np.ones((2, 3), np.float32))
    before = linear.receipt
    with pytest.raises(ArgumentError, match="beta is 0.5 but C is None"):
        linear(np.ones((2, 3), np.float32), beta=0.5)
    assert linear.receipt is before


@pytest.mark.parametrize("out,top", [("fp16", 65504.0), ("bf16", 3.3895313892515355e38)])
def test_the_cast_saturates_and_keeps_nan(linear, out, top):
    acc = np.array([[1e30, -1e30, np.inf, -np.inf, np.nan, 65504.0, 65520.0, 1.0, 3e38]], np.float32)
    d = linear(acc, alpha=10.0, out=out).astype(np.float64)[0]
    if out == "fp16":
        assert (d[:4] == [top, -top, top, -top]).all()
    assert d[2] == top and d[3] == -top and np.isnan(d[4]) and d[7] == 10 and d[8] == top


def test_activations_at_their_limits(linear):
    x = np.array([[-np.inf, -100.0, -20.0, -1.0, -0.0, 0.0, 1.0, 20.0, 100.0, np.inf, np.nan]], np.float32)
    relu, gelu = (linear(x, act=a)[0] for a in ("relu", "gelu"))
    silu = linear(x[:, 1:].copy(), act="silu")[0]
    top = np.finfo(np.float32).max
    assert (relu[:6] == 0).all() and relu[6] == 1 and relu[9] == top and np.isnan(relu[10])
    assert (gelu[:2] == 0).all() and gelu[7] == 20 and gelu[9] == top and np.isnan(gelu[10])
    assert abs(gelu[3] - -0.15865525393145707) < 1e-7 and abs(gelu[6] - 0.8413447460685429) < 1e-7
    for act, out in (("relu", relu), ("gelu", gelu)):
        np.testing.assert_array_equal(np.isnan(linear.reference(x, act=act)[0]), np.isnan(out))
    assert linear.reference(x, act="gelu")[0, 0] == 0
    assert abs(silu[0]) < 1e-35 and abs(silu[2] - -0.2689414213699951) < 1e-7 and silu[8] == top and np.isnan(silu[9])


def test_gelu_is_accurate_where_one_plus_erf_cancels(linear):
    import math

    x = np.linspace(-5, -0.5, 91, dtype=np.float32)[None]
    exact = np.array([0.5 * v * math.erfc(-v / math.sqrt(2)) for v in x[0].astype(np.float64)])
    assert (np.abs(linear(x, act="gelu")[0] - exact) <= 3e-6 * np.abs(exact)).all()


def test_late_cast_keeps_what_an_early_cast_loses(linear):
    """The lesson's demonstration: 2 * 3.0009765625 - 6, cast to fp16 once at the end."""
    acc, c = np.full((1, 1), 3.0009765625, np.float32), np.full((1, 1), 4.0, np.float32)
    late = linear(acc, alpha=2.0, beta=-1.5, c=c, out="fp16")
    early = linear(acc.astype(np.float16).astype(np.float32), alpha=2.0, beta=-1.5, c=c, out="fp16")
    assert late[0, 0] == 0.001953125 and early[0, 0] == 0.0


# ---------------------------------------------------------------------------------------------- gemm_epilogue
@pytest.mark.parametrize(
    "m,n,k,out,act,c",
    [
        (1, 1, 1, "fp32", "none", "none"),
        (5, 3, 7, "bf16", "silu", "same"),
        (127, 129, 65, "fp16", "gelu", "fp32"),
        (131, 97, 211, "bf16", "relu", "fp32"),
        (64, 130, 320, "fp32", "silu", "same"),
    ],
)
def test_gemm_against_float64(gemm, m, n, k, out, act, c):
    rng = np.random.default_rng(k)
    a, b = (rng.standard_normal((rows, k)).astype(BF16) for rows in (m, n))
    c = None if c == "none" else rng.standard_normal((m, n)).astype(DTYPES["fp32" if c == "fp32" else out])
    check(
        gemm,
        a,
        b,
        alpha=0.5,
        beta=0.0 if c is None else 1.5,
        c=c,
        bias=rng.standard_normal(n).astype(np.float32),
        act=act,
        out=out,
    )


def test_gemm_with_beta_zero_and_nan_in_c(gemm):
    rng = np.random.default_rng(3)
    a, b = rng.standard_normal((33, 40)).astype(BF16), rng.standard_normal((17, 40)).astype(BF16)
    d = check(gemm, a, b, beta=0.0, c=np.full((33, 17), np.nan, np.float32))
    assert (d == gemm(a, b)).all()


@pytest.mark.parametrize("policy", ["friendly", "pct", "late", "lazy_mma"])
def test_gemm_is_clean_under_every_schedule(policy):
    kernel = kernels.load("gemm_epilogue", "emulator", policy=policy, seed=11)
    rng = np.random.default_rng(4)
    a, b = rng.standard_normal((130, 330)).astype(BF16), rng.standard_normal((40, 330)).astype(BF16)
    check(kernel, a, b, bias=rng.standard_normal(40).astype(np.float32), act="silu", out="bf16")
    assert kernel.report.clean and not kernel.report.findings


# ---------------------------------------------------------------------------------------------- the defect, the probe
@pytest.mark.parametrize("name", ["linear_epilogue", "gemm_epilogue"])
def test_without_the_guard_a_null_c_is_reported_with_its_line(name):
    from kernels.emulator import EmulatorOutOfBounds

    kernel = kernels.load(name, "emulator", bug="no_beta_guard")
    operands, params = get_spec(name).bugs["no_beta_guard"].example(np.random.default_rng(0))
    assert params["beta"] == 0 and params["c"] is None
    with pytest.raises(EmulatorOutOfBounds) as e:
        kernel(*operands, **params)
    assert any(p.file in ("epilogue.cuh", f"{name}.cu") and p.line for f in e.value.report.findings for p in f.places)
    assert kernel.receipt is None


def test_without_the_guard_nan_in_c_spreads():
    kernel = kernels.load("linear_epilogue", "emulator", bug="no_beta_guard")
    acc = np.ones((3, 5), np.float32)
    assert np.isnan(kernel(acc, beta=0.0, c=np.full((3, 5), np.nan, np.float32))).all()


@pytest.mark.parametrize("accumulator,promote", [("fp16_acc16", 0), ("fp16", 0), ("bf16", 0), ("e4m3", 0), ("e4m3", 1)])
def test_probe_multiplies(accumulator, promote):
    kernel = kernels.load("accumulate_probe", "emulator")
    operands, params = get_spec("accumulate_probe").example(
        np.random.default_rng(1), m=64, n=64, k=256, accumulator=accumulator, promote=promote
    )
    out = kernel(*operands, **params)
    assert relative_error(out, kernel.reference(*operands, **params)) <= tolerance(kernel.spec, operands, params)


# ---------------------------------------------------------------------------------------------- compare, challenge, receipt
def good(acc, alpha, beta, c=None):
    return alpha * acc if beta == 0 else alpha * acc + beta * c


def unguarded(acc, alpha, beta, c=None):
    return alpha * acc + beta * (0 if c is None else c)


def test_compare_passes_the_right_function_and_no_other(linear):
    right = kernels.compare(linear, good, count=8)
    assert right.passed and len(right.rows) == 8 and "8 of 8 agree" in str(right)
    assert right.receipt.figure["agree"]["value"] == "8 of 8"
    wrong = kernels.compare(linear, unguarded, count=8)
    failed = [r for r in wrong.rows if not r.passed]
    assert not wrong and failed and all("C is NaN" in r.label for r in failed)
    assert not kernels.compare(linear, lambda acc, alpha, beta, c=None: alpha * acc + 1e-3, count=4)
    raising = kernels.compare(linear, lambda acc, alpha, beta, c=None: alpha * acc + beta * c, count=4)
    assert any("TypeError" in r.note for r in raising.rows)
    assert not kernels.compare(linear, lambda acc, alpha, beta, c=None: acc[0], count=2)


def test_cases_hold_every_boundary():
    found = list(cases(get_spec("linear_epilogue"), np.random.default_rng(7), 24))
    labels = [c.label for c in found]
    assert (
        sum("C absent" in l for l in labels) >= 3
        and sum("C is NaN" in l for l in labels) >= 3
        and sum("C read" in l for l in labels) >= 12
    )
    betas = [c.params["beta"] for c in found[:6]]  # also of few cases
    assert min(betas) < -0.01 and max(betas) > 0.01 and any(0 < abs(b) < 1e-20 for b in betas)


def test_challenge():
    assert "CHALLENGE-BEGIN" in kernels.challenge_text("linear_epilogue") and BLANK in kernels.challenge_text(
        "linear_epilogue"
    )
    assert "beta != 0.0f" not in kernels.challenge_text("linear_epilogue")
    assert kernels.challenge("linear_epilogue", "bool read_c = beta != 0.0f;", count=4).passed
    assert kernels.challenge("linear_epilogue", "bool read_c = !(beta == 0);", count=4).passed
    always = kernels.challenge("linear_epilogue", "bool read_c = true;", count=4)
    assert not always.passed and ("out of bounds" in always.error.lower() or any("NaN" in r.note for r in always.rows))
    never = kernels.challenge("linear_epilogue", "bool read_c = false;", count=4)
    assert not never.passed and not never.error and any(r.passed for r in never.rows)
    for line in ("bool read_c = beta > 0.0f;", "bool read_c = beta < -1e-6f || beta > 1e-6f;"):
        assert not kernels.challenge("linear_epilogue", line, count=6).passed
    typo = kernels.challenge("linear_epilogue", "bool read_c = bta != 0;", count=4)
    assert not typo.passed and "does not compile" in typo.error and "linear_epilogue.cu" in typo.error
    assert "still blank" in kernels.challenge("linear_epilogue", "______").error
    with pytest.raises(KernelError, match="exactly one line"):
        kernels.challenge("linear_epilogue", "bool a;\nbool b;")
    with pytest.raises(KernelError, match="no challenge line"):
        kernels.challenge("accumulate_probe", "int x;")


def test_receipt(linear):
    linear(np.ones((2, 3), np.float32), alpha=2.0)
    r = linear.receipt.to_dict()
    assert json.loads(json.dumps(r)) == r
    assert (r["kernel"], r["backend"], r["seed"], r["policy"]) == ("linear_epilogue", "emulator", 0, "random")
    assert r["source_sha256"] == linear.source.sha256 and r["time"].endswith("Z") and "emulator" in r["device"]
    assert r["command"] == "kernels.load('linear_epilogue', backend='emulator')(<fp32 2x3>, alpha=2.0)"
    bundle = linear.receipt._repr_mimebundle_()
    assert bundle[MIME] == r and "linear_epilogue on emulator" in bundle["text/plain"]
