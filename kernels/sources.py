"""The CUDA sources in kernels/cuda and their content hashes."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

from kernels.errors import KernelError

CUDA_DIR = Path(__file__).resolve().parent / "cuda"
HOST_ONLY = {
    "hopper_host.h"
}  # the emulator's half of the vocabulary: no GPU compiles it, so no measurement depends on it
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+"([^"]+)"', re.M)


@dataclass(frozen=True)
class Source:
    """A .cu file with everything it includes by quotes.

    text: the file's text, or the student's edited version of it.  files: all files read, the .cu first.
    sha256: over names and contents of all of them that a GPU compiles, so that a receipt changes when a header does.
    """

    name: str
    text: str
    files: tuple[Path, ...]
    sha256: str


def load_source(name: str, text: str | None = None) -> Source:
    """The source kernels/cuda/<name>; `text` replaces the file's own text (a challenge cell's edited kernel).

    A quoted include that is not in kernels/cuda is left to the compiler to report.
    Raises KernelError where kernels/cuda has no such file.
    """
    path = CUDA_DIR / name
    if not path.is_file():
        have = ", ".join(sorted(p.name for p in CUDA_DIR.glob("*.cu"))) or "none"
        raise KernelError(f"There is no CUDA source named {name!r} in kernels/cuda. Sources here: {have}.")
    text = path.read_text(encoding="utf-8") if text is None else text
    files, queue = [path], [text]
    digest = hashlib.sha256()
    digest.update(name.encode() + b"\0" + text.encode())
    while queue:
        for include in _INCLUDE.findall(queue.pop()):
            header = CUDA_DIR / include
            if header in files or not header.is_file():
                continue
            body = header.read_text(encoding="utf-8")
            files.append(header)
            queue.append(body)
            if header.name not in HOST_ONLY:
                digest.update(b"\0" + include.encode() + b"\0" + body.encode())
    return Source(name, text, tuple(files), digest.hexdigest())
