"""Lesson 7, times: the beta guard's cost, the epilogue's bandwidth, and fused against separate kernels."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

from kernels import arrays, gpu
from kernels.backends import Context
from kernels.bench import Bench, Session
from kernels.spec import get_spec

ROWS, COLUMNS = 16384, 32768  # 2 GiB of fp32: several times the L2 in every array
GEMM_M, GEMM_N = 8192, 8192
GEMM_K = (512, 1024, 2048, 4096, 8192)
SETS = 3  # operand sets in rotation


class Launcher:
    """Enqueues a spec's launches without waiting: for timing. out arrays are allocated once, by the plan."""

    def __init__(self, name: str, defines=None):
        import cupy

        self.spec = get_spec(name)
        self.module = gpu.Module(self.spec.source, defines)
        self.context = Context("gpu", gpu.require().sms, False, cupy)

    def prepare(self, *args, **params) -> tuple[Callable[[], None], object]:
        """(a function that enqueues the call, the array it writes). Tensor maps are encoded once."""
        self.spec.check(*args, **params)
        plan = self.spec.plan(self.context, *args, **params)
        ready = [
            (
                self.module.function(l.entry, l.smem),
                gpu.three(l.grid),
                gpu.three(l.block),
                tuple(map(gpu.pack, l.args)),
                l.smem,
            )
            for l in plan.launches
        ]

        def call():
            for function, grid, block, packed, smem in ready:
                function(grid, block, packed, shared_mem=smem)

        return call, plan.result


def random_fp32(shape):
    import cupy

    return cupy.random.default_rng(3).standard_normal(shape, dtype=cupy.float32)


def to_bits16(x, dtype: str):
    """x (fp32, GPU) as bf16 or fp16; bf16 rounds to nearest even on its bits."""
    import cupy

    if dtype == "fp16":
        return x.astype(cupy.float16)
    u = x.view(cupy.uint32)
    return ((u + 0x7FFF + ((u >> 16) & 1)) >> 16).astype(cupy.uint16).view(arrays.DTYPES["bf16"])


def widen(x):
    """bf16 (GPU) as fp32, exactly."""
    return (x.view("u2").astype("u4") << 16).view("f4")


