"""Kernels of the emulator's tests: written beside the test that needs them, built through the cache."""

import tempfile
from pathlib import Path

from kernels.emulator import Module, build


def compiled(name: str, text: str, *entries: str, instrument: bool = True, **defines) -> Module:
    """Build a source given as text. Its lines are numbered from 1 after the opening quotes, as reports give them."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{name}.cu"
        path.write_text(text, encoding="utf-8")
        return build(path, entries, defines, instrument=instrument)


def line_of(text: str, marker: str) -> int:
    """The 1-based line that holds the marker: reports must name it."""
    return next(i for i, line in enumerate(text.splitlines(), 1) if marker in line)
