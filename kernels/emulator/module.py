"""Build a kernel source for the emulator and launch its entries."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kernels.emulator.errors import BY_STATUS, EmulatorArgumentError, EmulatorError
from kernels.emulator.process import Launch, run
from kernels.emulator.report import POLICIES, LaunchReport
from kernels.emulator.toolchain import build_kernel, runner


def _extent(name: str, value: int | Sequence[int]) -> tuple[int, int, int]:
    values = (value,) if isinstance(value, int) else tuple(int(v) for v in value)
    if not 1 <= len(values) <= 3 or any(v < 0 for v in values):
        raise EmulatorArgumentError(f"{name} is one to three numbers, not {value!r}.")
    return (*values, 1, 1)[:3]


class Module:
    """A compiled source. `source` is its file, `entries` the kernels in it, `build_seconds` what compiling took (0 from the cache)."""

    def __init__(self, source: Path, entries: tuple[str, ...], library: Path, build_seconds: float, instrument: bool):
        self.source, self.entries, self.library, self.build_seconds, self.instrument = source, entries, library, build_seconds, instrument

    def __repr__(self) -> str:
        return f"Module({self.source.name!r}, {list(self.entries)})"

    def launch(
        self,
        entry: str,
        grid: int | Sequence[int],
        block: int | Sequence[int],
        args: Sequence[Any],
        *,
        smem: int = 0,
        cluster: int | Sequence[int] = 1,
        registers: int | None = None,
        seed: int = 0,
        policy: str = "random",
        checks: bool = True,
        trace: bool = False,
        timeout: float = 60.0,
        fp8_reduced: bool = False,
        sms: int = 8,
        raises: bool = True,
    ) -> LaunchReport:
        """Run one grid and wait for it.

        grid, block, cluster: n, or (x,), (x, y), (x, y, z); blocks of a cluster are neighbours in the grid and run together.
        args: arrays, TensorMaps, scalars, None, in the order of the kernel's parameters; arrays are changed in place.
        smem: bytes of dynamic shared memory.
        registers: registers a thread at launch; None takes what __launch_bounds__ allows (65536 / threads, at most 255).
        seed, policy: the schedule. checks: race checking. trace: record events.
        timeout: seconds. fp8_reduced: FP8 wgmma keeps about 14 bits while it accumulates, as the hardware does.
        sms: multiprocessors of the emulated device, one block each: so many blocks are resident at a time.
        raises: raise the EmulatorError that fits; False returns the report in any case.
        """
        if entry not in self.entries:
            raise EmulatorArgumentError(f"{self.source.name} was built with the kernels {', '.join(self.entries)}; {entry!r} is not one of them.")
        if policy not in POLICIES:
            raise EmulatorArgumentError(f"The policy is one of {', '.join(POLICIES)}; not {policy!r}.")
        launch = Launch(
            library=self.library, entry=entry, grid=_extent("grid", grid), block=_extent("block", block), cluster=_extent("cluster", cluster),
            args=tuple(args), smem=smem, registers=registers or 0, seed=seed, policy=policy, checks=checks, trace=trace, timeout=timeout,
            fp8_reduced=fp8_reduced, sms=sms,
        )  # fmt: skip
        report = run(runner(), launch)
        if report.status == "argument":
            raise EmulatorArgumentError(report.findings[0].message)
        if raises and not report.clean:
            raise BY_STATUS.get(report.status, EmulatorError)(report)
        return report


def build(source: Path | str, entries: Sequence[str], defines: dict[str, Any] | None = None, *, instrument: bool = True) -> Module:
    """Compile a .cu file for the emulator, or take it from the cache.

    source: the file; it includes "hopper.cuh". entries: names of its extern "C" __global__ kernels. defines: macros, as -DNAME=VALUE.
    instrument: also watch plain memory accesses (bounds, races, spin loops); slower code, for checks.
    Raises EmulatorCompileError (file, line, log) and EmulatorUnavailable.
    """
    path = Path(source)
    library, seconds = build_kernel(path, list(entries), defines or {}, instrument)
    return Module(path, tuple(entries), library, seconds, instrument)
