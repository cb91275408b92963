"""Builds the runner that goes into the wheel, for machines without a compiler's patience: `python -m kernels.emulator.prebuild`.

With zig (the ziglang wheel), which compiles for either machine on either; the runner then needs glibc 2.28 or newer (2018) and
nothing else. A runner whose digest is not that of the sources beside it is never used (toolchain.runner).
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path

from kernels.emulator.errors import EmulatorUnavailable
from kernels.emulator.toolchain import PREBUILT, build_runner, cache_folder, digest, find_compiler, runtime_digest

TARGETS = {"x86_64": "x86_64-linux-gnu.2.28", "aarch64": "aarch64-linux-gnu.2.28"}


def prebuild(machine: str) -> None:
    """Build the runner of one machine ("x86_64" or "aarch64") into the package's prebuilt folder."""
    zig = find_compiler("zig")
    if zig is None:
        raise EmulatorUnavailable("The runner is prebuilt with zig: pip install ziglang.")
    folder = PREBUILT / machine
    folder.mkdir(parents=True, exist_ok=True)
    kept = cache_folder() / f"prebuilt-{machine}-{digest(runtime_digest(), zig.version, TARGETS[machine])}"
    if not kept.exists():
        with tempfile.TemporaryDirectory(dir=kept.parent) as name:
            build_runner(Path(name) / "runner", zig, ("-target", TARGETS[machine], "-s"))
            os.replace(Path(name) / "runner", kept)
    shutil.copy2(kept, folder / "runner")
    (folder / "digest").write_text(runtime_digest() + "\n")


if __name__ == "__main__":
    for name in sys.argv[1:] or TARGETS:
        prebuild(name)
        print(f"{PREBUILT / name / 'runner'}: {(PREBUILT / name / 'runner').stat().st_size:,} bytes")
