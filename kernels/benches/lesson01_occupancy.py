"""Lesson 1: the probe with 1 to 8 blocks resident on an SM, below, at and above the ridge; and what a pure write reaches."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from kernels import gpu
from kernels.bench import Bench, Session
from kernels.benches.lesson01_roofline import ELEMENTS
from kernels.benches.lesson07_speed import device_copy, random_fp32
from kernels.benches.ready import TIMES, compile_all, context, enqueue
from kernels.errors import KernelError
from kernels.spec import Launch, get_spec
from kernels.specs.roofline import THREADS

SM_SHARED, RESERVED = (
    233472,
    1024,
)  # bytes of shared memory an SM has for blocks, and what the system takes of it for each
BLOCKS = (1, 2, 3, 4, 5, 6, 7, 8)
WORK = ((8, False), (32, False), (1024, False), (1024, True))  # FMAs an element, register-resident


def shared_for(blocks: int) -> int:
    """Dynamic shared memory of a block, unused, of which exactly `blocks` fit on an SM."""
    return SM_SHARED // blocks // 128 * 128 - RESERVED


def resident_blocks(source: str, launch: Launch) -> int:
    """The driver's answer: blocks of this launch that an SM holds."""
    import cupy

    function = gpu.Module(source, dict(launch.defines)).function(launch.entry, launch.smem)
    function = getattr(function, "kernel", function)
    return cupy.cuda.driver.occupancyMaxActiveBlocksPerMultiprocessor(function.ptr, THREADS, launch.smem)


def device_write(nbytes: int) -> Callable[[], None]:
    """Writes nbytes and reads nothing, through the driver."""
    import cupy

    target = cupy.empty(nbytes, cupy.uint8)
    return lambda: target.data.memset_async(7, nbytes, cupy.cuda.get_current_stream())


def occupancy(session: Session) -> list[dict]:
    """All variants interleaved with a device copy and a device write."""
    spec = get_spec("roofline_probe")
    compile_all([(spec.source, {"FMAS": f}) for f, _ in WORK])
    x = random_fp32(ELEMENTS)
    calls: dict = {"device copy": device_copy(x.nbytes), "device write": device_write(2 * x.nbytes)}
    labels = {}
    for fmas, resident in WORK:
        (plain,) = spec.plan(context(), x, fmas=fmas, resident=resident).launches
        for blocks in reversed(BLOCKS):  # the largest shared memory last: the module's limit is the last one set
            launch = dataclasses.replace(plain, smem=shared_for(blocks))
            if (fits := resident_blocks(spec.source, launch)) != blocks:
                raise KernelError(f"{launch.smem} B of shared memory let {fits} blocks on an SM; {blocks} were wanted.")
            name = f"{fmas} FMA{', resident' if resident else ''}, {blocks} blocks an SM"
            calls[name] = enqueue(spec.source, launch)
            labels[name] = (fmas, resident, blocks)
    times = session.time(calls, repeats=12)
    points = []
    for name in ("device copy", "device write"):
        points.append({"unit": name.split()[1], "variant": name, "fmas": 0, "blocks": 0, "warps": 0, "intensity": None, "flop_per_s": 0.0,
                       "tb_per_s": 2 * x.nbytes / times[name]["ms"] / 1e9, **times[name]})  # fmt: skip
    for name, (fmas, resident, blocks) in labels.items():
        t, flops, nbytes = times[name], 2.0 * fmas * ELEMENTS, 0.0 if resident else 4.0 * ELEMENTS
        points.append({"unit": "fp32", "variant": name, "fmas": fmas, "blocks": blocks, "warps": blocks * THREADS // 32,
                       "intensity": flops / nbytes if nbytes else None, "flop_per_s": flops / t["ms"] * 1e3,
                       "tb_per_s": nbytes / t["ms"] / 1e9, **t})  # fmt: skip
        session.say(f"{name}: {points[-1]['flop_per_s'] / 1e12:.1f} TFLOP/s, {points[-1]['tb_per_s']:.2f} TB/s")
    session.say(f"copy {points[0]['tb_per_s']:.2f}, write {points[1]['tb_per_s']:.2f} TB/s")
    return points


BENCHES = (
    Bench(
        "lesson01_occupancy",
        f"Occupancy: fused multiply-adds on {ELEMENTS} fp32 elements with 1 to 8 blocks of {THREADS} threads resident on an SM, held down by unused "
        "shared memory, beside a device copy and a device write",
        ("roofline_probe",),
        occupancy,
        {
            "unit": "copy, write: through the driver; fp32: the probe on the CUDA cores",
            "variant": "what ran; resident: nothing loaded",
            "fmas": "fused multiply-adds an element",
            "blocks": "blocks resident on an SM, as the driver counts them; 0: not the probe",
            "warps": "warps resident on an SM, of 64",
            "intensity": "flops / bytes; null where nothing must move",
            "flop_per_s": "flops / median time",
            "tb_per_s": "bytes / median time, 10^12 bytes a second; the copy's bytes count both ways",
            **TIMES,
        },
    ),
)
