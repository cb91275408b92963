"""The H200's comparison of the two back ends covers every kernel, and its bench runs (here with the emulator on both sides)."""

import json
import re
from pathlib import Path

from kernels import registry
from kernels.benches import both_backends
from kernels.sources import CUDA_DIR

DATA = Path(__file__).parents[2] / "figures" / "data" / "both_backends.json"


def test_every_kernel_was_compared_on_a_gpu_or_is_named_as_one_that_was_not():
    data = json.loads(DATA.read_text(encoding="utf-8"))
    waiting = {name for name, spec in registry().items() if not spec.compared_on_gpu}
    assert {p["kernel"] for p in data["points"]} == set(registry()) - waiting
    section = (CUDA_DIR.parent / "NOTES.md").read_text(encoding="utf-8").split("## On the emulator only so far\n")[1]
    assert set(re.findall(r"^- `(\w+)`", section.split("\n## ")[0], re.M)) == waiting
    assert data["receipt"]["device"].startswith("NVIDIA H200") and data["receipt"]["backend"] == "gpu"
    assert all(p["share_of_bound"] <= 1 and p["difference"] < 1e-5 for p in data["points"])


def test_a_back_end_that_is_wrong_fails_the_bench(monkeypatch):
    import pytest

    from kernels.errors import KernelError

    real = both_backends.load
    monkeypatch.setattr(both_backends, "registry", lambda: {"linear_epilogue": registry()["linear_epilogue"]})

    def broken(name, backend, **options):
        kernel = real(name, "emulator", **options)
        return kernel if backend == "emulator" else _Off(kernel)

    monkeypatch.setattr(both_backends, "load", broken)
    with pytest.raises(KernelError, match="linear_epilogue"):
        both_backends.both(None)


class _Off:
    def __init__(self, kernel):
        self.kernel, self.reference = kernel, kernel.reference

    def __call__(self, *arrays, **params):
        out = self.kernel(*arrays, **params)
        out[..., -1] += 1
        return out
