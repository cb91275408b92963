"""Build a kernel source for the emulator and launch its entries."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kernels.emulator.errors import BY_STATUS, EmulatorArgumentError, EmulatorCompileError, EmulatorError
from kernels.emulator.process import Launch, run
from kernels.emulator.report import POLICIES, LaunchReport
from kernels.emulator.toolchain import build_kernel, runner


def _extent(name: str, value: int | Sequence[int]) -> tuple[int, int, int]:
    try:
        values = tuple(map(operator.index, value if isinstance(value, (tuple, list)) else (value,)))
    except TypeError:
        values = ()
    if not 1 <= len(values) <= 3 or any(not 0 <= v < 2**32 for v in values):
        raise EmulatorArgumentError(f"{name} is one to three whole numbers, not {value!r}.")
    return (*values, 1, 1)[:3]


def _whole(name: str, value, low: int | None = None) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        number = None
    if number is None or (low is not None and not low <= number < 2**32):
        raise EmulatorArgumentError(
            f"{name} is a whole number{'' if low is None else f', {low} or more'}; not {value!r}."
        )
    return number


def check_schedule(seed: int = 0, policy: str = "random", timeout: float = 60.0, sms: int = 8) -> None:
    """Raise EmulatorArgumentError for a value that no launch can have."""
    if policy not in POLICIES:
        raise EmulatorArgumentError(f"The policy is one of {', '.join(POLICIES)}; not {policy!r}.")
    _whole("seed", seed)
    _whole("sms", sms, 1)
    if isinstance(timeout, bool) or not isinstance(timeout, (int, float)) or not 0 < timeout < math.inf:
        raise EmulatorArgumentError(f"timeout is a number of seconds above 0; not {timeout!r}.")


class Module:
    """A compiled source. `source` is its file, `entries` the kernels in it, `build_seconds` what compiling took (0 from the cache)."""

    def __init__(self, source: Path, entries: tuple[str, ...], library: Path, build_seconds: float, instrument: bool):
        self.source, self.entries, self.library, self.build_seconds, self.instrument = (
            source,
            entries,
            library,
            build_seconds,
            instrument,
        )

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
            raise EmulatorArgumentError(
                f"{self.source.name} was built with the kernels {', '.join(self.entries)}; {entry!r} is not one of them."
            )
        check_schedule(seed, policy, timeout, sms)
        launch = Launch(
            library=self.library, entry=entry, grid=_extent("grid", grid), block=_extent("block", block), cluster=_extent("cluster", cluster),
            args=tuple(args), smem=_whole("smem", smem, 0), registers=_whole("registers", registers or 0, 0), seed=seed, policy=policy,
            checks=bool(checks), trace=bool(trace), timeout=timeout, fp8_reduced=bool(fp8_reduced), sms=sms,
        )  # fmt: skip
        report = run(runner(), launch)
        if report.status == "argument":
            raise EmulatorArgumentError(report.findings[0].message)
        if raises and not report.clean:
            raise BY_STATUS.get(report.status, EmulatorError)(report)
        return report


def build(
    source: Path | str, entries: Sequence[str], defines: dict[str, Any] | None = None, *, instrument: bool = True
) -> Module:
    """Compile a .cu file for the emulator, or take it from the cache.

    source: the file; it includes "hopper.cuh". entries: names of its extern "C" __global__ kernels. defines: macros, as -DNAME=VALUE.
    instrument: also watch plain memory accesses (bounds, races, spin loops); slower code, for checks.
    Raises EmulatorCompileError (file, line, log) and EmulatorUnavailable.
    """
    path = Path(source)
    if not path.is_file():
        raise EmulatorCompileError(f"There is no kernel source {source}.", file=path.name)
    if isinstance(entries, str) or not entries:
        raise EmulatorArgumentError(
            f'entries is a list of the names of {path.name}\'s kernels (extern "C" __global__); got {entries!r}.'
        )
    library, seconds = build_kernel(path, list(entries), defines or {}, instrument)
    return Module(path, tuple(entries), library, seconds, instrument)
