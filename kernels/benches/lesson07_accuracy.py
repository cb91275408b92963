"""Lesson 7, numbers: both kernels against float64, accumulation error against K, and the early against the late cast."""

from __future__ import annotations

import itertools

import numpy as np

from kernels import arrays, kernel
from kernels.bench import Bench, Session
from kernels.compare import relative_error
from kernels.spec import tolerance
from kernels.specs.epilogue import ACTIVATIONS, OUTPUTS, PROBES

LENGTHS = (512, 1024, 2048, 4096, 8192, 16384, 32768, 65536)  # K
TILE = 256  # rows and columns of the probe's product


def correctness(session: Session) -> list[dict]:
    """Every output type, C type, activation, with and without bias and C, over odd sizes; outputs poisoned before each launch."""
    rng = np.random.default_rng(20261129)
    points = []
    shapes = {
        "linear_epilogue": [(1, 1), (3, 5), (7, 127), (127, 129), (509, 251)],
        "gemm_epilogue": [(1, 1, 1), (5, 3, 7), (127, 129, 65), (197, 131, 211), (257, 383, 1021)],
    }
    for name, sizes in shapes.items():
        loaded = kernel.load(name, "gpu", poison=True)
        variants = itertools.product(sizes, OUTPUTS, ACTIVATIONS, (False, True), ("none", "nan", "same", "fp32"))
        for size, out, act, with_bias, c_kind in variants:
            m, n = size[:2]
            if name == "linear_epilogue":
                top = 6 if m * n > 1e5 else 1  # the largest size also overflows fp16: saturation
                operands = ((rng.standard_normal((m, n)) * 10.0 ** rng.uniform(-1, top, (m, 1))).astype(np.float32),)
            else:
                operands = tuple(
                    rng.standard_normal((rows, size[2]), dtype=np.float32).astype(arrays.DTYPES["bf16"])
                    for rows in (m, n)
                )
            beta = 0.0 if c_kind in ("none", "nan") else float(np.float32(rng.uniform(-2, 2)))
            c_type = arrays.DTYPES["fp32" if c_kind == "fp32" else out]
            c = (
                None
                if c_kind == "none"
                else np.full((m, n), np.nan, c_type)
                if c_kind == "nan"
                else rng.standard_normal((m, n)).astype(c_type)
            )
            params = dict(alpha=float(np.float32(rng.uniform(0.5, 2))), beta=beta, c=c, act=act, out=out)
            params["bias"] = rng.standard_normal(n).astype(np.float32) if with_bias else None
            error = relative_error(loaded(*operands, **params), loaded.reference(*operands, **params))
            bound = tolerance(loaded.spec, operands, params)
            if not error <= bound:
                raise AssertionError(f"{name} is wrong: {size}, {params}, error {error}, bound {bound}")
            points.append(
                {
                    "kernel": name,
                    "size": "x".join(map(str, size)),
                    "out": out,
                    "act": act,
                    "bias": with_bias,
                    "c": c_kind,
                    "error": error,
                    "bound": bound,
                }
            )
        session.say(f"{name}: {sum(p['kernel'] == name for p in points)} cases right on {session.device.name}")
    return points


def accumulation(session: Session) -> list[dict]:
    """One product per accumulator and K on tensor cores, operands uniform in [0.5, 1.5), against float64 of the same operands."""
    import cupy

    rng = np.random.default_rng(7)
    probe = kernel.load("accumulate_probe", "gpu", poison=True)
    series = [("fp16_acc16", 0), ("fp16", 0), ("bf16", 0), ("e4m3", 0), ("e4m3", 1)]
    points = []
    for accumulator, promote in series:
        dtype = arrays.DTYPES[PROBES[accumulator][0]]
        for k in LENGTHS:
            a, b = ((rng.random((TILE, k), dtype=np.float32) + np.float32(0.5)).astype(dtype) for _ in range(2))
            out = cupy.asarray(probe(a, b, accumulator=accumulator, promote=promote)).astype(cupy.float64)
            reference = cupy.asarray(a.astype(np.float64)) @ cupy.asarray(b.astype(np.float64)).T
            finite = cupy.isfinite(out)
            error = cupy.abs(cupy.where(finite, out, 0) - reference) / cupy.abs(reference)
            overflow = float(1 - finite.mean())
            points.append(
                {
                    "operands": PROBES[accumulator][0],
                    "accumulator": (
                        "fp16"
                        if accumulator == "fp16_acc16"
                        else "fp8 instruction"
                        if accumulator == "e4m3" and not promote
                        else "fp32"
                        if not promote
                        else "promoted"
                    ),
                    "promote_k": promote * 128,
                    "k": k,
                    "max_error": float(error.max()) if not overflow else None,
                    "mean_error": float(error.mean()) if not overflow else None,
                    "norm_error": float(cupy.linalg.norm(out - reference) / cupy.linalg.norm(reference))
                    if not overflow
                    else None,
                    "overflow": overflow,
                }
            )
        session.say(
            f"{accumulator}{' promoted' if promote else ''}: max relative error at K = {LENGTHS[0]} {points[-len(LENGTHS)]['max_error']:.1e}, at K = {k} {points[-1]['max_error'] or float('nan'):.1e}"
        )
    return points


