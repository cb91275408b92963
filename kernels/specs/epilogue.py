"""Lesson 7's kernels: the elementwise epilogue, the GEMM that fuses it, and the probe of the tensor core's accumulators."""

from __future__ import annotations

import math

import numpy as np

from kernels.arrays import DTYPES, require_array, require_choice, require_number, require_sides
from kernels.errors import ArgumentError
from kernels.spec import Bug, Case, KernelSpec, Launch, Plan, Work, ceil_div
from kernels.tensormap import TensorMap

ACTIVATIONS = {"none": 0, "relu": 1, "gelu": 2, "silu": 3}
OUTPUTS = ("fp32", "fp16", "bf16")
ROUNDING = {"fp32": 2e-6, "fp16": 6e-4, "bf16": 5e-3}  # a few units of the output's last place, as a norm
THREADS = 256  # as in both sources
TILE = 128  # as in gemm_epilogue.cu
SHARED_BYTES = 3 * 2 * 128 * 64 * 2 + 3 * 8  # sizeof(Shared) in gemm_epilogue.cu

_erf = np.vectorize(math.erf, otypes=[np.float64])


# ---------------------------------------------------------------------------------------------- the epilogue, in both kernels
def _check_epilogue(m, n, alpha, beta, c, bias, act, out) -> None:
    require_number("alpha", alpha)
    require_number("beta", beta)
    require_choice("act", act, tuple(ACTIVATIONS))
    require_choice("out", out, OUTPUTS)
    if c is None and beta != 0:
        raise ArgumentError(
            f"beta is {beta!r} but C is None: D = act(alpha * acc + beta * C + bias) needs C unless beta is 0. Nothing was launched. "
            "Pass c=, or beta=0.0."
        )
    if c is not None:
        require_array("c", c, dtype=("fp32", out), shape=(m, n))
    if bias is not None:
        require_array("bias", bias, dtype="fp32", shape=(n,))


def activate(x: np.ndarray, act: str) -> np.ndarray:
    """The activation in float64; GELU is the exact one (erf), 0 at minus infinity (its limit). SiLU there is NaN, as in the kernels."""
    if act == "relu":
        return np.where(x < 0, 0.0, x)
    if act == "gelu":
        with np.errstate(invalid="ignore"):
            return np.where(np.isneginf(x), 0.0, 0.5 * x * (1.0 + _erf(x / math.sqrt(2.0))))
    if act == "silu":
        with np.errstate(over="ignore", invalid="ignore"):
            return x / (1.0 + np.exp(-x))
    return x


def epilogue_reference(acc, alpha=1.0, beta=0.0, c=None, bias=None, act="none", out="fp32") -> np.ndarray:
    """act(alpha * acc + beta * c + bias) in float64, limited to the output type's finite range; alpha and beta are fp32 numbers."""
    alpha, beta = np.float64(np.float32(alpha)), np.float64(np.float32(beta))
    d = alpha * acc.astype(np.float64)
    if beta != 0:
        d = d + beta * c.astype(np.float64)
    if bias is not None:
        d = d + bias.astype(np.float64)
    d = activate(d, act)
    limit = float(ml_finfo(out).max)
    return np.where(np.isnan(d), d, np.clip(d, -limit, limit))


def ml_finfo(out: str):
    """Limits of an output type."""
    import ml_dtypes

    return ml_dtypes.finfo(DTYPES[out])


def _entry(kernel: str, c, out: str) -> str:
    """The entry for a pair of types. Without C, the one with C of the output's type."""
    c32 = c is not None and c.dtype == DTYPES["fp32"] and out != "fp32"
    return f"{kernel}_{out}" + ("_c32" if c32 else "")


def _entries(kernel: str) -> tuple[str, ...]:
    return tuple(f"{kernel}_{o}" for o in ("fp32", "fp16", "bf16", "fp16_c32", "bf16_c32"))


