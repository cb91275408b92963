"""Lesson 1: does the unused shared memory that holds occupancy down slow the probe by itself? The same 64 warps with less and less L1."""

from __future__ import annotations

import dataclasses

from kernels import gpu
from kernels.bench import Bench, Session
from kernels.benches.lesson01_occupancy import resident_blocks, shared_for
from kernels.benches.lesson01_roofline import ELEMENTS
from kernels.benches.lesson07_speed import device_copy, random_fp32
from kernels.benches.ready import TIMES, compile_all, context
from kernels.spec import get_spec
from kernels.specs.roofline import THREADS

FMAS, PADDED, CARVEOUTS = 8, (4, 5, 6, 7, 8), (0, 25, 50, 75, 100)

CARVEOUT_ATTRIBUTE = 9  # CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT of the driver's API


def l1_size(session: Session) -> list[dict]:
    """Unpadded with the shared-memory carveout asked for in steps, and padded to 4 to 8 blocks an SM, interleaved."""
    from cupy.cuda import driver

    spec = get_spec("roofline_probe")
    compile_all([(spec.source, {"FMAS": FMAS})])
    x = random_fp32(ELEMENTS)
    (plain,) = spec.plan(context(), x, fmas=FMAS, resident=False).launches
    calls: dict = {"device copy": device_copy(x.nbytes)}
    labels: dict = {"device copy": (0, None, 0)}
    grid, block, packed = gpu.three(plain.grid), gpu.three(plain.block), tuple(map(gpu.pack, plain.args))
    for name, smem, carveout in [
        *((f"carveout {c} %", 0, c) for c in CARVEOUTS),
        *((f"{b} blocks by unused shared memory", shared_for(b), None) for b in PADDED),
    ]:
        launch = dataclasses.replace(plain, smem=smem)
        function = gpu.Module(spec.source, dict(launch.defines)).function(launch.entry, smem)  # a module of its own
        kernel = getattr(function, "kernel", function)
        if carveout is not None:
            driver.funcSetAttribute(kernel.ptr, CARVEOUT_ATTRIBUTE, carveout)
        labels[name] = (resident_blocks(spec.source, launch), carveout, smem)
        calls[name] = lambda f=function, s=smem: f(grid, block, packed, shared_mem=s)
    times = session.time(calls, repeats=20)
    points = []
    for name, (blocks, carveout, smem) in labels.items():
        nbytes = (2 if name == "device copy" else 1) * x.nbytes
        points.append({"variant": name, "blocks": blocks, "warps": blocks * THREADS // 32, "carveout": carveout, "unused_shared_bytes": smem,
                       "tb_per_s": nbytes / times[name]["ms"] / 1e9, **times[name]})  # fmt: skip
        session.say(f"{name}: {blocks} blocks, {points[-1]['tb_per_s']:.3f} TB/s")
    return points


BENCHES = (
    Bench(
        "lesson01_l1_size",
        f"roofline_probe with {FMAS} fused multiply-adds on each of {ELEMENTS} fp32 elements: 64 warps an SM with the driver asked for more and "
        "more shared memory (so less L1), and 32 to 64 warps held down by unused shared memory, in one run",
        ("roofline_probe",),
        l1_size,
        {
            "variant": "what ran",
            "blocks": "blocks resident on an SM, as the driver counts them; 0: not the probe",
            "warps": "warps resident on an SM, of 64",
            "carveout": "cudaFuncAttributePreferredSharedMemoryCarveout, per cent; null where none was asked for",
            "unused_shared_bytes": "dynamic shared memory of a block that nothing uses",
            "tb_per_s": "bytes / median time, 10^12 bytes a second; the copy's bytes count both ways",
            **TIMES,
        },
    ),
)
