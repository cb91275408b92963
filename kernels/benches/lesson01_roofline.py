"""Lesson 1: the measured roofline of the device, for the CUDA cores in fp32 and the tensor cores in bf16."""

from __future__ import annotations

from kernels.bench import Bench, Session
from kernels.benches.gemm_ladder import Operands
from kernels.benches.lesson07_speed import device_copy, random_fp32, to_bits16
from kernels.benches.ready import TIMES, compile_all, prepare
from kernels.spec import get_spec
from kernels.specs.gemm import RUNGS

ELEMENTS = 1 << 28  # 1 GiB of fp32: many times the L2
FMAS = (1, 2, 4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 48, 64, 96, 128, 256, 512, 1024)
RESIDENT_FMAS = (256, 1024)
GEMM_MN, GEMM_K = 8192, (64, 128, 256, 512, 1024, 2048, 4096, 8192)
RATE_REPEATS = 8192
RUNG = "gemm_pingpong"


def roofline(session: Session) -> list[dict]:
    """fp32: the probe over intensities, register-resident too, beside a device copy. bf16: the matrix unit alone, and GEMMs over K."""
    source = get_spec("roofline_probe").source
    compile_all(
        [(source, {"FMAS": f}) for f in FMAS] + [("wgmma_rate.cu", {"TILE_N": 256, "GROUPS": 2, "A_FROM_REGISTERS": 0})]
    )
    points = fp32(session) + tensor_ceiling(session)
    for k in GEMM_K:
        points += gemm(session, k)
    return points


def fp32(session: Session) -> list[dict]:
    x = random_fp32(ELEMENTS)
    calls, labels = {"device copy": device_copy(x.nbytes)}, {}
    for fmas, resident in [(f, False) for f in FMAS] + [(f, True) for f in RESIDENT_FMAS]:
        name = f"{fmas} FMA{', resident' if resident else ''}"
        calls[name], _ = prepare("roofline_probe", x, fmas=fmas, resident=resident)
        labels[name] = (fmas, resident)
    times = session.time(calls, repeats=12)
    copy = times["device copy"]
    points = [{"unit": "copy", "variant": "device copy", "flops": 0.0, "bytes": 2.0 * x.nbytes, "intensity": None, "flop_per_s": 0.0,
               "tb_per_s": 2 * x.nbytes / copy["ms"] / 1e9, **copy}]  # fmt: skip
    for name, (fmas, resident) in labels.items():
        t, flops, nbytes = times[name], 2.0 * fmas * ELEMENTS, 0.0 if resident else 4.0 * ELEMENTS
        points.append({"unit": "fp32", "variant": name, "flops": flops, "bytes": nbytes, "intensity": flops / nbytes if nbytes else None,
                       "flop_per_s": flops / t["ms"] * 1e3, "tb_per_s": nbytes / t["ms"] / 1e9, **t})  # fmt: skip
    best = max(p["flop_per_s"] for p in points)
    session.say(
        f"copy {points[0]['tb_per_s']:.2f} TB/s, fp32 {best / 1e12:.1f} TFLOP/s, ridge {best / points[0]['tb_per_s'] / 1e12:.1f} FLOP/byte"
    )
    return points


def tensor_ceiling(session: Session) -> list[dict]:
    """wgmma on operands that stay on the chip: random ones, and zeros, which cost less power."""
    import cupy

    a, b = to_bits16(random_fp32((128, 64)), "bf16"), to_bits16(random_fp32((256, 64)), "bf16")
    zero = [cupy.zeros_like(x.view("u2")).view(x.dtype) for x in (a, b)]
    calls = {
        name: prepare("wgmma_rate", *given, repeats=RATE_REPEATS)[0]
        for name, given in (("random", (a, b)), ("zeros", zero))
    }
    times = session.time(calls, repeats=20)
    flops = 2.0 * 128 * 256 * 64 * RATE_REPEATS * session.device.sms
    points = [{"unit": "bf16", "variant": f"wgmma alone, {name}", "flops": flops, "bytes": 0.0, "intensity": None,
               "flop_per_s": flops / t["ms"] * 1e3, "tb_per_s": 0.0, **t} for name, t in times.items()]  # fmt: skip
    session.say(", ".join(f"{p['variant']}: {p['flop_per_s'] / 1e12:.0f} TFLOP/s" for p in points))
    return points


def gemm(session: Session, k: int) -> list[dict]:
    """The ladder's last rung and cuBLAS at one K: a GEMM's intensity grows with K until C no longer counts."""
    size = (GEMM_MN, GEMM_MN, k)
    operands = Operands(size)
    call, _ = operands.rung(RUNGS[RUNG], session.device.sms)
    times = session.time({RUNG: call, "cublas": operands.cublas()}, repeats=15, inner=max(1, 1024 // k))
    flops, nbytes = 2.0 * GEMM_MN * GEMM_MN * k, 2.0 * (2 * GEMM_MN * k + GEMM_MN * GEMM_MN)
    points = [{"unit": "bf16", "variant": f"{name}, K = {k}", "flops": flops, "bytes": nbytes, "intensity": flops / nbytes,
               "flop_per_s": flops / t["ms"] * 1e3, "tb_per_s": nbytes / t["ms"] / 1e9, **t} for name, t in times.items()]  # fmt: skip
    session.say(
        ", ".join(f"{p['variant']}: {p['flop_per_s'] / 1e12:.0f} TFLOP/s, {p['tb_per_s']:.2f} TB/s" for p in points)
    )
    return points


BENCHES = (
    Bench(
        "lesson01_roofline",
        f"Roofline: fused multiply-adds on {ELEMENTS} loaded fp32 elements over intensities, a device copy, wgmma alone, and bf16 GEMMs over K",
        ("roofline_probe", "wgmma_rate", RUNG),
        roofline,
        {
            "unit": "copy; fp32: CUDA cores; bf16: tensor cores",
            "variant": "what ran; resident: nothing loaded",
            "flops": "floating-point operations",
            "bytes": "bytes of device memory that must move: the copy both ways, x once, a GEMM's A, B and D once",
            "intensity": "flops / bytes; null where nothing must move",
            "flop_per_s": "flops / median time",
            "tb_per_s": "bytes / median time, 10^12 bytes a second",
            **TIMES,
        },
    ),
)