def bound_linear(acc, alpha=1.0, beta=0.0, c=None, bias=None, act="none", out="fp32") -> float:
    """The output type's rounding, times how much the terms cancel: ||alpha acc|, |beta c|, |bias|| over the result's norm, 100 at most."""
    terms = np.abs(float(alpha) * acc.astype(np.float64))
    if beta != 0:
        terms = terms + np.abs(float(beta) * c.astype(np.float64))
    if bias is not None:
        terms = terms + np.abs(bias.astype(np.float64))
    size = float(np.linalg.norm(terms))
    norm = float(np.linalg.norm(epilogue_reference(acc, alpha, beta, c, bias, act, out)))
    return ROUNDING[out] * (min(100.0, max(1.0, size / norm)) if norm > 1e-30 else size)


def bound_gemm(a, b, alpha=1.0, beta=0.0, c=None, bias=None, act="none", out="fp32") -> float:
    """As bound_linear, plus what the tensor core's fp32 sums lose, which grows with K (see lesson07_accumulation_error.json)."""
    acc = a.astype(np.float64) @ b.astype(np.float64).T
    size = np.linalg.norm(np.abs(a.astype(np.float64)) @ np.abs(b.astype(np.float64)).T) / max(
        float(np.linalg.norm(acc)), 1e-30
    )
    return bound_linear(acc, alpha, beta, c, bias, act, out) + 5e-9 * a.shape[1] * min(100.0, size)


def _scalars(alpha, beta, act):
    return np.float32(alpha), np.float32(beta), np.int32(ACTIVATIONS[act])


NO_GUARD = (
    "C is read although beta is 0. With a null C the GPU meets an address that is not mapped (cudaErrorIllegalAddress, a sticky error); "
    "with a C that holds NaN or Inf the result is NaN, since 0 * NaN is NaN; with any C a third of the traffic is for nothing."
)


# ---------------------------------------------------------------------------------------------- linear_epilogue
def check_linear(acc, alpha=1.0, beta=0.0, c=None, bias=None, act="none", out="fp32") -> None:
    require_array("acc", acc, dtype="fp32", ndim=2)
    _check_epilogue(*acc.shape, alpha, beta, c, bias, act, out)


