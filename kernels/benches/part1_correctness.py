"""The kernels of lessons 1 to 6 and 8 on the device against float64, and the lessons' functions against the kernels."""

from __future__ import annotations

import numpy as np

from kernels import arrays
from kernels.bench import Bench, Session
from kernels.compare import compare, relative_error
from kernels.errors import KernelError
from kernels.kernel import load
from kernels.spec import cases, get_spec, tolerance
from kernels.specs import barriers, bulk_copy, gemm_dispatch, ring_pipeline, roofline, wgmma

KERNELS = (
    "roofline_probe", "stream_copy", "pointer_chase", "gather", "mbarrier_handshake", "barrier_script", "barrier_cost", "tma_tile_copy", "transpose",
    "wgmma_tile", "wgmma_rate", "ring_pipeline", "gemm_dispatch",
)  # fmt: skip
EXERCISES = {  # kernel -> the reference solution of its lesson's exercise
    "roofline_probe": roofline.attainable,
    "stream_copy": lambda bandwidth, latency: bandwidth * latency,
    "barrier_script": barriers.step,
    "tma_tile_copy": bulk_copy.swizzled_offset,
    "wgmma_tile": wgmma.coordinates,
    "ring_pipeline": ring_pipeline.advance,
    "gemm_dispatch": gemm_dispatch.accumulator_registers,
}
COUNT = 18


def correctness(session: Session) -> list[dict]:
    """Every case of every spec; outputs poisoned before. A wrong result fails the bench."""
    points = []
    for name in KERNELS:
        spec, kernel = get_spec(name), load(name, "gpu", poison=True)
        for case in cases(spec, np.random.default_rng(11), COUNT):
            out = arrays.to_numpy(kernel(*case.arrays, **case.params))
            error, bound = (
                relative_error(out, kernel.reference(*case.arrays, **case.params)),
                tolerance(spec, case.arrays, case.params),
            )
            if not error <= bound:
                raise KernelError(f"{name} is wrong on the device: {case.label}, error {error}, bound {bound}.")
            points.append({"kernel": name, "case": case.label, "error": error, "bound": bound})
        agreed = compare(kernel, EXERCISES[name], count=COUNT) if name in EXERCISES else None
        if agreed is not None and not agreed.passed:
            raise KernelError(f"The exercise's function disagrees with {name} on the device:\n{agreed}")
        session.say(
            f"{name}: {COUNT} cases right{', exercise agrees' if agreed else ''}, worst error {max(p['error'] for p in points if p['kernel'] == name):.1e}"
        )
    return points


BENCHES = (
    Bench(
        "part1_correctness",
        "The kernels of lessons 1 to 6 and 8 against float64 on the device, and each lesson's function against its kernel",
        KERNELS,
        correctness,
        {
            "kernel": "which",
            "case": "what the case is after",
            "error": "relative error norm against float64",
            "bound": "what it must stay within",
        },
    ),
)
