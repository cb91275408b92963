"""Every kernel of the registry on the GPU and on the emulator, the same inputs: how far the two results are from each other."""

from __future__ import annotations

import numpy as np

from kernels import arrays
from kernels.bench import Bench, Session
from kernels.compare import relative_error
from kernels.errors import KernelError
from kernels.kernel import load
from kernels.spec import cases, registry, tolerance

COUNT = 4


def both(session: Session) -> list[dict]:
    """The first cases of every spec on both back ends; a result outside its bound of float64 fails the bench."""
    points = []
    for name, spec in registry().items():
        kernels = {backend: load(name, backend, poison=True) for backend in ("gpu", "emulator")}
        worst = {"difference": 0.0, "gpu_error": 0.0, "emulator_error": 0.0, "share_of_bound": 0.0}
        for case in cases(spec, np.random.default_rng(23), COUNT):
            out = {backend: arrays.to_numpy(kernel(*case.arrays, **case.params)) for backend, kernel in kernels.items()}
            reference, bound = (
                kernels["gpu"].reference(*case.arrays, **case.params),
                tolerance(spec, case.arrays, case.params),
            )
            errors = {backend: float(relative_error(result, reference)) for backend, result in out.items()}
            if not max(errors.values()) <= bound:
                raise KernelError(f"{name}, {case.label}: error {errors}, bound {bound}.")
            found = {
                "difference": float(relative_error(out["gpu"], out["emulator"])),
                "gpu_error": errors["gpu"],
                "emulator_error": errors["emulator"],
                "share_of_bound": max(errors.values()) / bound if bound else 0.0,
            }
            worst = {key: max(worst[key], value) for key, value in found.items()}
        points.append({"kernel": name, "cases": COUNT, **worst})
        session.say(f"{name}: GPU against emulator {worst['difference']:.1e}")
    return points


BENCHES = (
    Bench(
        name="both_backends",
        what="Every kernel on the GPU and on the emulator with the same inputs: norm of the difference over the norm of the emulator's result.",
        kernels=tuple(registry()),
        run=both,
        fields={
            "kernel": "the kernel's name",
            "cases": "cases compared, of different sizes",
            "difference": "worst relative difference of the two back ends' results",
            "gpu_error": "worst relative error of the GPU against float64",
            "emulator_error": "worst relative error of the emulator against float64",
            "share_of_bound": "worst error over its bound",
        },
    ),
)