def plan_linear(ctx, acc, alpha=1.0, beta=0.0, c=None, bias=None, act="none", out="fp32") -> Plan:
    m, n = acc.shape
    d = ctx.empty((m, n), out)
    elements = THREADS * (16 // d.itemsize)  # a block's share
    args = [acc, c, bias, d, *_scalars(alpha, beta, act), np.uint32(n), np.uint64(m * n)]
    return Plan([Launch(_entry("linear_epilogue", c, out), (ceil_div(m * n, elements),), (THREADS,), args)], d)


def example_linear(rng, m: int = 317, n: int = 251, out: str = "fp32", act: str = "gelu", beta: float = 0.5):
    acc = rng.standard_normal((m, n), dtype=np.float32) * 4
    c = rng.standard_normal((m, n), dtype=np.float32).astype(DTYPES[out]) if beta else None
    return (acc,), dict(alpha=1.25, beta=beta, c=c, bias=rng.standard_normal(n, dtype=np.float32), act=act, out=out)


def cases_linear(rng, count: int):
    """Odd sizes and uneven values; every third with beta = 0, C then absent or full of NaN. Else beta of either sign, at times tiny."""
    for i in range(count):
        m, n = (int(x) for x in rng.choice([1, 2, 3, 5, 7, 13, 31, 37, 61, 64, 101, 127], 2))
        acc = (rng.standard_normal((m, n)) * 10.0 ** rng.uniform(-2, 2, (m, 1))).astype(np.float32)
        alpha = float(np.float32(rng.uniform(-2, 2)))
        if i % 3:
            beta = math.copysign(float(np.float32(rng.uniform(-2, 2))), 1 if i % 2 else -1)
            c, what = rng.standard_normal((m, n), dtype=np.float32), "C read"
            if i % 6 == 4:
                beta, c, what = beta * 2.0**-100, c * np.float32(2.0**100), "beta tiny, C huge"
        else:
            beta = 0.0
            c, what = (
                (None, "beta = 0, C absent") if i % 2 else (np.full((m, n), np.nan, np.float32), "beta = 0, C is NaN")
            )
        yield Case(f"{m} x {n}, {what}", (acc,), dict(alpha=alpha, beta=beta, c=c))


def work_linear(acc, alpha=1.0, beta=0.0, c=None, bias=None, act="none", out="fp32") -> Work:
    each = 4 + DTYPES[out].itemsize + (c.dtype.itemsize if beta else 0)
    return Work(flops=3 * acc.size, bytes=each * acc.size + (bias.nbytes if bias is not None else 0))


# ---------------------------------------------------------------------------------------------- gemm_epilogue
def check_gemm(a, b, alpha=1.0, beta=0.0, c=None, bias=None, act="none", out="fp32") -> None:
    require_array("a", a, dtype="bf16", ndim=2)
    require_array("b", b, dtype="bf16", ndim=2)
    require_sides("a", a)
    require_sides("b", b)
    if a.shape[1] != b.shape[1]:
        raise ArgumentError(
            f"a is (M, K) and b is (N, K), both K-major; their last axes differ: {tuple(a.shape)} and {tuple(b.shape)}."
        )
    _check_epilogue(a.shape[0], b.shape[0], alpha, beta, c, bias, act, out)


def pad_k(ctx, x):
    """x, or where its rows are no multiple of 16 bytes (a rule of TMA) a copy with the rows filled up with zeros."""
    step = 16 // x.itemsize
    if x.shape[1] % step == 0:
        return x
    padded = ctx.zeros((x.shape[0], ceil_div(x.shape[1], step) * step), str(x.dtype))
    bits = f"u{x.itemsize}"
    padded.view(bits)[:, : x.shape[1]] = x.view(bits)
    return padded


def plan_gemm(ctx, a, b, alpha=1.0, beta=0.0, c=None, bias=None, act="none", out="fp32") -> Plan:
    (m, _), (n, _) = a.shape, b.shape
    a, b = pad_k(ctx, a), pad_k(ctx, b)
    d = ctx.empty((m, n), out)
    maps = [TensorMap(x, (TILE, 64), dtype="bfloat16") for x in (a, b)]
    args = [*maps, c, bias, d, *_scalars(alpha, beta, act), np.int32(m), np.int32(n), np.int32(a.shape[1])]
    return Plan(
        [
            Launch(
                _entry("gemm_epilogue", c, out),
                (ceil_div(n, TILE), ceil_div(m, TILE)),
                (THREADS,),
                args,
                SHARED_BYTES,
                registers=128,
            )
        ],
        d,
    )


def reference_gemm(a, b, alpha=1.0, beta=0.0, c=None, bias=None, act="none", out="fp32") -> np.ndarray:
    return epilogue_reference(a.astype(np.float64) @ b.astype(np.float64).T, alpha, beta, c, bias, act, out)


def example_gemm(
    rng, m: int = 197, n: int = 131, k: int = 211, out: str = "bf16", act: str = "silu", beta: float = 0.5
):
    a = rng.standard_normal((m, k), dtype=np.float32).astype(DTYPES["bf16"])
    b = rng.standard_normal((n, k), dtype=np.float32).astype(DTYPES["bf16"])
    c = rng.standard_normal((m, n), dtype=np.float32).astype(DTYPES[out]) if beta else None
    return (a, b), dict(
        alpha=1 / math.sqrt(k), beta=beta, c=c, bias=rng.standard_normal(n, dtype=np.float32), act=act, out=out
    )


def work_gemm(a, b, alpha=1.0, beta=0.0, c=None, bias=None, act="none", out="fp32") -> Work:
    m, k, n = *a.shape, b.shape[0]
    each = DTYPES[out].itemsize + (c.dtype.itemsize if beta else 0)
    return Work(flops=2.0 * m * n * k, bytes=2 * (m + n) * k + each * m * n)


# ---------------------------------------------------------------------------------------------- accumulate_probe
PROBES = {
    "fp16_acc16": ("fp16", 2),
    "fp16": ("fp16", 2),
    "bf16": ("bf16", 2),
    "e4m3": ("e4m3", 1),
}  # accumulator: (operands, bytes)


def check_probe(a, b, accumulator="fp16", promote=0) -> None:
    require_choice("accumulator", accumulator, tuple(PROBES))
    dtype, size = PROBES[accumulator]
    require_array("a", a, dtype=dtype, ndim=2)
    require_array("b", b, dtype=dtype, ndim=2)
    if a.shape[1] != b.shape[1] or a.shape[0] % 64 or b.shape[0] % 64 or a.shape[1] * size % 128:
        raise ArgumentError(
            f"the probe takes a (M, K) and b (N, K) with M and N multiples of 64 and K a multiple of {128 // size} elements (128 B); "
            f"got {tuple(a.shape)} and {tuple(b.shape)}."
        )
    if not isinstance(promote, int) or promote < 0 or (promote and accumulator == "fp16_acc16"):
        raise ArgumentError(
            "promote is the number of k-blocks of 128 bytes between promotions, 0 for none; fp16_acc16 has none."
        )


def plan_probe(ctx, a, b, accumulator="fp16", promote=0) -> Plan:
    (m, k), n = a.shape, b.shape[0]
    d = ctx.empty((m, n), "fp32")
    args = [a, b, d, np.int32(n), np.int32(k)] + ([] if accumulator == "fp16_acc16" else [np.int32(promote)])
    return Plan([Launch(f"probe_{accumulator}", (n // 64, m // 64), (128,), args)], d)


def example_probe(rng, m: int = 64, n: int = 128, k: int = 512, accumulator: str = "bf16", promote: int = 0):
    draw = lambda rows: rng.uniform(0.5, 1.5, (rows, k)).astype(DTYPES[PROBES[accumulator][0]])
    return (draw(m), draw(n)), dict(accumulator=accumulator, promote=promote)


def bound_probe(a, b, accumulator="fp16", promote=0) -> float:
    """Loose: the probe is there to measure the error, not to keep it small."""
    return {"fp16_acc16": 0.05, "e4m3": 0.02}.get(accumulator, 1e-5)


SPECS = (
    KernelSpec(
        name="linear_epilogue",
        source="linear_epilogue.cu",
        computes="D = act(alpha * acc + beta * C + bias), elementwise over an (M, N) fp32 accumulator, to fp32, fp16 or bf16",
        plan=plan_linear,
        check=check_linear,
        reference=epilogue_reference,
        example=example_linear,
        cases=cases_linear,
        work=work_linear,
        tolerance=bound_linear,
        max_registers=32,
        builds=({}, {"NO_BETA_GUARD": 1}),
        entries=_entries("linear_epilogue"),
        bugs={
            "no_beta_guard": Bug(
                {"NO_BETA_GUARD": 1},
                NO_GUARD,
                lambda rng, m=317, n=251, out="fp32", act="gelu": example_linear(rng, m, n, out, act, beta=0.0),
            )
        },
    ),
    KernelSpec(
        name="gemm_epilogue",
        source="gemm_epilogue.cu",
        computes="D = act(alpha * (A B^T) + beta * C + bias), bf16 operands, fp32 accumulator, the epilogue fused into the GEMM",
        plan=plan_gemm,
        check=check_gemm,
        reference=reference_gemm,
        example=example_gemm,
        work=work_gemm,
        tolerance=bound_gemm,
        max_registers=128,
        builds=({}, {"NO_BETA_GUARD": 1}),
        entries=_entries("gemm_epilogue"),
        bugs={
            "no_beta_guard": Bug(
                {"NO_BETA_GUARD": 1},
                NO_GUARD,
                lambda rng, m=197, n=131, k=211, out="bf16", act="silu": example_gemm(rng, m, n, k, out, act, beta=0.0),
            )
        },
    ),
    KernelSpec(
        name="accumulate_probe",
        source="accumulate_probe.cu",
        computes="D = A B^T by tensor cores with an fp16, fp32 or FP8-instruction accumulator, to measure how the error grows with K",
        plan=plan_probe,
        check=check_probe,
        reference=lambda a, b, accumulator="fp16", promote=0: a.astype(np.float64) @ b.astype(np.float64).T,
        example=example_probe,
        tolerance=bound_probe,
        max_registers=128,
        entries=tuple(f"probe_{p}" for p in PROBES),
    ),
)