def casts(session: Session) -> list[dict]:
    """D = alpha * acc + beta * C with C chosen so that the two terms cancel to a fraction `kept` of their size."""
    rng = np.random.default_rng(11)
    loaded = kernel.load("linear_epilogue", "gpu", poison=True)
    m, n, alpha, beta = 509, 1021, 2.0, 0.5
    points = []
    for kept in (1.0, 0.5, 0.1, 3e-2, 1e-2, 3e-3, 1e-3, 3e-4, 1e-4):
        acc = (rng.standard_normal((m, n)) * 4).astype(np.float32)
        c = (-alpha / beta * acc * (1 - kept * rng.uniform(0.5, 1.5, (m, n)))).astype(np.float32)
        exact = loaded.reference(acc, alpha=alpha, beta=beta, c=c)
        early_acc = acc.astype(np.float16).astype(np.float32)  # what a kernel has left that casts the accumulator first
        for out in ("fp16", "fp32"):
            for cast, operand in (("late", acc), ("early", early_acc)):
                d = arrays.to_numpy(loaded(operand, alpha=alpha, beta=beta, c=c, out=out)).astype(np.float64)
                difference = np.abs(d - exact)
                points.append(
                    {
                        "kept": kept,
                        "out": out,
                        "cast": cast,
                        "norm_error": relative_error(d, exact),
                        "max_abs_error": float(difference.max()),
                        "mean_abs_error": float(difference.mean()),
                        "median_relative_error": float(np.median(difference / np.abs(exact))),
                    }
                )
        session.say(
            "kept {:.0e}: relative error, fp16 out, late {:.1e} early {:.1e}".format(
                kept, points[-4]["norm_error"], points[-3]["norm_error"]
            )
        )
    return points


BENCHES = (
    Bench(
        "lesson07_correctness",
        "Error norms of linear_epilogue and gemm_epilogue on a GPU against float64, over types, activations, bias, C and odd sizes",
        ("linear_epilogue", "gemm_epilogue"),
        correctness,
        {
            "size": "M x N (x K)",
            "c": "none: null C, beta = 0; nan: C full of NaN, beta = 0; same: C of the output's type; fp32: C in fp32",
            "error": "||D - ref|| / ||ref||, ref in float64",
            "bound": "what the error must not exceed",
        },
    ),
    Bench(
        "lesson07_accumulation_error",
        "Relative error of tensor-core dot products against float64 as K grows, operands uniform in [0.5, 1.5), 256 x 256 outputs",
        ("accumulate_probe",),
        accumulation,
        {
            "accumulator": "fp16; fp32; fp8 instruction: what the FP8 instruction keeps by itself; promoted: FP8 partial sums added to fp32 registers by CUDA cores",
            "promote_k": "elements of K between promotions, 0: none",
            "k": "length of the dot product",
            "max_error": "largest |D - ref| / |ref|; null where outputs overflowed",
            "mean_error": "mean of the same",
            "norm_error": "||D - ref|| / ||ref||",
            "overflow": "fraction of outputs that are infinite or NaN",
        },
    ),
    Bench(
        "lesson07_early_late_cast",
        "Error of D = 2 acc + 0.5 C with the accumulator cast to fp16 before (early) or the result after (late) the arithmetic, as cancellation grows",
        ("linear_epilogue",),
        casts,
        {
            "kept": "mean size of the result relative to alpha * acc: 1 no cancellation",
            "out": "type of D",
            "cast": "late: one cast, of the result; early: the accumulator is cast to fp16 before the arithmetic",
            "norm_error": "||D - ref|| / ||ref||, ref in float64 from the fp32 accumulator",
            "max_abs_error": "largest |D - ref|",
            "mean_abs_error": "mean |D - ref|",
            "median_relative_error": "median of |D - ref| / |ref|",
        },
    ),
)
