"""The receipt of a launch: what ran, where, when, and what was measured. A figure with no receipt is not a measurement."""

from __future__ import annotations

import functools
import math
import platform
import subprocess
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path

MIME = "application/vnd.hopper-course.receipt+json"


def utc_now() -> str:
    """The time as ISO 8601 in UTC, to the second."""
    return datetime.now(UTC).replace(microsecond=0).isoformat().replace("+00:00", "Z")


@dataclass(frozen=True)
class Receipt:
    """One launch (or one call's launches) of a kernel.

    source_sha256: over the .cu and the headers it includes.  backend: "gpu" or "emulator".  device: the GPU's name, or the emulator's
    host.  driver: the driver's CUDA version, "" on the emulator.  time: UTC, ISO 8601.  seed, policy: the emulator's schedule, None on
    the GPU.  figure: name -> {"value", "unit"}: what was measured by this very launch.  command: what was called.
    toolkit: versions of what compiled and launched.
    """

    kernel: str
    source_sha256: str
    backend: str
    device: str
    driver: str
    time: str
    command: str
    figure: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    seed: int | None = None
    policy: str | None = None
    toolkit: Mapping[str, str] = field(default_factory=dict)

    def to_dict(self) -> dict:
        """As plain data for JSON, which has no NaN or Inf: such a figure becomes the text "nan" or "inf"."""
        data = asdict(self)
        for figure in data["figure"].values():
            if isinstance(figure["value"], float) and not math.isfinite(figure["value"]):
                figure["value"] = str(figure["value"])
        return data

    def __str__(self) -> str:
        schedule = "" if self.seed is None else f", seed {self.seed}, policy {self.policy}"
        figures = "; ".join(f"{k} {_number(v['value'])} {v['unit']}".rstrip() for k, v in self.figure.items())
        return (
            f"{self.kernel} on {self.backend} ({self.device}{schedule}), {self.time}"
            + (f"\n  {figures}" if figures else "")
            + f"\n  {self.command}\n  source {self.source_sha256[:16]}"
        )

    def _repr_mimebundle_(self, include=None, exclude=None):
        return {"text/plain": str(self), MIME: self.to_dict()}


def _number(value) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def toolkit_versions() -> dict[str, str]:
    """Versions of the packages that compile, launch and compare, where they are installed, and of Python."""
    return dict(_toolkit_versions())


@functools.cache
def _toolkit_versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for package in ("numpy", "ml_dtypes", "cupy-cuda13x", "cuda-bindings", "nvidia-cuda-nvrtc", "torch", "triton"):
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return found


def git_commit(folder: Path | None = None) -> str:
    """The commit of the checkout that holds this package, "-dirty" appended where tracked files differ; "" where there is none."""
    folder = folder or Path(__file__).resolve().parents[1]
    try:
        run = lambda *a: (
            subprocess.run(
                ["git", "-C", str(folder), *a], capture_output=True, text=True, timeout=10, check=True
            ).stdout
        )
        commit = run("rev-parse", "HEAD").strip()
        return commit + ("-dirty" if run("status", "--porcelain", "-uno", "--", "kernels").strip() else "")
    except (OSError, subprocess.SubprocessError):
        return ""
