"""A launch's folder: arrays, description and result. Gone after the launch, also when its process was killed.

Arrays lie in memory (/dev/shm) where there is room, so a folder that a killed process left would hold memory until the machine restarts.
The owner keeps a lock on a file in its folder; the kernel of the operating system drops it with the process, whatever its end was. Each
launch first removes the folders of its own user whose lock is free.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

PREFIX = "kernel-launch-"
LOCK = "owner"


@contextlib.contextmanager
def launch_folder(size: int) -> Iterator[Path]:
    """A fresh folder for a launch whose arrays take `size` bytes: in memory where there is twice that, else in the temporary folder."""
    parent = _parent(size)
    remove_abandoned(parent)
    folder, lock = _locked(parent)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def remove_abandoned(parent: Path) -> list[Path]:
    """Remove the launch folders in `parent` whose process is gone; gives them. Folders of other users are left alone."""
    gone = []
    for folder in parent.glob(PREFIX + "*"):
        with contextlib.suppress(OSError):  # another launch removed it first, or its owner holds the lock
            lock = os.open(folder / LOCK, os.O_RDWR)
            try:
                if folder.lstat().st_uid == os.getuid():
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    shutil.rmtree(folder, ignore_errors=True)
                    gone.append(folder)
            finally:
                os.close(lock)
    return gone


def _locked(parent: Path) -> tuple[Path, int]:
    """A new folder and the descriptor that holds its lock."""
    while True:
        folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=parent))
        lock = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        fcntl.flock(lock, fcntl.LOCK_EX)
        if (folder / LOCK).exists():  # else another launch took it for abandoned in the moment before the lock
            return folder, lock
        os.close(lock)


def _parent(size: int) -> Path:
    """Memory where there is room (a container's /dev/shm is often 64 MB), else the temporary folder."""
    room = os.access("/dev/shm", os.W_OK) and shutil.disk_usage("/dev/shm").free > 2 * size
    return Path("/dev/shm" if room else tempfile.gettempdir())
