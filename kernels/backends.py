"""The two back ends behind `kernels.load`: each runs a Plan's launches on arrays of its own kind."""

from __future__ import annotations

import os
import platform
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from kernels import arrays, gpu
from kernels.errors import BackendError
from kernels.sources import Source
from kernels.spec import Launch

ENVIRONMENT = "KERNELS_BACKEND"
EMULATED_SMS = 8


@dataclass(frozen=True)
class Choice:
    """The back end that was chosen and why, as a sentence."""

    name: str
    why: str


def choose(backend: str | None, emulator_options=()) -> Choice:
    """The back end for a request: "gpu", "emulator", or None for $KERNELS_BACKEND, else the GPU where it can run, else the emulator.

    emulator_options: names of options that only the emulator has; where no back end is forced, they choose it.
    Raises BackendError where a forced one cannot run or does not know the options, or where neither can run.
    """
    forced, by = (backend, "backend=") if backend else (os.environ.get(ENVIRONMENT) or None, f"{ENVIRONMENT}=")
    if forced not in (None, "gpu", "emulator"):
        raise BackendError(f'{by}{forced} names no back end. Use "gpu" or "emulator".')
    if forced is None and emulator_options:
        _require_emulator(
            f"{', '.join(emulator_options)}: only the emulator has such options, and it cannot run here. "
        )
        return Choice("emulator", f"Options were given that only the emulator has: {', '.join(emulator_options)}.")
    if forced == "gpu" and emulator_options:
        raise BackendError(
            f"{by}gpu and {', '.join(emulator_options)} do not go together: schedules and checks are the emulator's."
        )
    if forced == "emulator":
        _require_emulator(f"{by}emulator was asked for, but it cannot run here. ")
        return Choice("emulator", f"{by}emulator was asked for.")
    device = gpu.probe()
    if forced == "gpu":
        if not device.usable:
            raise BackendError(
                f"{by}gpu was asked for, but it cannot run here: {device.why} Leave it out to use the CPU emulator."
            )
        return Choice("gpu", f"{by}gpu was asked for. {device.why}")
    if device.usable:
        return Choice("gpu", device.why)
    _require_emulator(f"No back end can run the kernels. GPU: {device.why} Emulator: ")
    return Choice(
        "emulator", f"{device.why} The kernels run on the CPU emulator: true results and races, no performance figures."
    )


def _require_emulator(prefix: str) -> None:
    from kernels import emulator

    usable, why = emulator.available()
    if not usable:
        raise BackendError(prefix + why)


class GpuBackend:
    """Launches through CuPy, on the current stream, and waits for the end."""

    name = "gpu"

    def __init__(self, source: Source, defines: Mapping[str, object]):
        self.source, self.defines = source, dict(defines)
        self.device = gpu.require()
        self._modules: dict[tuple, gpu.Module] = {}

    def move(self, a):
        return arrays.to_cupy(a)

    def context(self, poison: bool) -> Context:
        import cupy

        return Context("gpu", self.device.sms, poison, cupy)

    def module(self, defines: Mapping[str, object]) -> gpu.Module:
        """The module built with the launch's defines and this back end's own (a bug's), kept for later calls."""
        defines = {**defines, **self.defines}
        key = tuple(sorted(defines.items()))
        if key not in self._modules:
            self._modules[key] = gpu.Module(self.source, defines)
        return self._modules[key]

    def run(self, launches) -> dict[str, dict]:
        """Run the launches; the figures of the run: device time of all of them together."""
        import cupy

        modules = [self.module(l.defines) for l in launches]
        start, stop = cupy.cuda.Event(), cupy.cuda.Event()
        start.record()
        for module, l in zip(modules, launches):
            module.launch(l.entry, l.grid, l.block, l.args, l.smem)
        stop.record()
        gpu.synchronize(launches[-1].entry)
        return {"time of this launch": {"value": cupy.cuda.get_elapsed_time(start, stop), "unit": "ms"}}

    def describe(self) -> dict[str, Any]:
        return {"backend": "gpu", "device": self.device.name, "driver": self.device.driver}


