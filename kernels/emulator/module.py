"""Build a kernel source for the emulator and launch its entries. The contract; the work is in toolchain.py and process.py."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from kernels.emulator.report import LaunchReport


class Module:
    """A compiled source. `source` is its file, `entries` the kernels in it, `build_seconds` what compiling took (0 from the cache)."""

    def launch(
        self,
        entry: str,
        grid: int | tuple[int, ...],
        block: int | tuple[int, ...],
        args: list[Any],
        *,
        smem: int = 0,
        cluster: int | tuple[int, ...] = 1,
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

        grid, block, cluster: (x,), (x, y) or (x, y, z); blocks of a cluster are neighbours in the grid and run together.
        args: arrays, TensorMaps, scalars, None, in the order of the kernel's parameters; arrays are changed in place.
        smem: bytes of dynamic shared memory.
        registers: registers a thread at launch; None takes what __launch_bounds__ allows (65536 / threads, at most 255).
        seed, policy: the schedule. checks: race checking. trace: record events.
        timeout: seconds. fp8_reduced: FP8 wgmma keeps about 14 bits while it accumulates, as the hardware does.
        sms: multiprocessors of the emulated device, one block each: so many blocks are resident at a time.
        raises: raise the EmulatorError that fits; False returns the report in any case.
        """
        raise NotImplementedError


def build(source: Path | str, entries: list[str], defines: dict[str, Any] | None = None, *, instrument: bool = True) -> Module:
    """Compile a .cu file for the emulator, or take it from the cache.

    source: the file; it includes "hopper.cuh". entries: names of its extern "C" __global__ kernels. defines: macros, as -DNAME=VALUE.
    instrument: also watch plain memory accesses (bounds, races, spin loops); slower code, for checks.
    """
    raise NotImplementedError