def device_copy(nbytes: int) -> Callable[[], None]:
    """A device-to-device copy of nbytes through the driver: the bandwidth ceiling of the same run."""
    import cupy

    source, target = (cupy.random.default_rng(s).integers(0, 255, nbytes // 8, dtype=cupy.uint64) for s in (1, 2))
    return lambda: target.data.copy_from_device_async(source.data, nbytes, cupy.cuda.get_current_stream())


def beta_guard(session: Session) -> list[dict]:
    """beta = 0 with and without the guard, on the same arrays, interleaved with a device copy."""
    guarded, unguarded = Launcher("linear_epilogue"), Launcher("linear_epilogue", {"NO_BETA_GUARD": 1})
    acc = random_fp32((ROWS, COLUMNS))
    copy_bytes = acc.nbytes
    copy = device_copy(copy_bytes)
    points = []
    for out in ("fp32", "bf16"):
        c = acc[::-1].copy() if out == "fp32" else to_bits16(acc[::-1].copy(), out)
        calls, sizes = {"device copy": copy}, {"device copy": 2 * copy_bytes}
        each = 4 + arrays.DTYPES[out].itemsize
        for label, launcher, beta in (
            ("guarded, beta = 0", guarded, 0.0),
            ("unguarded, beta = 0", unguarded, 0.0),
            ("beta = 0.5", guarded, 0.5),
        ):
            calls[label], _ = launcher.prepare(acc, alpha=1.5, beta=beta, c=c, out=out)
            sizes[label] = acc.size * (each + (0 if label.startswith("guarded") else arrays.DTYPES[out].itemsize))
        times = session.time(calls, repeats=40)
        points += bandwidth_points(times, sizes, out=out)
        ratio = times["unguarded, beta = 0"]["ms"] / times["guarded, beta = 0"]["ms"]
        session.say(f"beta guard, {out}: unguarded takes {ratio:.3f} of the guarded time")
        del calls, c
    return points


def bandwidth_points(times: dict, sizes: dict, **labels) -> list[dict]:
    """A point a call, with bytes a second and the fraction of the device copy's of the same run."""
    rate = lambda name: sizes[name] / times[name]["ms"] / 1e9  # bytes / ms -> TB/s
    return [
        {"variant": v, **labels, "bytes": sizes[v], **t, "tb_per_s": rate(v), "of_copy": rate(v) / rate("device copy")}
        for v, t in times.items()
    ]


def bandwidth(session: Session) -> list[dict]:
    """The guarded kernel over output types, activations and bias, beside a device copy."""
    launcher = Launcher("linear_epilogue")
    acc = random_fp32((ROWS, COLUMNS))
    bias = random_fp32((COLUMNS,))
    copy = device_copy(acc.nbytes)
    points = []
    for out in ("fp32", "fp16", "bf16"):
        calls, sizes = {"device copy": copy}, {"device copy": 2 * acc.nbytes}
        for act, b in itertools.product(("none", "relu", "gelu", "silu"), (None, bias)):
            label = f"{act}{', bias' if b is not None else ''}"
            calls[label], _ = launcher.prepare(acc, alpha=1.5, bias=b, act=act, out=out)
            sizes[label] = acc.size * (4 + arrays.DTYPES[out].itemsize)
        points += bandwidth_points(session.time(calls, repeats=15), sizes, out=out)
        del calls
        worst = min(points[-8:], key=lambda p: p["of_copy"])
        session.say(
            f"bandwidth, {out}: {points[-8]['of_copy']:.1%} of the copy plain, {worst['of_copy']:.1%} at worst ({worst['variant']})"
        )
    return points


def fused(session: Session) -> list[dict]:
    """bias + activation + residual in the GEMM's epilogue, and in kernels of their own after the same GEMM."""
    gemm, elementwise = Launcher("gemm_epilogue"), Launcher("linear_epilogue")
    bias = random_fp32((GEMM_N,))
    residual = to_bits16(random_fp32((GEMM_M, GEMM_N)), "bf16")
    points = []
    for k in GEMM_K:
        sets = [tuple(to_bits16(random_fp32((rows, k)), "bf16") for rows in (GEMM_M, GEMM_N)) for _ in range(SETS)]
        calls = course_calls(gemm, elementwise, sets, 1 / math.sqrt(k), bias, residual) | torch_calls(
            sets, bias, residual
        )
        times = session.time(calls, repeats=20 if k > 4096 else 30)
        base = {"course": times["course: gemm alone"]["ms"], "torch": times.get("torch: gemm alone", {}).get("ms")}
        flops = 2.0 * GEMM_M * GEMM_N * k
        for name, t in times.items():
            family = name.split(":")[0]
            points.append(
                {
                    "k": k,
                    "family": family,
                    "variant": name.split(": ")[1],
                    **t,
                    "of_gemm": t["ms"] / base[family],
                    "tflop_per_s": flops / t["ms"] / 1e9,
                }
            )
        session.say(f"K = {k}: " + ", ".join(f"{n} {t['ms']:.3f} ms" for n, t in times.items()))
        del sets, calls
    return points


def rotate(calls) -> Callable[[], None]:
    """One call that runs the next of `calls` each time."""
    ring = itertools.cycle(calls)
    return lambda: next(ring)()


def course_calls(gemm, elementwise, sets, alpha, bias, residual) -> dict[str, Callable[[], None]]:
    """The same GEMM alone, with its epilogue fused, and followed by elementwise kernels on its fp32 result."""
    found: dict[str, list] = {}
    wide_residual = widen(residual)
    for a, b in sets:
        wide, acc = gemm.prepare(a, b, alpha=alpha, out="fp32")
        add_bias, biased = elementwise.prepare(acc, bias=bias, out="fp32")
        add_residual, summed = elementwise.prepare(biased, beta=1.0, c=wide_residual, out="fp32")
        last = lambda x: elementwise.prepare(x, act="silu", out="bf16")[0]
        found.setdefault("course: gemm alone", []).append(gemm.prepare(a, b, alpha=alpha, out="bf16")[0])
        for label, c in (("bias, silu", {}), ("bias, residual, silu", {"beta": 1.0, "c": residual})):
            whole = dict(bias=bias, act="silu", out="bf16", **c)
            steps = (add_bias, last(biased)) if not c else (add_bias, add_residual, last(summed))
            found.setdefault(f"course: {label} fused", []).append(gemm.prepare(a, b, alpha=alpha, **whole)[0])
            found.setdefault(f"course: {label} in 1 kernel", []).append(
                chain(wide, elementwise.prepare(acc, **whole)[0])
            )
            found.setdefault(f"course: {label} in {len(steps)} kernels", []).append(chain(wide, *steps))
    return {name: rotate(calls) for name, calls in found.items()}


def chain(*calls) -> Callable[[], None]:
    """One call that runs all in order."""
    return lambda: [call() for call in calls] and None


def torch_calls(sets, bias, residual) -> dict[str, Callable[[], None]]:
    """The same shapes through torch: cuBLAS and separate kernels, and cuBLASLt's fused bias + GELU. {} where torch is missing."""
    try:
        import torch
    except ImportError:
        return {}
    as_torch = lambda x: torch.as_tensor(x.view("u2").view("i2"), device="cuda").view(torch.bfloat16)
    tensors = [tuple(map(as_torch, pair)) for pair in sets]
    vector = torch.as_tensor(bias, device="cuda").to(torch.bfloat16)
    rest = as_torch(residual)
    silu, gelu, linear = torch.nn.functional.silu, torch.nn.functional.gelu, torch.nn.functional.linear
    out = {
        "torch: gemm alone": [lambda a=a, b=b: linear(a, b) for a, b in tensors],
        "torch: bias, gelu fused (cuBLASLt)": [
            lambda a=a, b=b: torch._addmm_activation(vector, a, b.t(), use_gelu=True) for a, b in tensors
        ],
        "torch: bias, gelu in 2 kernels": [
            lambda a=a, b=b: gelu(torch.matmul(a, b.t()) + vector, approximate="tanh") for a, b in tensors
        ],
        "torch: bias, residual, silu in 3 kernels": [
            lambda a=a, b=b: silu(torch.matmul(a, b.t()) + vector + rest) for a, b in tensors
        ],
    }
    return {name: rotate(calls) for name, calls in out.items()}


TIMES = {
    "ms": "median device time, milliseconds",
    "ms_min": "smallest reading",
    "ms_p10": "10th percentile",
    "ms_p90": "90th percentile",
    "readings": "number of readings, interleaved with the other variants",
}
RATES = {
    "bytes": "bytes the variant must move, each array once",
    "tb_per_s": "bytes / median time, 10^12 bytes a second, read + written",
    "of_copy": "that rate over the device copy's in the same run",
}

BENCHES = (
    Bench(
        "lesson07_beta_guard",
        f"linear_epilogue over {ROWS} x {COLUMNS} fp32 accumulators: beta = 0 with the guard, without it (C is read for nothing), and beta = 0.5",
        ("linear_epilogue",),
        beta_guard,
        {"variant": "what ran", "out": "type of C and D", **TIMES, **RATES},
    ),
    Bench(
        "lesson07_epilogue_bandwidth",
        f"linear_epilogue over {ROWS} x {COLUMNS} fp32 accumulators, beta = 0, against a device copy: output types, activations, bias",
        ("linear_epilogue",),
        bandwidth,
        {"variant": "activation, and whether a bias is added", "out": "type of D", **TIMES, **RATES},
    ),
    Bench(
        "lesson07_fused_vs_separate",
        f"GEMM {GEMM_M} x {GEMM_N} x K, bf16: bias, residual and activation in the epilogue and as separate kernels after the same GEMM; torch (cuBLAS, cuBLASLt) for context",
        ("gemm_epilogue", "linear_epilogue"),
        fused,
        {
            "k": "K",
            "family": "course: this repository's kernels; torch: cuBLAS and torch's elementwise kernels",
            "variant": "gemm alone (bf16 D); or what follows it: fused into its epilogue, or in kernels of their own (course: on an fp32 result; torch: bf16)",
            **TIMES,
            "of_gemm": "median time over that family's gemm alone at the same K",
            "tflop_per_s": "2 M N K / median time",
        },
    ),
)