class EmulatorBackend:
    """Launches on the CPU emulator, each in a process of its own. Keeps the report of the last launch in `report`."""

    name = "emulator"

    def __init__(
        self,
        source: Source,
        defines: Mapping[str, object],
        entries=(),
        *,
        seed=0,
        policy="random",
        checks=True,
        trace=False,
        timeout=60.0,
        fp8_reduced=False,
        sms=EMULATED_SMS,
    ):
        from kernels.emulator.module import check_schedule

        check_schedule(seed, policy, timeout, sms)
        self.source, self.defines, self.entries = source, dict(defines), tuple(entries)
        self.seed, self.policy, self.checks, self.sms = seed, policy, checks, sms
        self.options = {"trace": trace, "timeout": timeout, "fp8_reduced": fp8_reduced}
        self.report = None
        self._built: dict[tuple, Any] = {}

    def move(self, a):
        return arrays.to_numpy(a)

    def context(self, poison: bool) -> Context:
        return Context("emulator", self.sms, True, np)

    def module(self, launch: Launch, entries: tuple[str, ...]):
        from kernels import emulator

        defines = {**launch.defines, **self.defines}
        key = (tuple(sorted(defines.items())), entries)
        if key not in self._built:
            path = self.source.files[0]
            if path.read_text(encoding="utf-8") == self.source.text:
                self._built[key] = emulator.build(path, list(entries), defines, instrument=self.checks)
            else:  # an edited source: the emulator takes a file, under the same name so that its reports read the same
                with tempfile.TemporaryDirectory() as folder:
                    edited = Path(folder) / self.source.name
                    edited.write_text(self.source.text, encoding="utf-8")
                    self._built[key] = emulator.build(edited, list(entries), defines, instrument=self.checks)
        return self._built[key]

    def run(self, launches) -> dict[str, dict]:
        """Run the launches in order; raises the emulator's error of the first that goes wrong. Figures: what the schedule took."""
        entries = self.entries or tuple(sorted({l.entry for l in launches}))
        steps = 0
        for l in launches:
            module = self.module(l, entries)
            self.report = module.launch(
                l.entry,
                tuple(l.grid),
                tuple(l.block),
                list(l.args),
                smem=l.smem,
                cluster=tuple(l.cluster),
                registers=l.registers or None,
                seed=self.seed,
                policy=self.policy,
                checks=self.checks,
                sms=self.sms,
                raises=False,
                **self.options,
            )
            steps += self.report.steps
            if not self.report.clean:
                raise emulator_error(self.report)
        return {"scheduler steps": {"value": steps, "unit": ""}}

    def describe(self) -> dict[str, Any]:
        host = f"CPU emulator on {platform.system()} {platform.machine()}"
        return {"backend": "emulator", "device": host, "driver": "", "seed": self.seed, "policy": self.policy}


def emulator_error(report):
    """The EmulatorError that fits a report that is not clean."""
    from kernels.emulator.errors import BY_STATUS

    return BY_STATUS[report.status](report)


@dataclass(frozen=True)
class Context:
    """What a plan is given: which back end, its number of SMs, and how to allocate.

    xp: numpy or cupy, for a plan that must pad or fill.  poison: new arrays are filled with NaN, so that an element nobody wrote shows.
    """

    backend: str
    sms: int
    poison: bool
    xp: Any

    def empty(self, shape: tuple[int, ...], dtype: str):
        """An uninitialised (or poisoned) array; dtype is fp32, fp16, bf16 or e4m3, or a NumPy dtype's name."""
        a = self.xp.empty(shape, arrays.DTYPES.get(dtype) or np.dtype(dtype))
        if self.poison:
            arrays.poison(a)
        return a

    def zeros(self, shape: tuple[int, ...], dtype: str):
        a = self.empty(shape, dtype)
        a.view("u1")[...] = 0
        return a
